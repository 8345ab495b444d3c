// A chart in the page: drawn when it comes near the window, again when its width or the colours change.

import { keys } from "./keys.js";
import { echarts } from "./library.js";
import { layout, option } from "./option.js";
import { unpackBars } from "./rows.js";
import { unpack } from "./series.js";

export const drawn = new Set();

export class Chart {
  constructor(element, record) {
    this.element = element;
    this.show(record);
    keys(this);
    this.reserve();
    this.observer = new ResizeObserver(() => this.width !== element.clientWidth && (this.instance ? this.draw() : this.reserve()));
    this.observer.observe(element);
    drawn.add(this);
  }

  show(record) {
    this.record = {
      ...record, panels: record.panels.map((panel) => ({
        ...panel, series: (panel.series ?? []).map(unpack), bars: (panel.bars ?? []).map(unpackBars),
      })),
    };
    this.isNew = true;
    if (this.instance) this.draw();
  }

  // Takes the room that the chart will have, so that nothing moves when it is drawn.
  reserve() {
    this.width = this.element.clientWidth;
    if (this.width) this.element.style.height = `${layout(this.record, this.width).height}px`;
  }

  draw() {
    this.width = this.element.clientWidth;
    if (!this.width) return;
    const made = option(this.record, this.width);
    const kept = this.instance?.getOption();
    this.element.style.height = `${made.height}px`;
    this.instance ??= echarts.init(this.element, null, { renderer: "svg" });
    this.instance.resize();
    this.instance.setOption(made.option, { notMerge: true });
    if (kept?.legend) this.instance.setOption({ legend: kept.legend.map(({ selected }) => ({ selected })) });
    // What a reader zoomed to stays when colours or the width change, not when other data are shown.
    if (kept && !this.isNew) this.instance.setOption({ dataZoom: kept.dataZoom.map(({ start, end }) => ({ start, end })) });
    this.isNew = false;
    this.element.dispatchEvent(new CustomEvent("drawn"));
  }
}

// Draws what the window shows, and the rest when it comes near: hundreds of charts cost nothing until they are seen.
export function whenSeen(element, draw) {
  const seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) {
      seen.disconnect();
      draw();
    }
  }, { rootMargin: "300px" });
  seen.observe(element);
}
