// A chart of the document as options of ECharts.

import { axisTitle, escaped, number, tick, withUnit } from "./format.js";
import { legendOption, legendsOf } from "./legend.js";
import { marksOf } from "./marks.js";
import { textWidth, wrapped } from "./measure.js";
import { barsOf, textsOf } from "./rows.js";
import { seriesOf } from "./series.js";
import { color } from "./theme.js";

export const PANEL = 230;
const [LEFT, RIGHT, GAP, SLIDER] = [68, 18, 78, 34];
const [ROW, LINE, BESIDE, TITLE] = [17, 13, 24, 15];
const [NARROW, PER_TICK, MOST_TICKS] = [600, 64, 5];

// What stands to the left and to the right of all panels: names of rows, and texts beside them, which a phone has no
// room for.
function sides(chart, width) {
  const longest = (texts, size) => Math.max(0, ...texts.map((text) => textWidth(text, size)));
  const names = longest(chart.panels.flatMap((panel) => (panel.y.names ?? [])));
  const beside = longest(chart.panels.flatMap((panel) => panel.texts ?? []).filter((each) => each.x === undefined)
    .map((each) => each.text), 11);
  const isNarrow = width < NARROW;
  const left = Math.min(Math.max(LEFT, names + BESIDE), (isNarrow ? 0.46 : 0.4) * width);
  return [left, isNarrow ? RIGHT : Math.max(RIGHT, beside + 8)];
}

// The panel's rows are as high as the most lines that one of their names takes.
function heightOf({ y }, left) {
  if (y.scale !== "category") return PANEL;
  const lines = Math.max(...y.names.map((name) => wrapped(name, left - BESIDE).split("\n").length));
  return Math.max(70, (lines > 1 ? LINE * lines + 6 : ROW) * ((y.max ?? y.names.length) - (y.min ?? 0)));
}

// Names of categories stand at their places; those of rows in several lines where they have no room, and a word that is
// too long is cut off.
function names(record, vertical, left) {
  const places = record.places ?? record.names.map((_, index) => index);
  const at = { customValues: places };
  const told = (name) => (vertical ? wrapped(name, left - BESIDE) : name);
  return {
    min: record.min ?? -0.5, max: record.max ?? record.names.length - 0.5,
    axisTick: { show: !vertical, ...at }, splitLine: { show: false },
    axisLabel: {
      color: color("--ink"), hideOverlap: true, ...at,
      formatter: (value) => told(record.names[places.indexOf(value)] ?? ""),
      ...(vertical ? { width: left - BESIDE + 12, overflow: "truncate", lineHeight: LINE } : {}),
    },
  };
}

function axis(record, index, vertical, range, extra, left, wide) {
  const scale = record.scale ?? "linear";
  const ticks = vertical ? MOST_TICKS : Math.max(1, Math.min(MOST_TICKS, Math.floor(wide / PER_TICK)));
  const ink = color("--muted");
  return {
    type: { log: "log", category: "value", linear: "value" }[scale],
    gridIndex: index,
    name: axisTitle(record),
    nameLocation: "middle",
    nameTextStyle: { color: color("--ink"), fontSize: 12 },
    min: record.min ?? (vertical ? undefined : "dataMin"),
    max: record.max ?? (vertical ? undefined : "dataMax"),
    logBase: record.base ?? baseOf(vertical ? record.max / record.min : range, vertical),
    inverse: Boolean(record.downward),
    splitNumber: ticks,
    ...(record.whole ? { minInterval: 1 } : {}),
    axisLine: { show: true, onZero: false, lineStyle: { color: ink } },
    axisTick: { lineStyle: { color: ink } },
    axisLabel: {
      color: color("--ink"), hideOverlap: true, showMaxLabel: isTick(record.max, record, ticks),
      showMinLabel: isTick(record.min ?? (vertical ? 0 : undefined), record, ticks), formatter: tick,
    },
    splitLine: { lineStyle: { color: color("--grid") } },
    minorTick: { show: scale === "log" },
    ...(scale === "category" ? names(record, vertical, left) : {}),
    ...extra,
  };
}

