// A chart of the document as options of ECharts.

import { axisTitle, escaped, number, withUnit } from "./format.js";
import { marksOf, seriesOf } from "./series.js";
import { color } from "./theme.js";

export const PANEL = 230;
const [LEFT, RIGHT, GAP, SLIDER] = [68, 18, 78, 34];
const LEGEND_LINE = 22;

// How many lines the legend takes: ECharts does not say before it has drawn.
function legendHeight(names, width) {
  let [lines, room] = [1, width - LEFT];
  for (const name of names) {
    const wide = 44 + 6.4 * name.length;
    if (room < wide) [lines, room] = [lines + 1, width - LEFT];
    room -= wide;
  }
  return names.length > 1 ? lines * LEGEND_LINE + 6 : 4;
}

function axis(record, index, vertical, range, extra) {
  const scale = record.scale ?? "linear";
  const ink = color("--muted");
  return {
    type: { log: "log", category: "value", linear: "value" }[scale],
    gridIndex: index,
    name: axisTitle(record),
    nameLocation: "middle",
    nameTextStyle: { color: color("--ink"), fontSize: 12 },
    min: record.min ?? (vertical ? undefined : "dataMin"),
    max: record.max ?? (vertical ? undefined : "dataMax"),
    logBase: record.base ?? (range > 50 || vertical ? 10 : 2),
    ...(scale === "category" ? { min: -0.5, max: record.names.length - 0.5, interval: 1, minInterval: 1 } : {}),
    axisLine: { show: true, onZero: false, lineStyle: { color: ink } },
    axisTick: { lineStyle: { color: ink } },
    axisLabel: {
      color: color("--ink"), hideOverlap: true, showMaxLabel: scale === "category" || isRound(record.max),
      showMinLabel: scale === "category" || vertical || isRound(record.min),
      formatter: (value) => (scale === "category" ? (record.names[Math.round(value)] ?? "") : number(value)),
    },
    splitLine: { lineStyle: { color: color("--grid") } },
    minorTick: { show: scale === "log" },
    ...extra,
  };
}

// A limit that the data has, such as 841.03, is no tick.
function isRound(limit) {
  return Number.isFinite(limit) && String(Number(limit.toPrecision(3))) === String(limit);
}

function tooltip(chart) {
  return (items) => {
    const lines = items.filter((item) => item.seriesId?.endsWith("/line") && item.value[1] !== "-");
    if (!lines.length) return "";
    const panel = chart.panels[lines[0].axisIndex ?? 0];
    const place = lines[0].axisValue;
    const where = panel.x.names?.[Math.round(place)] ?? withUnit(place, panel.x.unit);
    const rows = lines.map((item) => {
      const series = panel.series.find((each) => each.name === item.seriesName);
      const [low, high] = [series?.plow?.[item.dataIndex], series?.phigh?.[item.dataIndex]];
      const range = Number.isFinite(low) && low !== high ? ` (${number(low)} – ${number(high)})` : "";
      return `${item.marker}${escaped(item.seriesName)}: <b>${escaped(withUnit(item.value[1], panel.y.unit))}</b>${range}`;
    });
    return [`${escaped(panel.x.title)}: ${escaped(where)}`, ...rows].join("<br>");
  };
}

function zooms(chart, heights) {
  const all = chart.panels.map((_, index) => index);
  const inside = { type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseMove: "shift", moveOnMouseWheel: false };
  const filter = { filterMode: "none" };
  if (!chart.linked && all.length > 1) return all.map((index) => ({ ...inside, ...filter, xAxisIndex: index }));
  const ink = color("--muted");
  return [
    { ...inside, ...filter, xAxisIndex: all },
    {
      type: "slider", ...filter, xAxisIndex: all, height: 20, bottom: 6, left: LEFT, right: RIGHT + 8,
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

export function option(chart, width) {
  const names = [...new Set(chart.panels.flatMap((panel) => panel.series.map((series) => series.name)))];
  const top = legendHeight(names, width);
  const count = chart.panels.length;
  const hasSlider = chart.linked || count === 1;
  const tops = chart.panels.map((_, index) => top + 26 + index * (PANEL + GAP));
  const height = top + 26 + count * (PANEL + GAP) - GAP + 48 + (hasSlider ? SLIDER : 0);
  const place = (panel) => ({
    panel, axes: { xAxisIndex: panel, yAxisIndex: panel }, range: rangeOf(chart.panels[panel]),
  });
  return {
    height,
    option: {
      animation: false,
      aria: { enabled: false },
      textStyle: { fontFamily: "system-ui, sans-serif" },
      legend: {
        show: names.length > 1, data: names, left: LEFT - 8, top: 0, itemGap: 14, width: width - LEFT - RIGHT,
        textStyle: { color: color("--ink") }, inactiveColor: color("--muted"),
      },
      title: chart.panels.map((panel, index) => ({
        text: panel.title ?? "", left: LEFT - 8, top: tops[index] - 24,
        textStyle: { color: color("--ink"), fontSize: 12, fontWeight: 600 },
      })),
      grid: chart.panels.map((_, index) => ({ left: LEFT, right: RIGHT, top: tops[index], height: PANEL })),
      xAxis: chart.panels.map((panel, index) => axis(panel.x, index, false, ratioOf(panel), { nameGap: 28 })),
      yAxis: chart.panels.map((panel, index) => axis(panel.y, index, true, 0, { nameGap: 48 })),
      tooltip: {
        trigger: "axis", confine: true, formatter: tooltip(chart), axisPointer: { type: "line" },
        backgroundColor: color("--ground"), borderColor: color("--grid"), transitionDuration: 0,
        textStyle: { color: color("--ink"), fontSize: 12 },
      },
      axisPointer: chart.linked ? { link: [{ xAxisIndex: "all" }] } : {},
      ...(chart.brush ? { brush: { xAxisIndex: 0, brushType: "lineX", toolbox: [], seriesIndex: [],
        brushStyle: { color: "rgba(127,127,127,.22)", borderColor: color("--ink"), borderWidth: 1 } } } : {}),
      dataZoom: zooms(chart),
      series: chart.panels.flatMap((panel, index) => [
        ...panel.series.flatMap((series) => seriesOf(series, place(index))), marksOf(panel, place(index)),
      ]),
    },
  };
}
