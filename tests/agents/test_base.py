"""The fake agent: what other rooms' tests lean on."""

import asyncio
import math
from datetime import UTC, datetime

import pytest

from keryx.agents.base import (
    FRESH_START,
    FakeAgentRunner,
    FakeTurn,
    RunResult,
    Steer,
    SteerUnavailable,
    TokenUsage,
)
from keryx.clock import VirtualClock, settle
from keryx.errors import Unavailable
from keryx.tasks.models import Task, TaskStatus, is_question

TASK = Task(1, "fix the invoice test", TaskStatus.RUNNING, "fake", datetime(2026, 3, 2, tzinfo=UTC), project="billing")


async def nobody(line: str) -> None:
    pass


async def test_without_a_script_it_answers_at_once_and_repeats_the_prompt():
    session = await FakeAgentRunner().open(TASK)
    result = await session.run("fix the invoice test", on_progress=nobody)
    assert result == RunResult(
        True, "SPOKEN_SUMMARY: Done: fix the invoice test", "Done: fix the invoice test", session.session_id
    )


async def test_turns_are_taken_in_order_and_one_that_waits_for_words_is_kept_for_them():
    runner = FakeAgentRunner(FakeTurn("About billing.", when="billing"), FakeTurn("First."), FakeTurn("Second."))
    session = await runner.open(TASK)
    said = [(await session.run(p, on_progress=nobody)).spoken_summary for p in ("one", "in billing", "two", "three")]
    assert said == ["First.", "About billing.", "Second.", "Done: three"]
    assert runner.prompts == ["one", "in billing", "two", "three"]


async def test_time_and_progress_pass_on_the_clock_it_was_given(clock: VirtualClock):
    lines: list[tuple[float, str]] = []

    async def keep(line: str) -> None:
        lines.append((clock.monotonic(), line))

    runner = FakeAgentRunner(FakeTurn(takes_s=60, progress=("Reading", "Testing")), clock=clock)
    session = await runner.open(TASK)
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(session.run("go", on_progress=keep))
        await clock.advance(59)
        assert not turn.done()
        await clock.advance(1)
    assert turn.result().ok
    assert lines == [(20, "Reading"), (40, "Testing")]


async def test_a_failure_is_a_result_and_its_summary_says_why():
    session = await FakeAgentRunner(FakeTurn(error="The tests would not start.")).open(TASK)
    result = await session.run("go", on_progress=nobody)
    assert (result.ok, result.error, result.spoken_summary) == (False,) + ("The tests would not start.",) * 2


async def test_a_question_ends_the_turn_and_the_answer_is_the_next_prompt():
    runner = FakeAgentRunner(FakeTurn("SPOKEN_SUMMARY: Two branches fit. Which one?"))
    session = await runner.open(TASK)
    result = await session.run("go", on_progress=nobody)
    assert is_question(result.spoken_summary)
    assert "the first" in (await session.run("the first", on_progress=nobody)).spoken_summary


@pytest.mark.parametrize(
    ("steer", "raised", "landed"),
    [
        (Steer.TAKEN, None, ["and leap years"]),
        (Steer.REFUSED, SteerUnavailable, []),
        (Steer.LANDED, ConnectionError, ["and leap years"]),
        (Steer.LOST, ConnectionError, []),
    ],
)
async def test_a_steer_is_taken_refused_or_left_in_doubt(steer: Steer, raised, landed: list[str]):
    runner = FakeAgentRunner(FakeTurn(takes_s=math.inf, steer=steer))
    session = await runner.open(TASK)
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(session.run("dates", on_progress=nobody))
        await runner.begun()
        if raised is None:
            await session.send("and leap years")
        else:
            with pytest.raises(raised):
                await session.send("and leap years")
        runner.release()
    assert runner.steered == landed
    assert ("and leap years" in turn.result().spoken_summary) is bool(landed)


async def test_a_stubborn_turn_takes_no_notice_of_interrupt_but_of_close():
    runner = FakeAgentRunner(FakeTurn(takes_s=math.inf, stubborn=True))
    session = await runner.open(TASK)
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(session.run("go", on_progress=nobody))
        await runner.begun()
        await session.interrupt()
        await settle()
        assert not turn.done()
        assert runner.still_open == 1
        await session.close()
    assert not turn.result().ok
    assert runner.still_open == 0


async def test_it_can_fail_to_open_and_then_open(clock: VirtualClock):
    runner = FakeAgentRunner(clock=clock, open_error=Unavailable("not signed in"), opens_in_s=3)
    async with asyncio.TaskGroup() as group:
        opening = group.create_task(_outcome(runner))
        await clock.advance(2.9)
        assert not opening.done()
        await clock.advance(0.1)
    assert isinstance(opening.result(), Unavailable)
    runner.open_error = None
    async with asyncio.TaskGroup() as group:
        opening = group.create_task(_outcome(runner))
        await clock.advance(3)
    assert opening.result() is None


async def _outcome(runner: FakeAgentRunner) -> Exception | None:
    try:
        await runner.open(TASK)
    except Unavailable as unavailable:
        return unavailable
    return None


async def test_a_misbehaving_agent_may_raise_from_run_and_still_be_closed():
    session = await FakeAgentRunner(FakeTurn(raises=RuntimeError("crashed"))).open(TASK)
    with pytest.raises(RuntimeError, match="crashed"):
        await session.run("go", on_progress=nobody)
    await session.close()


async def test_usage_is_unknown_unless_the_script_gives_numbers():
    runner = FakeAgentRunner(FakeTurn(), FakeTurn(usage=TokenUsage(100, 20, 80), cost_usd=0.02))
    session = await runner.open(TASK)
    unknown, known = [await session.run("go", on_progress=nobody) for _ in range(2)]
    assert (unknown.usage, unknown.cost_usd) == (None, None)
    assert (known.usage, known.cost_usd) == (TokenUsage(100, 20, 80), 0.02)


async def test_a_lost_conversation_starts_afresh_and_says_so_once():
    session = await FakeAgentRunner().open(TASK, resume="from-before")
    assert session.session_id != "from-before"
    first, second = [await session.run("go on", on_progress=nobody) for _ in range(2)]
    assert first.spoken_summary == f"{FRESH_START} Done: go on"
    assert second.spoken_summary == "Done: go on"


async def test_a_restart_request_and_a_huge_reply_come_through():
    runner = FakeAgentRunner(FakeTurn("SPOKEN_SUMMARY: Done.\nRESTART_REQUIRED: new driver"), FakeTurn("x" * 5_000_000))
    session = await runner.open(TASK)
    restart, huge = [await session.run("go", on_progress=nobody) for _ in range(2)]
    assert restart.restart_reason == "new driver"
    assert len(huge.final_text) == 5_000_000
    assert 0 < len(huge.spoken_summary) <= 400
