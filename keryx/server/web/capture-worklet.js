// The microphone at the context's rate in, 20 ms frames of 16 kHz PCM16 and their loudness out.

import { Resampler } from "./resampler.js";

const RATE = 16000;
const FRAME = RATE / 50;

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = new Resampler(sampleRate, RATE);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.energy = 0;
  }

  process([input]) {
    if (!input[0]) return true;
    this.resampler.push(input[0]);
    while (this.resampler.ready) {
      const value = Math.max(-1, Math.min(1, this.resampler.next()));
      this.energy += value * value;
      this.frame[this.filled++] = Math.round(value * 32767);
      if (this.filled === FRAME) this.#send();
    }
    return true;
  }

  #send() {
    const level = Math.sqrt(this.energy / FRAME);
    this.port.postMessage({ frame: this.frame.buffer, level }, [this.frame.buffer]);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.energy = 0;
  }
}

registerProcessor("capture", Capture);
