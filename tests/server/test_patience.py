"""Connections that ask for nothing, slowly or in great numbers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from keryx.server.patience import patient

WAIT_S = 5.0
REQUEST = b"GET / HTTP/1.1\r\nHost: house\r\n\r\n"


async def hello(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """A server that takes three connections and waits a fifth of a second."""
    protocol = patient(H11Protocol, max_connections=3, head_wait_s=0.2)
    config = uvicorn.Config(hello, port=0, http=protocol, log_config=None, lifespan="off")
    state = uvicorn.Server(config).server_state
    config.load()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0)
    async with server, asyncio.timeout(WAIT_S):
        yield server.sockets[0].getsockname()[1]


async def connected(port: int, first: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(first)
    return reader, writer


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What still comes until the other side closes."""
    with contextlib.suppress(ConnectionError):
        return await reader.read()
    return b""


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHo"], ids=["nothing", "half a head"])
async def test_a_request_that_never_comes_is_given_up(port: int, first: bytes) -> None:
    reader, writer = await connected(port, first)
    assert await ended(reader) == b""
    writer.close()


async def test_a_head_that_trickles_in_is_given_up_after_an_earlier_request_too(port: int) -> None:
    reader, writer = await connected(port, REQUEST)
    assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200")
    writer.write(b"GET / HTTP/1.1\r\nHo")
    assert await ended(reader) == b""
    writer.close()


async def test_one_connection_too_many_is_closed_and_the_next_is_taken_when_there_is_room(port: int) -> None:
    held = [await connected(port, REQUEST) for _ in range(3)]
    for reader, _ in held:
        await reader.readuntil(b"hello")
    refused, writer = await connected(port, REQUEST)
    assert await ended(refused) == b""
    writer.close()
    for reader, writer in held:
        writer.close()
        await ended(reader)
    reader, writer = await connected(port, REQUEST)
    assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200")
    writer.close()
