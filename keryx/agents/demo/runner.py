"""The demonstration's agent: no model, but what it does is real, and so is what it says.

It runs a small project's tests, reads its log, and mends the one fault it knows, on a branch in a worktree of the
task's own, so that the project itself stays as it was. Anything else it says it has not done.
"""

import asyncio
import logging
import re
import secrets
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from keryx.agents.asked import what_was_asked
from keryx.agents.base import (
    FRESH_START,
    STOPPED,
    Leash,
    OnProgress,
    RunResult,
    SteerUnavailable,
    TurnStopped,
    extract_spoken_summary,
    tell,
)
from keryx.agents.demo.projects import GIT, GIT_LIMIT_S, MENDS, PROJECTS, Mend, git_environment, prepare_demo_projects
from keryx.agents.demo.words import Asked, Outcome, all_tests, noted, sentence, spaced, understood
from keryx.agents.processes import tagged
from keryx.agents.programs import Ended, run_program
from keryx.agents.surroundings import small_environment
from keryx.clock import Clock, SystemClock
from keryx.errors import Unavailable
from keryx.tasks.models import Task

__all__ = ["DemoAgentRunner", "DemoAgentSession", "prepare_demo_projects"]

log = logging.getLogger(__name__)

PACE_S = 2.0
"""How long each step stays on the page; with it a task takes 12 to 20 seconds."""
TESTS_LIMIT_S = 60.0
CLOSE_GRACE_S = 4.0

_SESSIONS = ".sessions"
_SESSION_ID = re.compile(r"demo-\d+-[0-9a-f]{8}")


class DemoAgentRunner:
    """Opens conversations about the projects that `prepare_demo_projects(root)` made."""

    def __init__(self, root: Path, *, clock: Clock | None = None, pace_s: float = PACE_S, name: str = "fake") -> None:
        self.name = name
        self.root = root
        self.clock = clock or SystemClock()
        self.pace_s = pace_s
        self.repositories = asyncio.Lock()

    async def open(self, task: Task, *, resume: str | None = None) -> "DemoAgentSession":
        try:
            session_id, found = self._place(task, resume)
        except OSError as error:
            raise Unavailable(
                f"the demo's folder {self.root} cannot be used: {error.strerror}",
                spoken="I can't get at the demo projects.",
            ) from error
        return DemoAgentSession(self, task, session_id, forgotten=resume is not None and not found)

    def projects(self) -> tuple[str, ...]:
        """The projects that are there, in the order they are offered."""
        return tuple(name for name in PROJECTS if (self.root / name).is_dir())

    def _place(self, task: Task, resume: str | None) -> tuple[str, bool]:
        """The conversation's id, whose folder exists, and whether it is the one asked for."""
        if not self.projects():
            raise FileNotFoundError(None, "there are no projects in it")
        if resume and _SESSION_ID.fullmatch(resume) and (self.root / _SESSIONS / resume).is_dir():
            return resume, True
        session_id = f"demo-{task.id}-{secrets.token_hex(4)}"
        (self.root / _SESSIONS / session_id).mkdir(parents=True)
        return session_id, False


class DemoAgentSession:
    """One conversation: about one project, in a worktree of its own once something was changed."""

    def __init__(self, runner: DemoAgentRunner, task: Task, session_id: str, *, forgotten: bool) -> None:
        self.session_id = session_id
        self._runner = runner
        self._task = task
        self._forgotten = forgotten
        self._closed = False
        self._offered = False
        self._leash = Leash()
        self._notes: list[str] = []
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self, prompt: str, *, on_progress: OnProgress) -> RunResult:
        if self._closed or not self._idle.is_set():
            return self._failed("the conversation is closed" if self._closed else "a turn is already running")
        self._leash, self._notes = Leash(), []
        self._idle.clear()
        try:
            job = _Job(self._runner, self._task, self.session_id, self._leash, on_progress)
            if self._forgotten:
                await tell(on_progress, FRESH_START)
            asked = understood(what_was_asked(prompt), offered=self._offered)
            said = await job.mend() if asked.mend else await job.look()
            self._offered = job.can_mend
            return self._done(said, job, asked)
        except TurnStopped:
            return RunResult(False, "", STOPPED, self.session_id, error="interrupted")
        except CannotDo as reason:
            return self._failed(str(reason))
        except Exception as error:  # the edge of the agent's turn: a defect here is this turn's failure, nothing more
            log.exception("the demo agent failed")
            return self._failed(f"the demo agent broke: {type(error).__name__}")
        finally:
            self._idle.set()

    async def send(self, text: str) -> None:
        if self._idle.is_set() or self._leash.pulled:
            raise SteerUnavailable("no turn is running")
        self._notes.append(text)

    async def interrupt(self) -> None:
        if not self._idle.is_set():
            self._leash.pull()

    async def close(self) -> None:
        self._closed = True
        self._leash.pull()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_GRACE_S):
                await self._idle.wait()

    def _done(self, said: str, job: "_Job", asked: Asked) -> RunResult:
        parts = [said]
        if asked.more:
            rest = "The rest" if asked.mend else "That"
            parts.insert(1 if asked.mend else 0, f"{rest} is more than the demo agent can do.")
        if self._forgotten:
            parts.insert(0, FRESH_START)
            self._forgotten = False
        parts += [noted(text) for text in self._notes]
        report = "\n\n".join([*job.report, "SPOKEN_SUMMARY: " + " ".join(parts)])
        return RunResult(True, report, extract_spoken_summary(report), self.session_id)

    def _failed(self, reason: str) -> RunResult:
        summary = extract_spoken_summary(f"SPOKEN_SUMMARY: It failed: {reason.rstrip('.')}.")
        return RunResult(False, "", summary, self.session_id, error=reason)


