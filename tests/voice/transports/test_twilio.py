"""Twilio's messages as a line, over a socket in memory and over a real one."""

import asyncio
import base64
import contextlib
import json
import time
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.server import ServerConnection, serve

from keryx.clock import settle
from keryx.voice.transports import twilio
from keryx.voice.transports.base import AudioIn, KeyIn, LineClosed, Played
from keryx.voice.transports.twilio import StreamStart, TwilioTransport
from tests.support.twilio_line import TwilioLine
from tests.voice.transports.lines import TextSocket

START = {
    "event": "start",
    "streamSid": "MZ1",
    "start": {"streamSid": "MZ1", "callSid": "CA1", "customParameters": {"token": "t"}},
}


class MemorySocket:
    """A socket whose other side is a list of messages."""

    def __init__(self, *messages: object) -> None:
        self.inbox: asyncio.Queue[str | None] = asyncio.Queue()
        self.sent: list[dict] = []
        self.closed: list[int] = []
        self.never_closes = False
        for message in messages:
            self.give(message)

    def give(self, message: object) -> None:
        self.inbox.put_nowait(message if isinstance(message, str) or message is None else json.dumps(message))

    async def receive_text(self) -> str:
        message = await self.inbox.get()
        if message is None:
            raise LineClosed("gone")
        return message

    async def send_text(self, text: str) -> None:
        self.sent.append(json.loads(text))
        await asyncio.sleep(0)

    async def close(self, code: int, reason: str) -> None:
        self.closed.append(code)
        if self.never_closes:
            await asyncio.Event().wait()

    def sound(self) -> list[bytes]:
        return [base64.b64decode(m["media"]["payload"]) for m in self.sent if m["event"] == "media"]


