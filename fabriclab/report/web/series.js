// A series of the document as series of ECharts: its line, the band around it, bars of its intervals.

import { numbers, pairs } from "./decode.js";
import { color } from "./theme.js";

const [WIDTH, PER_POINT] = [1.8, 1.4];
// The marks of the still pictures.
const SYMBOLS = {
  o: "circle", s: "rect", "^": "triangle", D: "diamond", v: "path://M 0 0 L 10 0 L 5 9 Z",
  P: "path://M 4 0 L 8 0 L 8 4 L 12 4 L 12 8 L 8 8 L 8 12 L 4 12 L 4 8 L 0 8 L 0 4 L 4 4 Z",
  X: "path://M 0 3 L 3 0 L 6 3 L 9 0 L 12 3 L 9 6 L 12 9 L 9 12 L 6 9 L 3 12 L 0 9 L 3 6 Z",
};

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
  const x = series.px;
  // What is 0 is below all of a logarithmic axis.
  const [low, high] = [series.plow, series.phigh].map((values) => (place.log
    ? Array.from(values, (value) => (value <= 0 ? place.low : value)) : values));
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
