"""One login at Google: the link, the answer by browser or by hand, and what is kept of it."""

import html
import re
import select
import socket
import struct
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from keryx.clock import VirtualClock
from keryx.errors import ConfigError, KeryxError, Refused, Unavailable
from keryx.workspace.auth import GoogleAccount
from keryx.workspace.features import Feature, scopes_of
from keryx.workspace.signin.signing_in import WORKED, LoggedIn, SigningIn, Unfit, answer_in, signing_in
from tests.support.google import GoogleServer, served_google
from tests.support.google.oauth import (
    ADDRESS,
    Answer,
    OAuth,
    client,
    follow,
    refused,
    signed_in,
)

pytest.importorskip("google_auth_oauthlib", reason="the google extra is not installed")

BOUND_S = 30.0
STATE = "the-state"
CODE = "4/0Ab_32-characters-or-so"


@pytest.fixture
def server() -> Iterator[GoogleServer]:
    with served_google() as server:
        yield server


@pytest.fixture
def oauth(server: GoogleServer) -> OAuth:
    return server.oauth


@pytest.fixture
def account(tmp_path: Path, clock: VirtualClock) -> GoogleAccount:
    return GoogleAccount(tmp_path / "google", clock=clock)


@pytest.fixture
def login(account: GoogleAccount, server: GoogleServer) -> Iterator[SigningIn]:
    with signing_in(account, client(server), Feature, api_url=server.url) as login:
        yield login


def waiting(login: SigningIn) -> bool:
    """Whether nothing has come back yet."""
    return not select.select([login], [], [], 0)[0]


def by_browser(login: SigningIn) -> tuple[LoggedIn | KeryxError, str]:
    """Open the link in a browser that takes part in the redirect: what came of it, and the page it ended on."""
    pages: list[str] = []
    browser = threading.Thread(target=lambda: pages.append(read(login.link)[1]))
    browser.start()
    assert select.select([login], [], [], BOUND_S)[0]
    try:
        outcome: LoggedIn | KeryxError = login.take_redirect()
    except KeryxError as error:
        outcome = error
    browser.join(BOUND_S)
    return outcome, pages[0]


def by_hand(login: SigningIn) -> LoggedIn:
    """Open the link in a browser elsewhere, and paste the address that it ends on."""
    return login.take_pasted(follow(login.link))


def read(url: str) -> tuple[int, str]:
    """A page's status and text, redirects followed."""
    try:
        with urllib.request.urlopen(url, timeout=BOUND_S) as page:
            return page.status, html.unescape(page.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, html.unescape(error.read().decode())


def redirect_uri(login: SigningIn) -> str:
    return parse_qs(urlsplit(login.link).query)["redirect_uri"][0]


def state(login: SigningIn) -> str:
    return parse_qs(urlsplit(login.link).query)["state"][0]


# -- the link ----------------------------------------------------------------------------------------------------------


def test_the_link_asks_for_the_least_and_for_a_lasting_sign_in(account: GoogleAccount, server: GoogleServer) -> None:
    wanted = [Feature.READ_MAIL, Feature.CHANGE_CALENDAR]
    with signing_in(account, client(server), wanted) as login:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(login.link).query).items()}
    assert asked["scope"].split() == list(scopes_of(wanted))
    assert (asked["access_type"], asked["prompt"], asked["response_type"]) == ("offline", "consent", "code")
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["code_challenge"]) == 43
    assert len(asked["state"]) >= 32
    assert asked["redirect_uri"].startswith("http://127.0.0.1:")
    assert "include_granted_scopes" not in asked


def test_no_two_logins_share_a_state_or_a_challenge(account: GoogleAccount, server: GoogleServer) -> None:
    seen = set()
    for _ in range(3):
        with signing_in(account, client(server), Feature) as login:
            asked = parse_qs(urlsplit(login.link).query)
            seen |= {asked["state"][0], asked["code_challenge"][0]}
    assert len(seen) == 6


