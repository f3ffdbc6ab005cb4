"""What a call may rely on, whatever carries it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest

from keryx.voice.transports.base import AudioIn, KeyIn, LineClosed, Played
from tests.voice.transports.lines import LINES, OpenLine

BOUND_S = 5.0


@pytest.fixture(params=list(LINES.values()), ids=list(LINES))
async def line(request: pytest.FixtureRequest) -> AsyncIterator[OpenLine]:
    async with asyncio.timeout(4 * BOUND_S), request.param() as opened:
        yield opened


async def received_audio(line: OpenLine, size: int) -> bytes:
    got = b""
    async with asyncio.timeout(BOUND_S):
        while len(got) < size:
            inbound = await line.transport.receive()
            assert isinstance(inbound, AudioIn)
            assert len(inbound.payload) % line.transport.capabilities.incoming.bytes_per_sample == 0
            got += inbound.payload
    return got


async def test_the_callers_sound_arrives_whole_and_in_order(line: OpenLine):
    frame = line.transport.capabilities.incoming.bytes_of(20)
    sound = [bytes([index]) * frame for index in range(50)]
    for piece in sound:
        await line.far_end.send_audio(piece)
    assert await received_audio(line, 50 * frame) == b"".join(sound)


async def test_frames_of_odd_sizes_lose_nothing(line: OpenLine):
    pieces = [bytes([index]) * size for index, size in enumerate([1, 159, 161, 4000, 3, 640, 1, 1])]
    whole = b"".join(pieces)
    whole = whole[: len(whole) - len(whole) % line.transport.capabilities.incoming.bytes_per_sample]
    for piece in pieces:
        await line.far_end.send_audio(piece)
    assert await received_audio(line, len(whole)) == whole


async def test_sound_and_marks_keep_their_order(line: OpenLine):
    frame = line.transport.capabilities.outgoing.bytes_of(20)
    for index in range(10):
        await line.transport.play(bytes([index]) * frame)
        await line.transport.mark(f"m{index}")
    got, marks = b"", []
    async with asyncio.timeout(BOUND_S):
        while len(marks) < 10:
            kind, content = await line.far_end.next()
            if kind == "audio":
                assert isinstance(content, bytes)
                got += content
            else:
                marks.append(content)
                assert len(got) == len(marks) * frame
    assert marks == [f"m{index}" for index in range(10)]
    assert got == b"".join(bytes([index]) * frame for index in range(10))


async def test_an_answered_mark_comes_back_by_name(line: OpenLine):
    await line.transport.mark("m1")
    async with asyncio.timeout(BOUND_S):
        assert await line.far_end.next() == ("mark", "m1")
        await line.far_end.answer("m1")
        assert await line.transport.receive() == Played("m1")


async def test_a_clear_reaches_the_other_side(line: OpenLine):
    await line.transport.clear()
    async with asyncio.timeout(BOUND_S):
        assert await line.far_end.next() == ("clear", None)


async def test_keys_arrive_one_by_one_and_in_order(line: OpenLine):
    for digit in "012*#9":
        await line.far_end.send_key(digit)
    async with asyncio.timeout(BOUND_S):
        keys = [await line.transport.receive() for _ in range(6)]
    assert keys == [KeyIn(digit) for digit in "012*#9"]


async def test_a_cancelled_receive_loses_nothing(line: OpenLine):
    async with asyncio.TaskGroup() as group:
        impatient = group.create_task(line.transport.receive())
        await asyncio.sleep(0)
        impatient.cancel()
    await line.far_end.send_key("7")
    async with asyncio.timeout(BOUND_S):
        assert await line.transport.receive() == KeyIn("7")


async def test_the_end_of_the_line_is_raised_from_receive_and_then_from_every_send(line: OpenLine):
    await line.far_end.go_away()
    async with asyncio.timeout(BOUND_S):
        with pytest.raises(LineClosed):
            await line.transport.receive()
        with pytest.raises(LineClosed):
            await line.transport.play(b"\0" * 640)
        with pytest.raises(LineClosed):
            await line.transport.mark("late")


async def test_hanging_up_ends_the_line_and_may_be_done_twice(line: OpenLine):
    began_s = time.monotonic()

    async def far_side() -> None:
        with contextlib.suppress(Exception):  # however a far side words it, it is over
            while (await line.far_end.next())[0] != "ended":
                pass

    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        group.create_task(far_side())
        await line.transport.hang_up("goodbye")
        await line.transport.hang_up("goodbye")
        assert time.monotonic() - began_s < 2.0


async def test_captions_and_states_do_no_harm(line: OpenLine):
    await line.transport.caption("keryx", "Hello.", final=True, utterance=1)
    await line.transport.state("listening")
    await line.transport.mark("after")
    async with asyncio.timeout(BOUND_S):
        assert await line.far_end.next() == ("mark", "after")
