"""The demonstration's agent: everything it says is looked up afterwards and found true."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keryx import prompts
from keryx.agents.asked import framed
from keryx.agents.base import RunResult, SteerUnavailable
from keryx.agents.demo.projects import GIT, git_environment
from keryx.agents.demo.runner import PACE_S, DemoAgentRunner, prepare_demo_projects
from keryx.clock import VirtualClock
from keryx.errors import Unavailable
from keryx.tasks.models import Task, TaskStatus

TASK = Task(7, "", TaskStatus.RUNNING, "fake", datetime(2026, 3, 2, tzinfo=UTC), project="billing")
LOOKED = (
    "I ran the tests in billing: test invoice rounding fails, the other four pass. "
    "The last commit is Round totals per line, and I changed nothing."
)
MENDED = (
    "Test invoice rounding passes now: totals were rounded per line instead of once. "
    "All five tests pass, on the branch fix invoice rounding."
)
FIX = "fix the failing invoice test and call me back when it's done"


@pytest.fixture
def runner(tmp_path: Path) -> DemoAgentRunner:
    prepare_demo_projects(tmp_path)
    return DemoAgentRunner(tmp_path, pace_s=0)


class Listener:
    """Keeps the progress lines, and lets a test wait for one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._more = asyncio.Condition()

    async def __call__(self, line: str) -> None:
        async with self._more:
            self.lines.append(line)
            self._more.notify_all()

    async def heard(self, words: str) -> None:
        async with asyncio.timeout(10), self._more:
            await self._more.wait_for(lambda: any(words in line for line in self.lines))


async def ask(runner: DemoAgentRunner, *wanted: str, task: Task = TASK) -> list[RunResult]:
    session = await runner.open(task)
    results = [await session.run(prompt, on_progress=Listener()) for prompt in wanted]
    await session.close()
    return results


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [*GIT, *arguments], cwd=folder, env=git_environment(folder.parent), capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def passing(folder: Path) -> bool:
    return subprocess.run([sys.executable, "-B", "-m", "unittest", "--quiet"], cwd=folder, check=False).returncode == 0


async def test_it_runs_the_tests_reads_the_log_and_says_what_it_found(runner: DemoAgentRunner):
    (result,) = await ask(runner, "run the tests")
    assert result.spoken_summary == LOOKED
    assert (result.ok, result.usage, result.cost_usd) == (True, None, None)
    assert "FAILED (failures=1)" in result.final_text
    assert git(runner.root / "billing", "status", "--porcelain") == ""


async def test_it_really_mends_the_known_fault_on_a_branch_and_leaves_the_project_as_it_was(runner: DemoAgentRunner):
    (result,) = await ask(runner, FIX)
    assert result.spoken_summary == MENDED
    billing = runner.root / "billing"
    assert git(billing, "log", "-1", "--format=%s", "fix-invoice-rounding") == "Round totals once"
    assert git(billing, "diff", "--stat", "main", "fix-invoice-rounding").count("|") == 1
    assert git(billing, "status", "--porcelain", "--branch") == "## main"
    worktree = runner.root / ".sessions" / (result.session_id or "") / "billing"
    assert passing(worktree)


async def test_another_task_finds_the_branch_and_can_mend_it_afresh(runner: DemoAgentRunner):
    await ask(runner, FIX)
    looked, mended = await ask(runner, "run the tests", FIX, task=replace(TASK, id=8))
    assert "A mended version waits on the branch fix invoice rounding" in looked.spoken_summary
    assert mended.spoken_summary.endswith("on the branch fix invoice rounding 2.")


async def test_two_tasks_at_once_do_not_get_in_each_others_way(runner: DemoAgentRunner):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(runner, FIX, task=replace(TASK, id=number))) for number in (1, 2, 3)]
    assert sorted(task.result()[0].spoken_summary.removeprefix(MENDED[:-1]) for task in tasks) == [" 2.", " 3.", "."]


async def test_yes_after_a_failure_mends_it_and_afterwards_all_passes(runner: DemoAgentRunner):
    website = replace(TASK, project="website")
    looked, mended, again, still = await ask(runner, "run the build", "yes, please", "and now?", "fix it", task=website)
    assert "the lock file check fails, the other two pass" in looked.spoken_summary
    assert mended.spoken_summary.startswith("The lock file check passes now: the lock file was made from older")
    assert again.spoken_summary.startswith("All three tests in website pass. The last commit is Make the lock file")
    assert still.spoken_summary == "All three tests in website pass already, so I changed nothing."


async def test_what_it_cannot_do_it_says_first_and_does_not_claim(runner: DemoAgentRunner):
    (result,) = await ask(runner, "rewrite it to be faster", task=replace(TASK, project="parser"))
    assert result.spoken_summary == (
        "That is more than the demo agent can do. All four tests in parser pass. "
        "The last commit is Test tokens and values, and I changed nothing."
    )


async def test_what_every_agent_is_told_after_the_request_is_not_taken_for_a_request(runner: DemoAgentRunner):
    (result,) = await ask(runner, framed("run the tests", prompts.text("subagent_suffix.md")))
    assert result.spoken_summary == LOOKED


