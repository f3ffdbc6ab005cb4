"""`keryx agents` in a process of its own with a private home; the real agents with a scripted model."""

import importlib.util
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.cli.conftest import Keryx, Ran
from tests.support.acp_agent import Traits
from tests.support.acp_server import acp_model
from tests.support.anthropic_server import (
    CACHE_READ_TOKENS,
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    AnthropicServer,
    anthropic_server,
)
from tests.support.model_steps import Refuse, Run, Say
from tests.support.responses_server import ResponsesServer, responses_server

KEY = "sk-ant-scripted-0123456789"
MENDED = Say("I counted every price.\n\nSPOKEN_SUMMARY: The test passes now; the first price was left out.")
MEND = Run("sed -i.old 's/prices\\[1:\\]/prices/' total.py && rm total.py.old")
ACME = Path(__file__).parent.parent / "support" / "acp_agent.py"

with_claude = pytest.mark.skipif(
    importlib.util.find_spec("claude_agent_sdk") is None, reason="Claude Code is not installed"
)
with_codex = pytest.mark.skipif(importlib.util.find_spec("codex_cli_bin") is None, reason="Codex is not installed")
with_acp = pytest.mark.skipif(importlib.util.find_spec("acp") is None, reason="the acp extra is not installed")


@pytest.fixture(autouse=True)
def machine(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with nobody's login in it, and a folder for what is thrown away."""
    for name in os.environ:
        if name.startswith(("ANTHROPIC_", "CLAUDE", "CODEX_", "OPENAI_", "AWS_")):
            monkeypatch.delenv(name)
    for name in ("user", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "1")
    return tmp_path / "user"


@pytest.fixture
def left_behind(tmp_path: Path) -> Iterator[Path]:
    """Where throw-away repositories are made; none may be there at the end."""
    yield tmp_path / "tmp"
    assert not list((tmp_path / "tmp").glob("keryx-*"))


def scripted(monkeypatch: pytest.MonkeyPatch, server: AnthropicServer) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("KERYX_CLAUDE__API_KEY", KEY)


def provided(machine: Path, server: ResponsesServer, more: str = "") -> None:
    """Have Codex work with the scripted model, as an owner's own settings would."""
    (machine / ".codex").mkdir()
    (machine / ".codex" / "config.toml").write_text(
        'model_provider = "scripted"\ncheck_for_update_on_startup = false\n'
        f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{server.url}"\nwire_api = "responses"\n{more}'
    )


def ended(ran: Ran) -> dict:
    event = json.loads(ran.out.splitlines()[-1])
    assert event["type"] == "ended"
    return event


# -- the list --------------------------------------------------------------------------------------------------------


async def test_the_list_says_of_each_what_to_do(keryx: Keryx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERYX_ACP__GOOSE", "goose-not-there acp")
    ran = await keryx("agents")
    assert (ran.code, ran.err) == (0, "")
    rows = {line.split("\t")[0].rstrip("*"): line.split("\t") for line in ran.out.splitlines()}
    assert list(rows) == ["claude", "codex", "goose"]
    for name, cells in rows.items():
        assert len(cells) == 6
        assert cells[-1].startswith(("run pip install", "not signed in: ", "there is no program")), name


@with_claude
async def test_the_list_for_scripts_holds_how_and_never_what(keryx: Keryx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERYX_CLAUDE__AUTH_TOKEN", "oat-secret-0123456789")
    monkeypatch.setenv("KERYX_CLAUDE__MODEL", "Opus")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-voice-0123456789")
    ran = await keryx("agents", "--json")
    assert "0123456789" not in ran.out
    claude, codex = json.loads(ran.out)
    assert (claude["name"], claude["installed"], claude["signed_in"]) == ("claude", True, True)
    assert (claude["how"], claude["model"], claude["default"]) == ("headless token", "opus", True)
    assert (claude["ready"], claude["to_do"]) == (True, None)
    assert claude["version"]
    assert claude["program"].endswith("claude")
    assert (codex["signed_in"], codex["how"], codex["default"]) == (False, None, False)


@with_claude
async def test_a_stored_login_is_seen(keryx: Keryx, machine: Path) -> None:
    (machine / ".claude").mkdir()
    (machine / ".claude" / ".credentials.json").write_text('{"claudeAiOauth": {"accessToken": "stored-0123456789"}}')
    ran = await keryx("agents", "--json")
    assert json.loads(ran.out)[0]["how"] == "stored login"
    assert "0123456789" not in ran.out


async def test_a_program_that_never_answers_does_not_hold_the_list_up(
    keryx: Keryx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "stuck"
    program.write_text("#!/bin/sh\nread forever < /dev/tty || while :; do :; done\n")
    program.chmod(0o755)
    monkeypatch.setenv("KERYX_CODEX__PROGRAM", str(program))
    began_s = time.monotonic()
    codex = json.loads((await keryx("agents", "--json")).out)[1]
    assert time.monotonic() - began_s < 10
    assert (codex["program"], codex["version"]) == (str(program), None)


async def test_a_wrong_setting_is_one_line(keryx: Keryx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERYX_ACP__CODEX", "codex acp")
    ran = await keryx("agents")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("keryx: acp.codex is wrong (codex is already an agent of its own)")


# -- one real task ---------------------------------------------------------------------------------------------------


@with_claude
async def test_claude_is_tried_and_what_it_says_and_costs_is_printed(
    keryx: Keryx, left_behind: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with anthropic_server() as server:
        scripted(monkeypatch, server)
        server.script(MEND, MENDED)
        ran = await keryx("agents", "try", "Claude", "--model", "opus")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("Claude: The test in test_total.py fails.")
    assert any(line.startswith("  ") and "sed" in line for line in lines)
    assert "Spoken: The test passes now; the first price was left out." in lines
    assert "Changed: total.py" in lines
    read, cached, written = 2 * INPUT_TOKENS, 2 * CACHE_READ_TOKENS, 2 * OUTPUT_TOKENS
    assert f"Tokens: {read:,} in, {cached:,} of them cached; {written} out" in lines
    assert any(line.startswith("Cost: $0.") for line in lines)
    assert "opus" in server.requests[0]["model"]


@with_codex
async def test_codex_is_tried_with_a_provider_of_its_own(
    keryx: Keryx, left_behind: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with responses_server() as server:
        provided(machine, server)
        assert json.loads((await keryx("agents", "--json")).out)[1]["how"] == "its own provider"
        server.script(MEND, MENDED)
        ran = await keryx("agents", "try", "codex", "--json", "--mode", "full", "--model", "gpt 5.5")
    assert ran.code == 0
    event = ended(ran)
    assert (event["ok"], event["changed"]) == (True, ["total.py"])
    assert event["spoken"] == "The test passes now; the first price was left out."
    assert event["output_tokens"] == 100
    assert server.requests[0]["model"] == "gpt-5.5"


@with_acp
async def test_an_acp_agent_of_the_owners_is_tried(
    keryx: Keryx, left_behind: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with acp_model() as server:
        monkeypatch.setenv("KERYX_ACP__ACME", f"'{sys.executable}' '{ACME}'")
        monkeypatch.setenv("ACP_AGENT", json.dumps(asdict(Traits(model=server.url, home=str(machine)))))
        server.script(MEND, MENDED)
        ran = await keryx("agents", "try", "acme", "--json")
    assert ran.code == 0
    assert ended(ran)["changed"] == ["total.py"]


@with_claude
@pytest.mark.parametrize(
    ("status", "message", "model", "says"),
    [
        (404, "model: claude-nowhere-9", "claude-nowhere-9", "Claude doesn't know that model."),
        (401, "invalid x-api-key", None, "Claude isn't signed in"),
        (429, "This request would exceed your account's rate limit.", None, "Claude"),
    ],
)
async def test_what_the_provider_refuses_is_a_sentence(
    keryx: Keryx,
    left_behind: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    message: str,
    model: str | None,
    says: str,
) -> None:
    async with anthropic_server() as server:
        scripted(monkeypatch, server)
        server.script(*[Refuse(status, message)] * 12)
        ran = await keryx("agents", "try", "claude", "--json", *(["--model", model] if model else []))
    assert ran.code == 1
    event = ended(ran)
    assert not event["ok"]
    assert event["error"]
    assert event["spoken"].startswith(says)
    assert KEY not in ran.out


@with_codex
@pytest.mark.parametrize(
    ("status", "message", "settings", "says"),
    [
        (
            404,
            "The model `gpt-nowhere-9` does not exist or you do not have access to it.",
            "",
            "Codex doesn't know that",
        ),
        (401, "Missing bearer authentication", "requires_openai_auth = true\n", "Codex isn't signed in"),
    ],
)
async def test_what_codex_is_refused_is_a_sentence(
    keryx: Keryx, left_behind: Path, machine: Path, status: int, message: str, settings: str, says: str
) -> None:
    async with responses_server() as server:
        provided(machine, server, settings)
        server.script(*[Refuse(status, message)] * 12)
        ran = await keryx("agents", "try", "codex", "--json", "--model", "gpt-nowhere-9")
    assert ran.code == 1
    event = ended(ran)
    assert event["spoken"].startswith(says), event
    assert (event["to_do"] is not None) == bool(settings)


@with_claude
async def test_a_provider_that_cannot_be_reached_is_a_sentence(
    keryx: Keryx, left_behind: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("KERYX_CLAUDE__API_KEY", KEY)
    ran = await keryx("agents", "try", "claude")
    assert ran.code == 1
    assert "Spoken: Claude couldn't reach its provider." in ran.out


@with_claude
async def test_without_any_credential_it_says_how_to_sign_in(keryx: Keryx, left_behind: Path) -> None:
    ran = await keryx("agents", "try", "claude")
    assert ran.code == 1
    assert "Spoken: Claude isn't signed in on your machine." in ran.out
    assert "To do: not signed in: run /" in ran.out  # the whole path: it is on nobody's PATH
    assert "/claude and type /login" in ran.out


@pytest.mark.parametrize(
    ("name", "environment", "says"),
    [
        ("cursor", {}, 'no agent "cursor"; there is claude, codex'),
        ("claude", {"KERYX_CLAUDE__PROGRAM": "not-on-path"}, "claude cannot be tried: there is no program not-on-path"),
        ("goose", {"KERYX_ACP__GOOSE": "goose-not-there acp"}, "goose cannot be tried: there is no program"),
    ],
)
async def test_one_that_cannot_be_started_is_one_line(
    keryx: Keryx, left_behind: Path, monkeypatch: pytest.MonkeyPatch, name: str, environment: dict[str, str], says: str
) -> None:
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    ran = await keryx("agents", "try", name)
    assert ran.code == 1
    assert ran.err.startswith(f"keryx: {says}")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--model", "the big one", 'claude has no model "the big one"; it knows opus'),
        ("--mode", "wild", "there is no mode 'wild'; the modes are plan, ask, auto, full"),
    ],
)
@with_claude
async def test_a_model_or_mode_that_there_is_not_is_one_line(
    keryx: Keryx, left_behind: Path, option: str, value: str, says: str
) -> None:
    ran = await keryx("agents", "try", "claude", option, value)
    assert ran.code == 1
    assert ran.err.startswith(f"keryx: {says}")


@with_claude
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_ctrl_c_and_its_like_stop_it_and_leave_nothing_behind(
    keryx: Keryx, left_behind: Path, monkeypatch: pytest.MonkeyPatch, by: signal.Signals
) -> None:
    async with anthropic_server() as server:
        scripted(monkeypatch, server)
        server.script(Run("echo $PPID; sleep 998"))
        line = "  Running echo $PPID; sleep 998"
        ran = await keryx("agents", "try", "claude", interrupt_on=line, interrupt_by=by)
    assert ran.code == 1
    assert ran.err == "keryx: stopped; nothing of it is left\n"
    assert "Spoken" not in ran.out
    assert not [name for name in commands() if "sleep 998" in name or str(left_behind) in name]


def commands() -> list[str]:
    """The command lines of everything that runs here."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found
