"""What every voice does: hibari, espeak where it is installed, and the fake."""

import asyncio
import importlib.util
from contextlib import aclosing

import numpy as np
import pytest

from keryx.voice.speaking.base import Speaking
from keryx.voice.speaking.fake import FakeSpeaking

TEXT = "Task six is done, and all the tests pass."

no_espeak = importlib.util.find_spec("espeakng_loader") is None


@pytest.fixture(
    params=[
        "fake",
        pytest.param("hibari", marks=pytest.mark.speech),
        pytest.param("espeak", marks=pytest.mark.skipif(no_espeak, reason="the espeak extra is not installed")),
    ]
)
def speaking(request: pytest.FixtureRequest) -> Speaking:
    if request.param == "hibari":
        return request.getfixturevalue("speech_parts").speaking
    if request.param == "espeak":
        from keryx.voice.speaking.espeak import EspeakSpeaking

        return EspeakSpeaking()
    return FakeSpeaking()


async def said(speaking: Speaking, text: str, pace: float = 1.0) -> np.ndarray:
    chunks = [chunk async for chunk in speaking.speak(text, pace=pace)]
    return np.concatenate(chunks) if chunks else np.zeros(0, np.float32)


def loudness(sound: np.ndarray) -> np.ndarray:
    """Root mean square of each thousand samples, about 40 ms."""
    return np.sqrt(np.square(sound[: len(sound) // 1000 * 1000].reshape(-1, 1000)).mean(axis=1))


async def test_a_sentence_comes_in_small_chunks_of_float32(speaking: Speaking) -> None:
    chunks = [chunk async for chunk in speaking.speak(TEXT)]

    assert len(chunks) > 5
    assert all(chunk.dtype == np.float32 and chunk.ndim == 1 for chunk in chunks)
    assert all(0 < len(chunk) <= speaking.rate // 10 for chunk in chunks)
    assert 1.5 < sum(map(len, chunks)) / speaking.rate < 5


async def test_it_is_loud_enough_and_never_clips(speaking: Speaking) -> None:
    for text in (TEXT, "Okay.", "Sorry, I lost that. Once more?"):
        sound = await said(speaking, text)

        assert 0.09 < np.abs(sound).max() <= 0.9


async def test_the_voice_begins_at_once(speaking: Speaking) -> None:
    for text in (TEXT, "Yes.", "Fifteen files."):
        sound = await said(speaking, text)

        assert np.abs(sound[: int(speaking.rate * 0.12)]).max() > 0.003


@pytest.mark.parametrize("text", ["", "   ", "\n"])
async def test_nothing_to_say_is_nothing(speaking: Speaking, text: str) -> None:
    assert len(await said(speaking, text)) == 0


@pytest.mark.parametrize("text", ["🎉", "日本語", "...", "a", "[[x]] <b>", "\x00\x07", "naïve café – “quoted”"])
async def test_odd_text_is_no_crash(speaking: Speaking, text: str) -> None:
    await said(speaking, text)


async def test_slower_takes_longer_and_quicker_less(speaking: Speaking) -> None:
    slow, usual, quick = [len(await said(speaking, TEXT, pace)) for pace in (0.8, 1.0, 1.2)]

    assert slow > 1.1 * usual
    assert quick < 0.95 * usual


async def test_two_calls_at_once_each_get_their_own_sentence(speaking: Speaking) -> None:
    other = "The website build failed: the lock file is out of date."
    alone = [await said(speaking, TEXT), await said(speaking, other)]

    together = await asyncio.gather(said(speaking, TEXT), said(speaking, other))

    for expected, sound in zip(alone, together, strict=True):
        # espeak begins each sentence at another phase, so its length and the course of its loudness are only alike.
        assert abs(len(sound) - len(expected)) <= speaking.rate * 0.03
        together_loud, alone_loud = loudness(sound), loudness(expected)
        both = min(len(together_loud), len(alone_loud))
        assert np.corrcoef(alone_loud[:both], together_loud[:both])[0, 1] > 0.9


async def test_closing_early_stops_it_and_leaves_it_usable(speaking: Speaking) -> None:
    async with aclosing(speaking.speak(TEXT)) as chunks:  # type: ignore[type-var]  # the voices here are generators
        async for _ in chunks:
            break

    assert len(await said(speaking, "Okay.")) > 0


async def test_a_cancelled_call_leaves_it_usable(speaking: Speaking) -> None:
    given_up = asyncio.ensure_future(said(speaking, TEXT * 20))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)

    assert len(await said(speaking, "Okay.")) > 0
