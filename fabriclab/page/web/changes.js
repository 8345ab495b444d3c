// Sliders for what a switch has in bytes, and any other key in the lab's own words.

import { byId, element, fill, setText } from "./elements.js";
import * as format from "./format.js";

const STEPS = 100;
const SPAN = 64;
const UNSET = 30_000;
const MOST_TOLD = 2;

export class Changes {
  constructor(page) {
    this.page = page;
    this.knobs = [];
    byId("knob-node").onchange = () => this.draw();
    byId("set-form").onsubmit = (event) => {
      event.preventDefault();
      const [key, ...rest] = byId("set").value.split("=");
      if (rest.length) this.set([key.trim()], rest.join("=").trim());
      else setText(byId("set-said"), "KEY=VALUE is wanted, such as switches.s1.ecn_threshold=30 KB");
    };
    this.show([]);
  }

  async set(keys, value) {
    const said = byId("set-said");
    setText(said, `${keys[0]}=${value} …`);
    try {
      const answer = await this.page.wire.ask({ do: "set", settings: Object.fromEntries(keys.map((key) => [key, value])) });
      const more = answer.changes.length > MOST_TOLD ? `; and ${answer.changes.length - MOST_TOLD} more` : "";
      setText(said, answer.changes.slice(0, MOST_TOLD).join("; ") + more);
    } catch (error) {
      setText(said, error.message);
    }
    const { adjustable } = await this.page.wire.ask({ do: "adjustable" });
    this.show(adjustable);
  }

  // Take what can be set, with its values now.
  show(adjustable) {
    const keys = adjustable.map((one) => one.keys).join();
    if (keys !== this.keys) {
      this.keys = keys;
      this.knobs = adjustable.map((one) => ({ ...one, middle: one.bytes ?? UNSET }));
      fill(byId("knob-node"), [...new Set(adjustable.map((one) => one.node))]);
      byId("knob-node").parentElement.hidden = adjustable.length === 0;
      this.draw();
    }
    adjustable.forEach((one, index) => {
      const knob = this.knobs[index];
      knob.bytes = one.bytes;
      if (!knob.moves) place(knob);
    });
  }

  // What can be set of a node.
  knobsOf(node) {
    return this.knobs.filter((knob) => knob.node === node);
  }

  choose(node) {
    byId("knob-node").value = node;
    this.draw();
  }

  draw() {
    for (const knob of this.knobs) knob.input = null;
    const shown = this.knobs.filter((knob) => knob.node === byId("knob-node").value);
    byId("knobs").replaceChildren(...shown.map((knob) => this.slider(knob)));
  }

  slider(knob) {
    const id = `knob-${knob.keys[0]}`;
    const input = element("input", { type: "range", id, min: 0, max: STEPS });
    knob.input = input;
    knob.output = element("output", { for: id });
    input.oninput = () => {
      knob.moves = true;
      tell(knob, bytesAt(knob, Number(input.value)));
    };
    input.onchange = async () => {
      await this.set(knob.keys, `${bytesAt(knob, Number(input.value))} B`);
      knob.moves = false;
      place(knob);
    };
    place(knob);
    return element("p", { class: "knob" }, element("label", { for: id }, knob.name), input, knob.output);
  }
}

const bytesAt = (knob, step) => Number((knob.middle * SPAN ** ((step * 2) / STEPS - 1)).toPrecision(2));
const stepOf = (knob, bytes) => Math.round(((Math.log(bytes / knob.middle) / Math.log(SPAN) + 1) * STEPS) / 2);

function place(knob) {
  if (!knob.input) return;
  knob.input.value = stepOf(knob, knob.bytes ?? knob.middle);
  tell(knob, knob.bytes);
}

function tell(knob, bytes) {
  const words = bytes === null ? "not set" : format.bytes(bytes);
  setText(knob.output, words);
  knob.input.setAttribute("aria-valuetext", words);
}
