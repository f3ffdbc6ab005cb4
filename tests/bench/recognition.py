"""How well the hearing hears: word error rate over recorded requests, and over what the voice itself says.

Run `python -m tests.bench.recognition`. Numbers count as equal in words and digits; case and punctuation do not count.
"""

import csv
import re
import statistics
import tempfile
import time
import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from num2words import num2words
from rapidfuzz.distance import Levenshtein

from keryx.voice.audio import Resampler, decode, encode
from keryx.voice.hearing.base import HEARING_RATE
from keryx.voice.loading import load_parts
from keryx.voice.transports.base import AudioFormat, Encoding

if TYPE_CHECKING:
    import numpy as np

RECORDINGS = Path(__file__).parents[1] / "fixtures" / "speech"
GOAL = 0.08
VOCABULARY = ("billing", "parser", "Codex", "Claude")
WIDE = AudioFormat(Encoding.PCM16, HEARING_RATE)
PHONE = AudioFormat(Encoding.MULAW, 8_000)

SAID = (
    "Keryx. Two things finished.",
    "The invoice test is fixed; it was a rounding error.",
    "The website build failed: the lock file is out of date. Fix that too?",
    "Task six is done. Claude says it renamed twelve places and all the tests pass.",
    "Cancelling task four, the parser rewrite. Sure?",
    "It has been running for eleven minutes.",
    "Nineteen of twenty one tests pass.",
    "It started at half past nine and used four hundred and fifty thousand tokens.",
    "I'll put it on the page.",
    "One to allow, two to refuse.",
)


@dataclass(frozen=True)
class Recording:
    """One request: its words, and its sound at the hearing's rate by line."""

    words: str
    sound: "dict[str, np.ndarray]"


def recordings() -> Iterator[Recording]:
    """The recorded requests, wide band and as a telephone carries them."""
    with (RECORDINGS / "transcripts.tsv").open(newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            with wave.open(str(RECORDINGS / row["file16k"])) as file:
                wide = decode(file.readframes(file.getnframes()), WIDE)
            phone = widened((RECORDINGS / row["file8k_ulaw"]).read_bytes())
            yield Recording(row["text"], {"16 kHz": wide, "8 kHz mu-law": phone})


def widened(mulaw: bytes) -> "np.ndarray":
    """A telephone's bytes as the hearing takes them."""
    return Resampler(PHONE.rate, HEARING_RATE).push(decode(mulaw, PHONE), last=True)


def over_the_phone(samples: "np.ndarray", rate: int) -> "np.ndarray":
    """`samples` after a telephone line, at the hearing's rate."""
    return widened(encode(Resampler(rate, PHONE.rate).push(samples, last=True), PHONE))


def words_of(text: str) -> list[str]:
    """The words that count: small letters, no punctuation, numbers in words (long ones digit by digit)."""
    text = re.sub(r"\d[\d,]*", lambda digits: f" {_spoken(digits[0].replace(',', ''))} ", text.lower())
    return re.findall(r"[a-z]+(?:'[a-z]+)?", text.replace("’", "'"))


def word_errors(said: str, heard: str) -> tuple[int, int]:
    """Wrong, missing and added words, and how many were said."""
    reference = words_of(said)
    return Levenshtein.distance(reference, words_of(heard)), len(reference)


def measure(vocabulary: Sequence[str] = VOCABULARY) -> dict:
    """Word error rate, exact sentences and time a request by line, and of the voice heard again by telephone."""
    import numpy as np

    with tempfile.TemporaryDirectory() as cache:
        parts = load_parts(Path(cache), None, False, lambda what, done: None)
    pairs: dict[str, list[tuple[str, str, float]]] = {}
    try:
        hear = parts.hearing.transcribe_now  # type: ignore[attr-defined]  # the bench needs no event loop
        say = parts.speaking.speak_now  # type: ignore[attr-defined]  # as above
        spoken = [
            Recording(text, {"own voice, 8 kHz": over_the_phone(say(text), parts.speaking.rate)}) for text in SAID
        ]
        hear(np.zeros(HEARING_RATE, np.float32))
        for recording in [*recordings(), *spoken]:
            for line, sound in recording.sound.items():
                began = time.perf_counter()
                heard = hear(sound, tuple(vocabulary)).text
                pairs.setdefault(line, []).append((recording.words, heard, time.perf_counter() - began))
    finally:
        parts.close()
    return {line: _figures(heard) for line, heard in pairs.items()}


def _figures(pairs: list[tuple[str, str, float]]) -> dict:
    counts = [word_errors(said, heard) for said, heard, _ in pairs]
    return {
        "word_error_rate": sum(wrong for wrong, _ in counts) / sum(words for _, words in counts),
        "exact": sum(not wrong for wrong, _ in counts) / len(counts),
        "median_s": statistics.median(seconds for *_, seconds in pairs),
        "misheard": [(said, heard) for (said, heard, _), (wrong, _) in zip(pairs, counts, strict=True) if wrong],
    }


def _spoken(digits: str) -> str:
    if len(digits) > 3 or (len(digits) > 1 and digits[0] == "0"):
        return " ".join(num2words(int(digit)) for digit in digits)
    return num2words(int(digits)).replace("-", " ").replace(",", "")


def main() -> None:
    figures = measure()
    print(f"{'line':<18} {'word errors':>12} {'exact':>7} {'median':>8}")
    for line, row in figures.items():
        print(f"{line:<18} {row['word_error_rate']:>11.1%} {row['exact']:>7.0%} {row['median_s']:>7.2f}s")
    for line, row in figures.items():
        for said, heard in row["misheard"]:
            print(f"  {line}: said  {said}\n  {' ' * len(line)}  heard {heard}")


if __name__ == "__main__":
    main()
