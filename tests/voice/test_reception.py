"""Calls taken in one after the other: what one call leaves for the next."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from keryx.clock import VirtualClock
from keryx.tasks.manager import Limits
from keryx.tasks.models import News
from keryx.voice.engines.manner import NewsDesk
from keryx.voice.live import LiveCalls
from keryx.voice.reception import Host, Reception
from keryx.voice.transports.base import Caller, KeyIn
from keryx.voice.transports.fake import PAGE_LIKE, FakeTransport
from tests.voice.engines.conversation import Speech
from tests.voice.tools.desk import works

PIN = "427190"
OWNER = Host("owner", PIN, "Europe/Berlin")


@pytest.fixture
async def reception(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Reception]:
    async def no_news() -> Sequence[News]:
        return ()

    async with works(tmp_path, clock, Limits(3, None, "Europe/Berlin")) as house:
        live = LiveCalls(clock=clock)
        yield Reception(house.manager, house.registry, Speech(), live, NewsDesk(no_news, live.heard), clock=clock)


async def until(condition: Callable[[], object], clock: VirtualClock) -> None:
    """Let time pass, and the store's threads work, until `condition()` holds."""
    for _ in range(200):
        if condition():
            return
        await asyncio.to_thread(lambda: None)
        await clock.advance(0.1)
    raise AssertionError("it never came about")


@asynccontextmanager
async def called(reception: Reception, clock: VirtualClock, host: Host = OWNER) -> AsyncIterator[FakeTransport]:
    """A telephone call without speech parts: keys go in, and what would be spoken is shown."""
    line = FakeTransport(clock, PAGE_LIKE)
    async with asyncio.TaskGroup() as group:
        loudspeaker = group.create_task(line.play_out())
        call = group.create_task(reception.take(line, Caller("phone", host.name, proven=False), host, tuple))
        await until(line.said, clock)
        yield line
        line.close()
        await until(call.done, clock)
        loudspeaker.cancel()


async def pressed(line: FakeTransport, clock: VirtualClock, digits: str) -> str:
    """The answer to keying `digits`."""
    said = len(line.said())
    for digit in digits:
        line.send(KeyIn(digit))
    await until(lambda: len(line.said()) > said, clock)
    return line.said()[-1]


async def test_whoever_was_hung_up_on_for_wrong_pins_cannot_ring_again_for_more(
    reception: Reception, clock: VirtualClock
) -> None:
    async with called(reception, clock) as line:
        for _ in range(3):
            await pressed(line, clock, "000000")
        await until(lambda: line.hung_up, clock)
    async with called(reception, clock) as line:
        assert "for a while" in await pressed(line, clock, PIN)
        assert line.hung_up == []
    await clock.advance(60)
    async with called(reception, clock) as line:
        assert "for a while" not in await pressed(line, clock, PIN)


async def test_another_persons_wrong_pins_are_not_held_against_one(reception: Reception, clock: VirtualClock) -> None:
    async with called(reception, clock, Host("anna", "999999", "Europe/Berlin")) as line:
        for _ in range(3):
            await pressed(line, clock, "000000")
    async with called(reception, clock) as line:
        assert "for a while" not in await pressed(line, clock, PIN)
