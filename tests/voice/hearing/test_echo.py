"""The voice come back over the line is no caller, and a caller over the voice is no echo."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.voice.audio import Resampler, decode, encode
from keryx.voice.hearing.base import VAD_FRAME
from keryx.voice.hearing.echo import EchoGuard, is_own_words
from keryx.voice.transports.base import AudioFormat, Encoding
from tests.voice.hearing.sounds import RATE, recorded, white_noise

PHONE = AudioFormat(Encoding.MULAW, 8_000)
START_MS = 5_000.0
FRAME_MS = VAD_FRAME * 1000 / RATE
BARGE_IN_MS = 150
LOUD = 1e-4
"""Mean square of a frame that surely holds speech, -40 dBFS."""

VOICE = np.concatenate([recorded(name) for name in ("hibari_00", "hibari_04", "hibari_25")])


def echo_of(voice: np.ndarray, delay_ms: float, level_db: float = -20.0) -> np.ndarray:
    late = np.zeros(int(delay_ms * RATE / 1000), np.float32)
    return np.concatenate((late, voice * np.float32(10 ** (level_db / 20))))


def in_a_room(sound: np.ndarray) -> np.ndarray:
    random = np.random.default_rng(3)
    response = np.zeros(1600)
    response[0] = 1
    response[random.integers(30, 1600, 40)] += random.normal(0, 0.25, 40)
    return np.convolve(sound, response * np.exp(-np.arange(1600) / 500))[: len(sound)].astype(np.float32)


def by_telephone(sound: np.ndarray) -> np.ndarray:
    carried = encode(Resampler(RATE, PHONE.rate).push(sound, last=True), PHONE)
    return Resampler(PHONE.rate, RATE).push(decode(carried, PHONE), last=True)


def noisy(sound: np.ndarray, level_db: float) -> np.ndarray:
    return sound + white_noise(level_db, len(sound) / RATE)[: len(sound)]


def judged(guard: EchoGuard, heard: np.ndarray) -> list[bool]:
    count = len(heard) // VAD_FRAME
    return [
        guard.is_echo(heard[number * VAD_FRAME :][:VAD_FRAME], START_MS + number * FRAME_MS) for number in range(count)
    ]


def loud_frames(sound: np.ndarray, mean_square: float) -> np.ndarray:
    frames = sound[: len(sound) // VAD_FRAME * VAD_FRAME].reshape(-1, VAD_FRAME)
    return np.square(frames).mean(axis=1) > mean_square


@pytest.mark.parametrize("delay_ms", [0, 150, 370, 600])
@pytest.mark.parametrize("line", ["page", "telephone", "telephone in a room", "noisy telephone"])
def test_the_voice_looped_back_at_minus_20_db_is_echo(delay_ms: int, line: str) -> None:
    heard = echo_of(VOICE, delay_ms)
    if line == "telephone in a room":
        heard = in_a_room(heard)
    heard = noisy(heard, -50 if line == "noisy telephone" else -70)
    if "telephone" in line:
        heard = by_telephone(heard)
    guard = EchoGuard()
    guard.played(VOICE, START_MS)

    echo = np.array(judged(guard, heard))
    speech = loud_frames(echo_of(VOICE, delay_ms), 1e-5)[: len(echo)]

    assert speech.sum() > 100
    missed = speech & ~echo[: len(speech)]
    assert missed.sum() <= 2


@pytest.mark.parametrize("delay_ms", [150, 370, 600])
@pytest.mark.parametrize("line", ["page", "telephone in a room"])
@pytest.mark.parametrize("caller", ["joe_05", "joe_29", "hibari_09"])
def test_a_caller_over_the_voice_is_heard_within_150_ms(delay_ms: int, line: str, caller: str) -> None:
    echo = echo_of(VOICE, delay_ms)
    words = recorded(caller)
    onset = 2 * RATE
    near = np.zeros_like(echo)
    near[onset : onset + len(words)] = words * (0.06 / np.sqrt(np.square(words).mean()))
    heard = in_a_room(echo) + near if "room" in line else echo + near
    heard = by_telephone(noisy(heard, -70)) if "telephone" in line else noisy(heard, -70)
    guard = EchoGuard()
    guard.played(VOICE, START_MS)

    echoes = np.array(judged(guard, heard))
    spoken = np.flatnonzero(loud_frames(near, LOUD)[: len(echoes)])

    own = np.flatnonzero(~echoes[spoken[0] :] & loud_frames(near, LOUD)[spoken[0] : len(echoes)])
    assert own[0] * FRAME_MS <= BARGE_IN_MS
    assert echoes[spoken].mean() < 0.3


def test_while_nothing_was_played_nothing_is_echo() -> None:
    assert not any(judged(EchoGuard(), recorded("joe_05")))


def test_long_after_the_voice_ended_nothing_is_echo() -> None:
    guard = EchoGuard()
    guard.played(VOICE, START_MS - len(VOICE) / RATE * 1000 - 2_000)

    assert not any(judged(guard, VOICE[: 2 * RATE]))


def test_a_voice_cut_off_is_forgotten_from_there_on() -> None:
    guard = EchoGuard()
    guard.played(VOICE, START_MS)
    guard.stopped(START_MS)

    assert not any(judged(guard, VOICE[: 2 * RATE]))


def test_pieces_told_one_by_one_and_a_little_off_are_one_voice() -> None:
    guard = EchoGuard()
    jitter = np.random.default_rng(5).uniform(-25, 25, 1000)
    heard = noisy(echo_of(VOICE, 300), -70)
    echo = []
    for number in range(len(heard) // VAD_FRAME):
        at_ms = START_MS + number * FRAME_MS
        piece = VOICE[number * VAD_FRAME :][:VAD_FRAME]
        if len(piece):
            guard.played(piece, at_ms + jitter[number])
        echo.append(guard.is_echo(heard[number * VAD_FRAME :][:VAD_FRAME], at_ms + jitter[-number - 1]))

    speech = loud_frames(echo_of(VOICE, 300), 1e-5)[: len(echo)]
    assert (speech & ~np.array(echo)).sum() <= 3


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["played", "heard", "stopped"]), st.integers(-500, 3000), st.integers(0, 2000)),
        max_size=25,
    )
)
def test_any_order_of_times_is_survived(steps: list[tuple[str, int, int]]) -> None:
    guard = EchoGuard()
    for what, at_ms, size in steps:
        if what == "played":
            guard.played(np.full(size, 0.1, np.float32), at_ms)
        elif what == "heard":
            guard.is_echo(np.full(VAD_FRAME, 0.1, np.float32), at_ms)
        else:
            guard.stopped(at_ms)


SPOKEN = "Task six is done. Claude says it renamed twelve places and all the tests pass."


@pytest.mark.parametrize(
    "heard",
    [
        "Task six is done.",
        "says it renamed twelve places",
        "Claude says it renamed 12 places and all the tests passed",
        "all the tests pass",
        "clawed says it renamed twelve places",
    ],
)
def test_its_own_words_are_known_again(heard: str) -> None:
    assert is_own_words(heard, SPOKEN)


@pytest.mark.parametrize(
    "heard",
    [
        "",
        "yes",
        "done",
        "tests pass",
        "wait, cancel task six",
        "what about the other places",
        "run all the tests again please",
    ],
)
def test_a_callers_words_are_not_its_own(heard: str) -> None:
    assert not is_own_words(heard, SPOKEN)


def test_nothing_said_means_nothing_is_its_own() -> None:
    assert not is_own_words("cancel task six now", "")
