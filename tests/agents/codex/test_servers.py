"""Waiting for servers of tools to come up: no longer than it takes, and never for ever."""

import asyncio

import pytest

from keryx.agents.codex.servers import Startups

BOUND_S = 5.0


def told(name: str, status: str) -> dict[str, object]:
    return {"threadId": "t", "name": name, "status": status, "error": None}


@pytest.mark.parametrize("end", ["ready", "failed", "cancelled"])
async def test_the_wait_ends_when_each_has_come_up_or_failed(end: str):
    startups = Startups()
    startups.told(told("mail", "starting"))
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        waiting = group.create_task(startups.up(["mail", "notes"], within_s=60))
        for status in (told("other", "ready"), told("mail", "ready"), told("notes", "starting")):
            startups.told(status)
            await asyncio.sleep(0)
        assert not waiting.done()
        startups.told(told("notes", end))


async def test_servers_that_were_up_before_are_not_waited_for():
    startups = Startups()
    startups.told(told("mail", "starting"))
    startups.told(told("mail", "ready"))
    async with asyncio.timeout(BOUND_S):
        await startups.up(["mail"], within_s=60)


async def test_a_codex_that_tells_of_no_servers_is_not_waited_for(caplog: pytest.LogCaptureFixture):
    startups = Startups()
    startups.told({"something": "else"})
    async with asyncio.timeout(BOUND_S):
        await startups.up(["mail"], within_s=60)
    assert "not there yet" in caplog.text


async def test_a_server_that_never_comes_up_is_waited_for_no_longer_than_that():
    startups = Startups()
    startups.told(told("mail", "starting"))
    async with asyncio.timeout(BOUND_S):
        await startups.up(["mail"], within_s=0.05)
