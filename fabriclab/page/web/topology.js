// The lab's picture: each half of a link in the colour of what its port sends, a disc at each port as large as its queue.

import { byId, element, setText } from "./elements.js";
import { Flight } from "./flight.js";
import * as format from "./format.js";
import { grip } from "./places.js";

const STEPS = 10;
const LARGEST = 9;
const DISTANCE = 13;
const LEAST_FULL = 30_000;

export class Topology {
  // `on`: what a click on a link, a node or a port does.
  constructor(drawing, on) {
    this.ports = new Map();
    this.full = LEAST_FULL;
    const svg = element("svg:svg", { viewBox: `0 0 ${drawing.width} ${drawing.height}`, role: "img", "aria-label": `${drawing.nodes.length} nodes, ${drawing.links.length} links` });
    svg.style.maxWidth = `${drawing.width * 1.4}px`;
    svg.append(...drawing.panels.map((panel) => element("svg:rect", { ...panel, rx: 8, class: "panel" })));
    const lines = element("svg:g");
    const above = element("svg:g", { class: "stubs" });
    const discs = element("svg:g");
    const packets = element("svg:g", { class: "packets" });
    this.flight = new Flight(packets);
    this.links = drawing.links.map((link) => this.link(link, lines, above, discs, on.link));
    this.nodes = new Map(drawing.nodes.map((node) => [node.name, box(node, drawing, on.node)]));
    for (const [name, port] of this.ports) discs.append((port.grip = grip(name, on.port)));
    svg.append(lines, ...this.nodes.values(), above, packets, discs);
    byId("topology").replaceChildren(svg);
    for (const [name, port] of this.ports) this.place(name, port);
  }

  link(link, lines, above, discs, onLink) {
    const group = element("svg:g", { class: "link", onclick: () => onLink(link) });
    const title = element("svg:title", {}, `${link.a} to ${link.b}`);
    const halves = link.rack ? stubs(link.rack) : ["first", "second"].map((half) => element("svg:path", { d: link.path, pathLength: 2, class: `half ${half} u0` }));
    const width = 1.6 + Math.max(0, Math.min(3, Math.log10(Math.max(...link.rates_bps, 1) / 1e8)));
    for (const half of halves) half.style.strokeWidth = link.rack ? 3 : width;
    if (link.rack) group.append(element("svg:path", { d: link.path, class: "bus" }));
    group.append(title, element("svg:path", { d: link.path, class: "grip" }));
    if (link.rack) above.append(...halves);
    else group.append(...halves);
    lines.append(group);
    const ends = link.reversed ? [link.b, link.a] : [link.a, link.b];
    ends.forEach((name, index) => {
      const disc = element("svg:circle", { class: "queue", r: 0 });
      const pause = element("svg:text", { class: "pause", "text-anchor": "middle" });
      discs.append(disc, pause);
      this.ports.set(name, { half: halves[index], path: halves[index], atEnd: index === 1, rack: Boolean(link.rack), disc, pause, step: 0, radius: 0, group, way: link.path, delay: link.delays_ns[0] });
    });
    return { link, group, title };
  }

  place(name, port) {
    const length = port.path.getTotalLength();
    const distance = port.rack ? 0 : Math.min(DISTANCE, length / 3);
    const { x, y } = port.path.getPointAtLength(port.atEnd ? length - distance : distance);
    for (const disc of [port.disc, port.grip]) for (const [key, value] of [["cx", x], ["cy", y]]) disc.setAttribute(key, value);
    Object.assign(port, { x, y });
    port.pause.setAttribute("x", x);
    port.pause.setAttribute("y", y + 3.5);
  }

  select(chosen) {
    for (const { link, group } of this.links) group.classList.toggle("chosen", link === chosen);
  }

  selectNode(chosen) {
    for (const [name, group] of this.nodes) group.classList.toggle("chosen", name === chosen);
  }

  // Packets that left between the last two looks, each on its way.
  fly(model) {
    const { virtual: passed, wall } = model.passed;
    for (const [name, moved] of model.moved) {
      const port = this.ports.get(name);
      if (port) this.flight.show({ ...moved, passed, wall }, { way: port.way, back: port.atEnd, delay: port.delay, x: port.x, y: port.y });
    }
  }

  show(model) {
    for (const port of model.ports.values()) this.full = Math.max(this.full, port.queued);
    for (const [name, shown] of this.ports) {
      const port = model.ports.get(name);
      if (!port) continue;
      const share = model.utilisation(name) ?? 0;
      const step = port.up === false ? "down" : `u${share > 0 ? Math.max(1, Math.round(share * STEPS)) : 0}`;
      if (step !== shown.step) {
        shown.half.setAttribute("class", shown.half.getAttribute("class").replace(/ (u\d+|down)$/, ` ${step}`));
        shown.step = step;
      }
      const radius = port.queued > 0 ? 1.5 + (LARGEST - 1.5) * Math.sqrt(Math.min(1, port.queued / this.full)) : 0;
      if (Math.abs(radius - shown.radius) > 0.1 || (radius === 0) !== (shown.radius === 0)) {
        shown.disc.setAttribute("r", radius.toFixed(1));
        shown.radius = radius;
      }
      const isPaused = port.paused?.length > 0;
      shown.disc.classList.toggle("paused", isPaused);
      setText(shown.pause, isPaused ? "‖" : port.pausing?.length ? "▸" : "");
    }
    setText(
      byId("legend"),
      `Colour: how busy each direction is, grey to orange. Disc: the queue before it, full size ${format.bytes(this.full)}. ‖ is paused by the other end, ▸ asks it to pause. Dot: a packet, while they are few (slow time down, or step); orange: marked; ×: dropped.`,
    );
  }
}

// Links of a rack share their way: each shows itself at its host, above what comes to it, below what it sends.
function stubs({ x, y, width, height }) {
  const [left, right] = [x - width / 2 + 3, x + width / 2 - 3];
  const [above, below] = [y - height / 2, y + height / 2];
  return [`M${left} ${above}H${right}`, `M${left} ${below}H${right}`].map((d) => element("svg:path", { d, class: "half u0" }));
}

function box(node, drawing, onNode) {
  const { x, y, width, height } = node;
  const tiers = [...new Set(drawing.nodes.filter((one) => !one.host).map((one) => one.tier))].sort((a, b) => a - b);
  const kind = node.host ? "host" : `tier${tiers.length - tiers.indexOf(node.tier)}`;
  return element(
    "svg:g",
    { class: `node ${kind}`, onclick: () => onNode(node.name) },
    element("svg:title", {}, [node.name, ...node.details].join("\n")),
    element("svg:rect", { x: x - width / 2, y: y - height / 2, width, height, rx: node.host ? 4 : 5 }),
    element("svg:text", { x, y: y + (node.host ? 3.5 : 4), "text-anchor": "middle" }, node.name),
  );
}
