"""Sounds that are no speech, and some that are; all at 16 kHz."""

import wave
from pathlib import Path

import numpy as np

RATE = 16_000
RECORDINGS = Path(__file__).parents[2] / "fixtures" / "speech"


def recorded(name: str) -> np.ndarray:
    """A recorded request, "joe_01"."""
    with wave.open(str(RECORDINGS / f"{name}_16k.wav")) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def white_noise(level_db: float, duration_s: float = 3.0) -> np.ndarray:
    return np.random.default_rng(1).normal(0, 10 ** (level_db / 20), int(duration_s * RATE)).astype(np.float32)


def tones(*parts: tuple[float, float], duration_s: float = 3.0) -> np.ndarray:
    """A sum of (hertz, level)."""
    moments = np.arange(int(duration_s * RATE)) / RATE
    waves = [level * np.sin(2 * np.pi * hz * moments) for hz, level in parts]
    return np.sum(waves, axis=0).astype(np.float32)


def key_presses(low_hz: float, high_hz: float) -> np.ndarray:
    """100 ms of a keypad tone twice a second."""
    sound = tones((low_hz, 0.2), (high_hz, 0.2))
    return sound * (np.arange(len(sound)) % (RATE // 2) < RATE // 10)


NO_SPEECH = {
    "silence": np.zeros(3 * RATE, np.float32),
    "white noise": white_noise(-20),
    "loud white noise": white_noise(-10),
    "comfort noise, five seconds": white_noise(-60, 5.0),
    "50 Hz hum": tones((50, 0.1), (150, 0.03)),
    "60 Hz hum": tones((60, 0.1), (180, 0.03)),
    "key 1": key_presses(697, 1209),
    "key 5": key_presses(770, 1336),
    "key hash": key_presses(941, 1477),
    "one key press": key_presses(852, 1477)[: RATE // 2],
    "ringing": tones((440, 0.1), (480, 0.1), duration_s=2.0),
}
