"""The hearing seam: samples in, words out; and whether anybody is speaking at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

HEARING_RATE = 16_000
"""Samples a second that every recogniser and detector here takes: mono float32 in -1…1."""

VAD_FRAME = 512
"""Samples the voice-activity detector takes at a time (32 ms)."""


@dataclass(frozen=True)
class Transcript:
    """What was understood of a stretch of sound; `text` is "" when there was nothing but noise."""

    text: str
    no_speech: float
    """Probability 0…1 that nobody spoke."""
    confidence: float
    """0…1, from the mean log-probability of the words."""


class Hearing(Protocol):
    """Speech to text."""

    async def transcribe(self, samples: "np.ndarray", *, vocabulary: Sequence[str] = ()) -> Transcript:
        """Transcribe mono float32 `samples` at `HEARING_RATE`, at most 30 s of them (the newest are kept).

        `vocabulary` holds names likely to be said (projects, agents). A cancellation gives up the wait; work
        already on the processor may run on for a moment and is thrown away.
        """
        ...


class VoiceActivity(Protocol):
    """Whether somebody is speaking; keeps state, so one per call."""

    def probability(self, frame: "np.ndarray") -> float:
        """Probability 0…1 that the next `VAD_FRAME` samples (float32 at `HEARING_RATE`) hold speech."""
        ...

    def reset(self) -> None:
        """Forget what came before."""
        ...
