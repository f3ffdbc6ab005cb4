"""The cascade with the real detector, recogniser and voice; time is virtual, so a busy machine changes nothing."""

from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from keryx.clock import VirtualClock
from keryx.voice.audio import Resampler, decode
from keryx.voice.hearing.base import Transcript
from keryx.voice.loading import SpeechParts
from keryx.voice.transports.base import TextIn
from tests.bench.line import LINES, recording, speech_of
from tests.voice.engines.conversation import Conversation

pytestmark = pytest.mark.speech

STORY = "There is quite a lot to tell about the parser. It was written last year, and nobody has looked at it since."


class TimelessHearing:
    """The real recogniser, run where it is called: it takes no virtual time, however long it really takes."""

    def __init__(self, parts: SpeechParts) -> None:
        self._now = parts.hearing.transcribe_now  # type: ignore[attr-defined]  # Whisper's own, without its thread

    async def transcribe(self, samples: np.ndarray, *, vocabulary: Sequence[str] = ()) -> Transcript:
        return self._now(samples, tuple(vocabulary))


class RememberedVoice:
    """The real voice, its sentences made beforehand."""

    rate = 24_000

    def __init__(self, sounds: dict[str, np.ndarray]) -> None:
        self._sounds = sounds

    async def speak(self, text: str, *, pace: float = 1.0) -> "AsyncIterator[np.ndarray]":
        yield self._sounds.get(text, np.zeros(self.rate // 2, np.float32))

    @classmethod
    async def of(cls, parts: SpeechParts, text: str) -> "RememberedVoice":
        from keryx.voice.speech import sentences

        sounds = {}
        for sentence in sentences(text):
            sounds[sentence] = np.concatenate([chunk async for chunk in parts.speaking.speak(sentence)])
        return cls(sounds)


async def a_conversation(
    clock: VirtualClock, speech_parts: SpeechParts, *, line: str = "16 kHz", says: str = STORY
) -> Conversation:
    voice = await RememberedVoice.of(speech_parts, says)
    parts = SpeechParts(TimelessHearing(speech_parts), voice, speech_parts.new_activity)
    talk = Conversation(clock, capabilities=LINES[line], parts=parts)
    talk.dialogue.answers["Tell me."] = [says]
    return talk


def sound(name: str, line: str) -> np.ndarray:
    return decode(recording(name, LINES[line]), LINES[line].incoming)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("joe_01", "running right now"),
        ("hibari_25", "twelve to high"),
        ("joe_05", "leap years"),
        ("hibari_09", "don't push"),
    ],
)
async def test_a_spoken_request_is_one_turn(
    clock: VirtualClock, speech_parts: SpeechParts, name: str, words: str, line: str
):
    talk = await a_conversation(clock, speech_parts, line=line)
    async with talk.held():
        await talk.quiet(1.5)
        await talk.play(sound(name, line))
        await talk.quiet(1.2)
        assert len(talk.dialogue.asked) == 1
        assert words in talk.dialogue.asked[0].lower()


async def test_a_long_pause_after_a_whole_clause_loses_none_of_the_words(
    clock: VirtualClock, speech_parts: SpeechParts
):
    # "… fix the failing invoice test", 0.4 s of nothing on the telephone, "and call me back …": the first part may be
    # taken for a turn, and the second is then one more.
    talk = await a_conversation(clock, speech_parts, line="8 kHz mu-law")
    async with talk.held():
        await talk.quiet(1.5)
        await talk.play(sound("hibari_00", "8 kHz mu-law"))
        await talk.quiet(1.2)
        said = " ".join(talk.dialogue.asked).lower()
        assert "fix the failing invoice test" in said
        assert "call me back when it is done" in said


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["joe_01", "joe_03", "hibari_09"])
async def test_a_voice_over_its_own_silences_it_within_150_ms(
    clock: VirtualClock, speech_parts: SpeechParts, name: str, line: str
):
    talk = await a_conversation(clock, speech_parts, line=line)
    async with talk.held():
        await talk.quiet(1.5)
        talk.line.send(TextIn("Tell me."))
        await talk.quiet(1.5)
        cleared = len(talk.line.cleared_at_s)
        began_s = clock.monotonic()
        await talk.play(sound(name, line))
        onset_s = began_s + speech_of(name)[0]
        assert talk.line.cleared_at_s[cleared] - onset_s <= 0.150
        await talk.quiet(1)
        assert len(talk.dialogue.asked) == 2
        assert talk.dialogue.interruptions


def noises() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    rate = 8000
    moments = np.arange(5 * rate) / rate
    keys = np.zeros(5 * rate)
    for index, (low, high) in enumerate([(697, 1209), (770, 1336), (852, 1477), (941, 1336)]):
        at = slice(index * rate, index * rate + rate // 4)
        keys[at] = 0.2 * (np.sin(2 * np.pi * low * moments[at]) + np.sin(2 * np.pi * high * moments[at]))
    return {
        "comfort noise": rng.normal(0, 0.001, 5 * rate),
        "loud noise": rng.normal(0, 0.1, 5 * rate),
        "mains hum": 0.1 * np.sin(2 * np.pi * 50 * moments) + 0.05 * np.sin(2 * np.pi * 150 * moments),
        "key tones": keys,
        "silence": np.zeros(5 * rate),
    }


@pytest.mark.parametrize("name", noises())
async def test_noise_is_no_turn_and_does_not_silence_it(clock: VirtualClock, speech_parts: SpeechParts, name: str):
    talk = await a_conversation(clock, speech_parts, line="8 kHz mu-law")
    async with talk.held():
        await talk.quiet(1.5)
        talk.line.send(TextIn("Tell me."))
        await talk.quiet(0.3)
        cleared = len(talk.line.cleared_at_s)
        await talk.play(noises()[name].astype(np.float32))
        await talk.quiet(1)
        assert talk.dialogue.asked == ["Tell me."]
        assert len(talk.line.cleared_at_s) == cleared


@pytest.mark.parametrize("late_ms", [160, 400, 600])
async def test_its_own_voice_come_back_is_no_turn(clock: VirtualClock, speech_parts: SpeechParts, late_ms: int):
    talk = await a_conversation(clock, speech_parts)
    async with talk.held():
        await talk.quiet(1.5)
        talk.line.send(TextIn("Tell me."))
        started, back = len(talk.line.heard), Resampler(24_000, 16_000)
        waiting = np.zeros(16_000 * late_ms // 1000, np.float32)
        for _ in range(450):
            fresh = decode(bytes(talk.line.heard[started:]), LINES["16 kHz"].outgoing)
            started = len(talk.line.heard)
            waiting = np.concatenate([waiting, back.push(fresh) * np.float32(0.1)])
            here, waiting = waiting[:320], waiting[320:]
            here = np.concatenate([here, np.zeros(320 - len(here), np.float32)])
            await talk.play(here)
        assert talk.dialogue.asked == ["Tell me."]
        assert talk.dialogue.interruptions == []
