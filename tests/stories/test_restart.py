"""The daemon dies in the middle of everything, and nothing is lost."""

from pathlib import Path

from tests.support.daemon import Daemon, started
from tests.support.talker import Talker


async def heard_in_a_call(daemon: Daemon) -> list[str]:
    """What a caller is told who types nothing and hangs up when it has gone quiet."""
    async with Talker.calling(daemon.talk, daemon.key, audio=False) as caller:
        await caller.caption("keryx", "keryx")
        await caller.until_quiet(1.0)
        await caller.hang_up()
        await caller.until_ended()
        return caller.captions("keryx")


async def test_a_daemon_killed_in_the_middle_of_a_task_does_it_at_its_next_start_and_tells_of_it_once(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    async with started(home) as killed, Talker.calling(killed.talk, killed.key, audio=False) as caller:
        await caller.type("In billing, fix the failing invoice test.")
        await caller.caption("keryx", "task one")
        killed.process.kill()
        await killed.process.wait()
        await caller.until_ended()

    async with started(home) as next_one:
        task = await next_one.task_ends(1)
        assert (task["status"], task["told_at"]) == ("done", None)

    async with started(home) as daemon:  # the one before was stopped in order, and nobody had called it
        said = await heard_in_a_call(daemon)
        assert sum(task["summary"][:30] in text for text in said) == 1, said
        await daemon.task_told(1)
        again = await heard_in_a_call(daemon)
        assert not any(task["summary"][:30] in text for text in again), again
        assert len(await daemon.get("/api/tasks")) == 1
