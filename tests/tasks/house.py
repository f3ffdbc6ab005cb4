"""The rooms below the task manager, put together for a test on a real SQLite file, and restarted at will."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from keryx.agents.base import FakeAgentRunner
from keryx.agents.registry import AgentRegistry
from keryx.clock import VirtualClock
from keryx.store.db import Database
from keryx.tasks.events import NewsArrived, TaskEvent
from keryx.tasks.manager import Limits, TaskManager
from keryx.tasks.models import News
from keryx.tasks.store import TaskStore


@dataclass
class House:
    """`async with house.opened():` opens it; doing so again is a restart on the same data."""

    folder: Path
    clock: VirtualClock
    agent: FakeAgentRunner
    limits: Limits = Limits(max_concurrent=2, daily_cap=None, timezone="UTC")
    write_budget_s: float = 30.0
    busy_timeout_s: float = 12.0
    others: dict[str, FakeAgentRunner] = field(default_factory=dict)
    owner: str = ""
    database: Database = field(init=False)
    store: TaskStore = field(init=False)
    manager: TaskManager = field(init=False)

    @property
    def file(self) -> Path:
        return self.folder / "keryx.db"

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[TaskManager]:
        self.database = await Database.open(
            self.file, busy_timeout_s=self.busy_timeout_s, write_budget_s=self.write_budget_s
        )
        try:
            self.store = TaskStore(self.database, self.clock)
            registry = AgentRegistry({self.agent.name: self.agent, **self.others}, self.agent.name)
            self.manager = TaskManager(
                self.store,
                registry,
                clock=self.clock,
                limits=self.limits,
                reports=self.folder / "reports",
                owner=self.owner,
            )
            await self.manager.start()
            try:
                yield self.manager
            finally:
                await self.manager.stop()
        finally:
            await self.database.close()


async def next_news(events: AsyncIterator[TaskEvent]) -> News:
    """The next news among `events`."""
    async for event in events:
        if isinstance(event, NewsArrived):
            return event.news
    raise AssertionError("the manager stopped")
