// Where no graphics card draws, the page sets small bodies itself, pixel by pixel: a point takes such a renderer a microsecond and more.

/** True where the processor draws what a graphics card should. */
export function isBySoftware(gl) {
  const extension = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(gl.getParameter(extension?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER));
}

/** No larger radius is set, in pixels of the screen: edges are not smooth. */
const LARGEST = 3;

/** One of no larger radius is a single pixel. */
const LEAST = 0.75;

/** How dark a rim is, which keeps neighbours of one colour apart. */
const RIM = 0.72;

export class Dots {
  constructor() {
    this.image = new Uint32Array(0);
    this.inner = new Uint32Array(256);
    this.rims = new Uint32Array(256);
  }

  /** The colours of all shades, and that of the background. */
  paint(colours, back) {
    const pixel = (parts) => new Uint32Array(Uint8Array.of(...parts.map(Math.round), 255).buffer)[0];
    for (let shade = 0; shade < 256; shade++) {
      const parts = [...colours.slice(4 * shade, 4 * shade + 3)];
      this.inner[shade] = pixel(parts);
      this.rims[shade] = pixel(parts.map((part) => part * RIM));
    }
    this.back = pixel(back.map((part) => part * 255));
  }

  /** Sets those that are small and seen, rows from the bottom upwards, and tells the ids of those that are seen and not small. */
  set({ n, lo, hi, places }, camera, { radii, shades }, [width, height]) {
    if (this.image.length !== width * height) this.image = new Uint32Array(width * height);
    this.image.fill(this.back);
    const { image, inner, rims } = this, { sides } = radii, scale = camera.scale * width / camera.size[0], large = [];
    const [stepX, stepY] = [0, 1].map((axis) => (hi[axis] - lo[axis]) / 65535 * scale);
    const firstX = (lo[0] - camera.center[0]) * scale + width / 2, firstY = (lo[1] - camera.center[1]) * scale + height / 2;
    if (radii.range[1] * scale <= LEAST) {
      for (let id = 0; id < n; id++) {
        const x = firstX + places[2 * id] * stepX, y = firstY + places[2 * id + 1] * stepY;
        if (x >= 0 && x < width && y >= 0 && y < height) image[(y | 0) * width + (x | 0)] = inner[shades[id]];
      }
      return large;
    }
    for (let id = 0; id < n; id++) {
      const r = radii[id] * scale, x = firstX + places[2 * id] * stepX, y = firstY + places[2 * id + 1] * stepY;
      if (!(x + r >= 0 && x - r < width && y + r >= 0 && y - r < height)) continue;
      if (r > LARGEST) {
        large.push(id);
        continue;
      }
      const shade = shades[id];
      if (r <= LEAST) {
        // Less than a pixel may lie beside the border.
        if (x >= 0 && x < width && y >= 0 && y < height) image[(y | 0) * width + (x | 0)] = inner[shade];
        continue;
      }
      const [halfX, halfY] = sides ? [Math.max(sides[2 * id] * scale, 0.5), Math.max(sides[2 * id + 1] * scale, 0.5)] : [r, r];
      const bottom = Math.ceil(y - halfY - 0.5), top = Math.floor(y + halfY - 0.5);
      for (let row = Math.max(bottom, 0); row <= top && row < height; row++) {
        const reach = sides ? halfX : Math.sqrt(r * r - (row + 0.5 - y) ** 2);
        const left = Math.ceil(x - reach - 0.5), right = Math.floor(x + reach - 0.5);
        for (let column = Math.max(left, 0); column <= right && column < width; column++) {
          const isRim = r > 1.5 && !sides && (column === left || column === right || row === bottom || row === top);
          image[row * width + column] = (isRim ? rims : inner)[shade];
        }
      }
    }
    return large;
  }
}
