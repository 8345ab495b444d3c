// TCP samples of a chosen flow: of each shown point, or of the first flows of the first one.

import { timeAxis } from "./span.js";

const WHAT = {
  cwnd: { title: "Congestion window", unit: "segments" },
  srtt: { title: "Smoothed round-trip time", unit: "us" },
  rate: { title: "Throughput", unit: "Mbps" },
};
const INKS = ["#0072b2", "#00865f", "#d55e00", "#b8860b", "#b4549a", "#6f5bd0"];
const FIRST = "first";

export function chooseTcp(explorer, draw) {
  const [what, flow] = ["tcp-what", "tcp-flow"].map((id) => document.getElementById(id));
  let shown = [];
  const has = (each) => what.value in each;
  const series = () => {
    if (flow.value === FIRST) {
      return shown[0].tcp.filter(has).slice(0, INKS.length).map((each, index) => ({ ...each[what.value], name: each.name, color: INKS[index] }));
    }
    return shown.flatMap((point) => point.tcp.filter((each) => each.name === flow.value && has(each)).map((each) => ({
      ...each[what.value], ...point.look, name: `${point.label}: ${each.name}`,
    })));
  };
  const update = () => draw({
    panels: [{
      x: timeAxis(explorer, shown), y: { ...WHAT[what.value], min: 0 }, events: shown[0].events,
      series: series().map((each) => ({ ...each, line: true, steps: true })),
    }],
  });
  what.addEventListener("change", update);
  flow.addEventListener("change", update);
  return (points) => {
    shown = points;
    const names = [...new Set(points.flatMap((point) => point.tcp.map((each) => each.name)))];
    document.getElementById("tcp").hidden = !names.length;
    if (!names.length) return;
    const measured = Object.entries(WHAT).filter(([name]) => points.some((point) => point.tcp.some((each) => name in each)));
    offer(what, measured.map(([name, axis]) => new Option(axis.title, name)));
    const first = points[0].tcp.length > 1 ? [new Option(`the first of ${points[0].label}`, FIRST)] : [];
    offer(flow, [...first, ...names.map((name) => new Option(name, name))]);
    update();
  };
}

// What was chosen before stays chosen where it is still there.
function offer(choice, options) {
  const before = choice.value;
  choice.replaceChildren(...options);
  choice.value = options.some((option) => option.value === before) ? before : options[0].value;
}
