// Packets on their way, while they are few: a dot for each that left a port between two looks. Where more left than an eye can
// tell apart, there are none, and the link's colour says how busy it is.

import { element } from "./elements.js";

const MOST_OF_PORT = 4;
const MOST = 150;
const [SHORTEST_MS, LONGEST_MS] = [250, 1000];
const APART_MS = 60;
const RADIUS = 3;

export class Flight {
  // `layer`: where dots are drawn.
  constructor(layer) {
    this.layer = layer;
    this.alive = 0;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  // What left a port since the look before: `way` is its link's path, `back` says that the port is at the path's end.
  show({ sent, marked, dropped, passed, wall }, { way, back, delay, x, y }) {
    if (this.still.matches || !passed) return;
    if (dropped > 0) this.cross(x, y);
    if (sent < 1 || sent > MOST_OF_PORT) return;
    const time = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (delay * wall) / passed));
    for (let index = 0; index < sent && this.alive < MOST; index++) this.dot(way, back, time, index * APART_MS, index < marked);
  }

  dot(way, back, time, wait, isMarked) {
    const dot = element("svg:circle", { r: RADIUS, class: isMarked ? "packet marked" : "packet" });
    dot.style.offsetPath = `path("${way}")`;
    const [from, to] = back ? ["100%", "0%"] : ["0%", "100%"];
    this.play(dot, [{ offsetDistance: from }, { offsetDistance: to }], { duration: time, delay: wait, fill: "backwards" });
  }

  cross(x, y) {
    const cross = element("svg:text", { x, y: y + 5, "text-anchor": "middle", class: "dropped" }, "×");
    this.play(cross, [{ opacity: 1 }, { opacity: 0 }], { duration: LONGEST_MS });
  }

  play(mark, frames, timing) {
    if (this.alive >= MOST) return;
    this.alive++;
    this.layer.append(mark);
    mark.animate(frames, timing).finished.finally(() => {
      mark.remove();
      this.alive--;
    });
  }
}
