"""The terminal's loudspeaker keeps real time: marks fall due when the sound before them was heard."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from keryx.cli.playout import Playout
from keryx.clock import VirtualClock, settle

RATE = 1000
SECOND = b"\x01\x00" * RATE


class Answers(list[tuple[float, str]]):
    """Which marks were answered, and when."""


@pytest.fixture
def playout(clock: VirtualClock) -> Playout:
    return Playout(clock, RATE)


@pytest.fixture
async def answers(playout: Playout, clock: VirtualClock) -> AsyncIterator[Answers]:
    answers = Answers()

    async def answer(name: str) -> None:
        answers.append((round(clock.monotonic(), 2), name))

    async with asyncio.TaskGroup() as group:
        pump = group.create_task(playout.answer_marks(answer))
        yield answers
        pump.cancel()


async def test_a_mark_is_answered_when_the_sound_before_it_is_over(
    playout: Playout, answers: Answers, clock: VirtualClock
) -> None:
    playout.play(SECOND)
    playout.mark("one")
    playout.play(SECOND)
    playout.mark("two")
    await clock.advance(0.9)
    assert answers == []
    assert not playout.idle
    await clock.advance(2)
    assert answers == [(1.0, "one"), (2.0, "two")]
    assert playout.idle
    assert playout.heard == SECOND * 2


async def test_a_mark_without_sound_is_answered_at_once(playout: Playout, answers: Answers) -> None:
    playout.mark("now")
    await settle()
    assert answers == [(0.0, "now")]


async def test_clear_drops_what_was_not_heard_and_answers_every_mark(
    playout: Playout, answers: Answers, clock: VirtualClock
) -> None:
    playout.play(SECOND * 3)
    playout.mark("end")
    await clock.advance(1.25)
    playout.clear()
    await clock.advance(0.05)
    assert [name for _, name in answers] == ["end"]
    assert playout.idle
    assert len(playout.heard) == pytest.approx(1.25 * RATE * 2, abs=2)


async def test_sound_after_a_pause_plays_from_then_on(playout: Playout, answers: Answers, clock: VirtualClock) -> None:
    playout.play(SECOND)
    await clock.advance(5)
    playout.play(SECOND)
    playout.mark("late")
    await clock.advance(2)
    assert answers == [(6.0, "late")]


async def test_clearing_an_idle_line_takes_nothing_back(playout: Playout, clock: VirtualClock) -> None:
    playout.play(SECOND)
    await clock.advance(5)
    playout.clear()
    assert playout.heard == SECOND
