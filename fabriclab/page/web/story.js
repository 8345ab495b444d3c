// A trainer's story: the words of a step, and Next, which lets the lab do it.

import { byId, element, setText } from "./elements.js";
import { paragraphs } from "./words.js";

const MOST_TOLD = 4;

export class StoryPanel {
  constructor(page) {
    this.page = page;
    this.stories = [];
    this.places = {};
    this.playing = null;
    this.asking = false;
    byId("stories").onchange = () => this.choose(byId("stories").selectedIndex);
    byId("story-next").onclick = () => this.next();
    byId("story-open").onclick = () => this.open(byId("story-body").hidden);
    this.show({ stories: [], chosen: null });
  }

  show({ stories, chosen }) {
    this.stories = stories;
    byId("story-section").hidden = stories.length === 0;
    byId("stories-label").hidden = stories.length < 2;
    byId("stories").replaceChildren(...stories.map(({ title, name }) => element("option", { value: name }, title)));
    this.choose(Math.max(0, stories.findIndex(({ name }) => name === chosen)));
    // A lab that did not come up for a story only offers it.
    this.open(chosen !== null);
  }

  open(isOpen) {
    byId("story-body").hidden = !isOpen;
    byId("story-open").setAttribute("aria-expanded", isOpen);
    setText(byId("story-open"), isOpen ? "Hide" : "Show");
  }

  choose(index) {
    this.story = this.stories[index];
    if (!this.story) return;
    byId("stories").selectedIndex = index;
    setText(byId("story-title"), this.story.title);
    setText(byId("story-said"), "");
    this.drawn = null;
    this.draw();
  }

  // Take how far each story has been played, by whomever.
  placed({ steps, playing }) {
    this.places = steps;
    this.playing = playing;
    this.draw();
  }

  get step() {
    return this.places[this.story.name] ?? 0;
  }

  draw() {
    if (!this.story) return;
    const { steps, problem } = this.story;
    const step = steps[this.step];
    const isBusy = this.asking || this.playing !== null;
    byId("story-next").disabled = isBusy || !step;
    byId("story-section").classList.toggle("playing", isBusy);
    const key = `${this.story.name}/${this.step}/${problem}`;
    if (key === this.drawn) return;
    this.drawn = key;
    setText(byId("story-place"), problem ? "" : `step ${Math.min(this.step + 1, steps.length)} of ${steps.length}`);
    setText(byId("story-heading"), problem ? "This story has mistakes" : (step?.title ?? "The end"));
    const end = "All steps are done. The lab stays up: try what you like.";
    byId("story-words").replaceChildren(...paragraphs(problem ?? step?.words ?? end, Boolean(problem)));
    byId("story-does").hidden = !step?.do.length;
    byId("story-do").replaceChildren(...(step?.do ?? []).map((words) => element("li", {}, element("code", {}, words))));
  }

  async next() {
    const { story, step: number } = this;
    const step = story.steps[number];
    this.asking = true;
    this.draw();
    for (const place of step.choose) this.page.lookAt(place);
    setText(byId("story-said"), step.do.some((words) => words.startsWith("until")) ? "Time goes on until this is true; Pause ends it." : "");
    try {
      const { told, step: place } = await this.page.wire.ask({ do: "play", story: story.name, step: number });
      this.places = { ...this.places, [story.name]: place };
      setText(byId("story-said"), told.slice(-MOST_TOLD).join("; "));
    } catch (error) {
      setText(byId("story-said"), `${error.message}. Next tries it again.`);
    }
    this.asking = false;
    this.playing = null;
    this.draw();
    byId("story-next").focus({ preventScroll: true });
  }
}
