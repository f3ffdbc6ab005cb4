"""One loudness for every sentence, whatever the synthesizer made of it."""

import numpy as np

TARGET_DBFS = -20.0
"""Root mean square of speech, pauses left out."""

CEILING = 0.89
"""No sample goes beyond this (-1 dBFS), which leaves room for the overshoot of a resampler behind."""

_BLOCK_S = 0.01
_PAUSE_DBFS = -50.0
_MEMORY_S = 1.0
_MIN_GAIN = 0.25
_MAX_GAIN = 6.0


class Leveller:
    """One utterance's level: brings its short-term loudness to `TARGET_DBFS` and limits its peaks.

    The gain follows the loudness of about the last second and moves in a straight line across each 10 ms block, so it
    is never heard as a step. The first push sets the gain from all it holds, so push the longest stretch there is.
    """

    def __init__(self, rate: int) -> None:
        self._block = max(1, int(rate * _BLOCK_S))
        self._power: float | None = None
        self._gain = 1.0

    def push(self, samples: np.ndarray) -> np.ndarray:
        """The samples levelled, as many as came in."""
        if not len(samples):
            return np.asarray(samples, np.float32)
        count = -(-len(samples) // self._block)
        blocks = np.zeros((count, self._block), np.float32)
        blocks.reshape(-1)[: len(samples)] = np.nan_to_num(samples)
        gains = self._edges(blocks)
        ramp = np.arange(self._block, dtype=np.float32) / self._block
        blocks *= gains[:-1, None] + np.diff(gains)[:, None] * ramp
        self._gain = float(gains[-1])
        return np.clip(blocks.reshape(-1)[: len(samples)], -CEILING, CEILING)

    def _edges(self, blocks: np.ndarray) -> np.ndarray:
        """The gain at every edge of the blocks, first and last included; no block's peak leaves the ceiling."""
        powers = np.mean(np.square(blocks, dtype=np.float64), axis=1)
        speaking = powers > 10 ** (_PAUSE_DBFS / 10)
        first = self._power is None
        if first and speaking.any():
            self._power = float(powers[speaking].mean())
        edges = np.empty(len(blocks) + 1)
        edges[0] = self._wanted() if first else self._gain
        share = _BLOCK_S / _MEMORY_S
        for place, power in enumerate(powers):
            if speaking[place] and self._power is not None:
                self._power += share * (power - self._power)
            edges[place + 1] = self._wanted()
        limits = np.minimum(CEILING / np.maximum(np.abs(blocks).max(axis=1), 1e-9), _MAX_GAIN)
        edges[:-1] = np.minimum(edges[:-1], limits)
        edges[1:] = np.minimum(edges[1:], limits)
        return edges.astype(np.float32)

    def _wanted(self) -> float:
        if self._power is None:
            return 1.0
        return float(np.clip(10 ** (TARGET_DBFS / 20) / np.sqrt(self._power), _MIN_GAIN, _MAX_GAIN))
