// The page: the frames that come are drawn as they come, the view as often as it changes.

import { Camera } from "./camera.js";
import { Discs } from "./discs.js";
import { Lanes } from "./lanes.js";
import { Link } from "./link.js";
import { Meters } from "./meters.js";
import { Tools } from "./tools.js";

const $ = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const camera = new Camera();
/** Circles in a row across a giant. */
const GIANT = 24;

let discs, frame, radii, radiiVersion, controls, fitted = false, fitting, shades = new Uint8Array(0), before, prepared, due = false, owed = 0;

function look() {
  const night = dark.matches, want = (name) => $(name).checked;
  return {
    back: night ? [0.067, 0.078, 0.09] : [0.965, 0.965, 0.95],
    largest: radii.range[1],
    radii, shades,
    free: night ? [0.34, 0.71, 0.91] : [0, 0.447, 0.698],
    touching: [0.902, 0.624, 0],
    kind: { touching: 0, leaf: 2, thread: 2, cluster: 2 }[$("colour").value] ?? 1,
    pairs: want("pairs") && frame?.pairs && (night ? [1, 1, 1, 0.9] : [0, 0, 0, 0.85]),
    order: want("order") && frame?.order && [0.8, 0.475, 0.655, 0.8],
    boxes: want("boxes") && frame?.boxes.has(level()) && [0.835, 0.369, 0, 0.9],
    cells: want("cells") && frame?.cells && [0, 0.62, 0.451, 0.9],
  };
}

const level = () => Number($("level").value);

function wants() {
  const words = [], colour = $("colour").value;
  if (colour === "contacts") words.push("contacts");
  if ($("pairs").checked) words.push("pairs");
  if ($("order").checked || colour === "rank" || colour === "leaf") words.push("order");
  if (colour === "leaf") words.push("leaves");
  if (colour === "thread") words.push("threads");
  if (colour === "cluster") words.push("clusters");
  if ($("boxes").checked) words.push("boxes", level());
  if ($("cells").checked) words.push("cells");
  link.want(words);
  prepared = undefined;
  redraw();
}

/** A number from 0 to 255 for each circle, by what is chosen. */
function shade() {
  const { n, touched, contacts, order, places, lo, hi } = frame;
  if (shades.length !== n) shades = new Uint8Array(n);
  const colour = $("colour").value;
  if (colour === "contacts" && contacts) {
    for (let id = 0; id < n; id++) shades[id] = Math.min(contacts[id], 8) * 31;
  } else if (colour === "radius") {
    const [least, most] = radii.range, scale = most > least ? 255 / Math.log(most / least) : 0;
    for (let id = 0; id < n; id++) shades[id] = scale * Math.log(radii[id] / least);
  } else if (colour === "rank" && order) {
    for (let rank = 0; rank < n; rank++) shades[order[rank]] = 255 * rank / n;
  } else if (colour === "leaf" && order && frame.leaves) {
    const { leaves } = frame;
    for (let leaf = 0; leaf + 1 < leaves.length; leaf++) {
      for (let rank = leaves[leaf]; rank < leaves[leaf + 1]; rank++) shades[order[rank]] = leaf % 255 + 1;
    }
  } else if (colour === "thread" && frame.threads) {
    shades.set(frame.threads);
  } else if (colour === "cluster" && frame.clusters) {
    shades.set(frame.clusters.shades);
  } else if (colour === "speed" && before?.n === n && before.radiiVersion === frame.radiiVersion && frame.number > before.number) {
    // How far each has come since the frame seen before: places are fractions of boxes that differ a little.
    const step = (f, axis) => (f.hi[axis] - f.lo[axis]) / 65535, frames = frame.number - before.number;
    const [sx, sy, tx, ty] = [step(frame, 0), step(frame, 1), step(before, 0), step(before, 1)];
    const scale = 255 / (0.4 * radii.mean * frames);
    for (let id = 0; id < n; id++) {
      const dx = lo[0] + places[2 * id] * sx - before.lo[0] - before.places[2 * id] * tx;
      const dy = lo[1] + places[2 * id + 1] * sy - before.lo[1] - before.places[2 * id + 1] * ty;
      shades[id] = Math.min(Math.hypot(dx, dy) * scale, 255);
    }
  } else if (colour !== "speed") {
    for (let id = 0; id < n; id++) shades[id] = (touched[id >> 3] >> (id & 7) & 1) * 255;
  }
  discs.fill("shades", shades);
}

function redraw() {
  if (due) return;
  due = true;
  requestAnimationFrame(draw);
}

