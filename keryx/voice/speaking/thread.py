"""What every synthesizer of this machine has in common: one thread, whole clauses in, levelled chunks out."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from keryx.errors import Unavailable
from keryx.voice.speaking.level import Leveller

MIN_PACE = 0.5
MAX_PACE = 2.0
CHUNK_MS = 100

PAUSE_S = 0.2
"""Silence left after a clause at the ordinary pace; synthesizers end in up to half a second of it."""

LEAD_S = 0.02
"""Silence left before a clause; hibari begins with 0.2 s of it, which a caller would wait through."""

_AUDIBLE_DBFS = -65.0
_BLOCK_S = 0.01


class ThreadedSpeaking(ABC):
    """A `Speaking` for any number of calls: clause by clause on one thread, so that no two mix and none waits long.

    Closing or cancelling `speak` stops it after the clause the thread is at, which is then thrown away.
    """

    rate: int

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._executor: ThreadPoolExecutor | None = ThreadPoolExecutor(1, thread_name_prefix="speaking")

    async def speak(self, text: str, *, pace: float = 1.0) -> AsyncIterator[np.ndarray]:
        clauses = self.clauses(text, pace)
        size = self.rate * CHUNK_MS // 1000
        loop = asyncio.get_running_loop()
        while True:
            if self._executor is None:
                raise Unavailable("the voice is closed")
            clause = await loop.run_in_executor(self._executor, next, clauses, None)
            if clause is None:
                return
            for start in range(0, len(clause), size):
                yield clause[start : start + size]

    def speak_now(self, text: str, *, pace: float = 1.0) -> np.ndarray:
        """All of `text` at once, made in the calling thread; for tools and tests, not beside a running `speak`."""
        return np.concatenate([np.zeros(0, np.float32), *self.clauses(text, pace)])

    def clauses(self, text: str, pace: float) -> Iterator[np.ndarray]:
        """Levelled clauses with short pauses, each made when it is asked for."""
        pace = min(MAX_PACE, max(MIN_PACE, pace))
        leveller = Leveller(self.rate)
        for sound in self.synthesize(text, pace):
            yield leveller.push(trimmed(sound, self.rate, PAUSE_S / pace))

    @abstractmethod
    def synthesize(self, text: str, pace: float) -> Iterator[np.ndarray]:
        """Clauses as the synthesizer makes them; runs in the voice's thread."""

    def close(self) -> None:
        """Give up what waits and free the voice's thread; may be called twice."""
        executor, self._executor = self._executor, None
        if executor:
            executor.shutdown(wait=False, cancel_futures=True)


def trimmed(sound: np.ndarray, rate: int, pause_s: float) -> np.ndarray:
    """`sound` from `LEAD_S` before its first audible moment to `pause_s` after its last; empty when there is none."""
    block = max(1, int(rate * _BLOCK_S))
    blocks = np.zeros((-(-len(sound) // block), block), np.float32)
    blocks.reshape(-1)[: len(sound)] = sound
    audible = np.flatnonzero(np.square(blocks).mean(axis=1) > 10 ** (_AUDIBLE_DBFS / 10))
    if not len(audible):
        return sound[:0]
    first = max(0, int(audible[0]) * block - int(rate * LEAD_S))
    ending = (int(audible[-1]) + 1) * block + int(rate * pause_s)
    return np.pad(sound[first:ending], (0, max(0, ending - len(sound))))
