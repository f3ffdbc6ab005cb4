"""A follow-up at every point around the end of a turn of the real Claude Code: heard once, or refused and never heard.

The moments are real time: it is the two processes' race that is tried. Which of the two outcomes a round has is up to
them; that it has exactly one of them is what is asserted.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import pytest

from keryx.agents.base import AgentSession, SteerUnavailable
from tests.agents.claude.bench import WHY_NOT, ClaudeBench, claude_bench
from tests.support.model_steps import Run, Say, Step

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))

ROUND_S = 30.0
WHOLE = 1.3
"""One ladder of moments goes from the turn's beginning to somewhat beyond its end."""
END_S = 0.12
"""The other, between its rungs, covers so much around the end alone."""


def follow_up(number: int) -> str:
    # Ends with a letter, so that 1 is not found in 10.
    return f"follow-up-{number}-z"


class Race:
    """Rounds in one conversation; each is one turn and one follow-up at its moment."""

    def __init__(self, bench: ClaudeBench, session: AgentSession, steps: Sequence[Step]) -> None:
        self.outcomes: Counter[str] = Counter()
        self.accepted: list[int] = []
        self.refused: list[int] = []
        self.turn_s = 0.0
        self._bench = bench
        self._session = session
        self._steps = steps

    async def run(self, rounds: int) -> None:
        self.turn_s = sorted([await self._measured() for _ in range(5)])[2]
        for number in range(rounds):
            rung = number / rounds
            at_s = self.turn_s * WHOLE * rung if number % 2 else self.turn_s + END_S * (rung - 0.5)
            async with asyncio.timeout(ROUND_S):
                await self._round(number, at_s)
        # One more turn shows what stands in the conversation for good.
        await self._session.run("one last thing", on_progress=_nobody)

    async def _measured(self) -> float:
        self._bench.server.script(*self._steps, _answer(0, 0))
        began_s = perf_counter()
        result = await self._session.run("how long does it take", on_progress=_nobody)
        assert result.ok, result.error
        return perf_counter() - began_s

    async def _round(self, number: int, at_s: float) -> None:
        server = self._bench.server
        server.script(*self._steps, *(_answer(number, turn) for turn in range(3)))
        turn = asyncio.create_task(self._session.run(f"question {number}", on_progress=_nobody))
        await asyncio.sleep(at_s)
        try:
            await self._session.send(follow_up(number))
        except SteerUnavailable:
            taken = False
        else:
            taken = True
        result = await turn
        assert result.ok, (number, result.error)
        # What was accepted is in what the model has been told by now, and the result is the answer to just that.
        assert server.heard(follow_up(number)) == taken, (number, at_s, server.heard(follow_up(number)))
        given = 3 - server.unscript()
        assert result.final_text == _answer(number, given - 1).text, (number, given, result.final_text)
        (self.accepted if taken else self.refused).append(number)
        self.outcomes["refused" if not taken else "folded in" if given == 1 else "a turn of its own"] += 1


def _answer(number: int, turn: int) -> Say:
    return Say(f"answer {number} of {turn}", pause_s=0.01, piece_chars=4)


async def _nobody(line: str) -> None:
    """Nobody listens."""


async def race(tmp_path: Path, rounds: int, *steps: Step) -> Race:
    async with claude_bench(tmp_path) as bench:
        session = await bench.runner.open(bench.task(mode="full"))
        try:
            run = Race(bench, session, steps)
            await run.run(rounds)
        finally:
            await session.close()
        for number in run.accepted:
            assert bench.server.heard(follow_up(number)) == 1, number
        for number in run.refused:
            assert bench.server.heard(follow_up(number)) == 0, number
    return run


async def test_a_follow_up_around_the_end_of_an_answer_is_heard_once_or_refused(tmp_path: Path):
    run = await race(tmp_path, 140)
    assert run.outcomes["a turn of its own"] >= 10, run.outcomes
    assert run.outcomes["refused"] >= 1, run.outcomes


async def test_a_follow_up_around_a_command_and_the_answer_after_it_is_heard_once_or_refused(tmp_path: Path):
    run = await race(tmp_path, 80, Run("sleep 0.2"))
    assert run.outcomes["folded in"] >= 3, run.outcomes
    assert run.outcomes["refused"] >= 1, run.outcomes


async def test_several_follow_ups_at_once_are_all_heard_once_in_their_order(tmp_path: Path):
    async with claude_bench(tmp_path) as bench:
        session = await bench.runner.open(bench.task(mode="full"))
        for burst in range(5):
            names = [follow_up(100 * burst + number) for number in range(4)]
            asked = len(bench.server.requests)
            bench.server.script(Run("sleep 0.4"))
            async with asyncio.timeout(ROUND_S), asyncio.TaskGroup() as group:
                turn = group.create_task(session.run("work", on_progress=_nobody))
                await bench.server.asked(asked + 1)
                await asyncio.gather(*(session.send(name) for name in names))
                assert (await turn).ok
            told = str(bench.server.requests[-1]["messages"])
            assert [bench.server.heard(name) for name in names] == [1] * 4
            assert sorted(names, key=told.index) == names
        await session.close()
