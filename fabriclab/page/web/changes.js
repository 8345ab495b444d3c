// Sliders for what a switch has in bytes, and any other key in the lab's own words.

import { byId, element, fill, setText } from "./elements.js";
import * as format from "./format.js";

const STEPS = 100;
const SPAN = 64;
const UNSET = 30_000;

export function setUpChanges(lab, page) {
  const said = byId("set-said");
  const settings = new Map(lab.knobs.map((knob) => [knob.key, knob.bytes]));
  const set = async (key, value) => {
    setText(said, `${key}=${value} …`);
    try {
      const answer = await page.wire.ask({ do: "set", settings: { [key]: value } });
      setText(said, words(answer) || `${key} is ${value}`);
      return true;
    } catch (error) {
      setText(said, error.message);
      return false;
    }
  };
  fill(byId("knob-node"), [...new Set(lab.knobs.map((knob) => knob.node))]);
  const show = () => byId("knobs").replaceChildren(...lab.knobs.filter((knob) => knob.node === byId("knob-node").value).map((knob) => slider(knob, settings, set)));
  byId("knob-node").onchange = show;
  byId("knob-node").parentElement.hidden = lab.knobs.length === 0;
  show();
  byId("set-form").onsubmit = (event) => {
    event.preventDefault();
    const [key, ...rest] = byId("set").value.split("=");
    if (!rest.length) setText(said, "KEY=VALUE is wanted, such as switches.s1.ecn_threshold=30 KB");
    else set(key.trim(), rest.join("=").trim());
  };
}

// What a change replaced, in the server's words where it has some.
function words(answer) {
  if (typeof answer.text === "string") return answer.text;
  const changes = answer.changes ?? answer.changed ?? [];
  return Array.isArray(changes) ? changes.map((one) => (typeof one === "string" ? one : `${one.key}: ${one.before} -> ${one.after}`)).join("; ") : "";
}

function slider(knob, settings, set) {
  const middle = knob.bytes ?? UNSET;
  const bytesAt = (step) => Number((middle * SPAN ** ((step * 2) / STEPS - 1)).toPrecision(2));
  const stepOf = (bytes) => Math.round(((Math.log(bytes / middle) / Math.log(SPAN) + 1) * STEPS) / 2);
  const current = settings.get(knob.key);
  const id = `knob-${knob.key}`;
  const input = element("input", { type: "range", id, min: 0, max: STEPS, value: stepOf(current ?? middle), "aria-valuetext": current === null ? "not set" : format.bytes(current) });
  const output = element("output", { for: id }, current === null ? "not set" : format.bytes(current));
  input.oninput = () => {
    setText(output, format.bytes(bytesAt(Number(input.value))));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.onchange = async () => {
    const bytes = bytesAt(Number(input.value));
    if (await set(knob.key, `${bytes} B`)) settings.set(knob.key, bytes);
    const now = settings.get(knob.key);
    setText(output, now === null ? "not set" : format.bytes(now));
    input.value = stepOf(now ?? middle);
  };
  return element("p", { class: "knob" }, element("label", { for: id }, knob.name.replace("_", " ")), input, output);
}
