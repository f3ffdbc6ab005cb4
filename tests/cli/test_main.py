"""The edge of the command line: one line on standard error, the right exit code, nothing heavy for the help."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from keryx.cli.main import execute

KERYX = [sys.executable, "-m", "keryx"]
HELP_LIMIT_S = 0.4


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERYX_HOME", str(tmp_path))


def test_the_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--version"]) == 0
    assert capsys.readouterr().out == f"keryx {version('keryx')}\n"


@pytest.mark.parametrize(
    "command", [[], ["serve"], ["call"], ["tasks"], ["tasks", "list"], ["tasks", "follow"], ["understand"]]
)
def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert execute([*command, "--help"]) == 0
    assert "Usage: keryx" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense"], "No such command 'nonsense'; see keryx --help"),
        (["serve", "--nonsense"], "see keryx serve --help"),
        (["serve", "--port", "http"], "see keryx serve --help"),
        (["serve", "--port", "65536"], "see keryx serve --help"),
        (["call", "--say", "hello", "--type"], "take one of --say, --wav and --type"),
        (["tasks", "show", "four"], "see keryx tasks show --help"),
        (["tasks", "cancel", "0"], "see keryx tasks cancel --help"),
        (["tasks", "list", "--status", "gone"], "'gone' is not one of queued, running, done, failed, cancelled"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert execute(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("keryx: ")
    assert says in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["call", "--say", "hello"],
        ["call", "--type"],
        ["tasks", "list"],
        ["tasks", "show", "1"],
        ["tasks", "follow", "1"],
        ["tasks", "cancel", "1", "--json"],
    ],
)
def test_without_a_daemon_every_command_says_how_to_start_one(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert execute(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "keryx: No daemon is running. Start one with: keryx serve --demo\n"


def test_a_wrong_setting_is_one_line_and_exit_code_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERYX_SERVER__PORT", "http")
    assert execute(["serve"]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("keryx: server.port is 'http'; allowed: a whole number")
    assert printed.count("\n") == 1


def test_a_wrong_host_on_the_command_line_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["serve", "--host", "not a host"]) == 1
    assert capsys.readouterr().err.startswith("keryx: --host is 'not a host'; allowed: an IP address")


def test_debug_shows_where_an_error_came_from() -> None:
    outcome = subprocess.run(
        [*KERYX, "--debug", "tasks", "list"], capture_output=True, text=True, timeout=30, check=False
    )
    assert outcome.returncode == 1
    assert "Traceback" in outcome.stderr


@pytest.mark.parametrize("command", [[], ["tasks"]])
def test_a_command_that_is_not_finished_explains_itself(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert execute(command) == 2
    printed = capsys.readouterr()
    assert "Usage: keryx" in printed.err
    assert printed.out == ""


@pytest.mark.parametrize("setting", [{}, {"NO_COLOR": "1", "FORCE_COLOR": ""}])
def test_what_is_piped_has_no_colour_codes(setting: dict[str, str]) -> None:
    environ = {key: value for key, value in os.environ.items() if key != "FORCE_COLOR"} | setting
    for arguments in (["--help"], ["nonsense"]):
        outcome = subprocess.run(
            [*KERYX, *arguments], capture_output=True, text=True, env=environ, timeout=30, check=False
        )
        assert "\x1b" not in outcome.stdout + outcome.stderr


def test_help_is_there_in_the_blink_of_an_eye() -> None:
    took_s = []
    for _ in range(5):
        before = os.times()
        subprocess.run([*KERYX, "--help"], capture_output=True, timeout=30, check=True)
        after = os.times()
        took_s.append(after.children_user + after.children_system - before.children_user - before.children_system)
    # Processor time and the least of five: what the program needs, not what else the machine was doing.
    assert min(took_s) <= HELP_LIMIT_S
