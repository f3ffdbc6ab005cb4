"""What a tool call does, once, and what it answers when it does nothing."""

import asyncio
import json
import math
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keryx.agents.base import FakeTurn
from keryx.agents.registry import AgentRegistry
from keryx.clock import VirtualClock
from keryx.errors import Unavailable
from keryx.security.pin import PinGate
from keryx.tasks.manager import Limits, TaskManager
from keryx.voice.tools.toolbox import MAX_ARGUMENT_CHARS, Toolbox
from tests.voice.tools.desk import Desk, Works, works

MALFORMED = [
    '{"project":"a',
    '"{\\"id\\":1}"',
    "null",
    "[1]",
    "",
    "{}",
    "true",
    "7",
    "not json",
    '{"description": 5}',
    '{"description": "   "}',
    '{"description": null}',
    '{"description": "fix it", "colour": "red"}',
    '{"description": "fix it", "project": ["billing"]}',
    '{"description": "fix it", "mode": "yolo"}',
    '{"description": "fix it", "description": "drop it"}',
    '{"description": NaN}',
    "[" * 100_000,
    json.dumps({"description": "x" * (MAX_ARGUMENT_CHARS + 1)}),
]


@pytest.mark.parametrize("arguments", MALFORMED, ids=lambda text: text[:40])
async def test_malformed_arguments_do_nothing_and_a_later_valid_call_runs_once(
    toolbox: Toolbox, manager: TaskManager, arguments: str
) -> None:
    refused = await toolbox.call("dispatch_task", arguments, call_id="c1")

    assert (refused.ok, refused.code) == (False, "bad_arguments")
    assert refused.error
    assert "call it again" in refused.error
    assert await manager.list() == []

    done = await toolbox.call("dispatch_task", '{"description": "fix the test"}', call_id="c1")
    assert done.ok
    assert len(await manager.list()) == 1


@pytest.mark.parametrize("task_id", [None, "", "four", "4.5", 4.5, True, 0, -4, [4], math.nan, math.inf, "9" * 40])
async def test_a_task_id_that_is_no_number_is_refused(toolbox: Toolbox, task_id: object) -> None:
    result = await toolbox.call("cancel_task", {"task_id": task_id}, call_id="c1")

    assert result.code == "bad_arguments"
    assert result.error is not None
    assert "task_id" in result.error


async def test_a_task_id_written_as_text_is_taken(toolbox: Toolbox, house: Works) -> None:
    await toolbox.call("dispatch_task", {"description": "fix the test"}, call_id="c1")

    result = await toolbox.call("get_task_status", {"task_id": "1"}, call_id="c2")

    assert result.ok
    assert result.value["task_id"] == 1


async def test_an_unknown_tool_is_answered_with_the_ones_there_are(toolbox: Toolbox) -> None:
    result = await toolbox.call("format_disk", {}, call_id="c1")

    assert result.code == "bad_arguments"
    assert result.error is not None
    assert "dispatch_task" in result.error


async def test_the_same_call_id_at_the_same_time_makes_one_task_and_one_answer(
    toolbox: Toolbox, manager: TaskManager
) -> None:
    results = await asyncio.gather(
        *(toolbox.call("dispatch_task", {"description": "fix the test"}, call_id="c1") for _ in range(5))
    )

    assert len(await manager.list()) == 1
    assert len({id(result) for result in results}) == 1


async def test_a_call_that_was_cut_off_and_comes_again_makes_one_task(toolbox: Toolbox, manager: TaskManager) -> None:
    async with asyncio.TaskGroup() as group:
        first = group.create_task(toolbox.call("dispatch_task", {"description": "fix the test"}, call_id="c1"))
        for _ in range(3):
            await asyncio.sleep(0)
        first.cancel()

    again = await toolbox.call("dispatch_task", {"description": "fix the test"}, call_id="c1")

    assert again.ok
    assert [task.id for task in await manager.list()] == [again.value["task_id"]]


async def test_a_follow_up_repeated_by_its_call_id_is_passed_on_once(toolbox: Toolbox, house: Works) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf))
    task = await toolbox.call("dispatch_task", {"description": "fix the test"}, call_id="c1")
    await house.agent.begun()
    words = {"task_id": task.value["task_id"], "text": "leap years too"}

    first = await toolbox.call("send_followup", words, call_id="c2")
    second = await toolbox.call("send_followup", words, call_id="c2")

    assert first is second
    assert first.value["how"] == "steered"
    assert house.agent.steered == ["leap years too"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("dispatch_task", {"description": "fix the test"}),
        ("send_followup", {"task_id": 1, "text": "more"}),
        ("cancel_task", {"task_id": 1}),
        ("request_callback", {}),
    ],
)
async def test_who_is_not_proven_may_not_act_and_may_after_the_pin(
    toolbox: Toolbox, desk: Desk, manager: TaskManager, house: Works, name: str, arguments: dict
) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf))
    await manager.dispatch("something to act on")
    await house.agent.begun()
    desk.proven = False

    refused = await toolbox.call(name, arguments, call_id="c1")
    assert refused.code == "pin_needed"
    assert len(await manager.list()) == 1

    assert (await toolbox.call("submit_pin", {"pin": "427190"}, call_id="c2")).ok
    assert (await toolbox.call(name, arguments, call_id="c1")).ok


