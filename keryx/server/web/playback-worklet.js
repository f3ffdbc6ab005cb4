// Keryx's voice: 24 kHz PCM16 in, the context's rate out. A mark is answered when the sample before it has left here.

import { Resampler } from "./resampler.js";

const RATE = 24000;
const LEAD = RATE * 0.06; // queued before a sentence starts, against a line that stutters
const LEAD_WAIT_S = 0.08; // but a shorter sound than that is not kept waiting
const FADE_S = 0.005; // a cut without a click
const HOLD_S = 0.5; // the longest silence while the server's "clear" is under way
const LEVEL_EVERY = 1024;

class Playback extends AudioWorkletProcessor {
  constructor() {
    super();
    this.voice = new Resampler(RATE, sampleRate, 1 << 18);
    this.marks = [];
    this.flowing = false;
    this.waitingSince = 0;
    this.heldUntil = 0;
    this.fade = new Float32Array(0);
    this.faded = 0;
    this.energy = 0;
    this.measured = 0;
    this.port.onmessage = ({ data }) => this.#take(data);
  }

  #take(message) {
    if (message.sound) this.#queue(new Int16Array(message.sound));
    else if (message.mark !== undefined) this.#mark(message.mark);
    else if (message.clear) this.#clear();
    else if (message.hold) this.#hold();
  }

  #queue(samples) {
    if (this.voice.queued === 0) this.waitingSince = currentTime;
    this.voice.push(Float32Array.from(samples, (value) => value / 32768));
  }

  #mark(name) {
    if (this.voice.queued === 0) this.port.postMessage({ played: name });
    else this.marks.push({ name, at: this.voice.written });
  }

  #clear() {
    if (!this.heldUntil) this.#fadeOut();
    this.voice.skip();
    this.heldUntil = 0;
    this.flowing = false;
    this.#answer(Infinity);
  }

  /** Silence at once, keeping what is queued: the server decides what becomes of it. */
  #hold() {
    if (this.flowing) this.#fadeOut();
    this.heldUntil = currentTime + HOLD_S;
  }

  #fadeOut() {
    if (!this.flowing) return;
    const length = Math.round(FADE_S * sampleRate);
    const place = this.voice.place;
    this.fade = Float32Array.from({ length }, (_, i) => this.voice.next() * (1 - (i + 1) / length));
    this.voice.place = place;
    this.faded = 0;
  }

  #answer(place) {
    while (this.marks.length && this.marks[0].at <= place) this.port.postMessage({ played: this.marks.shift().name });
  }

  #mayFlow() {
    if (this.heldUntil) {
      if (currentTime < this.heldUntil) return false;
      this.heldUntil = 0;
    }
    if (this.flowing) return true;
    const { queued } = this.voice;
    this.flowing =
      queued > 0 && (queued >= LEAD || this.marks.length > 0 || currentTime - this.waitingSince >= LEAD_WAIT_S);
    return this.flowing;
  }

  process(_inputs, [[output, ...others]]) {
    const flows = this.#mayFlow();
    for (let i = 0; i < output.length; i++) {
      let value = this.faded < this.fade.length ? this.fade[this.faded++] : 0;
      if (flows && this.voice.queued > 0) value += this.voice.next();
      output[i] = value;
      this.energy += value * value;
    }
    if (flows) this.#answer(this.voice.place);
    if (this.voice.queued === 0) this.flowing = false;
    for (const other of others) other.set(output);
    this.#measure(output.length);
    return true;
  }

  #measure(count) {
    this.measured += count;
    if (this.measured < LEVEL_EVERY) return;
    const level = Math.sqrt(this.energy / this.measured);
    if (level > 0 || this.lastLevel > 0) this.port.postMessage({ level });
    this.lastLevel = level;
    this.energy = 0;
    this.measured = 0;
  }
}

registerProcessor("playback", Playback);
