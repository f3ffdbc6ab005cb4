"""Ears for tests: they hear what the script says."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from keryx.voice.hearing.base import VAD_FRAME, Transcript

if TYPE_CHECKING:
    import numpy as np

LOUD = 0.005
"""Root mean square above which the fake takes a frame for speech."""


class FakeHearing:
    """A `Hearing` that gives its script's texts in order, then nothing; sound quieter than `LOUD` uses none up."""

    def __init__(self, script: Iterable[str] = ()) -> None:
        self.script = list(script)
        self.heard: list[float] = []
        """Seconds of sound in each request so far."""
        self.vocabularies: list[tuple[str, ...]] = []
        self.waits: Callable[[], Awaitable[None]] | None = None
        """Awaited before each answer, for ears that are slow."""

    async def transcribe(self, samples: "np.ndarray", *, vocabulary: Sequence[str] = ()) -> Transcript:
        self.heard.append(len(samples) / 16_000)
        self.vocabularies.append(tuple(vocabulary))
        if self.waits is not None:
            await self.waits()
        if not self.script or _loudness(samples) < LOUD:
            return Transcript("", no_speech=1.0, confidence=0.0)
        return Transcript(self.script.pop(0), no_speech=0.0, confidence=1.0)


class FakeActivity:
    """A `VoiceActivity` that takes everything loud for speech."""

    def probability(self, frame: "np.ndarray") -> float:
        if len(frame) != VAD_FRAME:
            raise ValueError(f"a frame has {VAD_FRAME} samples, not {len(frame)}")
        return 1.0 if _loudness(frame) >= LOUD else 0.0

    def reset(self) -> None:
        pass


def _loudness(samples: "np.ndarray") -> float:
    return float((samples.astype("float64") ** 2).mean() ** 0.5) if len(samples) else 0.0
