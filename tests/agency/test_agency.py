"""Which agents there are, which one is the default, and what each is handed."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keryx.agency.agency import NO_AGENT, Agency, mcp_server
from keryx.agency.standing import Standing
from keryx.agents.approver import NobodyToAsk
from keryx.agents.equipment import Login, McpServer, Patience
from keryx.approvals.modes import ModeApprover
from keryx.clock import VirtualClock
from keryx.config.settings import Settings
from keryx.errors import ConfigError, NotFound


def agency(home: Path, settings: Mapping[str, Any] | None = None, **environ: str) -> Agency:
    return Agency(Settings.model_validate(settings or {}), {"HOME": str(home), "PATH": os.defpath, **environ})


def offered(agency: Agency, **how: str | None) -> list[Standing]:
    """The agents named, installed and with their program, signed in as said."""
    return [
        replace(agency.standing(agency.backend(name)), installed=True, program="/x", login=Login(said))
        for name, said in how.items()
    ]


def test_every_acp_agent_of_the_settings_is_known(tmp_path: Path) -> None:
    there = agency(tmp_path, {"acp": {"opencode": "opencode acp --cwd 'my files'"}})
    assert [backend.name for backend in there.backends] == ["claude", "codex", "opencode"]
    assert there.backend("Claude  Code").name == "claude"
    assert there.backend("opencode").program == "opencode"
    with pytest.raises(NotFound, match='no agent "cursor"; there is claude, codex, opencode'):
        there.backend("cursor")


def test_without_a_setting_the_first_that_is_ready_is_the_default(tmp_path: Path) -> None:
    there = agency(tmp_path)
    assert there.default(offered(there, claude="API key", codex="API key")) == "claude"
    assert there.default(offered(there, claude=None, codex="API key")) == "codex"
    assert there.default(offered(there, claude=None, codex=None)) == "claude"


def test_without_any_agent_there_is_one_command_that_installs_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        agency(tmp_path).default([])
    assert str(error.value) == NO_AGENT
    assert "pip install 'keryx[claude]'" in NO_AGENT


def test_the_default_of_the_settings_stands_also_when_it_is_not_signed_in(tmp_path: Path) -> None:
    there = agency(tmp_path, {"agents": {"default": "codex"}})
    assert there.default(offered(there, claude="API key", codex=None)) == "codex"
    with pytest.raises(ConfigError, match=r"\"codex\", which is not installed; run pip install 'keryx\[codex\]'"):
        there.default(offered(there, claude="API key"))


def test_a_default_that_nobody_knows_is_one_line_with_the_known_ones(tmp_path: Path) -> None:
    there = agency(tmp_path, {"agents": {"default": "cursor"}, "acp": {"goose": "goose acp"}})
    with pytest.raises(ConfigError, match="no such agent; there is claude, codex, goose, fake; one that speaks ACP"):
        there.default(offered(there, claude="API key"))


def test_each_agent_gets_its_own_login_program_and_model(tmp_path: Path) -> None:
    there = agency(
        tmp_path,
        {
            "claude": {"model": "Claude Opus", "api_key": "sk-a", "program": "/opt/claude"},
            "codex": {"model": "gpt 5.5", "api_key": "sk-o"},
        },
        OPENAI_API_KEY="sk-voice",
        GH_TOKEN="ghp-x",
    )
    claude, codex = there.standings()
    assert (claude.model, claude.own_program) == ("opus", "/opt/claude")
    assert claude.login.variables == {"ANTHROPIC_API_KEY": "sk-a"}
    assert (codex.model, codex.own_program) == ("gpt-5.5", None)
    assert codex.login.variables == {"CODEX_API_KEY": "sk-o"}
    assert not {"OPENAI_API_KEY", "GH_TOKEN"} & there.environment.keys()


def test_the_owner_may_name_a_model_that_nobody_here_knows(tmp_path: Path) -> None:
    claude, _ = agency(tmp_path, {"claude": {"model": "mythic"}}).standings()
    assert claude.model == "mythic"


def test_all_agents_have_servers_patience_and_surroundings_in_common(tmp_path: Path) -> None:
    there = agency(
        tmp_path,
        {
            "agents": {"idle_minutes": 2, "deadline_hours": 0.5, "pass_environment": "GH_TOKEN"},
            "mcp": {"notes": "https://notes.example/mcp", "files": "A_TOKEN='x y' ROOT=/srv npx files --all"},
        },
        GH_TOKEN="ghp-x",
        NPM_TOKEN="npm-x",
    )
    common = there.equipment(lambda task: tmp_path, tmp_path / "data", VirtualClock(), NobodyToAsk())
    assert isinstance(common.approver, ModeApprover)
    assert common.patience == Patience(120, 1800)
    assert common.environment["GH_TOKEN"] == "ghp-x"
    assert "NPM_TOKEN" not in common.environment
    assert common.mcp_servers(tmp_path) == {
        "notes": McpServer(url="https://notes.example/mcp"),
        "files": McpServer(("npx", "files", "--all"), environment={"A_TOKEN": "x y", "ROOT": "/srv"}),
    }


def test_a_word_with_an_equals_sign_after_the_command_is_an_argument() -> None:
    assert mcp_server("A=1 npx B=2") == McpServer(("npx", "B=2"), environment={"A": "1"})
