"""Sound as bytes and as samples: mu-law and 16-bit PCM, rates, whole frames.

Samples are mono float32 in -1…1. numpy is imported where it is used: a base install has none, and a typed call never
needs it.
"""

import functools
import math
from typing import TYPE_CHECKING

from keryx.voice.transports.base import AudioFormat, Encoding

if TYPE_CHECKING:
    import numpy as np

FULL_SCALE = 32768.0
MULAW_SILENCE = b"\xff"
PCM16_SILENCE = b"\x00\x00"

_MULAW_BIAS = 0x84
_MULAW_CLIP = 32635


@functools.cache
def mulaw_decoding() -> "np.ndarray":
    """The 256 sample values of ITU-T G.711 mu-law, as int16, by code."""
    import numpy as np

    codes = ~np.arange(256, dtype=np.int32) & 0xFF
    magnitude = ((((codes & 0x0F) << 3) + _MULAW_BIAS) << ((codes >> 4) & 0x07)) - _MULAW_BIAS
    return np.where(codes & 0x80, -magnitude, magnitude).astype(np.int16)


@functools.cache
def mulaw_encoding() -> "np.ndarray":
    """The mu-law code of every 16-bit sample by the decision values of ITU-T G.711, indexed by the sample as uint16."""
    import numpy as np

    samples = np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.int32)
    magnitude = np.minimum(np.abs(samples), _MULAW_CLIP) + _MULAW_BIAS
    exponent = np.floor(np.log2(magnitude)).astype(np.int32) - 7
    mantissa = (magnitude >> (exponent + 3)) & 0x0F
    sign = np.where(samples < 0, 0x80, 0)
    return (~(sign | (exponent << 4) | mantissa) & 0xFF).astype(np.uint8)


