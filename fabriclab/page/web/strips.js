// Strips of what chosen ports did of late, over virtual time.

import uPlot from "uplot";
import { byId, element } from "./elements.js";
import * as format from "./format.js";

const COLOURS = ["--c-0072b2", "--c-d55e00", "--c-00865f", "--c-6f5bd0", "--c-b8860b", "--c-b4549a"];
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4]];
const STRIPS = [
  ["queue", "Queue", format.bytes],
  ["rate", "Throughput", format.rate],
  ["marks", "Marks", format.perSecond],
  ["drops", "Drops", format.perSecond],
];
// A rate is the mean since the sample before it, so a step ends at each sample. A queue is known at samples alone: where
// they are far apart, dots say so.
const MEAN = { paths: uPlot.paths.stepped({ align: -1 }), points: { show: false } };
const SHAPES = { queue: { points: { size: 4 } }, rate: MEAN, marks: MEAN, drops: MEAN };
export const MOST = COLOURS.length;

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Strips {
  constructor() {
    this.plots = [];
    this.names = [];
    const redraw = () => this.plots.forEach(({ plot }) => plot.redraw(false, true));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    new ResizeObserver(() => this.resize()).observe(byId("strips"));
  }

  choose(names) {
    this.names = names;
    this.plots.forEach(({ plot }) => plot.destroy());
    byId("strips").replaceChildren();
    this.plots = STRIPS.map(([measure, title, words]) => this.plot(measure, title, words));
  }

  plot(measure, title, words) {
    const place = element("figure", { "aria-label": `${title} of the chosen ports; their values now are in the table below` }, element("figcaption", {}, title));
    byId("strips").append(place);
    const axis = { stroke: () => colour("--muted"), grid: { stroke: () => colour("--grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
    const plot = new uPlot(
      {
        width: Math.max(200, place.clientWidth),
        height: 130,
        legend: { show: false },
        cursor: { y: false, points: { show: false }, sync: { key: "strips" } },
        scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(high || 0, 1) * 1.05] } },
        axes: [{ ...axis, size: 22, values: (_, ticks) => ticks.map((tick) => `${+tick.toFixed(6)} s`), space: 90 }, { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => words(tick)), space: 28 }],
        series: [{}, ...this.names.map((name, index) => ({ label: name, stroke: () => colour(COLOURS[index]), width: 1.5, dash: DASHES[index], ...SHAPES[measure] }))],
      },
      [[], ...this.names.map(() => [])],
      place,
    );
    return { plot, measure, place };
  }

  resize() {
    for (const { plot, place } of this.plots) plot.setSize({ width: Math.max(200, place.clientWidth), height: 130 });
  }

  show(model) {
    for (const { plot, measure } of this.plots) plot.setData([model.times, ...this.names.map((name) => model.series(name, measure))]);
  }

  swatch(index) {
    const line = element("svg:line", { x1: 0, y1: 5, x2: 26, y2: 5, "stroke-width": 2, "stroke-dasharray": DASHES[index].join(" ") });
    line.style.stroke = `var(${COLOURS[index]})`;
    return element("svg:svg", { width: 26, height: 10, "aria-hidden": "true" }, line);
  }
}
