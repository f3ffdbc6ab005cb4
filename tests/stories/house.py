"""A whole house under a virtual clock: real tasks, store, notifier, calls and dialogue; a scripted agent and ears."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from keryx.agents.base import FakeAgentRunner
from keryx.agents.registry import CLAUDE, CODEX, AgentRegistry
from keryx.clock import VirtualClock
from keryx.notify.notifier import Notifier
from keryx.store.db import Database, Work
from keryx.tasks.manager import Limits, TaskManager
from keryx.tasks.models import Task
from keryx.tasks.store import TaskStore
from keryx.voice.audio import encode
from keryx.voice.engines.manner import NewsDesk
from keryx.voice.hearing.fake import FakeActivity, FakeHearing
from keryx.voice.live import LiveCalls
from keryx.voice.loading import SpeechParts
from keryx.voice.reception import Host, Reception
from keryx.voice.speaking.fake import FakeSpeaking
from keryx.voice.tools.lookup import Lookup
from keryx.voice.transports.base import AudioIn, Caller, KeyIn, TextIn
from keryx.voice.transports.fake import PAGE_LIKE, PHONE_LIKE, FakeTransport
from keryx.workspace.features import Feature
from keryx.workspace.workspace import Workspace

T = TypeVar("T")

PIN = "427190"
PROJECTS = ("billing", "website", "parser")
FRAME_S = 0.02
LIMIT_S = 60.0
"""Nothing here takes longer on the virtual clock."""


class WatchedDatabase(Database):
    """Tells when its threads have nothing to do, so that virtual time can wait for them."""

    at_work = 0

    async def read(self, work: Work):
        with self._counted():
            return await super().read(work)

    async def write(self, work: Work, *, outlasts_power_cut: bool = True):
        with self._counted():
            return await super().write(work, outlasts_power_cut=outlasts_power_cut)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        self.at_work += 1
        try:
            yield
        finally:
            self.at_work -= 1


class WatchedLookup(Lookup):
    """Tells when Google is being asked, so that virtual time can wait for it, unless Google is slow in the story."""

    at_work = 0
    slow = False

    async def ask(self, feature: Feature, work: Callable[[Workspace], T]) -> T:
        if self.slow:
            return await super().ask(feature, work)
        self.at_work += 1
        try:
            return await super().ask(feature, work)
        finally:
            self.at_work -= 1


@dataclass
class Speech:
    """A `SpeechSource` that is ready from the start."""

    parts: SpeechParts | None

    async def changed(self) -> None:
        await asyncio.Event().wait()


@dataclass
class House:
    """What `opened` puts together, as `keryx.app` does. Every method that waits lets virtual time pass."""

    clock: VirtualClock
    agents: dict[str, FakeAgentRunner]
    database: WatchedDatabase
    manager: TaskManager
    notifier: Notifier
    live: LiveCalls
    reception: Reception
    ears: FakeHearing
    voice: FakeSpeaking
    calls: asyncio.TaskGroup
    lookup: "WatchedLookup | None" = None
    """Through which the owner's mail and calendar are asked."""

    @classmethod
    @contextlib.asynccontextmanager
    async def opened(
        cls, folder: Path, clock: VirtualClock, agents: Sequence[str] = ("fake",)
    ) -> "AsyncIterator[House]":
        """Open it on the data in `folder`; doing so again is a restart. The first of `agents` is the usual one."""
        database = await WatchedDatabase.open(folder / "keryx.db")
        runners = {name: FakeAgentRunner(clock=clock, name=name) for name in agents}
        registry = AgentRegistry(runners, agents[0], (CLAUDE, CODEX))
        limits = Limits(max_concurrent=2, daily_cap=None, timezone="UTC")
        manager = TaskManager(
            TaskStore(database, clock), registry, clock=clock, limits=limits, reports=folder / "reports"
        )
        ears, voice = FakeHearing(), FakeSpeaking()
        live = LiveCalls(clock=clock)
        notifier = Notifier(manager, live, clock=clock)
        live.on_heard = notifier.heard
        desk = NewsDesk(notifier.briefing, live.heard)
        speech = Speech(SpeechParts(ears, voice, FakeActivity))
        reception = Reception(manager, registry, speech, live, desk, clock=clock)
        await manager.start()
        try:
            async with asyncio.TaskGroup() as group:
                notifying = group.create_task(notifier.run())
                yield cls(clock, runners, database, manager, notifier, live, reception, ears, voice, group)
                notifying.cancel()
        finally:
            await manager.stop()
            await database.close()

    @contextlib.asynccontextmanager
    async def called(self, *, by: str = "page", marks: bool = True) -> "AsyncIterator[Visitor]":
        """Somebody calls: `by` page, which is proven, or by phone, which is not. Hung up at the block's end."""
        page = by == "page"
        line = FakeTransport(self.clock, PAGE_LIKE if page else PHONE_LIKE, answers_marks=marks)
        caller = Caller("page" if page else "phone", "owner", proven=page)
        host = Host(name="owner", pin=PIN, timezone="UTC", lookup=self.lookup)
        loudspeaker = self.calls.create_task(line.play_out())
        call = self.calls.create_task(self.reception.take(line, caller, host, lambda: PROJECTS))
        visitor = Visitor(self, line, call)
        try:
            await visitor.quiet(0.1)
            yield visitor
        finally:
            visitor.hang_up()
            await self.until(call.done)
            loudspeaker.cancel()

    @property
    def agent(self) -> FakeAgentRunner:
        """The usual one."""
        return next(iter(self.agents.values()))

    async def tasks(self) -> list[Task]:
        return await self.manager.list()

    async def passes(self, duration_s: float) -> None:
        """Let time pass; what the store and Google are asked for takes none of it."""
        for _ in range(round(duration_s / FRAME_S)):
            await self.clock.advance(FRAME_S)
            while self.database.at_work or (self.lookup and self.lookup.at_work):
                await asyncio.to_thread(lambda: None)

    async def until(self, condition: Callable[[], object]) -> None:
        """Let time pass until `condition()` holds."""
        ends_s = self.clock.monotonic() + LIMIT_S
        while not condition():
            assert self.clock.monotonic() < ends_s, f"not within {LIMIT_S} s; said: {self.voice.said}"
            await asyncio.to_thread(lambda: None)
            await self.passes(FRAME_S)


