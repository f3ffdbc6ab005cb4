"""A task's mode, and the follow-up that changes it: a plan is carried out in the same conversation."""

import math

import pytest

from keryx.agents.base import FakeTurn
from keryx.errors import Refused
from keryx.prompts import table
from keryx.tasks.events import TaskChanged
from keryx.tasks.manager import FollowUpHow
from keryx.tasks.models import TaskStatus
from tests.tasks.house import House

PLAN = FakeTurn("SPOKEN_SUMMARY: Three steps, starting with the tests. Shall I carry it out?")


def modes_of(house: House) -> list[str]:
    """The mode each conversation was opened in."""
    return [session.task.mode for session in house.agent.sessions]


async def test_a_plan_is_carried_out_in_the_same_conversation_with_another_mode(house: House) -> None:
    house.agent.script(PLAN)
    async with house.opened() as manager:
        task = await manager.wait((await manager.dispatch("Move to Postgres", mode="plan")).id)
        followed = await manager.follow_up(task.id, "go ahead", mode="auto")
        done = await manager.wait(task.id)

    assert (followed.how, followed.new_mode, followed.task.mode) == (FollowUpHow.TAKEN_UP, "auto", "auto")
    assert done.status is TaskStatus.DONE
    assert modes_of(house) == ["plan", "auto"]
    assert len({session.session_id for session in house.agent.sessions}) == 1
    assert house.agent.asked == ["Move to Postgres", "go ahead"]
    assert table("modes.toml")["auto"].strip() in house.agent.prompts[1]
    assert house.agent.still_open == 0


async def test_a_running_plan_is_not_steered_but_carried_out_next(house: House) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf))
    async with house.opened() as manager:
        task = await manager.dispatch("Move to Postgres", mode="plan")
        await house.agent.begun()
        followed = await manager.follow_up(task.id, "just do it", mode="full")
        house.agent.release()
        await manager.wait(task.id)

    assert (followed.how, followed.refused, followed.new_mode) == (FollowUpHow.NEXT, False, "full")
    assert house.agent.steered == []
    assert house.agent.asked == ["Move to Postgres", "just do it"]
    assert modes_of(house) == ["plan", "full"]
    assert len({session.session_id for session in house.agent.sessions}) == 1
    assert house.agent.still_open == 0


async def test_the_first_turn_already_runs_in_a_mode_that_came_while_it_waited(house: House) -> None:
    async with house.opened() as manager:
        house.agent.script(FakeTurn(takes_s=math.inf), FakeTurn())
        first = await manager.dispatch("Look", project="billing")
        await house.agent.begun()
        task = await manager.dispatch("Move to Postgres", project="billing", mode="plan")
        followed = await manager.follow_up(task.id, "and do it", mode="auto")
        house.agent.release()
        await manager.wait(first.id)
        await manager.wait(task.id)

    assert (followed.how, followed.new_mode) == (FollowUpHow.NEXT, "auto")
    assert modes_of(house) == ["auto", "auto"]


async def test_the_mode_it_has_already_changes_nothing(house: House) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf))
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        followed = await manager.follow_up(task.id, "and test it", mode="auto")
        house.agent.release()
        await manager.wait(task.id)

    assert (followed.how, followed.new_mode) == (FollowUpHow.STEERED, None)
    assert house.agent.steered == ["and test it"]


async def test_an_agent_that_cannot_be_opened_in_the_new_mode_fails_with_a_sentence(house: House) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf))
    async with house.opened() as manager:
        task = await manager.dispatch("Move to Postgres", mode="plan")
        await house.agent.begun()
        await manager.follow_up(task.id, "do it", mode="auto")
        house.agent.open_error = Refused("no sandbox here", spoken="I can't sandbox it here.")
        house.agent.release()
        ended = await manager.wait(task.id)

    assert (ended.status, ended.summary) == (TaskStatus.FAILED, "I can't sandbox it here.")
    assert house.agent.asked == ["Move to Postgres"]


async def test_no_such_mode_is_refused_and_nothing_is_added(house: House) -> None:
    async with house.opened() as manager:
        task = await manager.wait((await manager.dispatch("Look")).id)
        with pytest.raises(Refused, match="no mode 'yolo'"):
            await manager.follow_up(task.id, "do it", mode="yolo")
        assert (await manager.status(task.id)).status is TaskStatus.DONE
    assert house.agent.asked == ["Look"]


async def test_whoever_watches_sees_the_new_mode_at_once(house: House) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf))
    async with house.opened() as manager:
        task = await manager.dispatch("Move to Postgres", mode="plan")
        await house.agent.begun()
        async with manager.events() as events:
            await manager.follow_up(task.id, "do it", mode="auto")
            event = await anext(events)
        house.agent.release()
        await manager.wait(task.id)

    assert isinstance(event, TaskChanged)
    assert (event.task.mode, event.task.status) == ("auto", TaskStatus.RUNNING)


async def test_the_owners_name_reaches_the_agent(house: House) -> None:
    house.owner = "Ana"
    async with house.opened() as manager:
        await manager.wait((await manager.dispatch("Look")).id)

    assert "by Ana, by voice" in " ".join(house.agent.prompts[0].split())


async def test_a_second_turn_in_the_same_conversation_is_reminded_only(house: House) -> None:
    async with house.opened() as manager:
        task = await manager.wait((await manager.dispatch("Look")).id)
        await manager.follow_up(task.id, "and again")
        await manager.wait(task.id)

    first, second = house.agent.prompts
    assert len(second) < len(first) / 2
    assert "SPOKEN_SUMMARY:" in second
