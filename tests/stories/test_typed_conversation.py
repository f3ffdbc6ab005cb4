"""A whole conversation in writing, through a really started daemon: everything that can be said can be typed."""

from pathlib import Path

from tests.support.daemon import started
from tests.support.talker import Talker


async def test_a_conversation_by_typing_from_hello_to_goodbye(tmp_path: Path) -> None:
    async with (
        started(tmp_path / "home") as daemon,
        Talker.calling(daemon.talk, daemon.key, client="terminal", audio=False) as caller,
    ):

        async def answer(text: str, *expected: str) -> str:
            """Type, and give the answer, which holds one of the `expected` wordings."""
            before = len(caller.captions("keryx"))

            def answered() -> str | None:
                said = caller.captions("keryx")[before:]
                return next((text for text in said if any(words in text.lower() for words in expected)), None)

            await caller.type(text)
            return await caller.wait_for(answered)

        await answer(
            "In the billing project, fix the failing invoice test and call me back when it's done.", "task one"
        )
        await answer("Run the tests in the website project.", "task two")
        await answer("What's running?", "two running", "task one")
        await answer("Tell task one that it must also handle leap years.", "passed on", "has that", "next")

        await answer("In the parser project, run the tests.", "task three")
        await answer("In the website project, check the links.", "task four")
        assert "task four" in (await answer("Cancel task four.", "task four")).lower()
        await answer("No, wait.", "left it running", "it stays")
        assert (await daemon.get("/api/tasks/4"))["status"] in ("queued", "running")
        await answer("Cancel task four.", "task four")
        await answer("Yes.", "cancelled")
        assert (await daemon.get("/api/tasks/4"))["status"] == "cancelled"

        done = await daemon.task_ends(1)
        assert "leap years" in done["summary"]
        start = done["summary"][:40].lower()
        await caller.caption("keryx", start, timeout_s=20)
        await answer("What did task one say again?", start)
        for task_id in (2, 3):
            ended = await daemon.task_ends(task_id)
            await caller.caption("keryx", ended["summary"][:40], timeout_s=20)
        await answer("That's all, goodbye.", "bye")
        await caller.until_ended()
        assert caller.ended == "goodbye"

        told = {task["id"]: bool(task["told_at"]) for task in await daemon.get("/api/tasks")}
        assert told == {1: True, 2: True, 3: True, 4: False}
