"""The speaking seam: words in, samples out."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np


class Speaking(Protocol):
    """Text to speech."""

    rate: int
    """Samples a second of what `speak` yields."""

    def speak(self, text: str, *, pace: float = 1.0) -> AsyncIterator["np.ndarray"]:
        """Say one sentence, already made speakable: mono float32 chunks in -1…1, levelled, each as soon as it is made.

        `pace` 1.0 is the ordinary speed, 0.8 slower. Closing the iterator early stops the synthesis.
        """
        ...
