// WebGL2: discs as instances of a square, boxes as instances of its outline, pairs and the curve as lines between centres.

const PLACE = `#version 300 es
  precision highp float;
  uniform vec2 center, zoom;
  uniform vec3 middle, side;
  uniform mat3 turn;
  // One over how far from the middle anything lies; 0 where all is flat.
  uniform float deep;
  vec4 seen(vec2 at, float towards) { return vec4((at - center) * zoom, -towards * deep, 1.0); }
  vec3 turned(vec2 place, float height) { return turn * ((vec3(place, height) - 0.5) * side) + vec3(middle.xy, 0.0); }`;

const DISC = [`${PLACE}
  layout(location = 0) in vec2 place;
  layout(location = 1) in float radius;
  layout(location = 2) in float shade;
  layout(location = 4) in float height;
  uniform float pixel;
  out vec2 corner;
  out float value, edge, near;
  void main() {
    vec2 square = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    // No disc is smaller than a pixel, or it would not be seen.
    float r = max(radius, pixel * 0.6) + pixel;
    edge = pixel / r;
    corner = square;
    value = shade;
    vec3 at = turned(place, height);
    near = at.z * deep;
    gl_Position = seen(at.xy + square * r, at.z);
  }`, `#version 300 es
  precision highp float;
  in vec2 corner;
  in float value, edge, near;
  uniform float deep;
  uniform vec3 back;
  // 0: touching or free; 1: a number from low to high; 2: names, 0 for none.
  uniform int kind;
  uniform vec3 free, touching;
  out vec4 colour;
  vec3 ramp(float t) {
    vec3 a = vec3(0.27, 0.0, 0.33), b = vec3(0.13, 0.57, 0.55), c = vec3(0.99, 0.91, 0.14);
    return t < 0.5 ? mix(a, b, t * 2.0) : mix(b, c, t * 2.0 - 1.0);
  }
  vec3 name(int number) {
    if (number == 0) return vec3(0.5);
    // The golden ratio keeps neighbours' hues apart; three depths keep hues that are close apart.
    vec3 hue = clamp(abs(mod(float(number) * 0.618034 * 6.0 + vec3(0.0, 4.0, 2.0), 6.0) - 3.0) - 1.0, 0.0, 1.0);
    return mix(vec3(0.55), hue, 0.75) * (0.7 + 0.15 * float(number % 3));
  }
  void main() {
    float out_ = 1.0 - length(corner);
    if (out_ <= 0.0) discard;
    vec3 inside = kind == 0 ? mix(free, touching, step(0.5, value)) : kind == 1 ? ramp(value) : name(int(value * 255.0 + 0.5));
    // A rim keeps neighbours of one colour apart.
    float rim = smoothstep(edge, edge * 2.5, out_);
    vec3 lit = inside * mix(0.72, 1.0, rim);
    // Spheres are lit from before them, and fade with the distance.
    if (deep > 0.0) lit = mix(back, inside * (0.5 + 0.5 * sqrt(1.0 - dot(corner, corner))), 0.75 + 0.25 * near);
    colour = vec4(lit, min(out_ / edge, 1.0));
  }`];

const LINE = [`${PLACE}
  layout(location = 0) in vec2 place;
  layout(location = 4) in float height;
  void main() {
    vec3 at = turned(place, height);
    gl_Position = seen(at.xy, at.z);
  }`];
// The twelve edges of a box in space.
const CRATE = [`${PLACE}
  layout(location = 5) in vec3 lower;
  layout(location = 6) in vec3 upper;
  uniform vec3 absolute;
  void main() {
    int edge = gl_VertexID >> 1, axis = edge >> 2;
    vec3 corner;
    corner[axis] = float(gl_VertexID & 1);
    corner[(axis + 1) % 3] = float(edge & 1);
    corner[(axis + 2) % 3] = float(edge >> 1 & 1);
    vec3 at = turn * (mix(lower, upper, corner) - absolute);
    gl_Position = seen(at.xy + middle.xy, at.z);
  }`];
const BOX = [`${PLACE}
  layout(location = 3) in vec4 box;
  void main() {
    int corner = gl_VertexID;
    gl_Position = seen(vec2(corner == 1 || corner == 2 ? box.z : box.x, corner >= 2 ? box.w : box.y), 0.0);
  }`];
const FLAT = `#version 300 es
  precision mediump float;
  uniform vec4 paint;
  out vec4 colour;
  void main() { colour = paint; }`;

function program(gl, [vertex, fragment = FLAT]) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const at = {};
  const uniforms = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS);
  for (let i = 0; i < uniforms; i++) {
    const { name } = gl.getActiveUniform(made, i);
    at[name] = gl.getUniformLocation(made, name);
  }
  return { made, at };
}

