"""A served house that the command line finds, and the command line as a program of its own."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from keryx.config.daemon import DaemonPointer, announce
from keryx.config.places import places
from tests.server.house import KEY, House, open_house, serving

RUN_LIMIT_S = 60.0


@dataclass(frozen=True)
class Ran:
    """How one run of `keryx` ended."""

    code: int
    out: str
    err: str


Keryx = Callable[..., Awaitable[Ran]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`KERYX_HOME` for this test."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("KERYX_HOME", str(folder))
    return folder


@pytest.fixture
async def house(home: Path) -> AsyncIterator[House]:
    async with open_house(home) as house:
        yield house


@pytest.fixture
async def daemon(house: House) -> AsyncIterator[DaemonPointer]:
    """The house served, and announced as a daemon announces itself."""
    async with serving(house) as url:
        pointer = DaemonPointer(url, KEY)
        announce(places(), pointer)
        yield pointer


@pytest.fixture
def keryx(home: Path, keryx_anywhere: Keryx) -> Keryx:
    """The `keryx` command with this test's `KERYX_HOME`."""
    return keryx_anywhere


@pytest.fixture
def keryx_anywhere() -> Keryx:
    """Run the `keryx` command to its end, with `typed` as its standard input; `saw` gets each line it prints.

    `typed` None leaves standard input open; `interrupt_on` is a line at which Ctrl-C is pressed, or
    `interrupt_by` is sent.
    """

    async def run(
        *arguments: str,
        typed: str | None = "",
        saw: Callable[[str], object] = len,
        interrupt_on: str | None = None,
        interrupt_by: signal.Signals = signal.SIGINT,
    ) -> Ran:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "keryx",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ,
        )
        assert process.stdin
        assert process.stdout
        assert process.stderr
        if typed is not None:
            process.stdin.write(typed.encode())
            process.stdin.close()
        out: list[str] = []
        try:
            async with asyncio.timeout(RUN_LIMIT_S), asyncio.TaskGroup() as group:
                err = group.create_task(process.stderr.read())
                async for line in process.stdout:
                    out.append(line.decode())
                    saw(out[-1].rstrip("\n"))
                    if out[-1].rstrip("\n") == interrupt_on:
                        process.send_signal(interrupt_by)
            code = await process.wait()
        except BaseException:
            process.kill()
            await process.wait()
            raise
        return Ran(code, "".join(out), err.result().decode())

    return run
