// A series of the document as series of ECharts: its line, the band around it, bars of its intervals.

import { numbers, pairs } from "./decode.js";
import { color } from "./theme.js";

const [WIDTH, PER_POINT] = [1.8, 1.4];
const SYMBOLS = { o: "circle", s: "rect", "^": "triangle", D: "diamond", v: "arrow", P: "roundRect", X: "pin" };

function line(series, place) {
  const ink = color(series.color);
  const shown = place.log ? Array.from(series.py, (value) => (value > 0 ? value : NaN)) : series.py;
  const data = pairs(series.px, shown).map((value, index) => (series.hollow?.[index]
    ? { value, itemStyle: { color: color("--ground"), borderColor: ink, borderWidth: 1.4 } } : value));
  const visible = series.marker || (!series.line && !series.area) || data.length === 1;
  return {
    type: "line",
    id: `${place.panel}/${series.name}/line`,
    name: series.name,
    ...place.axes,
    zlevel: 0,
    data,
    step: series.steps ? "end" : false,
    symbol: visible ? (SYMBOLS[series.marker] ?? "circle") : "circle",
    showSymbol: Boolean(visible),
    symbolSize: 7,
    connectNulls: false,
    lineStyle: { color: ink, width: series.line ? (series.width ? PER_POINT * series.width : WIDTH) : 0, type: series.dash?.map((each) => WIDTH * each) ?? "solid" },
    itemStyle: { color: ink },
    ...(series.area && !series.low ? { areaStyle: { color: ink, opacity: series.area, origin: "start" } } : {}),
    emphasis: { disabled: true },
    animation: false,
  };
}

// One polygon for all of a band: two lines stacked need a category axis.
function band(series, place) {
  const [x, low, high] = [series.px, series.plow, series.phigh];
  const corners = (api, values) => Array.from(x, (at, index) => [at, values[index]])
    .filter((pair) => pair.every(Number.isFinite))
    .flatMap(([at, value], index, all) => {
      const here = api.coord([at, value]);
      return series.steps && index > 0 ? [[here[0], api.coord([at, all[index - 1][1]])[1]], here] : [here];
    });
  return {
    type: "custom", id: `${place.panel}/${series.name}/band`, name: series.name, ...place.axes, silent: true, zlevel: 0, z: 1,
    clip: true, itemStyle: { color: color(series.color) }, tooltip: { show: false }, animation: false,
    data: [[x[0], low[0]]],
    renderItem: (_, api) => ({
      type: "polygon", shape: { points: [...corners(api, high), ...corners(api, low).reverse()] },
      style: { fill: color(series.color), opacity: series.area ?? 0.22 },
    }),
  };
}

function bars(series, place) {
  const ink = color(series.color);
  const data = Array.from(series.px, (x, index) => [x, series.plow[index], series.phigh[index]]);
  return {
    type: "custom",
    id: `${place.panel}/${series.name}/bars`,
    name: series.name,
    ...place.axes,
    zlevel: 0,
    silent: true,
    itemStyle: { color: ink },
    tooltip: { show: false },
    data: data.filter((each) => each.every(Number.isFinite)),
    encode: { x: 0, y: [1, 2] },
    animation: false,
    renderItem: (params, api) => {
      const [x, bottom] = api.coord([api.value(0), api.value(1)]);
      const top = api.coord([api.value(0), api.value(2)])[1];
      const stroke = { stroke: ink, lineWidth: 1.3 };
      const part = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: stroke });
      return {
        type: "group",
        children: [part(x, bottom, x, top), part(x - 4, top, x + 4, top), part(x - 4, bottom, x + 4, bottom)],
      };
    },
  };
}

export function unpack(series) {
  return {
    ...series, px: numbers(series.x), py: numbers(series.y), plow: numbers(series.low), phigh: numbers(series.high),
  };
}

export function seriesOf(series, place) {
  const found = [line(series, place)];
  if (series.low && series.bars) found.push(bars(series, place));
  else if (series.low) found.push(band(series, place));
  return found;
}

// Lines of reference belong to a series without data, so that they stay when others are hidden.
export function marksOf(panel, place) {
  const ink = color("--muted");
  const label = (name, position) => ({ formatter: name ?? "", position, color: color("--ink"), fontSize: 11 });
  // Levels that are close have their names at different ends.
  let [last, side] = [-Infinity, 1];
  const levels = [...(panel.levels ?? [])].sort((one, other) => one.at - other.at).map((mark) => {
    side = mark.at - last < 0.07 * place.range ? 1 - side : 1;
    last = mark.at;
    return { yAxis: mark.at, name: mark.name, label: label(mark.name, side ? "insideEndTop" : "insideStartTop") };
  });
  const events = (panel.events ?? []).map((mark) => ({
    xAxis: mark.at, name: mark.name, label: {
      ...label(mark.name, mark.foot ? "insideStartTop" : "insideEndTop"), rotate: 0, align: "left", offset: [0, mark.foot ? -8 : 12],
    },
  }));
  const areas = (panel.events ?? []).filter((mark) => mark.until !== undefined);
  return {
    type: "line", id: `${place.panel}/marks`, ...place.axes, data: [], silent: true, animation: false,
    markLine: {
      silent: true, symbol: "none", animation: false, lineStyle: { color: ink, type: "dashed" },
      data: [...levels, ...events],
    },
    markArea: {
      silent: true, animation: false, itemStyle: { color: color("#d55e00"), opacity: 0.1 },
      data: areas.map((mark) => [{ xAxis: mark.at }, { xAxis: mark.until }]),
    },
  };
}
