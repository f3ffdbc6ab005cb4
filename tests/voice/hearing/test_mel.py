"""The picture of sound that the recogniser reads."""

import numpy as np
import pytest

from keryx.voice.hearing.mel import HOP, log_mel


def test_a_tone_lights_the_band_it_lies_in() -> None:
    moments = np.arange(16_000) / 16_000

    low, high = (log_mel(np.sin(2 * np.pi * hz * moments)).mean(axis=1).argmax() for hz in (300, 3000))

    assert (low, high) == (7, 54)


def test_there_is_a_column_every_ten_milliseconds() -> None:
    assert log_mel(np.zeros(16_000, np.float32)).shape == (80, 16_000 // HOP)


@pytest.mark.speech
def test_it_is_the_picture_that_the_reference_implementation_draws() -> None:
    from faster_whisper.feature_extractor import FeatureExtractor

    noise = np.random.default_rng(0).normal(0, 0.1, 32_000).astype(np.float32)

    assert np.abs(log_mel(noise) - FeatureExtractor()(noise, padding=0)).max() < 1e-4