# -- by browser --------------------------------------------------------------------------------------------------------


def test_a_yes_in_the_browser_signs_in_and_the_page_says_so(login: SigningIn, account: GoogleAccount) -> None:
    outcome, page = by_browser(login)
    assert isinstance(outcome, LoggedIn)
    assert WORKED in page
    assert outcome.sign_in == account.status()
    assert outcome.sign_in.address == ADDRESS
    assert outcome.missing == frozenset()
    assert outcome.notes == ()
    account.check()


def test_a_no_in_the_browser_is_a_sentence_there_and_here(
    login: SigningIn, account: GoogleAccount, oauth: OAuth
) -> None:
    oauth.consent = "refuse"
    outcome, page = by_browser(login)
    assert isinstance(outcome, Refused)
    assert str(outcome).startswith("you said no at Google, and nothing was changed")
    assert "Keryx was not signed in: you said no at Google" in page
    assert not account.signed_in


@pytest.mark.parametrize("path", ["", "favicon.ico", "?state=STATE", "x?code=4/0Astray&state=STATE"])
def test_a_stray_request_does_not_end_the_wait(login: SigningIn, path: str) -> None:
    status, page = read(redirect_uri(login) + path.replace("STATE", state(login)))
    assert status == 404
    assert "waits here for Google's answer" in page
    assert waiting(login)
    assert isinstance(by_browser(login)[0], LoggedIn)


@pytest.mark.parametrize("query", ["code=4/0Aforged", "code=4/0Aforged&state=wrong", "error=access_denied&state="])
def test_a_forged_answer_is_not_taken_and_does_not_end_the_wait(login: SigningIn, oauth: OAuth, query: str) -> None:
    status, page = read(f"{redirect_uri(login)}?{query}")
    assert status == 400
    assert "the answer to another sign-in" in page
    assert waiting(login)
    assert oauth.asked == []
    assert isinstance(by_browser(login)[0], LoggedIn)


def test_a_browser_that_opens_a_connection_in_advance_holds_nothing_up(login: SigningIn) -> None:
    port = urlsplit(redirect_uri(login)).port
    with socket.create_connection(("127.0.0.1", port or 0)), socket.create_connection(("127.0.0.1", port or 0)):
        assert isinstance(by_browser(login)[0], LoggedIn)


def test_whatever_asks_at_the_door_prints_nothing_where_the_owner_looks(
    login: SigningIn, capfd: pytest.CaptureFixture[str]
) -> None:
    port = urlsplit(redirect_uri(login)).port or 0
    odd = [b"GET http://[::1/?code=4/0Aodd&state=x HTTP/1.1\r\n\r\n", b"\x00\xff\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n"]
    for request in odd:
        with socket.create_connection(("127.0.0.1", port), timeout=BOUND_S) as browser:
            browser.sendall(request)
            assert browser.recv(100)
    browser = socket.create_connection(("127.0.0.1", port), timeout=BOUND_S)
    browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    browser.sendall(b"GET /?code=4/0Agone HTTP/1.1\r\n")
    browser.close()  # with a reset
    assert isinstance(by_browser(login)[0], LoggedIn)
    assert capfd.readouterr().err == ""


def test_a_page_that_is_loaded_again_is_told_that_it_was_answered(login: SigningIn) -> None:
    by_browser(login)
    status, page = read(f"{redirect_uri(login)}?code=4/0Aagain&state={state(login)}")
    assert status == 409
    assert "was answered already" in page


def test_the_page_shows_nothing_of_the_address_and_keeps_nothing(login: SigningIn) -> None:
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(f"{redirect_uri(login)}?code=<script>&state=<script>", timeout=BOUND_S)
    with refusal.value as page:
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert page.headers["Content-Security-Policy"] == "default-src 'none'"
        assert b"script" not in page.read()


