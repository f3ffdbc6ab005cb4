"""Looking at real processes from outside, and programs that do not want to end."""

# ruff: noqa: ASYNC110 - other processes are watched from outside: looking again is the only way

import asyncio
import contextlib
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import psutil

BOUND_S = 30.0
LOOK_AGAIN_S = 0.02


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def running(pid: int) -> bool:
    """Whether the process runs; one that has ended and only waits to be asked for does not."""
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def carrying(name: str, value: str) -> set[int]:
    """The running processes that have the variable in their environment."""
    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(name) == value and running(process.pid):
                found.add(process.pid)
    return found


async def until(true: Callable[[], object]) -> None:
    """Wait for a condition; `TimeoutError` after `BOUND_S`."""
    async with asyncio.timeout(BOUND_S):
        while not true():
            await asyncio.sleep(LOOK_AGAIN_S)


@contextlib.asynccontextmanager
async def bystander(argv: Sequence[str], environment: Mapping[str, str]) -> AsyncIterator[Process]:
    """A program of nobody's that must not be hit: it runs for the block, and still at its end."""
    process = await asyncio.create_subprocess_exec(
        *argv, env=dict(environment), stdin=DEVNULL, stdout=PIPE, start_new_session=True
    )
    try:
        # For a moment after its start it shows no environment.
        await until(lambda: environment.items() <= psutil.Process(process.pid).environ().items())
        yield process
        assert running(process.pid), "a bystander was hit"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()
