"""What tools stand on in tests: a call's control, and tasks on a real store with scripted agents."""

import asyncio
import functools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from keryx.agents.base import FakeAgentRunner
from keryx.agents.registry import CLAUDE, CODEX, AgentRegistry
from keryx.clock import VirtualClock
from keryx.security.pin import PinGate, PinOutcome
from keryx.store.db import Database
from keryx.tasks.manager import Limits, TaskManager
from keryx.tasks.models import Task
from keryx.tasks.store import TaskStore


@dataclass
class Desk:
    """`keryx.voice.tools.base.CallControl` without a call."""

    call_id: str = "call-1"
    proven: bool = True
    gate: PinGate = field(default_factory=lambda: PinGate("427190"))
    over: bool = False

    def submit_pin(self, pin: str) -> PinOutcome:
        outcome = self.gate.check(pin)
        if outcome is PinOutcome.ACCEPTED:
            self.proven = True
        elif outcome is PinOutcome.LOCKED:
            self.end()
        return outcome

    def end(self) -> None:
        self.over = True


@dataclass
class Works:
    """Tasks on a real store; the agents, the first of them the usual one, do what they are scripted to."""

    manager: TaskManager
    registry: AgentRegistry
    database: Database
    agents: dict[str, FakeAgentRunner]
    clock: VirtualClock

    @property
    def agent(self) -> FakeAgentRunner:
        """The usual one."""
        return self.agents[self.registry.default]

    async def done(self, task_id: int) -> Task:
        """The task once it has ended."""
        return await self.manager.wait(task_id)


@asynccontextmanager
async def works(
    folder: Path, clock: VirtualClock, limits: Limits, names: Sequence[str] = ("fake", "claude")
) -> AsyncIterator[Works]:
    """Open a store in `folder`, with nothing in it, and a manager at work on it."""
    (folder / "keryx.db").write_bytes(await asyncio.to_thread(empty_store))
    agents = {name: FakeAgentRunner(clock=clock, name=name) for name in names}
    registry = AgentRegistry(agents, names[0], (CLAUDE, CODEX))
    database = await Database.open(folder / "keryx.db")
    try:
        store = TaskStore(database, clock)
        manager = TaskManager(store, registry, clock=clock, limits=limits, reports=folder / "reports")
        await manager.start()
        try:
            yield Works(manager, registry, database, agents, clock)
        finally:
            await manager.stop()
    finally:
        await database.close()


@functools.cache
def empty_store() -> bytes:
    """A migrated database without tasks, made once: migrating takes longer than most tests."""

    async def make() -> None:
        await (await Database.open(file)).close()

    file = Path(mkdtemp()) / "keryx.db"
    asyncio.run(make())
    return file.read_bytes()
