"""Programs that are run to their end: each in its own group, bounded in time, and gone with what it started."""

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TERM_GRACE_S = 0.5
KILL_GRACE_S = 2.0
MAX_OUTPUT_BYTES = 200_000


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit code, None when it was stopped at its time limit, and the end of what it wrote."""

    code: int | None
    output: str


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
