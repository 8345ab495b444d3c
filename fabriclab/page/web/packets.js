// The packets that stand in a port's queues while time stands still, in the order in which they leave.

import { byId, setText, Table } from "./elements.js";
import * as format from "./format.js";

const MOST = 500;

export class Packets {
  constructor() {
    byId("packets").replaceChildren();
    this.table = new Table(byId("packets"), ["Queue", "Place", "From", "To", "Flow", "Bytes", "Seq", "ECN", "Flags", "Waited"]);
  }

  show(port, paused) {
    if (!paused || !port) {
      setText(byId("packets-hint"), "Pause to see what stands in it.");
      this.table.show([]);
      return;
    }
    const standing = port.queues.flatMap((queue) => (queue.standing ?? []).map((packet, place) => ({ queue: queue.queue, place, packet })));
    const packets = port.queues.reduce((sum, queue) => sum + (queue.packets ?? 0), 0);
    setText(byId("packets-hint"), `${packets} packets, ${format.bytes(port.queued)}${standing.length > MOST ? `; the first ${MOST}` : ""}`);
    this.table.show(standing.slice(0, MOST).map(({ queue, place, packet }) => ({
      key: `${queue}/${place}`,
      cells: [queue, place, packet.src, packet.dst, packet.flow, packet.bytes, packet.seq, packet.ecn, packet.flags].map((cell) => format.count(cell)).concat(format.duration(packet.waited_ns)),
    })));
  }
}
