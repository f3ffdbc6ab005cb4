"""Every figure the project promises of a conversation and of its agents, measured and printed beside its goal.

    python -m tests.bench.talk [--only NAME]

The spoken figures come from a really started daemon, over its real WebSockets, with recordings spoken at real-time
pace: as the page (16 kHz) and as a telephone (8 kHz mu-law). They depend on the machine, so they are printed with it
and never tested against a limit.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import psutil

from tests.bench import agents, barge_in, dispatch, recognition, routing, talk_latency, workspace
from tests.bench.line import FIXTURES, LINES, load_parts, speech_of, spoken_requests
from tests.bench.rows import Row, at_most, machine, percentile, spread
from tests.support.daemon import Daemon, started
from tests.support.talker import Talker
from tests.support.twilio_line import Account, dial

ACCOUNT = Account(auth_token="bench-token", public_url="https://keryx.bench.example")
OWNER = "+15552340001"
TELEPHONE = {
    "KERYX_TWILIO__ACCOUNT_SID": ACCOUNT.account_sid,
    "KERYX_TWILIO__AUTH_TOKEN": ACCOUNT.auth_token,
    "KERYX_TWILIO__NUMBER": ACCOUNT.number,
    "KERYX_SERVER__PUBLIC_URL": ACCOUNT.public_url,
    "KERYX_OWNER__NUMBERS": OWNER,
    "KERYX_OWNER__PIN": "427190",
}
ROUNDS = 2
"""Each of the ten recordings is spoken so often on each line."""
ANSWER_LIMIT_S = 10.0
CALLS_FOR_MEMORY = 5
MIB = 1 << 20


async def answers_on_the_page() -> list[Row]:
    """End of speech → first audio at 16 kHz, each request in a call of its own."""
    figures = []
    async with _daemon() as daemon:
        for name in spoken_requests() * ROUNDS:
            async with Talker.calling(daemon.talk, daemon.key) as caller:
                await caller.until_quiet()
                spoken = await caller.say(FIXTURES / f"{name}_16k.wav")
                began_s = spoken.began_s
                first = await caller.wait_for(
                    lambda caller=caller, began_s=began_s: caller.first("audio", since_s=began_s),
                    timeout_s=ANSWER_LIMIT_S,
                )
                figures.append((first.at_s - spoken.ended_s) * 1000)
                await caller.hang_up()
                await caller.until_ended()
            await _cancel_all(daemon)
    return [spread("end of speech → first audio, 16 kHz", figures, 650, 900)]


async def answers_on_the_telephone() -> list[Row]:
    """The same at 8 kHz mu-law, through the signed webhook and the media stream."""
    figures = []
    async with _daemon() as daemon:
        for name in spoken_requests() * ROUNDS:
            async with dial(daemon.origin, ACCOUNT, OWNER) as line:
                await _until(lambda line=line: line.quiet_s > 0.6)
                began_s = time.monotonic()
                before = len(line.came_at_s)
                await line.say((FIXTURES / f"{name}_8k.ul").read_bytes())
                await _until(lambda line=line, before=before: len(line.came_at_s) > before)
                figures.append((line.came_at_s[before] - began_s - speech_of(name)[1]) * 1000)
                await line.hang_up()
            await _cancel_all(daemon)
    return [spread("end of speech → first audio, 8 kHz mu-law", figures, 700, 1000)]


async def in_the_call() -> list[Row]:
    """A result's way into a quiet call, and how soon speech over it silences it; in this process."""
    with tempfile.TemporaryDirectory() as cache:
        parts = await load_parts(Path(cache))
        results = await talk_latency.result_to_first_audio_ms(parts, LINES["16 kHz"], count=10)
        rows = [at_most("result → first audio of its summary, p95", percentile(results, 0.95), 250, "ms")]
        for line, capabilities in LINES.items():
            cleared = await barge_in.onset_to_clear_ms(parts, capabilities, spoken_requests())
            rows.append(
                at_most(
                    f"speech onset → clear, {line}, median (n={len(cleared)})", statistics.median(cleared), 150, "ms"
                )
            )
        parts.close()
    return rows


async def hearing() -> list[Row]:
    figures = await asyncio.to_thread(recognition.measure)
    return [at_most(f"word errors, {line}", row["word_error_rate"] * 100, 8, "%", 1) for line, row in figures.items()]


