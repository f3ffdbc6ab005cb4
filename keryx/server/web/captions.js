// Both sides' words as they are said, the newest at the bottom.

import { make, say } from "./dom.js";

const MAX_KEPT = 200;
const NEAR_BOTTOM_PX = 48;

export class Captions {
  constructor(region, hint) {
    this.region = region;
    this.hint = hint;
    this.shown = new Map();
    this.call = 0;
  }

  /** A new call counts its utterances from the start again. */
  newCall() {
    this.call += 1;
    const broken = this.region.lastElementChild.className === "break";
    if (this.shown.size && !broken) this.#append(make("p", { class: "break" }, "New call"));
  }

  show({ who, text, final, utterance }) {
    const id = `${this.call}/${who}/${utterance}`;
    const follows = this.region.scrollHeight - this.region.scrollTop - this.region.clientHeight < NEAR_BOTTOM_PX;
    let line = this.shown.get(id);
    if (!line) {
      if (!text) return;
      line = make("p", { class: `caption ${who}` }, make("span", { class: "who" }), make("span", { class: "said" }));
      line.firstChild.textContent = who === "caller" ? "You" : "Keryx";
      this.shown.set(id, line);
      this.#append(line);
    }
    if (!text) {
      line.remove();
      this.shown.delete(id);
      return;
    }
    say(line.lastChild, text);
    line.classList.toggle("forming", !final);
    line.setAttribute("aria-busy", String(!final));
    if (follows || who === "caller") this.region.scrollTop = this.region.scrollHeight;
  }

  #append(element) {
    this.hint.hidden = true;
    this.region.append(element);
    while (this.region.childElementCount > MAX_KEPT + 1) this.region.children[1].remove();
    for (const [id, line] of this.shown) if (!line.isConnected) this.shown.delete(id);
  }
}
