// WebGL2: small discs and rectangles as points, large ones as instances of a square, boxes of trees as instances of its outline,
// pairs and the curve as lines between centres. Where there is no graphics card an instance takes as long as a hundred points; a point
// is not seen once its centre is not, so that large ones would vanish at the borders.

import { Dots, isBySoftware } from "./dots.js";

/** Points have no larger radius, in pixels of the page. */
const DOT = 6;

/** So many bodies are drawn soon enough by any renderer. */
const FEW = 10_000;

const PLACE = `#version 300 es
  precision highp float;
  uniform vec2 center, zoom;
  uniform vec3 middle, side;
  uniform mat3 turn;
  // One over how far from the middle anything lies; 0 where all is flat.
  uniform float deep;
  vec4 seen(vec2 at, float towards) { return vec4((at - center) * zoom, -towards * deep, 1.0); }
  // Of points, the largest radius; of instances, 0.
  uniform float dots;
  vec2 square() { return dots > 0.0 ? vec2(0.0) : vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0; }
  vec3 turned(vec2 place, float height) { return turn * ((vec3(place, height) - 0.5) * side) + vec3(middle.xy, 0.0); }`;

// What a body is coloured by, from its shade.
const INK = `#version 300 es
  precision highp float;
  uniform float dots;
  // 0: touching or free; 1: a number from low to high; 2: names, 0 for none.
  uniform int kind;
  uniform vec3 free, touching;
  out vec4 colour;
  vec3 ramp(float t) {
    vec3 a = vec3(0.42, 0.2, 0.62), b = vec3(0.13, 0.57, 0.55), c = vec3(0.99, 0.91, 0.14);
    return t < 0.5 ? mix(a, b, t * 2.0) : mix(b, c, t * 2.0 - 1.0);
  }
  vec3 name(int number) {
    if (number == 0) return vec3(0.5);
    // The golden ratio keeps neighbours' hues apart; three depths keep hues that are close apart.
    vec3 hue = clamp(abs(mod(float(number) * 0.618034 * 6.0 + vec3(0.0, 4.0, 2.0), 6.0) - 3.0) - 1.0, 0.0, 1.0);
    return mix(vec3(0.55), hue, 0.75) * (0.7 + 0.15 * float(number % 3));
  }
  vec3 ink(float value) {
    return kind == 0 ? mix(free, touching, step(0.5, value)) : kind == 1 ? ramp(value) : name(int(value * 255.0 + 0.5));
  }`;

const DISC = [`${PLACE}
  layout(location = 0) in vec2 place;
  layout(location = 1) in float radius;
  layout(location = 2) in float shade;
  layout(location = 4) in float height;
  uniform float pixel;
  out vec2 corner;
  out float value, edge, near;
  void main() {
    // No disc is smaller than a pixel, or it would not be seen.
    float r = max(radius, pixel * 0.6) + pixel;
    edge = pixel / r;
    corner = square();
    value = shade;
    vec3 at = turned(place, height);
    near = at.z * deep;
    gl_Position = dots > 0.0 && radius > dots ? vec4(2.0, 2.0, 2.0, 1.0) : seen(at.xy + corner * r, at.z);
    gl_PointSize = 2.0 * r / pixel;
  }`, `${INK}
  in vec2 corner;
  in float value, edge, near;
  uniform float deep;
  uniform vec3 back;
  void main() {
    vec2 from = dots > 0.0 ? gl_PointCoord * 2.0 - 1.0 : corner;
    float out_ = 1.0 - length(from);
    if (out_ <= 0.0) discard;
    vec3 inside = ink(value);
    // A rim keeps neighbours of one colour apart.
    float rim = smoothstep(edge, edge * 2.5, out_);
    vec3 lit = inside * mix(0.72, 1.0, rim);
    // Spheres are lit from before them, and fade with the distance.
    if (deep > 0.0) lit = mix(back, inside * (0.5 + 0.5 * sqrt(1.0 - dot(from, from))), 0.75 + 0.25 * near);
    colour = vec4(lit, min(out_ / edge, 1.0));
  }`];

