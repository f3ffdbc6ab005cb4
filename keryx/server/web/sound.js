// The browser's side of the sound: the microphone, the loudspeaker, and what to say when there is none.

const VOICE = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };

/** Why there is no microphone, as something to show. */
export class NoMicrophone extends Error {
  constructor(kind, title, remedy) {
    super(title);
    this.kind = kind;
    this.remedy = remedy;
  }
}

export async function openMicrophone() {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new NoMicrophone(
      "insecure",
      "The browser gives this address no microphone.",
      "Open the page over https, or as http://127.0.0.1 on the machine itself. Typing works meanwhile.",
    );
  }
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: VOICE });
  } catch (error) {
    throw explained(error);
  }
}

function explained(error) {
  switch (error.name) {
    case "NotAllowedError":
    case "SecurityError":
      return new NoMicrophone(
        "blocked",
        "The microphone is blocked by the browser.",
        "To allow it, open the site settings beside the address, set Microphone to Allow, and call again. Typing works meanwhile.",
      );
    case "NotFoundError":
    case "OverconstrainedError":
      return new NoMicrophone("none", "This browser has no microphone.", "Plug one in and call again, or type.");
    default:
      return new NoMicrophone(
        "busy",
        "The microphone could not be opened.",
        "Another program may be using it. Close that and call again, or type.",
      );
  }
}

/** One call's sound. `on` holds `frame`, `heard`, `played`, `spoken` and `lost`. */
export class Sound {
  constructor(on) {
    this.on = on;
    this.context = new AudioContext({ latencyHint: "interactive" });
    this.resume = () => this.context.state !== "closed" && this.context.resume().catch(() => {});
    // A telephone's browser stops the sound when another app takes it.
    document.addEventListener("visibilitychange", this.resume);
  }

  async open() {
    await this.resume();
    const { audioWorklet } = this.context;
    if (!audioWorklet) throw new NoMicrophone("old", "This browser cannot carry sound here.", "Typing works.");
    await Promise.all([
      audioWorklet.addModule("/static/capture-worklet.js"),
      audioWorklet.addModule("/static/playback-worklet.js"),
    ]);
    this.playback = new AudioWorkletNode(this.context, "playback", { numberOfInputs: 0, outputChannelCount: [2] });
    this.playback.port.onmessage = ({ data }) => {
      if (data.played !== undefined) this.on.played(data.played);
      else this.on.spoken(data.level);
    };
    this.playback.connect(this.context.destination);
  }

  listen(stream) {
    this.stream = stream;
    const [track] = stream.getAudioTracks();
    track.addEventListener("ended", () => this.on.lost());
    const capture = new AudioWorkletNode(this.context, "capture", { channelCount: 1, channelCountMode: "explicit" });
    capture.port.onmessage = ({ data }) => {
      this.on.frame(data.frame);
      this.on.heard(data.level);
    };
    this.context.createMediaStreamSource(stream).connect(capture);
    // Browsers run only what leads to the loudspeaker; what comes out of here is silence.
    capture.connect(this.context.destination);
  }

  get hears() {
    return Boolean(this.stream);
  }

  /** Muted, the microphone goes on sending silence, so that the line keeps its pace. */
  set muted(muted) {
    for (const track of this.stream?.getAudioTracks() ?? []) track.enabled = !muted;
  }

  play(buffer) {
    this.playback.port.postMessage({ sound: buffer }, [buffer]);
  }

  mark(name) {
    this.playback.port.postMessage({ mark: name });
  }

  clear() {
    this.playback.port.postMessage({ clear: true });
  }

  hold() {
    this.playback.port.postMessage({ hold: true });
  }

  close() {
    document.removeEventListener("visibilitychange", this.resume);
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    if (this.context.state !== "closed") this.context.close().catch(() => {});
  }
}
