// The pointer, keys and fingers: they move the view, and ask the tree. Answers are drawn over the discs.

/** Fingers and pointers that moved less than this were meant to stay. */
const STILL = 5;

export class Tools {
  constructor(canvas, marks, text, camera, link, changed) {
    Object.assign(this, { canvas, marks, text, camera, link, changed });
    this.down = new Map();
    this.tool = "point";
    this.count = 8;
    this.since = 1;
    this.giant = () => 1;
    this.noun = () => "circle";
    /** How far spheres reach from their middle; of circles, nothing. */
    this.depth = () => undefined;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.lift(event));
    canvas.addEventListener("pointercancel", (event) => this.down.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.down.size || this.forget());
    for (const kind of ["focus", "blur"]) canvas.addEventListener(kind, () => changed());
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 20 : 1;
      camera.zoom(Math.exp(-event.deltaY * lines * 0.0016), [event.offsetX, event.offsetY]);
      changed();
    }, { passive: false });
  }

  choose(tool) {
    this.tool = tool;
    this.forget();
  }

  /** Asks what is asked once more, of bodies that have moved. */
  again() {
    if (this.line) this.askLine();
    else if (this.hover) this.askOf(this.hover);
  }

  forget() {
    this.letGo();
    this.since = this.link.asked + 1;
    this.answer = this.line = this.hover = undefined;
    this.text.textContent = "";
    this.changed();
  }

  press(event) {
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    const at = [event.offsetX, event.offsetY];
    this.down.set(event.pointerId, { at, from: at });
    if (this.tool === "drag" && this.down.size === 1 && event.button === 0 && !event.shiftKey) this.grab(at);
    // A second finger, or another button, moves the view.
    this.draws = this.down.size === 1 && event.button === 0 && !event.shiftKey && (this.tool === "box" || this.tool === "ray");
  }

  move(event) {
    const at = [event.offsetX, event.offsetY], finger = this.down.get(event.pointerId);
    if (!finger) {
      if (this.tool === "point" || this.tool === "nearest") this.askAt(at);
      return;
    }
    const before = [...this.down.values()].map(({ at }) => at);
    const by = [at[0] - finger.at[0], at[1] - finger.at[1]];
    finger.at = at;
    if (this.down.size === 2) {
      const after = [...this.down.values()].map(({ at }) => at);
      const apart = ([a, b]) => Math.max(Math.hypot(a[0] - b[0], a[1] - b[1]), 1);
      this.camera.pan([by[0] / 2, by[1] / 2]);
      this.camera.zoom(apart(after) / apart(before), [(after[0][0] + after[1][0]) / 2, (after[0][1] + after[1][1]) / 2]);
      this.pinched = true;
    } else if (this.grabbed) {
      this.grabbed.at = at;
    } else if (this.draws) {
      this.line = [this.camera.toWorld(finger.from), this.camera.toWorld(at)];
      this.askLine();
    } else if (!this.pinched && this.depth() && event.buttons === 1 && !event.shiftKey) {
      this.camera.orbit(by);
    } else if (!this.pinched) {
      this.camera.pan(by);
    }
    this.changed();
  }

  lift(event) {
    const finger = this.down.get(event.pointerId);
    this.down.delete(event.pointerId);
    if (!finger) return;
    const moved = Math.hypot(finger.at[0] - finger.from[0], finger.at[1] - finger.from[1]);
    if (this.grabbed) this.letGo();
    else if (moved < STILL && !this.pinched && event.button === 0) this.act(finger.at);
    if (!this.down.size) this.pinched = this.draws = false;
  }

  /** Asks for the circle that is to be held, which is dragged once it is known. */
  grab(at) {
    const [x, y] = this.camera.toWorld(at);
    this.grabbed = { ask: this.link.ask(`point ${x} ${y}`), at };
  }

  letGo() {
    if (this.grabbed?.at) this.drag();
    if (this.grabbed?.id !== undefined) this.link.say("drop");
    this.canvas.classList.remove("held");
    this.grabbed = undefined;
  }

  /** Says where the circle is that is held: once a picture, where that has changed. One held by a key is in the middle. */
  drag(middle) {
    const { grabbed } = this;
    if (grabbed?.id === undefined) return;
    const words = `drag ${grabbed.id} ${this.camera.toWorld(grabbed.at ?? middle).join(" ")}`;
    if (words !== grabbed.said) this.link.say(grabbed.said = words);
  }

  /** A click, a tap, or Enter in the middle of the view. */
  act(at) {
    const [x, y] = this.camera.toWorld(at);
    if (this.tool === "drag") {
      if (this.grabbed) return this.letGo();
      this.grab(at);
      return this.grabbed.at = undefined;
    }
    if (this.tool === "giant") return this.link.say(`giant ${x} ${y} ${this.giant()}`);
    if (this.tool === "box" || this.tool === "ray") {
      const [u, v] = this.camera.toWorld([at[0] + 100, at[1] - (this.tool === "box" ? 100 : 0)]);
      this.line = [[x, y], [u, v]];
      return this.askLine();
    }
    this.askAt(at);
  }

  askAt(at) {
    this.askOf(this.hover = this.camera.toWorld(at));
  }

  askOf([x, y]) {
    const depth = this.depth();
    if (depth) return this.link.ask(`sight ${this.camera.sight([x, y], depth).flat().join(" ")}`);
    this.link.ask(this.tool === "nearest" ? `nearest ${x} ${y} ${this.count}` : `point ${x} ${y}`);
  }

  askLine() {
    const [[x, y], [u, v]] = this.line;
    if (this.tool === "ray") {
      if (x !== u || y !== v) this.link.ask(`ray ${x} ${y} ${u - x} ${v - y}`);
    } else {
      this.link.ask(`box ${Math.min(x, u)} ${Math.min(y, v)} ${Math.max(x, u)} ${Math.max(y, v)}`);
    }
  }

  told(answer) {
    if (answer.ask === this.grabbed?.ask) {
      if (answer.count) this.grabbed.id = answer.bodies[0].id;
      else this.grabbed = undefined;
      this.canvas.classList.toggle("held", answer.count > 0);
      return this.changed();
    }
    // One to a question of the tool before.
    if (answer.ask < this.since) return;
    this.answer = answer;
    this.text.textContent = this.words(answer);
    this.changed();
  }

  words({ kind, error, count, micros, bodies }) {
    if (error) return error;
    const one = this.noun(), took = `${micros.toFixed(1)} µs`, noun = count === 1 ? one : one === "box" ? "boxes" : `${one}s`;
    if (kind === "box") return `${count.toLocaleString("en")} ${noun} touch${count === 1 ? "es" : ""} the ${one === "box" ? "rectangle" : "box"}, ${took}`;
    if (kind === "ray") return `${count.toLocaleString("en")} ${noun} hit by the ray${count ? `, the first is ${bodies[0].id} at ${digits(bodies[0].distance)}` : ""}, ${took}`;
    if (kind === "nearest") return `the ${count} nearest ${one === "box" ? "boxes" : "centres"}${count ? `, from ${digits(bodies[0].distance)} to ${digits(bodies[count - 1].distance)} away` : ""}, ${took}`;
    if (!count) return `nothing here, ${took}`;
    const [{ id, r, lo, hi, contacts }] = bodies;
    const size = lo ? `${digits(hi[0] - lo[0])} by ${digits(hi[1] - lo[1])}` : `radius ${digits(r)}`;
    return `${one} ${id}: ${size}, ${contacts} contact${contacts === 1 ? "" : "s"}${count > 1 ? `, and ${count - 1} more here` : ""}, ${took}`;
  }

  /** Draws the answer over the discs. */
  draw(ink) {
    const ratio = devicePixelRatio || 1, { marks, camera, answer } = this;
    // Where there is nothing to draw, there is nothing to lay over the discs.
    marks.hidden = !this.line && !answer?.bodies && !this.canvas.matches(":focus-visible");
    if (marks.hidden) return;
    const context = marks.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, marks.width, marks.height);
    context.strokeStyle = context.fillStyle = ink;
    context.lineWidth = 2;
    const stroke = (points) => {
      context.beginPath();
      points.forEach((point) => context.lineTo(...camera.toPage(point)));
      context.stroke();
    };
    // Where Enter asks, for those who use the keys.
    if (this.canvas.matches(":focus-visible")) {
      const [x, y] = camera.size.map((side) => Math.round(side / 2) + 0.5);
      context.lineWidth = 1;
      for (const [dx, dy] of [[8, 0], [0, 8]]) {
        context.beginPath();
        context.moveTo(x - dx, y - dy);
        context.lineTo(x + dx, y + dy);
        context.stroke();
      }
      context.lineWidth = 2;
    }
    if (this.line && this.tool === "box") {
      const [[x, y], [u, v]] = this.line;
      stroke([[x, y], [u, y], [u, v], [x, v], [x, y]]);
    } else if (this.line) {
      const [[x, y], [u, v]] = this.line, far = 4000 / camera.scale / Math.max(Math.hypot(u - x, v - y), 1e-30);
      stroke([[x, y], [x + (u - x) * far, y + (v - y) * far]]);
    }
    if (!answer?.bodies || answer.kind === "box") return;
    for (const { x, y, z, r, lo, hi } of answer.bodies) {
      if (lo) {
        // The distance of a box is that of its nearest point.
        if (answer.kind === "nearest" && this.hover) stroke([this.hover, this.hover.map((at, axis) => Math.min(Math.max(at, lo[axis]), hi[axis]))]);
        stroke([lo, [hi[0], lo[1]], hi, [lo[0], hi[1]], lo]);
        continue;
      }
      if (answer.kind === "nearest" && this.hover) stroke([this.hover, [x, y]]);
      context.beginPath();
      context.arc(...camera.toPage(camera.flat([x, y, z])), Math.min(Math.max(r * camera.scale, 3), 1e5), 0, 2 * Math.PI);
      context.stroke();
    }
  }
}

function digits(x) {
  return Number(x.toPrecision(4)).toString();
}