export class Discs {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { antialias: false, alpha: false });
    if (!this.gl) throw new Error("this browser has no WebGL2");
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => location.reload());
    const gl = this.gl;
    this.disc = program(gl, DISC);
    this.line = program(gl, LINE);
    this.box = program(gl, BOX);
    this.crate = program(gl, CRATE);
    this.buffers = {};
    for (const name of ["places", "radii", "shades", "boxes", "cells", "pairs", "order", "heights"]) this.buffers[name] = gl.createBuffer();
    const array = (parts) => {
      const made = gl.createVertexArray();
      gl.bindVertexArray(made);
      for (const [at, name, size, type, normalized, each, stride = 0, offset = 0] of parts) {
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
        gl.enableVertexAttribArray(at);
        gl.vertexAttribPointer(at, size, type, normalized, stride, offset);
        gl.vertexAttribDivisor(at, each);
      }
      return made;
    };
    this.discArray = array([[0, "places", 2, gl.UNSIGNED_SHORT, true, 1], [1, "radii", 1, gl.FLOAT, false, 1], [2, "shades", 1, gl.UNSIGNED_BYTE, true, 1], [4, "heights", 1, gl.UNSIGNED_SHORT, true, 1]]);
    this.crateArray = array([[5, "boxes", 3, gl.FLOAT, false, 1, 24, 0], [6, "boxes", 3, gl.FLOAT, false, 1, 24, 12]]);
    this.boxArrays = {};
    for (const name of ["boxes", "cells"]) this.boxArrays[name] = array([[3, name, 4, gl.FLOAT, false, 1]]);
    this.lineArrays = {};
    for (const name of ["pairs", "order"]) {
      this.lineArrays[name] = array([[0, "places", 2, gl.UNSIGNED_SHORT, true, 0], [4, "heights", 1, gl.UNSIGNED_SHORT, true, 0]]);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers[name]);
    }
    gl.bindVertexArray(null);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.lengths = {};
  }

  /** Hands numbers over; `indices` where they are positions of others. */
  fill(name, numbers) {
    const gl = this.gl;
    gl.bindVertexArray(null);
    const target = name === "pairs" || name === "order" ? gl.ELEMENT_ARRAY_BUFFER : gl.ARRAY_BUFFER;
    gl.bindBuffer(target, this.buffers[name]);
    gl.bufferData(target, numbers, gl.STREAM_DRAW);
    this.lengths[name] = numbers.length;
  }

  /** The third coordinates of a frame; any will do where all is flat, as long as there are enough. */
  fillHeights({ n, heights }) {
    if (heights) this.fill("heights", heights);
    else if (!(this.lengths.heights >= n)) this.fill("heights", new Uint16Array(n));
  }

  draw(frame, camera, look) {
    const gl = this.gl, ratio = this.canvas.width / camera.size[0];
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...look.back, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const space = !!frame.heights, deep = space ? 1 / (Math.hypot(...frame.sides) / 2 + look.largest + 1e-30) : 0;
    if (space) gl.enable(gl.DEPTH_TEST);
    else gl.disable(gl.DEPTH_TEST);
    const zoom = [2 * camera.scale / camera.size[0], 2 * camera.scale / camera.size[1]];
    const use = ({ made, at }, paint) => {
      gl.useProgram(made);
      // The difference is taken in the page's 64 bits, so that much zoomed in nothing trembles.
      const [x, y] = [0, 1].map((axis) => frame.middle[axis] - camera.center[axis]);
      gl.uniform2fv(at.center, at.middle ? [0, 0] : camera.center);
      gl.uniform2fv(at.zoom, zoom);
      gl.uniform1f(at.deep, deep);
      if (at.middle) gl.uniform3f(at.middle, x, y, 0);
      if (at.side) gl.uniform3fv(at.side, frame.sides);
      if (at.turn) gl.uniformMatrix3fv(at.turn, true, camera.turn);
      if (at.absolute) gl.uniform3fv(at.absolute, frame.middle);
      if (paint) gl.uniform4fv(at.paint, paint);
      return at;
    };
    const at = use(this.disc);
    gl.uniform1f(at.pixel, 1 / (camera.scale * ratio));
    gl.uniform1i(at.kind, look.kind);
    gl.uniform3fv(at.back, look.back);
    gl.uniform3fv(at.free, look.free);
    gl.uniform3fv(at.touching, look.touching);
    gl.bindVertexArray(this.discArray);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, frame.n);
    for (const name of ["boxes", "cells"]) {
      if (!look[name]) continue;
      if (space) {
        use(this.crate, look[name]);
        gl.bindVertexArray(this.crateArray);
        gl.drawArraysInstanced(gl.LINES, 0, 24, this.lengths[name] / 6);
        continue;
      }
      use(this.box, look[name]);
      gl.bindVertexArray(this.boxArrays[name]);
      gl.drawArraysInstanced(gl.LINE_LOOP, 0, 4, this.lengths[name] / 4);
    }
    for (const [name, mode] of [["order", gl.LINE_STRIP], ["pairs", gl.LINES]]) {
      if (!look[name]) continue;
      use(this.line, look[name]);
      gl.bindVertexArray(this.lineArrays[name]);
      gl.drawElements(mode, this.lengths[name], gl.UNSIGNED_INT, 0);
    }
    gl.bindVertexArray(null);
  }
}
