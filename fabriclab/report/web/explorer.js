// The explorer: points that are chosen by their settings, their queues over time, the flows of a span, TCP samples.

import { Chart } from "./chart.js";
import { showFlows } from "./flows.js";
import { choosePoints } from "./points.js";
import { chooseSpan, timeAxis } from "./span.js";
import { chooseTcp } from "./tcp.js";

const LOOKS = [["#0072b2", null], ["#d55e00", [5, 2]], ["#00865f", [1, 1]], ["#b4549a", [6, 2, 1, 2]]];

function chart(id, record) {
  const found = new Chart(document.getElementById(id), record);
  found.draw();
  return found;
}

// Null where no queue was sampled: an empty panel tells nothing.
function queueRecord(explorer, shown) {
  if (!explorer.queue) return null;
  const sampled = shown.filter((point) => point.queue);
  const levels = new Map(sampled.flatMap((point) => point.queue.levels).map((mark) => [`${mark.name}`, mark]));
  const series = sampled.map((point) => ({
    name: point.label, ...point.look, steps: true, line: true,
    x: point.queue.x, y: point.queue.y, low: point.queue.low, high: point.queue.high,
  }));
  return {
    brush: true,
    panels: [{
      x: timeAxis(explorer, shown), y: { title: "Queue", unit: explorer.bytes, min: 0, max: explorer.top },
      series, levels: [...levels.values()], events: shown[0].events,
    }],
  };
}

export function startExplorer(explorer) {
  const section = document.getElementById("explorer");
  if (!section || !explorer) return;
  let [shown, span] = [[], null];
  const charts = {};
  const draw = (id, record) => {
    document.getElementById(id).hidden = !record;
    if (!record) return;
    if (!charts[id]) charts[id] = chart(id, record);
    else charts[id].show(record);
    if (!charts[id].instance) charts[id].draw();
  };
  const tcp = chooseTcp(explorer, (record) => draw("explorer-tcp", record));
  const spans = chooseSpan((found) => {
    span = found;
    showFlows(explorer, shown, span, (record) => draw("explorer-cdf", record));
  });
  choosePoints(explorer, (points) => {
    shown = points.map((point, index) => ({
      ...point, look: { color: LOOKS[index][0], ...(LOOKS[index][1] ? { dash: LOOKS[index][1] } : {}) },
    }));
    draw("explorer-queue", queueRecord(explorer, shown));
    spans.attach(charts["explorer-queue"], Math.max(...shown.map((point) => point.end)), span);
    tcp(shown);
  });
}
