"""How an agent is seen to stand without being started."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from keryx.agency.standing import Standing, stand, version, versions
from keryx.agents.equipment import Login
from keryx.agents.registry import CLAUDE, CODEX, Backend, acp_backend

KEY = Login("API key", {"X": "sk-x"})
ABSENT = replace(CLAUDE, module="there_is_no_such_module", package="there-is-no-such-package", bundled=None)


def program(folder: Path, name: str, text: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def seen(backend: Backend, folder: Path, login: Login = KEY, own: str | None = None) -> Standing:
    return stand(backend, login, {"PATH": str(folder), "HOME": str(folder)}, program=own, model=None)


def test_one_that_is_not_installed_says_the_command_that_installs_it(tmp_path: Path) -> None:
    standing = seen(ABSENT, tmp_path)
    assert not standing.installed
    assert standing.advice == "run pip install 'keryx[claude]'"
    assert not standing.ready


@pytest.mark.parametrize("backend", [CLAUDE, CODEX])
def test_the_program_that_comes_with_the_package_is_found(backend: Backend, tmp_path: Path) -> None:
    pytest.importorskip(backend.module, reason=f"the {backend.extra} extra is not installed")
    standing = seen(backend, tmp_path)
    assert standing.ready
    assert standing.program
    assert os.path.isfile(standing.program)
    assert asyncio.run(version(standing, {})) is not None


def test_one_that_is_not_signed_in_says_how(tmp_path: Path) -> None:
    standing = replace(seen(CLAUDE, tmp_path, Login(None)), installed=True, program="/x")
    assert standing.signed_in is False
    assert standing.advice
    assert standing.advice.startswith("not signed in: run /x and type /login")


def test_a_program_of_the_owners_that_is_not_there_is_named(tmp_path: Path) -> None:
    standing = replace(seen(CODEX, tmp_path, own="codex-nightly"), installed=True)
    assert standing.program is None
    assert standing.advice == "there is no program codex-nightly; install it, or mend codex.program"


def test_an_acp_agent_is_ready_when_its_program_is_there(tmp_path: Path) -> None:
    backend = acp_backend("goose", ("goose", "acp"))
    missing = replace(seen(backend, tmp_path, Login(None)), installed=True)
    assert missing.advice == "there is no program goose; install it, or mend [acp] goose"
    path = program(tmp_path, "goose", "exit 0")
    there = replace(seen(backend, tmp_path, Login(None)), installed=True)
    assert (there.program, there.signed_in, there.ready) == (path, None, True)


async def test_a_program_of_the_owners_says_its_own_version(tmp_path: Path) -> None:
    said = program(tmp_path, "said", "echo '2.1.332 (Claude Code)'")
    failing = program(tmp_path, "failing", "echo 1.2.3; exit 1")
    silent = program(tmp_path, "silent", "while :; do read x; done < /dev/zero")
    standings = [seen(CLAUDE, tmp_path, own=path) for path in (said, failing, silent, "not-there")]
    assert await versions(standings, {"PATH": "/usr/bin:/bin"}) == ["2.1.332", None, None, None]
