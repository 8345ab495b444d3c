// What a click in the picture leads to: a link and what can be done to it, a node and its programs, a port and its queues.

import { byId, element, fill, setText, Table } from "./elements.js";
import * as format from "./format.js";

const QUEUE_COLUMNS = ["Queue", "Holds", "Packets", "Limit", "Most", "Drops", "Marks", "Paused for"];
const GROUP_COLUMNS = ["Priority group", "Holds", "Of it headroom", "Limit", "Most", "Discards", "Pauses sent", "Asks to pause"];

export class LinkBar {
  constructor(page) {
    this.page = page;
    fill(byId("links"), page.lab.drawing.links.map((link) => `${link.a} – ${link.b}`));
    byId("links").onchange = () => this.select(page.lab.drawing.links[byId("links").selectedIndex]);
    byId("chart-link").onclick = () => page.choose([...page.chosen, this.link.a, this.link.b], true);
    byId("cut").onclick = () => this.act(this.isCut ? "up" : "down");
    byId("blackhole").onclick = () => this.act("blackhole");
    ["link-a", "link-b"].forEach((id, end) => (byId(id).onclick = () => page.showPort([this.link.a, this.link.b][end])));
    byId("line-form").onsubmit = (event) => {
      event.preventDefault();
      this.set();
    };
    this.select(page.lab.drawing.links[0]);
  }

  select(link) {
    if (!link) return;
    if (this.link !== link) for (const key of ["rate", "delay", "loss"]) byId(`line-${key}`).value = "";
    this.link = link;
    const { drawing } = this.page.lab;
    byId("links").selectedIndex = drawing.links.indexOf(link);
    setText(byId("link-a"), link.a);
    setText(byId("link-b"), link.b);
    byId("line-rate").placeholder = format.rate(link.rates_bps[0]);
    byId("line-delay").placeholder = format.duration(link.delays_ns[0]);
    this.page.topology.select(link);
    this.show();
  }

  get isCut() {
    return [this.link.a, this.link.b].some((name) => this.page.model.ports.get(name)?.up === false);
  }

  show() {
    if (this.link) setText(byId("cut"), this.isCut ? "Mend" : "Cut");
  }

  act(action) {
    this.page.ask({ do: "link", port: this.link.a, action }, ({ changes }) => changes.join("; "));
  }

  async set() {
    const written = ["rate", "delay", "loss"].map((key) => [key, byId(`line-${key}`).value.trim()]).filter(([, value]) => value);
    if (!written.length) return this.page.say("Write a rate, a delay or a loss, such as 100 Mbps, 1 ms or 0.1 %.");
    const question = { do: "link", port: this.link.a, action: "set", settings: Object.fromEntries(written) };
    return this.page.ask(question, ({ changes }) => changes.join("; "));
  }
}

export class NodeBar {
  constructor(page) {
    this.page = page;
    fill(byId("nodes"), page.lab.drawing.nodes.map((node) => node.name));
    byId("nodes").onchange = () => this.select();
    for (const program of ["shell", "vtysh"]) byId(program).onclick = () => this.start(program);
    byId("capture").onclick = () => this.start("capture", byId("capture-port").value);
    this.select();
  }

  select(node = byId("nodes").value) {
    byId("nodes").value = node;
    const { lab, model, hosts } = this.page;
    const isRouter = lab.routers.includes(node);
    const why = hosts.has(node) ? `${node} is a host: it has no router console.` : `${node} runs no FRR: this lab has no routing protocol there.`;
    byId("vtysh").disabled = !isRouter;
    setText(byId("vtysh-why"), isRouter ? "" : `vtysh: ${why}`);
    fill(byId("capture-port"), ["any", ...model.names.filter((name) => name.startsWith(`${node}:`)).map((name) => name.split(":")[1])]);
    this.page.topology.selectNode(node);
  }

  start(program, port = "") {
    this.page.say(this.page.terminals.start(this.page.lab.name, byId("nodes").value, program, port));
  }
}

export class PortFacts {
  constructor(page) {
    this.page = page;
    for (const id of ["port-queues", "port-groups"]) byId(id).replaceChildren();
    this.queues = new Table(byId("port-queues"), QUEUE_COLUMNS);
    this.groups = new Table(byId("port-groups"), GROUP_COLUMNS);
    byId("port-close").onclick = () => this.choose(null);
    byId("port-chart").onclick = () => page.choose([...page.chosen.filter((one) => one !== this.name), this.name], true);
    byId("port-change").onclick = () => {
      page.changes.choose(this.node);
      byId("change-section").scrollIntoView({ block: "nearest" });
      byId("knob-node").focus({ preventScroll: true });
    };
    this.choose(null);
  }

  get node() {
    return this.name.split(":")[0];
  }

  choose(name) {
    this.name = name;
    byId("port-facts").hidden = name === null;
    if (name === null) return;
    setText(byId("port-name"), `Port ${name}`);
    this.show();
  }

  // Take the ports as they are now.
  show() {
    const port = this.name && this.page.model.ports.get(this.name);
    if (!port) return;
    this.queues.show(port.queues.map(queueRow));
    this.groups.show((port.groups ?? []).map(groupRow));
    byId("port-groups").hidden = !port.groups?.length;
    const knobs = this.page.changes.knobsOf(this.node);
    const words = knobs.map(({ name, bytes }) => `${name} ${bytes === null ? "not set" : format.bytes(bytes)}`).join(", ");
    setText(byId("port-thresholds"), words ? `${this.node}: ${words}.` : "This node has no thresholds that can be set.");
    byId("port-change").hidden = !knobs.length;
  }
}

const bound = (bytes) => (bytes == null ? "–" : format.bytes(bytes));

function queueRow(queue) {
  return {
    key: String(queue.queue),
    cells: [
      String(queue.queue),
      format.bytes(queue.bytes),
      format.count(queue.packets),
      bound(queue.limit_bytes),
      bound(queue.watermark_bytes),
      format.count(queue.drops),
      format.count(queue.marks),
      format.duration(queue.paused_ns),
    ],
  };
}

function groupRow(group) {
  return {
    key: String(group.group),
    cells: [
      String(group.group),
      format.bytes(group.bytes),
      format.bytes(group.headroom_bytes),
      bound(group.limit_bytes),
      bound(group.watermark_bytes),
      format.count(group.discards),
      format.count(group.xoffs),
      group.xoff ? "yes" : "no",
    ],
  };
}

// The transparent discs that a port is clicked at.
export function grip(name, onPort) {
  const disc = element("svg:circle", { class: "port-grip", r: 7, onclick: (event) => (event.stopPropagation(), onPort(name)) });
  disc.append(element("svg:title", {}, `${name}: its queues`));
  return disc;
}
