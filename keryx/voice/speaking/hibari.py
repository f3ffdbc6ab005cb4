"""The voice of this machine: hibari, a small model that runs a hundred times faster than speech on one core."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from keryx.voice.speaking.thread import ThreadedSpeaking

RATE = 24_000
_WARM_UP = "Ready in a moment, task four."
_SEED = 7


class HibariSpeaking(ThreadedSpeaking):
    """hibari's American voice. Its speed is the model's own, so a slower pace keeps the pitch."""

    def __init__(self, model: Path, *, threads: int = 1) -> None:
        """Load and warm the model; blocks for half a second, so call it in a thread."""
        from hibari import Hibari

        super().__init__(RATE)
        self._model = Hibari(model=str(model), threads=threads)
        self.speak_now(_WARM_UP)

    def synthesize(self, text: str, pace: float) -> Iterator[np.ndarray]:
        for phonemes in self._model.phonemize(text):
            # The same noise every time: a sentence sounds alike whenever it is said, and tests can compare.
            yield self._model.from_phonemes(phonemes, pace, seed=_SEED)
