// A chart for the keyboard: + and - zoom, arrows move, 0 shows all, digits from 1 hide and show series.

export function keys(chart) {
  chart.element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !chart.instance) return;
    const zoom = chart.instance.getOption().dataZoom?.[0];
    if (!zoom) return;
    const { start, end } = zoom;
    const [middle, half] = [(start + end) / 2, (end - start) / 2];
    const spans = {
      "+": [middle - half / 2, middle + half / 2], "=": [middle - half / 2, middle + half / 2],
      "-": [middle - half * 2, middle + half * 2], 0: [0, 100],
      ArrowLeft: start > 0 ? [Math.max(0, start - half / 2), end - Math.min(start, half / 2)] : [start, end],
      ArrowRight: end < 100 ? [start + Math.min(100 - end, half / 2), Math.min(100, end + half / 2)] : [start, end],
    };
    if (spans[event.key]) {
      event.preventDefault();
      const [from, to] = spans[event.key];
      chart.instance.getOption().dataZoom.forEach((_, dataZoomIndex) => chart.instance.dispatchAction({
        type: "dataZoom", dataZoomIndex, start: Math.max(0, from), end: Math.min(100, to),
      }));
    } else if (/^[1-9]$/.test(event.key)) {
      const legends = chart.instance.getOption().legend ?? [];
      const names = new Set(legends.flatMap(({ data }) => data.map((each) => each.name)));
      const name = [...names][Number(event.key) - 1];
      if (name) chart.instance.dispatchAction({ type: "legendToggleSelect", name });
    }
  });
}
