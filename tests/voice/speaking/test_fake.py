"""The fake voice is predictable."""

from contextlib import aclosing

from keryx.voice.speaking.fake import FakeSpeaking


async def test_it_takes_sixty_milliseconds_a_character() -> None:
    voice = FakeSpeaking(rate=8_000)

    count = sum([len(chunk) async for chunk in voice.speak("ten chars.")])

    assert count == 8_000 * 0.6
    assert voice.said == ["ten chars."]
    assert voice.closed_early == 0


async def test_it_notes_that_it_was_stopped() -> None:
    voice = FakeSpeaking()
    async with aclosing(voice.speak("A sentence.")) as chunks:  # type: ignore[type-var]  # it is a generator
        await anext(chunks)

    assert voice.closed_early == 1
