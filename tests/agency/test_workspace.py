"""The server of mail and calendar as agents are handed it: when, how it is started, and what each of its tools is."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from keryx.agency.agency import Agency
from keryx.agency.workspace import known_tools, shown, workspace_servers
from keryx.agents.approver import Effect, NobodyToAsk
from keryx.agents.equipment import McpServer, McpServers
from keryx.approvals.modes import Verdict, decide
from keryx.clock import VirtualClock
from keryx.config.settings import Settings
from tests.support.google.oauth import signed_in
from tests.support.google.server import GoogleServer

READS = frozenset(
    {
        *("search_mail", "read_message", "read_thread", "list_labels"),
        *("list_calendars", "list_events", "search_events", "read_event", "find_free_time"),
    }
)
ADDS = frozenset({"save_attachment", "draft_mail", "draft_reply", "create_event"})
TAKES_AWAY = frozenset({"label_messages", "archive_messages", "bin_messages"})
OTHERS_SEE = frozenset(
    {
        *("send_mail", "reply", "send_draft"),
        *("invite_guests", "change_event", "move_event", "delete_event", "answer_invitation"),
    }
)


def settings(**sections: Mapping[str, Any]) -> Settings:
    return Settings.model_validate({"owner": {"timezone": "Europe/Berlin"}, **sections})


def handed(folder: Path, place: Path, wanted: Settings | None = None, **environment: str) -> McpServers:
    return workspace_servers(folder, wanted or settings(), environment, secret="0123456789")(place)


def only(servers: McpServers) -> McpServer:
    (server,) = servers.values()
    return server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where somebody is signed in at Google; nothing here asks it anything."""
    signed_in(tmp_path / "google", GoogleServer("http://127.0.0.1:9"))
    return tmp_path / "google"


def test_the_server_is_there_from_the_sign_in_to_the_sign_out(tmp_path: Path) -> None:
    folder = tmp_path / "google"
    now = workspace_servers(folder, settings(), {}, secret="s")
    assert now(tmp_path) == {}
    account = signed_in(folder, GoogleServer("http://127.0.0.1:9"))
    assert len(now(tmp_path)) == 1
    account.folder.sign_in.unlink()
    assert now(tmp_path) == {}


def test_it_is_started_for_the_directory_and_the_zone_of_the_task(folder: Path, tmp_path: Path) -> None:
    server = only(handed(folder, tmp_path / "my project", settings(google={"api_url": "http://127.0.0.1:9"})))
    program, *words = server.command
    assert Path(program).is_absolute()
    assert program == sys.executable
    assert words[-8:] == [
        *("--folder", str(folder), "--zone", "Europe/Berlin", "--files", str(tmp_path / "my project")),
        *("--api-url", "http://127.0.0.1:9"),
    ]
    assert "--api-url" not in only(handed(folder, tmp_path)).command


def test_its_surroundings_are_what_it_needs_and_nothing_secret(folder: Path, tmp_path: Path) -> None:
    needed = {
        "HOME": str(tmp_path),
        "HTTPS_PROXY": "http://proxy.example:3128",
        "no_proxy": "localhost",
        "SSL_CERT_FILE": "/etc/ssl/ours.pem",
        "REQUESTS_CA_BUNDLE": "/etc/ssl/ours.pem",
    }
    given = {**needed, "PATH": "/bin", "PYTHONPATH": "/elsewhere", "GH_TOKEN": "ghp-x", "EDITOR": "vi"}
    server = only(handed(folder, tmp_path, None, **given))
    assert server.environment == needed
    kept = (folder / "sign-in.json").read_text()
    assert not [word for word in server.command if len(word) > 8 and word in kept and word != str(folder)]


@pytest.mark.parametrize(
    "sections",
    [{"google": {"for_agents": False}}, {"mcp": {"workspace": "npx another"}}],
    ids=["switched off", "replaced"],
)
def test_an_owner_may_do_without_it(folder: Path, tmp_path: Path, sections: dict[str, Any]) -> None:
    assert handed(folder, tmp_path, settings(**sections)) == {}