def test_nothing_listens_once_the_login_is_over(account: GoogleAccount, server: GoogleServer) -> None:
    with signing_in(account, client(server), Feature) as login:
        port = urlsplit(redirect_uri(login)).port
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port or 0), timeout=BOUND_S)


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_an_address_that_is_pasted_signs_in(login: SigningIn, account: GoogleAccount) -> None:
    assert by_hand(login).sign_in.address == ADDRESS
    account.check()


def test_a_code_that_is_pasted_alone_signs_in(login: SigningIn) -> None:
    address = follow(login.link)
    assert login.take_pasted(parse_qs(urlsplit(address).query)["code"][0]).sign_in.signed_in


def test_a_code_that_was_cut_off_can_be_pasted_again(login: SigningIn, account: GoogleAccount) -> None:
    address = follow(login.link)
    with pytest.raises(Unfit, match="cut off, used already or too old"):
        login.take_pasted(parse_qs(urlsplit(address).query)["code"][0][:-3])
    assert not account.signed_in
    assert login.take_pasted(address).sign_in.signed_in


@pytest.mark.parametrize(
    "text",
    [
        f"http://127.0.0.1:8123/?state={STATE}&code={CODE}&scope=x",
        f"  'http://127.0.0.1:8123/?code={CODE}&state={STATE}'  ",
        f"<http://localhost:8123/?code={CODE.replace('/', '%2F')}&state={STATE}>",
        f"127.0.0.1:8123/?state={STATE}&code={CODE}",
        f"?state={STATE}&code={CODE}",
        f"state={STATE}&code={CODE}",
        CODE,
        CODE.replace("/", "%2F"),
    ],
)
def test_what_people_copy_is_understood(text: str) -> None:
    assert answer_in(text, STATE) == CODE


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no address and no code"),
        ("yes", "no address and no code"),
        ("I agreed, what now?", "no address and no code"),
        ("http://127.0.0.1:8123/", "not where the browser ends"),
        ("https://accounts.google.com/v3/signin", "not where the browser ends"),
        ("accounts.google.com/signin", "not where the browser ends"),
        (f"http://127.0.0.1:8123/?code={CODE}", "belongs to another sign-in"),
        (f"http://127.0.0.1:8123/?code={CODE}&state=other", "belongs to another sign-in"),
        ("http://127.0.0.1:8123/?error=access_denied&state=other", "belongs to another sign-in"),
        (f"http://127.0.0.1:8123/?state={STATE}&code=", "has no code in it"),
        (
            f"https://accounts.google.com/o/oauth2/auth?response_type=code&client_id=x&state={STATE}&code_challenge=y",
            "that is the link itself",
        ),
    ],
)
def test_a_wrong_paste_is_told_what_is_wrong_with_it(text: str, says: str) -> None:
    with pytest.raises(Unfit, match=says):
        answer_in(text, STATE)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("access_denied", "you said no at Google"),
        ("admin_policy_enforced", r"Google did not allow it \(admin_policy_enforced\)"),
        ("%1b%5B31mred", r"Google did not allow it \(no reason that can be shown\)"),
    ],
)
def test_a_no_that_is_pasted_is_a_no(error: str, says: str) -> None:
    with pytest.raises(Refused, match=says) as refusal:
        answer_in(f"http://127.0.0.1:8123/?error={error}&state={STATE}", STATE)
    assert not isinstance(refusal.value, Unfit)


# -- what was really granted -------------------------------------------------------------------------------------------


def test_what_was_unticked_at_google_is_kept_and_said(login: SigningIn, account: GoogleAccount, oauth: OAuth) -> None:
    oauth.unticked = {"https://www.googleapis.com/auth/gmail.modify"}
    done = by_hand(login)
    assert account.features() == {Feature.READ_CALENDAR, Feature.CHANGE_CALENDAR}
    assert done.missing == {Feature.READ_MAIL, Feature.WRITE_MAIL, Feature.SORT_MAIL}
    assert done.sign_in.address == ADDRESS, "the calendar tells it when mail was not granted"


