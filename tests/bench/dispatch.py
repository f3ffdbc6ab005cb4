"""How long it takes from asking for a task to its agent being opened: `python -m tests.bench.dispatch`.

Each task is asked for on an idle daemon with a real database file, one after the other, as a caller does.
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from keryx.agents.base import FakeAgentRunner, FakeAgentSession
from keryx.agents.registry import AgentRegistry
from keryx.clock import SystemClock
from keryx.store.db import Database
from keryx.tasks.manager import Limits, TaskManager
from keryx.tasks.models import Task
from keryx.tasks.store import TaskStore

GOAL_P99_MS = 50.0


class _Stopwatch(FakeAgentRunner):
    """Notes when each conversation was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened_at = 0.0

    async def open(self, task: Task, *, resume: str | None = None) -> FakeAgentSession:
        self.opened_at = time.perf_counter()
        return await super().open(task, resume=resume)


def measure(n: int = 200) -> dict[str, float]:
    """Milliseconds: `p50_ms` and `p99_ms` from dispatch to the agent's opening, `stored_ms` until dispatch returns."""
    return asyncio.run(_measure(n))


async def _measure(n: int) -> dict[str, float]:
    opened_ms, stored_ms = [], []
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "keryx.db")
        agent, clock = _Stopwatch(), SystemClock()
        limits = Limits(max_concurrent=4, daily_cap=None, timezone="UTC")
        registry = AgentRegistry({"fake": agent}, "fake")
        manager = TaskManager(
            TaskStore(database, clock), registry, clock=clock, limits=limits, reports=Path(folder) / "reports"
        )
        await manager.start()
        for number in range(n):
            asked_at = time.perf_counter()
            task = await manager.dispatch(f"job {number}")
            stored_ms.append((time.perf_counter() - asked_at) * 1000)
            await manager.wait(task.id)
            opened_ms.append((agent.opened_at - asked_at) * 1000)
        await manager.stop()
        await database.close()
    cuts = statistics.quantiles(opened_ms, n=100, method="inclusive")
    return {"n": n, "p50_ms": cuts[49], "p99_ms": cuts[98], "stored_ms": statistics.median(stored_ms)}


if __name__ == "__main__":
    figures = measure()
    print(
        f"dispatch to agent opened over {figures['n']:.0f} tasks: "
        f"p50 {figures['p50_ms']:.1f} ms, p99 {figures['p99_ms']:.1f} ms (goal: p99 at most {GOAL_P99_MS:.0f} ms); "
        f"stored after {figures['stored_ms']:.1f} ms (median)"
    )
