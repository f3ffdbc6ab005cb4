"""Which credential an agent gets, and which it must not see."""

import json
import sys
from pathlib import Path

import pytest

from keryx.agents.credentials import claude_login, codex_login
from keryx.agents.registry import CLAUDE, CODEX, acp_backend

CLAUDE_VARIABLES = {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}


def home(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder)}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "environ", "how", "variables"),
    [
        ({"api_key": "a", "auth_token": "t"}, {}, "API key", {"ANTHROPIC_API_KEY": "a"}),
        ({"auth_token": "t"}, {}, "headless token", {"CLAUDE_CODE_OAUTH_TOKEN": "t"}),
        ({}, {"ANTHROPIC_API_KEY": "e", "CLAUDE_CODE_OAUTH_TOKEN": "x"}, "API key", {"ANTHROPIC_API_KEY": "e"}),
        ({}, {"ANTHROPIC_AUTH_TOKEN": "e"}, "gateway token", {"ANTHROPIC_AUTH_TOKEN": "e"}),
        # A key that happens to lie in the environment does not spend money where the owner set a subscription's token.
        ({"auth_token": "t"}, {"ANTHROPIC_API_KEY": "e"}, "headless token", {"CLAUDE_CODE_OAUTH_TOKEN": "t"}),
        ({"api_key": None}, {"ANTHROPIC_API_KEY": ""}, None, {}),
    ],
)
def test_the_first_credential_there_is_goes_into_its_variable_and_the_others_are_blanked(
    tmp_path: Path, given: dict, environ: dict, how: str | None, variables: dict
) -> None:
    login = CLAUDE.credentials.login(given, environ | home(tmp_path))
    assert login.how == how
    assert login.variables == variables
    assert login.blank >= CLAUDE_VARIABLES - variables.keys()
    assert not login.blank & variables.keys()
    assert set(login.secrets) == set(variables.values())


def test_the_voices_key_is_never_lent_to_codex(tmp_path: Path) -> None:
    login = CODEX.credentials.login({}, {"OPENAI_API_KEY": "sk-voice"} | home(tmp_path))
    assert login.how is None
    assert "OPENAI_API_KEY" in login.blank
    login = CODEX.credentials.login({"api_key": "sk-own"}, {"OPENAI_API_KEY": "sk-voice"} | home(tmp_path))
    assert login.variables == {"CODEX_API_KEY": "sk-own"}
    assert "OPENAI_API_KEY" in login.blank


def test_a_stored_login_counts_only_without_a_credential_of_ours(tmp_path: Path) -> None:
    write(tmp_path / ".claude" / ".credentials.json", json.dumps({"claudeAiOauth": {"accessToken": "stored-token"}}))
    login = CLAUDE.credentials.login({}, home(tmp_path))
    assert (login.how, login.variables) == ("stored login", {})
    assert login.blank >= CLAUDE_VARIABLES
    assert CLAUDE.credentials.login({"api_key": "a"}, home(tmp_path)).how == "API key"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"claudeAiOauth": {}}', '{"claudeAiOauth": 5}', "[" * 100_000]
)
def test_a_file_that_holds_no_login_is_none(tmp_path: Path, text: str) -> None:
    write(tmp_path / ".claude" / ".credentials.json", text)
    write(tmp_path / ".codex" / "auth.json", text)
    write(tmp_path / ".codex" / "config.toml", text)
    assert claude_login(home(tmp_path)) is None
    assert codex_login(home(tmp_path)) is None


def test_claude_is_signed_in_where_its_folder_or_a_cloud_says_so(tmp_path: Path) -> None:
    write(tmp_path / "other" / ".credentials.json", json.dumps({"claudeAiOauth": {"accessToken": "t"}}))
    assert claude_login(home(tmp_path)) is None
    assert claude_login(home(tmp_path) | {"CLAUDE_CONFIG_DIR": str(tmp_path / "other")}) == "stored login"
    assert claude_login(home(tmp_path) | {"CLAUDE_CODE_USE_BEDROCK": "1"}) == "Amazon Bedrock"
    assert claude_login(home(tmp_path) | {"CLAUDE_CODE_USE_VERTEX": "false"}) is None


def test_a_mac_keeps_the_login_itself_in_its_keychain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / ".claude.json", json.dumps({"oauthAccount": {"emailAddress": "ada@example.org"}}))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert claude_login(home(tmp_path)) == "stored login"
    monkeypatch.setattr(sys, "platform", "linux")
    assert claude_login(home(tmp_path)) is None


@pytest.mark.parametrize(
    ("file", "text", "how"),
    [
        ("auth.json", '{"OPENAI_API_KEY": null, "tokens": {"access_token": "t"}}', "stored login"),
        ("auth.json", '{"OPENAI_API_KEY": "sk-stored"}', "stored login"),
        ("auth.json", '{"OPENAI_API_KEY": null, "tokens": null}', None),
        ("config.toml", 'model_provider = "own"\n[model_providers.own]\nbase_url = "http://x"', "its own provider"),
        ("config.toml", 'model_provider = "own"\n[model_providers.own]\nrequires_openai_auth = true', None),
        ("config.toml", 'model_provider = "other"\n[model_providers.own]\nbase_url = "http://x"', None),
        ("config.toml", 'cli_auth_credentials_store = "keyring"', "stored login"),
    ],
)
def test_codex_is_signed_in_by_its_file_or_needs_no_login(
    tmp_path: Path, file: str, text: str, how: str | None
) -> None:
    write(tmp_path / "codex" / file, text)
    assert codex_login(home(tmp_path) | {"CODEX_HOME": str(tmp_path / "codex")}) == how


def test_an_acp_agent_is_signed_in_by_its_own_means(tmp_path: Path) -> None:
    login = acp_backend("goose", ("goose", "acp")).credentials.login({}, {"ANTHROPIC_API_KEY": "k"} | home(tmp_path))
    assert (login.how, login.variables, login.blank) == (None, {}, frozenset())


def test_no_credential_stands_in_a_repr(tmp_path: Path) -> None:
    assert "sk-secret" not in repr(CLAUDE.credentials.login({"api_key": "sk-secret"}, home(tmp_path)))
