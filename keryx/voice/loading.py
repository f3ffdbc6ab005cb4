"""Getting the speech parts ready behind a daemon that already answers; without them Keryx is typed to."""

import asyncio
import contextlib
import importlib.util
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from keryx.errors import ConfigError, KeryxError
from keryx.voice.hearing.base import Hearing, VoiceActivity
from keryx.voice.speaking.base import Speaking

log = logging.getLogger(__name__)

NEEDED = ("numpy", "onnxruntime", "ctranslate2", "tokenizers", "faster_whisper", "hibari")
NOT_INSTALLED = "the speech parts are not installed. Run: pip install 'keryx[speech]'"

State = Literal["loading", "ready", "typing only"]


@dataclass(frozen=True)
class SpeechParts:
    """What a call needs to hear and to speak; shared by all calls but for the voice activity, one each."""

    hearing: Hearing
    speaking: Speaking
    new_activity: Callable[[], VoiceActivity]
    close: Callable[[], None] = lambda: None


Report = Callable[[str, float], None]
"""Called with what is loading and the part done of everything, 0…1; from any thread."""


class SpeechLoading:
    """Loads the speech parts in threads and says how far it is."""

    def __init__(
        self,
        cache: Path,
        *,
        weights: Path | None = None,
        may_download: bool = False,
        load: "Callable[[Report], SpeechParts] | None" = None,
    ) -> None:
        """`cache` is a folder for joined weights. `load` makes the parts, blocking, and is replaced in tests."""
        self.state: State = "loading"
        self.percent = 0
        self.message = "Loading the speech parts."
        self.parts: SpeechParts | None = None
        self._load = load or (lambda report: load_parts(cache, weights, may_download, report))
        self._changes: set[asyncio.Future[None]] = set()

    async def load(self) -> None:
        """Load everything; ends `ready` or `typing only` and never raises.

        A cancellation ends the wait; what a thread is loading runs to its end and is thrown away.
        """
        loop = asyncio.get_running_loop()

        def report(what: str, done: float) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell
                loop.call_soon_threadsafe(self._advance, what, done)

        try:
            self.parts = await asyncio.to_thread(self._load, report)
        except KeryxError as error:
            self._become("typing only", f"Typing only: {error}")
        except Exception as error:
            # The edge of the speech part: a broken library must leave a daemon that can be typed to.
            log.exception("speech parts failed to load")
            self._become("typing only", f"Typing only: the speech parts failed to load ({type(error).__name__}).")
        else:
            self.percent = 100
            self._become("ready", "Ready to hear and to speak.")

    async def changed(self) -> None:
        """Wait for the next change of state, percent or message; a cancellation loses nothing."""
        change = asyncio.get_running_loop().create_future()
        self._changes.add(change)
        try:
            await change
        finally:
            self._changes.discard(change)

    def close(self) -> None:
        """Let go of the parts; may be called twice."""
        parts, self.parts = self.parts, None
        if parts:
            parts.close()

    def _advance(self, what: str, done: float) -> None:
        percent = max(self.percent, min(99, int(done * 100)))
        if self.state == "loading" and (percent, what) != (self.percent, self.message):
            self.percent, self.message = percent, what
            self._tell()

    def _become(self, state: State, message: str) -> None:
        self.state, self.message = state, message
        log.info("speech %s", state, extra={"why": message})
        self._tell()

    def _tell(self) -> None:
        for change in self._changes:
            if not change.done():
                change.set_result(None)


def load_parts(cache: Path, weights: Path | None, may_download: bool, report: Report) -> SpeechParts:
    """Load the real parts, the voice beside the hearing; blocks. Raises KeryxError with what to do about it."""
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        raise ConfigError(NOT_INSTALLED)
    return _Load(report).run(cache, weights, may_download)


class _Load:
    """One loading: two threads, one count of what is done."""

    SHARES = {"weights": 0.4, "hearing": 0.3, "voice activity": 0.05, "voice": 0.25}

    def __init__(self, report: Report) -> None:
        self._report = report
        self._done = dict.fromkeys(self.SHARES, 0.0)
        self._lock = threading.Lock()

    def run(self, cache: Path, weights: Path | None, may_download: bool) -> SpeechParts:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(max_workers=2, thread_name_prefix="loading") as threads:
            voice = threads.submit(self._voice)
            hearing = threads.submit(self._hearing, cache, weights, may_download)
            ears, activity_model = hearing.result()
            mouth = voice.result()

        from keryx.voice.hearing.vad import SileroActivity

        def close() -> None:
            ears.close()
            mouth.close()

        return SpeechParts(ears, mouth, lambda: SileroActivity(activity_model), close)

    def _hearing(self, cache: Path, weights: Path | None, may_download: bool):
        from keryx.voice.hearing import weights as files
        from keryx.voice.hearing.vad import SileroModel
        from keryx.voice.hearing.whisper import WhisperHearing

        self._step("voice activity", 0.0)
        activity_model = SileroModel(files.shipped_file(files.SILERO))
        self._step("voice activity", 1.0)
        sources: list[files.Source] = [files.FolderSource(weights)] if weights else []
        sources += [files.PackagesSource(cache), files.HubSource(cache, allowed=may_download)]
        stamps = files.Stamps(cache)
        folder = files.find_weights(files.WHISPER_BASE, sources, stamps, lambda done: self._step("weights", done))
        self._step("weights", 1.0)
        self._step("hearing", 0.0)
        ears = WhisperHearing(folder)
        self._step("hearing", 1.0)
        return ears, activity_model

    def _voice(self):
        from keryx.voice.hearing import weights as files
        from keryx.voice.speaking.hibari import HibariSpeaking

        self._step("voice", 0.0)
        try:
            mouth = HibariSpeaking(files.shipped_file(files.HIBARI))
        except KeryxError as error:
            mouth = self._spare_voice(error)
        self._step("voice", 1.0)
        return mouth

    def _spare_voice(self, error: KeryxError):
        """espeak-ng, if it is installed; else what is wrong with the first voice stands."""
        from keryx.voice.speaking.espeak import EspeakSpeaking

        try:
            mouth = EspeakSpeaking()
        except KeryxError:
            raise error from None
        log.warning("speaking with the spare voice", extra={"why": str(error)})
        return mouth

    def _step(self, part: str, done: float) -> None:
        with self._lock:
            self._done[part] = done
            total = sum(self.SHARES[name] * share for name, share in self._done.items())
        self._report(f"Loading the {part}.", total)