@dataclass
class Visitor:
    """Somebody on the line with a `House`."""

    house: House
    line: FakeTransport
    call: asyncio.Task[None]
    noise: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    async def say(self, text: str) -> None:
        """A whole turn: a second of speech in which these words are heard, then silence until it is over."""
        self.house.ears.script.append(text)
        await self._sound(1.0, 0.1)
        await self.quiet(0.5)

    async def type(self, text: str) -> None:
        self.line.send(TextIn(text))
        await self.quiet(0.1)

    async def press(self, digits: str) -> None:
        for digit in digits:
            self.line.send(KeyIn(digit))
            await self.quiet(0.06)

    async def quiet(self, duration_s: float) -> None:
        await self._sound(duration_s, 0.0005)

    async def hears(self, words: str) -> None:
        """Listen until the voice has begun to say something with these words in it."""
        await self.house.until(lambda: any(words in said for said in self.house.voice.said))

    async def until_quiet(self) -> None:
        """Listen until nothing has come out of the loudspeaker for a second."""
        before = -1
        while before != len(self.line.heard):
            before = len(self.line.heard)
            await self.quiet(1.0)

    def hang_up(self) -> None:
        self.line.close()

    async def _sound(self, duration_s: float, level: float) -> None:
        format = self.line.capabilities.incoming
        count = round(format.rate * FRAME_S)
        for _ in range(round(duration_s / FRAME_S)):
            samples = self.noise.normal(0, level, count).astype(np.float32)
            self.line.send(AudioIn(encode(samples, format)))
            await self.house.passes(FRAME_S)
