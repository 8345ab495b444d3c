// The legends of a chart: one for all of its panels, or, where each has names of its own, one above each.

import { LETTERS, textWidth } from "./measure.js";
import { color } from "./theme.js";

const [SAMPLE, BETWEEN, GAP, PADDING] = [26, 5, 10, 5];
const LINE = 14;

// A line is shown by a piece of it, with its dash; an area by a piece of that; only marks are drawn as marks. ECharts
// shows a name that lines and bars have as that of bars.
function entry(series, ofBars) {
  const name = series.name;
  if (!series.px || ofBars.has(name)) return { name };
  if (series.area && !series.line && !series.marker) return { name, icon: "rect", itemStyle: { opacity: series.area } };
  return series.marker || !series.line ? { name } : { name, itemStyle: { opacity: 0 } };
}

function namesOf(panels, ofBars) {
  const found = new Map();
  for (const panel of panels) {
    for (const series of [...panel.series.filter((each) => !each.labelled), ...panel.bars]) {
      if (series.name && !found.has(series.name)) found.set(series.name, entry(series, ofBars));
    }
  }
  return [...found.values()];
}

function heightOf(entries, width) {
  let [lines, left] = [1, 0];
  for (const { name } of entries) {
    const wide = SAMPLE + BETWEEN + textWidth(name) + 1;
    if (left > 0 && left + wide > width) [lines, left] = [lines + 1, 0];
    left += wide + GAP;
  }
  return 2 * PADDING + lines * LINE + (lines - 1) * GAP;
}

// Returns legends with their entries and heights: a single one for all panels, or one for each; null where a chart
// has none. An entry that is alone tells nothing, and its legend is empty.
export function legendsOf(chart, width) {
  const groups = chart.legend === "own" ? chart.panels.map((panel) => [panel]) : [chart.panels];
  const ofBars = new Set(chart.panels.flatMap((panel) => panel.bars.map((each) => each.name)));
  return groups.map((panels) => {
    const entries = namesOf(panels, ofBars);
    const show = entries.length > 1 && chart.legend !== "none";
    return { entries, show, height: show ? heightOf(entries, width - 2 * PADDING) : 0 };
  });
}

export function legendOption({ entries, show }, left, top, width) {
  return {
    show, data: entries, left, top, width: width - 2 * PADDING, itemGap: GAP, itemWidth: SAMPLE, padding: PADDING,
    textStyle: { color: color("--ink"), fontSize: LETTERS }, inactiveColor: color("--muted"),
  };
}
