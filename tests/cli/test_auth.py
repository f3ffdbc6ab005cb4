"""`keryx auth` as the owner runs it: a process of its own, against an authorisation server on loopback."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from keryx.cli.auth import has_browser, wait_for_answer
from keryx.errors import Unavailable
from keryx.workspace.auth import GoogleAccount
from keryx.workspace.features import Feature, scopes_of
from keryx.workspace.signin.signing_in import signing_in
from tests.cli.conftest import Keryx
from tests.support.google import GoogleServer, served_google
from tests.support.google.oauth import (
    ADDRESS,
    CLIENT_SECRET,
    DROPPED,
    client,
    client_file,
    follow,
    signed_in,
)
from tests.support.programs import until

pytest.importorskip("google_auth_oauthlib", reason="the google extra is not installed")

KERYX = [sys.executable, "-m", "keryx"]
LOGIN = ("auth", "login", "google")
BOUND_S = 60.0
WITHOUT_THE_EXTRA = (
    "import sys; sys.modules.update(dict.fromkeys(['google_auth_oauthlib', 'googleapiclient', 'httplib2']));"
    "from keryx.cli.main import run; run()"
)
BROWSER = """\
import pathlib, sys, urllib.request
page = urllib.request.urlopen(sys.argv[1], timeout=60).read().decode()
print("a browser has much to say")
draft = pathlib.Path(sys.argv[2] + ".draft")
draft.write_text(page)
draft.rename(sys.argv[2])
"""


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GoogleServer]:
    """Google; and a machine without a display."""
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    with served_google() as server:
        monkeypatch.setenv("KERYX_GOOGLE__API_URL", server.url)
        yield server


@pytest.fixture
def downloaded(tmp_path: Path, server: GoogleServer) -> str:
    """The client's file, as it lies in the owner's downloads."""
    return str(client_file(tmp_path / "client_secret_1234567890.json", server))


@pytest.fixture
def account(home: Path) -> GoogleAccount:
    return GoogleAccount(home / "google")


@pytest.fixture
def page(tmp_path: Path, server: GoogleServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the browser ended on; there is one, that follows the link at once."""
    program = tmp_path / "browser.py"
    program.write_text(BROWSER)
    ended_on = tmp_path / "page.html"
    monkeypatch.setenv("BROWSER", f"{sys.executable} {program} %s {ended_on}")
    return ended_on


