"""Listening: the line's sound in; "began to speak", partial words and whole stretches with their transcripts out."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, assert_never

from keryx.clock import Clock
from keryx.voice.hearing.base import HEARING_RATE, VAD_FRAME, Hearing, Transcript, VoiceActivity
from keryx.voice.transports.base import AudioFormat
from keryx.voice.turns import (
    Dismissed,
    Ended,
    Frame,
    LineSilent,
    Split,
    Started,
    Timing,
    Transcribe,
    Transcribed,
    TurnAction,
    Turns,
    WentOn,
    step,
)

if TYPE_CHECKING:
    import numpy as np

log = logging.getLogger(__name__)

PRE_ROLL_FRAMES = 12
"""Kept from before the onset (384 ms): a soft first sound comes before the detector is sure."""
LINE_SILENT_AFTER_MS = 500
"""No sound at all for so long is silence left out by the carrier, not a stumble of the network."""
NOT_UNDERSTOOD = Transcript("", no_speech=0.0, confidence=0.0)


@dataclass(frozen=True)
class CallerBegan:
    """Somebody speaks."""


@dataclass(frozen=True)
class CallerPartial:
    """What was understood so far of a stretch that may go on."""

    transcript: Transcript


@dataclass(frozen=True)
class CallerSpoke:
    """A stretch has ended."""

    transcript: Transcript
    ended: Ended


@dataclass(frozen=True)
class CallerWasNot:
    """What began was no speech."""


Heard = CallerBegan | CallerPartial | CallerSpoke | CallerWasNot


class Echo(Protocol):
    """Whether a frame, heard from `at_ms` on, is Keryx's own voice coming back; wants every frame in order."""

    def is_echo(self, frame: "np.ndarray", at_ms: float) -> bool: ...


@dataclass(frozen=True)
class _Request:
    attempt: int
    """0: a part split off, wanted in any case."""
    samples: "np.ndarray"


