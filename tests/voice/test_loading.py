"""How the speech parts come up, and what a person reads when they do not."""

import asyncio
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from keryx.errors import ConfigError
from keryx.voice.hearing.fake import FakeActivity, FakeHearing
from keryx.voice.loading import NOT_INSTALLED, Report, SpeechLoading, SpeechParts, _Load, load_parts
from keryx.voice.speaking.fake import FakeSpeaking

WAIT_S = 5.0


def parts_of(closed: list[str] | None = None) -> SpeechParts:
    return SpeechParts(FakeHearing(), FakeSpeaking(), FakeActivity, lambda: (closed or []).append("closed"))


async def test_it_says_how_far_it_is_and_ends_ready(tmp_path: Path) -> None:
    seen: list[tuple[str, int, str]] = []

    def load(report: Report) -> SpeechParts:
        report("Loading the weights.", 0.2)
        report("Loading the voice.", 0.75)
        return parts_of()

    loading = SpeechLoading(tmp_path, load=load)

    async def watch() -> None:
        while loading.state == "loading":
            await loading.changed()
            seen.append((loading.state, loading.percent, loading.message))

    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as group:
        group.create_task(watch())
        group.create_task(loading.load())

    assert seen[-1] == ("ready", 100, "Ready to hear and to speak.")
    assert ("loading", 75, "Loading the voice.") in seen
    assert [percent for _, percent, _ in seen] == sorted(percent for _, percent, _ in seen)
    assert loading.parts is not None


async def test_the_percentage_never_falls_nor_says_done_early(tmp_path: Path) -> None:
    def load(report: Report) -> SpeechParts:
        for done in (0.5, 0.3, 1.0):
            report(f"At {done}.", done)
        return parts_of()

    loading = SpeechLoading(tmp_path, load=load)
    seen = []

    async def watch() -> None:
        while loading.state == "loading":
            await loading.changed()
            seen.append(loading.percent)

    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as group:
        group.create_task(watch())
        group.create_task(loading.load())

    assert seen == sorted(seen)
    assert seen[-1] == 100


async def test_missing_parts_mean_typing_only_and_the_command_that_mends_it(tmp_path: Path) -> None:
    def load(report: Report) -> SpeechParts:
        raise ConfigError(NOT_INSTALLED)

    loading = SpeechLoading(tmp_path, load=load)
    await loading.load()

    assert loading.state == "typing only"
    assert loading.message == "Typing only: the speech parts are not installed. Run: pip install 'keryx[speech]'"
    assert loading.parts is None


async def test_a_broken_library_means_typing_only_and_no_crash(tmp_path: Path) -> None:
    def load(report: Report) -> SpeechParts:
        raise RuntimeError("illegal instruction")

    loading = SpeechLoading(tmp_path, load=load)
    await loading.load()

    assert loading.state == "typing only"
    assert "RuntimeError" in loading.message
    assert "\n" not in loading.message


async def test_everybody_who_waits_is_told(tmp_path: Path) -> None:
    loading = SpeechLoading(tmp_path, load=lambda report: parts_of())

    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(loading.changed())
        group.create_task(loading.load())


async def test_who_stops_waiting_is_forgotten(tmp_path: Path) -> None:
    loading = SpeechLoading(tmp_path, load=lambda report: parts_of())
    waiting = asyncio.ensure_future(loading.changed())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    await loading.load()

    assert loading.state == "ready"


async def test_closing_twice_closes_the_parts_once(tmp_path: Path) -> None:
    closed: list[str] = ["nothing yet"]
    loading = SpeechLoading(tmp_path, load=lambda report: parts_of(closed))
    await loading.load()

    loading.close()
    loading.close()

    assert closed == ["nothing yet", "closed"]
    assert loading.parts is None


async def test_the_event_loop_runs_on_while_parts_load(tmp_path: Path) -> None:
    import threading

    turned = threading.Event()
    loading = SpeechLoading(tmp_path, load=lambda report: parts_of() if turned.wait(WAIT_S) else None)  # type: ignore[arg-type,return-value]  # None would fail the test below

    async with asyncio.TaskGroup() as group:
        group.create_task(loading.load())
        await asyncio.sleep(0)
        turned.set()

    assert loading.parts is not None


def test_importing_it_needs_no_numpy_and_reads_nothing_heavy() -> None:
    rooms = "keryx.voice.loading, keryx.voice.audio, keryx.voice.hearing.fake, keryx.voice.speaking.fake"
    heavy = ("numpy", "onnxruntime", "ctranslate2", "hibari", "faster_whisper")
    code = f"import sys; import {rooms}; print([name for name in {heavy} if name in sys.modules])"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)

    assert result.stdout.strip() == "[]"


@pytest.mark.speech
def test_a_wrong_weights_folder_falls_through_to_the_packages(tmp_path: Path) -> None:
    pytest.importorskip("hibari")
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("model.bin", "tokenizer.json", "config.json"):
        (folder / name).write_bytes(hashlib.sha256(name.encode()).digest())
    said: list[str] = []

    parts = load_parts(tmp_path / "cache", folder, False, lambda what, done: said.append(what))
    parts.close()

    assert "Loading the weights." in said
    assert (tmp_path / "cache" / "whisper-base" / "model.bin").stat().st_mode & 0o777 == 0o600


@pytest.mark.speech
def test_a_broken_voice_is_replaced_by_the_spare_one_if_that_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("espeakng_loader", reason="the espeak extra is not installed")
    spare = _Load(lambda what, done: None)._spare_voice(ConfigError("the voice's file is damaged"))
    assert len(spare.speak_now("One moment.")) > spare.rate / 4
    spare.close()
