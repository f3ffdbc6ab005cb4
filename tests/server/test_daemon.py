"""The web server stops cleanly with calls and streams open."""

import asyncio
import contextlib
import json
from pathlib import Path

import httpx2
import websockets

from tests.server.house import KEY, open_house, serving


async def test_a_stop_ends_calls_and_streams_and_can_be_followed_by_a_start(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, contextlib.AsyncExitStack() as callers:
        served = contextlib.AsyncExitStack()
        url = await served.enter_async_context(serving(house))
        connection = await callers.enter_async_context(
            websockets.connect(url.replace("http", "ws") + "/talk", proxy=None)
        )
        await connection.send(json.dumps({"type": "start", "key": KEY}))
        assert json.loads(await connection.recv())["type"] == "ready"
        async with asyncio.timeout(3.0):
            await served.aclose()
        assert house.live == []
        async with serving(house, port=int(url.rpartition(":")[2])) as again:
            async with httpx2.AsyncClient(base_url=again) as client:
                assert (await client.get("/health")).json()["calls"] == 0
