"""A call in this process with the real speech parts at real-time pace, for the talk benches."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from keryx.clock import SystemClock
from keryx.security.pin import PinGate
from keryx.tasks.models import News
from keryx.voice.call import Call, Desk
from keryx.voice.dialogue.base import Say
from keryx.voice.engines.cascade import CascadeEngine
from keryx.voice.engines.manner import NewsDesk
from keryx.voice.loading import SpeechParts
from keryx.voice.transports.base import AudioIn, Caller, Capabilities, Encoding
from keryx.voice.transports.fake import PAGE_LIKE, PHONE_LIKE, FakeTransport
from tests.support.talker import read_wav, speech_span_s

FIXTURES = Path(__file__).parent.parent / "fixtures" / "speech"
FRAME_MS = 20
MULAW_SILENCE = b"\xff"
ANSWER = "Okay, starting that now in the billing project. I will call you back when it is done."


def spoken_requests() -> list[str]:
    """Names of the recordings, without their endings."""
    return sorted(path.name.removesuffix("_16k.wav") for path in FIXTURES.glob("*_16k.wav"))


def recording(name: str, capabilities: Capabilities) -> bytes:
    """A recording in the line's incoming format."""
    if capabilities.incoming.encoding is Encoding.MULAW:
        return (FIXTURES / f"{name}_8k.ul").read_bytes()
    samples = read_wav(FIXTURES / f"{name}_16k.wav")
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def speech_of(name: str) -> tuple[float, float]:
    """When the speech in a recording begins and ends, in seconds, measured on the clean 16 kHz file."""
    return speech_span_s(read_wav(FIXTURES / f"{name}_16k.wav"))


@dataclass
class InstantDialogue:
    """A dialogue that costs no time: it gives one answer to everything."""

    answer: str = ANSWER
    greeting: str = "Keryx."
    ended: bool = False
    pace: float = 1.0
    asked: list[str] = field(default_factory=list)
    interruptions: list[str] = field(default_factory=list)

    async def open(self, news: Sequence[News]) -> AsyncIterator[Say]:
        yield Say(self.greeting)

    async def respond(self, text: str) -> AsyncIterator[Say]:
        self.asked.append(text)
        yield Say(self.answer)

    async def key(self, digit: str) -> AsyncIterator[Say]:
        yield Say(digit)

    async def announce(self, news: Sequence[News]) -> AsyncIterator[Say]:
        for item in news:
            yield Say(item.text, item.id)

    async def idle(self) -> AsyncIterator[Say]:
        yield Say("Still there?")

    def cue(self) -> Say:
        return Say("One moment.")

    def interrupted(self, unheard: str) -> None:
        self.interruptions.append(unheard)

    def vocabulary(self) -> Sequence[str]:
        return ("billing", "codex", "Claude", "parser", "invoice")


@dataclass
class Line:
    """One open call of a bench."""

    transport: FakeTransport
    engine: CascadeEngine
    dialogue: InstantDialogue
    told: list[int]
    _noise: np.random.Generator

    async def quiet(self, duration_s: float) -> None:
        """The caller says nothing: a quiet room, or the line's own noise."""
        rate = self.transport.capabilities.incoming.rate
        count = rate * FRAME_MS // 1000
        await self.send(b"".join(self._room(count) for _ in range(round(duration_s * 1000 / FRAME_MS))))

    async def send(self, payload: bytes) -> float:
        """Send sound in 20 ms frames at real-time pace; returns when the first of it began, on `time.monotonic`."""
        size = self.transport.capabilities.incoming.bytes_of(FRAME_MS)
        began_s = time.monotonic()
        for index, at in enumerate(range(0, len(payload), size)):
            # A frame leaves the caller's side when its last sample was spoken.
            await asyncio.sleep(began_s + (index + 1) * FRAME_MS / 1000 - time.monotonic())
            self.transport.send(AudioIn(payload[at : at + size]))
        return began_s

    async def until(self, condition: Callable[[], object], *, timeout_s: float = 15.0) -> None:
        """Keep the line quiet until something is so."""
        until_s = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > until_s:
                raise TimeoutError(f"asked {self.dialogue.asked}, said {self.transport.said()}")
            await self.quiet(0.06)

    async def until_quiet(self) -> None:
        """Until Keryx has nothing more to say."""
        await self.until(lambda: self.transport.states[-1:] == ["listening"])

    def _room(self, count: int) -> bytes:
        from keryx.voice.audio import encode

        level = 0.002 if self.transport.capabilities.incoming.encoding is Encoding.MULAW else 0.0003
        samples = self._noise.normal(0, level, count).astype(np.float32)
        return encode(samples, self.transport.capabilities.incoming)


@contextlib.asynccontextmanager
async def open_line(
    parts: SpeechParts, capabilities: Capabilities = PAGE_LIKE, *, dialogue: InstantDialogue | None = None
) -> AsyncIterator[Line]:
    """A call that has greeted and listens."""

    class Ready:
        def __init__(self) -> None:
            self.parts: SpeechParts | None = parts

        async def changed(self) -> None:
            await asyncio.Event().wait()

    async def briefing() -> Sequence[News]:
        return ()

    dialogue = dialogue or InstantDialogue()
    transport = FakeTransport(SystemClock(), capabilities)
    told: list[int] = []
    engine = CascadeEngine(capabilities, dialogue, Ready(), NewsDesk(briefing, told.append), clock=SystemClock())
    call = Call(transport, engine, Desk(Caller("page", "owner", proven=True), PinGate(None)))
    line = Line(transport, engine, dialogue, told, np.random.default_rng(3))
    async with asyncio.TaskGroup() as group:
        loudspeaker = group.create_task(transport.play_out())
        running = group.create_task(call.run())
        await line.quiet(0.2)
        await line.until_quiet()
        yield line
        transport.close()
        await running
        loudspeaker.cancel()


LINES = {"16 kHz": PAGE_LIKE, "8 kHz mu-law": PHONE_LIKE}


async def load_parts(cache: Path) -> SpeechParts:
    """The real speech parts, or an error that says why there are none."""
    from keryx.voice.loading import SpeechLoading

    loading = SpeechLoading(cache)
    await loading.load()
    if loading.parts is None:
        raise SystemExit(loading.message)
    return loading.parts
