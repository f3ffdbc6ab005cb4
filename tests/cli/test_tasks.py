"""`keryx tasks` against a served house, and against what a stopped daemon left."""

import json
import math
from pathlib import Path

import pytest

from keryx.agents.base import FakeTurn, Steer
from keryx.cli.tasks import LISTED
from keryx.config.daemon import DaemonPointer, announce
from keryx.config.places import places
from tests.cli.conftest import Keryx
from tests.server.house import ENDLESS, House, open_house


async def test_the_list_for_scripts_has_exactly_its_fields(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    task = await house.manager.dispatch("fix the invoice test", project="billing")
    await house.manager.wait(task.id)
    ran = await keryx("tasks", "list", "--json")
    assert (ran.code, ran.err) == (0, "")
    (row,) = json.loads(ran.out)
    assert tuple(row) == LISTED
    assert row["id"] == task.id
    assert row["status"] == "done"
    assert row["description"] == "fix the invoice test"
    assert row["project"] == "billing"
    assert row["summary"]
    assert row["told_at"] is None
    assert row["created_at"].endswith("Z")


async def test_the_list_for_people_is_one_line_each(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    ran = await keryx("tasks", "list")
    assert (ran.code, ran.out) == (0, "No tasks yet.\n")
    for number in range(3):
        await house.manager.wait((await house.manager.dispatch(f"job {number}\nwith [brackets] in it")).id)
    ran = await keryx("tasks", "list", "--limit", "2", "--status", "done")
    assert ran.out.splitlines() == [
        "3\tdone\t-\tjob 2 with [brackets] in it",
        "2\tdone\t-\tjob 1 with [brackets] in it",
    ]


async def test_a_task_is_shown_with_its_result(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    task = await house.manager.dispatch("fix it", project="billing")
    done = await house.manager.wait(task.id)
    ran = await keryx("tasks", "show", str(task.id))
    assert ran.code == 0
    assert f"Task {task.id}: done" in ran.out
    assert f"Summary: {done.summary}" in ran.out
    assert "Nobody has heard this yet." in ran.out
    assert json.loads((await keryx("tasks", "show", "1", "--json")).out)["progress_lines"] is not None


@pytest.mark.parametrize("command", ["show", "cancel", "follow"])
async def test_an_unknown_task_is_one_line(daemon: DaemonPointer, keryx: Keryx, command: str) -> None:
    ran = await keryx("tasks", command, "99")
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.startswith("keryx: ")
    assert "99" in ran.err
    assert ran.err.count("\n") == 1


async def test_a_task_is_cancelled_once(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.agent.script(ENDLESS)
    task = await house.manager.dispatch("take for ever")
    assert (await keryx("tasks", "cancel", str(task.id))).out == f"Task {task.id} is cancelled.\n"
    assert (await house.manager.status(task.id)).status == "cancelled"
    again = await keryx("tasks", "cancel", str(task.id))
    assert again.code == 1
    assert again.err.count("\n") == 1


async def test_following_prints_the_progress_and_the_end(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.agent.script(
        FakeTurn("SPOKEN_SUMMARY: All green.", takes_s=math.inf, progress=("reading", "testing")),
    )
    task = await house.manager.dispatch("fix it")
    ran = await keryx(
        "tasks", "follow", str(task.id), saw=lambda line: house.agent.release() if line == "testing" else None
    )
    assert ran.code == 0
    assert ran.out.splitlines() == ["reading", "testing", f"Task {task.id} is done. All green."]
    events = [json.loads(line) for line in (await keryx("tasks", "follow", "1", "--json")).out.splitlines()]
    assert [event["type"] for event in events] == ["progress", "progress", "ended"]


async def test_more_text_is_a_follow_up(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    task = await house.manager.dispatch("fix the invoice test")
    await house.manager.wait(task.id)

    ran = await keryx("tasks", "follow", str(task.id), "leap", "years", "too")
    assert (ran.code, ran.out) == (0, "Task 1 is taken up again.\n")
    await house.manager.wait(task.id)
    assert house.agent.asked[-1] == "leap years too"

    ran = await keryx("tasks", "follow", str(task.id), "and commit it", "--json")
    answer = json.loads(ran.out)
    assert (answer["how"], answer["task"]["id"]) == ("taken up", 1)


async def test_a_plan_is_let_go_from_the_command_line(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    task = await house.manager.wait((await house.manager.dispatch("move it", mode="plan", model="tiny")).id)
    assert "Model: tiny\nMode: plan\n" in (await keryx("tasks", "show", str(task.id))).out
    ran = await keryx("tasks", "follow", str(task.id), "go ahead", "--mode", "auto")
    assert ran.out == f"Task {task.id} is taken up again.\n"
    assert (await house.manager.wait(task.id)).mode == "auto"
    assert (await keryx("tasks", "follow", str(task.id), "--mode", "auto")).code == 2
    assert "there is no mode" in (await keryx("tasks", "follow", str(task.id), "go", "--mode", "yolo")).err


async def test_an_agent_that_takes_nothing_in_is_told_of(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf, steer=Steer.REFUSED))
    task = await house.manager.dispatch("fix it")
    await house.agent.begun()
    ran = await keryx("tasks", "follow", str(task.id), "leap years")
    assert ran.out == f"Task {task.id} does that next: its agent takes nothing in just now.\n"
    answer = json.loads((await keryx("tasks", "follow", str(task.id), "and tests", "--json")).out)
    assert (answer["how"], answer["refused"]) == ("next", True)


async def test_following_a_task_that_fails_says_so_by_its_exit_code(
    house: House, daemon: DaemonPointer, keryx: Keryx
) -> None:
    house.agent.script(FakeTurn(error="the disk is full"))
    task = await house.manager.dispatch("fix it")
    ran = await keryx("tasks", "follow", str(task.id))
    assert ran.code == 1
    assert f"Task {task.id} is failed." in ran.out
    assert ran.err == ""


async def test_what_a_stopped_daemon_left_can_still_be_read(home: Path, keryx: Keryx) -> None:
    async with open_house(home) as house:
        task = await house.manager.dispatch("fix it, the key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789")
        await house.manager.wait(task.id)
        await house.manager.mark_told([news.id for news in await house.manager.untold()])
        live = await house.manager.status(task.id)
    (row,) = json.loads((await keryx("tasks", "list", "--json")).out)
    assert tuple(row) == LISTED
    assert live.told_at is not None
    assert row["told_at"] == live.told_at.isoformat().replace("+00:00", "Z")
    assert "sk-ant" not in row["description"]
    assert json.loads((await keryx("tasks", "list", "--json", "--status", "failed")).out) == []
    assert f"Summary: {live.summary}" in (await keryx("tasks", "show", "1")).out
    unknown = await keryx("tasks", "show", "2")
    assert (unknown.code, unknown.err.count("\n")) == (1, 1)
    assert (await keryx("tasks", "cancel", "1")).err.startswith("keryx: No daemon is running.")


async def test_a_database_that_is_none_is_one_line(home: Path, keryx: Keryx) -> None:
    places().database.write_bytes(b"no database" * 100)
    ran = await keryx("tasks", "list")
    assert ran.code == 1
    assert ran.err.startswith("keryx: cannot read")
    assert ran.err.count("\n") == 1


async def test_another_daemons_key_is_one_line(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    announce(places(), DaemonPointer(daemon.url, "another-key"))
    ran = await keryx("tasks", "list")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "another-key" not in ran.err


async def test_a_pointer_to_a_closed_port_means_no_daemon(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    announce(places(), DaemonPointer("http://127.0.0.1:9", "key"))
    ran = await keryx("tasks", "list")
    assert ran.err == "keryx: No daemon is running. Start one with: keryx serve --demo\n"
