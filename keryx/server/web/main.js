// The page put together: what is shown follows from the line, the microphone, the voice and the daemon.

import { Api } from "./api.js";
import { Captions } from "./captions.js";
import { Dial } from "./dial.js";
import { byId, make, say } from "./dom.js";
import { forget, keep, takeKey } from "./key.js";
import { Line } from "./line.js";
import { NoMicrophone, openMicrophone, Sound } from "./sound.js";
import { TaskList } from "./tasks.js";
import { stopwatch } from "./words.js";

const GONE_AFTER_MS = 20_000;
const NOTE_MS = 8000;
const WORDS = {
  idle: "Ready",
  connecting: "Connecting",
  listening: "Listening",
  thinking: "Thinking",
  speaking: "Speaking",
  reconnecting: "Reconnecting",
};

function showLocked(why) {
  if (why) say(byId("locked-why"), why);
  byId("house").hidden = true;
  byId("locked").hidden = false;
  byId("key-form").onsubmit = (event) => {
    event.preventDefault();
    const given = byId("key").value.trim();
    keep(given.match(/[?&]key=([^&#\s]+)/)?.[1] ?? given);
    location.reload();
  };
}

function wrongKey() {
  forget();
  showLocked("The key this browser kept does not fit any more. Open the address that Keryx printed when it started.");
}

function openHouse(key) {
  byId("house").hidden = false;
  const api = new Api(key);
  const tasks = new TaskList(
    { list: byId("list"), none: byId("none"), tally: byId("tally"), asking: byId("asking") },
    api,
  );
  const call = new Telephone(key);
  const connection = new Connection();
  makeSheet();
  makeKeys(call);
  api.listen({
    connection: (up) => connection.set(up),
    event: (name, content) => {
      if (name === "snapshot" || name === "voice") call.setVoice(content.voice ?? content);
      tasks[name]?.(content);
    },
    wrongKey,
  });
}

/** Whether the daemon is there. */
class Connection {
  set(up) {
    byId("connection").dataset.up = up;
    clearTimeout(this.timer);
    say(byId("connection-words"), up ? "Connected" : "Reconnecting, your tasks keep running");
    if (up) return notice("gone", null);
    this.timer = setTimeout(
      () => notice("gone", "Keryx does not answer.", "If it was stopped, start it with keryx serve. This page keeps trying."),
      GONE_AFTER_MS,
    );
  }
}

/** One line of trouble or a hint above the captions; `title` null takes it away. */
function notice(kind, title, remedy = "", percent = null) {
  const place = byId("notices");
  const before = place.querySelector(`[data-kind="${kind}"]`);
  if (title === null) return before?.remove();
  const bar = percent === null ? null : make("progress", { max: 100, value: percent, "aria-label": title });
  const shown = make("p", { class: "notice", "data-kind": kind }, make("strong", {}, title), remedy && ` ${remedy}`, bar);
  if (before?.textContent === shown.textContent) return;
  if (before) before.replaceWith(shown);
  else place.append(shown);
}

/** The call: the big button, mute, typing, and what the line and the microphone say. */
class Telephone {
  constructor(key) {
    this.captions = new Captions(byId("captions"), byId("hint"));
    this.dial = new Dial(byId("dial"));
    this.voice = null;
    this.unsent = [];
    this.line = new Line(key, {
      opening: () => this.#opening(),
      ready: (message) => this.#ready(message),
      broken: () => this.#broken(),
      over: (reason) => this.#over(reason),
      wrongKey: () => {
        this.#over("");
        wrongKey();
      },
      sound: (buffer) => this.sound?.play(buffer),
      message: (message) => this.#take(message),
    });
    byId("big").onclick = () => (this.live ? this.line.hangUp() : this.start());
    byId("mute").onclick = () => this.setMuted(!this.muted);
    byId("quiet").onclick = () => this.stopSpeaking();
    byId("typing").onsubmit = (event) => {
      event.preventDefault();
      this.#type();
    };
    byId("text").onkeydown = (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#type();
    };
    this.#show("idle");
  }

  get live() {
    return this.line.wanted || Boolean(this.starting);
  }

  /** Call. Without a microphone, or without a voice to listen, it is a call by typing and says so. */
  async start({ speaking = true } = {}) {
    if (this.live) return;
    const attempt = (this.starting = {});
    this.since = null;
    this.muted = false;
    this.#show("connecting");
    say(byId("detail"), "");
    byId("call").focus({ preventScroll: true });
    notice("microphone", null);
    const sound = speaking && this.voice?.state !== "typing only" ? await this.#openSound() : null;
    if (this.starting !== attempt) return sound?.close(); // hung up meanwhile
    this.starting = null;
    this.sound = sound;
    this.captions.newCall();
    this.#stayAwake();
    this.line.call({ audio: Boolean(sound) });
  }

  /** A telephone lying on the table must not fall asleep in the middle of a call. */
  async #stayAwake() {
    this.awake = await navigator.wakeLock?.request("screen").catch(() => null);
    if (!this.live) this.awake?.release();
  }

  async #openSound() {
    const sound = new Sound({
      frame: (buffer) => this.line.sendSound(buffer),
      heard: (level) => this.mode === "listening" && this.dial.hear(level),
      spoken: (level) => this.mode === "speaking" && this.dial.hear(level),
      played: (mark) => this.line.send({ type: "played", mark }),
      lost: () => notice("microphone", "The microphone has gone.", "Plug it in and call again, or go on by typing."),
    });
    try {
      say(byId("detail"), "Allow the microphone if the browser asks");
      const [stream] = await Promise.all([openMicrophone(), sound.open()]);
      sound.listen(stream);
      return sound;
    } catch (error) {
      sound.close();
      const known = error instanceof NoMicrophone ? error : new NoMicrophone("old", "No sound in this browser.", "Typing works.");
      notice("microphone", known.message, known.remedy);
      return null;
    }
  }

  #type() {
    const field = byId("text");
    const text = field.value.trim();
    if (!text) return;
    if (!this.line.send({ type: "text", text })) {
      this.unsent.push(text);
      if (!this.live) this.start({ speaking: false });
    }
    field.value = "";
  }

  stopSpeaking() {
    if (!this.line.send({ type: "interrupt" })) return;
    this.sound?.hold();
  }

  setMuted(muted) {
    this.muted = muted;
    if (this.sound) this.sound.muted = muted;
    byId("mute").setAttribute("aria-pressed", String(muted));
    say(byId("mute-words"), muted ? "Unmute" : "Mute");
    if (muted) this.dial.hear(0);
    this.#showDetail();
  }

  /** Hold to talk: Keryx falls silent and the microphone is open until it is let go. */
  pushToTalk(held) {
    if (!this.line.open || !this.sound) return;
    if (held) {
      this.wasMuted = this.muted;
      this.stopSpeaking();
      this.setMuted(false);
    } else if (this.wasMuted) this.setMuted(true);
  }

  setVoice(voice) {
    this.voice = voice;
    notice("voice", null);
    if (voice.state === "loading") {
      notice("voice", `Voice loading ${voice.percent} %.`, "Typing works already.", voice.percent);
    } else if (voice.state === "typing only") {
      const remedy = voice.message.replace(/^typing only:?\s*/i, "");
      notice("voice", "Typing only.", remedy.charAt(0).toUpperCase() + remedy.slice(1));
    }
    this.#showDetail();
  }

  #opening() {
    this.#show(this.mode === "reconnecting" ? "reconnecting" : "connecting");
  }

  #ready() {
    if (!this.since) this.since = Date.now();
    this.#show("listening");
    for (const text of this.unsent.splice(0)) this.line.send({ type: "text", text });
  }

  #broken() {
    this.sound?.clear();
    if (this.since) this.captions.newCall();
    this.#show("reconnecting");
  }

  #over(reason) {
    this.starting = null;
    this.sound?.close();
    this.sound = null;
    this.awake?.release();
    if (reason === "error") notice("line", "The call broke off on Keryx’s side.", "Call again; your tasks keep running.");
    const lasted = this.since ? `Call ended, ${stopwatch(Date.now() - this.since)}` : "";
    this.since = null;
    this.setMuted(false);
    this.#show("idle");
    say(byId("detail"), lasted);
    this.#showDetail();
    if (this.unsent.length) {
      // Words typed and never taken come back into the field.
      byId("text").value = this.unsent.splice(0).join("\n");
    }
  }

  #take(message) {
    switch (message.type) {
      case "mark":
        if (this.sound) this.sound.mark(message.name);
        else this.line.send({ type: "played", mark: message.name });
        break;
      case "clear":
        this.sound?.clear();
        break;
      case "caption":
        this.captions.show(message);
        break;
      case "state":
        this.#show(message.state);
        break;
      case "error":
        notice("line", message.message);
        clearTimeout(this.noteTimer);
        this.noteTimer = setTimeout(() => notice("line", null), NOTE_MS);
        break;
    }
  }

  #show(mode) {
    this.mode = mode;
    const live = mode !== "idle";
    document.body.dataset.mode = mode;
    say(byId("state"), WORDS[mode]);
    say(byId("big-words"), live ? "Hang up" : "Call");
    byId("big").dataset.live = live;
    const talking = live && this.line.open;
    byId("mute").disabled = !(talking && this.sound);
    byId("quiet").disabled = !talking;
    this.dial.set(mode === "connecting" ? "thinking" : mode);
    if (mode === "thinking" || mode === "idle") this.dial.hear(0);
    clearInterval(this.clock);
    if (live) this.clock = setInterval(() => this.#showDetail(), 1000);
    this.#showDetail();
  }

  #showDetail() {
    const { mode, since } = this;
    if (mode === "connecting" && !this.line.wanted) return; // the microphone is being asked for
    let words;
    if (mode === "idle") {
      if (byId("detail").textContent.startsWith("Call ended")) return; // stays until the next call
      words = this.voice?.state === "ready" ? "Press Call, or type" : this.voice ? "Type what you want done" : "";
    } else if (mode === "reconnecting") words = "Your tasks keep running";
    else if (mode === "connecting") words = "";
    else words = [since && stopwatch(Date.now() - since), this.#how()].filter(Boolean).join(" · ");
    say(byId("detail"), words);
  }

  #how() {
    if (!this.sound) return "by typing";
    return this.muted ? "muted" : "";
  }
}

