// Flows that run and that have ended, the newest first; and traffic that is started by hand.

import { byId, fill, setText, Table } from "./elements.js";
import * as format from "./format.js";

const KEPT = 300;

export class FlowList {
  constructor() {
    byId("flows").replaceChildren();
    this.table = new Table(byId("flows"), ["Flow", "From", "To", "Class", "Size", "Started", "FCT", "Retransmitted", "Status"]);
    this.ended = [];
    this.endedCount = 0;
    this.hasEnded = false;
  }

  // Returns whether the last flow has ended since it was last asked.
  show({ running, running_count: runningCount, ended, all_ended: allEnded, incomplete }) {
    this.endedCount += ended.length;
    this.ended = [...ended.reverse(), ...this.ended].slice(0, KEPT);
    const words = incomplete ? " The trace is too long to list all that wait." : "";
    const counts = `${runningCount} running or ended within the last 0.5 s, ${this.endedCount} ended before.${words}`;
    setText(byId("flow-counts"), allEnded ? `All ${this.endedCount} flows have ended. Start sends traffic again.` : counts);
    this.table.show([...running.map((flow) => row(flow, "running")), ...this.ended.map((flow) => row(flow, flow.status))]);
    const isNews = allEnded && !this.hasEnded;
    this.hasEnded = allEnded;
    return isNews;
  }
}

function row(flow, status) {
  const failed = status.startsWith("failed");
  const start = status === "running" || flow.start_ns != null ? format.seconds(flow.start_ns) : "–";
  const cells = [String(flow.flow), flow.src ?? "–", flow.dst ?? "–", flow.class ?? "", format.bytes(flow.size_bytes ?? flow.bytes), start];
  cells.push(format.duration(flow.fct_ns), format.count(flow.retransmits), status);
  return { key: flow.flow, cells, mark: status === "running" ? "running" : failed ? "failed" : "" };
}

export function startTraffic(page) {
  const traffic = byId("traffic").value;
  page.ask({ do: "start", traffic, loop: byId("repeat").checked }, (answer) => `${traffic}: ${answer.flows} flows`);
}

// Whether the server itself starts the chosen traffic again.
export const isLooped = (page) => byId("traffic").value in (page.state.loop?.again ?? {});

// Say which traffic starts again when it has ended, and what became of that.
export function showLoop(page, before) {
  const { again, failed } = page.state.loop ?? { again: {}, failed: "" };
  const words = Object.entries(again).map(([name, times]) => `${name} starts again when it has ended (${times === 1 ? "once" : `${times} times`} so far).`);
  if (words.length) words.push("Stop ends that.");
  if (failed) words.push(`${failed}.`);
  byId("loop-said").hidden = !words.length;
  setText(byId("loop-said"), words.join(" "));
  const name = byId("traffic").value;
  if (name in again !== name in (before?.again ?? {})) byId("repeat").checked = name in again;
}

export function setUpTraffic(lab, page) {
  const hosts = lab.drawing.nodes.filter((node) => node.host).map((node) => node.name);
  fill(byId("traffic"), lab.traffic);
  byId("traffic-form").hidden = lab.traffic.length === 0;
  fill(byId("flow-src"), hosts, hosts[0]);
  fill(byId("flow-dst"), hosts, hosts.at(-1));
  byId("repeat").checked = isLooped(page);
  byId("repeat").onchange = () => isLooped(page) && page.ask({ do: "loop", traffic: byId("traffic").value, on: byId("repeat").checked });
  byId("traffic").onchange = () => (byId("repeat").checked = isLooped(page));
  byId("traffic-form").onsubmit = (event) => {
    event.preventDefault();
    startTraffic(page);
  };
  byId("stop").onclick = () => page.ask({ do: "stop", traffic: byId("traffic").value }, () => `${byId("traffic").value}: stopped`);
  byId("flow-form").onsubmit = (event) => {
    event.preventDefault();
    const size = format.parseSize(byId("flow-size").value);
    if (size === null) return page.say(`${byId("flow-size").value}: a size is a number and a unit, such as 1 MB`);
    const [src, dst] = [byId("flow-src").value, byId("flow-dst").value];
    return page.ask({ do: "flow", src, dst, size_bytes: size, congestion_control: null }, () => `${src} to ${dst}: ${format.bytes(size)}`);
  };
}
