// What of the world is seen: its centre, and pixels of the page a unit. The world's y points upwards. A world of spheres is
// turned about the middle of its box first, and seen along its third axis, from where that is large.

const STRAIGHT = [1, 0, 0, 0, 1, 0, 0, 0, 1];

export class Camera {
  constructor() {
    this.center = [0, 0];
    this.scale = 1;
    this.size = [1, 1];
    this.angles = [0, 0];
    this.turn = STRAIGHT;
    this.middle = [0, 0, 0];
  }

  /** Turns a world of spheres by what pixels of the page say; circles lie flat. */
  orbit([dx, dy]) {
    const [yaw, pitch] = this.angles = [this.angles[0] + dx * 0.008, Math.min(Math.max(this.angles[1] + dy * 0.008, -1.57), 1.57)];
    const [s, c, t, d] = [Math.sin(yaw), Math.cos(yaw), Math.sin(pitch), Math.cos(pitch)];
    this.turn = [c, 0, s, t * s, d, -t * c, -d * s, t, d * c];
  }

  /** Looks at a frame: of spheres, or flat. */
  take({ middle, heights }) {
    this.middle = middle;
    if (heights && this.turn === STRAIGHT) this.orbit([0, 0]);
    if (!heights) [this.turn, this.angles] = [STRAIGHT, [0, 0]];
  }

  /** Where on the plane that is seen a point of the world lies. */
  flat(point) {
    const [x, y, z] = [0, 1, 2].map((axis) => (point[axis] ?? 0) - this.middle[axis]), turn = this.turn;
    return [this.middle[0] + turn[0] * x + turn[1] * y + turn[2] * z, this.middle[1] + turn[3] * x + turn[4] * y + turn[5] * z];
  }

  /** The line of sight through a point of that plane, from this far before the middle: origin and direction. */
  sight([u, v], far) {
    const seen = [u - this.middle[0], v - this.middle[1], far], turn = this.turn;
    const back = (axis) => turn[axis] * seen[0] + turn[3 + axis] * seen[1] + turn[6 + axis] * seen[2];
    return [[0, 1, 2].map((axis) => this.middle[axis] + back(axis)), [0, 1, 2].map((axis) => -turn[6 + axis])];
  }

  /** Shows a box, beside the panel where there is room. */
  fit(lo, hi, covered) {
    const room = [Math.max(this.size[0] - covered[0], 50), Math.max(this.size[1] - covered[1], 50)];
    const sides = [0, 1].map((axis) => Math.max(hi[axis] - lo[axis], 1e-30));
    this.scale = 0.96 * Math.min(room[0] / sides[0], room[1] / sides[1]);
    this.center = [(lo[0] + hi[0]) / 2 + covered[0] / 2 / this.scale, (lo[1] + hi[1]) / 2 - covered[1] / 2 / this.scale];
  }

  /** Where it looks, as a name. */
  place() {
    return [...this.center, this.scale].join();
  }

  /** Shows of one box what was shown of another. */
  follow(before, after) {
    const side = ({ lo, hi }) => Math.max(hi[0] - lo[0], hi[1] - lo[1], 1e-30), grown = side(after) / side(before);
    this.scale /= grown;
    this.center = [0, 1].map((axis) => after.lo[axis] + (this.center[axis] - before.lo[axis]) * grown);
  }

  toWorld([x, y]) {
    return [this.center[0] + (x - this.size[0] / 2) / this.scale, this.center[1] - (y - this.size[1] / 2) / this.scale];
  }

  toPage([x, y]) {
    return [(x - this.center[0]) * this.scale + this.size[0] / 2, (this.center[1] - y) * this.scale + this.size[1] / 2];
  }

  /** Zooms so that what lies under a point of the page stays there. */
  zoom(factor, at) {
    const [x, y] = this.toWorld(at);
    this.scale = Math.min(Math.max(this.scale * factor, 1e-12), 1e12);
    const [u, v] = this.toWorld(at);
    this.center = [this.center[0] + x - u, this.center[1] + y - v];
  }

  pan([dx, dy]) {
    this.center = [this.center[0] - dx / this.scale, this.center[1] + dy / this.scale];
  }
}
