"""What every agent keeps to, whatever is behind it. A new kind of agent joins by one more factory in `BENCHES`.

The real ones run here: their own programs, offline, each before a scripted model. One that is not installed is skipped.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from keryx.agents.base import (
    FRESH_START,
    MAX_SUMMARY_CHARS,
    AgentRunner,
    AgentSession,
    FakeAgentRunner,
    FakeTurn,
    RunResult,
    SteerUnavailable,
)
from keryx.agents.demo.runner import DemoAgentRunner, prepare_demo_projects
from keryx.tasks.models import Task, TaskStatus
from tests.agents.benches import REAL, RealFactory
from tests.support.model_steps import Run

BOUND_S = 30.0
STOP_BOUND_S = 5.0
SLEEP_S = "613"
"""An odd number, so that it is found again among all processes."""


@dataclass(frozen=True)
class Bench:
    """One agent to try: `quick` is a task it ends at once; `slow` one it tells of, and then is at for long."""

    runner: AgentRunner
    quick: Task
    slow: Task
    slowly: Callable[[], None] = lambda: None
    """Called before a slow turn."""
    busy: Callable[[], bool] = lambda: True
    """Whether the slow turn has got to what takes so long."""


Factory = Callable[[Path], AbstractAsyncContextManager[Bench]]

TASK = Task(7, "run the tests", TaskStatus.RUNNING, "fake", datetime(2026, 3, 2, tzinfo=UTC))


@asynccontextmanager
async def fake(tmp_path: Path) -> AsyncIterator[Bench]:
    slow = FakeTurn(takes_s=math.inf, progress=("Working",), when="slowly")
    runner = FakeAgentRunner(slow, slow, slow)
    yield Bench(runner, replace(TASK, project="parser"), replace(TASK, description="run the tests slowly"))


@asynccontextmanager
async def demo(tmp_path: Path) -> AsyncIterator[Bench]:
    prepare_demo_projects(tmp_path)
    waits = "import subprocess, unittest\nclass Slow(unittest.TestCase):\n    def test_it(self):\n"
    waits += f"        subprocess.run(['sleep', '{SLEEP_S}'])\n"
    (tmp_path / "website" / "tests" / "test_slow.py").write_text(waits)
    runner = DemoAgentRunner(tmp_path, pace_s=0)
    yield Bench(runner, replace(TASK, project="parser"), replace(TASK, project="website"), busy=_sleeping)


def _before_a_model(factory: RealFactory) -> Factory:
    """The bench of a real agent, whose model is scripted."""

    @asynccontextmanager
    async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
        async with factory(tmp_path) as real:

            def slowly() -> None:
                real.server.script(Run(f"sleep {SLEEP_S}", say="This takes a while."))

            yield Bench(real.runner, real.task(), real.task(), slowly, _sleeping)

    bench.__name__ = factory.__name__
    return bench


def _sleeping() -> bool:
    return any(SLEEP_S in _command(child) for child in psutil.Process().children(recursive=True))


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return process.cmdline()
    return []


BENCHES: list[Factory] = [fake, demo, *(_before_a_model(factory) for factory in REAL)]


@pytest.fixture(params=BENCHES, ids=lambda factory: factory.__name__)
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    async with request.param(tmp_path) as bench:
        yield bench


@pytest.fixture(autouse=True)
def nothing_left_running(bench: Bench) -> Iterator[None]:
    before = set(psutil.Process().children(recursive=True))
    yield
    left = [child for child in psutil.Process().children(recursive=True) if child not in before]
    assert not [child for child in psutil.wait_procs(left, timeout=2)[1] if child.status() != psutil.STATUS_ZOMBIE]


async def nobody(line: str) -> None:
    pass


@dataclass
class Running:
    """A turn that is under way."""

    session: AgentSession
    turn: asyncio.Task[RunResult]


async def under_way(bench: Bench, group: asyncio.TaskGroup) -> Running:
    """A slow turn that has told of itself."""
    told = asyncio.Event()

    async def listen(line: str) -> None:
        told.set()

    bench.slowly()
    session = await bench.runner.open(bench.slow)
    turn = group.create_task(session.run(bench.slow.description, on_progress=listen))
    async with asyncio.timeout(BOUND_S):
        await told.wait()
        while not bench.busy():
            await asyncio.wait({turn}, timeout=0.02)
    return Running(session, turn)


async def ask(session: AgentSession, prompt: str = TASK.description) -> RunResult:
    async with asyncio.timeout(BOUND_S):
        return await session.run(prompt, on_progress=nobody)


def assert_sound(result: RunResult) -> None:
    assert 0 < len(result.spoken_summary) <= MAX_SUMMARY_CHARS
    assert result.spoken_summary == " ".join(result.spoken_summary.split())
    assert (result.error is None) is result.ok
    if result.usage is not None:
        assert 0 <= result.usage.cached_input_tokens <= result.usage.input_tokens


async def test_a_turn_ends_with_something_to_say(bench: Bench):
    session = await bench.runner.open(bench.quick)
    result = await ask(session)
    assert result.ok
    assert result.session_id
    assert_sound(result)
    await session.close()


async def test_the_conversation_keeps_its_id_and_another_one_has_its_own(bench: Bench):
    one, other = await bench.runner.open(bench.quick), await bench.runner.open(bench.quick)
    first, second, elsewhere = await ask(one), await ask(one, "and again"), await ask(other)
    assert first.session_id == second.session_id != elsewhere.session_id
    await one.close()
    await other.close()


async def test_progress_is_told_in_single_plain_lines(bench: Bench):
    lines: list[str] = []

    async def listen(line: str) -> None:
        lines.append(line)

    session = await bench.runner.open(bench.quick)
    await session.run(TASK.description, on_progress=listen)
    assert all(line and line == " ".join(line.split()) for line in lines)
    await session.close()


async def test_a_listener_that_fails_does_not_end_the_turn(bench: Bench):
    async def broken(line: str) -> None:
        raise RuntimeError("the store is full")

    session = await bench.runner.open(bench.quick)
    async with asyncio.timeout(BOUND_S):
        assert (await session.run(TASK.description, on_progress=broken)).ok
    await session.close()


@pytest.mark.parametrize(
    "prompt", ["", " \n", "\0\ud800", "x" * 1_000_000, "fix " * 250_000], ids=lambda p: repr(p[:4])
)
async def test_no_prompt_makes_it_raise(bench: Bench, prompt: str):
    session = await bench.runner.open(bench.quick)
    assert_sound(await ask(session, prompt))
    await session.close()


async def test_an_interrupt_ends_the_turn_soon_and_the_conversation_goes_on(bench: Bench):
    session_ids = []
    async with asyncio.TaskGroup() as group:
        running = await under_way(bench, group)
        async with asyncio.timeout(STOP_BOUND_S):
            await running.session.interrupt()
            result = await running.turn
    assert not result.ok
    assert_sound(result)
    session_ids.append(result.session_id)
    bench.slowly()
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(running.session.run(bench.slow.description, on_progress=nobody))
        async with asyncio.timeout(STOP_BOUND_S):
            while not turn.done():
                await running.session.interrupt()
                await asyncio.wait({turn}, timeout=0.05)
    assert not turn.result().ok
    assert turn.result().session_id == session_ids[0]
    await running.session.close()


async def test_an_interrupt_between_turns_does_nothing(bench: Bench):
    session = await bench.runner.open(bench.quick)
    await session.interrupt()
    assert (await ask(session)).ok
    await session.interrupt()
    assert (await ask(session)).ok
    await session.close()


async def test_closing_twice_is_harmless_and_a_closed_conversation_runs_nothing(bench: Bench):
    session = await bench.runner.open(bench.quick)
    await ask(session)
    await session.close()
    await session.close()
    await session.interrupt()
    result = await ask(session)
    assert not result.ok
    assert_sound(result)


async def test_closing_ends_the_running_turn_and_all_it_started(bench: Bench):
    async with asyncio.TaskGroup() as group:
        running = await under_way(bench, group)
        async with asyncio.timeout(STOP_BOUND_S):
            await running.session.close()
            assert not (await running.turn).ok


async def test_one_turn_at_a_time(bench: Bench):
    async with asyncio.TaskGroup() as group:
        running = await under_way(bench, group)
        second = await ask(running.session, "and this at once")
        assert not second.ok
        assert_sound(second)
        assert not running.turn.done()
        await running.session.close()


async def test_between_turns_a_steer_is_refused(bench: Bench):
    session = await bench.runner.open(bench.quick)
    with pytest.raises(SteerUnavailable):
        await session.send("also handle leap years")
    await ask(session)
    with pytest.raises(SteerUnavailable):
        await session.send("also handle leap years")
    await session.close()
    with pytest.raises(SteerUnavailable):
        await session.send("also handle leap years")


async def test_a_steer_into_a_running_turn_is_acknowledged_or_refused(bench: Bench):
    async with asyncio.TaskGroup() as group:
        running = await under_way(bench, group)
        with suppress(SteerUnavailable):
            async with asyncio.timeout(BOUND_S):
                await running.session.send("also handle leap years")
        assert not running.turn.done()
        await running.session.close()


async def test_a_cancellation_is_not_swallowed_and_leaves_nothing_running(bench: Bench):
    async with asyncio.TaskGroup() as group:
        running = await under_way(bench, group)
        running.turn.cancel()
        await asyncio.wait({running.turn}, timeout=STOP_BOUND_S)
        assert running.turn.cancelled()
    async with asyncio.timeout(STOP_BOUND_S):
        await running.session.close()


async def test_a_conversation_is_taken_up_again_by_its_id(bench: Bench):
    session = await bench.runner.open(bench.quick)
    before = await ask(session)
    await session.close()
    resumed = await bench.runner.open(bench.quick, resume=before.session_id)
    after = await ask(resumed, "and again")
    assert after.ok
    assert after.session_id == before.session_id
    assert FRESH_START not in after.spoken_summary
    await resumed.close()


@pytest.mark.parametrize("gone", ["gone", "../../etc", "", "\0", "x" * 10_000], ids=lambda gone: repr(gone[:6]))
async def test_a_conversation_that_is_gone_starts_afresh_and_says_so(bench: Bench, gone: str):
    session = await bench.runner.open(bench.quick, resume=gone)
    first, second = await ask(session), await ask(session)
    assert first.ok
    assert first.session_id
    assert first.session_id != gone
    assert first.spoken_summary.startswith(FRESH_START)
    assert FRESH_START not in second.spoken_summary
    await session.close()
