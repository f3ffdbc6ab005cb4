"""JSON-RPC over a program's pipes, one message a line, either side asking.

The framing is our own: a line may be megabytes long, which a stream's own `readline` refuses, and what is not a message
is passed over. The `jsonrpc` member, which some programs leave out, is neither sent nor wanted.
"""

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

log = logging.getLogger(__name__)

CHUNK_BYTES = 65_536
MAX_LINE_BYTES = 64 * 2**20
"""A longer line is passed over."""
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603

Params = dict[str, Any]


class RpcError(Exception):
    """The other side answered a call with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Disconnected(ConnectionError):
    """The other side has gone; whether it took in what was sent last is not known."""


class Handler(Protocol):
    """What becomes of what the other side sends by itself."""

    def notified(self, method: str, params: Params) -> None:
        """Take a notification. Called in the order of the wire, from the reading task; must not block."""
        ...

    async def asked(self, method: str, params: Params, request_id: str | int) -> Any:
        """The result of a call from the other side; runs on a task of its own.

        `RpcError` is answered as it is, any other exception as an internal error.
        """
        ...


async def lines(read: Callable[[int], Awaitable[bytes]], *, max_bytes: int = MAX_LINE_BYTES) -> AsyncIterator[bytes]:
    """The lines of a stream, without their ends; the last may have had none. A longer one than `max_bytes` is left out.

    `read(n)` gives at most n bytes, and none at the stream's end.
    """
    held, too_long = bytearray(), False
    while chunk := await read(CHUNK_BYTES):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            held += part
            if not too_long and len(held) <= max_bytes:
                yield bytes(held)
            held.clear()
            too_long = False
        held += rest
        if too_long := too_long or len(held) > max_bytes:
            held.clear()
    if held:
        yield bytes(held)


def parse(line: bytes) -> dict[str, Any] | None:
    """The message on a line; None when it is none. Bytes that are no UTF-8 are replaced."""
    try:
        message = json.loads(line.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


class JsonRpcPeer:
    """One side of a connection. `serve` must run for anything to be received."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler) -> None:
        self._reader = reader
        self._writer = writer
        self._handler = handler
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._answering: dict[str | int, asyncio.Task[None]] = {}
        self._over = False

    async def serve(self) -> None:
        """Read until the stream ends; then every call that waits, and every later one, raises `Disconnected`.

        A cancellation ends it in the same way.
        """
        try:
            async with asyncio.TaskGroup() as group:
                async for line in lines(self._reader.read):
                    if message := parse(line):
                        self._take(message, group)
                    elif line.strip():
                        log.debug("line is no message", extra={"bytes": len(line)})
                for answering in self._answering.values():
                    answering.cancel()
        finally:
            self._over = True
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(Disconnected("its process has ended"))

    async def call(self, method: str, params: Params, *, within_s: float) -> Any:
        """The result of `method`.

        Raises `RpcError`, `Disconnected`, or `TimeoutError` after `within_s` seconds; a reply after that, or after a
        cancellation, is passed over.
        """
        if self._over:
            raise Disconnected("its process has ended")
        call_id = next(self._ids)
        self._waiting[call_id] = reply = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(within_s):
                await self._send({"id": call_id, "method": method, "params": params})
                return await reply
        finally:
            del self._waiting[call_id]
            if reply.done() and not reply.cancelled():
                reply.exception()  # taken note of: a call that was given up may still get one

    async def notify(self, method: str, *, within_s: float) -> None:
        """Send a notification without parameters. Raises `Disconnected`, `TimeoutError`."""
        async with asyncio.timeout(within_s):
            await self._send({"method": method})

    def withdraw(self, request_id: str | int | None) -> None:
        """Stop working on the answer to a call of the other side, which wants none any more; None: on every one."""
        for asked_under, answering in self._answering.items():
            if request_id in (None, asked_under):
                answering.cancel()

    def _take(self, message: dict[str, Any], group: asyncio.TaskGroup) -> None:
        method, request_id = message.get("method"), message.get("id")
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            self._reply(message)
        elif isinstance(request_id, str | int):
            self._answering[request_id] = group.create_task(self._answer(method, params, request_id))
        else:
            self._handler.notified(method, params)

    def _reply(self, message: dict[str, Any]) -> None:
        waiting = self._waiting.get(message["id"]) if isinstance(message.get("id"), int) else None
        if waiting is None or waiting.done():
            return
        if isinstance(error := message.get("error"), dict):
            waiting.set_exception(RpcError(error.get("code", INTERNAL_ERROR), str(error.get("message"))))
        else:
            waiting.set_result(message.get("result"))

    async def _answer(self, method: str, params: Params, request_id: str | int) -> None:
        try:
            reply: dict[str, Any] = {"result": await self._handler.asked(method, params, request_id)}
        except RpcError as error:
            reply = {"error": {"code": error.code, "message": error.message}}
        except Exception:  # the edge of one request: the other side is told, and goes on
            log.exception("request could not be answered", extra={"method": method})
            reply = {"error": {"code": INTERNAL_ERROR, "message": "this request could not be answered"}}
        finally:
            self._answering.pop(request_id, None)
        try:
            await self._send({"id": request_id, **reply})
        except Disconnected:
            log.debug("answer came too late", extra={"method": method})

    async def _send(self, message: dict[str, Any]) -> None:
        """Write one message; raises `Disconnected`."""
        try:
            self._writer.write(json.dumps(message).encode() + b"\n")
            await self._writer.drain()
        except (ConnectionError, RuntimeError) as error:  # RuntimeError: the pipe was closed on our side
            raise Disconnected("its process has ended") from error
