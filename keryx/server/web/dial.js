// The ring around the big button: a scale of fine lines that follows the voice, drawn only while there is something
// to follow.

const LINES = 90;
const SIZE = 208;
const INNER = 73;
const FLOOR_DB = -52;
const TOP_DB = -12;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Dial {
  constructor(canvas) {
    this.canvas = canvas;
    this.brush = canvas.getContext("2d");
    this.mode = "idle";
    this.level = 0;
    this.target = 0;
    this.lengths = new Float32Array(LINES);
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => this.#draw(performance.now()));
    }
    this.#draw(0);
  }

  set(mode) {
    if (this.mode === mode) return;
    this.mode = mode;
    if (mode === "idle" || mode === "reconnecting") this.target = 0;
    if (!this.running) this.#run();
  }

  /** How loud the voice is: a root mean square between 0 and 1. */
  hear(rms) {
    const db = 20 * Math.log10(Math.max(rms, 1e-6));
    this.target = Math.max(0, Math.min(1, (db - FLOOR_DB) / (TOP_DB - FLOOR_DB)));
  }

  #run() {
    this.running = true;
    requestAnimationFrame((now) => {
      this.level += (this.target - this.level) * (this.target > this.level ? 0.45 : 0.12);
      this.#draw(now);
      const resting = this.mode === "idle" || this.mode === "reconnecting";
      if (resting && this.level < 0.005) {
        this.running = false;
        this.level = 0;
        this.#draw(now);
      } else this.#run();
    });
  }

  #draw(now) {
    const { brush, canvas } = this;
    const scale = Math.min(3, devicePixelRatio || 1);
    if (canvas.width !== SIZE * scale) canvas.width = canvas.height = SIZE * scale;
    const style = getComputedStyle(canvas);
    const [resting, lit] = [style.getPropertyValue("--scale"), style.getPropertyValue("--accent")];
    brush.setTransform(scale, 0, 0, scale, (SIZE / 2) * scale, (SIZE / 2) * scale);
    brush.clearRect(-SIZE / 2, -SIZE / 2, SIZE, SIZE);
    brush.lineCap = "round";
    for (let i = 0; i < LINES; i++) {
      const { share, strength } = this.#line(i, now);
      const angle = (i / LINES) * 2 * Math.PI + Math.PI / 2;
      const major = i % 15 === 0;
      const length = (major ? 9 : 5.5) + share * 15;
      const [x, y] = [Math.cos(angle), Math.sin(angle)];
      const stroke = (colour, width, alpha) => {
        brush.strokeStyle = colour;
        brush.lineWidth = width;
        brush.globalAlpha = alpha;
        brush.beginPath();
        brush.moveTo(x * INNER, y * INNER);
        brush.lineTo(x * (INNER + length), y * (INNER + length));
        brush.stroke();
      };
      if (strength < 1) stroke(resting, 1.4, 1);
      if (strength > 0) stroke(lit, 1.9, strength);
    }
    brush.globalAlpha = 1;
  }

  /** How far line `i` (0 at the bottom, clockwise) is drawn out, and how brightly lit. */
  #line(i, now) {
    const up = Math.abs(((i + LINES / 2) % LINES) - LINES / 2) / (LINES / 2); // 0 at the bottom, 1 at the top
    switch (this.mode) {
      case "listening": {
        // A scale that fills from the bottom, both sides alike.
        const strength = Math.max(0, Math.min(1, (this.level * 1.08 - up) * 12));
        return { share: strength * this.level * 0.5, strength };
      }
      case "speaking": {
        const ripple = 0.55 + 0.45 * Math.sin(i * 1.7 + now / 90) * Math.sin(i * 0.63 - now / 140);
        return { share: still.matches ? this.level * 0.6 : this.level * ripple, strength: 0.35 + 0.65 * this.level };
      }
      case "thinking": {
        if (still.matches) return { share: 0, strength: i % 3 ? 0 : 0.8 };
        const lag = ((now / 1800) * LINES - i) % LINES;
        return { share: 0, strength: Math.max(0, 1 - ((lag + LINES) % LINES) / (LINES * 0.3)) };
      }
      case "reconnecting":
        return { share: 0, strength: i % 15 ? 0 : 1 };
      default:
        return { share: 0, strength: 0 };
    }
  }
}
