"""A spoken request becomes a task, and its result is spoken back: real speech, real time, a really started daemon."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from keryx.voice.audio import Resampler
from keryx.voice.hearing.base import HEARING_RATE
from keryx.voice.loading import SpeechParts
from tests.support.daemon import Daemon, started
from tests.support.talker import OUT_RATE, Talker

SPEECH = Path(__file__).parent.parent / "fixtures" / "speech"
INVOICE_REQUEST = SPEECH / "hibari_00_16k.wav"
WHAT_IS_RUNNING = SPEECH / "joe_01_16k.wav"
GOODBYE = SPEECH / "joe_29_16k.wav"

pytestmark = pytest.mark.speech


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[Daemon]:
    async with started(tmp_path / "home") as daemon:
        await daemon.hears()
        yield daemon


def words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def shared(said: str, understood: str) -> float:
    """The part of the words of `said` that stand in `understood`."""
    heard = set(words(understood))
    return sum(word in heard for word in words(said)) / len(words(said))


async def transcribed(parts: SpeechParts, pcm: bytes, rate: int = OUT_RATE) -> str:
    """What a person would write down who heard this."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float32) / 32768
    heard = Resampler(rate, HEARING_RATE).push(samples, last=True)
    return (await parts.hearing.transcribe(heard, vocabulary=("billing", "invoice"))).text


async def test_a_request_spoken_on_the_page_is_done_and_its_result_is_spoken_into_the_call(
    daemon: Daemon, speech_parts: SpeechParts
) -> None:
    async with Talker.calling(daemon.talk, daemon.key) as caller:
        await caller.until_quiet()
        await caller.say(INVOICE_REQUEST)
        await caller.caption("keryx", "the demo agent")
        await caller.until_quiet()

        (task,) = await daemon.get("/api/tasks")
        assert (task["project"], task["agent"]) == ("billing", "fake")
        assert "invoice test" in task["description"]
        assert "call me back" not in task["description"]

        await caller.say(WHAT_IS_RUNNING)
        await caller.caption("keryx", "task one", timeout_s=10)
        await caller.until_quiet()

        before = len(caller.heard)
        task = await daemon.task_ends(task["id"])
        await caller.caption("keryx", task["summary"][:30], timeout_s=20)
        await caller.until_quiet()
        understood = await transcribed(speech_parts, bytes(caller.heard[before:]))
        assert shared(task["summary"], understood) >= 0.8, f"said {task['summary']!r}, heard {understood!r}"

        await caller.say(GOODBYE)
        await caller.until_ended()
        assert caller.ended == "goodbye"
    assert (await daemon.get(f"/api/tasks/{task['id']}"))["told_at"]


async def test_a_caller_who_hangs_up_too_early_hears_the_result_first_thing_in_the_next_call(
    daemon: Daemon, speech_parts: SpeechParts
) -> None:
    async with Talker.calling(daemon.talk, daemon.key) as caller:
        await caller.until_quiet()
        await caller.say(INVOICE_REQUEST)
        await caller.caption("keryx", "the demo agent")
        await caller.hang_up()
    task = await daemon.task_ends(1)
    assert task["told_at"] is None

    async with Talker.calling(daemon.talk, daemon.key) as caller:
        await caller.caption("keryx", task["summary"][:30])
        await caller.until_quiet()
        understood = await transcribed(speech_parts, bytes(caller.heard))
        assert shared(task["summary"], understood) >= 0.8, f"said {task['summary']!r}, heard {understood!r}"
    assert (await daemon.get("/api/tasks/1"))["told_at"]


async def test_a_result_outlives_the_daemon_and_is_told_by_the_next_one(tmp_path: Path) -> None:
    async with started(tmp_path / "home") as daemon:
        await daemon.post("/api/tasks", {"description": "run the tests", "project": "parser"})
        task = await daemon.task_ends(1)
        assert task["told_at"] is None
    async with started(tmp_path / "home") as daemon, Talker.calling(daemon.talk, daemon.key, audio=False) as caller:
        await caller.caption("keryx", task["summary"][:30])
        await caller.until_quiet()
        await caller.hang_up()
        await caller.until_ended()
        assert (await daemon.get("/api/tasks/1"))["told_at"]
