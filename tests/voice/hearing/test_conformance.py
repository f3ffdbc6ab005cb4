"""What every `Hearing` and every `VoiceActivity` does, the real one and the fake."""

import asyncio
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from keryx.voice.hearing.base import HEARING_RATE, VAD_FRAME, Hearing, VoiceActivity
from keryx.voice.hearing.fake import FakeActivity, FakeHearing
from tests.voice.hearing.sounds import recorded

SAID = {"hibari_02": "cancel task", "joe_01": "what is running"}


@pytest.fixture(params=["fake", pytest.param("whisper", marks=pytest.mark.speech)])
def hearing(request: pytest.FixtureRequest) -> Hearing:
    if request.param == "whisper":
        return request.getfixturevalue("speech_parts").hearing
    return FakeHearing([SAID["hibari_02"], SAID["joe_01"], SAID["hibari_02"]])


@pytest.fixture(params=["fake", pytest.param("silero", marks=pytest.mark.speech)])
def new_activity(request: pytest.FixtureRequest) -> Callable[[], VoiceActivity]:
    if request.param == "silero":
        return request.getfixturevalue("speech_parts").new_activity
    return FakeActivity


def frames(samples: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(samples) - VAD_FRAME + 1, VAD_FRAME):
        yield samples[start : start + VAD_FRAME]


async def test_words_are_heard(hearing: Hearing) -> None:
    transcript = await hearing.transcribe(recorded("hibari_02"), vocabulary=["billing"])

    assert SAID["hibari_02"] in transcript.text.lower()
    assert transcript.no_speech < 0.3
    assert 0.3 < transcript.confidence <= 1


@pytest.mark.parametrize("count", [0, 1, 700, 3 * HEARING_RATE])
async def test_silence_is_no_words(hearing: Hearing, count: int) -> None:
    transcript = await hearing.transcribe(np.zeros(count, np.float32))

    assert transcript.text == ""
    assert transcript.no_speech > 0.6


async def test_two_calls_at_once_each_hear_their_own(hearing: Hearing) -> None:
    first, second = await asyncio.gather(
        hearing.transcribe(recorded("hibari_02")), hearing.transcribe(recorded("joe_01"))
    )

    assert SAID["hibari_02"] in first.text.lower()
    assert SAID["joe_01"] in second.text.lower()


async def test_of_a_long_stretch_the_newest_is_heard(hearing: Hearing) -> None:
    long = np.concatenate((recorded("joe_05"), np.zeros(31 * HEARING_RATE, np.float32), recorded("hibari_02")))

    transcript = await hearing.transcribe(long)

    assert SAID["hibari_02"] in transcript.text.lower()
    assert "leap" not in transcript.text


async def test_giving_up_a_wait_leaves_it_usable(hearing: Hearing) -> None:
    given_up = asyncio.ensure_future(hearing.transcribe(np.zeros(16_000, np.float32)))
    await asyncio.sleep(0)
    given_up.cancel()
    began = time.monotonic()
    await asyncio.gather(given_up, return_exceptions=True)

    assert time.monotonic() - began < 0.5
    assert (await hearing.transcribe(recorded("hibari_02"))).text


def test_speech_is_activity_and_silence_is_not(new_activity: Callable[[], VoiceActivity]) -> None:
    activity = new_activity()

    speech = [activity.probability(frame) for frame in frames(recorded("joe_05"))]
    activity.reset()
    silence = [activity.probability(frame) for frame in frames(np.zeros(HEARING_RATE, np.float32))]

    assert sum(probability > 0.5 for probability in speech) > len(speech) * 0.6
    assert max(silence) < 0.3
    assert all(0 <= probability <= 1 for probability in speech + silence)


def test_a_reset_forgets_and_two_calls_do_not_mix(new_activity: Callable[[], VoiceActivity]) -> None:
    first, second = new_activity(), new_activity()
    alone = [first.probability(frame) for frame in frames(recorded("joe_01"))]

    first.reset()
    mixed = []
    for frame, other in zip(frames(recorded("joe_01")), frames(recorded("joe_05")), strict=False):
        mixed.append(first.probability(frame))
        second.probability(other)

    assert mixed == pytest.approx(alone[: len(mixed)], abs=1e-5)


@pytest.mark.parametrize("count", [0, 511, 513])
def test_a_frame_of_another_size_is_a_mistake(new_activity: Callable[[], VoiceActivity], count: int) -> None:
    with pytest.raises(ValueError, match="512 samples"):
        new_activity().probability(np.zeros(count, np.float32))
