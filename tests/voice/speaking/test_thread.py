"""Dead air around a clause is cut."""

from collections.abc import Iterator

import numpy as np
import pytest

from keryx.errors import Unavailable
from keryx.voice.speaking.thread import LEAD_S, ThreadedSpeaking, trimmed

RATE = 24_000


def test_long_silence_before_and_after_is_cut_to_a_short_one() -> None:
    word = np.full(RATE // 2, 0.2, np.float32)
    sound = np.pad(word, (RATE // 3, RATE // 2))

    cut = trimmed(sound, RATE, 0.2)

    first = int(np.flatnonzero(cut)[0]) / RATE
    assert first == pytest.approx(LEAD_S, abs=0.011)
    assert len(cut) / RATE == pytest.approx(LEAD_S + 0.5 + 0.2, abs=0.021)


def test_a_pause_that_is_missing_is_added() -> None:
    assert len(trimmed(np.full(RATE, 0.2, np.float32), RATE, 0.2)) == RATE * 1.2


@pytest.mark.parametrize("count", [0, 1, 5000])
def test_only_silence_is_nothing(count: int) -> None:
    assert len(trimmed(np.zeros(count, np.float32), RATE, 0.2)) == 0


class Hum(ThreadedSpeaking):
    """The same half second, whatever is said."""

    def synthesize(self, text: str, pace: float) -> Iterator[np.ndarray]:
        yield np.full(self.rate // 2, 0.2, np.float32)


async def test_a_closed_voice_says_so() -> None:
    voice = Hum(RATE)
    voice.close()
    voice.close()

    with pytest.raises(Unavailable):
        await anext(voice.speak("Hello."))