def test_a_sign_in_with_everything_unticked_is_none(login: SigningIn, account: GoogleAccount, oauth: OAuth) -> None:
    oauth.unticked = set(scopes_of(Feature))
    with pytest.raises(Refused, match="nothing was granted at Google; run keryx auth login google again"):
        by_hand(login)
    assert not account.signed_in


def test_an_address_that_cannot_be_known_is_left_empty(account: GoogleAccount, server: GoogleServer) -> None:
    with signing_in(account, client(server), [Feature.CHANGE_CALENDAR], api_url=server.url) as login:
        done = by_hand(login)
    assert done.sign_in.address == ""
    assert done.sign_in.signed_in


def test_an_interface_that_is_not_enabled_is_said_with_where_to_enable_it(
    login: SigningIn, server: GoogleServer
) -> None:
    server.disabled = {"gmail"}
    done = by_hand(login)
    assert done.notes == (
        "the Gmail API is not enabled in your Google Cloud project: "
        "https://console.cloud.google.com/apis/library/gmail.googleapis.com",
    )
    assert done.sign_in.address == ADDRESS


def test_a_login_does_not_fail_because_the_address_cannot_be_asked_for(
    account: GoogleAccount, server: GoogleServer
) -> None:
    with signing_in(account, client(server), [Feature.READ_MAIL], api_url="http://127.0.0.1:9") as login:
        done = by_hand(login)
    assert done.sign_in.signed_in
    assert done.sign_in.address == ""
    assert "the Gmail API did not answer just now" in done.notes[0]


def test_the_seven_days_of_a_project_in_testing_are_kept(login: SigningIn, oauth: OAuth, clock: VirtualClock) -> None:
    oauth.ends_in_s = 604_799
    assert by_hand(login).sign_in.ends == clock.now() + timedelta(seconds=604_799)


# -- a login that fails, and one in place of another -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (refused(401, "invalid_client", "Unauthorized"), ConfigError, "run keryx auth login google --client FILE"),
        (refused(400, "redirect_uri_mismatch"), ConfigError, 'not of kind "Desktop app"'),
        (refused(400, "org_internal"), ConfigError, r"\(org_internal\); run keryx auth login google again"),
        (Answer(503), Unavailable, "Google is busy"),
        (Answer(200, b"<html>"), Unavailable, "Google cannot be reached"),
    ],
)
def test_a_login_that_fails_leaves_the_old_one_as_it_was(
    account: GoogleAccount, server: GoogleServer, clock: VirtualClock, answer: Answer, kind: type[KeryxError], says: str
) -> None:
    signed_in(account.folder.path, server, clock=clock)
    before = {path.name: path.read_bytes() for path in account.folder.path.iterdir()}
    with signing_in(account, client(server), Feature, api_url=server.url) as login:
        server.oauth.faults.append(answer)
        outcome, page = by_browser(login)
    assert isinstance(outcome, kind)
    assert re.search(says, str(outcome))
    assert "Keryx was not signed in: " in page
    assert {path.name: path.read_bytes() for path in account.folder.path.iterdir()} == before
    account.check()


def test_a_sign_in_that_would_end_within_the_hour_is_not_kept(
    account: GoogleAccount, server: GoogleServer, clock: VirtualClock
) -> None:
    signed_in(account.folder.path, server, clock=clock)
    before = account.kept()
    server.oauth.gives_refresh_token = False
    with signing_in(account, client(server), Feature, api_url=server.url) as login:
        with pytest.raises(ConfigError, match="no refresh token.*myaccount.google.com/connections"):
            by_hand(login)
    assert account.kept() == before


def test_a_login_while_signed_in_replaces(account: GoogleAccount, server: GoogleServer, clock: VirtualClock) -> None:
    signed_in(account.folder.path, server, [Feature.READ_MAIL], address="bob@example.org", clock=clock)
    before = account.kept()
    with signing_in(account, client(server), Feature, api_url=server.url) as login:
        by_hand(login)
    after = account.kept()
    assert after.login != before.login
    assert after.address == ADDRESS
    assert account.features() == frozenset(Feature)
