// One recorded search: a lane a worker, its tasks as bars, by region. Each task goes to the worker that is free first.

// Of Okabe and Ito, told apart by people of any colour vision.
const COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#b8a900"];
const ALONE = "#999999", LANE = 14, LEFT = 26;

/** Deals tasks to workers, region after region: the bars, when all ends, and the time of each region. */
export function deal(recording, workers) {
  const bars = [], regions = [];
  let now = 0;
  const alone = (time) => {
    if (time > 0) bars.push({ lane: 0, start: now, time, region: -1 });
    now += time;
  };
  recording.regions.forEach(({ before, tasks }, region) => {
    alone(before);
    const free = new Array(Math.min(workers, Math.max(tasks.length, 1))).fill(now), start = now;
    for (const time of tasks) {
      const lane = free.indexOf(Math.min(...free));
      bars.push({ lane, start: free[lane], time, region });
      free[lane] += time;
    }
    now = Math.max(...free);
    regions.push(now - start);
  });
  alone(recording.after);
  return { bars, end: now, regions };
}

const millis = (micros) => `${(micros / 1e3).toFixed(micros < 1e4 ? 3 : 1)} ms`;

export class Lanes {
  constructor(section, canvas, words, legend) {
    Object.assign(this, { section, canvas, words, legend });
    this.workers = 4;
  }

  show(recording) {
    this.recording = recording;
    this.section.hidden = false;
    this.draw();
  }

  hide() {
    this.section.hidden = true;
  }

  draw() {
    const { recording, workers, canvas } = this;
    if (!recording || this.section.hidden) return;
    if (recording.error) {
      this.words.textContent = recording.error;
      return;
    }
    const { bars, end, regions } = deal(recording, workers), one = deal(recording, 1).end;
    const tasks = recording.regions.reduce((sum, region) => sum + region.tasks.length, 0);
    this.words.textContent = `${tasks.toLocaleString("en")} tasks in ${regions.length} regions, one after the other ${millis(one)}; `
      + `on ${workers} ${workers === 1 ? "worker" : "workers"} ${millis(end)}, ${(one / end).toFixed(2)} times as fast`;
    this.legend.replaceChildren(...[{ name: "one alone" }, ...recording.regions].map(({ name }, at) => {
      const item = document.createElement("li"), colour = at ? COLOURS[(at - 1) % COLOURS.length] : ALONE;
      item.innerHTML = `<svg viewBox="0 0 1 1" aria-hidden="true"><rect width="1" height="1" fill="${colour}"/></svg>`;
      item.append(at ? `${name} ${millis(regions[at - 1])}` : name);
      return item;
    }));
    const ratio = devicePixelRatio || 1;
    canvas.style.height = `${LANE * workers}px`;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(LANE * workers * ratio);
    const context = canvas.getContext("2d"), scale = (canvas.width / ratio - LEFT) / end;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "10px system-ui, sans-serif";
    for (let lane = 0; lane < workers; lane++) {
      context.fillStyle = getComputedStyle(canvas).color;
      context.fillText(String(lane + 1), 2, LANE * lane + 11);
    }
    for (const { lane, start, time, region } of bars) {
      context.fillStyle = region < 0 ? ALONE : COLOURS[region % COLOURS.length];
      // Neighbours stay apart where there is room.
      const wide = time * scale;
      context.fillRect(LEFT + start * scale, LANE * lane + 1, Math.max(wide > 3 ? wide - 1 : wide, 0.3), LANE - 2);
    }
  }
}
