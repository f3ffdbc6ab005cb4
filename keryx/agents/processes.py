"""The processes of agents: tagged, each in its own session, dying with the daemon, recorded, and ended for certain.

What ends them, one behind the other: the adapter asks the agent; `AgentRun.end` kills what is left; on Linux the kernel
kills the agent itself the moment the daemon dies; the next daemon's `reap` kills what that left.
"""

import asyncio
import contextlib
import json
import logging
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from keryx.agents.process_table import Known, began, carries, end_all, lives_in
from keryx.private import write_private

__all__ = ["TAGS", "AgentProcesses", "AgentRun", "reap", "tagged"]

TERM_GRACE_S = 0.5
KILL_LIMIT_S = 2.0
REAP_LIMIT_S = 5.0
PROBE_LIMIT_S = 5.0

_OWNER = "KERYX_AGENT_OF"
"""The variable that says whose program it is; everything the program starts inherits it."""
_TASK = "KERYX_TASK_ID"
_RUN = "KERYX_AGENT_RUN"
TAGS = (_OWNER, _TASK, _RUN)
"""The variables by which every program that an agent starts is known."""

_FOLDER = "agent-processes"
_RECORD = ".json"

# A daemon that died before the kernel was asked to tell of its death is noticed here: the parent is another by then.
_GUARD = '[ "$PPID" = "$0" ] || exit 143; exec "$@"'

log = logging.getLogger(__name__)


class AgentProcesses:
    """The processes of all agents of one daemon: tagged, each in its own session, and ended when their time is up."""

    def __init__(self, owner: Path) -> None:
        """`owner` is the folder of the daemon's data. Blocks for a few milliseconds."""
        self._owner = owner
        self._dying = _dying()

    def begin(self, task_id: int, environment: Mapping[str, str]) -> "AgentRun":
        """A new run of an agent for a task; nothing is started yet.

        Tags in `environment` are replaced: those of a daemon that was itself started by an agent are not handed on.
        """
        run_id = secrets.token_hex(8)
        tags = {_OWNER: str(self._owner), _TASK: str(task_id), _RUN: run_id}
        return AgentRun(run_id, {**environment, **tags}, self._owner / _FOLDER, self._dying)


class AgentRun:
    """One agent process and everything it starts."""

    def __init__(self, run_id: str, environment: dict[str, str], records: Path, dying: Sequence[str]) -> None:
        self.id = run_id
        self.environment = environment
        """What every process of it gets, whole."""
        self._records = records
        self._dying = tuple(dying)
        self._noted: list[Known] = []
        self._spawned: list[asyncio.subprocess.Process] = []

    @property
    def tags(self) -> dict[str, str]:
        """What a program of it has to get that is handed no environment but its own."""
        return {name: self.environment[name] for name in TAGS}

    def command(self, argv: Sequence[str]) -> list[str]:
        """`argv` so that on Linux the program dies with this daemon; to be started as leader of its own session.

        It must be started from the main thread: the kernel tells of the death of the thread that started a process.
        """
        return [*self._dying, *argv]

    def note(self, pid: int) -> None:
        """Record a process that somebody else started by `command`, for the next daemon to find."""
        start = began(pid)
        if start is None:
            return
        self._noted.append(Known(pid, start))
        record = {"pid": pid, "began": start, "task": self.environment[_TASK], "run": self.id}
        try:
            write_private(self._record(pid), json.dumps(record))
        except OSError as error:
            # A full disk does not stop the agent: its tag is a record too.
            log.warning("agent process not recorded", extra={"error": type(error).__name__})

    async def spawn(self, argv: Sequence[str], *, cwd: Path) -> asyncio.subprocess.Process:
        """Start `argv` with three pipes, recorded. Raises `OSError` when it cannot be started.

        Only from the main thread. A cancellation may leave it started; `end` finds it.
        """
        assert threading.current_thread() is threading.main_thread(), "it would die with this thread"
        program = shutil.which(argv[0], path=self.environment.get("PATH", os.defpath))
        if program is None:
            # What is put before it would start, and only then not find it.
            raise FileNotFoundError(f"{argv[0]} is not there or cannot be executed")
        process = await asyncio.create_subprocess_exec(
            *self.command([program, *argv[1:]]),
            cwd=cwd,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._spawned.append(process)
        self.note(process.pid)
        return process

    async def end(self) -> int:
        """End whatever of it still runs, children in sessions of their own included; how many there were.

        Asked first, then killed. Bounded by `TERM_GRACE_S` + `KILL_LIMIT_S`; may be called twice. A cancellation ends
        the wait, not the killing.
        """
        ended = await asyncio.to_thread(self._end)
        for process in self._spawned:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(KILL_LIMIT_S):
                    await process.wait()
            # asyncio hands out no other way to close the pipes, and what nobody reads would keep them open.
            getattr(process, "_transport").close()  # noqa: B009 - it is private
        return ended

    def _end(self) -> int:
        mark = carries(f"{_RUN}={self.id}")
        ended = end_all(mark, self._noted, grace_s=TERM_GRACE_S, limit_s=KILL_LIMIT_S)
        for known in self._noted:
            if began(known.pid) != known.began:
                _forget(self._record(known.pid))
        return ended

    def _record(self, pid: int) -> Path:
        return self._records / f"{self.id}-{pid}{_RECORD}"


def tagged(environment: Mapping[str, str], owner: Path) -> dict[str, str]:
    """`environment` for a program of the daemon whose data are in `owner`, so that `reap` knows it again."""
    return {**environment, _OWNER: str(owner)}


def reap(owner: Path) -> int:
    """Kill what is left of the agents of a daemon that was itself killed; how many there were. Blocking, bounded.

    Only for whoever holds the lock on the data in `owner`. A process counts by its tag, or by a record that names its
    number and its start, so no stranger is hit because it has an old number. Neither this process nor those it comes
    from are hit, though an agent of this daemon may have started it. Elsewhere than on Linux only the records count.
    """
    tag, here = carries(f"{_OWNER}={owner}"), lives_in(owner)
    records = list((owner / _FOLDER).glob(f"*{_RECORD}"))
    noted = [known for record in records if (known := _read(record))]
    ended = end_all(lambda pid: tag(pid) and here(pid), noted, grace_s=0, limit_s=REAP_LIMIT_S)
    for record in records:
        _forget(record)
    return ended


def _read(record: Path) -> Known | None:
    """The process that a record names; None when the record is torn."""
    try:
        match json.loads(record.read_bytes()):
            case {"pid": int(pid), "began": str(start)}:
                return Known(pid, start)
    except (OSError, ValueError, RecursionError):
        pass
    return None


def _forget(record: Path) -> None:
    with contextlib.suppress(OSError):  # read again at the next start, and nothing runs by it then
        record.unlink()


def _dying() -> tuple[str, ...]:
    """What is put before a program so that it dies with this process; nothing where there is no tool for it.

    setpriv is part of util-linux; the one of busybox does not know the option. Without it, `reap` is what protects.
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    if setpriv is None:
        return ()
    prefix = (setpriv, "--pdeathsig", "KILL", "/bin/sh", "-c", _GUARD, str(os.getpid()))
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run([*prefix, "true"], capture_output=True, timeout=PROBE_LIMIT_S, check=True)
        return prefix
    log.warning("agents will not die with this daemon: setpriv cannot do it")
    return ()
