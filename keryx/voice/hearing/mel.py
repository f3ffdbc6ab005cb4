"""The picture of sound that Whisper reads: an 80-band log-mel spectrogram.

As published with Whisper (Radford et al., 2022): 25 ms Hann windows every 10 ms at 16 kHz, Slaney's mel scale with
area-normalised triangles, log10, everything more than 8 below the peak raised to it, then scaled to about -1…1.
"""

import functools

import numpy as np

from keryx.voice.hearing.base import HEARING_RATE

HOP = 160
"""Samples from one column to the next (10 ms)."""

_WINDOW = 400
_BANDS = 80
_LINEAR_HZ = 200 / 3
_BREAK_HZ = 1000.0
_LOG_STEP = np.log(6.4) / 27
_FLOOR = 1e-10
_RANGE = 8.0


def log_mel(samples: np.ndarray) -> np.ndarray:
    """float32 [80, len(samples) // 160] of mono float32 samples at 16 kHz, at least a window of them."""
    edges = np.pad(np.asarray(samples, np.float32), _WINDOW // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(edges, _WINDOW)[: len(samples) : HOP][: len(samples) // HOP]
    power = np.abs(np.fft.rfft(frames * _hann(), axis=1)).astype(np.float32) ** 2
    bands = np.log10(np.maximum(_filters() @ power.T, _FLOOR))
    return ((np.maximum(bands, bands.max() - _RANGE) + 4) / 4).astype(np.float32)


@functools.cache
def _hann() -> np.ndarray:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / _WINDOW)).astype(np.float32)


@functools.cache
def _filters() -> np.ndarray:
    """Triangles [80, 201] over the bins of a window."""
    bins_hz = np.linspace(0, HEARING_RATE / 2, _WINDOW // 2 + 1)
    top = _to_mel(HEARING_RATE / 2)
    corners_hz = _to_hz(np.linspace(0, top, _BANDS + 2))
    left, middle, right = (corners_hz[start : start + _BANDS, None] for start in range(3))
    rising = (bins_hz - left) / (middle - left)
    falling = (right - bins_hz) / (right - middle)
    return (np.maximum(0, np.minimum(rising, falling)) * 2 / (right - left)).astype(np.float32)


def _to_mel(hz: float) -> float:
    """Slaney's scale: linear up to 1 kHz, logarithmic above."""
    return hz / _LINEAR_HZ if hz < _BREAK_HZ else _BREAK_HZ / _LINEAR_HZ + np.log(hz / _BREAK_HZ) / _LOG_STEP


def _to_hz(mels: np.ndarray) -> np.ndarray:
    break_mel = _BREAK_HZ / _LINEAR_HZ
    return np.where(mels < break_mel, mels * _LINEAR_HZ, _BREAK_HZ * np.exp(_LOG_STEP * (mels - break_mel)))
