"""The door answers for its health at once, and lets the rest in when the house is open."""

import asyncio
import json
from typing import Any

import pytest

from keryx.cli.doorstep import Doorstep


class Asked:
    """One request at an ASGI door, and what came back."""

    def __init__(self, door: Doorstep, path: str, kind: str = "http") -> None:
        self.sent: list[dict[str, Any]] = []
        self._door = door
        self._scope = {"type": kind, "path": path}

    async def run(self) -> "Asked":
        await self._door(self._scope, self._receive, self._send)
        return self

    async def _receive(self) -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def _send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def body(self) -> Any:
        return json.loads(self.sent[1]["body"])


async def house(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b'"from the house"'})


async def test_health_is_answered_before_the_house_is_open() -> None:
    asked = await Asked(Doorstep("1.2.3"), "/health").run()
    assert asked.status == 200
    assert asked.body == {"status": "ok", "voice": "loading", "calls": 0, "version": "1.2.3"}


@pytest.mark.parametrize("path", ["/", "/health", "/api/tasks"])
async def test_the_house_answers_everything_once_it_is_open(path: str) -> None:
    door = Doorstep("1")
    door.open(house)
    assert (await Asked(door, path).run()).body == "from the house"


async def test_whoever_comes_early_waits_and_is_let_in() -> None:
    door = Doorstep("1")
    async with asyncio.TaskGroup() as group:
        early = group.create_task(Asked(door, "/api/tasks").run())
        await asyncio.sleep(0)
        assert not early.done()
        door.open(house)
    assert early.result().body == "from the house"


async def test_nobody_is_let_in_once_the_house_closes() -> None:
    door = Doorstep("1")
    door.open(house)
    door.shut()
    for path in ("/", "/health"):
        asked = await Asked(door, path).run()
        assert asked.status == 503
        assert asked.body == {"error": "Keryx is stopping."}
    call = await Asked(door, "/talk", "websocket").run()
    assert call.sent == [{"type": "websocket.close", "code": 1013, "reason": "Keryx is not up."}]


async def test_whoever_waits_is_told_when_the_house_does_not_open() -> None:
    door = Doorstep("1")
    async with asyncio.TaskGroup() as group:
        early = group.create_task(Asked(door, "/").run())
        await asyncio.sleep(0)
        door.shut()
    assert early.result().status == 503
