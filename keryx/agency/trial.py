"""One real task for one agent, in a throw-away repository: does it work, what would be heard, what does it cost?"""

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from keryx.agency.agency import Agency
from keryx.agency.standing import Standing
from keryx.agents.approver import NobodyToAsk
from keryx.agents.base import RunResult
from keryx.agents.demo.projects import write_history
from keryx.agents.processes import reap
from keryx.clock import Clock, SystemClock
from keryx.errors import ConfigError, Unavailable
from keryx.security.redact import redact
from keryx.tasks.claims import TurnInput
from keryx.tasks.models import Task, TaskStatus
from keryx.tasks.prompting import turn_prompt
from keryx.tasks.requests import mode_name, one_line
from keryx.tasks.rows import Message, MessageState

OPEN_LIMIT_S = 60.0

REQUEST = "The test in test_total.py fails. Find out why, mend it, and run the test again."

_FILES = {
    "total.py": "def total(prices):\n    return sum(prices[1:])\n",
    "test_total.py": (
        "import unittest\n\nfrom total import total\n\n\nclass TotalTest(unittest.TestCase):\n"
        "    def test_every_price_counts(self):\n        self.assertEqual(total([1, 2, 3]), 6)\n\n\n"
        'if __name__ == "__main__":\n    unittest.main()\n'
    ),
}


@dataclass(frozen=True)
class Trial:
    """What came of it."""

    result: RunResult
    seconds: float
    """From the start of the agent to the end of its turn."""
    changed: tuple[str, ...]
    """The files that are not as they were."""


async def try_agent(
    agency: Agency,
    standing: Standing,
    *,
    saw: Callable[[str], object],
    model: str | None = None,
    mode: str | None = None,
    owner: str = "",
    clock: Clock | None = None,
) -> Trial:
    """Give `REQUEST` to an agent; `saw` gets each line of its progress. At the end everything made for it is gone.

    Raises `ConfigError` (not installed), `NotFound` (no such model), `Refused` (no such mode) or `Unavailable` (it did
    not start). A cancellation stops the agent, removes everything, and is not swallowed.
    """
    clock = clock or SystemClock()
    backend = standing.backend
    if standing.missing is not None:
        raise ConfigError(f"{backend.name} cannot be tried: {standing.missing}")
    task = Task(
        id=1,
        description=REQUEST,
        status=TaskStatus.RUNNING,
        agent=backend.name,
        created_at=clock.now(),
        model=backend.model(model) if model else None,
        mode=mode_name(mode),
    )
    folder = _made()  # not in a thread: a cancellation would leave it behind
    project, data_dir = folder / "project", folder / "data"
    try:
        began_s = time.monotonic()
        runner = agency.runner(standing, agency.equipment(lambda task: project, data_dir, clock, NobodyToAsk()))
        try:
            async with asyncio.timeout(OPEN_LIMIT_S):
                session = await runner.open(task)
        except TimeoutError:
            raise Unavailable(f"{backend.name} did not start within {OPEN_LIMIT_S:.0f} seconds; try again") from None

        async def on_progress(line: str) -> None:
            saw(one_line(redact(line)))

        try:
            said = Message(1, task.id, REQUEST, MessageState.TAKEN, took_up=False, settled=False)
            prompt = turn_prompt(TurnInput(task, (), (), (said,)), remembers=False, owner=owner)
            result = await session.run(prompt, on_progress=on_progress)
        finally:
            await session.close()
        return Trial(result, time.monotonic() - began_s, await asyncio.to_thread(_changed, project))
    finally:
        # Not awaited: a second Ctrl-C must not leave the folder behind.
        reap(data_dir)
        shutil.rmtree(folder, ignore_errors=True)


def _made() -> Path:
    """A new folder, for the owner only, with the repository in it; without git the files are there all the same."""
    folder = Path(tempfile.mkdtemp(prefix="keryx-try-")).resolve()
    try:
        (folder / "data").mkdir(mode=0o700)
        (folder / "project").mkdir(mode=0o700)
        write_history(folder / "project", {"A sum": _FILES})
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, subprocess.SubprocessError):
            raise Unavailable("git could not make a repository to try the agent in; run git --version") from error
        raise
    return folder


def _changed(project: Path) -> tuple[str, ...]:
    """Which files of the project are new, gone or different; what a run of Python leaves behind does not count."""
    there = {
        str(path.relative_to(project)): path.read_bytes()
        for path in project.rglob("*")
        if path.is_file() and not {".git", "__pycache__"} & set(path.relative_to(project).parts)
    }
    before = {name: text.encode() for name, text in _FILES.items()}
    return tuple(sorted(name for name in there.keys() | before.keys() if there.get(name) != before.get(name)))
