"""Who does the work and how freely, settled by voice: nothing is handed over that would fail later or was not meant."""

import math
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keryx.agents.base import FakeTurn, Steer
from keryx.clock import VirtualClock
from keryx.tasks.models import TaskStatus
from tests.voice.dialogue.room import Room, room

ENDLESS = FakeTurn(takes_s=math.inf)
PLAN = FakeTurn("SPOKEN_SUMMARY: It takes three steps, the tests first. Shall I carry it out?")


@pytest.fixture
async def line(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Room]:
    """A caller who may act, with Codex and Claude, Codex being the usual one."""
    async with room(tmp_path, clock, agents=("codex", "claude")) as opened:
        yield opened


@pytest.fixture
async def phone(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Room]:
    """The same, without the PIN."""
    async with room(tmp_path, clock, proven=False, agents=("codex", "claude")) as opened:
        yield opened


async def only_task(line: Room) -> tuple[str, str | None, str]:
    [task] = await line.manager.list()
    return task.agent, task.model, task.mode


@pytest.mark.parametrize("text", ["have codex do it", "use codex for that", "do it in full mode", "only plan it"])
async def test_an_agent_without_a_word_of_the_work_is_asked_what_it_shall_do(line: Room, text: str) -> None:
    answer = await line.say(text)
    assert "work" in answer
    assert await line.manager.list() == []


async def test_who_there_is_to_work_is_said_and_nothing_is_started(line: Room) -> None:
    assert "Codex and Claude" in await line.say("which agents do you have?")
    assert "Claude" in await line.say("is claude signed in?")
    assert await line.manager.list() == []


async def test_a_question_how_a_task_is_done_is_no_new_task(line: Room) -> None:
    line.agent.script(ENDLESS)
    await line.say("fix the invoice test in billing")
    assert "Task one" in await line.say("what mode is it in?")
    assert len(await line.manager.list()) == 1


# --- models ---------------------------------------------------------------------------------------------------------


async def test_a_model_picks_the_agent_that_has_it_and_the_receipt_names_both(line: Room) -> None:
    answer = await line.say("In billing, fix the invoice test, use opus")

    assert answer == "Okay, Claude is on it in billing with Opus, task one."
    assert await only_task(line) == ("claude", "opus", "auto")


async def test_the_models_name_becomes_the_agents_own(line: Room) -> None:
    await line.say("use sol for this: fix the invoice test")
    assert await only_task(line) == ("codex", "gpt-6.1-sol", "auto")


async def test_another_agents_model_is_a_question_and_no_task(line: Room) -> None:
    answer = await line.say("Have Codex use opus to fix the footer")
    assert answer == "Opus is a model of Claude, not of Codex. Shall Claude do it?"
    assert await line.manager.list() == []

    await line.say("yes")
    assert await only_task(line) == ("claude", "opus", "auto")


async def test_naming_the_agent_answers_which_agent(line: Room) -> None:
    await line.say("Have Codex use opus to fix the footer")
    await line.say("no, have Codex do it")
    assert await only_task(line) == ("codex", None, "auto")


async def test_a_no_hands_nothing_over(line: Room) -> None:
    await line.say("Have Codex use opus to fix the footer")
    await line.say("no")
    assert await line.manager.list() == []


async def test_a_model_whose_agent_is_not_there_is_offered_to_the_usual_one_without_it(
    tmp_path: Path, clock: VirtualClock
) -> None:
    async with room(tmp_path, clock, agents=("codex",)) as line:
        assert "Claude isn't set up here. Shall Codex do it?" in await line.say("use opus and fix the footer")
        await line.say("yes")
        assert await only_task(line) == ("codex", None, "auto")
        assert "usual" in await line.say("have codex use opus to fix the header")
        await line.say("yes please")
        assert [task.model for task in await line.manager.list()] == [None, None]


# --- modes ----------------------------------------------------------------------------------------------------------


async def test_the_receipt_names_a_mode_that_is_not_the_usual_one(line: Room) -> None:
    answer = await line.say("have codex fix the footer in billing, plan only")

    assert answer == "Okay, Codex is on it in billing with plan mode, task one."
    assert await only_task(line) == ("codex", None, "plan")


async def test_the_usual_mode_is_not_worth_a_word(line: Room) -> None:
    assert "mode" not in await line.say("fix the footer in billing in auto mode")


async def test_full_mode_is_read_back_and_needs_a_yes(line: Room) -> None:
    answer = await line.say("upgrade everything in billing, in full mode")
    assert answer == "Full mode lets it do anything on your machine without asking. Shall I?"
    assert await line.manager.list() == []

    assert "full mode" in await line.say("yes")
    assert await only_task(line) == ("codex", None, "full")


