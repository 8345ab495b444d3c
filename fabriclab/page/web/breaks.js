// Conditions that stop the lab's time at the very instant at which they come true.

import { byId, element } from "./elements.js";

export class Breaks {
  constructor(page) {
    this.page = page;
    this.show([]);
    byId("break-form").onsubmit = (event) => {
      event.preventDefault();
      this.ask({ do: "break", condition: byId("break").value });
    };
  }

  async ask(question) {
    if (await this.page.ask(question)) this.show((await this.page.ask({ do: "breaks" }))?.breaks ?? []);
  }

  show(breaks) {
    const words = JSON.stringify(breaks);
    if (words === this.words) return;
    this.words = words;
    byId("breaks").replaceChildren(
      ...breaks.map(({ number, condition }) =>
        element("span", { class: "chip" }, condition, element("button", { type: "button", class: "close", "aria-label": `No longer stop at: ${condition}`, onclick: () => this.ask({ do: "unbreak", number }) }, "×")),
      ),
    );
  }
}
