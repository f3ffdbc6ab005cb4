"""How soon the real agents get to work, and what they cost us: `python -m tests.bench.agents`.

The real Claude Code and Codex, offline, each before its scripted model, which runs in a thread with a loop of its own:
so its computing is not counted as ours. An agent that is not installed is named as such.
"""

import asyncio
import gc
import statistics
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from keryx.agents.base import AgentRunner, AgentSession
from keryx.tasks.models import Task
from tests.bench.rows import Row, machine, percentile
from tests.support.model_steps import ModelServer, Run, Say, Write

ROUNDS = 10
STEERS = 30
BOUND_S = 60.0
MIB = 1 << 20
OPEN_GOAL_S = 0.8
OWN_GOAL_MS = 20.0
STEER_GOAL_MS = 50.0

ANSWER = "The ledger now rounds half to even, as the tax office wants it. " * 8 + "\n\nSPOKEN_SUMMARY: It rounds now."


@dataclass(frozen=True)
class Subject:
    """One agent to measure."""

    called: str
    runner: AgentRunner
    task: Task
    model: ModelServer
    loop: asyncio.AbstractEventLoop
    """Where the model lives."""
    thread: int

    async def asked(self, times: int) -> None:
        """Wait until the model got so many requests."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self.model.asked(times), self.loop))

    def own_s(self) -> float:
        """The computing of this process so far, the model's apart, in seconds."""
        return time.process_time() - time.clock_gettime(time.pthread_getcpuclockid(self.thread))


async def working() -> list[Row]:
    """All figures of all agents that are installed."""
    rows = []
    for name, subject in {"Claude": claude, "Codex": codex}.items():
        try:
            async with subject() as ready:
                rows += await figures(ready)
        except ImportError as error:
            rows.append(Row(f"{name} is not installed", "-", str(error.name), True))
    return rows


async def figures(subject: Subject) -> list[Row]:
    await _one_start(subject)  # the first loads the SDK
    starts = [await _one_start(subject) for _ in range(ROUNDS)]
    session = await subject.runner.open(subject.task)
    try:
        await _turn(session)
        turns = [await _one_turn(subject, session) for _ in range(ROUNDS)]
        steers = [await _one_steer(subject, session) for _ in range(STEERS)]
        resident = sum(child.memory_info().rss for child in psutil.Process().children(recursive=True))
    finally:
        await session.close()
    return [
        _spread(f"{subject.called}: open → first model request", starts, OPEN_GOAL_S * 1000),
        _spread(f"{subject.called}: our own computing in a turn", turns, OWN_GOAL_MS, digits=1),
        _spread(f"{subject.called}: follow-up acknowledged", steers, STEER_GOAL_MS, digits=1),
        Row(f"{subject.called}: resident memory of its processes", "none", f"{resident / MIB:.0f} MB", True),
    ]


def _spread(name: str, figures_ms: list[float], goal_ms: float, digits: int = 0) -> Row:
    """Median and 95th percentile, of ten the worst; the goal is reached when both are within it."""
    median, high = statistics.median(figures_ms), percentile(figures_ms, 0.95)
    measured = f"{median:.{digits}f}, p95 {high:.{digits}f} ms (n={len(figures_ms)})"
    return Row(name, f"<= {goal_ms:g} ms", measured, high <= goal_ms)


async def _one_start(subject: Subject) -> float:
    """Milliseconds from asking for a conversation to its first request at the model."""
    before, began_s = len(subject.model.requests), time.perf_counter()
    session = await subject.runner.open(subject.task)
    try:
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(_turn(session))
            await subject.asked(before + 1)
            took_s = time.perf_counter() - began_s
            await turn
    finally:
        await session.close()
    return took_s * 1000


async def _one_turn(subject: Subject, session: AgentSession) -> float:
    """Milliseconds of our own computing in a turn with a command, a file and an answer of some length."""
    subject.model.script(Run("git --version", say="I look first."), Write("notes.txt", "hello\n"), Say(ANSWER))
    gc.collect()
    before_s = subject.own_s()
    await _turn(session)
    return (subject.own_s() - before_s) * 1000


async def _one_steer(subject: Subject, session: AgentSession) -> float:
    """Milliseconds until a follow-up is acknowledged while a command runs."""
    subject.model.script(Run("sleep 0.5"))
    running, lines = asyncio.Event(), []

    async def listen(line: str) -> None:
        lines.append(line)
        if "sleep" in line:
            running.set()

    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(session.run("wait a little", on_progress=listen))
        await running.wait()
        began_s = time.perf_counter()
        await session.send("and mind the leap years")
        took_s = time.perf_counter() - began_s
        result = await turn
    assert result.ok, result.error
    return took_s * 1000


async def _turn(session: AgentSession) -> None:
    async def listen(line: str) -> None:
        pass

    async with asyncio.timeout(BOUND_S):
        result = await session.run("do it", on_progress=listen)
    assert result.ok, result.error


@asynccontextmanager
async def claude() -> AsyncIterator[Subject]:
    from tests.agents.claude.bench import claude_bench
    from tests.support.anthropic_server import anthropic_server

    with tempfile.TemporaryDirectory() as folder, _in_a_thread(anthropic_server) as (model, loop, thread):
        async with claude_bench(Path(folder)) as bench:
            bench.surrounded(ANTHROPIC_BASE_URL=model.url)
            model.directory = bench.workplace
            yield Subject("Claude", bench.runner, bench.task(mode="full"), model, loop, thread)


@asynccontextmanager
async def codex() -> AsyncIterator[Subject]:
    from tests.agents.codex.bench import codex_bench
    from tests.support.responses_server import responses_server

    with tempfile.TemporaryDirectory() as folder, _in_a_thread(responses_server) as (model, loop, thread):
        async with codex_bench(Path(folder)) as bench:
            config = bench.home / "config.toml"
            config.write_text(config.read_text().replace(bench.server.url, model.url))
            yield Subject("Codex", bench.runner, bench.task(mode="full"), model, loop, thread)


@contextmanager
def _in_a_thread(
    server: Callable[[], AbstractAsyncContextManager[Any]],
) -> Iterator[tuple[Any, asyncio.AbstractEventLoop, int]]:
    """A scripted model on a loop and in a thread of its own."""
    ready, models = threading.Event(), []
    loop, over = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        async with server() as model:
            models.append(model)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), name="scripted model")
    thread.start()
    try:
        if not ready.wait(BOUND_S):
            raise TimeoutError("the scripted model did not start")
        assert thread.ident is not None
        yield models[0], loop, thread.ident
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


def main() -> None:
    print(machine())
    for row in asyncio.run(working()):
        print(row, flush=True)


if __name__ == "__main__":
    main()