@pytest.mark.parametrize("name", ["list_tasks", "list_projects"])
async def test_who_is_not_proven_may_ask(toolbox: Toolbox, desk: Desk, name: str) -> None:
    desk.proven = False

    assert (await toolbox.call(name, {}, call_id="c1")).ok


@pytest.mark.parametrize("pin", [427190, "12", "abcdef", "", None, "4271904271904271900"])
async def test_a_pin_that_is_no_string_of_digits_costs_no_try(toolbox: Toolbox, desk: Desk, pin: object) -> None:
    desk.proven = False

    for number in range(5):
        assert (await toolbox.call("submit_pin", {"pin": pin}, call_id=f"c{number}")).code == "bad_arguments"

    assert (await toolbox.call("submit_pin", {"pin": "42-71-90"}, call_id="last")).ok


async def test_a_pin_with_leading_zeros_survives_json(toolbox: Toolbox, desk: Desk) -> None:
    desk.proven, desk.gate = False, PinGate("001234")

    assert (await toolbox.call("submit_pin", '{"pin": 1234}', call_id="c1")).code == "bad_arguments"
    assert (await toolbox.call("submit_pin", '{"pin": "001234"}', call_id="c2")).value["outcome"] == "accepted"


async def test_wrong_pins_say_how_many_tries_are_left_and_the_last_ends_the_call(toolbox: Toolbox, desk: Desk) -> None:
    desk.proven = False

    left = [
        (await toolbox.call("submit_pin", {"pin": "000000"}, call_id=f"c{number}")).value["tries_left"]
        for number in range(3)
    ]

    assert left == [2, 1, 0]
    assert desk.over
    assert not desk.proven


async def test_the_same_wrong_pin_call_repeated_costs_one_try(toolbox: Toolbox, desk: Desk) -> None:
    desk.proven = False

    results = [await toolbox.call("submit_pin", {"pin": "000000"}, call_id="c1") for _ in range(6)]

    assert results[-1].value["tries_left"] == 2


async def test_a_person_without_a_pin_cannot_prove_anything(toolbox: Toolbox, desk: Desk) -> None:
    desk.gate, desk.proven = PinGate(None), False

    result = await toolbox.call("submit_pin", {"pin": "1234"}, call_id="c1")

    assert result.value["outcome"] == "not_set"


async def test_a_project_is_taken_in_its_configured_spelling_and_an_unknown_one_is_named_with_the_known(
    toolbox: Toolbox, manager: TaskManager
) -> None:
    good = await toolbox.call("dispatch_task", {"description": "fix", "project": "website"}, call_id="c1")
    bad = await toolbox.call("dispatch_task", {"description": "fix", "project": "kitchen"}, call_id="c2")

    assert good.value["project"] == "Website"
    assert bad.code == "not_found"
    assert bad.spoken == "I don't know that project. There is billing, Website."
    assert len(await manager.list()) == 1


async def test_a_limit_is_said_as_a_limit(toolbox: Toolbox) -> None:
    for number in range(3):
        assert (await toolbox.call("dispatch_task", {"description": "fix"}, call_id=f"c{number}")).ok

    result = await toolbox.call("dispatch_task", {"description": "fix"}, call_id="one too many")

    assert result.code == "budget"
    assert result.spoken is not None
    assert "limit" in result.spoken


@pytest.mark.parametrize("name", ["get_task_status", "get_task_result", "cancel_task", "request_callback"])
async def test_a_task_that_is_not_there_is_not_found(toolbox: Toolbox, name: str) -> None:
    result = await toolbox.call(name, {"task_id": 99}, call_id="c1")

    assert result.code == "not_found"
    assert result.spoken


async def test_a_task_that_has_ended_cannot_be_cancelled(toolbox: Toolbox, house: Works) -> None:
    await toolbox.call("dispatch_task", {"description": "fix"}, call_id="c1")
    await house.done(1)

    result = await toolbox.call("cancel_task", {"task_id": 1}, call_id="c2")

    assert result.code == "refused"


async def test_a_result_carries_the_agents_summary_and_its_news(toolbox: Toolbox, house: Works) -> None:
    house.agent.script(FakeTurn("SPOKEN_SUMMARY: It was a rounding error."))
    await toolbox.call("dispatch_task", {"description": "fix"}, call_id="c1")
    await house.done(1)

    result = await toolbox.call("get_task_result", {"task_id": 1}, call_id="c2")

    assert result.value["text"] == "It was a rounding error."
    assert result.value["kind"] == "done"


