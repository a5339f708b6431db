// What of the world is seen: its centre, and pixels of the page a unit. The world's y points upwards.

export class Camera {
  constructor() {
    this.center = [0, 0];
    this.scale = 1;
    this.size = [1, 1];
  }

  /** Shows a box, beside the panel where there is room. */
  fit(lo, hi, margin, covered) {
    const room = [Math.max(this.size[0] - covered[0], 50), Math.max(this.size[1] - covered[1], 50)];
    const sides = [0, 1].map((axis) => Math.max(hi[axis] - lo[axis] + 2 * margin, 1e-30));
    this.scale = 0.96 * Math.min(room[0] / sides[0], room[1] / sides[1]);
    this.center = [(lo[0] + hi[0]) / 2 + covered[0] / 2 / this.scale, (lo[1] + hi[1]) / 2 - covered[1] / 2 / this.scale];
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
