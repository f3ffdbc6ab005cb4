"""Somebody who listens to a turn's progress."""

import asyncio

BOUND_S = 60.0


class Listener:
    """Keeps the progress lines, and knows when one holds certain words."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._came = asyncio.Condition()

    async def __call__(self, line: str) -> None:
        async with self._came:
            self.lines.append(line)
            self._came.notify_all()

    async def told(self, words: str) -> None:
        async with asyncio.timeout(BOUND_S), self._came:
            await self._came.wait_for(lambda: any(words in line for line in self.lines))

    def place(self, words: str) -> int:
        return next(at for at, line in enumerate(self.lines) if words in line)
