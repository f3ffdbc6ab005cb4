// Trying again: soon at first, then less often, never all pages at the same moment; at once when the network is back.

const FIRST_MS = 500;
const LONGEST_MS = 8000;

export class Backoff {
  constructor() {
    this.reset();
    addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.hurry());
  }

  reset() {
    this.stop();
    this.delay = FIRST_MS;
  }

  stop() {
    clearTimeout(this.timer);
    this.act = null;
  }

  again(act) {
    this.act = act;
    this.timer = setTimeout(() => this.hurry(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(LONGEST_MS, this.delay * 2);
  }

  hurry() {
    const { act } = this;
    this.stop();
    act?.();
  }
}
