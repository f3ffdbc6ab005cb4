"""What a daemon that stopped, crashed or could not write leaves behind is taken up, stored and told."""

import asyncio
import logging
import math
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import text as sql

from keryx.agents.base import FRESH_START, FakeAgentRunner, FakeTurn
from keryx.clock import settle
from keryx.errors import Unavailable
from keryx.tasks.events import TaskProgressed
from keryx.tasks.manager import Limits
from keryx.tasks.models import Task, TaskStatus
from keryx.tasks.turns import STORE_RETRY_S
from tests.tasks.house import House, next_news

ENDLESS = FakeTurn("SPOKEN_SUMMARY: At last.", takes_s=math.inf)


async def test_stopping_leaves_running_tasks_running_and_their_agents_stopped(house: House) -> None:
    house.agent.script(ENDLESS)
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        await manager.stop()
        assert (await manager.status(task.id)).status is TaskStatus.RUNNING
        assert await manager.untold() == []
        await manager.stop()

    assert house.agent.still_open == 0


async def test_a_running_task_is_taken_up_again_in_its_conversation(house: House) -> None:
    house.agent.script(ENDLESS)
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        await manager.follow_up(task.id, "Leap years too")
    async with house.opened() as manager:
        ended = await manager.wait(task.id)
        (news,) = await manager.untold()

    assert (ended.status, ended.epoch) == (TaskStatus.DONE, 2)
    assert [session.session_id for session in house.agent.sessions] == ["fake-1", "fake-1"]
    again = house.agent.prompts[1]
    assert "cut off before it ended" in again
    assert again.index("Fix it") < again.index("Leap years too")
    assert news.task_id == task.id


async def test_queued_tasks_are_taken_up_again_in_order(house: House) -> None:
    house.limits = Limits(1, None, "UTC")
    house.agent.script(ENDLESS)
    async with house.opened() as manager:
        tasks = [await manager.dispatch(f"job {number}") for number in range(3)]
        await house.agent.begun()
    async with house.opened() as manager:
        for task in tasks:
            assert (await manager.wait(task.id)).status is TaskStatus.DONE

    assert [words for prompt in house.agent.prompts[1:] for words in prompt.split("\n") if words.startswith("job")] == [
        "job 0",
        "job 1",
        "job 2",
    ]


async def test_untold_news_are_found_again(house: House) -> None:
    async with house.opened() as manager:
        await manager.wait((await manager.dispatch("anything")).id)
        before = await manager.untold()
    async with house.opened() as manager:
        assert await manager.untold() == before != []


class Forgetful(FakeAgentRunner):
    """Cannot take up a conversation, and does not say why."""

    async def open(self, task: Task, *, resume: str | None = None):
        if resume is not None:
            raise OSError("rollout file is gone")
        return await super().open(task)


async def test_a_lost_conversation_is_begun_anew_with_a_recap_and_that_is_said(house: House) -> None:
    house.agent = Forgetful(FakeTurn("SPOKEN_SUMMARY: Renamed it."), clock=house.clock)
    async with house.opened() as manager:
        task = await manager.wait((await manager.dispatch("Rename it")).id)
        await manager.follow_up(task.id, "And the tests")
        ended = await manager.wait(task.id)
        news = await manager.latest_news(task.id)

    recap = house.agent.prompts[1]
    assert all(part in recap for part in ("Rename it", "Renamed it.", "And the tests"))
    assert news is not None
    assert news.text.startswith(FRESH_START)
    assert ended.session_id == "fake-2"


async def test_an_agent_that_forgot_by_itself_gets_the_recap_too(house: House) -> None:
    async with house.opened() as manager:
        task = await manager.wait((await manager.dispatch("Rename it")).id)
        await manager.wait((await manager.dispatch("Something else")).id)
        del house.agent.sessions[0]
        await manager.follow_up(task.id, "And the tests")
        await manager.wait(task.id)
        news = await manager.latest_news(task.id)

    assert "Rename it" in house.agent.prompts[2]
    assert news is not None
    assert news.text.count(FRESH_START) == 1


async def test_while_an_agent_cannot_be_started_its_conversation_is_not_forgotten(house: House) -> None:
    async with house.opened() as manager:
        task = await manager.wait((await manager.dispatch("Rename it")).id)
        house.agent.open_error = Unavailable("no network")
        await manager.follow_up(task.id, "And the tests")
        assert (await manager.wait(task.id)).status is TaskStatus.FAILED
        house.agent.open_error = None
        await manager.follow_up(task.id, "Once more")
        assert (await manager.wait(task.id)).session_id == "fake-1"


async def test_a_conversations_name_that_is_known_only_while_it_works_is_kept_for_the_next_daemon(house: House) -> None:
    house.agent.script(FakeTurn(takes_s=3600, progress=("Looking", "Testing")))
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        house.agent.sessions[0].session_id = "named-late"
        async with manager.events() as events:
            await house.clock.advance(1300)
            await anext(event async for event in events if isinstance(event, TaskProgressed))
        assert (await manager.status(task.id)).session_id == "named-late"


