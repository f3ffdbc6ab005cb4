"""A plan first, then the work: one task, one agent, one conversation, whichever words let it go."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keryx.agents.base import FakeTurn
from keryx.clock import VirtualClock
from keryx.tasks.models import TaskStatus
from tests.stories.house import PIN, House

PLAN = FakeTurn("SPOKEN_SUMMARY: The totals are rounded once per line; I would round them once. Shall I carry it out?")
DONE = FakeTurn("SPOKEN_SUMMARY: The invoice test passes now.", takes_s=20)


@pytest.fixture
async def agents(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[House]:
    """A house with Claude, the usual one, and Codex."""
    async with House.opened(tmp_path, clock, ("claude", "codex")) as house:
        yield house


async def test_a_plan_is_made_told_let_go_and_carried_out_by_the_agent_that_was_named(agents: House) -> None:
    codex = agents.agents["codex"]
    codex.script(PLAN, DONE)
    async with agents.called() as visitor:
        await visitor.until_quiet()
        await visitor.say("Have codecs fix the failing test in billing, plan only.")
        await visitor.hears("Codex is on it in billing with plan mode, task one.")
        await visitor.hears("Shall I carry it out?")
        await visitor.until_quiet()
        [planned] = await agents.tasks()
        assert (planned.agent, planned.mode, planned.status) == ("codex", "plan", TaskStatus.DONE)

        await visitor.say("Go ahead.")
        await visitor.hears("ask one is back at work in auto mode; Codex has it.")
        await visitor.hears("The invoice test passes now.")
        await visitor.until_quiet()

    [task] = await agents.tasks()
    assert (task.agent, task.mode, task.status) == ("codex", "auto", TaskStatus.DONE)
    assert task.told_at is not None
    assert codex.asked == ["fix the failing test", "Go ahead."]
    assert [opened.task.mode for opened in codex.sessions] == ["plan", "auto"]
    assert len({opened.session_id for opened in codex.sessions}) == 1
    assert codex.still_open == 0
    assert agents.agents["claude"].prompts == []


async def test_a_no_leaves_the_plan_a_plan(agents: House) -> None:
    agents.agent.script(PLAN)
    async with agents.called() as visitor:
        await visitor.until_quiet()
        await visitor.say("In billing, just plan the fix for the invoice test, don't change anything.")
        await visitor.hears("Shall I carry it out?")
        await visitor.until_quiet()
        await visitor.say("No, not now.")
        await visitor.until_quiet()

    assert [task.mode for task in await agents.tasks()] == ["plan"]
    assert {opened.task.mode for opened in agents.agent.sessions} == {"plan"}


async def test_full_mode_on_the_telephone_needs_a_yes_and_the_pin(agents: House) -> None:
    async with agents.called(by="phone") as visitor:
        await visitor.until_quiet()
        await visitor.say("Upgrade everything in billing, in full mode.")
        await visitor.hears("Shall I?")
        await visitor.until_quiet()
        await visitor.say("Yes.")
        await visitor.until_quiet()
        assert await agents.tasks() == []

        await visitor.press(PIN)
        await visitor.hears("Claude is on it in billing with full mode, task one.")
    assert [task.mode for task in await agents.tasks()] == ["full"]


async def test_a_model_is_asked_for_in_the_wrong_place_and_put_right(agents: House) -> None:
    async with agents.called() as visitor:
        await visitor.until_quiet()
        await visitor.say("Have Codex use opus to fix the footer.")
        await visitor.hears("Shall Claude do it?")
        await visitor.until_quiet()
        await visitor.say("Yes, please.")
        await visitor.hears("Claude")
        await visitor.until_quiet()

    assert [(task.agent, task.model) for task in await agents.tasks()] == [("claude", "opus")]
