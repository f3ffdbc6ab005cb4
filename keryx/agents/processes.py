"""Programs an agent runs: each in its own group, bounded in time, and gone when it ends, however it ends."""

import asyncio
import contextlib
import os
import secrets
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TERM_GRACE_S = 0.5
KILL_GRACE_S = 2.0
MAX_OUTPUT_BYTES = 200_000

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


_OWNER = "KERYX_AGENT_OF"
"""The variable that says whose program it is; everything the program starts inherits it."""


class AgentProcesses:
    """The processes of all agents of one daemon: tagged, each in its own group, and ended when their time has come."""

    def __init__(self, owner: Path) -> None:
        """`owner` is the folder of the daemon's data."""
        self._owner = owner

    def begin(self, task_id: int, environment: Mapping[str, str]) -> "AgentRun":
        """A new run of an agent for a task; nothing is started yet."""
        run_id = secrets.token_hex(8)
        tags = {_OWNER: str(self._owner), "KERYX_TASK_ID": str(task_id), "KERYX_AGENT_RUN": run_id}
        return AgentRun(run_id, {**environment, **tags})


class AgentRun:
    """One agent process and everything it starts."""

    def __init__(self, run_id: str, environment: dict[str, str]) -> None:
        self.id = run_id
        self.environment = environment
        """What every process of it gets, whole."""

    def command(self, argv: Sequence[str]) -> list[str]:
        """`argv` so that the program it starts leads its own group and, on Linux, dies with this daemon."""
        return list(argv)

    def note(self, pid: int) -> None:
        """Record a process that somebody else started by `command`."""

    async def spawn(self, argv: Sequence[str], *, cwd: Path) -> asyncio.subprocess.Process:
        """Start `argv` with three pipes, recorded. Raises `OSError` when it cannot be started."""
        process = await asyncio.create_subprocess_exec(
            *self.command(argv),
            cwd=cwd,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self.note(process.pid)
        return process

    async def end(self) -> int:
        """Kill whatever of it still runs, children in sessions of their own included; how many there were.

        Bounded; may be called twice.
        """
        return 0


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit code, None when it was stopped at its time limit, and the end of what it wrote."""

    code: int | None
    output: str


def small_environment(**extra: str) -> dict[str, str]:
    """The few variables a program needs of ours, and `extra`; no keys, and nothing that bends git or Python."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | extra


def tagged(environment: Mapping[str, str], owner: Path) -> dict[str, str]:
    """`environment` for a program of the daemon whose data are in `owner`, so that `reap` knows it again."""
    return {**environment, _OWNER: str(owner)}


def reap(owner: Path) -> int:
    """Kill what is left of the programs of a daemon that was itself killed; how many there were. Blocking.

    Only for whoever holds the lock on the data in `owner`. Nothing but the tag counts, so no stranger's process is hit
    because it has an old number. Linux only: elsewhere nobody may read another process's environment.
    """
    mark, reaped = f"{_OWNER}={owner}".encode(), 0
    for folder in Path("/proc").glob("[0-9]*"):
        # Gone by now, or somebody else's: neither is ours to end.
        with contextlib.suppress(OSError):
            descriptor = os.pidfd_open(int(folder.name))
            try:
                if int(folder.name) != os.getpid() and mark in (folder / "environ").read_bytes().split(b"\0"):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                    reaped += 1
            finally:
                os.close(descriptor)
    return reaped


async def run_program(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit_s: float) -> Ended:
    """Run `argv` to its end, at most `limit_s` seconds. Raises `OSError` when it cannot be started.

    A cancellation stops it and everything it started, and is not swallowed.
    """
    # A file, not a pipe: a grandchild that keeps a pipe open cannot hold us up.
    with tempfile.TemporaryFile() as output:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        code = None
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    code = await process.wait()
        finally:
            await _end(process)
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - MAX_OUTPUT_BYTES))
        return Ended(code, output.read().decode("utf-8", "replace"))


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the whole group: asked first if its leader still runs, then killed."""
    try:
        if process.returncode is None:
            _signal(process, signal.SIGTERM)
            await _gone(process, TERM_GRACE_S)
    finally:
        _signal(process, signal.SIGKILL)
    await _gone(process, KILL_GRACE_S)


async def _gone(process: asyncio.subprocess.Process, within_s: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    # PermissionError: on macOS a group of which only zombies are left.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