@pytest.mark.parametrize("answer", ["no", "yes, no wait", "um", "", "hmm, the footer", "yes but ask me first"])
async def test_nothing_but_a_yes_starts_full_mode(line: Room, answer: str) -> None:
    await line.say("upgrade everything in full mode")
    await line.say(answer)
    await line.say("yes") if answer == "no" else None

    assert [task.mode for task in await line.manager.list() if task.mode == "full"] == []


async def test_full_mode_is_confirmed_by_key_too(line: Room) -> None:
    await line.say("upgrade everything in full mode")
    await line.key("2")
    assert await line.manager.list() == []
    await line.say("upgrade everything in full mode")
    await line.key("1")
    assert (await only_task(line))[2] == "full"


async def test_a_question_about_full_mode_that_was_talked_over_counts_for_nothing(line: Room) -> None:
    await line.interrupt_after(1, line.dialogue.respond("upgrade everything in full mode"))
    line.dialogue.interrupted("on your machine without asking. Shall I?")
    await line.say("yes")
    assert await line.manager.list() == []


async def test_full_mode_confirmed_before_the_pin_is_not_asked_about_again(phone: Room) -> None:
    await phone.say("upgrade everything in full mode")
    assert "PIN" in await phone.say("yes")
    assert await phone.manager.list() == []
    assert "with full mode" in await phone.say("it's 427190")
    assert await only_task(phone) == ("codex", None, "full")


# --- a plan, let go -------------------------------------------------------------------------------------------------


async def test_a_plan_that_was_told_is_carried_out_on_a_go_ahead(line: Room) -> None:
    line.agent.script(PLAN)
    await line.say("move billing to postgres, plan only")
    await line.house.done(1)
    await line.announce()

    answer = await line.say("Sounds good, go ahead.")

    assert answer == "Task one is back at work in auto mode; Codex has it."
    task = await line.house.done(1)
    assert (task.mode, task.status) == ("auto", TaskStatus.DONE)
    assert line.agent.asked[-1] == "Sounds good, go ahead."


async def test_a_no_to_a_plan_leaves_it_a_plan(line: Room) -> None:
    line.agent.script(PLAN)
    await line.say("move billing to postgres, plan only")
    await line.house.done(1)
    await line.announce()
    await line.say("No, use MySQL.")
    assert (await line.house.done(1)).mode == "plan"


async def test_a_plan_let_go_in_full_mode_is_asked_about_first(line: Room) -> None:
    line.agent.script(PLAN)
    await line.say("move billing to postgres, plan only")
    await line.house.done(1)
    await line.announce()

    assert "Shall I?" in await line.say("okay, do it in full mode")
    assert (await line.manager.status(1)).mode == "plan"
    await line.say("yes")
    assert (await line.house.done(1)).mode == "full"


# --- receipts -------------------------------------------------------------------------------------------------------


async def working(line: Room, steer: Steer) -> None:
    line.agent.script(FakeTurn(takes_s=math.inf, steer=steer))
    await line.say("rewrite the parser")
    await line.agent.begun()


@pytest.mark.parametrize(
    ("steer", "receipt"),
    [
        (Steer.TAKEN, "Passed on to task one; Codex has it now."),
        (Steer.REFUSED, "Codex takes nothing in just now, so task one does that next."),
        (Steer.LOST, "I'm not sure that reached it. I won't send it twice; you'll hear with the result."),
        (Steer.LANDED, "I'm not sure that reached it. I won't send it twice; you'll hear with the result."),
    ],
    ids=lambda value: value.name if isinstance(value, Steer) else "",
)
async def test_every_way_a_follow_up_goes_has_a_sentence_that_is_true(line: Room, steer: Steer, receipt: str) -> None:
    await working(line, steer)
    assert await line.say("tell it to handle leap years too") == receipt


async def test_a_follow_up_to_a_task_that_waits_comes_next(tmp_path: Path, clock: VirtualClock) -> None:
    async with room(tmp_path, clock, slots=1, agents=("codex",)) as line:
        await working(line, Steer.TAKEN)
        await line.say("in website, fix the footer")
        assert await line.say("tell it to handle leap years too") == "Task two does that next."


async def test_more_freedom_waits_for_the_next_step_and_less_is_passed_on_now(line: Room) -> None:
    await working(line, Steer.TAKEN)
    assert await line.say("tell it to ask me before it changes anything") == (
        "Passed on to task one; Codex has it now. Its next step is in ask mode."
    )
    assert line.agent.steered == ["ask me before it changes anything"]
    assert await line.say("tell it to go on in auto mode") == "Task one does that next, in auto mode."
    assert line.agent.steered == ["ask me before it changes anything"]
