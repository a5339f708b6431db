// Milliseconds a frame by stage, stacked, over the last ten seconds; and what else there is to count.

import { STAGES } from "./link.js";

const SPAN = 10_000;
// Of Okabe and Ito, told apart by people of any colour vision.
const COLOURS = ["#999999", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#d55e00"];
const FIGURES = ["Bodies", "Pairs", "Tests a body", "Simulated a second", "Drawn a second", "Search, ms", "Bytes held a body", "Received a frame", "Received a second", "Clusters", "Largest, bodies"];

export class Meters {
  constructor(plot, legend, figures) {
    this.plot = plot;
    this.samples = [];
    this.draws = [];
    this.shown = {};
    STAGES.forEach((stage, i) => {
      const item = legend.appendChild(document.createElement("li"));
      item.innerHTML = `<svg viewBox="0 0 1 1" aria-hidden="true"><rect width="1" height="1" fill="${COLOURS[i]}"/></svg>${stage}`;
    });
    for (const name of FIGURES) {
      figures.appendChild(document.createElement("dt")).textContent = name;
      this.shown[name] = figures.appendChild(document.createElement("dd"));
    }
    setInterval(() => this.show(), 200);
  }

  note(frame) {
    const now = performance.now();
    this.samples.push({ now, times: frame.times, size: frame.size });
    while (this.samples[0].now < now - SPAN) this.samples.shift();
    this.frame = frame;
  }

  /** A frame has been drawn. */
  drew() {
    const now = performance.now();
    this.draws.push(now);
    while (this.draws[0] < now - 1000) this.draws.shift();
  }

  show() {
    if (!this.frame) return;
    const now = performance.now(), frame = this.frame;
    const last = this.samples.filter((sample) => sample.now > now - 1000);
    const bytes = (count) => count < 1e6 ? `${(count / 1e3).toFixed(1)} kB` : `${(count / 1e6).toFixed(2)} MB`;
    const search = frame.times.slice(0, 4).reduce((sum, time) => sum + time, 0);
    const values = [
      frame.n.toLocaleString("en"), frame.pairCount.toLocaleString("en"), frame.tests.toFixed(1), frame.rate.toFixed(1), this.draws.filter((at) => at > now - 1000).length,
      search.toFixed(2), frame.bytes.toFixed(0), bytes(frame.size), bytes(last.reduce((sum, sample) => sum + sample.size, 0)),
      frame.clusters?.count.toLocaleString("en") ?? "–", frame.clusters?.largest.toLocaleString("en") ?? "–",
    ];
    FIGURES.forEach((name, i) => this.shown[name].textContent = values[i]);
    this.draw(now);
  }

  draw(now) {
    const ratio = devicePixelRatio || 1, plot = this.plot;
    const width = plot.width = Math.round(plot.clientWidth * ratio), height = plot.height = Math.round(plot.clientHeight * ratio);
    const context = plot.getContext("2d");
    const total = (sample) => sample.times.reduce((sum, time) => sum + time, 0);
    const top = Math.max(...this.samples.map(total), 0.01) * 1.1;
    const x = (sample) => width * (1 - (now - sample.now) / SPAN);
    const sums = this.samples.map(() => 0);
    STAGES.forEach((_, stage) => {
      context.beginPath();
      this.samples.forEach((sample, i) => context.lineTo(x(sample), height * (1 - sums[i] / top)));
      for (let i = sums.length - 1; i >= 0; i--) {
        sums[i] += this.samples[i].times[stage];
        context.lineTo(x(this.samples[i]), height * (1 - sums[i] / top));
      }
      context.fillStyle = COLOURS[stage];
      context.fill();
    });
    context.fillStyle = getComputedStyle(plot).color;
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    context.fillText(`${top.toFixed(2)} ms`, 2 * ratio, 11 * ratio);
  }
}