async def test_a_steer_is_taken_in_and_told_of_at_the_end(runner: DemoAgentRunner):
    session = await runner.open(TASK)
    listener = Listener()
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(session.run(FIX, on_progress=listener))
        await listener.heard("Running the tests")
        await session.send("also handle leap years")
    assert turn.result().spoken_summary == (
        f"{MENDED} I noted that it must also handle leap years, and left that for a real agent."
    )
    with pytest.raises(SteerUnavailable):
        await session.send("and this")
    await session.close()


async def test_without_a_project_it_takes_the_one_that_is_named_else_the_first(runner: DemoAgentRunner):
    named, first = replace(TASK, project=None, description="run the parser tests"), replace(TASK, project=None)
    assert "in parser" in (await ask(runner, "run the parser tests", task=named))[0].spoken_summary
    assert (await ask(runner, "run the tests", task=first))[0].spoken_summary == LOOKED


@pytest.mark.parametrize("project", ["shop", "../billing", "/", "."])
async def test_a_project_that_is_not_there_is_a_failure_that_names_those_that_are(
    runner: DemoAgentRunner, project: str
):
    (result,) = await ask(runner, "run the tests", task=replace(TASK, project=project))
    assert not result.ok
    assert result.spoken_summary.startswith("It failed: there is no ")
    assert result.spoken_summary.endswith("only billing, website, parser.")


async def test_without_git_it_says_so_and_changes_nothing(runner: DemoAgentRunner, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(runner.root))
    looked, mended = await ask(runner, "run the tests", FIX)
    assert looked.spoken_summary.endswith(
        "Git isn't installed here, so I couldn't read the log, and I changed nothing."
    )
    assert mended.spoken_summary.endswith("the other four pass. Git isn't installed here, so I changed nothing.")


async def test_a_fault_it_does_not_know_is_left_alone(runner: DemoAgentRunner):
    broken = runner.root / "parser" / "tests" / "test_more.py"
    broken.write_text(
        "import unittest\nclass More(unittest.TestCase):\n    def test_more(self):\n        self.fail()\n"
    )
    (result,) = await ask(runner, "fix the tests", task=replace(TASK, project="parser"))
    assert result.spoken_summary == (
        "I ran the tests in parser: test more fails, the other four pass. "
        "I don't know how to mend that, so I changed nothing."
    )


async def test_tests_that_will_not_run_are_a_failure(runner: DemoAgentRunner):
    (runner.root / "parser" / "unittest.py").write_text("raise SystemExit('broken')\n")
    (result,) = await ask(runner, "run the tests", task=replace(TASK, project="parser"))
    assert (result.ok, result.spoken_summary) == (False, "It failed: the tests in parser would not run.")


async def test_an_interrupted_mend_leaves_no_half_done_work_for_the_next_turn(runner: DemoAgentRunner):
    session = await runner.open(TASK)
    listener = Listener()
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(session.run(FIX, on_progress=listener))
        await listener.heard("Running the tests again")
        await session.interrupt()
    assert turn.result().spoken_summary == "I was stopped before I finished."
    assert "waits on the branch" not in (await ask(runner, "run the tests"))[0].spoken_summary
    assert (await session.run("fix it", on_progress=Listener())).spoken_summary == MENDED
    await session.close()


async def test_what_was_mended_is_found_again_after_a_restart(runner: DemoAgentRunner):
    (mended,) = await ask(runner, FIX)
    later = await DemoAgentRunner(runner.root, pace_s=0).open(TASK, resume=mended.session_id)
    result = await later.run("run the tests again", on_progress=Listener())
    assert result.spoken_summary.startswith("All five tests in billing pass. The last commit is Round totals once")
    await later.close()


@pytest.mark.parametrize("prompt", ["run the tests", FIX])
async def test_its_steps_can_be_followed_and_take_twelve_to_twenty_seconds(runner: DemoAgentRunner, prompt: str):
    listener = Listener()
    session = await runner.open(TASK)
    await session.run(prompt, on_progress=listener)
    assert 12 <= len(listener.lines) * PACE_S <= 20
    assert listener.lines[0] == "Opening billing"
    assert len(set(listener.lines)) == len(listener.lines)
    await session.close()


async def test_between_two_steps_the_clock_is_waited_for(runner: DemoAgentRunner, clock: VirtualClock):
    paced = DemoAgentRunner(runner.root, clock=clock)
    session = await paced.open(TASK)
    listener = Listener()
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(session.run("run the tests", on_progress=listener))
        await listener.heard("Opening")
        await clock.advance(PACE_S - 0.1)
        assert listener.lines == ["Opening billing"]
        await clock.advance(0.1)
        await listener.heard("Reading")
        await session.interrupt()
    assert not turn.result().ok
    await session.close()


async def test_without_its_projects_it_does_not_open(tmp_path: Path):
    with pytest.raises(Unavailable):
        await DemoAgentRunner(tmp_path).open(TASK)