// ECharts has ticks at powers alone: those of 2 on an axis that has few of 10, or the axis would have no second text.
function baseOf(ratio, vertical) {
  if (vertical) return ratio <= 20 ? 2 : 10;
  return ratio > 50 ? 10 : 2;
}

// A limit that the data has, such as 841.03 or 92.8, is no tick; nor is one beside the powers of a logarithmic axis.
function isTick(limit, { scale, whole, min = 0, max }, ticks) {
  if (scale === "log") return Number.isInteger(Math.log10(limit));
  if (!Number.isFinite(limit) || (whole && limit % 1)) return false;
  const steps = limit / step(((max ?? limit) - min) / ticks);
  return limit === 0 || Math.abs(steps - Math.round(steps)) < 1e-9;
}

// As far as ticks are apart: what ECharts takes as round.
function step(least) {
  if (!(least > 0)) return NaN;
  const power = 10 ** Math.floor(Math.log10(least));
  const part = least / power;
  return power * [[1.5, 1], [2.5, 2], [4, 3], [7, 5], [Infinity, 10]].find(([end]) => part < end)[1];
}

function barTip(chart, item) {
  const panel = chart.panels[Number(item.seriesId.split("/")[0])];
  const [at, begin, end] = item.value;
  const places = panel.y.places ?? panel.y.names?.map((_, index) => index) ?? [];
  const named = panel.y.names?.[places.indexOf(at)] ?? `${panel.y.title} ${number(at)}`;
  const span = withUnit(end - begin, panel.x.unit);
  return `${escaped(named)}<br>${item.marker}${escaped(item.seriesName)}: <b>${escaped(span)}</b>`;
}

function tooltip(chart) {
  return (items) => {
    if (!Array.isArray(items)) return barTip(chart, items);
    const lines = items.filter((item) => item.seriesId?.endsWith("/line") && item.value[1] !== "-");
    if (!lines.length) return "";
    const panel = chart.panels[lines[0].axisIndex ?? 0];
    const place = lines[0].axisValue;
    const where = panel.x.names?.[Math.round(place)] ?? withUnit(place, panel.x.unit);
    const rows = lines.map((item) => {
      const series = panel.series.find((each) => each.name === item.seriesName);
      // The ends of an area are where it is drawn, not what was measured.
      const isArea = series?.area && !series.line && !series.marker;
      const [low, high] = isArea ? [] : [series?.plow?.[item.dataIndex], series?.phigh?.[item.dataIndex]];
      const range = Number.isFinite(low) && low !== high ? ` (${number(low)} – ${number(high)})` : "";
      return `${item.marker}${escaped(item.seriesName)}: <b>${escaped(withUnit(item.value[1], panel.y.unit))}</b>${range}`;
    });
    return [`${escaped(panel.x.title)}: ${escaped(where)}`, ...rows].join("<br>");
  };
}

function zooms(chart, left, right) {
  const all = chart.panels.map((_, index) => index);
  const inside = { type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseMove: "shift", moveOnMouseWheel: false };
  const filter = { filterMode: "none" };
  if (!chart.linked && all.length > 1) return all.map((index) => ({ ...inside, ...filter, xAxisIndex: index }));
  const ink = color("--muted");
  return [
    { ...inside, ...filter, xAxisIndex: all },
    {
      type: "slider", ...filter, xAxisIndex: all, height: 20, bottom: 6, left, right: right + 8,
      borderColor: color("--grid"), fillerColor: "rgba(127,127,127,.15)", dataBackground: { lineStyle: { opacity: 0 },
        areaStyle: { opacity: 0 } }, selectedDataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } },
      handleStyle: { color: color("--ground"), borderColor: ink }, moveHandleSize: 4, showDetail: false,
      brushSelect: false, textStyle: { color: ink },
    },
  ];
}

function rangeOf(panel) {
  const every = [...(panel.levels ?? []).map((mark) => mark.at), panel.y.max ?? 0];
  for (const series of panel.series) for (const value of series.py) if (value > every[0]) every[0] = value;
  return Math.max(...every) - (panel.y.min ?? 0);
}