// A border, and little within it, so that boxes in boxes are seen.
const RECTANGLE = [`${PLACE}
  layout(location = 0) in vec2 place;
  layout(location = 1) in vec2 sides;
  layout(location = 2) in float shade;
  uniform float pixel;
  out vec2 off;
  flat out vec2 most;
  out float value;
  void main() {
    vec2 reach = max(sides, vec2(pixel * 0.6));
    most = reach / pixel;
    off = square() * most;
    value = shade;
    gl_Position = dots > 0.0 && length(sides) > dots ? vec4(2.0, 2.0, 2.0, 1.0) : seen(turned(place, 0.5).xy + square() * reach, 0.0);
    gl_PointSize = 2.0 * max(most.x, most.y);
  }`, `${INK}
  in vec2 off;
  in float value;
  flat in vec2 most;
  void main() {
    vec2 within = most - abs(dots > 0.0 ? (gl_PointCoord * 2.0 - 1.0) * max(most.x, most.y) : off);
    if (min(within.x, within.y) < 0.0) discard;
    colour = vec4(ink(value), min(within.x, within.y) < 1.5 ? 1.0 : 0.25);
  }`];
const EVERYWHERE = `#version 300 es
  void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }`;
// All colours that there are, for the page to set itself.
const PALETTE = [EVERYWHERE, `${INK}
  void main() { colour = vec4(ink((gl_FragCoord.x - 0.5) / 255.0), 1.0); }`];
