"""A loudspeaker that is a clock: when each piece of sound would have been heard, and what was, kept for a file."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from keryx.clock import Clock

TICK_S = 0.02
"""How finely marks are timed; one frame."""
BYTES_PER_SAMPLE = 2


class Playout:
    """Plays PCM16 at `rate` in its own time. Marks are answered when the sound before them is over."""

    def __init__(self, clock: Clock, rate: int) -> None:
        self.rate = rate
        self._clock = clock
        self._end_s = 0.0
        self._kept = bytearray()
        self._marks: deque[tuple[float, str]] = deque()
        self._changed = asyncio.Event()

    @property
    def idle(self) -> bool:
        """Nothing is playing and no mark is owed."""
        return not self._marks and self._clock.monotonic() >= self._end_s

    @property
    def heard(self) -> bytes:
        """All that was played, without the pauses between."""
        return bytes(self._kept)

    def play(self, sound: bytes) -> None:
        """Queue `sound` behind what is playing."""
        self._end_s = max(self._clock.monotonic(), self._end_s) + len(sound) / BYTES_PER_SAMPLE / self.rate
        self._kept += sound

    def mark(self, name: str) -> None:
        """Owe an answer for `name` once everything before it has been played."""
        self._marks.append((self._end_s, name))
        self._changed.set()

    def clear(self) -> None:
        """Stop at once: what has not been heard is dropped, and every mark falls due."""
        now = self._clock.monotonic()
        unheard = max(0, int((self._end_s - now) * self.rate)) * BYTES_PER_SAMPLE
        del self._kept[max(0, len(self._kept) - unheard) :]
        self._end_s = min(self._end_s, now)
        self._marks = deque((min(due_s, now), name) for due_s, name in self._marks)
        self._changed.set()

    async def answer_marks(self, answer: Callable[[str], Awaitable[None]]) -> None:
        """Call `answer` with each mark as it falls due, in order, until cancelled; that loses at most one."""
        while True:
            if not self._marks:
                self._changed.clear()
                await self._changed.wait()
            elif (left_s := self._marks[0][0] - self._clock.monotonic()) > 0:
                await self._clock.sleep(min(left_s, TICK_S))
            else:
                await answer(self._marks.popleft()[1])