function draw() {
  due = false;
  const ratio = devicePixelRatio || 1, size = [innerWidth, innerHeight];
  for (const canvas of [$("discs"), $("marks")]) {
    const [width, height] = size.map((side) => Math.round(side * ratio));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  }
  camera.size = size;
  if (!frame || !radii || radiiVersion !== frame.radiiVersion) return;
  if (!fitted) fit();
  if (prepared !== frame) prepare();
  discs.draw(frame, camera, look());
  tools.drag(middle());
  tools.draw(getComputedStyle(document.body).color);
  // Once for each frame that has come, be it that two came since: the server sends no more than are drawn.
  if (owed) meters.drew();
  for (; owed; owed--) link.say("ready");
}

function fit() {
  fitted = true;
  if (!frame || !radii) return;
  const panel = $("panel").getBoundingClientRect(), wide = panel.width < innerWidth;
  // Turned spheres stay within a ball about their box.
  const ball = frame.heights && Math.hypot(...frame.sides) / 2 + radii.range[1];
  const [lo, hi] = ball ? [-ball, ball].map((by) => [frame.middle[0] + by, frame.middle[1] + by]) : reach();
  camera.fit(lo, hi, wide ? [panel.width, 0] : [0, panel.height]);
  fitting = camera.place();
  redraw();
}

/** Fits the view once more, unless it has been moved since. */
function refit() {
  if (camera.place() === fitting) {
    camera.size = [innerWidth, innerHeight];
    fit();
  }
  redraw();
}

/** The box of all circles or boxes. */
function reach() {
  const { n, lo, hi, places } = frame, { sides } = radii, least = [Infinity, Infinity], most = [-Infinity, -Infinity];
  if (!n) return [lo, hi];
  const step = [0, 1].map((axis) => (hi[axis] - lo[axis]) / 65535);
  for (let at = 0; at < 2 * n; at++) {
    const axis = at & 1, x = lo[axis] + places[at] * step[axis], half = sides ? sides[at] : radii[at >> 1];
    if (x - half < least[axis]) least[axis] = x - half;
    if (x + half > most[axis]) most[axis] = x + half;
  }
  return [least, most];
}

function take(next) {
  owed++;
  if (!radii || next.n !== radii.length) return;
  // Another world is looked at as the one before was.
  if (frame && fitted && next.radiiVersion !== frame.radiiVersion && isOther(frame, next)) {
    if (camera.place() === fitting) fitted = false;
    else camera.follow(frame, next);
  }
  if (!frame || next.number !== frame.number) before = frame;
  frame = next;
  camera.take(frame);
  document.body.classList.toggle("space", !!frame.heights);
  if (frame.heights && tools.tool !== "point") pick("point")();
  $("notice").textContent = "";
  const older = frame.n > 0 && frame.levels === 0;
  $("treed").hidden = older;
  $("celled").hidden = !older;
  const top = String(Math.max(frame.levels - 1, 0));
  if ($("level").max !== top) $("level").max = top;
  $("levels").textContent = level() === 0 ? "leaves" : `${level()} above`;
  meters.note(frame);
  redraw();
}

/** Hands over what is drawn of a frame, and asks once more what is asked of it. */
function prepare() {
  prepared = frame;
  discs.fillHeights(frame);
  discs.fill("places", frame.places);
  shade();
  for (const name of ["pairs", "order", "cells"]) if (frame[name]) discs.fill(name, frame[name]);
  if (frame.boxes.has(level())) discs.fill("boxes", frame.boxes.get(level()));
  tools.again();
}

/** True when two boxes are not of one world. */
function isOther(one, other) {
  const far = (a, b) => Math.abs(a - b) > 0.1 * Math.max(one.hi[0] - one.lo[0], one.hi[1] - one.lo[1]);
  return [0, 1].some((axis) => far(one.lo[axis], other.lo[axis]) || far(one.hi[axis], other.hi[axis]));
}

const heard = {
  open() {
    $("notice").textContent = "Waiting for the first frame ...";
    frame = before = undefined;
    owed = 0;
  },
  closed() {
    $("notice").textContent = "The program is not there. Trying again ...";
  },
  radii(numbers, version) {
    radii = numbers;
    radiiVersion = version;
    let least = Infinity, most = 0, sum = 0;
    for (const r of radii) {
      if (r > 0 && r < least) least = r;
      if (r > most) most = r;
      sum += r;
    }
    radii.range = [Math.min(least, most) || 1e-30, most];
    radii.mean = sum / radii.length || 1;
    discs.fill("radii", radii);
  },
  /** Boxes are as large as the circles through their corners. */
  sides(numbers, version) {
    const around = new Float32Array(numbers.length / 2);
    for (let id = 0; id < around.length; id++) around[id] = Math.hypot(numbers[2 * id], numbers[2 * id + 1]);
    this.radii(around, version);
    radii.sides = numbers;
    discs.fill("sides", numbers);
  },
  frame: take,
  told(message) {
    if (message.controls) steer(message.controls);
    else if (message.kind === "record") lanes.show(message);
    else if (message.ask !== undefined) tools.told(message);
  },
};

