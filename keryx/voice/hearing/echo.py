"""Telling one's own voice, come back over the line, from the caller's.

Every frame is compared with what was played lately: the normalised cross-correlation of the last 128 ms heard with
the reference at every delay up to 750 ms, by FFT, on pre-emphasised signals at 8 kHz (the textbook matched filter;
pre-emphasis flattens speech, so that two different vowels of like pitch correlate little). An echo of the voice
correlates 0.7-1.0 also over a telephone and in a room, another talker 0.2-0.4. A caller who talks over the voice is
louder than its echo and outweighs it in the window within two frames, so no double-talk detector is needed and no
adaptive filter has to converge first.
"""

import re
from typing import TYPE_CHECKING

import numpy as np

from keryx.voice.hearing.base import HEARING_RATE, VAD_FRAME

if TYPE_CHECKING:
    from collections.abc import Sequence

RATE = 8_000
WINDOW_MS = 128
MAX_DELAY_MS = 750
"""Longest way of the voice to the caller's ear and back; a mobile line and a jitter buffer make up to 600."""

EARLY_MS = 40
"""How much earlier than the plan the line may have played, by the error of the clocks."""

ECHO = 0.5
"""Correlation from which a window is the voice's echo."""

ECHO_AT_KNOWN_DELAY = 0.35
SAME_DELAY_MS = 6
"""Around the delay of the last echo less is proof enough, which keeps noisy lines and soft consonants in."""

FAINT_GAIN = 0.25
MASKED = 4.0
"""An echo this faint is also known by its level: a frame with less than `MASKED` times the energy of the echo to be
expected and of the line's noise together holds nobody else, however the noise spoils the correlation."""

QUIET = 1e-4
"""Root mean square below which a frame is too soft to be anybody."""

TOGETHER_MS = 60
"""Sound told within this of where the last ended continues it: arrival times jitter, samples do not."""

_PRE_EMPHASIS = 0.9
_PER_MS = RATE // 1000
_WINDOW = WINDOW_MS * _PER_MS
_EARLY = EARLY_MS * _PER_MS
_DELAYS = (EARLY_MS + MAX_DELAY_MS) * _PER_MS
_FRAME = VAD_FRAME * RATE // HEARING_RATE
_NOISE_RISE = 1.01
"""How fast the noise estimate creeps up between pauses, a frame: doubled in two seconds."""
_GAIN_SHARE = 0.1
_FFT = 1 << (_DELAYS + 2 * _WINDOW - 1).bit_length()
_KEEP_MS = MAX_DELAY_MS + 2 * WINDOW_MS
_HALF_BAND = np.array([-0.0319, 0, 0.2819, 0.5, 0.2819, 0, -0.0319], np.float32)
"""A short low-pass at 4 kHz; what it lets alias is far below the echo it looks for."""


class EchoGuard:
    """One call's memory of what it played; `is_echo` takes about 0.3 ms a frame while the voice plays, else nothing."""

    def __init__(self) -> None:
        self._played = _Track()
        self._heard = _Track()
        self._delay: int | None = None
        self._gain = 0.0
        self._noise = 0.0

    def played(self, samples: np.ndarray, at_ms: float) -> None:
        """The line plays `samples` (float32 at `HEARING_RATE`) from `at_ms` on, now or later, on the call's clock."""
        self._played.put(samples, at_ms)

    def stopped(self, at_ms: float) -> None:
        """What was to be played after `at_ms` was thrown away."""
        self._played.cut(at_ms)

    def is_echo(self, frame: np.ndarray, at_ms: float) -> bool:
        """Whether the `VAD_FRAME` samples heard from `at_ms` on are the voice come back, and nobody's own words.

        Give it every frame in order, silent ones too. An early frame of a caller may still count as echo: it is told
        apart within 96 ms of speaking over the voice.
        """
        self._heard.put(frame, at_ms)
        end = self._heard.end
        self._heard.forget_before(end - _WINDOW)
        self._played.forget_before(end - _KEEP_MS * _PER_MS)
        window = self._heard.between(end - _WINDOW, end)
        energy = float(np.mean(np.square(window[-_FRAME:])))
        self._noise = min(energy, self._noise * _NOISE_RISE) if self._noise else energy
        if not self._played.any_between(end - _WINDOW - _DELAYS, end + _EARLY):
            self._delay = None
            return False
        if float(np.sqrt(np.mean(np.square(frame)))) < QUIET:
            return False
        if self._delay is not None:
            near = SAME_DELAY_MS * _PER_MS
            correlation, delay = self._best(window, end, self._delay - near, self._delay + near)
            if correlation >= ECHO:
                self._note(window, end, delay)
            if correlation >= ECHO_AT_KNOWN_DELAY or energy < MASKED * (self._expected(end) + self._noise):
                return True
        correlation, delay = self._best(window, end, -_EARLY, MAX_DELAY_MS * _PER_MS)
        if correlation < ECHO:
            return False
        self._note(window, end, delay)
        return True

    def _note(self, window: np.ndarray, end: int, delay: int) -> None:
        """`window` is an echo: follow its delay and how much softer it is than what was played."""
        reference = self._played.between(end - delay - len(window), end - delay)
        gain = abs(float(reference @ window)) / max(float(reference @ reference), 1e-9)
        fresh = self._delay is None or abs(self._delay - delay) > SAME_DELAY_MS * _PER_MS
        self._gain = gain if fresh else self._gain + _GAIN_SHARE * (gain - self._gain)
        self._delay = delay

    def _expected(self, end: int) -> float:
        """Energy that a faint echo may have in the last frame, with the room's tail; 0.0 for one that is not faint."""
        if self._delay is None or self._gain > FAINT_GAIN:
            return 0.0
        reference = self._played.between(end - self._delay - _WINDOW, end - self._delay)
        return self._gain**2 * float(np.square(reference).reshape(-1, _FRAME).mean(axis=1).max())

    def _best(self, window: np.ndarray, end: int, shortest: int, longest: int) -> tuple[float, int]:
        """The strongest correlation of `window`, ending at `end`, with what was played that long ago, and its delay."""
        reference = self._played.between(end - len(window) - longest, end - shortest)
        places = len(reference) - len(window) + 1
        if places > 4 * len(window):
            products = np.fft.irfft(np.fft.rfft(reference, _FFT) * np.conj(np.fft.rfft(window, _FFT)), _FFT)[:places]
        else:
            products = np.correlate(reference, window, "valid")
        sums = np.concatenate(([0.0], np.cumsum(np.square(reference, dtype=np.float64))))
        energies = sums[len(window) :] - sums[:places]
        own = float(np.square(window, dtype=np.float64).sum())
        # A stretch of the reference much softer than its loudest is mostly pause: it would match anything.
        floor = max(1e-9, 0.01 * float(energies.max()))
        correlations = np.abs(products) / np.sqrt(np.maximum(energies, floor) * max(own, 1e-9))
        place = int(correlations.argmax())
        return float(correlations[place]), longest - place


