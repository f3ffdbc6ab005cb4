"""What has been heard, to the millisecond, although the line only says now and then how far it has come.

Three things bound it, and the least of them counts: what the clock allows since the sound was sent, the marks that came
back, and what was sent at all. A line answers a mark when everything before it was played *or flushed by a clear*, so a
mark alone proves nothing: names are never used twice, and those outstanding at a clear are forgotten.

Pure: times are given in, in seconds of any monotonic clock.
"""

from collections import deque
from dataclasses import dataclass, field

from keryx.voice.transports.base import AudioFormat

HEARD_TOLERANCE_MS = 300.0
"""Interrupted this close to its end, a text counts as heard: the last of it is a fading sound."""


@dataclass
class Span:
    """One sentence's place in the stream of sound: bytes `start` to `start + size`, growing until `whole`."""

    utterance: int
    text: str
    start: int
    size: int = 0
    whole: bool = False
    closing: bool = False
    """The last sentence of its utterance."""
    end_mark: str | None = None
    """The mark asked for at its end, once it was sent whole."""

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True)
class Unplayed:
    """The words that an interruption cut in two: those that were heard, and the rest."""

    heard: str
    unheard: str


@dataclass
class PlaybackLedger:
    """The account of one call's outgoing sound."""

    format: AudioFormat
    spans: deque[Span] = field(default_factory=deque)
    """Sentences not yet known to have been heard whole, in order."""
    sent: int = 0
    """Bytes given to the line, counted over the call without what a clear threw away."""

    def __post_init__(self) -> None:
        self._laid = 0  # where the next sentence begins
        self._anchor_at_s = 0.0  # when the line began to play without a break …
        self._anchor = 0  # … and at which byte
        self._marks: deque[tuple[str, int]] = deque()
        self._named = 0

    def lay(self, utterance: int, text: str) -> Span:
        """Add a sentence after everything laid so far; only the newest span may grow."""
        span = Span(utterance, text, self._laid)
        self.spans.append(span)
        return span

    def grow(self, span: Span, size: int) -> None:
        """`size` more bytes of `span` were made."""
        span.size += size
        self._laid = max(self._laid, span.end)

    def send(self, size: int, at_s: float) -> None:
        """`size` more bytes went to the line."""
        if self.played(at_s) >= self.sent:  # it had run dry: what comes now is played from now on
            self._anchor_at_s, self._anchor = at_s, self.sent
        self.sent += size

    def mark(self, ending: Span | None = None) -> str:
        """A name for the place reached, to ask the line about; unique over the call. `ending`: the span it closes."""
        self._named += 1
        name = f"m{self._named}"
        self._marks.append((name, self.sent))
        if ending is not None:
            ending.end_mark = name
        return name

    def answered(self, name: str) -> bool:
        """The line answered a mark; False when it is unknown, answered before, or from before a clear."""
        if not any(name == known for known, _ in self._marks):
            return False
        while self._marks.popleft()[0] != name:
            pass  # marks keep their order, so an earlier one that is still missing was lost on the way
        return True

    def played(self, at_s: float) -> int:
        """Bytes that the clock allows to have been played by `at_s`."""
        elapsed = max(0.0, at_s - self._anchor_at_s) * self.format.rate
        return min(self.sent, self._anchor + int(elapsed) * self.format.bytes_per_sample)

    def heard(self, at_s: float) -> int:
        """Bytes certainly heard by `at_s`: never past a mark that has not come back."""
        limit = self._marks[0][1] if self._marks else self.sent
        return min(self.played(at_s), limit)

    def heard_ms(self, at_s: float) -> float:
        """The same in milliseconds since the start of the call's sound."""
        return self.format.ms_of(self.heard(at_s))

    def ahead_ms(self, at_s: float) -> float:
        """How much the line has still to play."""
        return self.format.ms_of(self.sent - self.played(at_s))

    def awaits_marks(self) -> bool:
        """Whether any mark is outstanding."""
        return bool(self._marks)

    def clear(self, at_s: float) -> int:
        """The line was told to throw away what it had left; the place heard up to, from where sending may go on."""
        self.sent = self.heard(at_s)
        self._marks.clear()
        self._anchor_at_s, self._anchor = at_s, self.sent
        for span in self.spans:
            span.end_mark = None
        return self.sent

    def drop(self) -> Unplayed:
        """Forget every sentence that is laid (after a `clear`); says what of them was heard and what was not."""
        heard = " ".join(part for span in self.spans if (part := heard_part(span, self.sent, self.format)))
        unheard = " ".join(part for span in self.spans if (part := unheard_part(span, self.sent, self.format)))
        self.spans.clear()
        self._laid = self.sent
        return Unplayed(heard, unheard)

    def take_heard(self, at_s: float) -> list[Span]:
        """Remove and return the sentences that were heard whole by now: their mark is back and the clock agrees."""
        reached = self.heard(at_s)
        outstanding = {name for name, _ in self._marks}
        done = []
        while self.spans and self._was_heard(self.spans[0], reached, outstanding):
            done.append(self.spans.popleft())
        return done

    def expire(self) -> list[Span]:
        """Give up waiting for marks: remove and return the sentences sent whole, of which nobody knows."""
        self._marks.clear()
        lost = []
        while self.spans and self.spans[0].end_mark is not None:
            lost.append(self.spans.popleft())
        return lost

    @staticmethod
    def _was_heard(span: Span, reached: int, outstanding: set[str]) -> bool:
        return span.end_mark is not None and span.end_mark not in outstanding and reached >= span.end


def is_nearly_heard(span: Span, reached: int, format: AudioFormat) -> bool:
    """Whether so little of `span` is missing at byte `reached` that it counts as heard."""
    if not span.whole or not span.size:
        return False
    return format.ms_of(max(0, span.end - reached)) <= min(HEARD_TOLERANCE_MS, format.ms_of(span.size) / 2)


def heard_part(span: Span, reached: int, format: AudioFormat) -> str:
    """The words of `span` that were heard, by their share of its length; a word cut in two was not."""
    words = span.text.split()
    return " ".join(words[: _words_heard(span, reached, format)])


def unheard_part(span: Span, reached: int, format: AudioFormat) -> str:
    """The words of `span` that were not heard."""
    words = span.text.split()
    return " ".join(words[_words_heard(span, reached, format) :])


def _words_heard(span: Span, reached: int, format: AudioFormat) -> int:
    words = span.text.split()
    if is_nearly_heard(span, reached, format):
        return len(words)
    if reached <= span.start or not span.size:
        return 0
    letters = sum(len(word) + 1 for word in words)
    # The rest of a sentence whose making was still under way is unknown: its words count as long as they look.
    length = span.size if span.whole else max(span.size, _likely_size(letters, format))
    budget = letters * (reached - span.start) / length
    count = 0
    for word in words:
        budget -= len(word) + 1
        if budget < -1e-9:
            break
        count += 1
    return count


MS_PER_LETTER = 65
"""About how long a letter takes to say, for a sentence whose sound is not all made yet."""


def _likely_size(letters: int, format: AudioFormat) -> int:
    return format.bytes_of(letters * MS_PER_LETTER)
