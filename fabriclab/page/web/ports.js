// Ports as tables: the chosen ones, and all.

import { byId, element, setText, Table } from "./elements.js";
import * as format from "./format.js";

const COLUMNS = ["Port", "State", "Sends", "Busy", "Queue", "Packets", "Longest", "Drops", "Marks", "Sent", "Received", "Paused"];
const ALL_EVERY_MS = 500;

export class PortTables {
  constructor() {
    for (const id of ["chosen-table", "ports-table"]) {
      const caption = byId(id).querySelector("caption");
      byId(id).replaceChildren(...(caption ? [caption] : []));
    }
    this.chosen = new Table(byId("chosen-table"), COLUMNS);
    this.all = new Table(byId("ports-table"), COLUMNS);
    this.lastAll = 0;
  }

  get needsAll() {
    return byId("all-ports").open;
  }

  show(model, names) {
    this.chosen.show(names.filter((name) => model.ports.has(name)).map((name) => row(model, name)));
    if (!this.needsAll || performance.now() - this.lastAll < ALL_EVERY_MS) return;
    this.lastAll = performance.now();
    this.all.show([...model.ports.keys()].map((name) => row(model, name)));
  }
}

function row(model, name) {
  const port = model.ports.get(name);
  const packets = port.queues.reduce((sum, queue) => sum + (queue.packets ?? 0), 0);
  const pauses = [port.paused?.length ? `is paused: ${port.paused.join(" ")}` : "", port.pausing?.length ? `pauses: ${port.pausing.join(" ")}` : ""];
  return {
    key: name,
    mark: port.up === false ? "failed" : "",
    cells: [
      name,
      port.up === false ? "down" : "up",
      format.rate(model.speeds.get(name)?.rate),
      format.percent(model.utilisation(name)),
      format.bytes(port.queued),
      String(packets),
      format.bytes(model.longest.get(name)),
      format.count(port.drops),
      format.count(port.marks),
      `${format.count(port.tx_packets)} (${format.count(port.tx_bytes)} B)`,
      `${format.count(port.rx_packets)} (${format.count(port.rx_bytes)} B)`,
      pauses.filter(Boolean).join("; "),
    ],
  };
}

export function chips(names, strips, remove) {
  byId("chosen").replaceChildren(
    ...names.map((name, index) =>
      element("span", { class: "chip" }, strips.swatch(index), name, element("button", { type: "button", class: "close", "aria-label": `No longer chart ${name}`, onclick: () => remove(name) }, "×")),
    ),
  );
  if (!names.length) setText(byId("chosen"), "none yet: those with the longest queues come by themselves");
}
