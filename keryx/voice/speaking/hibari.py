"""The voice of this machine: hibari, a small model that runs a hundred times faster than speech on one core."""

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from keryx.voice.speaking.level import Leveller

MIN_PACE = 0.5
MAX_PACE = 2.0
"""The model's own range of speed."""

CHUNK_MS = 100
_WARM_UP = "Ready in a moment, task four."
_SEED = 7


class HibariSpeaking:
    """A `Speaking` for any number of calls: one thread synthesizes, clause by clause, one clause at a time."""

    rate = 24_000

    def __init__(self, model: Path, *, threads: int = 1) -> None:
        """Load and warm the model; blocks for half a second, so call it in a thread."""
        from hibari import Hibari

        self._model = Hibari(model=str(model), threads=threads)
        self._closed = threading.Event()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="speaking")
        for phonemes in self._model.phonemize(_WARM_UP):
            self._sound(phonemes, 1.0)

    async def speak(self, text: str, *, pace: float = 1.0) -> AsyncIterator[np.ndarray]:
        loop = asyncio.get_running_loop()
        speed = min(MAX_PACE, max(MIN_PACE, pace))
        size = self.rate * CHUNK_MS // 1000
        leveller = Leveller(self.rate)
        for phonemes in await loop.run_in_executor(self._executor, self._model.phonemize, text):
            sound = leveller.push(await loop.run_in_executor(self._executor, self._sound, phonemes, speed))
            for start in range(0, len(sound), size):
                yield sound[start : start + size]

    def close(self) -> None:
        """Give up what waits and free the voice's thread; may be called twice."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _sound(self, phonemes: str, speed: float) -> np.ndarray:
        # The same noise every time: a sentence sounds alike whenever it is said, and tests can compare.
        return self._model.from_phonemes(phonemes, speed, seed=_SEED)