class CannotDo(Exception):
    """The job cannot be done; the text says why, as half a sentence."""


class _Job:
    """What one turn does, step by step, each told and each stopped by the leash."""

    def __init__(
        self, runner: DemoAgentRunner, task: Task, session_id: str, leash: Leash, on_progress: OnProgress
    ) -> None:
        self._runner = runner
        self._leash = leash
        self._on_progress = on_progress
        projects = runner.projects()
        self._project = task.project or next(
            (name for name in projects if re.search(rf"\b{name}\b", task.description, re.IGNORECASE)), projects[0]
        )
        self._known = self._project in projects
        self._repository = runner.root / self._project
        self._worktree = runner.root / _SESSIONS / session_id / self._project
        self._mend = MENDS.get(self._project)
        self.report: list[str] = []
        self.can_mend = False
        """Whether the tests failed for the reason this agent can mend."""

    async def look(self) -> str:
        """Run the tests and read the log; changes nothing."""
        tests, commits = await self._look()
        told = tests.told(self._project, self._mend)
        await self._step("Writing up what I found")
        if commits is None:
            return f"{told} Git isn't installed here, so I couldn't read the log, and I changed nothing."
        if tests.failed and self._mend and (waiting := await self._waiting(self._mend)):
            return f"{told} A mended version waits on the branch {spaced(waiting)}, and I changed nothing now."
        if not commits:
            return f"{told} I changed nothing."
        return f"{told} The last commit is {commits[0]}, and I changed nothing."

    async def mend(self) -> str:
        """Mend the fault it knows, on a branch, and say so only when the tests then pass."""
        tests, commits = await self._look()
        if not tests.failed:
            return f"{tests.told(self._project, None).removesuffix('.')} already, so I changed nothing."
        told = tests.told(self._project, self._mend)
        if self._mend is None or not self.can_mend:
            return f"{told} I don't know how to mend that, so I changed nothing."
        if commits is None:
            return f"{told} Git isn't installed here, so I changed nothing."
        await self._step(self._mend.looked_at)
        await self._step(sentence(self._mend.cause).rstrip("."))
        branch = await self._branch(self._mend)
        await self._step(f"Mending it on the branch {spaced(branch)}")
        try:
            self._mend.edit(self._worktree)
        except (ValueError, OSError) as error:
            raise CannotDo(f"I could not change {self._project}: {error}") from error
        await self._step("Running the tests again")
        after = await self._test(self._worktree)
        if after.failed:
            await self._git("reset", "--quiet", "--hard", folder=self._worktree)
            raise CannotDo(f"my change did not help, so I took it back. {after.told(self._project, self._mend)}")
        await self._git("commit", "--quiet", "--all", "--message", self._mend.message, folder=self._worktree)
        self.report.append(f"Changed on the branch `{branch}`: {self._mend.message}.")
        self.can_mend = False
        return (
            f"{sentence(self._mend.called).rstrip('.')} passes now: {self._mend.cause}. "
            f"{all_tests(after.ran)} pass, on the branch {spaced(branch)}."
        )

    async def _look(self) -> tuple[Outcome, list[str] | None]:
        """The tests' outcome and the last commits' subjects, newest first; None without git."""
        if not self._known:
            raise CannotDo(f"there is no {self._project} in the demo, only {', '.join(self._runner.projects())}")
        await self._step(f"Opening {self._project}")
        folder = await self._folder()
        await self._step("Reading the last commits")
        log = await self._git_if_there("log", "-10", "--format=%s", folder=folder)
        commits = None if log is None else log.output.splitlines() if log.code == 0 else []
        if commits:
            await self._step(f"The last commit is {commits[0]}")
            self.report.append("Last commits:\n\n" + "\n".join(f"- {subject}" for subject in commits))
        await self._step(f"Running the tests in {self._project}")
        tests = await self._test(folder)
        self.can_mend = self._mend is not None and tests.failed == (self._mend.test,)
        await self._step(tests.told(self._project, self._mend).rstrip("."))
        return tests, commits

    async def _test(self, folder: Path) -> Outcome:
        # No byte code: an edit within the second that keeps the size would be run as it was before.
        environment = small_environment(PYTHONDONTWRITEBYTECODE="1")
        ended = await self._run([sys.executable, "-m", "unittest"], folder, environment, TESTS_LIMIT_S)
        if ended.code is None:
            raise CannotDo(
                f"the tests in {self._project} did not end in {TESTS_LIMIT_S:.0f} seconds, so I stopped them"
            )
        ran = re.search(r"^Ran (\d+) tests?\b", ended.output, re.MULTILINE)
        failed = tuple(re.findall(r"^(?:FAIL|ERROR): (\w+)", ended.output, re.MULTILINE))
        if ran is None or (ended.code != 0 and int(ran[1]) and not failed):
            raise CannotDo(f"the tests in {self._project} would not run")
        self.report.append(f"Tests:\n\n```text\n{ended.output.strip()}\n```")
        return Outcome(int(ran[1]), failed)

    async def _folder(self) -> Path:
        """Where to work: the worktree of an earlier turn, without what was not finished in it, else the project."""
        if self._worktree.exists():
            if (await self._git("reset", "--quiet", "--hard", folder=self._worktree, must=False)).code == 0:
                return self._worktree
            shutil.rmtree(self._worktree, ignore_errors=True)
            await self._git("worktree", "prune", folder=self._repository)
        return self._repository

    async def _branch(self, mend: Mend) -> str:
        """A new branch, checked out in the worktree."""
        if self._worktree.exists():
            return (await self._git("branch", "--show-current", folder=self._worktree)).output.strip()
        async with self._runner.repositories:  # two tasks must not take the same name
            listed = await self._git("branch", "--format=%(refname:short)", folder=self._repository)
            taken = set(listed.output.split())
            names = [mend.branch, *(f"{mend.branch}-{number}" for number in range(2, len(taken) + 3))]
            branch = next(name for name in names if name not in taken)
            await self._git("worktree", "add", "--quiet", "-b", branch, str(self._worktree), folder=self._repository)
        return branch

    async def _waiting(self, mend: Mend) -> str | None:
        """The newest branch on which another task has mended the fault."""
        listed = await self._git(
            *("branch", "--no-merged=HEAD", "--sort=-committerdate", "--format=%(refname:short)"),
            *("--list", f"{mend.branch}*"),
            folder=self._repository,
            must=False,
        )
        return next(iter(listed.output.split()), None) if listed.code == 0 else None

    async def _git(self, *arguments: str, folder: Path, must: bool = True) -> Ended:
        ended = await self._git_if_there(*arguments, folder=folder)
        if ended is None:
            raise CannotDo("git isn't installed here")
        if must and ended.code != 0:
            log.warning("git failed", extra={"verb": arguments[0], "code": ended.code})
            raise CannotDo(f"git could not do its part, {arguments[0]}")
        return ended

    async def _git_if_there(self, *arguments: str, folder: Path) -> Ended | None:
        with suppress(FileNotFoundError):
            return await self._run([*GIT, *arguments], folder, git_environment(self._runner.root), GIT_LIMIT_S)
        return None

    async def _run(self, argv: list[str], folder: Path, environment: dict[str, str], limit_s: float) -> Ended:
        async with self._leash.held():
            return await run_program(argv, cwd=folder, env=tagged(environment, self._runner.root), limit_s=limit_s)

    async def _step(self, line: str) -> None:
        """Tell of one step, and let it be seen for a while."""
        await tell(self._on_progress, line)
        async with self._leash.held():
            if self._runner.pace_s:
                await self._runner.clock.sleep(self._runner.pace_s)