async def test_a_task_whose_agent_is_no_longer_installed_fails_and_says_so(house: House) -> None:
    house.others["codex"] = FakeAgentRunner(ENDLESS, clock=house.clock, name="codex")
    async with house.opened() as manager:
        task = await manager.dispatch("anything", agent="codex")
        await house.others["codex"].begun()
    house.others.clear()
    async with house.opened() as manager:
        ended = await manager.wait(task.id)
        fine = await manager.wait((await manager.dispatch("something else")).id)

    assert ended.status is TaskStatus.FAILED
    assert 'no agent "codex"' in (ended.error or "")
    assert fine.status is TaskStatus.DONE


async def test_a_result_that_the_full_disk_refuses_is_kept_until_there_is_room(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.agent.script(FakeTurn("x" * 200_000 + "\n\nSPOKEN_SUMMARY: At last.", takes_s=math.inf))
    async with house.opened() as manager, manager.events() as events:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        await house.database.write(lambda connection: connection.execute(sql("PRAGMA max_page_count = 1")))
        with caplog.at_level(logging.WARNING):
            house.agent.release()
            async with asyncio.timeout(10):
                while "kept in memory" not in caplog.text:
                    await settle()
        assert (await manager.status(task.id)).status is TaskStatus.RUNNING
        with pytest.raises(Unavailable, match="disk is full"):
            await manager.dispatch("x" * 20_000)
        await house.database.write(lambda connection: connection.execute(sql("PRAGMA max_page_count = 1000000")))
        waiting = asyncio.ensure_future(next_news(events))
        while not waiting.done():
            await house.clock.advance(STORE_RETRY_S)
        assert waiting.result().text == "At last."
        assert (await manager.status(task.id)).status is TaskStatus.DONE
        assert len(await manager.list()) == len(house.agent.prompts) == 1


async def test_progress_that_cannot_be_stored_does_not_end_the_turn(house: House) -> None:
    house.write_budget_s = house.busy_timeout_s = 0.02
    house.agent.script(FakeTurn("SPOKEN_SUMMARY: At last.", progress=("Reading", "Testing"), takes_s=9))
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        other = sqlite3.connect(house.file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await house.clock.advance(4)
        await asyncio.to_thread(threading.Event().wait, 0.3)
        other.execute("ROLLBACK")
        other.close()
        ended = asyncio.ensure_future(manager.wait(task.id))
        while not ended.done():
            await house.clock.advance(1)
        assert ended.result().summary == "At last."


LOCKER = """
import sqlite3, sys, time
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
other.execute("ROLLBACK")
"""


async def test_a_result_is_stored_and_told_though_another_process_locks_the_database_for_ten_seconds(
    house: House,
) -> None:
    house.agent.script(ENDLESS)
    async with house.opened() as manager, manager.events() as events:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        command = [sys.executable, "-c", LOCKER, str(house.file), "10"]
        locker = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        assert locker.stdout is not None
        assert await locker.stdout.readline() == b"locked\n"
        started = time.monotonic()
        house.agent.release()
        async with asyncio.timeout(30):
            news = await next_news(events)
        held_s = time.monotonic() - started
        await locker.wait()
        assert await manager.untold() == [news]

    assert held_s > 8
    assert (news.task_id, news.text) == (task.id, "At last.")


DAEMON = """
import asyncio, math, sys
from pathlib import Path
from keryx.agents.base import FakeAgentRunner, FakeTurn
from keryx.clock import VirtualClock
from keryx.tasks.events import TaskProgressed
from keryx.tasks.manager import Limits
from tests.tasks.house import House

async def main():
    clock = VirtualClock()
    stuck, quick = FakeTurn(takes_s=math.inf, when="stuck"), FakeTurn("SPOKEN_SUMMARY: Quick.", when="quick")
    agent = FakeAgentRunner(stuck, quick, clock=clock)
    house = House(Path(sys.argv[1]), clock, agent, Limits(2, None, "UTC"))
    async with house.opened() as manager:
        stuck = await manager.dispatch("stuck", request_id="stuck")
        await agent.begun()
        await manager.follow_up(stuck.id, "steered in")
        await manager.wait((await manager.dispatch("quick")).id)
        print("in the middle", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_daemon_killed_in_the_middle_of_a_task_takes_it_up_at_the_next_start(house: House) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", DAEMON, str(house.folder)]
    child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, cwd=root)
    assert child.stdout is not None
    async with asyncio.timeout(30):
        assert await child.stdout.readline() == b"in the middle\n"
    child.send_signal(signal.SIGKILL)
    await child.wait()

    async with house.opened() as manager:
        again = await manager.dispatch("stuck", request_id="stuck")
        ended = await manager.wait(again.id)
        told = [news.text for news in await manager.untold()]
        assert len(await manager.list()) == 2

    assert (again.id, ended.status, ended.epoch) == (1, TaskStatus.DONE, 2)
    assert told[0] == "Quick."
    (prompt,) = house.agent.prompts
    assert "goes on from" not in prompt
    assert prompt.index("stuck") < prompt.index("steered in")


async def test_a_database_locked_at_start_is_said_and_not_waited_for_for_ever(house: House) -> None:
    house.write_budget_s = house.busy_timeout_s = 0.02
    other = sqlite3.connect(house.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked by another program"):
        async with house.opened():
            pass
    other.execute("ROLLBACK")
    other.close()
