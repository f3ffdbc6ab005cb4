"""Saying things: texts in, paced sound and captions out, sentence by sentence, with an account of what was heard.

Two coroutines share a track of sentences. One makes their sound, a bounded way ahead. The other gives it to the line,
at most `Pacing.ahead_ms` before its time, so that a clear costs little; it also shows each sentence as it begins to be
heard and notices when it was heard. On `hold` the line is cleared at once and nothing is lost: `release` goes on from
where the caller's ear was, `stop` throws the rest away.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from keryx.clock import Clock
from keryx.security.redact import redact
from keryx.voice.dialogue.base import Say
from keryx.voice.engines.base import AudioOut, CaptionOut, ClearOut, MarkOut
from keryx.voice.engines.outbox import Outbox
from keryx.voice.engines.waiting import happened_within
from keryx.voice.hearing.base import HEARING_RATE
from keryx.voice.playback import PlaybackLedger, Span, is_nearly_heard
from keryx.voice.speaking.base import Speaking
from keryx.voice.speech import sentences, speakable
from keryx.voice.transports.base import AudioFormat

if TYPE_CHECKING:
    import numpy as np

    from keryx.voice.audio import Resampler

log = logging.getLogger(__name__)

RECENT_SENTENCES = 4


@dataclass(frozen=True)
class Pacing:
    """How far ahead sound is made and sent, in milliseconds of sound."""

    frame_ms: int = 20
    mark_every_ms: int = 200
    ahead_ms: int = 1200
    """Sent before its time: covers a stumbling network, and a clear throws no more than this away."""
    step_ms: int = 100
    """How often the sender looks again while something plays."""
    made_ahead_ms: int = 8000
    """Made and not yet sent; a sentence is begun only below this."""
    mark_grace_ms: int = 3000
    """A mark that is so late is not waited for."""


class PlayedSound(Protocol):
    """Who wants to know what the line plays (the echo guard)."""

    def played(self, samples: "np.ndarray", at_ms: float) -> None:
        """Sound at `HEARING_RATE`, to be played from `at_ms` on."""
        ...

    def stopped(self, at_ms: float) -> None:
        """What was to be played from `at_ms` on was thrown away."""
        ...


@dataclass
class Utterance:
    """One `Say` on its way to the ear."""

    number: int
    say: Say
    pace: float
    shown: str = ""
    """The sentences shown so far."""
    unsaid: bool = False
    """The voice failed on a part of it, so that nobody can have heard it whole."""


@dataclass
class Sentence:
    """One sentence of an utterance, its place in the stream and the sound made for it so far."""

    utterance: Utterance
    span: Span
    payload: bytearray = field(default_factory=bytearray)
    shown: bool = False


class Mouth:
    """One call's voice. `run` does the work; everything else returns at once, but `say` and `quiet`."""

    def __init__(
        self,
        format: AudioFormat,
        outbox: Outbox,
        clock: Clock,
        on_heard: Callable[[Say], None],
        *,
        pacing: Pacing | None = None,
    ) -> None:
        self.voice: Speaking | None = None
        """Set while sound can be made; without it texts are only shown."""
        self.echo: PlayedSound | None = None
        self.last_text = ""
        """What was begun last; whether a question is open can be read off it."""
        self.recent: deque[str] = deque(maxlen=RECENT_SENTENCES)
        """The newest sentences begun; what comes back over the line in these words is an echo."""
        self._format = format
        self._outbox = outbox
        self._clock = clock
        self._on_heard = on_heard
        self._pacing = pacing or Pacing()
        self._ledger = PlaybackLedger(format)
        self._waiting: deque[Utterance] = deque()
        self._making: Utterance | None = None
        self._track: deque[Sentence] = deque()
        self._held = False
        self._epoch = 0
        self._count = 0
        self._since_mark = 0
        self._to_echo: Resampler | None = None
        self._ran_dry_at_s = 0.0
        self._given_up: dict[str, Utterance] = {}
        """By the mark that would say it was heard: a slow line may still answer it."""
        self._work = asyncio.Event()
        self._moved = asyncio.Event()
        self._changed = asyncio.Event()

    @property
    def busy(self) -> bool:
        """Something is being said, or waits to be."""
        return bool(self._waiting or self._making or self._track)

    @property
    def held(self) -> bool:
        return self._held

    async def run(self) -> None:
        """Make and send until cancelled."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._make())
            both.create_task(self._send())

    async def say(self, say: Say, *, pace: float = 1.0) -> bool:
        """Add `say` behind what is being said; waits only while another one still waits to be made.

        False when a `stop` came meanwhile: then it is not said.
        """
        epoch = self._epoch
        while self._waiting and epoch == self._epoch:
            await self._changed.wait()
        if epoch != self._epoch:
            return False
        self._count += 1
        self._waiting.append(Utterance(self._count, say, pace))
        self._work.set()
        return True

    async def quiet(self) -> None:
        """Wait until everything was heard, or dropped."""
        while self.busy:
            await self._changed.wait()

    def hold(self) -> bool:
        """Fall silent at once and keep the place; True when there was something to silence."""
        if self._held:
            return False
        self._held = True
        if not self._track:
            return False
        self._clear()
        return True

    def release(self) -> None:
        """Go on from where the caller heard it up to."""
        self._held = False
        self._moved.set()
        self._work.set()

    def stop(self) -> str:
        """Fall silent and forget the rest; returns the text that was not heard."""
        if self._track and not self._held:
            self._clear()
        for sentence in self._track:
            if sentence.span.closing and is_nearly_heard(sentence.span, self._ledger.sent, self._format):
                self._report_heard(sentence.utterance)
        self._close_captions()
        unsaid = [utterance.say.text for utterance in self._unlaid()]
        unheard = " ".join(filter(None, [self._ledger.drop().unheard, *unsaid]))
        self._track.clear()
        self._waiting.clear()
        self._making = None
        self._held = False
        self._epoch += 1
        self._tell()
        return unheard

    def answered(self, name: str) -> None:
        """The line answered a mark."""
        if self._ledger.answered(name):
            self._take_heard()
            self._moved.set()
        elif late := self._given_up.pop(name, None):
            self._report_heard(late)

    # -- making ---------------------------------------------------------------------------------------------------

    async def _make(self) -> None:
        while True:
            while not self._waiting:
                self._work.clear()
                await self._work.wait()
            self._making = utterance = self._waiting.popleft()
            self._tell()
            epoch = self._epoch
            texts = sentences(speakable(utterance.say.text)) or [""]
            for index, text in enumerate(texts):
                await self._until_room(epoch)
                if epoch != self._epoch:
                    break
                span = self._ledger.lay(utterance.number, text)
                span.closing = index == len(texts) - 1
                sentence = Sentence(utterance, span)
                self._track.append(sentence)
                if span.closing:
                    self._making = None
                if self.voice is not None and text:
                    await self._synthesise(sentence, self.voice, epoch)
                if epoch != self._epoch:
                    break
                span.whole = True
                self._moved.set()

    async def _until_room(self, epoch: int) -> None:
        limit = self._format.bytes_of(self._pacing.made_ahead_ms)
        while epoch == self._epoch and self._track and self._track[-1].span.end - self._ledger.sent > limit:
            await happened_within(self._clock, self._pacing.step_ms / 1000, self._changed)

    async def _synthesise(self, sentence: Sentence, voice: Speaking, epoch: int) -> None:
        """Fill the sentence's sound, whole frames at a time, as the voice makes it."""
        import numpy as np

        from keryx.voice.audio import MULAW_SILENCE, PCM16_SILENCE, Framer, Resampler, encode

        resampler = Resampler(voice.rate, self._format.rate)
        padding = MULAW_SILENCE if self._format.bytes_per_sample == 1 else PCM16_SILENCE
        framer = Framer(self._format.bytes_of(self._pacing.frame_ms), padding=padding)
        chunks = voice.speak(sentence.span.text, pace=sentence.utterance.pace)
        try:
            async for samples in chunks:
                if epoch != self._epoch:
                    return
                self._grow(sentence, framer.push(encode(resampler.push(samples), self._format)))
            tail = encode(resampler.push(np.zeros(0, np.float32), last=True), self._format)
            self._grow(sentence, [*framer.push(tail), *filter(None, [framer.flush()])])
        except Exception:
            # The edge of one sentence: news that no voice can say must not end every call that opens with it.
            log.warning("the voice failed; the sentence is only shown", exc_info=True)
            sentence.utterance.unsaid = True
        finally:
            await chunks.aclose()  # type: ignore[attr-defined]  # every voice is an async generator, which alone can be closed

    def _grow(self, sentence: Sentence, frames: list[bytes]) -> None:
        for frame in frames:
            sentence.payload += frame
            self._ledger.grow(sentence.span, len(frame))
        if frames:
            self._moved.set()

    # -- sending --------------------------------------------------------------------------------------------------

    async def _send(self) -> None:
        while True:
            self._moved.clear()
            now_s = self._clock.monotonic()
            if not self._held:
                self._send_due(now_s)
                self._show_begun(now_s)
            self._take_heard()
            if self._held or not self._track:
                await self._moved.wait()
            else:
                await happened_within(self._clock, self._pacing.step_ms / 1000, self._moved)

    def _send_due(self, now_s: float) -> None:
        frame_size = self._format.bytes_of(self._pacing.frame_ms)
        mark_size = self._format.bytes_of(self._pacing.mark_every_ms)
        for sentence in self._track:
            span = sentence.span
            while self._ledger.sent < span.end:
                if self._ledger.ahead_ms(now_s) >= self._pacing.ahead_ms:
                    return
                offset = self._ledger.sent - span.start
                frame = bytes(sentence.payload[offset : offset + frame_size])
                self._report_played(frame, now_s)
                self._ledger.send(len(frame), now_s)
                self._outbox.put(AudioOut(sentence.utterance.number, frame))
                self._since_mark += len(frame)
                if self._since_mark >= mark_size and self._ledger.sent < span.end:
                    self._mark(None)
            if not span.whole:
                return
            if span.end_mark is None:
                self._mark(span)

    def _mark(self, ending: Span | None) -> None:
        self._since_mark = 0
        # A sentence without sound never is ahead of the clock: its mark is given the whole grace from now.
        self._ran_dry_at_s = self._clock.monotonic()
        self._outbox.put(MarkOut(self._ledger.mark(ending)))

    def _report_played(self, frame: bytes, now_s: float) -> None:
        if self.echo is None:
            return
        from keryx.voice.audio import Resampler, decode

        self._to_echo = self._to_echo or Resampler(self._format.rate, HEARING_RATE)
        samples = self._to_echo.push(decode(frame, self._format))
        self.echo.played(samples, now_s * 1000 + self._ledger.ahead_ms(now_s))

    def _show_begun(self, now_s: float) -> None:
        """Show the sentences whose sound has begun by the clock; those further on are not words that were said yet."""
        reached = self._ledger.played(now_s)
        for sentence in self._track:
            span = sentence.span
            has_begun = self._ledger.sent > span.start or span.end_mark is not None
            if sentence.shown or not has_begun or reached < span.start:
                continue
            sentence.shown = True
            utterance = sentence.utterance
            utterance.shown = f"{utterance.shown} {span.text}".strip()
            self.last_text = utterance.shown
            self.recent.append(span.text)
            # When all of it has begun, it is shown as it was written, not as it is pronounced.
            text = redact(utterance.say.text) if span.closing else utterance.shown
            self._outbox.put(CaptionOut("keryx", text, final=span.closing, utterance=utterance.number))

    def _take_heard(self) -> None:
        now_s = self._clock.monotonic()
        heard = self._ledger.take_heard(now_s)
        lost = self._ledger.expire() if self._marks_are_lost(now_s) else []
        for _ in range(len(heard) + len(lost)):
            sentence = self._track.popleft()
            if not sentence.span.closing:
                continue
            if sentence.span in heard:
                self._report_heard(sentence.utterance)
            elif sentence.span.end_mark is not None:
                self._given_up[sentence.span.end_mark] = sentence.utterance
        if heard or lost:
            self._tell()

    def _report_heard(self, utterance: Utterance) -> None:
        if not utterance.unsaid:
            self._on_heard(utterance.say)

    def _marks_are_lost(self, now_s: float) -> bool:
        if self._held or not self._ledger.awaits_marks() or self._ledger.ahead_ms(now_s) > 0:
            self._ran_dry_at_s = now_s
            return False
        return (now_s - self._ran_dry_at_s) * 1000 >= self._pacing.mark_grace_ms

    # -- falling silent -------------------------------------------------------------------------------------------

    def _clear(self) -> None:
        self._take_heard()
        now_s = self._clock.monotonic()
        self._ledger.clear(now_s)
        if self.echo is not None:
            self.echo.stopped(now_s * 1000)
        self._since_mark = 0
        self._given_up.clear()  # a clear flushes marks, which then come back unheard
        self._outbox.put(ClearOut())

    def _close_captions(self) -> None:
        """What was shown of an utterance that ends here is its final text."""
        shown = {s.utterance.number: s.utterance for s in self._track if s.utterance.shown and not s.shown}
        for utterance in shown.values():
            self._outbox.put(CaptionOut("keryx", redact(utterance.shown), final=True, utterance=utterance.number))

    def _unlaid(self) -> list[Utterance]:
        making = [self._making] if self._making is not None else []
        return [u for u in making if not any(s.utterance is u for s in self._track)] + list(self._waiting)

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
