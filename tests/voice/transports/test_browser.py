"""The page's line: its handshake, and what bad input gets."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from keryx.voice.transports.base import AudioIn, KeyIn, LineClosed, StopSpeaking, TextIn
from keryx.voice.transports.browser import MAX_SOUND_BYTES, BrowserTransport
from tests.voice.transports.lines import KEY, OpenLine, PageEnd, WebSocketSocket, browser_line, page_sockets


@pytest.fixture
async def line() -> AsyncIterator[OpenLine]:
    async with asyncio.timeout(20), browser_line() as opened:
        yield opened


def page_of(line: OpenLine) -> PageEnd:
    assert isinstance(line.far_end, PageEnd)
    return line.far_end


async def accepting(socket: WebSocketSocket) -> None:
    with contextlib.suppress(LineClosed):
        await BrowserTransport.accept(socket, check_key=KEY.__eq__, voice=lambda: "loading")


async def test_the_handshake_tells_the_rates_and_how_the_voice_stands():
    async with page_sockets(accepting) as url, connect(url) as socket:
        page = PageEnd(socket)
        await page.send({"type": "start", "key": KEY, "client": "terminal", "audio": False})
        ready = await page.message()
        assert isinstance(ready, dict)
        assert ready.pop("call")
        assert ready == {"type": "ready", "incoming_rate": 16000, "outgoing_rate": 24000, "voice": "loading"}


async def test_a_terminal_that_only_types_is_known_as_one():
    seen: list[BrowserTransport] = []

    async def take(socket: WebSocketSocket) -> None:
        seen.append(await BrowserTransport.accept(socket, check_key=KEY.__eq__, voice=lambda: "ready"))

    async with page_sockets(take) as url, connect(url) as socket:
        page = PageEnd(socket)
        await page.send({"type": "start", "key": KEY, "client": "terminal", "audio": False})
        await page.message()
    assert seen[0].caller.kind == "terminal"
    assert seen[0].caller.proven
    assert not seen[0].capabilities.audio


async def test_a_wrong_key_is_told_so_and_closed():
    async with page_sockets(accepting) as url, connect(url) as socket:
        page = PageEnd(socket)
        await page.send({"type": "start", "key": "guess"})
        refusal = await page.message()
        assert isinstance(refusal, dict)
        assert refusal["type"] == "error"
        with pytest.raises(ConnectionClosed) as closed:
            await page.message()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401


async def test_no_start_in_time_closes():
    async def accept_soon(socket: WebSocketSocket) -> None:
        with contextlib.suppress(LineClosed):
            await BrowserTransport.accept(socket, check_key=KEY.__eq__, voice=lambda: "ready", start_grace_s=0.05)

    async with page_sockets(accept_soon) as url, connect(url) as socket:
        page = PageEnd(socket)
        await page.message()
        with pytest.raises(ConnectionClosed) as closed:
            await page.message()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4408


async def test_sound_and_nonsense_before_start_do_no_harm():
    async with page_sockets(accepting) as url, connect(url) as socket:
        page = PageEnd(socket)
        await page.send(b"\0" * 640)
        await page.send("{")
        await page.send({"type": "text", "text": "hello"})
        await page.send({"type": "start", "key": KEY})
        types = []
        while "ready" not in types:
            message = await page.message()
            assert isinstance(message, dict)
            types.append(message["type"])
        assert types == ["error", "error", "ready"]


async def test_a_socket_closed_before_start_is_a_closed_line():
    outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def take(socket: WebSocketSocket) -> None:
        try:
            await BrowserTransport.accept(socket, check_key=KEY.__eq__, voice=lambda: "ready")
        except LineClosed:
            outcome.set_result("closed")

    async with page_sockets(take) as url:
        async with connect(url):
            pass
        async with asyncio.timeout(5):
            assert await outcome == "closed"


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "null",
        "[1]",
        '"text"',
        "{}",
        '{"type":"dance"}',
        '{"type":"text"}',
        '{"type":"text","text":1}',
        '{"type":"key","digit":"12"}',
        '{"type":"key","digit":7}',
        '{"type":"played"}',
        '{"type":"start","key":"again"}',
        json.dumps({"type": "text", "text": "x" * 20_001}),
        json.dumps({"type": "text", "text": "x" * 5_000_000}),
        "[" * 100_000,
    ],
    ids=lambda bad: bad[:24],
)
async def test_bad_messages_are_answered_and_the_call_goes_on(line: OpenLine, bad: str):
    page = page_of(line)
    await page.send(bad)
    await page.send({"type": "key", "digit": "5"})
    assert await line.transport.receive() == KeyIn("5")
    answer = await page.message()
    assert isinstance(answer, dict)
    assert answer["type"] == "error"
    assert answer["message"].endswith(".")


async def test_the_longest_allowed_text_arrives_also_when_every_letter_is_escaped(line: OpenLine):
    page = page_of(line)
    await page.send('{"type":"text","text":"' + "\\u00e9" * 20_000 + '"}')
    assert await line.transport.receive() == TextIn("é" * 20_000)


async def test_text_and_the_stop_button_arrive(line: OpenLine):
    page = page_of(line)
    await page.send({"type": "text", "text": "  "})
    await page.send({"type": "text", "text": "What's running?"})
    await page.send({"type": "interrupt"})
    assert await line.transport.receive() == TextIn("What's running?")
    assert await line.transport.receive() == StopSpeaking()


async def test_stop_ends_the_line_and_twice_is_once(line: OpenLine):
    page = page_of(line)
    await page.send({"type": "stop"})
    await page.send({"type": "stop"})
    with pytest.raises(LineClosed):
        await line.transport.receive()
    with pytest.raises(LineClosed):
        await line.transport.receive()
    await line.transport.hang_up("caller hung up")


async def test_half_a_sample_waits_for_its_other_half(line: OpenLine):
    page = page_of(line)
    await page.send(b"\x01")
    await page.send(b"\x02\x03")
    assert await line.transport.receive() == AudioIn(b"\x01\x02")
    await page.send(b"\x04")
    assert await line.transport.receive() == AudioIn(b"\x03\x04")


async def test_a_recording_sent_in_one_frame_comes_in_pieces_and_whole(line: OpenLine):
    recording = bytes(range(256)) * 400
    await page_of(line).send(recording)
    pieces: list[bytes] = []
    while sum(map(len, pieces)) < len(recording):
        sound = await line.transport.receive()
        assert isinstance(sound, AudioIn)
        pieces.append(sound.payload)
    assert max(map(len, pieces)) == MAX_SOUND_BYTES
    assert b"".join(pieces) == recording


async def test_the_other_side_is_told_why_it_ends(line: OpenLine):
    page = page_of(line)

    async def last_words() -> dict:
        message = await page.message()
        assert isinstance(message, dict)
        with contextlib.suppress(ConnectionClosed):
            await page.message()
        return message

    async with asyncio.TaskGroup() as group:
        words = group.create_task(last_words())
        await line.transport.hang_up("goodbye")
    assert words.result() == {"type": "ended", "reason": "goodbye"}


class StuckSocket:
    """A client that has stopped reading: every send waits for ever."""

    def __init__(self) -> None:
        self.messages = [json.dumps({"type": "start", "key": KEY})]
        self.stuck = False

    async def receive(self) -> str | bytes:
        if self.messages:
            return self.messages.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    async def send_text(self, text: str) -> None:
        if self.stuck:
            await asyncio.Event().wait()

    async def send_bytes(self, payload: bytes) -> None:
        await self.send_text("")

    async def close(self, code: int, reason: str) -> None:
        await asyncio.Event().wait()


async def test_a_client_that_does_not_read_is_given_up():
    socket = StuckSocket()
    transport = await BrowserTransport.accept(socket, check_key=KEY.__eq__, voice=lambda: "ready", send_grace_s=0.05)
    socket.stuck = True
    with pytest.raises(LineClosed):
        await transport.play(b"\0" * 960)


async def test_hanging_up_takes_under_a_second_even_if_the_peer_never_closes():
    socket = StuckSocket()
    transport = await BrowserTransport.accept(socket, check_key=KEY.__eq__, voice=lambda: "ready")
    socket.stuck = True
    began_s = time.monotonic()
    await transport.hang_up("goodbye")
    assert time.monotonic() - began_s < 1.0
