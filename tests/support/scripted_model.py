"""What every scripted model server shares: a script, what was asked, and HTTP/1.1 on loopback."""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from tests.support.model_steps import Step

ASKED_S = 30.0
LINE_BYTES = 2**26


@dataclass(frozen=True)
class Request:
    """One HTTP request; the names of its headers are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class ScriptedModel:
    """As `ModelServer`. A subclass answers the requests, by its vendor's protocol."""

    conversation: str
    """Which part of a request's body holds what the model is told."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        """Every event that was streamed, and every whole message."""
        self._steps: deque[Step] = deque()
        self._came = asyncio.Condition()
        self._connections: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)

    def script(self, *steps: Step) -> None:
        self._steps.extend(steps)

    def unscript(self) -> int:
        """Drop the steps that no request has used; how many there were."""
        unused = len(self._steps)
        self._steps.clear()
        return unused

    async def asked(self, times: int = 1) -> None:
        async with asyncio.timeout(ASKED_S), self._came:
            await self._came.wait_for(lambda: len(self.requests) >= times)

    def heard(self, text: str) -> int:
        newest = self.requests[-1][self.conversation] if self.requests else ()
        return sum(said.count(text) for said in _strings(newest))

    def number(self) -> int:
        """A number that was never given before, for an id."""
        return next(self._numbers)

    async def note(self, request: dict[str, Any]) -> None:
        """Keep a request for the model, and wake who waits for it."""
        async with self._came:
            self.requests.append(request)
            self._came.notify_all()

    async def answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays open."""
        raise NotImplementedError

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, for as long as its requests keep coming."""
        connection = asyncio.current_task()
        assert connection
        self._connections.add(connection)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self.answer(await _request(reader), reader, writer):
                    pass
        except asyncio.CancelledError:
            pass  # the test is over; a cancelled connection handler would only be logged
        finally:
            self._connections.discard(connection)
            writer.close()

    async def close(self) -> None:
        """Break every connection."""
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)


Served = TypeVar("Served", bound=ScriptedModel)


@asynccontextmanager
async def serving(model: Served, path: str = "") -> AsyncIterator[Served]:
    """`model` on a free port for the length of the block; every connection is closed at its end."""
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0, limit=LINE_BYTES)
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{path}"
    try:
        yield model
    finally:
        server.close()
        await model.close()
        await server.wait_closed()


async def reply(writer: asyncio.StreamWriter, status: int, body: bytes, **headers: str) -> None:
    """Answer with a whole body of JSON."""
    headers |= {"content-type": "application/json", "content-length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    # 529 is a provider's own number; http.HTTPStatus does not know it.
    writer.write(f"HTTP/1.1 {int(status)} Scripted\r\n{lines}\r\n".encode() + body)
    await writer.drain()


async def _request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
    return Request(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _strings(item)
        case dict():
            for item in value.values():
                yield from _strings(item)
