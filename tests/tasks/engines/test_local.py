"""The engine by itself: so many at once, woken and never polling, and one failure is nobody else's."""

import asyncio
from collections.abc import Collection

from keryx.clock import VirtualClock, settle
from keryx.errors import Unavailable
from keryx.tasks.engines.base import Cancel, Delivery, Signal, Steer
from keryx.tasks.engines.local import CLAIM_RETRY_S, LocalEngine
from keryx.tasks.models import Task, TaskStatus


class Run:
    """Works until it is let go; says what it was signalled."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.let_go = asyncio.Event()
        self.signals: list[Signal] = []
        self.cancelled = False
        self.stubborn = False
        self.error: Exception | None = None

    async def run(self) -> None:
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            if self.stubborn:
                await self.let_go.wait()
            raise
        if self.error is not None:
            raise self.error

    async def signal(self, signal: Signal) -> Delivery:
        self.signals.append(signal)
        return Delivery.ACKNOWLEDGED


class Worker:
    """A line of task numbers."""

    def __init__(self, *queued: int) -> None:
        self.queued = list(queued)
        self.runs: dict[int, Run] = {}
        self.asked = 0
        self.unavailable = False

    async def claim(self, busy: Collection[int]) -> Task | None:
        self.asked += 1
        if self.unavailable:
            raise Unavailable("locked")
        free = [number for number in self.queued if number not in busy]
        if not free:
            return None
        self.queued.remove(free[0])
        return Task(free[0], "", TaskStatus.RUNNING, "fake", VirtualClock().now())

    def begin(self, task: Task) -> Run:
        self.runs[task.id] = run = Run(task)
        return run


async def test_so_many_run_at_once_and_the_next_follows_when_one_ends(clock: VirtualClock) -> None:
    engine, worker = LocalEngine(clock), Worker(1, 2, 3)
    await engine.start(worker, slots=2)
    await settle()
    assert list(worker.runs) == [1, 2]
    worker.runs[1].let_go.set()
    await settle()
    assert list(worker.runs) == [1, 2, 3]
    await engine.stop()


async def test_it_looks_only_when_woken(clock: VirtualClock) -> None:
    engine, worker = LocalEngine(clock), Worker()
    await engine.start(worker, slots=1)
    await settle()
    asked = worker.asked
    await clock.advance(3600)
    assert worker.asked == asked
    worker.queued.append(1)
    engine.submit()
    await settle()
    assert list(worker.runs) == [1]
    await engine.stop()


async def test_a_run_that_breaks_off_leaves_the_others_alone(clock: VirtualClock) -> None:
    engine, worker = LocalEngine(clock), Worker(1, 2, 3)
    await engine.start(worker, slots=2)
    await settle()
    worker.runs[1].error = ValueError("a defect")
    worker.runs[1].let_go.set()
    await settle()
    assert list(worker.runs) == [1, 2, 3]
    assert not worker.runs[2].cancelled
    await engine.stop()


async def test_while_nothing_can_be_claimed_it_tries_again_later(clock: VirtualClock) -> None:
    engine, worker = LocalEngine(clock), Worker(1)
    worker.unavailable = True
    await engine.start(worker, slots=1)
    await settle()
    assert worker.runs == {}
    worker.unavailable = False
    await clock.advance(CLAIM_RETRY_S)
    assert list(worker.runs) == [1]
    await engine.stop()


async def test_signals_reach_the_run_and_nothing_else(clock: VirtualClock) -> None:
    engine, worker = LocalEngine(clock), Worker(1)
    await engine.start(worker, slots=1)
    await settle()
    assert await engine.signal(1, Steer(7, "more")) is Delivery.ACKNOWLEDGED
    assert await engine.signal(2, Cancel()) is Delivery.WAITING
    assert worker.runs[1].signals == [Steer(7, "more")]
    await engine.stop()
    assert await engine.signal(1, Cancel()) is Delivery.WAITING


async def test_stopping_cancels_the_runs_and_does_not_wait_for_ever(clock: VirtualClock) -> None:
    engine, worker = LocalEngine(clock, stop_grace_s=0.05), Worker(1, 2)
    await engine.start(worker, slots=2)
    await settle()
    worker.runs[2].stubborn = True
    async with asyncio.timeout(5):
        await engine.stop()
        await engine.stop()
    assert worker.runs[1].cancelled
    assert worker.runs[2].cancelled
    worker.runs[2].let_go.set()
    await settle()


async def test_a_task_whose_run_is_still_ending_is_not_claimed_again(clock: VirtualClock) -> None:
    engine, worker = LocalEngine(clock), Worker(1)
    await engine.start(worker, slots=2)
    await settle()
    first = worker.runs[1]
    worker.queued.append(1)
    engine.submit()
    await settle()
    assert worker.runs[1] is first
    first.let_go.set()
    await settle()
    assert worker.runs[1] is not first
    await engine.stop()
