// The daemon over HTTP: requests that end as an answer or a sentence, and the stream of what changes.

import { Backoff } from "./backoff.js";

const ANSWER_WAIT_MS = 15_000;
const SILENCE_MS = 40_000; // the stream sends something every fifteen seconds

export class Problem extends Error {
  constructor(sentence, status = 0) {
    super(sentence);
    this.status = status;
  }
}

export class Api {
  constructor(key) {
    this.headers = { Authorization: `Bearer ${key}` };
  }

  task(number) {
    return this.#ask(`/api/tasks/${number}`);
  }

  followUp(number, text, requestId, mode = null) {
    return this.#ask(`/api/tasks/${number}/follow-up`, { text, mode }, { "Idempotency-Key": requestId });
  }

  cancel(number) {
    return this.#ask(`/api/tasks/${number}/cancel`, {});
  }

  async #ask(path, body, headers = {}) {
    let response;
    try {
      response = await fetch(path, {
        method: body ? "POST" : "GET",
        headers: { ...this.headers, ...headers, ...(body && { "Content-Type": "application/json" }) },
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_WAIT_MS),
      });
    } catch {
      throw new Problem("Keryx does not answer just now. Your tasks keep running; try again in a moment.");
    }
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Problem(answer.error ?? "Keryx could not do that.", response.status);
    return answer;
  }

  /** Tell `on.event(name, content)` what changes, for as long as the page is open; `on.connection(up)` which way. */
  listen(on) {
    const backoff = new Backoff();
    const attempt = async () => {
      try {
        await this.#stream(on, backoff);
      } catch (error) {
        if (error.status === 401) return on.wrongKey();
      }
      on.connection(false);
      backoff.again(attempt);
    };
    attempt();
  }

  async #stream(on, backoff) {
    const given = new AbortController();
    let watch = setTimeout(() => given.abort(), ANSWER_WAIT_MS);
    try {
      const response = await fetch("/api/events", { headers: this.headers, signal: given.signal, cache: "no-store" });
      if (!response.ok) throw new Problem("no stream", response.status);
      on.connection(true);
      backoff.reset();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let unread = "";
      for (;;) {
        clearTimeout(watch);
        watch = setTimeout(() => given.abort(), SILENCE_MS);
        const { value, done } = await reader.read();
        if (done) return;
        const blocks = (unread + value).split("\n\n");
        unread = blocks.pop();
        for (const block of blocks) deliver(block, on.event);
      }
    } finally {
      clearTimeout(watch);
      given.abort();
    }
  }
}

function deliver(block, take) {
  const fields = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  if (fields.data) take(fields.event, JSON.parse(fields.data));
}

/** A name for one request, so that it is done once however often it is sent. */
export function requestName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
