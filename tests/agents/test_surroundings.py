"""What an agent sees of the owner's environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.agents.surroundings import (
    find_program,
    inherited_environment,
    is_credential,
    small_environment,
    usual_places,
)

HOME = Path("/home/somebody")


def inherited(environ: dict[str, str], *pass_on: str, places: tuple[str, ...] = ()) -> dict[str, str]:
    return inherited_environment(environ, pass_on, home=HOME, places=places, without=())


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o700)
    return path


def test_no_key_of_ours_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    environment = small_environment(EXTRA="1")
    assert "SOME_API_KEY" not in environment
    assert environment["EXTRA"] == "1"
    assert environment["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(
    "name",
    [
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"),
        *("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID"),
        *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "CREDENTIALS_DIRECTORY"),
        *("GH_TOKEN", "GITHUB_PAT", "PGPASSWORD", "MYSQL_PWD", "SMTP_PASS", "SENTRY_DSN", "TWILIO_AUTH_TOKEN"),
        *("npm_config__auth", "openai_api_key", "SSH_KEY_PASSPHRASE", "DJANGO_SECRET", "SESSION_COOKIE", "API_TOKENS"),
    ],
)
def test_what_looks_like_a_credential_is_kept_from_agents_unless_it_is_named(name: str) -> None:
    assert name not in inherited({name: "hunter2hunter2"})
    assert inherited({name: "hunter2hunter2"}, name)[name] == "hunter2hunter2"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSH_AUTH_SOCK", "/run/user/1000/ssh"),
        ("GIT_ASKPASS", "/usr/bin/askpass"),
        ("XAUTHORITY", "/run/user/1000/x"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
        ("EDITOR", "vim"),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000"),
        ("ANTHROPIC_BASE_URL", "https://gateway.example"),
        ("HTTPS_PROXY", "http://me:word@proxy.example:3128"),
        ("CARGO_HOME", "/opt/cargo"),
        ("KEYBOARD_LAYOUT", "de"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("GIT_AUTHOR_NAME", "Somebody"),
    ],
)
def test_the_rest_of_the_owners_surroundings_is_kept(name: str, value: str) -> None:
    assert inherited({name: value})[name] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgres://me:word@db.example/x"),
        ("PYTHONPATH", "/daemon"),
        ("PYTHONHOME", "/daemon"),
        ("VIRTUAL_ENV", "/daemon"),
        ("KERYX_AGENT_OF", "/other"),
        ("KERYX_HOME", "/home/somebody/keryx"),
        ("CLAUDECODE", "1"),
        ("CODEX_THREAD_ID", "1"),
        ("GIT_DIR", "/hook/.git"),
        ("NOTIFY_SOCKET", "/run/systemd/notify"),
        ("PWD", "/"),
    ],
)
def test_what_carries_a_password_or_would_bend_the_agent_is_left_out(name: str, value: str) -> None:
    assert name not in inherited({name: value})


def test_the_daemons_own_virtual_environment_is_not_on_the_agents_path() -> None:
    environ = {"PATH": "/daemon/bin:/usr/bin:/daemon/bin/", "VIRTUAL_ENV": "/daemon/"}
    assert inherited(environ)["PATH"] == "/usr/bin"
    assert inherited(environ, "VIRTUAL_ENV")["PATH"] == "/daemon/bin:/usr/bin:/daemon/bin/"
    assert str(Path(sys.prefix) / "bin") not in inherited_environment(os.environ)["PATH"].split(":")


def test_the_path_is_completed_behind_what_the_owner_has_and_holds_no_relative_entry() -> None:
    environ = {"PATH": ":.:node_modules/.bin:/mine:/usr/bin"}
    assert inherited(environ, places=("/usr/bin", "/late"))["PATH"] == "/mine:/usr/bin:/late"


def test_a_daemon_started_with_nothing_has_agents_that_find_their_home_and_their_programs(tmp_path: Path) -> None:
    agent = program(tmp_path / ".local/bin/agent")
    script = (
        "import os, sys; from pathlib import Path\n"
        "from keryx.agents.surroundings import find_program, inherited_environment\n"
        "found = inherited_environment(os.environ)\n"
        "print(found['HOME'] == str(Path.home()), 'UTF-8' in found.get('LC_CTYPE', found.get('LANG')))\n"
        "print(find_program('sh', found))\n"
        f"print(find_program('agent', inherited_environment(os.environ, home=Path({str(tmp_path)!r}))))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=30,
    )
    kept, shell, found = ended.stdout.splitlines() or ("", "", ended.stderr)
    assert kept == "True True", found
    assert shell.endswith("/sh")
    assert found == str(agent)


def test_the_owners_own_locale_is_left_alone() -> None:
    assert "LANG" not in inherited({"LC_ALL": "de_DE.UTF-8"})
    assert inherited({"LANG": ""})["LANG"] == "C.UTF-8"


def test_the_newest_node_comes_first(tmp_path: Path) -> None:
    for version in ("v9.1.0", "v22.3.0", "v22.11.0", "system"):
        program(tmp_path / f".nvm/versions/node/{version}/bin/claude")
    found = find_program("claude", inherited_environment({}, home=tmp_path))
    assert found == str(tmp_path / ".nvm/versions/node/v22.11.0/bin/claude")


def test_a_program_is_found_by_name_by_path_and_from_home_but_never_in_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = program(tmp_path / "программы mit Leerzeichen/agent")
    monkeypatch.chdir(agent.parent)
    environment = {"PATH": str(agent.parent), "HOME": str(tmp_path)}
    assert find_program("agent", environment) == str(agent)
    assert find_program(str(agent), {}) == str(agent)
    assert find_program("~/программы mit Leerzeichen/agent", environment) == str(agent)
    for name in ("./agent", "../agent", "other", str(tmp_path), "~/none", ""):
        assert find_program(name, environment) is None, name
    agent.chmod(0o600)
    assert find_program("agent", environment) is None


def test_usual_places_are_whole_paths(tmp_path: Path) -> None:
    assert all(place.startswith("/") for place in usual_places(tmp_path))


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True) | st.sampled_from(
    ["A_KEY", "TOKEN", "PATH", "HOME", "KERYX_TASK_ID", "PYTHONPATH", "LANG", "VIRTUAL_ENV"]
)
values = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=20)


@given(st.dictionaries(names, values), st.lists(names))
def test_whatever_the_environment_nothing_secret_comes_through_and_nothing_is_changed(
    environ: dict[str, str], pass_on: list[str]
) -> None:
    kept = inherited(environ, *pass_on, places=("/usr/bin",))
    assert not [name for name in kept if is_credential(name, kept[name]) and name not in (*pass_on, "PATH", "HOME")]
    assert all(value == environ.get(name) for name, value in kept.items() if name not in ("HOME", "PATH", "LANG"))
    assert all(name in kept for name in pass_on if name in environ)
    assert all(entry.startswith("/") for entry in kept["PATH"].split(":"))
