"""Which file wins, and what a wrong value gets: one line with the field, what is allowed, and the place."""

import stat
from pathlib import Path

import pytest

from keryx.config.files import load, places
from keryx.config.settings import TABLES, Settings
from keryx.errors import ConfigError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def write(home: Path, name: str, text: str, mode: int = 0o600) -> Path:
    home.mkdir(exist_ok=True)
    path = home / name
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def complaint(home: Path, **environ: str) -> str:
    with pytest.raises(ConfigError) as error:
        load(environ={"KERYX_HOME": str(home), **environ})
    line = str(error.value)
    assert "\n" not in line
    return line


def test_without_files_the_defaults_hold(home: Path) -> None:
    settings, found = load(environ={"KERYX_HOME": str(home)})
    assert settings.server.port == 8080
    assert found.data_dir == home
    assert not home.exists(), "reading the settings makes nothing"


def test_environment_wins_over_secrets_over_config(home: Path) -> None:
    write(home, "config.toml", '[server]\nport = 1111\nhost = "::1"\n[owner]\npin = "1111"\nname = "Ada"\n')
    write(home, "secrets.toml", '[owner]\npin = "2222"\n[server]\nport = 2222\n')
    settings, _ = load(environ={"KERYX_HOME": str(home), "KERYX_SERVER__PORT": "3333", "KERYX_OWNER__NAME": ""})
    assert settings.server.port == 3333
    assert settings.owner.pin == "2222"
    assert settings.server.host == "::1"
    assert settings.owner.name == "Ada", "an empty variable counts as not set"


def test_every_field_can_be_set_by_the_environment(home: Path) -> None:
    home.mkdir()
    values = {
        "owner": {"name": "Ada", "numbers": "+15551234567,+15557654321", "pin": "4321", "timezone": "Asia/Tokyo"},
        "server": {"host": "127.0.0.2", "port": "8181", "public_url": "https://keryx.example"},
        "twilio": {"account_sid": "AC" + "1" * 32, "auth_token": "secret", "number": "+15550001111"},
        "projects": {"root": str(home), "names": "billing,website"},
        "agents": {
            "default": "codex",
            "idle_minutes": "2.5",
            "deadline_hours": "1",
            "pass_environment": "GH_TOKEN, NPM_TOKEN",
        },
        "claude": {"model": "opus", "program": "/opt/claude", "api_key": "sk-ant-1", "auth_token": "oat-1"},
        "codex": {"model": "gpt-5.5", "program": "codex-nightly", "api_key": "sk-2"},
        "acp": {"opencode": "opencode acp"},
        "mcp": {"files": "TOKEN=x npx files", "notes": "https://notes.example/mcp"},
        "google": {"for_agents": "false", "api_url": "https://google.example.org"},
        "tasks": {"max_concurrent": "7", "daily_cap": "9"},
        "voice": {"engine": "cascade", "weights": str(home), "download": "true"},
    }
    assert {name: set(section) for name, section in values.items() if name not in TABLES} == {
        name: set(section) for name, section in Settings().model_dump().items() if name not in TABLES
    }
    assert values.keys() == Settings.model_fields.keys()
    environ = {f"KERYX_{s.upper()}__{f.upper()}": value for s, fields in values.items() for f, value in fields.items()}
    settings, _ = load(environ={"KERYX_HOME": str(home), **environ})
    assert settings == Settings.model_validate(values)


@pytest.mark.parametrize("name", ["config.toml", "secrets.toml"])
def test_a_pin_with_leading_zeros_survives_a_file(home: Path, name: str) -> None:
    write(home, name, '[owner]\npin = "001234"\n')
    assert load(environ={"KERYX_HOME": str(home)})[0].owner.pin == "001234"


def test_a_pin_with_leading_zeros_survives_the_environment(home: Path) -> None:
    assert load(environ={"KERYX_HOME": str(home), "KERYX_OWNER__PIN": "001234"})[0].owner.pin == "001234"


def test_an_unquoted_pin_is_refused_with_the_way_to_mend_it(home: Path) -> None:
    path = write(home, "secrets.toml", "[owner]\npin = 731234\n")
    line = complaint(home)
    assert line.startswith("owner.pin is wrong")
    assert "quote it" in line
    assert f"{path}, line 2" in line
    assert "731234" not in line


