"""Bytes to samples and back, rates and frames."""

import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.voice.audio import (
    MULAW_SILENCE,
    PCM16_SILENCE,
    Decoder,
    Framer,
    Resampler,
    SampleFramer,
    decode,
    encode,
    mulaw_decoding,
    mulaw_encoding,
    silence,
)
from keryx.voice.transports.base import AudioFormat, Encoding

PHONE = AudioFormat(Encoding.MULAW, 8_000)
PAGE = AudioFormat(Encoding.PCM16, 16_000)
CHUNKS = (1, 159, 161, 4000)


def tone(hz: float, rate: int, duration_s: float = 1.0, level: float = 0.5) -> np.ndarray:
    return (level * np.sin(2 * np.pi * hz * np.arange(int(rate * duration_s)) / rate)).astype(np.float32)


def test_every_mulaw_code_comes_back_as_itself_but_the_second_zero() -> None:
    codes = mulaw_encoding()[mulaw_decoding().view(np.uint16)]

    assert [code for code in range(256) if codes[code] != code] == [0x7F]
    assert codes[0x7F] == 0xFF


@pytest.mark.parametrize(
    ("code", "value"),
    [(0xFF, 0), (0x7F, 0), (0x80, 32124), (0x00, -32124), (0xFE, 8), (0x7E, -8), (0xEF, 132), (0x8F, 16764)],
)
def test_mulaw_codes_have_the_values_of_the_standard(code: int, value: int) -> None:
    assert mulaw_decoding()[code] == value


def test_every_sample_is_coded_by_the_decision_values_of_the_standard() -> None:
    """The table of G.711: eight segments of sixteen steps, 14-bit magnitudes, the first step half as wide."""
    decisions = [1, *range(3, 32, 2)]
    for step in (4, 8, 16, 32, 64, 128, 256):
        decisions += [decisions[-1] + step * number for number in range(1, 17)]
    assert (len(decisions), decisions[-1]) == (128, 8159)
    samples = np.arange(-32768, 32768)

    codes = ~mulaw_encoding()[samples.astype(np.int16).view(np.uint16)] & 0x7F

    assert np.array_equal(codes, np.minimum(np.searchsorted(decisions, np.abs(samples) / 4, side="right"), 127))


def test_pcm16_comes_back_bit_for_bit() -> None:
    payload = np.arange(-32768, 32768, dtype="<i2").tobytes()

    assert encode(decode(payload, PAGE), PAGE) == payload


@pytest.mark.parametrize("format", [PHONE, PAGE])
def test_too_loud_is_cut_off_and_not_wrapped_round(format: AudioFormat) -> None:
    loud = decode(encode(np.array([9.0, -9.0], np.float32), format), format)

    assert loud[0] > 0.97
    assert loud[1] < -0.97


@pytest.mark.parametrize("format", [PHONE, PAGE])
def test_silence_is_silent_and_as_long_as_asked(format: AudioFormat) -> None:
    quiet = silence(format, 20)

    assert len(quiet) == format.bytes_of(20)
    assert not decode(quiet, format).any()


@pytest.mark.parametrize("size", CHUNKS)
def test_a_line_may_cut_samples_in_half(size: int) -> None:
    payload = encode(tone(440, 16_000), PAGE)
    decoder = Decoder(PAGE)

    pieces = [decoder.push(payload[start : start + size]) for start in range(0, len(payload), size)]

    assert np.array_equal(np.concatenate(pieces), decode(payload, PAGE))


@pytest.mark.parametrize(("format", "padding"), [(PHONE, MULAW_SILENCE), (PAGE, PCM16_SILENCE)])
@pytest.mark.parametrize("size", CHUNKS)
def test_frames_are_whole_and_nothing_is_lost(size: int, format: AudioFormat, padding: bytes) -> None:
    payload = encode(tone(440, format.rate, 0.995), format)
    framer = Framer(format.bytes_of(20), padding=padding)

    frames = [frame for start in range(0, len(payload), size) for frame in framer.push(payload[start : start + size])]
    last = framer.flush()

    assert last is not None
    joined = b"".join([*frames, last])
    assert {len(frame) for frame in [*frames, last]} == {format.bytes_of(20)}
    assert joined.startswith(payload)
    assert not decode(joined[len(payload) :], format).any()
    assert framer.flush() is None


