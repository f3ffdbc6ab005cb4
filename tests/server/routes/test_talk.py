"""The call's socket: who may open it, and that what is wrong ends in a sentence."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import cast
from urllib.parse import urlsplit

import pytest
import websockets
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from keryx.server.door import BUSY, MAX_AT_DOOR, MAX_CALLS
from keryx.voice.transports.base import AudioIn, LineClosed, MediaTransport, TextIn
from tests.server.house import KEY, House

WAIT_S = 10.0


@contextlib.asynccontextmanager
async def socket(url: str, *, origin: str | None = None, name: str = "127.0.0.1") -> AsyncIterator[ClientConnection]:
    """A socket to the house at `url`, asked for under the host name `name`."""
    port = urlsplit(url).port
    async with websockets.connect(
        f"ws://{name}:{port}/talk", host="127.0.0.1", port=port, origin=cast(Origin | None, origin), proxy=None
    ) as connection:
        yield connection


@contextlib.asynccontextmanager
async def called(url: str) -> AsyncIterator[ClientConnection]:
    async with socket(url) as connection:
        await connection.send(json.dumps({"type": "start", "key": KEY, "client": "terminal", "audio": True}))
        assert json.loads(await connection.recv())["type"] == "ready"
        yield connection


async def closed_with(connection: ClientConnection) -> int | None:
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(WAIT_S):
            while True:
                await connection.recv()
    return connection.close_code


async def echo(transport: MediaTransport) -> None:
    """A call that repeats what it is given."""
    with contextlib.suppress(LineClosed):
        while True:
            match await transport.receive():
                case TextIn(text):
                    await transport.caption("keryx", text, final=True, utterance=1)
                case AudioIn(payload):
                    await transport.play(payload)


async def test_a_call_is_taken_and_ends_when_the_caller_hangs_up(url: str, house: House) -> None:
    house.answer = echo
    async with called(url) as connection:
        await connection.send(json.dumps({"type": "text", "text": "hello"}))
        assert json.loads(await connection.recv())["text"] == "hello"
        await connection.send(b"\1\2\3\4")
        assert await connection.recv() == b"\1\2\3\4"
        assert (house.callers[0].kind, house.callers[0].proven) == ("terminal", True)
        assert len(house.live) == 1
        await connection.send(json.dumps({"type": "stop"}))
        assert await closed_with(connection) in (1000, 1005)
    assert house.live == []


async def test_a_page_of_another_origin_cannot_even_open_the_socket(url: str, house: House) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with socket(url, origin="http://evil.example"):
            pass
    assert refused.value.response.status_code == 403
    assert house.callers == []


async def test_a_name_that_was_rebound_to_this_machine_cannot_either(url: str) -> None:
    port = urlsplit(url).port
    with pytest.raises(InvalidStatus) as refused:
        async with socket(url, origin=f"http://evil.example:{port}", name="evil.example"):
            pass
    assert refused.value.response.status_code == 403


async def test_the_own_page_may_open_it(url: str, house: House) -> None:
    async with socket(url, origin=url) as connection:
        await connection.send(json.dumps({"type": "start", "key": KEY, "client": "page", "audio": False}))
        assert json.loads(await connection.recv())["type"] == "ready"
    assert house.callers[0].kind == "page"


async def test_the_wrong_key_is_told_so(url: str, house: House) -> None:
    async with socket(url) as connection:
        await connection.send(json.dumps({"type": "start", "key": "wrong", "client": "page", "audio": True}))
        assert json.loads(await connection.recv())["type"] == "error"
        assert await closed_with(connection) == 4401
    assert house.callers == []


async def test_sound_before_the_start_reaches_no_call(url: str, house: House) -> None:
    async with socket(url) as connection:
        await connection.send(b"\0" * 640)
        await connection.close()
    assert house.callers == []


async def test_five_megabytes_close_the_socket_and_only_that(url: str, house: House) -> None:
    house.answer = echo
    async with called(url) as connection, called(url) as other:
        await connection.send("x" * 5_000_000)
        assert await closed_with(connection) == 1009
        await other.send(json.dumps({"type": "text", "text": "still here"}))
        assert json.loads(await other.recv())["text"] == "still here"


@pytest.mark.parametrize("message", ["{", "[]", '{"type":"dance"}', '{"type":"text"}', '{"type":"key","digit":"12"}'])
async def test_a_garbled_message_is_answered_and_the_call_goes_on(url: str, house: House, message: str) -> None:
    house.answer = echo
    async with called(url) as connection:
        await connection.send(message)
        assert json.loads(await connection.recv())["type"] == "error"
        await connection.send(json.dumps({"type": "text", "text": "on"}))
        assert json.loads(await connection.recv())["text"] == "on"


async def test_a_caller_who_vanishes_ends_the_call(url: str, house: House) -> None:
    gone = asyncio.Event()

    async def answer(transport: MediaTransport) -> None:
        await echo(transport)
        gone.set()

    house.answer = answer
    async with called(url) as connection:
        connection.transport.abort()
        async with asyncio.timeout(WAIT_S):
            await gone.wait()


async def test_a_call_too_many_is_told_that_the_lines_are_busy(url: str, house: House) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(MAX_CALLS):
            await stack.enter_async_context(called(url))
        async with called(url) as one_more:
            assert json.loads(await one_more.recv()) == {"type": "error", "message": BUSY}
            assert json.loads(await one_more.recv()) == {"type": "ended", "reason": "busy"}
            assert await closed_with(one_more) == 1000
        assert len(house.callers) == MAX_CALLS


async def test_sockets_that_only_stand_at_the_door_do_not_crowd_out_whoever_is_inside(url: str, house: House) -> None:
    house.answer = echo
    async with contextlib.AsyncExitStack() as stack:
        inside = await stack.enter_async_context(called(url))
        for _ in range(MAX_AT_DOOR):
            await stack.enter_async_context(socket(url))
        with pytest.raises(InvalidStatus) as refused:
            await stack.enter_async_context(socket(url))
        assert refused.value.response.status_code == 403
        await inside.send(json.dumps({"type": "text", "text": "still here"}))
        assert json.loads(await inside.recv())["text"] == "still here"
    async with called(url):
        pass  # they have gone, and there is room again
