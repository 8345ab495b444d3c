// The flows that were under way in a span of time: how many, how long they took, the slowest of them.

import { numbers } from "./decode.js";
import { number } from "./format.js";

const SLOWEST = 10;
const MOST_STEPS = 400;
const COLUMNS = ["Point", "Flow", "Class", "From", "To", "Bytes", "Start", "Completion time (ms)"];
const TEXTS = new Set([0, 2, 3, 4]);
const decoded = new WeakMap();

function flowsOf(point) {
  if (!decoded.has(point.flows)) {
    const flows = point.flows;
    const columns = Object.fromEntries(["flow", "start", "fct", "bytes", "sample"].map((name) => [name, numbers(flows[name])]));
    for (const name of ["class", "src", "dst"]) columns[name] = numbers(flows[name].of);
    const counts = flows.counts && Object.fromEntries(["x", "begun", "ended"].map((name) => [name, numbers(flows.counts[name])]));
    decoded.set(flows, { ...columns, counts });
  }
  return decoded.get(point.flows);
}

// The count at the last known time before; the first time is that of the first start.
function countAt(x, values, at) {
  let [low, high] = [-1, x.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (x[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low < 0 ? 0 : values[low];
}

function within(point, span) {
  const flows = flowsOf(point);
  const found = [];
  for (let index = 0; index < flows.start.length; index += 1) {
    const took = flows.fct[index];
    const end = Number.isFinite(took) ? flows.start[index] + took * point.flows.perMs : Infinity;
    if (!span || (flows.start[index] <= span[1] && end >= span[0])) found.push(index);
  }
  const exact = !flows.counts;
  let count = span ? found.length : point.flows.total;
  if (span && !exact) count = countAt(flows.counts.x, flows.counts.begun, span[1]) - countAt(flows.counts.x, flows.counts.ended, span[0]);
  return { flows, found, exact, count };
}

function cdf(point, { flows, found, exact }) {
  const drawn = exact ? found : found.filter((index) => flows.sample[index]);
  const times = Float64Array.from(drawn.map((index) => flows.fct[index]).filter(Number.isFinite)).sort();
  const every = Math.max(1, times.length / MOST_STEPS);
  const [x, y] = [[], []];
  for (let place = every; place < times.length + 0.5; place += every) {
    const index = Math.min(Math.round(place), times.length) - 1;
    x.push(times[index]);
    y.push((100 * (index + 1)) / drawn.length);
  }
  return { name: point.label, ...point.look, steps: true, line: true, x, y };
}

function cell(text, isNumber, kind = "td") {
  const made = document.createElement(kind);
  made.textContent = text;
  if (isNumber) made.className = "number";
  return made;
}

function rowOf(texts, kind) {
  const row = document.createElement("tr");
  row.append(...texts.map((text, index) => cell(text, !TEXTS.has(index), kind)));
  return row;
}

function slowest(explorer, parts) {
  const rows = parts.flatMap(({ point, flows, found }) => found.map((index) => ({ point, flows, index })));
  const time = ({ flows, index }) => (Number.isFinite(flows.fct[index]) ? flows.fct[index] : Infinity);
  rows.sort((one, other) => time(other) - time(one) || one.index - other.index);
  const named = (row, name) => row.point.flows[name].names[row[`flows`][name][row.index]];
  const [head, body] = [document.createElement("thead"), document.createElement("tbody")];
  head.append(rowOf(COLUMNS.map((name) => (name === "Start" ? `Start (${explorer.time})` : name)), "th"));
  body.append(...rows.slice(0, SLOWEST).map((row) => rowOf([
    row.point.label, String(row.flows.flow[row.index]), named(row, "class"), named(row, "src"), named(row, "dst"),
    number(row.flows.bytes[row.index]), number(row.flows.start[row.index]),
    Number.isFinite(row.flows.fct[row.index]) ? number(row.flows.fct[row.index]) : "not complete",
  ])));
  document.getElementById("slowest").replaceChildren(head, body);
}

export function showFlows(explorer, shown, span, draw) {
  const parts = shown.map((point) => ({ point, ...within(point, span) }));
  const where = span ? `From ${number(span[0])} to ${number(span[1])} ${explorer.time}` : "In the whole run";
  const counts = parts.map(({ point, count, exact, found }) => {
    const reduced = exact ? "" : `, of which the page holds ${found.length.toLocaleString("en")}`;
    return `${point.label}: ${count.toLocaleString("en")} flows${reduced}`;
  });
  document.getElementById("flows-said").textContent = `${where}. ${counts.join("; ")}.`;
  const curves = parts.map((part) => cdf(part.point, part));
  draw(curves.every(({ x }) => !x.length) ? null : {
    panels: [{
      x: { title: "Flow completion time", unit: "ms", scale: "log" },
      y: { title: "Flows complete", unit: "%", min: 0, max: 100 },
      levels: [50, 95, 99].map((at) => ({ name: `p${at}`, at, foot: true })),
      series: curves,
    }],
  });
  slowest(explorer, parts);
}
