"""Time that a test moves by hand."""

import asyncio
from datetime import timedelta

from keryx.clock import SystemClock, VirtualClock, settle


async def test_nothing_happens_before_its_time(clock: VirtualClock) -> None:
    woken: list[str] = []

    async def sleeper(name: str, duration_s: float) -> None:
        await clock.sleep(duration_s)
        woken.append(name)

    async with asyncio.TaskGroup() as group:
        group.create_task(sleeper("late", 3.0))
        group.create_task(sleeper("early", 1.0))
        await clock.advance(0.9)
        assert woken == []
        await clock.advance(0.1)
        assert woken == ["early"]
        await clock.advance(10)
    assert woken == ["early", "late"]


async def test_whoever_sleeps_again_within_the_time_moved_wakes_within_it(clock: VirtualClock) -> None:
    beats: list[float] = []

    async def beat() -> None:
        for _ in range(3):
            await clock.sleep(1)
            beats.append(clock.monotonic())

    async with asyncio.TaskGroup() as group:
        group.create_task(beat())
        await clock.advance(5)
    assert beats == [1, 2, 3]
    assert clock.monotonic() == 5


async def test_the_date_moves_with_the_clock(clock: VirtualClock) -> None:
    before = clock.now()
    await clock.advance(3600)
    assert clock.now() - before == timedelta(hours=1)
    assert clock.now().utcoffset() == timedelta(0)


async def test_a_cancelled_sleeper_does_not_hold_time_up(clock: VirtualClock) -> None:
    async with asyncio.TaskGroup() as group:
        sleeper = group.create_task(clock.sleep(1))
        await settle()
        sleeper.cancel()
        await clock.advance(2)
    assert clock.monotonic() == 2


async def test_the_systems_clock_goes_forward_in_utc() -> None:
    clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= before
    assert clock.now().utcoffset() == timedelta(0)
