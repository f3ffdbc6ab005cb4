"""Every sentence at one loudness."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.voice.speaking.level import CEILING, TARGET_DBFS, Leveller

RATE = 24_000


def speechlike(peak: float, duration_s: float = 2.0) -> np.ndarray:
    """Bursts of noise with pauses between, as syllables are."""
    moments = np.arange(int(RATE * duration_s)) / RATE
    sound = np.random.default_rng(0).normal(0, 1, len(moments)) * np.maximum(0, np.sin(2 * np.pi * 3 * moments))
    return (sound * peak / np.abs(sound).max()).astype(np.float32)


def loudness_db(sound: np.ndarray) -> float:
    powers = np.square(sound[: len(sound) // 240 * 240].reshape(-1, 240)).mean(axis=1)
    return float(10 * np.log10(powers[powers > 1e-5].mean()))


@pytest.mark.parametrize("peak", [0.1, 0.27, 0.49, 0.99])
def test_soft_and_loud_sentences_come_out_alike(peak: float) -> None:
    assert loudness_db(Leveller(RATE).push(speechlike(peak))) == pytest.approx(TARGET_DBFS, abs=1.5)


def test_one_long_push_and_many_short_ones_are_alike() -> None:
    sound = speechlike(0.3)
    leveller = Leveller(RATE)

    pieces = [leveller.push(sound[start : start + 2400]) for start in range(0, len(sound), 2400)]

    assert loudness_db(np.concatenate(pieces)) == pytest.approx(TARGET_DBFS, abs=2)


def test_a_sudden_shout_is_limited() -> None:
    sound = np.concatenate((speechlike(0.05), speechlike(1.0)))

    assert np.abs(Leveller(RATE).push(sound)).max() <= CEILING


def test_silence_stays_silent() -> None:
    assert not Leveller(RATE).push(np.zeros(5000, np.float32)).any()


def test_the_gain_makes_no_steps() -> None:
    steady = np.full(RATE, 0.05, np.float32)
    steady[RATE // 2 :] = 0.2

    levelled = Leveller(RATE).push(steady)
    gains = levelled / steady

    assert np.abs(np.diff(gains)).max() < 0.01


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 3000), max_size=6), st.floats(1e-6, 50))
def test_as_many_samples_come_out_as_go_in_and_none_clips(sizes: list[int], level: float) -> None:
    random, leveller = np.random.default_rng(1), Leveller(RATE)
    for size in sizes:
        sound = leveller.push(random.normal(0, level, size).astype(np.float32))

        assert len(sound) == size
        assert not size or np.abs(sound).max() <= np.float32(CEILING)
