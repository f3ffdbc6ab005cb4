"""Lines to try: how to open each kind of transport and how its caller's side looks."""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from keryx.clock import SystemClock
from keryx.voice.transports.base import AudioIn, KeyIn, LineClosed, MediaTransport, Played
from keryx.voice.transports.browser import BrowserTransport
from keryx.voice.transports.fake import FakeTransport
from keryx.voice.transports.twilio import TwilioTransport

KEY = "the-page-key"


class FarEnd(Protocol):
    """The caller's side of a line under test."""

    async def send_audio(self, payload: bytes) -> None: ...

    async def send_key(self, digit: str) -> None: ...

    async def answer(self, mark: str) -> None:
        """Say that everything before the mark was played."""
        ...

    async def next(self) -> tuple[str, object]:
        """What arrived next: ("audio", bytes), ("mark", name), ("clear", None), ("ended", None); others are skipped."""
        ...

    async def go_away(self) -> None:
        """Hang up."""
        ...


@dataclass
class OpenLine:
    transport: MediaTransport
    far_end: FarEnd


class WebSocketSocket:
    """A server's connection of the `websockets` library as a `Socket`."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def receive(self) -> str | bytes:
        try:
            return await self._connection.recv()
        except ConnectionClosed:
            raise LineClosed("gone") from None

    async def send_text(self, text: str) -> None:
        await self._send(text)

    async def send_bytes(self, payload: bytes) -> None:
        await self._send(payload)

    async def close(self, code: int, reason: str) -> None:
        await self._connection.close(code, reason)

    async def _send(self, content: str | bytes) -> None:
        try:
            await self._connection.send(content)
        except ConnectionClosed:
            raise LineClosed("gone") from None


class PageEnd:
    """The page's side of `/talk`."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, message: dict | str | bytes) -> None:
        await self.socket.send(json.dumps(message) if isinstance(message, dict) else message)

    async def send_audio(self, payload: bytes) -> None:
        await self.send(payload)

    async def send_key(self, digit: str) -> None:
        await self.send({"type": "key", "digit": digit})

    async def answer(self, mark: str) -> None:
        await self.send({"type": "played", "mark": mark})

    async def message(self) -> dict | bytes:
        content = await self.socket.recv()
        return content if isinstance(content, bytes) else json.loads(content)

    async def next(self) -> tuple[str, object]:
        while True:
            try:
                content = await self.message()
            except ConnectionClosed:
                return "ended", None
            if isinstance(content, bytes):
                return "audio", content
            if content["type"] in ("mark", "clear", "ended"):
                return content["type"], content.get("name")

    async def go_away(self) -> None:
        await self.socket.close()


@contextlib.asynccontextmanager
async def page_sockets(
    take: Callable[[WebSocketSocket], "asyncio.Future | object"], *, max_size: int | None = 2**26
) -> AsyncIterator[str]:
    """A loopback server that gives every connection to `take`; yields its address."""

    async def handler(connection: ServerConnection) -> None:
        await take(WebSocketSocket(connection))  # type: ignore[misc]  # a coroutine function, as every test writes it

    async with serve(handler, "127.0.0.1", 0, max_size=max_size) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}/talk"


@contextlib.asynccontextmanager
async def browser_line() -> AsyncIterator[OpenLine]:
    opened: asyncio.Future[BrowserTransport] = asyncio.get_running_loop().create_future()
    finished = asyncio.Event()

    async def take(socket: WebSocketSocket) -> None:
        opened.set_result(await BrowserTransport.accept(socket, check_key=KEY.__eq__, voice=lambda: "ready"))
        await finished.wait()

    async with page_sockets(take) as url, connect(url) as socket:
        far_end = PageEnd(socket)
        await far_end.send({"type": "start", "key": KEY, "client": "page", "audio": True})
        transport = await opened
        await far_end.message()
        try:
            yield OpenLine(transport, far_end)
        finally:
            finished.set()


class FakeEnd:
    """The far side of the line in memory: what was queued, taken off by hand."""

    def __init__(self, transport: FakeTransport) -> None:
        self._line = transport

    async def send_audio(self, payload: bytes) -> None:
        self._line.send(AudioIn(payload))

    async def send_key(self, digit: str) -> None:
        self._line.send(KeyIn(digit))

    async def answer(self, mark: str) -> None:
        self._line.send(Played(mark))

    async def next(self) -> tuple[str, object]:
        return await self._line.next_item()

    async def go_away(self) -> None:
        self._line.close()


@contextlib.asynccontextmanager
async def fake_line() -> AsyncIterator[OpenLine]:
    transport = FakeTransport(SystemClock())
    yield OpenLine(transport, FakeEnd(transport))


class TwilioEnd(PageEnd):
    """The provider's side of a media stream, marks answered by hand."""

    async def send_event(self, event: str, content: dict) -> None:
        await self.send({"event": event, "sequenceNumber": "1", "streamSid": "MZ1", event: content})

    async def send_audio(self, payload: bytes) -> None:
        sound = base64.b64encode(payload).decode("ascii")
        await self.send_event("media", {"track": "inbound", "chunk": "1", "timestamp": "0", "payload": sound})

    async def send_key(self, digit: str) -> None:
        await self.send_event("dtmf", {"track": "inbound_track", "digit": digit})

    async def answer(self, mark: str) -> None:
        await self.send_event("mark", {"name": mark})

    async def next(self) -> tuple[str, object]:
        try:
            content = json.loads(await self.socket.recv())
        except ConnectionClosed:
            return "ended", None
        match content["event"]:
            case "media":
                return "audio", base64.b64decode(content["media"]["payload"])
            case "mark":
                return "mark", content["mark"]["name"]
            case event:
                return event, None


class TextSocket(WebSocketSocket):
    """A server's connection as a `keryx.voice.transports.twilio.Socket`."""

    async def receive_text(self) -> str:
        message = await self.receive()
        return message if isinstance(message, str) else ""


@contextlib.asynccontextmanager
async def twilio_line() -> AsyncIterator[OpenLine]:
    opened: asyncio.Future[TwilioTransport] = asyncio.get_running_loop().create_future()
    finished = asyncio.Event()

    async def take(connection: ServerConnection) -> None:
        opened.set_result(await TwilioTransport.accept(TextSocket(connection)))
        await finished.wait()

    async with serve(take, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}/twilio/media") as socket:
            far_end = TwilioEnd(socket)
            await far_end.send({"event": "connected", "protocol": "Call", "version": "1.0.0"})
            await far_end.send_event("start", {"streamSid": "MZ1", "callSid": "CA1", "customParameters": {}})
            try:
                yield OpenLine(await opened, far_end)
            finally:
                finished.set()


LINES: dict[str, Callable[[], contextlib.AbstractAsyncContextManager[OpenLine]]] = {
    "fake": fake_line,
    "browser": browser_line,
    "twilio": twilio_line,
}
"""Every kind of line; a new transport adds its opener here."""