def test_a_wrong_value_names_field_value_allowed_and_line(home: Path) -> None:
    path = write(home, "config.toml", "# mine\n\n[tasks]\ndaily_cap = 5\nmax_concurrent = 0\n")
    assert complaint(home) == f"tasks.max_concurrent is 0; allowed: a whole number from 1 to 64 ({path}, line 5)"


def test_a_wrong_variable_is_named(home: Path) -> None:
    line = complaint(home, KERYX_SERVER__PORT="http")
    assert line.startswith("server.port is 'http'")
    assert line.endswith("(environment variable KERYX_SERVER__PORT)")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[server]\nprot = 1", "no setting server.prot; did you mean server.port?"),
        ("[server]\npin = 1", "no setting server.pin; did you mean owner.pin?"),
        ("[voice]\nzzz = 1", "no setting voice.zzz; there are: voice.engine"),
        ("[serve]\nport = 1", "no section 'serve'; did you mean [server]?"),
        ("[zzz]", "no section 'zzz'; there are: owner, server"),
        ("server = 5", "write [server]"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known(home: Path, text: str, says: str) -> None:
    path = write(home, "config.toml", text)
    line = complaint(home)
    assert says in line
    assert str(path) in line


def test_an_unknown_variable_is_refused_with_the_nearest_known(home: Path) -> None:
    line = complaint(home, KERYX_OWNER__PINN="1234")
    assert "did you mean owner.pin?" in line
    assert "KERYX_OWNER__PINN" in line


def test_variables_without_a_section_are_left_alone(home: Path) -> None:
    load(environ={"KERYX_HOME": str(home), "KERYX_SOMETHING": "1", "OTHER__THING": "1"})


def test_a_syntax_error_gives_file_line_and_column(home: Path) -> None:
    path = write(home, "config.toml", "[server]\nport = = 1\n")
    assert complaint(home).startswith(f"{path}, line 2, column 8: ")


def test_a_file_that_ends_too_early_gives_its_last_place(home: Path) -> None:
    path = write(home, "config.toml", '[owner]\nname = """Ada')
    assert complaint(home).startswith(f"{path}, line 2, column ")


def test_a_file_that_is_not_text_is_named(home: Path) -> None:
    path = write(home, "config.toml", "")
    path.write_bytes(b"\xff\xfe")
    assert complaint(home).startswith(f"{path} is not UTF-8 text")


def test_a_folder_in_a_files_place_is_named(home: Path) -> None:
    (home / "config.toml").mkdir(parents=True)
    assert complaint(home).startswith(f"cannot read {home / 'config.toml'}")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_secrets_that_others_may_read_are_refused_with_the_command_that_mends_it(home: Path, mode: int) -> None:
    path = write(home, "secrets.toml", '[owner]\npin = "001234"\n', mode)
    assert complaint(home).endswith(f"run: chmod 600 {path}")


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("owner", "pin", "98x76"),
        ("owner", "numbers", "+98765, 98765"),
        ("twilio", "number", "98765"),
        ("agents", "default", "SK98765"),
        ("claude", "api_key", "sk 98765"),
        ("claude", "auth_token", "98765\u00fc"),
        ("codex", "api_key", "sk 98765"),
        ("acp", "opencode", "opencode '98765"),
        ("mcp", "notes", "http://98765.example"),
        ("server", "public_url", "https://me:98765@a.org"),
    ],
)
def test_a_complaint_never_shows_what_is_secret(home: Path, section: str, field: str, value: str) -> None:
    write(home, "secrets.toml", f'[{section}]\n{field} = "{value}"\n')
    assert "98765" not in complaint(home).replace(str(home), "")


def test_a_password_in_an_address_is_not_shown(home: Path) -> None:
    assert "hunter2" not in complaint(home, KERYX_SERVER__PUBLIC_URL="https://me:hunter2@example.org")


def test_a_half_configured_line_is_one_line_with_all_that_is_missing(home: Path) -> None:
    line = complaint(home, KERYX_TWILIO__NUMBER="+15557654321", KERYX_OWNER__PIN="1234")
    assert "missing: twilio.account_sid, twilio.auth_token, server.public_url, owner.numbers (" in line


