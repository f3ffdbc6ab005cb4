"""Sound files in and out of a call at the terminal, and a sentence in this machine's own voice.

A WAV that is already 16-bit, mono, at the line's rate needs nothing installed; any other is converted with the speech
extra's parts.
"""

import asyncio
import importlib.util
import wave
from pathlib import Path
from typing import TYPE_CHECKING

from keryx.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

MAX_WAV_S = 3600
"""A longer recording is taken for a mistake."""


def read_wav(path: Path, rate: int) -> bytes:
    """The recording at `path` as PCM16, mono, at `rate`; raises `ConfigError` with what is wrong."""
    try:
        with path.open("rb") as raw, wave.open(raw, "rb") as file:
            channels, width, own_rate, frames = file.getparams()[:4]
            if not frames or frames > MAX_WAV_S * own_rate:
                raise ConfigError(
                    f"{path} is {'empty' if not frames else 'longer than an hour'}; take another recording"
                )
            sound = file.readframes(frames)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except (wave.Error, EOFError) as error:
        raise ConfigError(f"{path} is not a PCM WAV ({error or 'it ends too early'})") from None
    if (channels, width, own_rate) == (1, 2, rate):
        return sound
    if not can_convert():
        raise ConfigError(f"{path} needs converting to 16-bit mono at {rate} Hz; run: pip install 'keryx[speech]'")
    return _pcm16(_resampled(_samples(sound, channels, width), own_rate, rate))


def write_wav(path: Path, sound: bytes, rate: int) -> None:
    """Write PCM16 mono `sound`; raises `ConfigError` when the file cannot be written."""
    try:
        with path.open("wb") as raw, wave.open(raw, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(sound)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None


def check_writable(path: Path) -> None:
    """Fail before the call instead of after it when `path` cannot be written."""
    write_wav(path, b"", 8000)


def can_convert() -> bool:
    """Whether what changes rates is installed."""
    return importlib.util.find_spec("numpy") is not None


def can_speak() -> bool:
    """Whether this machine has a voice."""
    return can_convert() and importlib.util.find_spec("hibari") is not None


async def spoken(text: str, rate: int) -> bytes:
    """`text` in this machine's voice, as PCM16 at `rate`."""
    import numpy as np

    from keryx.voice.hearing.weights import HIBARI, shipped_file
    from keryx.voice.speaking.hibari import HibariSpeaking

    voice = await asyncio.to_thread(lambda: HibariSpeaking(shipped_file(HIBARI)))
    try:
        chunks = [chunk async for chunk in voice.speak(text)]
    finally:
        voice.close()
    return _pcm16(_resampled(np.concatenate(chunks), voice.rate, rate)) if chunks else b""


def _samples(sound: bytes, channels: int, width: int) -> "np.ndarray":
    import numpy as np

    match width:
        case 1:  # WAV keeps 8-bit sound unsigned
            values = (np.frombuffer(sound, np.uint8).astype(np.float32) - 128) / 128
        case 3:
            # Each 24-bit sample becomes the upper three bytes of a 32-bit one.
            wide = np.zeros((len(sound) // 3, 4), np.uint8)
            wide[:, 1:] = np.frombuffer(sound, np.uint8).reshape(-1, 3)
            values = wide.view("<i4").ravel().astype(np.float32) / 2**31
        case _:
            values = np.frombuffer(sound, f"<i{width}").astype(np.float32) / 2 ** (8 * width - 1)
    return values.reshape(-1, channels).mean(axis=1)


def _resampled(samples: "np.ndarray", from_rate: int, to_rate: int) -> "np.ndarray":
    from keryx.voice.audio import Resampler

    return Resampler(from_rate, to_rate).push(samples, last=True)


def _pcm16(samples: "np.ndarray") -> bytes:
    from keryx.voice.audio import encode
    from keryx.voice.transports.base import AudioFormat, Encoding

    return encode(samples, AudioFormat(Encoding.PCM16, 16_000))