/** On a telephone's width the tasks are a sheet that slides up. */
function makeSheet() {
  const narrow = matchMedia("(max-width: 879px)");
  const [sheet, handle, body, scrim, call] = ["tasks", "sheet", "tasks-body", "scrim", "call"].map(byId);
  const set = (open) => {
    const covers = narrow.matches && open;
    sheet.classList.toggle("up", open);
    handle.setAttribute("aria-expanded", String(open));
    say(handle.firstElementChild, open ? "Hide the tasks" : "Show the tasks");
    body.inert = narrow.matches && !open;
    call.inert = covers;
    scrim.hidden = !covers;
  };
  const isUp = () => sheet.classList.contains("up");
  handle.onclick = (event) => {
    event.stopPropagation();
    set(!isUp());
  };
  sheet.querySelector(".tasks-top").onclick = () => narrow.matches && set(!isUp());
  scrim.onclick = () => set(false);
  sheet.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !narrow.matches || !isUp()) return;
    event.stopPropagation();
    set(false);
    handle.focus();
  });
  // Dragged by its head, it follows the finger's direction.
  let from = null;
  sheet.querySelector(".tasks-top").addEventListener("pointerdown", (event) => (from = event.clientY));
  addEventListener("pointerup", (event) => {
    const moved = from === null ? 0 : event.clientY - from;
    from = null;
    if (narrow.matches && Math.abs(moved) > 40) {
      set(moved < 0);
      const swallow = (click) => click.stopPropagation();
      addEventListener("click", swallow, { capture: true });
      setTimeout(() => removeEventListener("click", swallow, { capture: true }));
    }
  });
  narrow.addEventListener("change", () => set(false));
  set(false);
}

/** space: hold to talk. Esc: stop speaking. /: type. */
function makeKeys(call) {
  const busy = () => document.activeElement?.closest("input, textarea, button, a, summary, [contenteditable]");
  let held = false;
  const letGo = () => {
    if (held) call.pushToTalk(false);
    held = false;
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") {
      call.stopSpeaking();
      if (document.activeElement === byId("text")) byId("text").blur();
    } else if (event.key === "/" && !document.activeElement?.matches("input, textarea")) {
      event.preventDefault();
      byId("text").focus();
    } else if (event.code === "Space" && !busy()) {
      event.preventDefault();
      if (!held && !event.repeat) {
        held = true;
        call.pushToTalk(true);
      }
    }
  });
  addEventListener("keyup", (event) => event.code === "Space" && letGo());
  addEventListener("blur", letGo);
  // Clicked with a pointer, a button gives the focus back, so that space is for talking.
  document.addEventListener("click", (event) => event.detail && event.target.closest(".console button")?.blur());
}

const key = takeKey();
if (key) openHouse(key);
else showLocked();
if ("serviceWorker" in navigator) navigator.serviceWorker.register("/service-worker.js").catch(() => {});
