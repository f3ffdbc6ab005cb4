"""Time as a seam: the system's clock in the daemon, a virtual one in tests, so that no test ever sleeps."""

import asyncio
import heapq
import itertools
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What any part of Keryx may ask of time."""

    def now(self) -> datetime:
        """The moment, timezone-aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since an arbitrary start; never goes backwards."""
        ...

    async def sleep(self, duration_s: float) -> None:
        """Wait `duration_s` seconds; a cancellation ends the wait and loses nothing."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, duration_s: float) -> None:
        await asyncio.sleep(duration_s)


class VirtualClock:
    """Time that moves only when a test says so, in order, waking sleepers one by one."""

    def __init__(self, start: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed_s = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed_s)

    def monotonic(self) -> float:
        return self._elapsed_s

    async def sleep(self, duration_s: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed_s + max(0.0, duration_s), next(self._order), woken))
        await woken

    async def advance(self, duration_s: float) -> None:
        """Move time on by `duration_s`, letting every sleeper that falls due run before the next one."""
        target = self._elapsed_s + duration_s
        await settle()
        while self._sleepers and self._sleepers[0][0] <= target:
            due_s, _, woken = heapq.heappop(self._sleepers)
            self._elapsed_s = max(self._elapsed_s, due_s)
            if not woken.done():
                woken.set_result(None)
            await settle()
        self._elapsed_s = target


async def settle(rounds: int = 20) -> None:
    """Let everything that is ready to run do so; `rounds` turns of the event loop."""
    for _ in range(rounds):
        await asyncio.sleep(0)
