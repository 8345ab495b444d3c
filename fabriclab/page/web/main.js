// The page of one live lab: brings its parts together.

import "uplot/dist/uPlot.min.css";
import "@xterm/xterm/css/xterm.css";
import "./style.css";
import { Breaks } from "./breaks.js";
import { Changes } from "./changes.js";
import { byId, fill, setText } from "./elements.js";
import { FlowList, isLooped, setUpTraffic, showLoop, startTraffic } from "./flows.js";
import * as format from "./format.js";
import { Model } from "./model.js";
import { Packets } from "./packets.js";
import { LinkBar, NodeBar, PortFacts } from "./places.js";
import { chips, PortTables } from "./ports.js";
import { StoryPanel } from "./story.js";
import { MOST, Strips } from "./strips.js";
import { Terminals } from "./terminals.js";
import { Topology } from "./topology.js";
import { Wire } from "./wire.js";

const BY_THEMSELVES = 3;
const NOTICE_MS = 8000;

class Page {
  constructor() {
    this.terminals = new Terminals();
    this.strips = new Strips();
    this.chosen = [];
    this.byHand = false;
    this.state = { paused: false };
    this.connect(new URLSearchParams(location.search).get("lab"));
    this.setUpTime();
    this.setUpPorts();
    document.addEventListener("visibilitychange", () => this.wants());
    byId("labs").onchange = () => {
      history.replaceState(null, "", `?${new URLSearchParams({ lab: byId("labs").value })}`);
      this.connect(byId("labs").value);
    };
  }

  connect(lab) {
    this.wire?.close();
    this.lab = null;
    this.isOver = false;
    document.body.classList.remove("over");
    this.wire = new Wire(lab, {
      lab: (body) => this.begin(body),
      look: (body) => this.looked(body),
      "no look": (body) => this.say(`Queues and links can't be shown: ${body.message}`, true),
      state: (body) => this.told(body),
      adjustable: (body) => this.changes?.show(body.adjustable),
      breaks: (body) => this.breaks?.show(body.breaks),
      stories: (body) => this.story?.show(body),
      story: (body) => this.story?.placed(body),
      flows: (body) => {
        if (this.flows?.show(body) && byId("repeat").checked && !isLooped(this)) startTraffic(this);
      },
      gone: ({ message }) => this.end(message),
      closed: () => this.end("The page's server has gone."),
    });
  }

  // -- What the lab is ---------------------------------------------------------------------------------------------

  begin(lab) {
    this.lab = lab;
    this.model = new Model(lab.drawing);
    this.hosts = new Set(lab.drawing.nodes.filter((node) => node.host).map((node) => node.name));
    document.title = `${lab.name} – fabriclab`;
    setText(byId("title"), lab.name);
    fill(byId("labs"), lab.labs, lab.name);
    byId("labs-label").hidden = lab.labs.length < 2;
    this.topology = new Topology(lab.drawing, {
      link: (link) => this.links.select(link),
      node: (node) => this.nodes.select(node),
      port: (port) => this.showPort(port),
    });
    this.ports = new PortTables();
    this.flows = new FlowList();
    this.packets = new Packets();
    const names = this.model.names.toSorted(naturally);
    fill(byId("ports"), names);
    fill(byId("packet-port"), names.filter((name) => !this.hosts.has(name.split(":")[0])));
    this.links = new LinkBar(this);
    this.nodes = new NodeBar(this);
    setUpTraffic(lab, this);
    this.changes = new Changes(this);
    this.facts = new PortFacts(this);
    this.breaks = new Breaks(this);
    this.story = new StoryPanel(this);
    this.isDefault = true;
    this.stop = null;
    this.choose(names.filter((name) => !this.hosts.has(name.split(":")[0])).slice(0, BY_THEMSELVES), false);
    this.wants();
  }

  end(message) {
    if (this.isOver) return; // The first to say so says why.
    this.isOver = true;
    this.say(message, true);
    document.body.classList.add("over");
  }

  // -- Time --------------------------------------------------------------------------------------------------------

  setUpTime() {
    byId("pause").onclick = () => this.ask({ do: this.state.paused ? "resume" : "pause" });
    byId("step-form").onsubmit = (event) => {
      event.preventDefault();
      const duration = format.parseDuration(byId("step").value);
      if (duration === null) this.say(`${byId("step").value}: a step is a number and a unit, such as 10 us`);
      else this.ask({ do: "step", duration_ns: duration });
    };
    byId("speed-form").onsubmit = (event) => {
      event.preventDefault();
      this.ask({ do: "speed", speed: byId("speed").value });
    };
  }

  told(state) {
    const changed = state.paused !== this.state.paused;
    // A lab that went on and stopped again may never have been seen running.
    const again = state.stopped !== this.state.stopped || state.now_ns !== this.state.now_ns;
    const before = this.state.loop;
    this.state = state;
    if (this.lab) showLoop(this, before);
    if (document.activeElement !== byId("speed")) byId("speed").value = state.speed;
    setText(byId("now"), format.seconds(state.now_ns));
    const ratio = state.ratio === null ? "" : `, really ${Number(state.ratio.toPrecision(3))}`;
    setText(byId("pace"), state.paused ? state.stopped || "paused" : `speed ${state.speed}${ratio}`);
    setText(byId("pause"), state.paused ? "Resume" : "Pause");
    byId("pause").setAttribute("aria-pressed", state.paused);
    if (changed) this.wants();
    if (changed && !state.paused) this.packets?.show(null, false);
    if (changed || again) this.stop = state.paused && state.stopped ? { words: state.stopped, now_ns: state.now_ns } : null;
    this.leadToCause();
  }

