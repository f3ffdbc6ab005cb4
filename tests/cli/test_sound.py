"""Recordings of any PCM kind go into a call; what was said comes out as a WAV."""

import array
import math
import wave
from pathlib import Path

import pytest

from keryx.cli.sound import can_convert, can_speak, check_writable, read_wav, spoken, write_wav
from keryx.errors import ConfigError

RATE = 16_000


def record(path: Path, *, rate: int = RATE, width: int = 2, channels: int = 1, duration_s: float = 0.5) -> Path:
    """A tone at half loudness, on every channel."""
    frames = bytearray()
    for place in range(int(rate * duration_s)):
        value = math.sin(2 * math.pi * 440 * place / rate) / 2
        whole = round(value * (2 ** (8 * width - 1) - 1))
        sample = bytes([whole + 128]) if width == 1 else whole.to_bytes(width, "little", signed=True)
        frames += sample * channels
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", "not compressed"))
        file.writeframes(bytes(frames))
    return path


def loudness(sound: bytes) -> float:
    samples = array.array("h", sound)
    return math.sqrt(sum(value * value for value in samples) / len(samples)) / 32768


def test_a_recording_in_the_lines_own_form_is_taken_as_it_is(tmp_path: Path) -> None:
    path = record(tmp_path / "a.wav")
    with wave.open(str(path), "rb") as file:
        assert read_wav(path, RATE) == file.readframes(10**6)


@pytest.mark.skipif(not can_convert(), reason="the speech extra is not installed")
@pytest.mark.parametrize("rate", [8000, 16_000, 44_100, 48_000])
@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2])
def test_any_other_is_converted_without_getting_louder_or_longer(
    tmp_path: Path, rate: int, width: int, channels: int
) -> None:
    sound = read_wav(record(tmp_path / "a.wav", rate=rate, width=width, channels=channels), RATE)
    assert len(sound) / 2 / RATE == pytest.approx(0.5, abs=0.01)
    assert loudness(sound) == pytest.approx(0.5 / math.sqrt(2), rel=0.05)


def test_what_is_no_recording_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("hello")
    with pytest.raises(ConfigError, match="is not a PCM WAV"):
        read_wav(tmp_path / "text.wav", RATE)
    with pytest.raises(ConfigError, match="No such file"):
        read_wav(tmp_path / "missing.wav", RATE)
    with pytest.raises(ConfigError, match="is empty"):
        read_wav(record(tmp_path / "empty.wav", duration_s=0), RATE)
    (tmp_path / "cut.wav").write_bytes(record(tmp_path / "whole.wav").read_bytes()[:20])
    with pytest.raises(ConfigError, match="is not a PCM WAV"):
        read_wav(tmp_path / "cut.wav", RATE)


def test_what_was_said_is_saved(tmp_path: Path) -> None:
    write_wav(tmp_path / "out.wav", b"\x01\x00" * 2400, 24_000)
    with wave.open(str(tmp_path / "out.wav"), "rb") as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate(), file.getnframes()) == (
            1,
            2,
            24_000,
            2400,
        )


def test_a_place_that_cannot_be_written_is_found_before_the_call(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot write"):
        check_writable(tmp_path / "no" / "out.wav")


@pytest.mark.speech
@pytest.mark.skipif(not can_speak(), reason="the speech extra is not installed")
async def test_words_are_spoken_in_this_machines_voice() -> None:
    sound = await spoken("What's running?", RATE)
    assert 0.4 < len(sound) / 2 / RATE < 4
    assert loudness(sound) > 0.01