class Typing:
    """`keryx auth login google` in a terminal: its lines are read, and lines are typed into it."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [*KERYX, *LOGIN, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.printed: list[str] = []
        self._bound = threading.Timer(BOUND_S, self._process.kill)
        self._bound.start()

    def until(self, beginning: str) -> str:
        """The next line that begins so."""
        assert self._process.stdout
        for line in self._process.stdout:
            self.printed.append(line.rstrip("\n"))
            if line.startswith(beginning):
                return line.rstrip("\n")
        raise AssertionError(f"it ended without {beginning!r}: {self.printed} {self._process.communicate()[1]}")

    def type(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str, str]:
        """Its exit code, everything it printed, and its standard error."""
        rest, errors = self._process.communicate(timeout=BOUND_S)
        return self._process.returncode, "\n".join([*self.printed, rest]), errors

    def close(self) -> None:
        self._bound.cancel()
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


async def read(page: Path) -> str:
    """What the browser showed: it writes that down once it has all of it, maybe after the login has ended."""
    await until(page.exists)
    return page.read_text()  # noqa: ASYNC240 - a file of a few lines


@contextlib.contextmanager
def typing(*arguments: str) -> Iterator[Typing]:
    terminal = Typing(*arguments)
    try:
        yield terminal
    finally:
        terminal.close()


# -- signing in, with a browser ----------------------------------------------------------------------------------------


async def test_a_login_opens_the_browser_and_ends_by_itself(
    keryx: Keryx, downloaded: str, page: Path, account: GoogleAccount
) -> None:
    ran = await keryx(*LOGIN, "--client", downloaded, typed=None)
    assert (ran.code, ran.err) == (0, "")
    assert "Keryx is signed in at Google. You can close this page." in await read(page)
    assert f"Signed in at Google as {ADDRESS}, since " in ran.out
    assert "a browser has much to say" not in ran.out
    assert account.features() == frozenset(Feature)
    account.check()


async def test_what_will_be_asked_is_said_in_words_before_the_link(keryx: Keryx, downloaded: str, page: Path) -> None:
    before, link, _ = (await keryx(*LOGIN, "--client", downloaded)).out.partition("http://127.0.0.1:")
    assert link
    for words in (
        "read your mail",
        "write drafts, and send mail when you allow it",
        "label, archive and bin mail",
        "read your calendars",
        "make, change and answer events in your calendars",
        "keryx auth login google --only read-mail",
    ):
        assert words in before


async def test_only_what_is_named_is_asked_for(
    keryx: Keryx, downloaded: str, page: Path, account: GoogleAccount, server: GoogleServer
) -> None:
    only = ("--only", "read-mail", "--only", "read-calendar")
    ran = await keryx(*LOGIN, "--client", downloaded, *only)
    assert "send mail" not in ran.out
    wanted = [Feature.READ_MAIL, Feature.READ_CALENDAR]
    assert server.oauth.asked[0][1]["scope"].split() == list(scopes_of(wanted))
    assert account.features() == set(wanted)


async def test_a_no_at_google_is_one_line_and_changes_nothing(
    keryx: Keryx, downloaded: str, page: Path, account: GoogleAccount, server: GoogleServer
) -> None:
    server.oauth.consent = "refuse"
    ran = await keryx(*LOGIN, "--client", downloaded, typed=None)
    assert ran.code == 1
    assert (
        ran.err
        == "keryx: you said no at Google, and nothing was changed; run keryx auth login google again when you want to\n"
    )
    assert "Keryx was not signed in: you said no at Google" in await read(page)
    assert not account.signed_in
    assert account.client() is None, "not even the client is kept"


async def test_what_was_unticked_is_said(keryx: Keryx, downloaded: str, page: Path, server: GoogleServer) -> None:
    server.oauth.unticked = {"https://www.googleapis.com/auth/calendar.events"}
    ran = await keryx(*LOGIN, "--client", downloaded)
    assert ran.code == 0
    missing = ran.out.partition("Not granted at Google:\n")[2].splitlines()
    assert missing[:2] == ["  read your calendars", "  make, change and answer events in your calendars"]
    assert missing[2].startswith("To do: run keryx auth login google again")


async def test_the_client_is_kept_for_later_logins_and_for_nobody_else(
    keryx: Keryx, downloaded: str, page: Path, account: GoogleAccount
) -> None:
    await keryx(*LOGIN, "--client", downloaded)
    first = account.kept().login
    os.unlink(downloaded)
    assert (await keryx(*LOGIN)).code == 0
    assert account.kept().login != first
    assert {stat.S_IMODE(path.stat().st_mode) for path in account.folder.path.iterdir()} == {0o600}
    assert stat.S_IMODE(account.folder.path.stat().st_mode) == 0o700


async def test_another_person_s_login_replaces_and_says_so(
    keryx: Keryx, page: Path, account: GoogleAccount, server: GoogleServer
) -> None:
    signed_in(account.folder.path, server, address="bob@example.org")
    ran = await keryx(*LOGIN)
    assert "bob@example.org is not signed in here any more" in ran.out
    assert account.status().address == ADDRESS


async def test_a_browser_that_opens_nothing_can_be_done_without(
    downloaded: str, account: GoogleAccount, server: GoogleServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "/nowhere/to/be/found %s")
    with typing("--client", downloaded) as terminal:
        terminal.type(follow(terminal.until("http")))
        code, _, errors = terminal.end()
    assert (code, errors) == (0, "")
    assert account.signed_in


# -- signing in, without one -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [(), ("--headless",)])
def test_without_a_display_the_link_is_printed_and_the_address_pasted(
    downloaded: str, account: GoogleAccount, arguments: tuple[str, ...]
) -> None:
    with typing("--client", downloaded, *arguments) as terminal:
        link = terminal.until("http")
        terminal.until("http://127.0.0.1. Copy that whole address, paste it here")
        terminal.type(follow(link))
        code, printed, errors = terminal.end()
    assert (code, errors) == (0, "")
    assert f"Signed in at Google as {ADDRESS}" in printed
    account.check()


def test_a_wrong_paste_is_asked_for_again_with_the_reason(downloaded: str, account: GoogleAccount) -> None:
    with typing("--client", downloaded, "--headless") as terminal:
        link = terminal.until("http")
        address = follow(link)
        for wrong, says in (
            ("done!", "No: that is no address and no code"),
            (link, "No: that is the link itself"),
            (address.replace("state=", "state=x"), "No: that address belongs to another sign-in"),
            (parse_qs(urlsplit(address).query)["code"][0][:-2], "No: Google does not take that code"),
        ):
            terminal.type(wrong)
            terminal.until(says)
        terminal.type("")
        terminal.type(f"  {address}  ")
        assert terminal.end()[0] == 0
    assert account.signed_in


def test_a_browser_on_this_machine_ends_a_headless_login_too(
    downloaded: str, account: GoogleAccount, tmp_path: Path
) -> None:
    with typing("--client", downloaded, "--headless") as terminal:
        browser = subprocess.run(
            [sys.executable, "-c", BROWSER, terminal.until("http"), str(tmp_path / "page.html")],
            timeout=BOUND_S,
            check=False,
            stdout=subprocess.DEVNULL,
        )
        assert browser.returncode == 0
        assert terminal.end()[0] == 0
    assert account.signed_in


def test_a_pasted_no_is_a_no(downloaded: str, account: GoogleAccount, server: GoogleServer) -> None:
    server.oauth.consent = "refuse"
    with typing("--client", downloaded, "--headless") as terminal:
        terminal.type(follow(terminal.until("http")))
        code, _, errors = terminal.end()
    assert code == 1
    assert "you said no at Google" in errors
    assert not account.signed_in


async def test_no_answer_at_all_is_a_sentence(keryx: Keryx, downloaded: str) -> None:
    ran = await keryx(*LOGIN, "--client", downloaded, "--headless", typed="")
    assert ran.code == 1
    assert ran.err.startswith("keryx: no address was pasted; run keryx auth login google again")


def test_ctrl_c_leaves_the_old_sign_in_as_it_was(account: GoogleAccount, server: GoogleServer) -> None:
    before = signed_in(account.folder.path, server).kept()
    with typing("--headless") as terminal:
        terminal.until("http://127.0.0.1. Copy")
        terminal.interrupt()
        code, _, errors = terminal.end()
    assert (code, errors) == (130, "")
    assert account.kept() == before


def test_a_script_gets_one_object_a_line(downloaded: str, server: GoogleServer) -> None:
    server.oauth.unticked = {"https://www.googleapis.com/auth/gmail.modify"}
    server.oauth.ends_in_s = 604_799
    with typing("--client", downloaded, "--headless", "--json") as terminal:
        asking = json.loads(terminal.until("{"))
        link = json.loads(terminal.until("{"))
        terminal.type("nonsense")
        again = json.loads(terminal.until("{"))
        terminal.type(follow(link["url"]))
        done = json.loads(terminal.until("{"))
        assert terminal.end()[0] == 0
    assert asking == {"type": "asking", "features": [str(feature) for feature in Feature]}
    assert link["type"] == "link"
    assert again["type"] == "again"
    assert done["type"] == "signed_in"
    assert done["address"] == ADDRESS
    assert done["features"] == ["read-calendar", "change-calendar"]
    assert done["missing"] == ["read-mail", "write-mail", "sort-mail"]
    assert done["ends"]


def test_a_wait_for_google_s_page_has_an_end(
    account: GoogleAccount, server: GoogleServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    never, writer = os.pipe()
    says = "no answer came from Google's page within .*; run keryx auth login google"
    with open(never) as terminal, signing_in(account, client(server), Feature) as login:
        monkeypatch.setattr(sys, "stdin", terminal)
        with pytest.raises(Unavailable, match=says):
            wait_for_answer(login, again=print, must_paste=True, wait_s=0.05)
        # Nor is one waited for behind an input that talks all the time.
        os.write(writer, b"nonsense\n" * 2000)
        with pytest.raises(Unavailable, match=says):
            wait_for_answer(login, again=lambda reason: os.write(writer, b"nonsense\n"), must_paste=True, wait_s=0.05)
        os.close(writer)
        # Nothing more can be pasted: only the browser is waited for, and without any work.
        begun = time.thread_time()
        with pytest.raises(Unavailable, match=says):
            wait_for_answer(login, again=print, must_paste=False, wait_s=0.5)
        assert time.thread_time() - begun < 0.05


@pytest.mark.parametrize(
    ("environ", "platform", "there"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, "linux", False),
        ({"SSH_TTY": "/dev/pts/1", "BROWSER": "/editor/helper.sh"}, "linux", True),
        ({}, "darwin", True),
        ({"SSH_TTY": "/dev/ttys001"}, "darwin", False),
    ],
)
def test_a_browser_is_opened_only_where_it_is_seen(environ: dict[str, str], platform: str, there: bool) -> None:
    assert has_browser(environ, platform) is there


# -- the client's file -------------------------------------------------------------------------------------------------


async def test_without_a_client_it_is_said_where_to_get_one(keryx: Keryx, server: GoogleServer) -> None:
    ran = await keryx(*LOGIN)
    assert (ran.code, ran.out) == (1, "")
    for said in (
        "https://console.cloud.google.com/projectcreate",
        "Gmail API and the Google Calendar API",
        "test user",
        "ends every sign-in after seven days",
        '"Desktop app", then download its JSON',
        "keryx auth login google --client FILE",
    ):
        assert said in ran.err
    assert len(ran.err.splitlines()) <= 12


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot read "),
        ("", "is not JSON"),
        (json.dumps({"web": {"client_secret": CLIENT_SECRET}}), 'of kind "Web application"'),
        (json.dumps({"installed": {"client_secret": CLIENT_SECRET}}), "lacks client_id"),
    ],
)
async def test_a_wrong_client_is_one_line_and_is_not_kept(
    keryx: Keryx, tmp_path: Path, server: GoogleServer, account: GoogleAccount, text: str | None, says: str
) -> None:
    path = tmp_path / "client.json"
    if text is not None:
        path.write_text(text)
    ran = await keryx(*LOGIN, "--client", str(path))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("keryx: ")
    assert says in ran.err
    assert ran.err.count("\n") == 1
    assert CLIENT_SECRET not in ran.err
    assert account.client() is None


# -- how it stands -----------------------------------------------------------------------------------------------------


async def test_the_status_of_nobody_says_how_to_begin(keryx: Keryx, home: Path) -> None:
    ran = await keryx("auth", "status")
    assert (ran.code, ran.out) == (0, "Not signed in at Google.\nTo do: run keryx auth login google.\n")
    assert not (home / "google").exists()


async def test_the_status_says_who_what_and_until_when(
    keryx: Keryx, account: GoogleAccount, server: GoogleServer
) -> None:
    signed_in(account.folder.path, server, [Feature.READ_MAIL])
    ran = await keryx("auth", "status")
    assert (ran.code, ran.err) == (0, "")
    first, may, *rest = ran.out.splitlines()
    assert first.startswith(f"Signed in at Google as {ADDRESS}, since 20")
    assert may == "Keryx may:"
    assert rest[0] == "  read your mail"
    assert rest[1].startswith("The access token works until 20")
    assert len(rest) == 2


async def test_a_script_s_status_is_json_without_secrets(
    keryx: Keryx, account: GoogleAccount, server: GoogleServer
) -> None:
    kept = signed_in(account.folder.path, server, [Feature.READ_MAIL]).kept()
    ran = await keryx("auth", "status", "--json")
    status: dict[str, Any] = json.loads(ran.out)
    assert status["signed_in"]
    assert status["checked"]
    assert status["installed"]
    assert status["address"] == ADDRESS
    assert status["features"] == ["read-mail"]
    assert status["may"] == ["read your mail"]
    assert status["wrong"] is None
    assert status["since"] < status["until"]
    assert not [secret for secret in (kept.refresh_token, kept.access_token, CLIENT_SECRET) if secret in ran.out]


async def test_a_sign_in_that_was_revoked_elsewhere_is_found_out(
    keryx: Keryx, account: GoogleAccount, server: GoogleServer
) -> None:
    server.oauth.revoke(signed_in(account.folder.path, server).kept().refresh_token)
    ran = await keryx("auth", "status")
    assert ran.out.startswith(f"No longer signed in at Google as {ADDRESS}; it was since ")
    assert ran.out.endswith(
        "To do: Google ended the sign-in: it was revoked or has expired; run keryx auth login google.\n"
    )
    ran = await keryx("auth", "status", "--json")
    assert not json.loads(ran.out)["signed_in"]


async def test_a_google_that_cannot_be_reached_is_not_taken_for_a_sign_in_that_ended(
    keryx: Keryx, account: GoogleAccount, server: GoogleServer
) -> None:
    signed_in(account.folder.path, server)
    server.oauth.faults.append(DROPPED)
    ran = await keryx("auth", "status")
    assert ran.out.startswith(f"Signed in at Google as {ADDRESS}")
    assert "Not checked now: Google cannot be reached" in ran.out
    assert "To do" not in ran.out
    server.oauth.faults.append(DROPPED)
    assert not json.loads((await keryx("auth", "status", "--json")).out)["checked"]


async def test_a_half_written_sign_in_is_said_without_a_traceback(
    keryx: Keryx, account: GoogleAccount, server: GoogleServer
) -> None:
    signed_in(account.folder.path, server)
    account.folder.sign_in.write_text(account.folder.sign_in.read_text()[:100])
    ran = await keryx("auth", "status")
    assert (ran.code, ran.err) == (0, "")
    assert "To do: the stored sign-in at Google is damaged" in ran.out
    assert "run keryx auth login google" in ran.out


def test_the_status_of_nobody_loads_nothing_heavy(home: Path) -> None:
    script = "import sys; from keryx.cli.main import execute; execute(['auth', 'status']); print(*sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=BOUND_S, check=True
    )
    loaded = printed.stdout.splitlines()[-1].split()
    heavy = (
        "google.",
        "googleapiclient",
        "google_auth",
        "httplib2",
        "requests",
        "cryptography",
        "keryx.config.settings",
    )
    assert "keryx.workspace.auth" in loaded
    assert not [name for name in loaded if name.startswith(heavy)]


# -- signing out -------------------------------------------------------------------------------------------------------


async def test_a_logout_takes_the_sign_in_back(keryx: Keryx, account: GoogleAccount, server: GoogleServer) -> None:
    signed_in(account.folder.path, server)
    ran = await keryx("auth", "logout", "google")
    assert (ran.code, ran.out) == (0, f"Signed out as {ADDRESS}: Google has taken the sign-in back.\n")
    assert not account.signed_in
    assert server.oauth.grants == {}
    ran = await keryx("auth", "logout", "google")
    assert (ran.code, ran.out) == (0, "Nobody was signed in at Google.\n")


async def test_a_logout_that_google_does_not_hear_of_says_where_to_take_it_back(
    keryx: Keryx, account: GoogleAccount, server: GoogleServer
) -> None:
    signed_in(account.folder.path, server)
    server.oauth.faults.append(DROPPED)
    ran = await keryx("auth", "logout", "google")
    assert ran.code == 0
    assert "but Google could not be told: Google cannot be reached" in ran.out
    assert "https://myaccount.google.com/connections" in ran.out
    assert not account.signed_in


async def test_a_script_s_logout_is_json(keryx: Keryx, account: GoogleAccount, server: GoogleServer) -> None:
    signed_in(account.folder.path, server)
    done = json.loads((await keryx("auth", "logout", "google", "--json")).out)
    assert done == {"was_signed_in": True, "revoked": True, "address": ADDRESS, "problem": None}


# -- without the extra -------------------------------------------------------------------------------------------------


def test_without_the_extra_it_is_said_which_command_adds_it(
    account: GoogleAccount, server: GoogleServer, downloaded: str
) -> None:
    def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", WITHOUT_THE_EXTRA, *arguments],
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )

    outcome = ran(*LOGIN, "--client", downloaded)
    assert outcome.returncode == 1
    assert "run pip install 'keryx[google]'" in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    signed_in(account.folder.path, server)
    outcome = ran("auth", "status")
    assert outcome.returncode == 0
    assert f"Signed in at Google as {ADDRESS}" in outcome.stdout
    assert "To do: mail and calendar need their packages: run pip install 'keryx[google]'." in outcome.stdout
    outcome = ran("auth", "logout", "google")
    assert outcome.returncode == 0
    assert "on this machine" in outcome.stdout
    assert not account.signed_in


@pytest.mark.parametrize("command", ["login", "status", "logout"])
async def test_every_command_explains_itself(keryx: Keryx, command: str) -> None:
    ran = await keryx("auth", command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"Usage: keryx auth {command} " in ran.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("auth", "login"), "see keryx auth login --help"),
        (("auth", "login", "microsoft"), "'microsoft' is not one of 'google'"),
        (("auth", "login", "google", "--only", "everything"), "'everything' is not one of 'read-mail'"),
        (("auth", "logout"), "see keryx auth logout --help"),
    ],
)
async def test_wrong_use_is_one_line(keryx: Keryx, arguments: tuple[str, ...], says: str) -> None:
    ran = await keryx(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1
