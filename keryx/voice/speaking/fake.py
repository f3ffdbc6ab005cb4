"""A voice for tests: a quiet tone as long as the words would take."""

import math
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

TONE_HZ = 220.0
TONE_LEVEL = 0.1
CHUNK_MS = 100


class FakeSpeaking:
    """A `Speaking` whose sentences last `ms_per_character` for every character; it notes what it was asked to say."""

    def __init__(self, rate: int = 24_000, ms_per_character: float = 60.0) -> None:
        self.rate = rate
        self.said: list[str] = []
        self.closed_early = 0
        self._ms_per_character = ms_per_character

    async def speak(self, text: str, *, pace: float = 1.0) -> "AsyncIterator[np.ndarray]":
        import numpy as np

        self.said.append(text)
        count = round(len(text.strip()) * self._ms_per_character / 1000 * self.rate / pace)
        chunk = self.rate * CHUNK_MS // 1000
        finished = False
        try:
            for start in range(0, count, chunk):
                moments = np.arange(start, min(start + chunk, count), dtype=np.float64)
                yield (TONE_LEVEL * np.sin(2 * math.pi * TONE_HZ / self.rate * moments)).astype(np.float32)
            finished = True
        finally:
            self.closed_early += not finished
