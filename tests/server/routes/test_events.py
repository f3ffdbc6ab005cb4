"""The stream of what changes: everything first, then each change, until either side goes."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2

from keryx.agents.base import FakeTurn
from keryx.clock import VirtualClock, settle
from keryx.server.stream import HEARTBEAT_S, HEARTBEATS_PER_CHECK
from tests.server.house import ENDLESS, KEY, House, open_house, serving

WAIT_S = 10.0


class Stream:
    """A reader of server-sent events."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines
        self.comments = 0

    async def next(self, name: str | None = None) -> tuple[str, dict]:
        """The next event, or the next one called `name`."""
        async with asyncio.timeout(WAIT_S):
            fields: dict[str, str] = {}
            async for line in self._lines:
                if line.startswith(":"):
                    self.comments += 1
                elif line:
                    field, _, value = line.partition(": ")
                    fields[field] = value
                elif fields and name in (None, fields["event"]):
                    return fields["event"], json.loads(fields["data"])
                else:
                    fields = {}
        raise EOFError("the stream ended")

    async def ended(self) -> bool:
        async with asyncio.timeout(WAIT_S):
            async for _ in self._lines:
                pass
        return True


@contextlib.asynccontextmanager
async def listening(client: httpx2.AsyncClient, **headers: str) -> AsyncIterator[Stream]:
    async with client.stream("GET", "/api/events", headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["Content-Type"].startswith("text/event-stream")
        yield Stream(response.aiter_lines())


async def test_it_begins_with_everything(client: httpx2.AsyncClient, house: House) -> None:
    house.agent.script(FakeTurn("SPOKEN_SUMMARY: Fixed."))
    task = await house.manager.dispatch("Fix it", project="billing")
    await house.manager.wait(task.id)
    async with listening(client, **{"Last-Event-ID": "999"}) as stream:
        name, snapshot = await stream.next()
    assert name == "snapshot"
    assert [task["summary"] for task in snapshot["tasks"]] == ["Fixed."]
    assert [news["text"] for news in snapshot["untold"]] == ["Fixed."]
    assert snapshot["voice"]["state"] == "loading"


async def test_a_tasks_life_is_told_as_it_happens(client: httpx2.AsyncClient, house: House) -> None:
    house.agent.script(FakeTurn("SPOKEN_SUMMARY: Fixed.", progress=("Reading",)))
    async with listening(client) as stream:
        await stream.next("snapshot")
        await client.post("/api/tasks", json={"description": "Fix it"})
        seen = [(await stream.next("task"))[1]["status"]]
        assert (await stream.next("progress"))[1]["text"] == "Reading"
        news = (await stream.next("news"))[1]
        assert (news["task_id"], news["text"], news["kind"]) == (1, "Fixed.", "done")
        await house.manager.mark_told([news["id"]])
        assert (await stream.next("told"))[1] == {"news_ids": [news["id"]]}
    assert seen == ["queued"]


async def test_the_voice_is_told_while_it_loads(client: httpx2.AsyncClient, house: House) -> None:
    async with listening(client) as stream:
        await stream.next("snapshot")
        await house.loading.load()
        assert (await stream.next("voice"))[1]["state"] == "ready"


async def test_two_listeners_hear_the_same(client: httpx2.AsyncClient, house: House) -> None:
    async with listening(client) as one, listening(client) as other:
        await one.next("snapshot")
        await other.next("snapshot")
        await house.manager.dispatch("Fix it")
        assert (await one.next("task"))[1]["id"] == (await other.next("task"))[1]["id"] == 1


async def test_silence_is_broken_so_that_nobody_takes_it_for_a_lost_line(tmp_path: Path, clock: VirtualClock) -> None:
    async with open_house(tmp_path) as house, serving(house, clock=clock) as url:
        async with httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {KEY}"}) as client:
            async with listening(client) as stream:
                await stream.next("snapshot")
                await settle()
                await clock.advance(HEARTBEAT_S)
                await house.manager.dispatch("Fix it")
                await stream.next("task")
                assert stream.comments >= 1


async def test_what_was_missed_is_found_by_looking_again(tmp_path: Path, clock: VirtualClock) -> None:
    async with open_house(tmp_path, ENDLESS) as house, serving(house, clock=clock) as url:
        async with httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {KEY}"}) as client:
            async with listening(client) as stream:
                await stream.next("snapshot")
                publish = house.manager._events.publish
                house.manager._events.publish = lambda event: None  # wake-ups lost on the way, as for a slow reader
                await house.manager.dispatch("Fix it")
                await house.agent.begun()  # the last that is told of it
                house.manager._events.publish = publish
                for _ in range(HEARTBEATS_PER_CHECK):
                    await clock.advance(HEARTBEAT_S)
                    await settle()
                assert (await stream.next("snapshot"))[1]["tasks"][0]["description"] == "Fix it"


async def test_a_stopping_daemon_ends_the_stream_at_once(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}) as client:
            async with contextlib.AsyncExitStack() as stack:
                served = contextlib.AsyncExitStack()
                client.base_url = await served.enter_async_context(serving(house))
                stream = await stack.enter_async_context(listening(client))
                await stream.next("snapshot")
                async with asyncio.TaskGroup() as group:
                    ended = group.create_task(stream.ended())
                    async with asyncio.timeout(2.0):
                        await served.aclose()
                assert ended.result()
