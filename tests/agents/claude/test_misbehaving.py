"""A Claude Code that is old, or misbehaves in ways the real one cannot be made to on demand."""

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from keryx.agents.base import AgentSession, SteerUnavailable
from keryx.agents.claude.line import MAX_LINE_BYTES, _lines
from tests.agents.claude.bench import WHY_NOT, ClaudeBench, claude_bench

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))

PROGRAM = Path(__file__).parents[2] / "support" / "misbehaving_claude.py"
BOUND_S = 40.0


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[ClaudeBench]:
    async with claude_bench(tmp_path) as made:
        yield made


@pytest.fixture
def one_that_is(bench: ClaudeBench, tmp_path: Path) -> Callable[[str], object]:
    """Opens a conversation with one that misbehaves that way."""

    async def opened(way: str) -> AgentSession:
        script = tmp_path / "claude"
        script.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(PROGRAM), way])} "$@"\n')
        script.chmod(0o755)
        bench.equipped(program=str(script))
        return await bench.runner.open(bench.task())

    return opened


class Working(list[str]):
    """The progress lines, and when the first came."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()

    async def __call__(self, line: str) -> None:
        self.append(line)
        self.begun.set()


async def steered(session: AgentSession) -> tuple[Exception | None, str]:
    """Runs a turn and sends a follow-up into it; how that went, and the final text."""
    lines = Working()
    refused: Exception | None = None
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(session.run("do it", on_progress=lines))
        await lines.begun.wait()
        try:
            await session.send("and this")
        except SteerUnavailable as error:
            refused = error
    await session.close()
    return refused, turn.result().final_text


async def test_turns_that_nobody_began_answer_for_nothing(one_that_is):
    session = await one_that_is("chatty")
    lines = Working()
    async with asyncio.timeout(BOUND_S):
        result = await session.run("do it", on_progress=lines)
    await session.close()
    assert result.final_text == "of now"
    assert lines == [], "nor is anything of them told"


async def test_a_turn_without_a_result_ends_all_the_same(one_that_is):
    session = await one_that_is("forgetful")
    async with asyncio.timeout(BOUND_S):
        result = await session.run("do it", on_progress=Working())
    await session.close()
    assert not result.ok
    assert "without a result" in (result.error or "")
    assert result.final_text == "all done"


async def test_a_message_that_is_refused_is_not_waited_for(one_that_is):
    assert await steered(await one_that_is("refusing")) == (Refused(), "done")


async def test_a_message_of_which_nothing_is_heard_is_taken_back(one_that_is):
    assert await steered(await one_that_is("deaf")) == (Refused(), "done")


async def test_one_that_acknowledges_nothing_is_given_no_follow_up(one_that_is):
    session = await one_that_is("old")
    lines = Working()
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(session.run("do it", on_progress=lines))
        await lines.begun.wait()
        with pytest.raises(SteerUnavailable, match="does not say"):
            await session.send("and this")
        await session.interrupt()
    await session.close()
    assert turn.result().error == "interrupted"


async def test_a_line_that_is_too_long_costs_that_line_alone(one_that_is):
    session = await one_that_is("overlong")
    lines = Working()
    async with asyncio.timeout(BOUND_S):
        result = await session.run("do it", on_progress=lines)
    await session.close()
    assert result.ok, result.error
    assert result.final_text == "It is a big picture."
    assert lines == ["Reading big.png"]


class Refused:
    """Equal to any `SteerUnavailable`."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SteerUnavailable)


@pytest.mark.parametrize("piece_bytes", [1, 7, 1 << 16])
async def test_lines_come_whole_however_they_are_cut(piece_bytes: int):
    text = b'{"type":"a"}\n\n{"type":"b","text":"' + "счёт".encode() * 50 + b'"}\n{"torn'
    stream = asyncio.StreamReader(limit=1 << 26)
    for at in range(0, len(text), piece_bytes):
        stream.feed_data(text[at : at + piece_bytes])
    stream.feed_eof()
    assert [line async for line in _lines(stream)] == text.split(b"\n")[:-1]


async def test_nothing_is_kept_of_a_line_that_is_too_long():
    stream = asyncio.StreamReader(limit=1 << 26)
    stream.feed_data(b"x" * (MAX_LINE_BYTES + 1) + b"\nshort\n" + b"y" * MAX_LINE_BYTES + b"\n")
    stream.feed_eof()
    assert [line and len(line) for line in [line async for line in _lines(stream)]] == [None, 5, MAX_LINE_BYTES]


async def test_of_the_pieces_of_a_text_only_a_sign_of_life_is_kept():
    stream = asyncio.StreamReader()
    stream.feed_data(b'{"type":"stream_event"}\n' * 1000 + b'{"type":"result"}\n')
    stream.feed_eof()
    assert [line async for line in _lines(stream)] == [b'{"type":"stream_event"}', b'{"type":"result"}']
