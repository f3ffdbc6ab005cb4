// Changes the rate of a stream of samples: a windowed-sinc filter, read at whatever place the output needs next.
// The cut-off lies below half of the lower rate, so nothing folds back into the voice.

const CROSSINGS = 24; // of the sinc on either side, at the lower rate
const PHASES = 64;
const KAISER_BETA = 8; // about 80 dB of stop-band
const BAND = 0.94; // of half the lower rate

export class Resampler {
  constructor(fromRate, toRate, capacity = 1 << 14) {
    this.step = fromRate / toRate;
    const band = Math.min(1, toRate / fromRate) * BAND;
    this.half = fromRate === toRate ? 0 : Math.ceil(CROSSINGS / Math.min(1, toRate / fromRate));
    this.rows = this.half ? table(this.half, band) : null;
    this.ring = new Float32Array(capacity);
    this.written = 0; // samples ever pushed
    this.place = 0; // of the next output sample, counted in input samples
  }

  /** Input samples pushed and not yet passed by. */
  get queued() {
    return Math.max(0, this.written - this.place);
  }

  /** Whether everything the next output sample needs has been pushed. */
  get ready() {
    return Math.floor(this.place) + this.half < this.written;
  }

  push(samples) {
    this.#makeRoom(samples.length);
    const mask = this.ring.length - 1;
    for (let i = 0; i < samples.length; i++) this.ring[(this.written + i) & mask] = samples[i];
    this.written += samples.length;
  }

  /** The next output sample; what is not there yet counts as silence. */
  next() {
    const at = Math.floor(this.place);
    const between = this.place - at;
    this.place += this.step;
    if (!this.rows) return this.#sample(at);
    const phase = between * PHASES;
    const row = Math.floor(phase);
    const blend = phase - row;
    const [low, high] = [this.rows[row], this.rows[row + 1]];
    let sum = 0;
    for (let tap = 0; tap < low.length; tap++) {
      sum += this.#sample(at + tap - this.half + 1) * (low[tap] + (high[tap] - low[tap]) * blend);
    }
    return sum;
  }

  /** Drop everything that is queued. */
  skip() {
    this.place = Math.max(this.place, this.written);
  }

  #sample(index) {
    return index < 0 || index >= this.written ? 0 : this.ring[index & (this.ring.length - 1)];
  }

  #makeRoom(count) {
    const oldest = Math.max(0, Math.floor(this.place) - this.half);
    const needed = this.written + count - oldest;
    if (needed <= this.ring.length) return;
    let capacity = this.ring.length;
    while (capacity < needed) capacity *= 2;
    const ring = new Float32Array(capacity);
    for (let i = oldest; i < this.written; i++) ring[i & (capacity - 1)] = this.#sample(i);
    this.ring = ring;
  }
}

function table(half, band) {
  return Array.from({ length: PHASES + 1 }, (_, phase) => {
    const row = Float64Array.from({ length: half * 2 }, (_, tap) => {
      const t = tap - half + 1 - phase / PHASES;
      return sinc(t * band) * kaiser(t / half);
    });
    const gain = row.reduce((sum, value) => sum + value, 0);
    return row.map((value) => value / gain);
  });
}

const sinc = (x) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));
const kaiser = (x) => (Math.abs(x) >= 1 ? 0 : bessel(KAISER_BETA * Math.sqrt(1 - x * x)) / bessel(KAISER_BETA));

function bessel(x) {
  let [sum, term] = [1, 1];
  for (let k = 1; term > 1e-9 * sum; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
