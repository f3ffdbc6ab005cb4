"""The real recogniser against what is no speech, and on what the voice says."""

import numpy as np
import pytest

from keryx.voice.loading import SpeechParts
from tests.bench.recognition import GOAL, PHONE, RECORDINGS, VOCABULARY, over_the_phone, recordings, word_errors
from tests.voice.hearing.sounds import NO_SPEECH, recorded

pytestmark = pytest.mark.speech


@pytest.mark.parametrize("name", NO_SPEECH)
async def test_what_is_no_speech_becomes_no_words(speech_parts: SpeechParts, name: str) -> None:
    assert (await speech_parts.hearing.transcribe(NO_SPEECH[name], vocabulary=VOCABULARY)).text == ""


async def test_the_telephones_hiss_becomes_no_words(speech_parts: SpeechParts) -> None:
    hiss = over_the_phone(NO_SPEECH["white noise"] * 0.03, 16_000)

    assert (await speech_parts.hearing.transcribe(hiss)).text == ""


@pytest.mark.parametrize("line", ["16 kHz", "8 kHz mu-law"])
async def test_recorded_requests_are_understood(speech_parts: SpeechParts, line: str) -> None:
    wrong = words = 0
    for recording in recordings():
        heard = await speech_parts.hearing.transcribe(recording.sound[line], vocabulary=VOCABULARY)
        errors, said = word_errors(recording.words, heard.text)
        wrong, words = wrong + errors, words + said

    assert wrong / words <= GOAL


@pytest.mark.parametrize(
    "text",
    [
        "Task six is done, and all the tests pass.",
        "Cancelling task four. Sure?",
        "It has been running for eleven minutes.",
        "Version three point twelve is out.",
        "The build failed at half past nine.",
    ],
)
async def test_what_the_voice_says_over_a_telephone_can_be_understood(speech_parts: SpeechParts, text: str) -> None:
    chunks = [chunk async for chunk in speech_parts.speaking.speak(text)]
    sound = over_the_phone(np.concatenate(chunks), speech_parts.speaking.rate)

    heard = await speech_parts.hearing.transcribe(sound)

    # "3.12" and "9:30" are right too, so a word or two may be written another way.
    assert word_errors(text, heard.text)[0] <= 3
    assert heard.confidence > 0.4


@pytest.mark.parametrize("word", ["Yes.", "No.", "Stop.", "Okay.", "Goodbye."])
async def test_short_answers_are_not_taken_for_noise(speech_parts: SpeechParts, word: str) -> None:
    chunks = [chunk async for chunk in speech_parts.speaking.speak(word)]
    sound = over_the_phone(np.concatenate(chunks), speech_parts.speaking.rate)

    assert (await speech_parts.hearing.transcribe(sound)).text != ""


async def test_a_vocabulary_of_any_length_is_taken(speech_parts: SpeechParts) -> None:
    names = [f"project number {number}" for number in range(500)] + ["", "  ", "<|endoftext|>"]

    heard = await speech_parts.hearing.transcribe(recorded("joe_01"), vocabulary=names)

    assert "running" in heard.text


async def test_broken_samples_are_no_crash(speech_parts: SpeechParts) -> None:
    broken = np.full(16_000, np.nan, np.float32)

    assert (await speech_parts.hearing.transcribe(broken)).text == ""


def test_the_recordings_are_all_there() -> None:
    assert len(list(RECORDINGS.glob("*.wav"))) == len(list(RECORDINGS.glob("*.ul"))) == 10
    assert PHONE.rate == 8_000