async def understanding() -> list[Row]:
    figures = routing.measure()
    return [
        Row(
            f"written requests routed right ({figures.total})",
            ">= 95 %",
            f"{figures.tuned:.1%}, held out {figures.held:.1%}",
            min(figures.tuned, figures.held) >= 0.95,
        ),
        at_most("cancels that were none", figures.false_cancels, 0, "of them"),
    ]


async def dispatching() -> list[Row]:
    figures = await asyncio.to_thread(dispatch.measure, 200)
    return [at_most("dispatch → agent opened, p99 of 200", figures["p99_ms"], 50, "ms", 1)]


async def command_line() -> list[Row]:
    def run_s() -> float:
        began_s = time.perf_counter()
        subprocess.run([sys.executable, "-m", "keryx", "--help"], check=True, capture_output=True)
        return time.perf_counter() - began_s

    run_s()
    return [at_most("keryx --help, median of 9", statistics.median(run_s() for _ in range(9)), 0.4, "s", 2)]


async def memory() -> list[Row]:
    """Resident memory with the models loaded and used, and what each call adds while it is spoken to."""
    async with _daemon() as daemon:
        await _converse(daemon, 1)
        loaded = _resident(daemon)
        await _converse(daemon, CALLS_FOR_MEMORY, hold=True)
        per_call = (_peak.pop() - loaded) / CALLS_FOR_MEMORY
    return [
        at_most("resident memory, models loaded", loaded / MIB, 700, "MB"),
        at_most("more for each call", max(0.0, per_call) / MIB, 20, "MB", 1),
    ]


_peak: list[float] = []


async def _converse(daemon: Daemon, calls: int, *, hold: bool = False) -> None:
    async def one(ready: asyncio.Barrier) -> None:
        async with Talker.calling(daemon.talk, daemon.key) as caller:
            await caller.until_quiet()
            await caller.say(FIXTURES / "joe_01_16k.wav")
            await caller.until_quiet(1.5)
            async with ready as place:
                if hold and place == 0:
                    _peak.append(_resident(daemon))
            await ready.wait()
            await caller.hang_up()

    ready = asyncio.Barrier(calls)
    async with asyncio.TaskGroup() as group:
        for _ in range(calls):
            group.create_task(one(ready))


def _resident(daemon: Daemon) -> float:
    return psutil.Process(daemon.process.pid).memory_info().rss


class _daemon:
    """A demo daemon with a telephone line, whose speech parts are loaded."""

    async def __aenter__(self) -> Daemon:
        self._folder = tempfile.TemporaryDirectory()
        self._running = started(Path(self._folder.name) / "home", demo=True, **TELEPHONE)
        daemon = await self._running.__aenter__()
        await daemon.hears()
        return daemon

    async def __aexit__(self, *error: object) -> None:
        await self._running.__aexit__(None, None, None)
        self._folder.cleanup()


async def _cancel_all(daemon: Daemon) -> None:
    """So that no result comes into the next call."""
    for task in await daemon.get("/api/tasks"):
        if task["status"] in ("queued", "running"):
            await daemon.post(f"/api/tasks/{task['id']}/cancel", {})


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(ANSWER_LIMIT_S):
        while not condition():  # noqa: ASYNC110 - the line keeps figures, not events
            await asyncio.sleep(0.01)


FIGURES: dict[str, Callable[[], Awaitable[list[Row]]]] = {
    "page": answers_on_the_page,
    "telephone": answers_on_the_telephone,
    "call": in_the_call,
    "hearing": hearing,
    "understanding": understanding,
    "dispatch": dispatching,
    "agents": agents.working,
    "workspace": workspace.serving,
    "help": command_line,
    "memory": memory,
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", choices=FIGURES, action="append", help="measure only this; may be repeated")
    chosen = arguments.parse_args().only or list(FIGURES)
    print(machine())
    for row in _measured(chosen):
        print(row, flush=True)


def _measured(chosen: list[str]) -> Iterator[Row]:
    for name in chosen:
        yield from asyncio.run(FIGURES[name]())  # type: ignore[arg-type]  # every figure is a coroutine


if __name__ == "__main__":
    main()
