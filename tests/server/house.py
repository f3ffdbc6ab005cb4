"""A small house to serve: the real tasks, store and settings around a scripted agent and a scripted call."""

import asyncio
import contextlib
import math
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from keryx.agents.base import FakeAgentRunner, FakeTurn
from keryx.agents.registry import AgentRegistry
from keryx.clock import Clock, SystemClock
from keryx.config.settings import Settings
from keryx.security.tokens import StreamTokens
from keryx.server.daemon import DaemonServer
from keryx.server.http import create_app
from keryx.store.db import Database
from keryx.tasks.manager import Limits, TaskManager
from keryx.tasks.store import TaskStore
from keryx.voice.loading import SpeechLoading, SpeechParts
from keryx.voice.transports.base import Caller, LineClosed, MediaTransport

KEY = "page-key-for-tests"

Answer = Callable[[MediaTransport], Awaitable[None]]


async def say_nothing(transport: MediaTransport) -> None:
    """A call that listens until the caller hangs up."""
    with contextlib.suppress(LineClosed):
        while True:
            await transport.receive()


@dataclass
class House:
    """What the server may ask of a running daemon."""

    manager: TaskManager
    agents: list[FakeAgentRunner]
    settings: Settings
    loading: SpeechLoading
    stream_tokens: StreamTokens
    answer: Answer = say_nothing
    """What a call does."""
    page_key: str = KEY
    projects: Callable[[], Sequence[str]] = lambda: ("billing", "my website")
    version: str = "0.1.0"
    live: list[MediaTransport] = field(default_factory=list)
    callers: list[Caller] = field(default_factory=list)
    lines: list[MediaTransport] = field(default_factory=list)

    @property
    def agent(self) -> FakeAgentRunner:
        """The default one."""
        return self.agents[0]

    async def take_call(self, transport: MediaTransport, caller: Caller) -> None:
        self.callers.append(caller)
        self.lines.append(transport)
        self.live.append(transport)
        try:
            await self.answer(transport)
        finally:
            self.live.remove(transport)
            await transport.hang_up("goodbye")


@contextlib.asynccontextmanager
async def open_house(
    folder: Path,
    *turns: FakeTurn,
    agents: Sequence[str] = ("fake",),
    clock: Clock | None = None,
    daily_cap: int | None = None,
    **server: object,
) -> AsyncIterator[House]:
    """A house whose tasks are stored under `folder`; `server` are the settings of that section."""
    clock = clock or SystemClock()
    settings = Settings.model_validate({"server": server})
    database = await Database.open(folder / "keryx.db")
    agent = FakeAgentRunner(*turns, clock=clock, name=agents[0])
    others = {name: FakeAgentRunner(clock=clock, name=name) for name in agents[1:]}
    manager = TaskManager(
        TaskStore(database, clock),
        AgentRegistry({agent.name: agent, **others}, agent.name),
        clock=clock,
        limits=Limits(max_concurrent=3, daily_cap=daily_cap, timezone="Europe/Berlin"),
        reports=folder / "reports",
    )
    loading = SpeechLoading(folder, load=lambda report: cast(SpeechParts, None))
    await manager.start()
    try:
        yield House(manager, [agent, *others.values()], settings, loading, StreamTokens(clock))
    finally:
        await manager.stop()
        await database.close()


class _Server(DaemonServer):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(house: House, *, clock: Clock | None = None, port: int = 0) -> AsyncIterator[str]:
    """The house on a loopback port; the address it is reached at."""
    app = create_app(cast(Any, house), clock=clock)
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = _Server(app, host="127.0.0.1", port=port)
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listener]))
            try:
                yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            finally:
                server.should_exit = True


ENDLESS = FakeTurn(takes_s=math.inf)
