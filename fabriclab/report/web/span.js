// A span of time, drawn with the pointer over the queue or written into two fields; and the axis that it lies on.

export function timeAxis(explorer, shown) {
  return { title: "Time", unit: explorer.time, min: 0, max: Math.max(...shown.map((point) => point.end)) };
}

export function chooseSpan(show) {
  const [from, to] = ["span-from", "span-to"].map((id) => document.getElementById(id));
  let [chart, end] = [null, 0];
  const round = (value) => Number(value.toPrecision(6));
  const told = (span) => {
    [from.value, to.value] = span ? span.map(round) : [0, round(end)];
    show(span);
  };
  const mark = (span) => {
    if (!chart?.instance) return;
    const areas = span ? [{ brushType: "lineX", xAxisIndex: 0, coordRange: span }] : [];
    chart.instance.dispatchAction({ type: "brush", areas });
  };
  const prepare = (span) => {
    chart.instance.dispatchAction({
      type: "takeGlobalCursor", key: "brush", brushOption: { brushType: "lineX", brushMode: "single" },
    });
    mark(span);
  };
  let current = null;
  const choose = (span) => {
    current = span;
    mark(span);
    told(span);
  };
  document.getElementById("span").addEventListener("submit", (event) => {
    event.preventDefault();
    const [first, last] = [Number(from.value), Number(to.value)].sort((one, other) => one - other);
    choose(last > first ? [Math.max(0, first), Math.min(end, last)] : null);
  });
  document.getElementById("span-all").addEventListener("click", () => choose(null));
  return {
    attach(found, longest, span) {
      end = longest;
      if (found && chart !== found) {
        chart = found;
        chart.element.addEventListener("drawn", () => prepare(current));
        chart.instance.on("brushEnd", (event) => {
          const range = event.areas[0]?.coordRange;
          current = range && range[1] > range[0] ? range : null;
          told(current);
        });
      }
      current = span;
      if (chart) prepare(span);
      told(span);
    },
  };
}
