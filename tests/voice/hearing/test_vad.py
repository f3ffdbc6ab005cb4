"""Voice activity against everything that is none."""

import numpy as np
import pytest

from keryx.voice.hearing.base import VAD_FRAME
from keryx.voice.loading import SpeechParts
from tests.bench.recognition import recordings
from tests.voice.hearing.sounds import NO_SPEECH

pytestmark = pytest.mark.speech


def probabilities(parts: SpeechParts, samples: np.ndarray) -> list[float]:
    activity = parts.new_activity()
    frames = samples[: len(samples) // VAD_FRAME * VAD_FRAME].reshape(-1, VAD_FRAME)
    return [activity.probability(frame) for frame in frames]


@pytest.mark.parametrize("name", NO_SPEECH)
def test_noise_hum_and_key_tones_are_no_speech(speech_parts: SpeechParts, name: str) -> None:
    assert max(probabilities(speech_parts, NO_SPEECH[name])) < 0.4


@pytest.mark.parametrize("line", ["16 kHz", "8 kHz mu-law"])
def test_every_recorded_request_is_found(speech_parts: SpeechParts, line: str) -> None:
    for recording in recordings():
        found = probabilities(speech_parts, recording.sound[line])

        assert sum(probability > 0.5 for probability in found) * 0.032 > 0.5
