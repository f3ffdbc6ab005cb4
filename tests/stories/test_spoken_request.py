"""A request becomes a task, and its result comes back: real speech, real time, a really started daemon."""

from typing import Any

import pytest

from keryx.voice.dialogue.replies import task_number
from keryx.voice.loading import SpeechParts
from tests.stories.ear import SPEECH, shared, transcribed
from tests.support.daemon import Daemon
from tests.support.talker import OUT_RATE, Talker

INVOICE_REQUEST = SPEECH / "hibari_00_16k.wav"
WHAT_IS_RUNNING = SPEECH / "joe_01_16k.wav"
GOODBYE = SPEECH / "joe_29_16k.wav"

pytestmark = [pytest.mark.speech, pytest.mark.asyncio(loop_scope="module")]


async def test_a_request_spoken_on_the_page_is_done_and_its_result_is_spoken_into_the_call(
    daemon: Daemon, speech_parts: SpeechParts
) -> None:
    async with Talker.calling(daemon.talk, daemon.key) as caller:
        await caller.until_quiet()
        await caller.say(INVOICE_REQUEST)
        await caller.caption("keryx", "the demo agent")
        await caller.until_quiet()

        task = (await daemon.get("/api/tasks"))[0]
        assert (task["project"], task["agent"]) == ("billing", "fake")
        assert "invoice test" in task["description"]
        assert "call me back" not in task["description"]

        await caller.say(WHAT_IS_RUNNING)
        await caller.caption("keryx", "running")
        await caller.until_quiet()

        task = await daemon.task_ends(task["id"])
        await caller.caption("keryx", task["summary"][:30], timeout_s=20)
        await caller.until_quiet()
        understood = await transcribed(speech_parts, caller.sound_of(task["summary"][:30]))
        assert shared(task["summary"], understood) >= 0.8, f"said {task['summary']!r}, heard {understood!r}"
        await daemon.task_told(task["id"])


async def test_speech_over_a_long_answer_silences_it_and_is_answered(daemon: Daemon) -> None:
    async with Talker.calling(daemon.talk, daemon.key) as caller:
        await caller.until_quiet()
        before = len(caller.heard)
        await caller.type("help")
        await caller.wait_for(lambda: len(caller.heard) - before > 2 * OUT_RATE)
        spoken = await caller.say(WHAT_IS_RUNNING)

        clear = await caller.wait_for(lambda: caller.first("clear", since_s=spoken.began_s))
        assert clear.at_s < spoken.ended_s, "it is silenced while the caller still speaks"
        await caller.caption("caller", "running", since_s=spoken.began_s)
        await caller.wait_for(lambda: caller.first("audio", since_s=spoken.ended_s))
        await caller.until_quiet()
        assert "tell me what to build" not in caller.captions("keryx")[-1].lower()
        await caller.say(GOODBYE)
        await caller.until_ended()
        assert caller.ended == "goodbye"


async def test_everything_that_can_be_said_can_be_typed(daemon: Daemon) -> None:
    done = await a_told_task(daemon)
    async with Talker.calling(daemon.talk, daemon.key, client="terminal", audio=False) as caller:

        async def answer(text: str, *expected: str) -> str:
            """Type, and give the answer, which holds one of the `expected` wordings."""
            before = len(caller.captions("keryx"))

            def answered() -> str | None:
                said = [text.lower() for text in caller.captions("keryx")[before:]]
                return next((text for text in said if any(words in text for words in expected)), None)

            await caller.type(text)
            return await caller.wait_for(answered)

        await answer("In billing, fix the failing invoice test and call me back when it's done.", "the demo agent")
        billing = (await daemon.get("/api/tasks"))[0]
        name = task_number(billing["id"])
        assert billing["project"] == "billing"
        await answer("What's running?", name)
        await answer("Add that it must also handle leap years.", "passed on", "has that", "next")

        await answer("In the website project, run the tests.", "website")
        website = (await daemon.get("/api/tasks"))[0]
        name = task_number(website["id"])
        assert name in await answer(f"Cancel {name}.", "cancel")
        await answer("No, wait.", "left it running", "it stays")
        assert (await daemon.get(f"/api/tasks/{website['id']}"))["status"] in ("queued", "running")
        await answer(f"Cancel {name}.", "cancel")
        await answer("Yes.", "is cancelled", "cancelled.")
        assert (await daemon.get(f"/api/tasks/{website['id']}"))["status"] == "cancelled"

        name = task_number(done["id"])
        await answer(f"What did {name} say again?", done["summary"][:40].lower())
        await answer("That's all, goodbye.", "bye")
        await caller.until_ended()
        assert caller.ended == "goodbye"


async def a_told_task(daemon: Daemon) -> dict[str, Any]:
    """A task whose result was heard: one there is already, else a new one."""
    told = [task for task in await daemon.get("/api/tasks") if task["told_at"]]
    if told:
        return told[0]
    made = await daemon.post("/api/tasks", {"description": "run the tests", "project": "parser"})
    await daemon.task_ends(made["id"])
    async with Talker.calling(daemon.talk, daemon.key, audio=False):
        await daemon.task_told(made["id"])
    return await daemon.get(f"/api/tasks/{made['id']}")