def test_what_the_owner_puts_in_its_place_is_a_stranger(folder: Path, tmp_path: Path) -> None:
    wanted = settings(mcp={"workspace": "npx another"})
    agency = Agency(wanted, {"HOME": str(tmp_path), "PATH": "/bin"})
    ours = workspace_servers(folder, wanted, agency.environment, secret="s")
    common = agency.equipment(lambda task: tmp_path, tmp_path / "data", VirtualClock(), NobodyToAsk(), ours)
    assert common.mcp_servers(tmp_path) == {"workspace": McpServer(("npx", "another"))}


def test_it_is_handed_beside_the_owners_own(folder: Path, tmp_path: Path) -> None:
    wanted = settings(mcp={"notes": "npx notes"})
    agency = Agency(wanted, {"HOME": str(tmp_path), "PATH": "/bin"})
    ours = workspace_servers(folder, wanted, agency.environment, secret="s")
    common = agency.equipment(lambda task: tmp_path, tmp_path / "data", VirtualClock(), NobodyToAsk(), ours)
    assert len(common.mcp_servers(tmp_path)) == 2
    alone = agency.equipment(lambda task: tmp_path, tmp_path / "data", VirtualClock(), NobodyToAsk())
    assert alone.mcp_servers(tmp_path).keys() == {"notes"}


def test_its_name_says_what_it_is_and_cannot_be_guessed(folder: Path, tmp_path: Path) -> None:
    """A project's settings may name any server that they can foresee, and free its tools."""
    names = {
        name
        for secret in ("one", "one", "another")
        for name in workspace_servers(folder, settings(), {}, secret=secret)(tmp_path)
    }
    assert len(names) == 2
    assert all(name.startswith("mail_and_calendar_") and name.isidentifier() for name in names)
    assert "__" not in "".join(names)
    # OpenAI's and Anthropic's interfaces take names of tools up to 64 characters.
    assert max(len(f"mcp__{name}__{tool}") for name in names for tool in known_tools()) <= 64


def test_every_tool_has_the_effect_that_it_has() -> None:
    effects = {name: tool.judge({}).effect for name, tool in known_tools().items()}
    assert {name for name, effect in effects.items() if effect is Effect.READ} == READS
    assert {name for name, effect in effects.items() if effect is Effect.CHANGE} == ADDS
    assert {name for name, effect in effects.items() if effect is Effect.OUTSIDE} == TAKES_AWAY
    assert {name for name, effect in effects.items() if effect is Effect.SEND} == OTHERS_SEE


def test_a_mode_frees_reading_and_drafting_and_nothing_that_others_see_or_that_takes_away() -> None:
    for name, tool in known_tools().items():
        effect = tool.judge({}).effect
        assert effect is not None
        verdicts = {mode: decide(mode, effect).verdict for mode in ("plan", "ask", "auto", "full")}
        free = (name in READS, name in READS, name in READS | ADDS, True)
        assert [verdict is Verdict.ALLOW for verdict in verdicts.values()] == [*free], name
        assert (verdicts["plan"] is Verdict.DENY) == (name not in READS)


def test_a_letter_is_asked_about_in_one_breath_and_shown_whole() -> None:
    letter = {
        "to": ["Anna Berg <anna@example.org>", "bo@example.org"],
        "subject": "Invoice 12",
        "text": "Dear Anna,\n\nhere it is.\n\nYours",
        "cc": [],
        "files": ["out/invoice.pdf"],
    }
    ask = known_tools()["send_mail"].judge(letter)
    assert ask.text.startswith("send a mail to Anna Berg")
    assert "\n" not in ask.text
    assert "Invoice 12" in ask.text
    assert ask.detail == (
        "to: Anna Berg <anna@example.org>, bo@example.org\n"
        "subject: Invoice 12\n"
        "text:\nDear Anna,\n\nhere it is.\n\nYours\n"
        "files: out/invoice.pdf"
    )


@pytest.mark.parametrize("arguments", [{}, {"to": None}, {"to": {"a": [1]}}, {"text": "\n" * 9}, {"query": 7}], ids=str)
def test_no_arguments_are_too_strange_to_be_asked_about(arguments: dict[str, Any]) -> None:
    for tool in known_tools().values():
        assert tool.judge(arguments).text
    assert isinstance(shown(arguments), str)


def test_every_tool_says_in_words_what_it_is_doing() -> None:
    for tool in known_tools().values():
        assert tool.doing[0].isupper()
        assert tool.doing.split()[0].endswith("ing")
        assert tool.needs <= tool.takes