class Ears:
    """One call's listening. `take` and `tick` return at once; `run` transcribes."""

    def __init__(
        self,
        format: AudioFormat,
        hearing: Hearing,
        activity: VoiceActivity,
        sink: Callable[[Heard], None],
        *,
        clock: Clock,
        timing: Timing | None = None,
    ) -> None:
        """Reports to `sink`, which must not wait."""
        from keryx.voice.audio import Decoder, Resampler, SampleFramer

        self.vocabulary: Callable[[], Sequence[str]] = lambda: ()
        self.echo: Echo | None = None
        self._hearing = hearing
        self._activity = activity
        self._sink = sink
        self._clock = clock
        self._timing = timing or Timing()
        self._decoder = Decoder(format)
        self._resampler = Resampler(format.rate, HEARING_RATE)
        self._framer = SampleFramer(VAD_FRAME)
        self._turns = Turns()
        self._pre_roll: deque[np.ndarray] = deque(maxlen=PRE_ROLL_FRAMES)
        self._stretch: list[np.ndarray] = []
        self._parts: list[Transcript] = []
        self._newest = NOT_UNDERSTOOD
        self._ended: Ended | None = None
        self._requests: deque[_Request] = deque()
        self._speculation: asyncio.Task[Transcript] | None = None
        """What is being transcribed in case the stretch ends here."""
        self._requested = asyncio.Event()
        self._pending_parts = 0
        self._last_sound_s = self._counted_s = clock.monotonic()
        self._line_lost = False

    @property
    def hears_speech(self) -> bool:
        """The caller is speaking, or what they said is still being worked out."""
        return self._turns.speaking or self._ended is not None

    def take(self, payload: bytes) -> None:
        """Some of the caller's sound, any size."""
        now_s = self._clock.monotonic()
        self._last_sound_s = self._counted_s = now_s
        frames = self._framer.push(self._resampler.push(self._decoder.push(payload)))
        frame_ms = self._timing.frame_ms
        for index, frame in enumerate(frames):
            probability = self._activity.probability(frame)
            if self.echo is not None and self.echo.is_echo(frame, now_s * 1000 - (len(frames) - index) * frame_ms):
                probability = 0.0
            if self._turns.speaking:
                self._stretch.append(frame)
            else:
                self._pre_roll.append(frame)
            self._step(Frame(probability))

    def tick(self) -> None:
        """Call now and then: a line that brings nothing at all is a silent one."""
        now_s = self._clock.monotonic()
        if self._line_lost:
            return
        if self._turns.speaking and (now_s - self._last_sound_s) * 1000 > LINE_SILENT_AFTER_MS:
            # Counted in full, so that the turn ends about as soon after its last word as on other lines.
            missing_ms = int((now_s - self._counted_s) * 1000)
            self._counted_s = now_s
            self._step(LineSilent(missing_ms))

    def line_lost(self) -> None:
        """No more sound will come: words that had come to an end are worked out, others dropped."""
        self._line_lost = True
        if self._turns.speaking and self._turns.asked:
            self._step(LineSilent(max(0, self._timing.end_ms - self._turns.silence_ms)))
        if not self._turns.asked or self._turns.text is not None:
            self._drop_unfinished()

    def _drop_unfinished(self) -> None:
        if self._turns.speaking:
            self._turns = Turns(attempt=self._turns.attempt)
            self._stretch = []

    async def run(self) -> None:
        """Transcribe what is asked for, newest need first in line, until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                while not self._requests:
                    self._requested.clear()
                    await self._requested.wait()
                request = self._requests.popleft()
                if request.attempt and request.attempt != self._turns.attempt:
                    continue
                work = group.create_task(self._transcribe(request.samples))
                self._speculation = work if request.attempt else None
                await asyncio.wait([work])
                if work.cancelled():
                    continue
                if request.attempt:
                    self._transcribed(request.attempt, work.result())
                else:
                    self._parts.append(work.result())
                    self._pending_parts -= 1
                    self._finish()

    async def _transcribe(self, samples: "np.ndarray") -> Transcript:
        try:
            return await self._hearing.transcribe(samples, vocabulary=self.vocabulary())
        except Exception:
            # The edge of one stretch: the caller is asked again, and the call goes on.
            log.warning("hearing failed on a stretch", exc_info=True)
            return NOT_UNDERSTOOD

    def _transcribed(self, attempt: int, transcript: Transcript) -> None:
        if not self._turns.asked or attempt != self._turns.attempt:
            return
        self._newest = transcript
        self._step(Transcribed(attempt, transcript.text))
        if self._line_lost:
            self._drop_unfinished()
        if self._turns.speaking:
            self._sink(CallerPartial(_joined([*self._parts, transcript])))

    def _step(self, event: Frame | LineSilent | Transcribed) -> None:
        self._turns, actions = step(self._turns, event, self._timing)
        for action in actions:
            self._do(action)

    def _do(self, action: TurnAction) -> None:
        match action:
            case Started():
                self._stretch = list(self._pre_roll)
                self._pre_roll.clear()
                self._newest = NOT_UNDERSTOOD
                self._sink(CallerBegan())
            case Transcribe(attempt):
                self._request(attempt)
            case WentOn():
                self._newest = NOT_UNDERSTOOD
                if self._speculation is not None:
                    # The next one is wanted sooner than this one would end.
                    self._speculation.cancel()
            case Split():
                self._pending_parts += 1
                self._request(0)
                self._stretch = []
                self._newest = Transcript("", no_speech=1.0, confidence=0.0)
            case Ended():
                self._ended = action
                self._stretch = []
                self._finish()
            case Dismissed():
                self._stretch = []
                self._sink(CallerWasNot())
            case _:
                assert_never(action)

    def _request(self, attempt: int) -> None:
        import numpy as np

        # A newer attempt makes an older one that still waits worthless; the parts split off are wanted in any case.
        self._requests = deque(waiting for waiting in self._requests if not waiting.attempt)
        self._requests.append(_Request(attempt, np.concatenate(self._stretch)))
        self._requested.set()

    def _finish(self) -> None:
        """Report the stretch once its end and all its parts are there."""
        if self._ended is None or self._pending_parts:
            return
        ended, self._ended = self._ended, None
        transcript = _joined([*self._parts, self._newest])
        self._parts = []
        self._sink(CallerSpoke(transcript, ended))


def _joined(parts: Sequence[Transcript]) -> Transcript:
    """The parts of one long stretch as one."""
    told = [part for part in parts if part.text.strip()]
    if not told:
        return parts[-1]
    return Transcript(
        " ".join(part.text.strip() for part in told),
        min(part.no_speech for part in told),
        min(part.confidence for part in told),
    )