@contextlib.asynccontextmanager
async def real_line(**options) -> AsyncIterator[tuple[TwilioTransport, TwilioLine]]:
    """A transport and the provider's end of it, over a loopback WebSocket."""
    accepted: asyncio.Future[TwilioTransport] = asyncio.get_running_loop().create_future()
    finished = asyncio.Event()

    async def take(connection: ServerConnection) -> None:
        accepted.set_result(await TwilioTransport.accept(TextSocket(connection)))
        await finished.wait()

    async with serve(take, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with asyncio.timeout(20), TwilioLine.open(f"ws://127.0.0.1:{port}/", {"token": "t"}, **options) as line:
            try:
                yield await accepted, line
            finally:
                finished.set()


@pytest.fixture
def socket() -> MemorySocket:
    return MemorySocket()


@pytest.fixture
def transport(socket: MemorySocket) -> TwilioTransport:
    return TwilioTransport(socket, StreamStart.model_validate({"streamSid": "MZ1"}), send_grace_s=0.2)


def media(payload: bytes | str, track: str = "inbound") -> dict:
    text = payload if isinstance(payload, str) else base64.b64encode(payload).decode()
    return {
        "event": "media",
        "sequenceNumber": "2",
        "media": {"track": track, "chunk": "1", "timestamp": "0", "payload": text},
    }


async def test_the_start_says_which_call_it_is_and_what_was_handed_along():
    socket = MemorySocket({"event": "connected", "protocol": "Call", "version": "1.0.0"}, START)
    transport = await TwilioTransport.accept(socket)
    assert transport.start.call_sid == "CA1"
    assert transport.start.stream_sid == "MZ1"
    assert transport.start.parameters == {"token": "t"}


async def test_sound_before_the_start_and_nonsense_are_passed_over():
    socket = MemorySocket(media(b"\0" * 160), "", "{", "[1]", "null", {"event": "dance"}, {"event": "start"}, START)
    assert (await TwilioTransport.accept(socket)).start.call_sid == "CA1"


async def test_a_stream_that_never_starts_is_given_up():
    socket = MemorySocket()
    with pytest.raises(LineClosed, match="no start"):
        await TwilioTransport.accept(socket, start_grace_s=0.02)
    assert socket.closed == [twilio.CLOSE_REFUSED]


@pytest.mark.parametrize("message", [None, {"event": "stop", "stop": {}}])
async def test_a_stream_that_ends_before_its_start_is_no_call(message: object):
    with pytest.raises(LineClosed):
        await TwilioTransport.accept(MemorySocket(message))


async def test_what_the_caller_does_arrives_in_order_and_the_rest_is_passed_over(transport, socket):
    for message in (
        media(b"\1" * 160), media(b"\2" * 7), media(b""), media("***"), media("AAA"), media(b"\3", track="outbound"),
        {"event": "dtmf", "dtmf": {"digit": "#"}}, {"event": "dtmf", "dtmf": {"digit": "12"}}, {"event": "media"},
        {"event": "mark", "mark": {"name": "m1"}}, START, "x" * (twilio.MAX_MESSAGE_CHARS + 1), media(b"\4" * 64_000),
    ):  # fmt: skip
        socket.give(message)
    got = [await transport.receive() for _ in range(5)]
    assert got == [AudioIn(b"\1" * 160), AudioIn(b"\2" * 7), KeyIn("#"), Played("m1"), AudioIn(b"\4" * 64_000)]


async def test_stop_twice_ends_the_line_once_and_for_all(transport, socket):
    for message in ({"event": "stop", "stop": {}}, {"event": "stop", "stop": {}}):
        socket.give(message)
    for _ in range(2):
        with pytest.raises(LineClosed):
            await transport.receive()
    with pytest.raises(LineClosed):
        await transport.play(b"\0" * 160)
    assert transport.hung_up is None


async def test_odd_pieces_go_out_as_whole_frames_and_nothing_is_lost(transport, socket):
    sound = bytes(range(256)) * 17
    at = 0
    for size in (1, 159, 161, 4000, 3, 28):
        await transport.play(sound[at : at + size])
        at += size
    await transport.mark("end")
    assert {len(frame) for frame in socket.sound()[:-1]} == {160}
    assert b"".join(socket.sound()) == sound[:at]
    assert socket.sent[-1] == {"streamSid": "MZ1", "event": "mark", "mark": {"name": "end"}}


async def test_a_clear_overtakes_the_rest_of_what_is_being_sent(transport, socket):
    async with asyncio.TaskGroup() as group:
        group.create_task(transport.play(b"\1" * 160 * 500))
        await settle(3)
        await transport.clear()
    assert len(socket.sound()) < 10
    assert socket.sent[-1]["event"] == "clear"
    await transport.play(b"\2" * 160)
    assert socket.sound()[-1] == b"\2" * 160


async def test_a_clear_drops_the_remainder_too(transport, socket):
    await transport.play(b"\1" * 100)
    await transport.clear()
    await transport.mark("m")
    assert socket.sound() == []


async def test_two_sounds_at_once_keep_their_order(transport, socket):
    async with asyncio.TaskGroup() as group:
        for value in range(5):
            group.create_task(transport.play(bytes([value]) * 1600))
    assert b"".join(socket.sound()) == b"".join(bytes([value]) * 1600 for value in range(5))


async def test_hanging_up_takes_less_than_a_second_even_when_the_other_side_never_closes(transport, socket):
    socket.never_closes = True
    began = time.monotonic()
    await transport.hang_up("goodbye")
    assert time.monotonic() - began < 1.0
    socket.never_closes = False
    await transport.hang_up("again")
    assert transport.hung_up == "goodbye"


async def test_a_provider_that_stops_reading_ends_the_line(transport, socket):
    async def stuck(text: str) -> None:
        await asyncio.Event().wait()

    socket.send_text = stuck
    with pytest.raises(LineClosed):
        await transport.play(b"\0" * 160)
    with pytest.raises(LineClosed):
        await transport.receive()


async def test_captions_are_not_for_telephones(transport, socket):
    await transport.caption("keryx", "Hello.", final=True, utterance=1)
    await transport.state("speaking")
    assert socket.sent == []
    assert not transport.capabilities.shows_text


async def test_six_digits_in_three_hundred_milliseconds_arrive_intact():
    async with real_line() as (transport, line):
        await line.press("001234")
        keys = []
        while len(keys) < 6:
            if isinstance(inbound := await transport.receive(), KeyIn):
                keys.append(inbound.digit)
    assert "".join(keys) == "001234"


async def test_a_mark_comes_back_when_its_sound_was_played_and_not_before():
    async with real_line(talks=False) as (transport, line):
        began = time.monotonic()
        await transport.play(b"\1" * 1600)
        await transport.mark("heard")
        assert await transport.receive() == Played("heard")
        assert time.monotonic() - began > 0.15
        assert bytes(line.heard) == b"\1" * 1600


async def test_a_clear_silences_at_once_and_returns_the_outstanding_marks():
    async with real_line(talks=False) as (transport, line):
        await transport.play(b"\1" * 8000 * 5)
        await transport.mark("end")
        await line.sounding.wait()
        await transport.clear()
        assert await transport.receive() == Played("end")
        assert len(line.heard) < 8000


async def test_speech_travels_untouched_at_the_pace_of_speech():
    async with real_line() as (transport, line):
        speech = bytes(range(160)) * 10
        heard = b""
        async with asyncio.TaskGroup() as group:
            said = group.create_task(line.say(speech))
            while not (said.done() and speech in heard):
                inbound = await transport.receive()
                assert isinstance(inbound, AudioIn)
                heard += inbound.payload
    assert speech in heard


async def test_the_caller_hanging_up_ends_the_line():
    async with real_line(talks=False) as (transport, line):
        await line.hang_up()
        with pytest.raises(LineClosed):
            await transport.receive()