async def test_a_callback_is_noted_and_never_promised(toolbox: Toolbox, house: Works, manager: TaskManager) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf))
    await toolbox.call("dispatch_task", {"description": "fix"}, call_id="c1")

    result = await toolbox.call("request_callback", {}, call_id="c2")

    assert result.value == {"task_id": 1, "will_ring": False}
    assert (await manager.status(1)).callback_requested


async def test_ending_the_call_ends_it(toolbox: Toolbox, desk: Desk) -> None:
    assert (await toolbox.call("end_call", {}, call_id="c1")).ok
    assert desk.over


class BrokenManager(TaskManager):
    """A manager whose store is down, or that has a defect."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def status(self, task_id: int):
        raise self.error


@pytest.mark.parametrize(
    ("error", "spoken"),
    [(Unavailable("the disk is full", spoken="My disk is full."), "My disk is full."), (ZeroDivisionError(), None)],
)
async def test_what_breaks_inside_a_tool_is_an_answer_too(
    house: Works, desk: Desk, error: Exception, spoken: str | None
) -> None:
    toolbox = Toolbox(BrokenManager(error), AgentRegistry({"fake": house.agent}, "fake"), [], desk)

    result = await toolbox.call("get_task_status", {"task_id": 1}, call_id="c1")

    assert (result.code, result.spoken) == ("unavailable", spoken)


def test_every_tool_has_a_schema_that_names_its_arguments(toolbox: Toolbox) -> None:
    schemas = {schema["name"]: schema["parameters"] for schema in toolbox.schemas()}

    assert set(schemas) == {
        "dispatch_task",
        "send_followup",
        "list_tasks",
        "get_task_status",
        "get_task_result",
        "cancel_task",
        "request_callback",
        "list_projects",
        "submit_pin",
        "end_call",
    }
    assert list(schemas["dispatch_task"]["properties"]) == ["description", "project", "agent", "model", "mode"]
    assert schemas["dispatch_task"]["required"] == ["description"]
    assert all(schema["additionalProperties"] is False for schema in schemas.values())
    json.dumps(schemas)


@pytest.fixture
async def two_agents(tmp_path: Path, clock: VirtualClock, desk: Desk) -> AsyncIterator[Toolbox]:
    limits = Limits(max_concurrent=2, daily_cap=None, timezone="UTC")
    async with works(tmp_path, clock, limits, ("codex", "claude")) as opened:
        yield Toolbox(opened.manager, opened.registry, ["billing"], desk)


@pytest.mark.parametrize(
    ("wrong", "known"),
    [
        ({"agent": "gemini"}, ("codex", "claude")),
        ({"agent": "codex", "model": "opus"}, ("claude", "gpt-5.5")),
        ({"agent": "claude", "model": "the big one"}, ("opus", "sonnet", "haiku")),
        ({"agent": "claude", "model": "gpt-5.5"}, ("codex", "opus", "sonnet", "haiku")),
    ],
    ids=lambda value: " ".join(value.values()) if isinstance(value, dict) else "",
)
async def test_an_agent_or_a_model_that_is_not_there_is_refused_with_the_known_ones(
    two_agents: Toolbox, wrong: dict[str, str], known: tuple[str, ...]
) -> None:
    refused = await two_agents.call("dispatch_task", {"description": "fix it", **wrong}, call_id="c1")

    assert (refused.ok, refused.code) == (False, "not_found")
    assert refused.error
    assert all(name in refused.error for name in known)
    assert refused.spoken
    assert await two_agents.manager.list() == []


async def test_the_answer_says_who_does_it_and_how(two_agents: Toolbox) -> None:
    done = await two_agents.call(
        "dispatch_task", {"description": "fix it", "model": "Opus", "mode": "plan"}, call_id="c1"
    )

    assert {name: done.value[name] for name in ("agent", "model", "mode")} == {
        "agent": "claude",
        "model": "opus",
        "mode": "plan",
    }


async def test_a_follow_up_lets_a_plan_go_and_says_in_which_mode(two_agents: Toolbox) -> None:
    made = await two_agents.call("dispatch_task", {"description": "fix it", "mode": "plan"}, call_id="c1")
    task_id = made.value["task_id"]
    await two_agents.manager.wait(task_id)

    arguments = {"task_id": task_id, "text": "go ahead", "mode": "auto"}
    done = await two_agents.call("send_followup", arguments, call_id="c2")

    assert done.value == {"task_id": task_id, "agent": "codex", "how": "taken up", "refused": False, "mode": "auto"}
    assert (await two_agents.manager.wait(task_id)).mode == "auto"


def test_a_model_is_told_to_hear_a_yes_before_full_mode(toolbox: Toolbox) -> None:
    schemas = {schema["name"]: schema["parameters"]["properties"] for schema in toolbox.schemas()}
    for tool in ("dispatch_task", "send_followup"):
        assert "heard yes" in schemas[tool]["mode"]["description"]
