"""What the README promises is there: its settings load; its commands, files and addresses exist."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from fastapi.routing import APIRoute

from keryx.cli.main import app, execute
from keryx.cli.tasks import LISTED
from keryx.config.files import load
from keryx.config.settings import knows
from keryx.server.routes import events, health, page, tasks

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "SECURITY.md", "CHANGELOG.md", "deploy/README.md", "deploy/tunnel.md"]
ACCOUNT_SID, AUTH_TOKEN = "AC0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def settings_block(file: str) -> str:
    """The settings that the README shows for `file`, its placeholders filled in."""
    (block,) = [block for block in blocks("toml") if block.startswith(f"# {file}")]
    return block.replace('account_sid = "AC…"', f'account_sid = "{ACCOUNT_SID}"').replace(
        'auth_token = "…"', f'auth_token = "{AUTH_TOKEN}"'
    )


def test_the_settings_it_shows_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "src").mkdir()
    home = tmp_path / "keryx"
    home.mkdir()
    (home / "config.toml").write_text(settings_block("config.toml"), encoding="utf-8")
    (home / "secrets.toml").write_text(settings_block("secrets.toml"), encoding="utf-8")
    (home / "secrets.toml").chmod(0o600)

    settings, _ = load(environ={"KERYX_HOME": str(home)})

    assert settings.telephone
    assert settings.owner.pin == "001234"
    assert settings.projects.listed() == ("billing", "website")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_setting_that_is_shown_is_known(document: str) -> None:
    for block in blocks("toml", (ROOT / document).read_text(encoding="utf-8")):
        for section, fields in tomllib.loads(block).items():
            assert all(knows(section, field) for field in fields)


def commands_shown() -> Iterator[str]:
    """Every `keryx …` at the beginning of a line of a block, and in backquotes."""
    for block in blocks(""):
        for line in block.splitlines():
            if line.startswith("keryx "):
                yield re.split(r" {2,}", line)[0]
    yield from re.findall(r"`(keryx [^`]+)`", README)


def known_options(words: list[str]) -> set[str]:
    """The options of the command that `words` begin with; fails when there is no such command."""
    command = typer.main.get_command(app)
    while children := getattr(command, "commands", None):
        if not words or words[0].startswith("-"):
            break
        assert words[0] in children, f"there is no command {words[0]}"
        command = children[words.pop(0)]
    return {"--help", *(option for parameter in command.params for option in parameter.opts)}


@pytest.mark.parametrize("shown", sorted(set(commands_shown())))
def test_every_command_it_shows_exists(shown: str) -> None:
    words = shlex.split(shown)[1:]
    options = {word for word in words if word.startswith("--")}
    assert options <= known_options(words)


def test_understand_does_as_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = [command for command in commands_shown() if command.startswith("keryx understand")]
    assert execute(shlex.split(shown)[1:]) == 0
    assert '"cancel_task"' in capsys.readouterr().out


def test_the_columns_for_scripts_are_those_it_names() -> None:
    match = re.search(r"`keryx tasks list --json` gives (?P<columns>[\w, ]+)\.", README)
    assert match
    assert tuple(match["columns"].split(", ")) == LISTED


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_it_names_exists(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([^)#:\s]+)\)|src=\"([^\":]+)\"", text))
    named = set(re.findall(r"`((?:keryx|tests|prompts|deploy)/[\w./-]*|[A-Z]+\.md)`", text))
    places = {name for pair in linked for name in pair if name} | named
    missing = [name for name in places if not (ROOT / name).exists() and not ((ROOT / document).parent / name).exists()]
    assert not missing


def test_every_module_it_runs_exists() -> None:
    for module in re.findall(r"python -m (tests[\w.]+)", README + (ROOT / "Makefile").read_text(encoding="utf-8")):
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file()


def test_every_address_it_names_is_served() -> None:
    routers = (events.router, health.router, page.router, tasks.router)
    served = {
        f"{method} {route.path.replace('{number}', 'N')}"
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    named = re.findall(r"`((?:GET|POST) /[^`]+)`", README)
    wanted = {name.replace("[/N]", end) for name in named for end in ("", "/N")}
    assert named
    assert wanted <= served
