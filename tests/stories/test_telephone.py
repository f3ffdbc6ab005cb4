"""The same over a telephone: the provider's webhook and media stream, mu-law both ways, a PIN before any deed."""

import pytest

from keryx.voice.loading import SpeechParts
from tests.stories.ear import MULAW_8K, SPEECH, shared, transcribed
from tests.stories.telephone import ACCOUNT, OWNER, PIN, STRANGER
from tests.support.daemon import Daemon
from tests.support.twilio_line import dial, post, sid

INVOICE_REQUEST = (SPEECH / "hibari_00_8k.ul").read_bytes()
MY_PIN_IS = (SPEECH / "hibari_04_8k.ul").read_bytes()

pytestmark = [pytest.mark.speech, pytest.mark.asyncio(loop_scope="module")]


async def test_a_request_spoken_into_a_telephone_waits_for_the_pin_and_its_result_is_spoken_into_the_call(
    daemon: Daemon, speech_parts: SpeechParts
) -> None:
    async def understood(sound: bytes) -> str:
        return await transcribed(speech_parts, sound, MULAW_8K)

    async with dial(daemon.origin, ACCOUNT, OWNER) as line:
        await line.until_quiet()
        known = await daemon.get("/api/tasks")
        assert "pin" in (await understood(await line.ask(INVOICE_REQUEST))).lower()
        assert await daemon.get("/api/tasks") == known

        sound = await line.ask(MY_PIN_IS)
        before = len(line.heard)
        answer = await understood(sound)
        assert shared("the demo agent", answer) == 1, answer
        task = (await daemon.get("/api/tasks"))[0]
        assert (task["project"], task["agent"]) == ("billing", "fake")
        assert "invoice test" in task["description"]

        task = await daemon.task_ends(task["id"])
        result = await understood(await line.listen(before))
        assert shared(task["summary"], result) >= 0.8, f"said {task['summary']!r}, heard {result!r}"
        assert set(line.frames) == {160}

        await daemon.task_told(task["id"])
        await line.hang_up()

    logged = daemon.log.read_text().lower()
    assert "a call was let in" in logged
    for private in (PIN, OWNER, "invoice", "rounding"):
        assert private not in logged


async def test_a_stranger_is_not_even_answered(daemon: Daemon) -> None:
    form = ACCOUNT.webhook(STRANGER, sid("CA"))
    answer = await post(daemon.origin, "/twilio/voice", form, ACCOUNT.sign("/twilio/voice", form))
    assert [verb.tag for verb in answer.twiml] == ["Reject"]
    assert (await daemon.get("/health"))["calls"] == 0
