// The socket, and what comes by it. The layout of a frame stands in src/frame.rs.

const FRAME = 1, RADII = 2, SIDES = 3, HEADER = 80;
const NAMES = [, "places", "touched", "contacts", "pairs", "order", "boxes", "cells", "threads", "leaves", "clusters", "heights"];
export const STAGES = ["bounds", "sort", "tree", "join", "rest", "encode"];

/** A frame, read in place: typed arrays over what was received. */
export function readFrame(buffer) {
  const view = new DataView(buffer);
  const u32 = (at) => view.getUint32(at, true), f32 = (at) => view.getFloat32(at, true);
  const frame = {
    n: u32(4), radiiVersion: u32(8), levels: u32(12), number: view.getFloat64(16, true),
    lo: [f32(24), f32(28)], hi: [f32(32), f32(36)],
    times: STAGES.map((_, stage) => f32(40 + 4 * stage)),
    pairCount: u32(64), tests: f32(68), bytes: f32(72), rate: f32(76),
    size: buffer.byteLength, boxes: new Map(),
  };
  let low = 0, high = 0;
  for (let at = HEADER; at + 8 <= buffer.byteLength;) {
    const name = NAMES[u32(at)], bytes = u32(at + 4);
    at += 8;
    if (name === "places") frame.places = new Uint16Array(buffer, at, bytes / 2);
    else if (["touched", "contacts", "threads"].includes(name)) frame[name] = new Uint8Array(buffer, at, bytes);
    else if (["pairs", "order", "leaves"].includes(name)) frame[name] = new Uint32Array(buffer, at, bytes / 4);
    else if (name === "heights") {
      [low, high] = [f32(at), f32(at + 4)];
      frame.heights = new Uint16Array(buffer, at + 8, (bytes - 8) / 2);
    } else if (name === "clusters") frame.clusters = { count: u32(at), largest: u32(at + 4), shades: new Uint8Array(buffer, at + 8, bytes - 8) };
    else if (name === "cells") frame.cells = new Float32Array(buffer, at, bytes / 4);
    else if (name === "boxes") frame.boxes.set(u32(at), new Float32Array(buffer, at + 4, (bytes - 4) / 4));
    at += Math.ceil(bytes / 4) * 4;
  }
  // The box of all centres as its middle and sides, flat where there are no heights.
  const ends = [[frame.lo[0], frame.hi[0]], [frame.lo[1], frame.hi[1]], [low, high]];
  frame.middle = ends.map(([a, b]) => (a + b) / 2);
  frame.sides = ends.map(([a, b]) => b - a);
  return frame;
}

/** Keeps a connection, and makes a new one when it breaks. */
export class Link {
  constructor(heard) {
    this.heard = heard;
    this.wants = "want";
    this.asked = 0;
    this.wait = 500;
    this.connect();
  }

  connect() {
    const address = new URL("socket", location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = this.socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = 500;
      socket.send(this.wants);
      this.heard.open();
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") return this.heard.told(JSON.parse(data));
      const [kind, n, version] = new Uint32Array(data, 0, 3);
      if (kind === RADII) this.heard.radii(new Float32Array(data, 12, n), version);
      else if (kind === SIDES) this.heard.sides(new Float32Array(data, 12, 2 * n), version);
      else if (kind === FRAME) this.heard.frame(readFrame(data));
    };
    socket.onclose = () => {
      this.heard.closed();
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(this.wait * 2, 8000);
    };
  }

  say(text) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  /** Says what frames are to hold, where that has changed. */
  want(words) {
    const wants = ["want", ...words].join(" ");
    if (wants !== this.wants) this.say(this.wants = wants);
  }

  /** Asks the tree; answers bear the number that is returned. */
  ask(question) {
    this.asked = (this.asked + 1) >>> 0;
    this.say(`ask ${this.asked} ${question}`);
    return this.asked;
  }
}
