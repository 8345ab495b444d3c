// Terminals in nodes, one a tab.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { byId, element } from "./elements.js";
import { colour } from "./strips.js";
import { address } from "./wire.js";

const MOST = 8;
const SCROLLBACK = 2000;

export class Terminals {
  constructor() {
    this.open = [];
    this.next = 1;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.open.forEach(({ terminal }) => (terminal.options.theme = theme())));
    new ResizeObserver(() => this.open.forEach((one) => one.screen.hidden || one.fit.fit())).observe(byId("screens"));
  }

  start(lab, node, program, port = "") {
    if (this.open.length >= MOST) return `${MOST} terminals are open; close one`;
    const number = this.next++;
    const screen = element("div", { class: "screen", role: "tabpanel", id: `screen-${number}`, "aria-label": `${program} of ${node}` });
    byId("screens").append(screen);
    const terminal = new Terminal({ theme: theme(), fontFamily: "ui-monospace, 'DejaVu Sans Mono', monospace", fontSize: 13, scrollback: SCROLLBACK, convertEol: false });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(screen);
    byId("terminals-section").hidden = false;
    const name = `${node} ${program}${port ? ` ${port}` : ""}`;
    const one = { screen, terminal, fit, number };
    one.tab = element("button", { type: "button", role: "tab", id: `tab-${number}`, "aria-controls": screen.id, onclick: () => this.show(one) }, name);
    one.close = element("button", { type: "button", class: "close", "aria-label": `Close ${name}`, onclick: () => this.close(one) }, "×");
    byId("tabs").append(element("span", { class: "tab", role: "presentation" }, one.tab, one.close));
    this.open.push(one);
    this.show(one);
    this.connect(one, lab, node, program, port);
    terminal.attachCustomKeyEventHandler((event) => {
      if (!(event.ctrlKey && event.shiftKey && event.code === "KeyE")) return true;
      event.preventDefault();
      one.tab.focus();
      return false;
    });
    return "";
  }

  connect(one, lab, node, program, port) {
    const { terminal } = one;
    const socket = new WebSocket(address("terminal", { lab, node, program, port, rows: terminal.rows, columns: terminal.cols }));
    socket.binaryType = "arraybuffer";
    const encoder = new TextEncoder();
    const send = (data) => socket.readyState === WebSocket.OPEN && socket.send(data);
    socket.onmessage = ({ data }) => {
      if (typeof data !== "string") terminal.write(new Uint8Array(data));
      else terminal.write(`\r\n\x1b[2m[${JSON.parse(data).ended}]\x1b[0m\r\n`);
    };
    socket.onclose = () => one.tab.classList.add("over");
    terminal.onData((data) => send(encoder.encode(data)));
    terminal.onBinary((data) => send(Uint8Array.from(data, (character) => character.charCodeAt(0))));
    terminal.onResize(({ rows, cols }) => send(`${rows}x${cols}`));
    one.socket = socket;
  }

  show(shown) {
    for (const one of this.open) {
      one.screen.hidden = one !== shown;
      one.tab.setAttribute("aria-selected", one === shown);
    }
    shown.fit.fit();
    // What is out of sight is not drawn.
    shown.screen.scrollIntoView({ block: "nearest" });
    shown.terminal.focus();
  }

  close(one) {
    one.socket.close();
    one.terminal.dispose();
    one.screen.remove();
    one.tab.parentElement.remove();
    this.open = this.open.filter((other) => other !== one);
    if (this.open.length) return this.show(this.open.at(-1));
    byId("terminals-section").hidden = true;
    return byId("shell").focus();
  }
}

function theme() {
  return { background: colour("--ground"), foreground: colour("--ink"), cursor: colour("--ink"), selectionBackground: colour("--c-3d8fc4") };
}