// How many times its least value the greatest of a panel's horizontal axis is.
function ratioOf(panel) {
  let [low, high] = [Infinity, 0];
  for (const series of panel.series) for (const value of series.px) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return high / low;
}

// Where the parts of a chart are, and how high it is; that needs names, and no numbers.
export function layout(chart, width) {
  const [left, right] = sides(chart, width);
  const count = chart.panels.length;
  const hasSlider = chart.linked || count === 1;
  const legends = legendsOf(chart, width - LEFT + 8);
  const isOwn = legends.length > 1;
  const heights = chart.panels.map((panel) => heightOf(panel, left));
  const titles = chart.panels.map((panel) => wrapped((panel.title ?? "").replace("\n", " "), 0.9 * (width - left)).split("\n"));
  const above = titles.map((lines, index) => (isOwn || !index ? legends[index].height + 4 : 0) + TITLE * (lines.length - 1));
  const tops = heights.map((_, index) => heights.slice(0, index).reduce(
    (sum, each, panel) => sum + each + GAP + above[panel + 1], above[0] + (chart.panels[0].title || !legends[0].height ? 26 : 12)));
  const height = tops[count - 1] + heights[count - 1] + 48 + (hasSlider ? SLIDER : 0);
  return { left, right, legends, isOwn, heights, titles, above, tops, height };
}

export function option(chart, width) {
  const { left, right, legends, isOwn, heights, titles, above, tops, height } = layout(chart, width);
  const wide = width - left - right;
  const place = (panel) => ({
    panel, axes: { xAxisIndex: panel, yAxisIndex: panel }, range: rangeOf(chart.panels[panel]),
    log: chart.panels[panel].y.scale === "log", width: wide, low: chart.panels[panel].y.min,
  });
  const isOfBars = chart.panels.every((panel) => !panel.series.length);
  return {
    height,
    option: {
      animation: false,
      aria: { enabled: false },
      textStyle: { fontFamily: "system-ui, sans-serif" },
      legend: legends.map((each, index) => legendOption(
        each, LEFT - 8, isOwn ? tops[index] - above[index] + 4 - (chart.panels[index].title ? 26 : 8) : 0, width - LEFT + 8)),
      title: titles.map((lines, index) => ({
        text: lines.join("\n"), left: left - 8, top: tops[index] - 24 - TITLE * (lines.length - 1),
        textStyle: { color: color("--ink"), fontSize: 12, fontWeight: 600, lineHeight: TITLE },
      })),
      grid: heights.map((each, index) => ({ left, right, top: tops[index], height: each })),
      xAxis: chart.panels.map((panel, index) => axis(panel.x, index, false, ratioOf(panel), { nameGap: 28 }, left, wide)),
      yAxis: chart.panels.map((panel, index) => axis(panel.y, index, true, 0, { nameGap: 48 }, left, wide)),
      tooltip: {
        trigger: isOfBars ? "item" : "axis", confine: true, formatter: tooltip(chart), axisPointer: { type: "line" },
        backgroundColor: color("--ground"), borderColor: color("--grid"), transitionDuration: 0,
        textStyle: { color: color("--ink"), fontSize: 12 },
      },
      axisPointer: chart.linked ? { link: [{ xAxisIndex: "all" }] } : {},
      ...(chart.brush ? { brush: { xAxisIndex: 0, brushType: "lineX", toolbox: [], seriesIndex: [],
        brushStyle: { color: "rgba(127,127,127,.22)", borderColor: color("--ink"), borderWidth: 1 } } } : {}),
      dataZoom: zooms(chart, left, right),
      series: chart.panels.flatMap((panel, index) => [
        ...panel.series.flatMap((series) => seriesOf(series, place(index))),
        ...panel.bars.map((bars, which) => barsOf(bars, which, place(index))), marksOf(panel, place(index)),
        ...textsOf(panel, place(index), width < NARROW),
      ]),
    },
  };
}