  // What stopped time is at a port: show it, and what stands in its queue. Where the words name only a node, or none,
  // it is the port whose counter has gone up since the look before.
  leadToCause() {
    if (!this.stop || !this.model) return;
    const { words, now_ns } = this.stop;
    let name = this.model.names.find((one) => words.startsWith(`${one} `) || words.startsWith(`${one}: `));
    if (name === undefined) {
      const measure = /: \d+ (drop|mark)s?$/.exec(words)?.[1];
      if (measure === undefined) this.stop = null;
      if (measure === undefined || (this.model.now ?? -1) < now_ns) return;
      const node = words.split(":")[0];
      name = this.model.grown(`${measure}s`, (one) => !this.model.nodes.has(node) || one.startsWith(`${node}:`));
      if (name !== undefined) this.say(`${words}, at ${name}`, true);
    }
    this.stop = null;
    if (name === undefined) return;
    if (!this.chosen.includes(name)) this.choose([...(this.isDefault ? [] : this.chosen), name], this.byHand);
    this.isDefault = false;
    const ports = byId("packet-port");
    if ([...ports.options].some((option) => option.value === name)) ports.value = name;
    this.askPackets();
  }

  // Ask the lab; what it says stands in the notice.
  async ask(question, words = () => "") {
    try {
      const answer = await this.wire.ask(question);
      if (answer.now_ns !== undefined && answer.speed !== undefined) this.told(answer);
      this.say(words(answer));
      return answer;
    } catch (error) {
      this.say(error.message);
      return null;
    }
  }

  say(words, stays = false) {
    const notice = byId("notice");
    clearTimeout(this.silence);
    setText(notice, words);
    notice.hidden = !words;
    if (!stays && words) this.silence = setTimeout(() => (notice.hidden = true), NOTICE_MS);
  }

  // -- Ports -------------------------------------------------------------------------------------------------------

  setUpPorts() {
    byId("chart").onclick = () => this.choose([...this.chosen, byId("ports").value], true);
    byId("packet-port").onchange = () => this.wants();
    byId("all-ports").ontoggle = () => this.wants();
  }

  choose(names, byHand) {
    this.byHand = byHand || this.byHand;
    this.chosen = [...new Set(names)].slice(-MOST);
    this.strips.choose(this.chosen);
    chips(this.chosen, this.strips, (name) => this.choose(this.chosen.filter((other) => other !== name), true));
    if (this.model) this.strips.show(this.model);
  }

  // Show a port or a node: its strips and its packets, or its terminal's place.
  lookAt(place) {
    if (!this.model.names.includes(place)) return this.nodes.select(place);
    this.isDefault = false; // Those that came by themselves make room.
    this.choose([...(this.byHand ? this.chosen : []).filter((name) => name !== place), place], true);
    const ports = byId("packet-port");
    if ([...ports.options].some((option) => option.value === place)) ports.value = place;
    this.showPort(place);
    this.wants();
  }

  // Show a port's queues and its link.
  showPort(name) {
    this.facts.choose(name);
    this.nodes.select(name.split(":")[0]);
    this.links.select(this.lab.drawing.links.find((link) => link.a === name || link.b === name));
  }

  // Tell the server what is shown: nothing in a tab that nobody sees.
  wants() {
    const packets = this.state.paused;
    this.wire.send({ show: { ports: document.hidden ? [] : null, packets: false } });
    if (packets && !document.hidden && this.lab) this.askPackets();
  }

  async askPackets() {
    const name = byId("packet-port").value;
    if (!name) return;
    try {
      const answer = await this.wire.ask({ do: "look", ports: [name.split(":")], packets: true });
      const [port] = answer.ports;
      port.queued = port.queues.reduce((sum, queue) => sum + queue.bytes, 0);
      this.packets.show(port, this.state.paused);
    } catch (error) {
      setText(byId("packets-hint"), error.message);
    }
  }

  looked(look) {
    const moved = this.model.take(look);
    setText(byId("now"), format.seconds(look.now_ns));
    if (!this.byHand && (this.isDefault || this.chosen.length < BY_THEMSELVES)) {
      const busiest = this.model.busiest(BY_THEMSELVES, this.hosts);
      if (busiest.some((name) => !this.chosen.includes(name)) || (this.isDefault && busiest.length)) {
        this.choose(busiest, false);
        this.isDefault = false;
      }
    }
    this.leadToCause();
    if (moved && !document.hidden) this.topology.fly(this.model);
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.topology.show(this.model);
      if (moved) this.strips.show(this.model);
      this.ports.show(this.model, this.chosen);
      this.links.show();
      this.facts.show();
    });
    if (this.state.paused && moved) this.askPackets();
  }
}

function naturally(a, b) {
  return a.localeCompare(b, "en", { numeric: true });
}

new Page();
