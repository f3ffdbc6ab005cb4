"""A whole call under a virtual clock: a scripted caller, a scripted dialogue, the real cascade and the real call."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from keryx.clock import VirtualClock
from keryx.security.pin import PinGate
from keryx.tasks.models import News, NewsKind
from keryx.voice.audio import encode
from keryx.voice.call import Call, Desk
from keryx.voice.dialogue.base import Say
from keryx.voice.engines.cascade import CascadeEngine
from keryx.voice.engines.manner import Manner, NewsDesk
from keryx.voice.hearing.fake import FakeActivity, FakeHearing
from keryx.voice.loading import SpeechParts
from keryx.voice.speaking.fake import FakeSpeaking
from keryx.voice.transports.base import AudioIn, Caller, Capabilities, TextIn
from keryx.voice.transports.fake import PAGE_LIKE, FakeTransport

CHUNK_MS = 20


def a_piece_of_news(news_id: int, text: str) -> News:
    return News(news_id, news_id, NewsKind.DONE, text, datetime(2026, 3, 2, tzinfo=UTC), "fake")


@dataclass
class ScriptedDialogue:
    """A `Dialogue` that says what the script has for each text and notes everything that is done to it."""

    clock: VirtualClock
    answers: dict[str, Sequence[str]] = field(default_factory=dict)
    slow_s: dict[str, float] = field(default_factory=dict)
    """How long the work before an answer takes; the text is in `effects` when it is done."""
    greeting: str = "Keryx."
    ended: bool = False
    pace: float = 1.0
    asked: list[str] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    interruptions: list[str] = field(default_factory=list)
    cues: int = 0
    idles: int = 0
    running: int = 0

    async def open(self, news: Sequence[News]) -> AsyncIterator[Say]:
        async for say in self._saying([self.greeting] if self.greeting else []):
            yield say
        for item in news:
            yield Say(item.text, item.id)

    async def respond(self, text: str) -> AsyncIterator[Say]:
        self.asked.append(text)
        if text in self.slow_s:
            await self.clock.sleep(self.slow_s[text])
        self.effects.append(text)
        if "goodbye" in text.lower():
            self.ended = True
        async for say in self._saying(self.answers.get(text, [f"You said {text}"])):
            yield say

    async def key(self, digit: str) -> AsyncIterator[Say]:
        self.keys.append(digit)
        async for say in self._saying(self.answers.get(digit, [])):
            yield say

    async def announce(self, news: Sequence[News]) -> AsyncIterator[Say]:
        for item in news:
            yield Say(item.text, item.id)

    def cue(self) -> Say:
        self.cues += 1
        return Say(f"One moment {self.cues}.")

    async def idle(self) -> AsyncIterator[Say]:
        self.idles += 1
        self.ended = self.idles > 1
        yield Say("Goodbye." if self.ended else "Still there?")

    def interrupted(self, unheard: str) -> None:
        self.interruptions.append(unheard)

    def vocabulary(self) -> Sequence[str]:
        return ("billing",)

    async def _saying(self, texts: Sequence[str]) -> AsyncIterator[Say]:
        self.running += 1
        assert self.running == 1, "two answers were made at a time"
        try:
            for text in texts:
                yield Say(text)
        finally:
            self.running -= 1


@dataclass
class Speech:
    """A `SpeechSource` whose parts may come late."""

    parts: SpeechParts | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def changed(self) -> None:
        await self._changed.wait()

    def become_ready(self, parts: SpeechParts) -> None:
        self.parts = parts
        self._changed.set()


class Conversation:
    """One call being held; every method lets time pass."""

    def __init__(
        self,
        clock: VirtualClock,
        *,
        hears: Iterable[str] = (),
        news: Sequence[News] = (),
        capabilities: Capabilities = PAGE_LIKE,
        typing_only: bool = False,
        manner: Manner | None = None,
        parts: SpeechParts | None = None,
        dialogue: ScriptedDialogue | None = None,
    ) -> None:
        """`parts` takes the place of ears that hear the texts of `hears` and of a voice that only hums."""
        self.clock = clock
        self.line = FakeTransport(clock, capabilities)
        self.dialogue = dialogue or ScriptedDialogue(clock)
        self.hearing = FakeHearing(hears)
        self.voice = FakeSpeaking()
        self.parts = parts or SpeechParts(self.hearing, self.voice, FakeActivity)
        self.speech = Speech(None if typing_only else self.parts)
        self.told: list[int] = []
        self.briefing: Callable = self._briefing
        self._news = news
        self._rng = np.random.default_rng(1)

        async def brief() -> Sequence[News]:
            return await self.briefing()

        self.desk = Desk(Caller("page", "owner", proven=True), PinGate("1234"))
        self.engine = CascadeEngine(
            capabilities,
            self.dialogue,
            self.speech,
            NewsDesk(brief, self.told.append),
            clock=clock,
            manner=manner,
        )
        self.call = Call(self.line, self.engine, self.desk)
        self.over = asyncio.Event()

    async def _briefing(self) -> Sequence[News]:
        return self._news

    @contextlib.asynccontextmanager
    async def held(self) -> "AsyncIterator[Conversation]":
        async with asyncio.TaskGroup() as group:
            loudspeaker = group.create_task(self.line.play_out())
            call = group.create_task(self._run())
            await self.clock.advance(0)
            yield self
            if not self.over.is_set():
                self.line.close()
                await self.clock.advance(3)
            assert self.over.is_set(), "the call did not end"
            call.cancel()
            loudspeaker.cancel()

    async def _run(self) -> None:
        await self.call.run()
        self.over.set()

    async def quiet(self, duration_s: float) -> None:
        """The caller says nothing for so long."""
        await self._sound(duration_s, 0.0005)

    async def speak(self, duration_s: float) -> None:
        """The caller makes a sound loud enough to be speech for so long."""
        await self._sound(duration_s, 0.1)

    async def play(self, samples: np.ndarray) -> None:
        """The caller's side brings this sound (at the line's rate)."""
        format = self.line.capabilities.incoming
        count = format.rate * CHUNK_MS // 1000
        for start in range(0, len(samples) - count + 1, count):
            self.line.send(AudioIn(encode(samples[start : start + count], format)))
            await self.clock.advance(CHUNK_MS / 1000)

    async def say(self, duration_s: float = 1.0) -> None:
        """A whole turn: speech, then silence until it is over."""
        await self.speak(duration_s)
        await self.quiet(0.5)

    async def type(self, text: str) -> None:
        self.line.send(TextIn(text))
        await self.clock.advance(0.02)

    async def no_frames(self, duration_s: float) -> None:
        """The line brings nothing at all."""
        await self.clock.advance(duration_s)

    async def _sound(self, duration_s: float, level: float) -> None:
        format = self.line.capabilities.incoming
        count = format.rate * CHUNK_MS // 1000
        for _ in range(round(duration_s * 1000 / CHUNK_MS)):
            samples = self._rng.normal(0, level, count).astype(np.float32)
            self.line.send(AudioIn(encode(samples, format)))
            await self.clock.advance(CHUNK_MS / 1000)

    @property
    def ear_ms(self) -> float:
        """How much sound has come out of the caller's loudspeaker."""
        return self.line.capabilities.outgoing.ms_of(len(self.line.heard))
