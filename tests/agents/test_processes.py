"""Agents' processes: started so that they end with the daemon, recorded, and ended with everything they started."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from keryx.agents.processes import AgentProcesses
from keryx.agents.surroundings import small_environment

BOUND_S = 15.0

# Prints what it was started with, and where it stands.
SAY_ALL = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ), os.getpid(), os.getsid(0)]))"


@pytest.mark.parametrize("program", ["agent", 'an agent\'s $(touch hit) "программа"'])
async def test_a_launched_program_gets_its_arguments_and_none_of_the_daemons_own_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("BASH_FUNC_x%%", "() { touch hit; }")
    path = tmp_path / program
    path.write_text(f"#!{sys.executable}\n{SAY_ALL}\n")
    path.chmod(0o700)
    run = AgentProcesses(tmp_path / "a house").begin(7, small_environment(LOGIN="mine"))
    launcher = run.launcher(str(path))
    # As an SDK would: without a session of its own, and with our own environment put first.
    process = await asyncio.create_subprocess_exec(
        launcher, "", "two words", "$HOME", "-c", cwd=tmp_path, env=os.environ | run.environment, stdout=PIPE
    )
    out, _ = await process.communicate()
    arguments, environment, pid, leader = json.loads(out)
    assert process.returncode == 0
    assert arguments == ["", "two words", "$HOME", "-c"]
    assert (environment["LOGIN"], environment["KERYX_TASK_ID"]) == ("mine", "7")
    assert "SOME_API_KEY" not in environment
    assert {name for name in environment if name.startswith("KERYX")} == {
        "KERYX_AGENT_OF",
        "KERYX_AGENT_RUN",
        "KERYX_TASK_ID",
    }
    assert pid == leader == process.pid
    assert not (tmp_path / "hit").exists()
    assert run.launcher("other") == launcher, "one file for all"
    assert launcher.stat().st_mode & 0o777 == 0o700
    assert launcher.parent.stat().st_mode & 0o777 == 0o700
