"""Follow-ups at every point around the end of a turn of the real Codex: none is lost, none is heard twice.

What must hold of each: it was refused and the model never hears it, or it was taken in, the model hears it exactly
once, and the result is the answer to it.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from keryx.agents.base import RunResult, SteerUnavailable
from keryx.agents.session import AdaptedSession
from tests.agents.codex.bench import WHY_NOT, CodexBench, codex_bench
from tests.support.model_steps import Run, Say, Step

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")

BOUND_S = 30.0
ROUNDS = 70
_MARK = re.compile(r"follow-up (\w+) is all")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[CodexBench]:
    async with codex_bench(tmp_path) as bench:
        bench.server.otherwise = answer
        yield bench


def answer(request: dict[str, Any]) -> Step:
    """Name the last follow-ups that were heard, in other words than theirs."""
    said = [part["text"] for item in request["input"] if item.get("role") == "user" for part in item["content"]]
    return Say("Heard" + "".join(f" <{mark}>" for words in said[-3:] for mark in _MARK.findall(words)))


def text(mark: str) -> str:
    return f"Also: follow-up {mark} is all."


async def nobody(line: str) -> None:
    pass


@dataclass
class Round:
    """One turn with follow-ups, and what became of each."""

    session: AdaptedSession
    bench: CodexBench
    taken: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    async def send(self, mark: str, *, after_s: float = 0.0, answers: int = 0) -> None:
        """Send a follow-up so long after the model has given so many answers."""
        await self.bench.server.answered(answers)
        if after_s:
            await asyncio.sleep(after_s)
        try:
            await self.session.send(text(mark))
        except SteerUnavailable:
            self.refused.append(mark)
        else:
            self.taken.append(mark)

    async def run(self, prompt: str) -> RunResult:
        async with asyncio.timeout(BOUND_S):
            return await self.session.run(prompt, on_progress=nobody)

    def check(self, result: RunResult) -> None:
        assert result.ok, result.error
        for mark in self.taken:
            assert self.bench.server.heard(text(mark)) == 1
            assert f"<{mark}>" in result.final_text, "the result is not the answer to what was taken in"
        for mark in self.refused:
            assert self.bench.server.heard(text(mark)) == 0


def check_all(bench: CodexBench, rounds: list[Round]) -> None:
    """At the very end the conversation holds each that was taken in once, and none that was refused."""
    for each in rounds:
        assert all(bench.server.heard(text(mark)) == 1 for mark in each.taken)
        assert not any(bench.server.heard(text(mark)) for mark in each.refused)


async def test_a_follow_up_around_the_end_is_heard_once_or_refused(bench: CodexBench):
    session = await bench.runner.open(bench.task(mode="full"))
    rounds = []
    for number in range(ROUNDS):
        this = Round(session, bench)
        rounds.append(this)
        # From the model's last word to well after the turn's end, in steps of a third of a millisecond.
        after_s, answers = number * 0.00035, bench.server.finished + 1
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(this.run(f"round {number}"))
            group.create_task(this.send(f"a{number}", after_s=after_s, answers=answers))
        this.check(turn.result())
    await session.close()
    check_all(bench, rounds)
    assert any(each.taken for each in rounds), "the ladder began too late"
    assert any(each.refused for each in rounds), "the ladder ended too early"


async def test_two_follow_ups_at_once_are_each_heard_once_or_refused(bench: CodexBench):
    session = await bench.runner.open(bench.task(mode="full"))
    rounds = []
    for number in range(ROUNDS):
        this = Round(session, bench)
        rounds.append(this)
        after_s, answers = (number % 35) * 0.0003, bench.server.finished + 1
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(this.run(f"round {number}"))
            group.create_task(this.send(f"b{number}", after_s=after_s, answers=answers))
            group.create_task(this.send(f"c{number}", after_s=after_s + (number // 35) * 0.001, answers=answers))
        this.check(turn.result())
    await session.close()
    check_all(bench, rounds)


async def test_a_follow_up_while_it_speaks_or_begins_is_heard_once_or_refused(bench: CodexBench):
    session = await bench.runner.open(bench.task(mode="full"))
    rounds = []
    for number in range(ROUNDS):
        this = Round(session, bench)
        rounds.append(this)
        bench.server.script(Say("slowly " * 6, pause_s=0.002, piece_chars=4))
        # From before the turn has begun, over its first request, into its last word.
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(this.run(f"round {number}"))
            group.create_task(this.send(f"d{number}", after_s=number * 0.0011))
        this.check(turn.result())
    await session.close()
    check_all(bench, rounds)


async def test_a_follow_up_around_an_interrupt_is_heard_once_by_the_next_turn_or_refused(bench: CodexBench):
    session = await bench.runner.open(bench.task(mode="full"))
    for number in range(ROUNDS // 2):
        this = Round(session, bench)
        bench.server.script(Run("sleep 5"))
        asked = len(bench.server.requests) + 1
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(this.run(f"round {number}"))
            await bench.server.asked(asked)
            await asyncio.sleep(0.03)
            # The interrupt overtakes, meets, and comes after it.
            group.create_task(this.send(f"e{number}", after_s=0.0001 + number % 7 * 0.0004))
            await asyncio.sleep(0.0001 + number // 7 * 0.0006)
            await session.interrupt()
        assert not turn.result().ok
        assert (await this.run("and now?")).ok
        check_all(bench, [this])
    await session.close()
