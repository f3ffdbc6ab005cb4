"""Waiting with a bound, by the call's own clock."""

import asyncio

from keryx.clock import Clock


async def happened_within(clock: Clock, duration_s: float, event: asyncio.Event) -> bool:
    """Wait until `event` is set, at most `duration_s`; whether it is set. A cancellation loses nothing."""
    if event.is_set() or duration_s <= 0:
        return event.is_set()
    async with asyncio.TaskGroup() as race:
        racers = [race.create_task(clock.sleep(duration_s)), race.create_task(event.wait())]
        await asyncio.wait(racers, return_when=asyncio.FIRST_COMPLETED)
        for racer in racers:
            racer.cancel()
    return event.is_set()