/** What there is one of for each body. */
const OF_BODIES = ["places", "radii", "sides", "shades", "heights"];

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
    this.rectangle = program(gl, RECTANGLE);
    this.palette = program(gl, PALETTE);
    this.line = program(gl, LINE);
    this.box = program(gl, BOX);
    this.crate = program(gl, CRATE);
    this.buffers = {};
    for (const name of [...OF_BODIES, "boxes", "cells", "pairs", "order"]) this.buffers[name] = gl.createBuffer();
    for (const name of OF_BODIES) this.buffers[`large ${name}`] = gl.createBuffer();
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
    if (isBySoftware(gl)) this.dots = new Dots();
    // The palette, and the image that the page sets.
    this.textures = [0, 1].map(() => gl.createTexture());
    this.targets = this.textures.map((texture) => {
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
      const target = gl.createFramebuffer();
      gl.bindFramebuffer(gl.FRAMEBUFFER, target);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
      return target;
    });
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    // Points are read one a vertex, of all bodies; instances of those that are large.
    this.bodyArrays = {};
    for (const [of, each] of [["", 0], ["large ", 1]]) {
      const both = [[0, `${of}places`, 2, gl.UNSIGNED_SHORT, true, each], [2, `${of}shades`, 1, gl.UNSIGNED_BYTE, true, each]];
      this.bodyArrays[`${of}radii`] = array([...both, [1, `${of}radii`, 1, gl.FLOAT, false, each], [4, `${of}heights`, 1, gl.UNSIGNED_SHORT, true, each]]);
      this.bodyArrays[`${of}sides`] = array([...both, [1, `${of}sides`, 2, gl.FLOAT, false, each]]);
    }
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
    this.waiting = new Map();
  }

  /** Keeps numbers until they are drawn. */
  fill(name, numbers) {
    this.waiting.set(name, numbers);
    this.lengths[name] = numbers.length;
  }

  /** Hands over what waits under these names. */
  upload(...names) {
    const gl = this.gl;
    gl.bindVertexArray(null);
    for (const name of names) {
      const numbers = this.waiting.get(name);
      if (!numbers) continue;
      this.waiting.delete(name);
      const target = name === "pairs" || name === "order" ? gl.ELEMENT_ARRAY_BUFFER : gl.ARRAY_BUFFER;
      gl.bindBuffer(target, this.buffers[name]);
      gl.bufferData(target, numbers, gl.STREAM_DRAW);
    }
  }

  /** The third coordinates of a frame; any will do where all is flat, as long as there are enough. */
  fillHeights({ n, heights }) {
    if (heights) this.fill("heights", heights);
    else if (!(this.lengths.heights >= n)) this.fill("heights", new Uint16Array(n));
  }

  /** The ids of those bodies that are too large for points, and seen. */
  pick({ n, lo, hi, places, heights }, camera, { radii }, least) {
    if (!(radii.range[1] > least)) return [];
    const step = [0, 1].map((axis) => (hi[axis] - lo[axis]) / 65535), half = camera.size.map((side) => side / 2 / camera.scale);
    const [x0, y0] = [0, 1].map((axis) => lo[axis] - camera.center[axis]), ids = [];
    for (let id = 0; id < n; id++) {
      const r = radii[id];
      if (r <= least) continue;
      // Spheres are turned: of these all may be seen.
      if (!heights && (Math.abs(x0 + places[2 * id] * step[0]) > half[0] + r || Math.abs(y0 + places[2 * id + 1] * step[1]) > half[1] + r)) continue;
      ids.push(id);
    }
    return ids;
  }

  /** Hands over the bodies of these ids, as large ones. */
  uploadLarge(ids, { places, heights }, { radii, shades }) {
    const picked = (of, each) => {
      const made = new of.constructor(each * ids.length);
      ids.forEach((id, at) => { for (let part = 0; part < each; part++) made[each * at + part] = of[each * id + part]; });
      return made;
    };
    this.fill("large places", picked(places, 2));
    this.fill("large shades", picked(shades, 1));
    if (radii.sides) this.fill("large sides", picked(radii.sides, 2));
    else {
      this.fill("large radii", picked(radii, 1));
      this.fill("large heights", heights ? picked(heights, 1) : new Uint16Array(ids.length));
    }
    this.upload(...OF_BODIES.map((name) => `large ${name}`));
  }

  draw(frame, camera, look) {
    const gl = this.gl, ratio = this.canvas.width / camera.size[0];
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...look.back, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | (frame.heights ? gl.DEPTH_BUFFER_BIT : 0));
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
    const { sides } = look.radii, shape = sides ? "sides" : "radii";
    const bodies = (made) => {
      const at = use(made);
      gl.uniform1f(at.pixel, 1 / (camera.scale * ratio));
      gl.uniform1i(at.kind, look.kind);
      gl.uniform3fv(at.back, look.back);
      gl.uniform3fv(at.free, look.free);
      gl.uniform3fv(at.touching, look.touching);
      return at;
    };
    const least = DOT / camera.scale, isSet = this.dots && !space && frame.n > FEW;
    let large;
    if (isSet) {
      const size = [this.canvas.width, this.canvas.height];
      const colours = JSON.stringify([look.kind, look.back, look.free]);
      if (this.colours !== colours) {
        this.colours = colours;
        gl.bindFramebuffer(gl.FRAMEBUFFER, this.targets[0]);
        gl.viewport(0, 0, 256, 1);
        bodies(this.palette);
        gl.drawArrays(gl.TRIANGLES, 0, 3);
        const read = new Uint8Array(1024);
        gl.readPixels(0, 0, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, read);
        this.dots.paint(read, look.back);
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.viewport(0, 0, ...size);
      }
      large = this.dots.set(frame, camera, look, size);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, ...size, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(this.dots.image.buffer));
      // A copy: a shader would take such a renderer ten times as long.
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.targets[1]);
      gl.blitFramebuffer(0, 0, ...size, 0, 0, ...size, gl.COLOR_BUFFER_BIT, gl.NEAREST);
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, null);
    } else {
      large = this.pick(frame, camera, look, least);
    }
    // Before small ones, so that these are seen upon them.
    if (large.length) {
      this.uploadLarge(large, frame, look);
      gl.uniform1f(bodies(sides ? this.rectangle : this.disc).dots, 0);
      gl.bindVertexArray(this.bodyArrays[`large ${shape}`]);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, large.length);
    }
    if (!isSet) {
      this.upload(...OF_BODIES);
      // A little more, lest what is rounded otherwise there is drawn by neither.
      gl.uniform1f(bodies(sides ? this.rectangle : this.disc).dots, least * 1.00001);
      gl.bindVertexArray(this.bodyArrays[shape]);
      gl.drawArrays(gl.POINTS, 0, frame.n);
    }
    for (const name of ["boxes", "cells"]) {
      if (!look[name]) continue;
      this.upload(name);
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
      this.upload("places", "heights", name);
      use(this.line, look[name]);
      gl.bindVertexArray(this.lineArrays[name]);
      gl.drawElements(mode, this.lengths[name], gl.UNSIGNED_INT, 0);
    }
    gl.bindVertexArray(null);
  }
}