def test_a_demo_keeps_the_settings_and_throws_its_data_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    ordinary = places(environ={})
    write_to = ordinary.config_dir
    write_to.mkdir(parents=True)
    (write_to / "config.toml").write_text('[owner]\nname = "Ada"\n')
    settings, found = load(demo=True, environ={})
    try:
        assert settings.owner.name == "Ada"
        assert found.throw_away
        assert found.data_dir != ordinary.data_dir
        assert stat.S_IMODE(found.data_dir.stat().st_mode) == 0o700
        assert found.daemon_file.parent == ordinary.daemon_file.parent
        assert found.daemon_file != ordinary.daemon_file
        found.prepare()
    finally:
        found.discard()
    assert not found.data_dir.exists()
    found.discard()


def test_a_demo_whose_settings_are_wrong_leaves_no_folder_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ConfigError):
        load(demo=True, environ={"KERYX_SERVER__PORT": "x"})
    assert list(tmp_path.iterdir()) == []


def test_a_demo_with_a_home_keeps_its_data_there(home: Path) -> None:
    _, found = load(demo=True, environ={"KERYX_HOME": str(home)})
    found.prepare()
    found.discard()
    assert found.reports_dir.is_dir()
    assert found.database.parent == home


def test_folders_are_made_for_the_owner_only(home: Path) -> None:
    _, found = load(environ={"KERYX_HOME": str(home / "deep")})
    found.prepare()
    found.prepare()
    for folder in (home, home / "deep", found.reports_dir):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_home_that_is_a_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = places(environ={"KERYX_HOME": str(tmp_path / "file")})
    with pytest.raises(ConfigError, match="set KERYX_HOME to one you own"):
        found.prepare()
    with pytest.raises(ConfigError, match="cannot read"):
        load(environ={"KERYX_HOME": str(tmp_path / "file")})


def test_a_table_of_the_owners_own_names_takes_any_in_lower_case(home: Path) -> None:
    write(home, "config.toml", '[acp]\nOpenCode = "opencode acp"\n[mcp]\nfiles = "npx files"\n')
    settings, _ = load(environ={"KERYX_HOME": str(home), "KERYX_ACP__GOOSE": "goose acp", "KERYX_MCP__FILES": "files2"})
    assert settings.acp == {"opencode": "opencode acp", "goose": "goose acp"}
    assert settings.mcp == {"files": "files2"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[acp]\nx = "opencode \'acp"', "acp.x is wrong (No closing quotation); allowed: NAME ="),
        ('[acp]\nx = ""', "acp.x is wrong (empty); allowed: NAME ="),
        ("[acp]\nx = 5", "acp.x is wrong; allowed: NAME ="),
        ('[acp.x]\ncommand = "x"', "acp.x is wrong; allowed: NAME ="),
        ('[acp]\nclaude = "x"', "acp.claude is wrong (claude is already an agent of its own)"),
        ('[acp]\n"a b" = "x"', "acp.a b is wrong ('a b' is no name for an agent)"),
        ('[mcp]\nx = "TOKEN=y"', "mcp.x is wrong (variables and no command)"),
        ('[mcp]\nx = "https://me:pass@a.org"', "mcp.x is wrong (a user name or password in it)"),
        ("[agents]\nidle_minutes = 0", "agents.idle_minutes is 0; allowed: a number from 1 to 1440"),
        ('[agents]\ndeadline_hours = "nan"', "agents.deadline_hours is 'nan'; allowed: a number from 0.1 to 168"),
        ("[agents]\nidle_minutes = true", "agents.idle_minutes is True (not a number)"),
        ('[agents]\npass_environment = "A B"', "agents.pass_environment is 'A B' (not the name of a variable)"),
        (
            '[agents]\npass_environment = "KERYX_OWNER__PIN"',
            "(Keryx's own variables are not passed on)",
        ),
        ('[claude]\nprogram = "bin/claude"', "claude.program is 'bin/claude' (not an absolute path)"),
        ('[google]\nfor_agents = "perhaps"', "google.for_agents is 'perhaps'; allowed: true or false"),
        ('[google]\napi_url = "http://google.example"', "(plain http to another machine)"),
        ('[google]\napi_url = "https://google.example/gmail"', "(not an origin)"),
        ("[claude]\nmodel = 5", "claude.model is 5; allowed: a model's name"),
    ],
)
def test_a_wrong_value_about_an_agent_is_one_line_with_its_place(home: Path, text: str, says: str) -> None:
    path = write(home, "config.toml", text)
    line = complaint(home)
    assert says in line
    assert line.endswith((f"({path}, line 2)", f"({path})"))