/** Shows what the controls are at. */
function steer(state) {
  controls = state;
  $("controls").hidden = false;
  $("giving").hidden = $("dragging").hidden = !state.scenes.length;
  $("scenery").hidden = !state.scenes.length;
  $("pause").textContent = state.paused ? "Run" : "Pause";
  $("filming").hidden = !state.frames;
  $("falling").hidden = !state.scenes.length;
  $("seek").max = Math.max(state.frames - 1, 0);
  $("seek").value = state.frame;
  $("at").textContent = `${state.frame + 1} / ${state.frames}`;
  $("rate").textContent = state.rate ? `${Number(state.rate.toPrecision(3))} / s` : "no limit";
  const scene = $("scene");
  if (scene.options.length !== state.scenes.length) scene.replaceChildren(...state.scenes.map((name) => new Option(name)));
  scene.value = state.scene;
  if (document.activeElement !== $("agents")) $("agents").value = state.agents;
  if (document.activeElement !== $("gravity")) $("gravity").value = state.gravity;
  $("searching").hidden = !state.engines.length;
  const engine = $("engine");
  if (engine.options.length !== state.engines.length) engine.replaceChildren(...state.engines.map((name) => new Option(name)));
  engine.value = state.engine;
  $("threading").hidden = state.mostThreads < 2 || state.engine !== state.engines[0];
  $("threads").max = state.mostThreads;
  if (document.activeElement !== $("threads")) $("threads").value = state.threads;
  $("refusal").textContent = state.notice;
}

const RATES = [1, 2, 4, 8, 15, 30, 60, 120, 240, 480, 0];
function hurry(by) {
  const rate = controls.rate || Infinity, ascending = RATES.map((rate) => rate || Infinity);
  const next = by > 0 ? ascending.find((other) => other > rate) : ascending.findLast((other) => other < rate);
  if (next !== undefined) link.say(`rate ${next === Infinity ? 0 : next}`);
}

function nextEngine() {
  const { engines, engine } = controls;
  if (engines.length) link.say(`engine ${engines[(engines.indexOf(engine) + 1) % engines.length]}`);
}

const middle = () => [innerWidth / 2, innerHeight / 2];
const flip = (name) => { $(name).checked = !$(name).checked; wants(); };
const zoom = (factor) => { camera.zoom(factor, middle()); redraw(); };
const orbit = (by) => { if (frame?.heights) camera.orbit(by); redraw(); };
const seek = (by) => () => controls?.frames && link.say(`seek ${(controls.frame + by + controls.frames) % controls.frames}`);
const pan = (by) => { camera.pan(by); redraw(); };
const pick = (name) => () => { document.querySelector(`[name=tool][value=${name}]`).checked = true; tools.choose(name); };
const steering = (action) => () => controls && action();
const KEYS = [
  [" ", "pause or run", steering(() => link.say(controls.paused ? "run" : "pause"))],
  [".", "one step", steering(() => link.say("step"))],
  ["[", "slower", steering(() => hurry(-1))],
  ["]", "faster", steering(() => hurry(1))],
  ["r", "restart", steering(() => link.say("restart"))],
  ["f", "fit the view", fit],
  ["+", "zoom in", () => zoom(1.25)],
  ["-", "zoom out", () => zoom(0.8)],
  ["ArrowLeft", "move the view", () => pan([60, 0])],
  ["ArrowRight", "", () => pan([-60, 0])],
  ["ArrowUp", "", () => pan([0, 60])],
  ["ArrowDown", "", () => pan([0, -60])],
  [",", "one frame of a film back", seek(-1)],
  ["a", "turn spheres, and d, w, s", () => orbit([-25, 0])],
  ["d", "", () => orbit([25, 0])],
  ["w", "", () => orbit([0, -25])],
  ["s", "", () => orbit([0, 25])],
  ["c", "next colour", () => { $("colour").selectedIndex = ($("colour").selectedIndex + 1) % $("colour").length; wants(); }],
  ["p", "pairs as lines", () => flip("pairs")],
  ["o", "curve through the ranks", () => flip("order")],
  ["b", "boxes of the tree, or cells", () => flip($("treed").hidden ? "cells" : "boxes")],
  ["l", "next level of boxes", () => { $("level").value = (level() + 1) % (Number($("level").max) + 1); wants(); }],
  ["e", "next engine", steering(nextEngine)],
  ["1", "tool: what lies under the pointer", pick("point")],
  ["2", "tool: nearest", pick("nearest")],
  ["3", "tool: box", pick("box")],
  ["4", "tool: ray", pick("ray")],
  ["5", "tool: giant", steering(pick("giant"))],
  ["6", "tool: hand", steering(pick("drag"))],
  ["Enter", "use the tool in the middle of the view", () => tools.act(middle())],
  ["t", "record one search: its tasks by thread", () => link.ask("record")],
  ["m", "show or hide the panel", fold],
  ["?", "these keys", () => $("help").open ? $("help").close() : $("help").showModal()],
];

