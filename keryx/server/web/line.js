// A call over the WebSocket: opened again by itself when it breaks, until somebody hangs up.

import { Backoff } from "./backoff.js";

const READY_WAIT_MS = 12_000;
const MAX_UNSENT_BYTES = 64_000; // two seconds of microphone; more would arrive too late to be of use
const WRONG_KEY = 4401;
const COMES_BACK = ["restarting", "interrupted"]; // the daemon stops, and is started again

/** `on` holds `opening`, `ready`, `broken`, `over`, `wrongKey`, `sound`, `message`. */
export class Line {
  constructor(key, on) {
    this.key = key;
    this.on = on;
    this.wanted = false;
    this.backoff = new Backoff();
  }

  get open() {
    return this.isReady && this.socket.readyState === WebSocket.OPEN;
  }

  call({ audio }) {
    this.wanted = true;
    this.audio = audio;
    this.backoff.reset();
    this.#dial();
  }

  hangUp() {
    this.wanted = false;
    this.backoff.stop();
    this.send({ type: "stop" });
    this.#leave();
    this.on.over("");
  }

  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN || !this.isReady) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  sendSound(buffer) {
    if (this.open && this.socket.bufferedAmount < MAX_UNSENT_BYTES) this.socket.send(buffer);
  }

  #dial() {
    this.isReady = false;
    this.on.opening();
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/talk`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    const patience = setTimeout(() => socket.close(), READY_WAIT_MS);
    const mine = (act) => (event) => this.socket === socket && act(event);
    socket.onopen = mine(() =>
      socket.send(JSON.stringify({ type: "start", key: this.key, client: "page", audio: this.audio })),
    );
    socket.onmessage = mine(({ data }) => {
      if (data instanceof ArrayBuffer) return this.on.sound(data);
      const message = JSON.parse(data);
      if (message.type === "ready") {
        clearTimeout(patience);
        this.isReady = true;
        this.backoff.reset();
        this.on.ready(message);
      } else if (message.type === "ended" && COMES_BACK.includes(message.reason)) {
        socket.close(1000); // dialled again like any line that breaks
      } else if (message.type === "ended") {
        this.wanted = false;
        this.#leave();
        this.on.over(message.reason ?? "");
      } else this.on.message(message);
    });
    socket.onclose = (event) => {
      clearTimeout(patience);
      if (this.socket !== socket) return;
      this.isReady = false;
      if (event.code === WRONG_KEY) {
        this.wanted = false;
        this.on.wrongKey();
      } else if (this.wanted) {
        this.on.broken();
        this.backoff.again(() => this.wanted && this.#dial());
      } else this.on.over("");
    };
  }

  #leave() {
    const { socket } = this;
    this.socket = null;
    this.isReady = false;
    socket?.close(1000);
  }
}
