// Lines of reference of a panel with their names, and the spans of time that are shaded.

import { textWidth } from "./measure.js";
import { color } from "./theme.js";

const SIZE = 11;
const ROW = 13;
// Levels closer than this share of the axis have their names together, at one place.
const LEVEL_ROOM = 0.1;
// As high as a name at the foot of an event's line reaches, as a share of the panel.
const FOOT = 0.12;

// Letters have a rim in the colour of the ground, which keeps them apart from what is behind them.
function label(name, position, more = {}) {
  return {
    formatter: name, position, color: color("--ink"), fontSize: SIZE, textBorderColor: color("--ground"), textBorderWidth: 3, ...more,
  };
}

// How high a value is, as a share of the panel.
function shareOf(panel, place) {
  const { min = 0, max = min + place.range } = panel.y;
  return (at) => (place.log ? Math.log(at / min) / Math.log(max / min) : (at - min) / (max - min));
}

function levelsOf(panel, place) {
  const share = shareOf(panel, place);
  const sorted = [...(panel.levels ?? [])].sort((one, other) => one.at - other.at);
  const groups = [];
  for (const mark of sorted) {
    const last = groups[groups.length - 1];
    if (last && share(mark.at) - share(last[last.length - 1].at) < LEVEL_ROOM) last.push(mark);
    else groups.push([mark]);
  }
  return groups.flatMap((group) => {
    // Above the highest of them, or below the lowest where there is no room above.
    const isTop = panel.y.max !== undefined && share(group[group.length - 1].at) > 0.93;
    const told = isTop ? group[0] : group[group.length - 1];
    const names = group.map((mark) => mark.name).filter(Boolean).join(", ");
    const position = `inside${group[0].foot ? "Start" : "End"}${isTop ? "Bottom" : "Top"}`;
    return group.map((mark) => ({ yAxis: mark.at, name: mark.name, label: label(mark === told ? names : "", position) }));
  });
}

// The name of an event stands to the right of its line, at the right end of the panel to the left of it; names that
// would cover each other stand below each other. At a line's foot is no name where that of a level is.
function eventsOf(panel, place) {
  const [low, high] = [panel.x.min, panel.x.max];
  const at = (value) => (high > low ? ((value - low) / (high - low)) * place.width : 0);
  const ends = [];
  const isFree = (panel.levels ?? []).every((level) => shareOf(panel, place)(level.at) > FOOT);
  return [...(panel.events ?? [])].sort((one, other) => one.at - other.at).map((mark) => {
    const [line, wide] = [at(mark.at), textWidth(mark.name ?? "", SIZE) + 8];
    const isLeft = line + wide > place.width && line > wide;
    const [begin, end] = isLeft ? [line - wide, line] : [line, line + wide];
    let row = ends.findIndex((last) => last <= begin);
    if (row < 0) row = ends.length;
    const isAtFoot = mark.foot && isFree;
    if (!isAtFoot) ends[row] = end;
    const offset = [isLeft ? -8 : 8, isAtFoot ? -8 : 12 + ROW * row];
    const look = { rotate: 0, align: isLeft ? "right" : "left", offset };
    return { xAxis: mark.at, name: mark.name, label: label(mark.name ?? "", isAtFoot ? "insideStart" : "insideEnd", look) };
  });
}

// They belong to a series without data, so that they stay when others are hidden.
export function marksOf(panel, place) {
  const areas = (panel.events ?? []).filter((mark) => mark.until !== undefined);
  return {
    type: "line", id: `${place.panel}/marks`, ...place.axes, data: [], silent: true, animation: false,
    markLine: {
      silent: true, symbol: "none", animation: false, lineStyle: { color: color("--muted"), type: "dashed" },
      data: [...levelsOf(panel, place), ...eventsOf(panel, place)],
    },
    markArea: {
      silent: true, animation: false, itemStyle: { color: color("#d55e00"), opacity: 0.1 },
      data: areas.map((mark) => [{ xAxis: mark.at }, { xAxis: mark.until }]),
    },
  };
}