function fold() {
  $("fold").setAttribute("aria-expanded", String(!document.body.classList.toggle("folded")));
  refit();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const within = event.target, typing = within.matches?.("input[type=number], select");
  const ranged = within.matches?.("input[type=range], input[type=radio]") && event.key.startsWith("Arrow");
  const pressed = within.matches?.("button, input") && (event.key === " " || event.key === "Enter");
  if (typing || ranged || pressed || ($("help").open && event.key !== "?")) return;
  const found = KEYS.find(([key]) => key === event.key || (key === "+" && event.key === "="));
  if (!found) return;
  event.preventDefault();
  found[2]();
});

for (const [key, words] of KEYS) {
  if (!words) continue;
  const shown = key === " " ? "Space" : key === "ArrowLeft" ? "Arrows" : key;
  $("keylist").appendChild(document.createElement("dt")).textContent = shown;
  $("keylist").appendChild(document.createElement("dd")).textContent = words;
}

let link, tools, meters, lanes;
try {
  discs = new Discs($("discs"));
  link = new Link(heard);
  tools = new Tools($("discs"), $("marks"), $("answer"), camera, link, redraw);
  meters = new Meters($("plot"), $("legend"), $("figures"));
  lanes = new Lanes($("lanes"), $("bars"), $("lanewords"), $("regions"));
  tools.depth = () => frame?.heights && Math.hypot(...frame.sides) / 2 + 2 * radii.range[1];
  tools.noun = () => frame?.heights ? "sphere" : radii?.sides ? "box" : "circle";
  tools.giant = () => GIANT * (radii ? radii.mean : 1) / 2;
} catch (error) {
  $("notice").textContent = `Nothing can be drawn: ${error.message}`;
  throw error;
}

const press = (id, action) => $(id).addEventListener("click", action);
press("pause", () => link.say(controls.paused ? "run" : "pause"));
press("step", () => link.say("step"));
press("restart", () => link.say("restart"));
press("slower", () => hurry(-1));
press("faster", () => hurry(1));
press("fit", fit);
press("closer", () => zoom(1.25));
press("farther", () => zoom(0.8));
press("keys", () => $("help").showModal());
press("fold", fold);
$("scene").addEventListener("change", () => link.say(`scene ${$("scene").value}`));
$("agents").addEventListener("change", () => $("agents").checkValidity() && $("agents").value && link.say(`agents ${$("agents").value}`));
$("engine").addEventListener("change", () => link.say(`engine ${$("engine").value}`));
$("threads").addEventListener("change", () => $("threads").checkValidity() && $("threads").value && link.say(`threads ${$("threads").value}`));
$("seek").addEventListener("input", () => link.say(`seek ${$("seek").value}`));
$("gravity").addEventListener("input", () => link.say(`gravity ${$("gravity").value}`));
for (const id of ["colour", "pairs", "order", "boxes", "cells"]) $(id).addEventListener("change", wants);
$("level").addEventListener("input", wants);
press("record", () => link.ask("record"));
press("unlane", () => lanes.hide());
$("workers").addEventListener("change", () => {
  lanes.workers = Math.min(Math.max(Math.round($("workers").value) || 1, 1), 64);
  lanes.draw();
});
$("count").addEventListener("change", () => { tools.count = Math.min(Math.max(Math.round($("count").value) || 8, 1), 64); });
$("tools").addEventListener("change", ({ target }) => target.name === "tool" && tools.choose(target.value));
/** What the address asks for behind its #, as in #colour=contacts&pairs&boxes&level=1. */
for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
  if (name === "colour") $("colour").value = value;
  else if (name === "level") [$("level").max, $("level").value] = [8, value];
  else if (["pairs", "order", "boxes", "cells"].includes(name)) $(name).checked = true;
}
if ($("colour").selectedIndex < 0) $("colour").selectedIndex = 0;
wants();
addEventListener("resize", () => { refit(); lanes.draw(); });
dark.addEventListener("change", redraw);
if (innerWidth <= 640) fold();
