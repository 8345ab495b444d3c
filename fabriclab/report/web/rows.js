// Horizontal bars of a panel, and texts at places of it, as series of ECharts.

import { numbers } from "./decode.js";
import { textWidth } from "./measure.js";
import { color } from "./theme.js";

const [HATCH, SIZE] = [6, 11];

export function unpackBars(bars) {
  return { ...bars, pplaces: numbers(bars.places), pbegin: numbers(bars.begin), pend: numbers(bars.end) };
}

// Lines across a bar, to the right and upwards.
function hatch({ x, y, width, height }) {
  const lines = [];
  for (let begin = x - height + HATCH; begin < x + width; begin += HATCH) {
    const [x1, x2] = [Math.max(begin, x), Math.min(begin + height, x + width)];
    const shape = { x1, y1: y + height - (x1 - begin), x2, y2: y + height - (x2 - begin) };
    lines.push({ type: "line", silent: true, shape, style: { stroke: color("--ground"), lineWidth: 1.2 } });
  }
  return lines;
}

export function barsOf(bars, index, place) {
  const inks = bars.colors?.map(color);
  return {
    type: "custom", id: `${place.panel}/${bars.name}/${index}/rows`, name: bars.name, ...place.axes, zlevel: 0, clip: true,
    itemStyle: { color: color(bars.color) }, animation: false, encode: { x: [1, 2], y: 0 },
    data: Array.from(bars.pplaces, (at, row) => [at, bars.pbegin[row], bars.pend[row]]),
    renderItem: (params, api) => {
      const [left, middle] = api.coord([api.value(1), api.value(0)]);
      const height = Math.abs(api.size([0, 1])[1]) * bars.thick;
      const shape = { x: left, y: middle - height / 2, width: api.coord([api.value(2), api.value(0)])[0] - left, height };
      const fill = inks ? inks[params.dataIndex] : color(bars.color);
      return { type: "group", children: [{ type: "rect", shape, style: { fill } }, ...(bars.hatched ? hatch(shape) : [])] };
    },
  };
}

// A text without a place of its own stands to the right of the panel.
export function textsOf(panel, place, isNarrow) {
  const texts = (panel.texts ?? []).filter((each) => each.x !== undefined || !isNarrow);
  return texts.length ? [{
    type: "custom", id: `${place.panel}/texts`, ...place.axes, zlevel: 0, clip: false, silent: true, animation: false,
    tooltip: { show: false }, data: texts.map((each) => [each.x ?? 0, each.y]),
    renderItem: (params, api) => {
      const each = texts[params.dataIndex];
      const { x: left, width } = params.coordSys;
      const [at, y] = api.coord([each.x ?? 0, each.y]);
      const x = each.x === undefined ? left + width : Math.min(Math.max(at, left), left + width);
      // A text that has no room to the right of its bar ends with the chart, upon the bar.
      const isLate = !each.left && x + 5 + textWidth(each.text, SIZE) > api.getWidth();
      return {
        type: "text", x: isLate ? api.getWidth() - 2 : each.left ? x - 4 : x + 5, y: each.left ? y + 10 : y,
        style: {
          text: each.text, fill: color("--ink"), fontSize: SIZE, verticalAlign: "middle",
          align: each.left || isLate ? "right" : "left", stroke: color("--ground"), lineWidth: isLate ? 3 : 0,
        },
      };
    },
  }] : [];
}