def decode(payload: bytes, format: AudioFormat) -> "np.ndarray":
    """Samples of `payload` at the format's own rate. Half a PCM16 sample at the end is left out; `Decoder` keeps it."""
    import numpy as np

    if format.encoding is Encoding.MULAW:
        values = mulaw_decoding()[np.frombuffer(payload, np.uint8)]
    else:
        values = np.frombuffer(payload, "<i2", count=len(payload) // 2)
    return values.astype(np.float32) / np.float32(FULL_SCALE)


def encode(samples: "np.ndarray", format: AudioFormat) -> bytes:
    """`samples`, already at the format's rate, as bytes; what is beyond -1…1 is cut off, not wrapped round."""
    import numpy as np

    scaled = np.rint(np.asarray(samples, np.float32) * np.float32(FULL_SCALE))
    values = np.clip(scaled, -FULL_SCALE, FULL_SCALE - 1).astype("<i2")
    if format.encoding is Encoding.MULAW:
        return mulaw_encoding()[values.astype(np.int16).view(np.uint16)].tobytes()
    return values.tobytes()


def silence(format: AudioFormat, duration_ms: float) -> bytes:
    """That much of nothing."""
    unit = MULAW_SILENCE if format.encoding is Encoding.MULAW else PCM16_SILENCE
    return unit * (format.bytes_of(duration_ms) // format.bytes_per_sample)


class Decoder:
    """`decode` for a line that may cut its bytes anywhere: half a sample waits for its other half."""

    def __init__(self, format: AudioFormat) -> None:
        self._format = format
        self._half = b""

    def push(self, payload: bytes) -> "np.ndarray":
        payload = self._half + payload
        whole = len(payload) - len(payload) % self._format.bytes_per_sample
        self._half = payload[whole:]
        return decode(payload[:whole], self._format)


class Resampler:
    """One stream from one rate to another by a windowed-sinc filter; keeps state between pushes.

    Short on purpose: it holds back 1.5 ms of sound, where the streams of resampling libraries hold back 30-85 ms, which
    every answer of a call would wait for. Below 0.4 of the lower rate it is flat, beyond 0.6 it lets -60 dB through.
    """

    def __init__(self, from_rate: int, to_rate: int) -> None:
        common = math.gcd(from_rate, to_rate)
        self._up, self._down = to_rate // common, from_rate // common
        self._filter = None
        if self._up != self._down:
            import numpy as np

            self._filter = _phases(self._up, self._down)
            self._waiting = np.zeros(self._filter.shape[1] // 2, np.float32)
            self._place = 0

    def push(self, samples: "np.ndarray", last: bool = False) -> "np.ndarray":
        """What can be given out so far; `last` gives out the rest and ends the stream."""
        import numpy as np

        samples = np.asarray(samples, np.float32)
        if self._filter is None:
            return samples
        taps = self._filter.shape[1]
        ending = np.zeros(taps // 2 if last else 0, np.float32)
        waiting = np.concatenate((self._waiting, samples, ending))
        # `_place` counts in steps of 1/up of an incoming sample, from the first one waiting.
        count = max(0, -(-((len(waiting) - taps + 1) * self._up - self._place) // self._down))
        places = self._place + self._down * np.arange(count)
        done = (self._place + self._down * count) // self._up
        self._place = (self._place + self._down * count) % self._up
        self._waiting = waiting[done:]
        if not count:
            return waiting[:0]
        windows = np.lib.stride_tricks.sliding_window_view(waiting, taps)[places // self._up]
        return np.einsum("mt,mt->m", windows, self._filter[places % self._up])


_HALF_WIDTH = 12
"""Filter taps to either side, in samples of the lower rate."""

_KAISER_BETA = 6.0


@functools.cache
def _phases(up: int, down: int) -> "np.ndarray":
    """The filter cut into one row for every place between two incoming samples: [up, taps]."""
    import numpy as np

    stretch = max(1.0, down / up)
    half = math.ceil(_HALF_WIDTH * stretch)
    distances = (np.arange(2 * half) - half)[None, :] - np.arange(up)[:, None] / up
    # Rows are applied to a window that begins `half` samples before the place.
    scaled = distances / stretch
    window = np.i0(_KAISER_BETA * np.sqrt(np.maximum(0, 1 - (scaled / _HALF_WIDTH) ** 2))) / np.i0(_KAISER_BETA)
    rows = np.sinc(scaled) * window
    return (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)


class Framer:
    """Bytes of any size in, frames of exactly `size` bytes out; the remainder waits."""

    def __init__(self, size: int, *, padding: bytes = b"\x00") -> None:
        """`padding` is one sample of silence in the line's encoding; `size` is a multiple of its length."""
        if size <= 0 or size % len(padding):
            raise ValueError(f"frames of {size} bytes cannot hold samples of {len(padding)}")
        self._size = size
        self._padding = padding
        self._rest = bytearray()

    def push(self, payload: bytes) -> list[bytes]:
        """Every frame that is complete now."""
        self._rest += payload
        whole = len(self._rest) - len(self._rest) % self._size
        frames = [bytes(self._rest[start : start + self._size]) for start in range(0, whole, self._size)]
        del self._rest[:whole]
        return frames

    def flush(self) -> bytes | None:
        """The last frame, filled up with silence; None when nothing waits."""
        if not self._rest:
            return None
        missing = self._size - len(self._rest)
        frame = bytes(self._rest) + (self._padding * math.ceil(missing / len(self._padding)))[-missing:]
        self._rest.clear()
        return frame[: self._size]

    def clear(self) -> None:
        """Forget what waits."""
        self._rest.clear()


class SampleFramer:
    """`Framer` for samples: arrays of any length in, arrays of exactly `size` out."""

    def __init__(self, size: int) -> None:
        import numpy as np

        self._size = size
        self._rest = np.zeros(0, np.float32)

    def push(self, samples: "np.ndarray") -> "list[np.ndarray]":
        """Every frame that is complete now."""
        import numpy as np

        waiting = np.concatenate((self._rest, np.asarray(samples, np.float32)))
        whole = len(waiting) - len(waiting) % self._size
        self._rest = waiting[whole:]
        return list(waiting[:whole].reshape(-1, self._size))

    def flush(self) -> "np.ndarray | None":
        """The last frame, filled up with silence; None when nothing waits."""
        import numpy as np

        if not len(self._rest):
            return None
        frame = np.zeros(self._size, np.float32)
        frame[: len(self._rest)] = self._rest
        self._rest = self._rest[:0]
        return frame

    def clear(self) -> None:
        """Forget what waits."""
        self._rest = self._rest[:0]
