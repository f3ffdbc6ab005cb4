"""Programs that an agent runs: bounded, and gone with everything they started."""

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from keryx.agents.programs import MAX_OUTPUT_BYTES, run_program
from keryx.agents.surroundings import small_environment

BOUND_S = 10.0

# Starts a child that ignores SIGTERM, as does the program itself, and says both process numbers.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("started", "w").write(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""

LEAVES_A_CHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("started", "w").write(str(child.pid))
print("done")
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def running(folder: Path) -> list[int]:
    """Which of the processes that wrote their number are still running."""
    numbers = [int(number) for number in (folder / "started").read_text().split()]
    _, alive = psutil.wait_procs([psutil.Process(n) for n in numbers if psutil.pid_exists(n)], timeout=0.5)
    return [process.pid for process in alive if process.status() != psutil.STATUS_ZOMBIE]


async def test_a_program_ends_with_its_code_and_what_it_wrote(tmp_path: Path):
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    ended = await run_program(python(code), cwd=tmp_path, env=small_environment(), limit_s=BOUND_S)
    assert (ended.code, ended.output.split()) == (3, ["out", "err"])


async def test_five_megabytes_without_a_newline_are_cut_to_their_end(tmp_path: Path):
    code = r"import sys; sys.stdout.buffer.write(b'\xff\x00' * 2_500_000 + b'the end')"
    ended = await run_program(python(code), cwd=tmp_path, env=small_environment(), limit_s=BOUND_S)
    assert ended.output.endswith("the end")
    assert len(ended.output) <= MAX_OUTPUT_BYTES


async def test_at_its_limit_it_is_stopped_with_its_children_though_they_ignore_it(tmp_path: Path):
    ended = await run_program(python(STUBBORN), cwd=tmp_path, env=small_environment(), limit_s=1.0)
    assert ended.code is None
    assert running(tmp_path) == []


async def test_a_child_left_behind_is_ended_with_it(tmp_path: Path):
    async with asyncio.timeout(BOUND_S):
        ended = await run_program(python(LEAVES_A_CHILD), cwd=tmp_path, env=small_environment(), limit_s=60)
    assert ended.output == "done\n"
    assert running(tmp_path) == []


async def test_a_cancellation_stops_it_and_is_not_swallowed(tmp_path: Path):
    async with asyncio.TaskGroup() as group:
        program = group.create_task(run_program(python(STUBBORN), cwd=tmp_path, env=small_environment(), limit_s=60))
        async with asyncio.timeout(BOUND_S):
            while not (tmp_path / "started").exists() or not (tmp_path / "started").read_text():
                await asyncio.wait({program}, timeout=0.02)
        program.cancel()
        await asyncio.wait({program}, timeout=BOUND_S)
        assert program.cancelled()
    assert running(tmp_path) == []


async def test_a_program_that_is_not_there_is_an_error_at_once(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        await run_program(["no-such-program"], cwd=tmp_path, env=small_environment(), limit_s=1)