@given(st.lists(st.binary(max_size=700), max_size=20), st.integers(1, 320))
def test_frames_joined_are_what_went_in(chunks: list[bytes], size: int) -> None:
    framer = Framer(size)

    frames = [frame for chunk in chunks for frame in framer.push(chunk)]

    assert (b"".join(frames) + (framer.flush() or b"")).startswith(b"".join(chunks))
    assert all(len(frame) == size for frame in frames)


def test_a_cleared_framer_forgets_what_waited() -> None:
    framer, samples = Framer(4), SampleFramer(4)
    framer.push(b"abc")
    samples.push(np.ones(3, np.float32))

    framer.clear()
    samples.clear()

    assert framer.push(b"wxyz") == [b"wxyz"]
    assert samples.flush() is None


def test_half_a_sample_is_no_frame() -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        Framer(321, padding=PCM16_SILENCE)


@pytest.mark.parametrize("size", CHUNKS)
def test_sample_frames_are_whole_and_nothing_is_lost(size: int) -> None:
    sound = tone(300, 16_000, 0.99)
    framer = SampleFramer(512)

    frames = [frame for start in range(0, len(sound), size) for frame in framer.push(sound[start : start + size])]
    last = framer.flush()

    assert last is not None
    joined = np.concatenate([*frames, last])
    assert {len(frame) for frame in frames} == {512}
    assert np.array_equal(joined[: len(sound)], sound)
    assert not joined[len(sound) :].any()


@pytest.mark.parametrize(
    ("from_rate", "to_rate"), [(8_000, 16_000), (16_000, 8_000), (24_000, 8_000), (48_000, 16_000)]
)
@pytest.mark.parametrize("size", [159, 161, 4000])
def test_a_tone_keeps_its_pitch_level_and_length_at_another_rate(from_rate: int, to_rate: int, size: int) -> None:
    sound = tone(500, from_rate)
    resampler = Resampler(from_rate, to_rate)

    pieces = [resampler.push(sound[start : start + size]) for start in range(0, len(sound), size)]
    result = np.concatenate([*pieces, resampler.push(sound[:0], last=True)])

    assert abs(len(result) - to_rate) <= 2
    assert np.abs(result[500:-500] - tone(500, to_rate)[500 : len(result) - 500]).max() < 0.01


def test_what_a_telephone_cannot_carry_does_not_come_back_as_another_tone() -> None:
    result = Resampler(24_000, 8_000).push(tone(6_000, 24_000), last=True)

    assert np.abs(result[200:-200]).max() < 0.01


@pytest.mark.parametrize(("from_rate", "to_rate"), [(8_000, 16_000), (24_000, 8_000)])
def test_the_resampler_holds_back_no_more_than_2_ms(from_rate: int, to_rate: int) -> None:
    resampler = Resampler(from_rate, to_rate)
    frame = from_rate // 50

    given = sum(len(resampler.push(np.zeros(frame, np.float32))) for _ in range(50))

    assert to_rate - given <= to_rate * 0.002


def test_the_same_rate_costs_nothing_and_changes_nothing() -> None:
    sound = tone(440, 16_000)

    assert Resampler(16_000, 16_000).push(sound) is sound


def test_the_recorded_requests_are_the_same_words_on_both_lines() -> None:
    folder = Path(__file__).parents[1] / "fixtures" / "speech"
    with wave.open(str(folder / "joe_01_16k.wav")) as file:
        wide_s = file.getnframes() / file.getframerate()

    phone_s = PHONE.ms_of((folder / "joe_01_8k.ul").stat().st_size) / 1000

    assert phone_s == pytest.approx(wide_s, abs=0.05)
