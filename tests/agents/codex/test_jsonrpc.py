import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.agents.codex.jsonrpc import METHOD_NOT_FOUND, Disconnected, JsonRpcPeer, Params, RpcError, lines, parse

SOON_S = 5.0


@dataclass
class Side:
    """A handler that keeps what it was told, and answers calls as its name says."""

    told: list[tuple[str, Params]] = field(default_factory=list)
    asked_for: list[str] = field(default_factory=list)
    withdrawn: list[str | int] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def notified(self, method: str, params: Params) -> None:
        self.told.append((method, params))
        self.news.set()

    async def asked(self, method: str, params: Params, request_id: str | int) -> Any:
        self.asked_for.append(method)
        self.news.set()
        match method:
            case "echo":
                return params
            case "refuse":
                raise RpcError(-7, "not like this")
            case "break":
                raise ValueError("a defect, with a secret in it")
            case "never":
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self.withdrawn.append(request_id)
                    self.news.set()
                    raise
        raise RpcError(METHOD_NOT_FOUND, "unknown")

    async def until(self, true: Any) -> None:
        async with asyncio.timeout(SOON_S):
            while not true():
                await self.news.wait()
                self.news.clear()


@dataclass
class Line:
    """Our peer, and the bare other end of its connection."""

    peer: JsonRpcPeer
    side: Side
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def says(self, *messages: dict[str, Any] | bytes) -> None:
        for message in messages:
            self.writer.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        await self.writer.drain()

    async def hears(self) -> dict[str, Any]:
        async with asyncio.timeout(SOON_S):
            return json.loads(await self.reader.readline())


@asynccontextmanager
async def connected() -> AsyncIterator[Line]:
    here, there = socket.socketpair()
    ours, theirs = [await asyncio.open_connection(sock=end) for end in (here, there)]
    side = Side()
    peer = JsonRpcPeer(*ours, side)
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(peer.serve())
            yield Line(peer, side, *theirs)
            theirs[1].close()
            await asyncio.wait({serving}, timeout=SOON_S)
            serving.cancel()
    finally:
        for _, writer in (ours, theirs):
            writer.close()


async def test_a_call_is_answered_by_the_message_with_its_id():
    async with connected() as line, asyncio.TaskGroup() as group:
        first = group.create_task(line.peer.call("first", {"a": 1}, within_s=SOON_S))
        one = await line.hears()
        second = group.create_task(line.peer.call("second", {}, within_s=SOON_S))
        two = await line.hears()
        assert (one["method"], one["params"], two["method"]) == ("first", {"a": 1}, "second")
        await line.says(
            {"id": two["id"], "result": 2}, {"id": 999, "result": "nobody's"}, {"id": one["id"], "result": 1}
        )
        assert (await first, await second) == (1, 2)


async def test_an_error_is_raised_with_its_words():
    async with connected() as line, asyncio.TaskGroup() as group:

        async def refuse() -> None:
            asked = await line.hears()
            await line.says({"id": asked["id"], "error": {"code": -32600, "message": "no active turn"}})

        group.create_task(refuse())
        with pytest.raises(RpcError, match="no active turn"):
            await line.peer.call("steer", {}, within_s=SOON_S)


async def test_a_call_that_is_never_answered_ends_at_its_bound_and_a_late_answer_does_no_harm():
    async with connected() as line:
        with pytest.raises(TimeoutError):
            await line.peer.call("interrupt", {}, within_s=0.05)
        asked = await line.hears()
        await line.says({"id": asked["id"], "result": "late"}, {"method": "after", "params": {}})
        await line.side.until(lambda: line.side.told)


async def test_when_the_other_side_goes_whoever_waits_is_told_and_nobody_waits_again():
    async with connected() as line, asyncio.TaskGroup() as group:

        async def leave() -> None:
            await line.hears()
            line.writer.close()

        group.create_task(leave())
        for _ in range(2):
            with pytest.raises(Disconnected):
                await line.peer.call("turn", {}, within_s=SOON_S)


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("echo", {"result": {"x": "é"}}),
        ("refuse", {"error": {"code": -7, "message": "not like this"}}),
        ("break", {"error": {"code": -32603, "message": "this request could not be answered"}}),
        ("who knows", {"error": {"code": METHOD_NOT_FOUND, "message": "unknown"}}),
    ],
)
async def test_every_call_of_the_other_side_is_answered(method: str, answer: dict[str, Any]):
    async with connected() as line:
        await line.says({"id": "a-1", "method": method, "params": {"x": "é"}})
        assert await line.hears() == {"id": "a-1", **answer}


async def test_a_call_that_waits_for_a_person_holds_nothing_up():
    async with connected() as line:
        await line.says({"id": 0, "method": "never", "params": {}}, {"id": 1, "method": "echo", "params": {}})
        assert await line.hears() == {"id": 1, "result": {}}


@pytest.mark.parametrize("which", [0, None])
async def test_a_call_that_is_withdrawn_is_worked_on_no_more(which: int | None):
    async with connected() as line:
        await line.says({"id": 0, "method": "never", "params": {}})
        await line.side.until(lambda: line.side.asked_for)
        line.peer.withdraw(which)
        await line.side.until(lambda: line.side.withdrawn == [0])


async def test_notifications_come_in_order_whatever_stands_between_them():
    odd = (b"\n", b"not a message\n", b"[1]\n", b"\xff\xfe\x00\n", b'"text"\n', b"[" * 100_000 + b"\n")
    async with connected() as line:
        for number, between in enumerate(odd):
            await line.says({"method": "count", "params": {"at": number}}, between)
        await line.says(b'{"method": "torn\x00 \xff", "params": {}}\n', {"method": "bare"})
        await line.side.until(lambda: len(line.side.told) == len(odd) + 2)
        assert [params.get("at") for _, params in line.side.told] == [*range(len(odd)), None, None]
        assert line.side.told[-2][0] == "torn\0 �"


async def test_a_line_of_five_megabytes_comes_through():
    async with connected() as line:
        await line.says({"method": "output", "params": {"text": "x" * 5_000_000}})
        await line.side.until(lambda: line.side.told)
        assert len(line.side.told[0][1]["text"]) == 5_000_000


def in_pieces(content: bytes, cuts: Sequence[int]) -> Any:
    """A reader that gives `content` cut at `cuts`."""
    places = sorted({0, len(content), *(cut % (len(content) + 1) for cut in cuts)})
    pieces = [content[begin:end] for begin, end in zip(places, places[1:], strict=False)]

    async def read(size: int) -> bytes:
        return pieces.pop(0) if pieces else b""

    return read


@given(st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line)), st.lists(st.integers(0, 300)))
def test_lines_are_the_same_however_the_stream_is_cut(content: list[bytes], cuts: list[int]):
    async def read() -> list[bytes]:
        stream = b"".join(line + b"\n" for line in content)
        return [line async for line in lines(in_pieces(stream, cuts), max_bytes=8)]

    assert asyncio.run(read()) == [line for line in content if len(line) <= 8]


@pytest.mark.parametrize("line", [b"", b"3", b"[]", b"{", b'{"a": }', b"\xff", b"nul\0"])
def test_what_is_no_message_is_none(line: bytes):
    assert parse(line) is None
