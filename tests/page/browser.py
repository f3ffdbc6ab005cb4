"""Debian's Chromium, or anybody's, as somebody's browser."""

import contextlib
import shutil
import wave
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
)
FIXTURES = Path(__file__).parent.parent / "fixtures" / "speech"


def chromium() -> str | None:
    """Where the browser is, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.asynccontextmanager
async def browsing(
    *, microphone: Path | None = None, no_microphone: bool = False, flags: Sequence[str] = ()
) -> AsyncIterator[Browser]:
    """A browser whose microphone plays the WAV file `microphone` once (a soft beep when None)."""
    path = chromium()
    assert path, "there is no Chromium"
    given: list[str] = [*FLAGS, *flags]
    if not no_microphone:
        given.append("--use-fake-device-for-media-stream")
    if microphone:
        given.append(f"--use-file-for-fake-audio-capture={microphone}%noloop")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=given)
        try:
            yield browser
        finally:
            await browser.close()


def as_microphone(fixture: str, folder: Path, *, lead_s: float = 1.0, tail_s: float = 3.0) -> Path:
    """A 16 kHz speech fixture as the 48 kHz file that Chromium's fake microphone wants, silence around it."""
    import numpy as np
    import soxr

    with wave.open(str(FIXTURES / fixture)) as file:
        assert file.getframerate() == 16_000
        spoken = np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16)
    louder = soxr.resample(spoken.astype(np.float32), 16_000, 48_000)
    whole = np.concatenate([np.zeros(int(lead_s * 48_000)), louder, np.zeros(int(tail_s * 48_000))])
    path = folder / "microphone.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48_000, 0, "NONE", ""))
        file.writeframes(np.clip(whole, -32768, 32767).astype("<i2").tobytes())
    return path