class _Track:
    """Sound on a line of time, at 8 kHz and pre-emphasised; silence where nothing was put. Times are in its samples."""

    def __init__(self) -> None:
        self._samples = np.zeros(0, np.float32)
        self._start = 0
        self._tail = np.zeros(len(_HALF_BAND) + 1, np.float32)

    @property
    def end(self) -> int:
        return self._start + len(self._samples)

    def put(self, samples: np.ndarray, at_ms: float) -> None:
        """Add sound at `HEARING_RATE`; what stood there or after is replaced."""
        place = round(at_ms * _PER_MS)
        if len(self._samples) and abs(place - self.end) <= TOGETHER_MS * _PER_MS:
            place = self.end
        else:
            self._tail[:] = 0
            if place < self._start or not len(self._samples):
                self._start, self._samples = place, self._samples[:0]
        self.cut(place / _PER_MS)
        gap = np.zeros(place - self.end, np.float32)
        self._samples = np.concatenate((self._samples, gap, self._prepared(samples)))

    def cut(self, at_ms: float) -> None:
        """Take out everything from `at_ms` on."""
        self._samples = self._samples[: max(0, round(at_ms * _PER_MS) - self._start)]

    def forget_before(self, place: int) -> None:
        count = min(max(0, place - self._start), len(self._samples))
        self._samples = self._samples[count:]
        self._start += count

    def between(self, start: int, end: int) -> np.ndarray:
        """The sound from `start` to `end`, with silence where there is none."""
        stretch = np.zeros(end - start, np.float32)
        first, last = max(start, self._start), min(end, self.end)
        if first < last:
            stretch[first - start : last - start] = self._samples[first - self._start : last - self._start]
        return stretch

    def any_between(self, start: int, end: int) -> bool:
        first, last = max(start, self._start) - self._start, min(end, self.end) - self._start
        return first < last and bool(np.abs(self._samples[first:last]).max() > QUIET)

    def _prepared(self, samples: np.ndarray) -> np.ndarray:
        """Half the rate and pre-emphasised, going on where the last samples ended; their count should be even."""
        taps = len(_HALF_BAND)
        joined = np.concatenate((self._tail, np.asarray(samples, np.float32)))
        self._tail = joined[len(joined) - taps - 1 :]
        halved = np.convolve(joined, _HALF_BAND, "valid")[::2]
        return halved[1:] - np.float32(_PRE_EMPHASIS) * halved[:-1]


OWN_WORDS = 80.0
"""Likeness 0…100 from which heard words are the voice's own."""

_SHORT_WORDS = 2


def is_own_words(heard_text: str, spoken_text: str) -> bool:
    """Whether what was heard is a stretch of what Keryx was saying: the second net, under the sound's own.

    One or two words are never its own ("yes", "cancel it"): a caller often answers in the words of the question.
    """
    from rapidfuzz import fuzz

    heard, spoken = _bare(heard_text), _bare(spoken_text)
    if len(heard) <= _SHORT_WORDS or not spoken:
        return False
    return max(_likeness(fuzz, heard, spoken), default=0.0) >= OWN_WORDS


def _likeness(fuzz, heard: "Sequence[str]", spoken: "Sequence[str]") -> list[float]:
    """How like `heard` is to each stretch of `spoken` that is as long, or a word shorter or longer."""
    said = " ".join(heard)
    lengths = {min(len(spoken), max(1, len(heard) + more)) for more in (-1, 0, 1)}
    return [
        fuzz.ratio(said, " ".join(spoken[start : start + length]))
        for length in lengths
        for start in range(len(spoken) - length + 1)
    ]


def _bare(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower().replace("’", "'"))
