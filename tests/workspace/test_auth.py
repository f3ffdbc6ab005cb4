"""The sign-in as it is kept, refreshed and given back, against an authorisation server on loopback."""

import contextlib
import dataclasses
import json
import logging
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from keryx.clock import VirtualClock
from keryx.errors import ConfigError, KeryxError, Unavailable
from keryx.workspace.auth import GoogleAccount, NotSignedIn
from keryx.workspace.features import Feature, scopes_of
from keryx.workspace.signin import oauth as oauth_requests
from keryx.workspace.signin.kept import client_from
from keryx.workspace.signin.oauth import revoke_uri
from tests.support.google import GoogleServer, served_google
from tests.support.google.oauth import (
    ADDRESS,
    CLIENT_SECRET,
    DROPPED,
    Answer,
    OAuth,
    client,
    client_file,
    refused,
    signed_in,
)

pytest.importorskip("google.oauth2", reason="the google extra is not installed")

OFFLINE = {"googleapiclient": None, "google_auth_oauthlib": None, "google.oauth2": None, "httplib2": None}


@pytest.fixture
def server() -> Iterator[GoogleServer]:
    with served_google() as server:
        yield server


@pytest.fixture
def oauth(server: GoogleServer) -> OAuth:
    return server.oauth


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "google"


@pytest.fixture
def account(folder: Path, server: GoogleServer, clock: VirtualClock) -> GoogleAccount:
    return signed_in(folder, server, clock=clock)


def bearer(credentials: Any) -> str:
    """What a request would be signed with now."""
    headers: dict[str, str] = {}
    credentials.before_request(None, "GET", "https://gmail.googleapis.com/", headers)
    return headers["authorization"].removeprefix("Bearer ")


def run(script: str, *arguments: str) -> str:
    """What a Python program of its own prints."""
    outcome = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.strip()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# -- credentials that keep themselves fresh ----------------------------------------------------------------------------


def test_a_fresh_sign_in_signs_requests_without_asking_google(account: GoogleAccount, oauth: OAuth) -> None:
    assert bearer(account.credentials()) in oauth.tokens
    assert oauth.asked == []


async def test_an_expired_token_is_refreshed_once_and_kept(
    account: GoogleAccount, oauth: OAuth, clock: VirtualClock
) -> None:
    credentials = account.credentials()
    first = bearer(credentials)
    await clock.advance(3600)
    oauth.expire()
    second = bearer(credentials)
    assert second != first
    assert second in oauth.tokens
    assert bearer(credentials) == bearer(account.credentials()) == second
    assert oauth.count("refresh_token") == 1


async def test_a_token_is_not_begun_with_when_its_end_is_near(
    account: GoogleAccount, oauth: OAuth, clock: VirtualClock
) -> None:
    credentials = account.credentials()
    await clock.advance(3599 - 150)
    bearer(credentials)
    assert oauth.asked == []
    await clock.advance(60)
    bearer(credentials)
    assert oauth.count("refresh_token") == 1


async def test_many_threads_and_accounts_on_one_sign_in_refresh_it_once(
    account: GoogleAccount, folder: Path, oauth: OAuth, clock: VirtualClock
) -> None:
    shared = account.credentials()
    own = [GoogleAccount(folder, clock=clock).credentials() for _ in range(4)]
    await clock.advance(3600)
    oauth.expire()
    together = threading.Barrier(8)

    def use(credentials: Any) -> str:
        together.wait(30)
        return bearer(credentials)

    with ThreadPoolExecutor(8) as pool:
        used = set(pool.map(use, [shared] * 4 + own))
    assert len(used) == 1
    assert used <= oauth.tokens.keys()
    assert oauth.count("refresh_token") == 1


def test_several_processes_refresh_one_sign_in_once(server: GoogleServer, folder: Path, oauth: OAuth) -> None:
    account = signed_in(folder, server)
    kept = account.kept()
    account.folder.write(dataclasses.replace(kept, stored_at=kept.stored_at - timedelta(hours=2)))
    oauth.expire()
    script = (
        "import sys, pathlib; from keryx.workspace.auth import GoogleAccount\n"
        "headers = {}; account = GoogleAccount(pathlib.Path(sys.argv[1]))\n"
        "account.credentials().before_request(None, 'GET', 'https://x', headers); print(headers['authorization'])"
    )
    with ThreadPoolExecutor(3) as pool:
        used = set(pool.map(lambda _: run(script, str(folder)), range(3)))
    assert len(used) == 1
    assert used.pop().removeprefix("Bearer ") in oauth.tokens
    assert oauth.count("refresh_token") == 1


def test_a_token_that_google_does_not_take_any_more_is_replaced_and_the_request_made_again(
    account: GoogleAccount, server: GoogleServer, oauth: OAuth
) -> None:
    import google_auth_httplib2
    import httplib2

    oauth.expire()  # this machine believes it to be good for an hour
    http = google_auth_httplib2.AuthorizedHttp(account.credentials(), http=httplib2.Http(timeout=10))
    for _ in range(2):
        response, body = http.request(f"{server.url}/gmail/v1/users/me/profile")
        assert response.status == 200
        assert json.loads(body)["emailAddress"] == ADDRESS
    http.close()
    assert oauth.count("refresh_token") == 1


def test_a_batch_asks_the_credentials_as_any_request_does(account: GoogleAccount) -> None:
    from googleapiclient import _auth

    credentials = account.credentials()
    assert _auth.is_valid(credentials)
    assert _auth.refresh_credentials(credentials) is None
    assert _auth.is_valid(credentials)


@pytest.mark.parametrize("hours", [-30, -3, 3, 30, 24 * 365 * 10])
async def test_a_clock_that_is_set_costs_one_refresh_at_most_and_no_loop(
    account: GoogleAccount, oauth: OAuth, clock: VirtualClock, hours: float
) -> None:
    kept = account.kept()
    account.folder.write(dataclasses.replace(kept, stored_at=kept.stored_at + timedelta(hours=hours)))
    credentials = account.credentials()
    for _ in range(5):
        assert bearer(credentials) in oauth.tokens
        await clock.advance(60)
    assert oauth.count("refresh_token") == 1


@pytest.mark.parametrize(
    ("expires_in", "lifetime_s"), [("3599", 3599), (None, 3600), (-5, 3600), ("soon", 3600), ("nan", 3600)]
)
async def test_a_lifetime_that_makes_no_sense_is_taken_for_an_hour(
    account: GoogleAccount, oauth: OAuth, expires_in: object, lifetime_s: float
) -> None:
    oauth.lifetime_s = expires_in
    assert account.refreshed(account.kept().access_token).lifetime_s == lifetime_s


async def test_a_token_that_lasts_seconds_is_fetched_once_a_request_and_no_oftener(
    account: GoogleAccount, oauth: OAuth, clock: VirtualClock
) -> None:
    oauth.lifetime_s = 2
    credentials = account.credentials()
    await clock.advance(3600)
    for asked in (1, 2, 3):
        bearer(credentials)
        assert oauth.count("refresh_token") == asked
        await clock.advance(10)


# -- what others do meanwhile ------------------------------------------------------------------------------------------


def test_a_logout_elsewhere_ends_the_credentials_at_once(account: GoogleAccount, folder: Path) -> None:
    credentials = account.credentials()
    bearer(credentials)
    GoogleAccount(folder).log_out()
    with pytest.raises(NotSignedIn, match="run keryx auth login google"):
        bearer(credentials)


def test_another_login_elsewhere_is_followed(
    account: GoogleAccount, folder: Path, server: GoogleServer, clock: VirtualClock
) -> None:
    credentials = account.credentials()
    before = bearer(credentials)
    signed_in(folder, server, [Feature.READ_MAIL], address="bob@example.org", clock=clock)
    assert bearer(credentials) != before
    assert credentials.scopes == list(scopes_of([Feature.READ_MAIL]))


def test_a_refresh_never_brings_back_what_was_removed_meanwhile(account: GoogleAccount, oauth: OAuth) -> None:
    oauth.meanwhile = account.folder.remove
    account.check()
    assert not account.signed_in


def test_a_refresh_never_replaces_another_login(account: GoogleAccount, oauth: OAuth) -> None:
    newer = dataclasses.replace(account.kept(), login="another", access_token="another")
    oauth.meanwhile = lambda: account.folder.write(newer)
    account.check()
    assert account.kept() == newer


def test_a_refusal_never_marks_another_login(account: GoogleAccount, oauth: OAuth) -> None:
    newer = dataclasses.replace(account.kept(), login="another")
    oauth.meanwhile = lambda: account.folder.write(newer)
    oauth.faults.append(refused(400, "invalid_grant"))
    with pytest.raises(NotSignedIn):
        account.check()
    assert account.status().wrong == ""


def test_a_logout_during_a_refresh_waits_for_it_and_wins(account: GoogleAccount, folder: Path, oauth: OAuth) -> None:
    others = ThreadPoolExecutor(1)
    outcomes = []
    oauth.meanwhile = lambda: outcomes.append(others.submit(GoogleAccount(folder).log_out))
    account.check()
    assert outcomes[0].result(timeout=30).problem == ""
    others.shutdown()
    assert not account.signed_in
    assert oauth.grants == {}
    assert oauth.tokens == {}


def test_a_sign_in_that_somebody_holds_for_too_long_is_said_to_be_busy(account: GoogleAccount, folder: Path) -> None:
    other = GoogleAccount(folder)
    other.folder.lock_wait_s = 0.05
    with account.folder.locked(), pytest.raises(Unavailable, match="busy with the sign-in"):
        other.check()


# -- when Google says no, or nothing -----------------------------------------------------------------------------------


def test_a_revoked_sign_in_is_a_sentence_and_stays_said(account: GoogleAccount, oauth: OAuth) -> None:
    oauth.revoke(account.kept().refresh_token)
    with pytest.raises(NotSignedIn) as error:
        account.check()
    assert str(error.value) == "Google ended the sign-in: it was revoked or has expired; run keryx auth login google"
    assert error.value.spoken == "Google has ended your sign-in. Sign in again on your machine."
    status = account.status()
    assert not status.signed_in
    assert status.wrong == str(error.value)
    assert status.address == ADDRESS


def test_a_sign_in_that_is_taken_again_is_no_longer_said_to_be_wrong(account: GoogleAccount, oauth: OAuth) -> None:
    oauth.faults.append(refused(400, "invalid_grant"))
    with pytest.raises(NotSignedIn):
        account.check()
    account.check()
    assert account.status().signed_in
    assert account.status().wrong == ""


async def test_a_sign_in_that_ended_after_its_seven_days_says_why(
    account: GoogleAccount, oauth: OAuth, clock: VirtualClock
) -> None:
    kept = account.kept()
    account.folder.write(dataclasses.replace(kept, ends=kept.since + timedelta(days=7)))
    await clock.advance(7 * 86400 + 1)
    oauth.revoke(kept.refresh_token)
    with pytest.raises(NotSignedIn, match='seven days while your Google Cloud project is in "Testing"'):
        account.check()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (refused(401, "invalid_client", "The OAuth client was deleted."), "--client FILE"),
        (refused(400, "unauthorized_client"), "--client FILE"),
        (refused(403, "admin_policy_enforced"), "(admin_policy_enforced)"),
        (refused(400, "no <b>word</b> of ours"), "(HTTP 400)"),
    ],
)
def test_every_refusal_says_what_to_do(account: GoogleAccount, oauth: OAuth, answer: Answer, says: str) -> None:
    oauth.faults.append(answer)
    with pytest.raises(NotSignedIn) as error:
        account.check()
    assert says in str(error.value)
    assert "run keryx auth login google" in str(error.value)


@pytest.mark.parametrize(
    "answer",
    [
        DROPPED,
        Answer(200, b"<html>Welcome to the hotel's network</html>"),
        Answer(200, b"[]"),
        Answer(200, b"{}"),
        Answer(200, b'{"access_token": ""}'),
        Answer(200, b'{"access_token": "in two\\nlines"}'),
        Answer(200, '{"access_token": "schlüssel"}'.encode()),
        Answer(200, b'{"a":' * 100_000),
        Answer(302, headers={"Location": "http://127.0.0.1:9/login"}),
        refused(500, "internal_failure"),
        Answer(503, b"busy"),
        Answer(429),
    ],
)
def test_google_not_answering_is_no_reason_to_sign_in_again(
    account: GoogleAccount, oauth: OAuth, answer: Answer
) -> None:
    before = account.folder.sign_in.read_text()
    oauth.faults.append(answer)
    with pytest.raises(Unavailable) as error:
        account.check()
    assert "your sign-in is as it was, try again" in str(error.value)
    assert "login" not in str(error.value)
    assert "sign in" not in error.value.spoken.lower()
    assert account.folder.sign_in.read_text() == before
    assert oauth.count("refresh_token") == 1


def test_an_answer_that_drips_does_not_hold_the_sign_in_for_ever(
    account: GoogleAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth_requests, "WAIT_S", 0.2)
    done = threading.Event()

    def drip(listener: socket.socket) -> None:
        with listener.accept()[0] as connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not done.wait(0.05):
                connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        dripping = threading.Thread(target=drip, args=(listener,))
        dripping.start()
        uri = f"http://127.0.0.1:{listener.getsockname()[1]}/token"
        account.folder.write(dataclasses.replace(account.kept(), token_uri=uri))
        asking = threading.Thread(target=lambda: pytest.raises(Unavailable, account.check), daemon=True)
        asking.start()
        asking.join(20)
        still = asking.is_alive()
        done.set()
        dripping.join(20)
    assert not still


def test_without_a_network_the_sign_in_stays_and_works_again_later(
    folder: Path, account: GoogleAccount, server: GoogleServer
) -> None:
    kept = account.kept()
    account.folder.write(dataclasses.replace(kept, token_uri="http://127.0.0.1:9/token"))
    with pytest.raises(Unavailable, match="Google cannot be reached"):
        account.check()
    account.folder.write(kept)
    account.check()


# -- what is on the disk -----------------------------------------------------------------------------------------------


def test_nobody_signed_in_is_a_sentence_and_makes_nothing(folder: Path) -> None:
    account = GoogleAccount(folder)
    assert not account.signed_in
    for ask in (account.features, account.credentials, account.check):
        with pytest.raises(NotSignedIn, match="^not signed in at Google; run keryx auth login google$"):
            ask()
    assert account.status().wrong == ""
    assert not account.status().signed_in
    assert not folder.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text[:-3],
        lambda text: "null",
        lambda text: text.replace("lifetime_s", "lifetime"),
        lambda text: text.replace('"scopes"', '"scope"'),
        lambda text: "\x00" * 400,
        lambda text: re.sub(r'"stored_at": "[^"]*"', '"stored_at": "2026-01-01T00:00:00"', text),
        lambda text: re.sub(r'"stored_at": "[^"]*"', '"stored_at": "9999-12-31T23:59:59Z"', text),
        lambda text: re.sub(r'"lifetime_s": [^,]*', '"lifetime_s": 1e300', text),
        lambda text: re.sub(r'"token_uri": "[^"]*"', '"token_uri": "http://example.org/token"', text),
    ],
)
def test_a_half_written_sign_in_is_a_sentence_and_shows_nothing_of_it(
    account: GoogleAccount, damage: Callable[[str], str]
) -> None:
    secret = account.kept().refresh_token
    credentials = account.credentials()
    account.folder.sign_in.write_text(damage(account.folder.sign_in.read_text()))
    for ask in (account.features, account.credentials, account.check, lambda: bearer(credentials)):
        with pytest.raises(ConfigError, match="damaged .*run keryx auth login google") as error:
            ask()
        assert secret not in repr(error.value)
        assert error.value.__cause__ is None
        assert error.value.__suppress_context__
    status = account.status()
    assert not status.signed_in
    assert "damaged" in status.wrong
    assert account.log_out().problem == "what was kept of it could not be read"
    assert not account.signed_in


def test_only_the_owner_can_read_what_is_kept(account: GoogleAccount, folder: Path) -> None:
    account.check()
    assert mode(folder) == mode(folder.parent) == 0o700
    assert {mode(path) for path in folder.iterdir()} == {0o600}


def test_what_was_opened_to_others_is_closed_again(account: GoogleAccount, folder: Path) -> None:
    for path in (account.folder.sign_in, account.folder.client):
        path.chmod(0o644)
    folder.chmod(0o755)
    account.features()
    account.client()
    assert mode(account.folder.sign_in) == mode(account.folder.client) == 0o600
    account.check()
    assert mode(folder) == 0o700


def test_a_full_disk_costs_no_request(server: GoogleServer, folder: Path, oauth: OAuth) -> None:
    account = signed_in(folder, server)
    before = account.folder.sign_in.read_text()
    oauth.expire()
    script = (
        "import resource, sys, pathlib; from keryx.workspace.auth import GoogleAccount\n"
        "credentials = GoogleAccount(pathlib.Path(sys.argv[1])).credentials()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "credentials.refresh(None)\n"
        "headers = {}; credentials.before_request(None, 'GET', 'https://x', headers); print(headers['authorization'])"
    )
    assert run(script, str(folder)).removeprefix("Bearer ") in oauth.tokens
    assert account.folder.sign_in.read_text() == before
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == [], "no draft is left"


def test_the_status_says_what_is_granted_and_until_when(account: GoogleAccount, clock: VirtualClock) -> None:
    status = account.status()
    assert status.signed_in
    assert status.address == ADDRESS
    assert status.features == account.features() == frozenset(Feature)
    assert status.since == clock.now()
    assert status.until == clock.now() + timedelta(seconds=3599)
    assert status.ends is None
    assert status.wrong == ""


def test_a_client_s_file_that_is_gone_is_said_and_stops_nothing(account: GoogleAccount) -> None:
    account.folder.client.unlink()
    assert account.status().signed_in
    assert "the next login needs --client FILE" in account.status().wrong
    account.check()
    account.folder.client.write_text("{")
    assert "is not JSON" in account.status().wrong


# -- logging out -------------------------------------------------------------------------------------------------------


def test_a_logout_takes_everything_back(account: GoogleAccount, oauth: OAuth) -> None:
    done = account.log_out()
    assert done.was_signed_in
    assert done.address == ADDRESS
    assert done.problem == ""
    assert not account.signed_in
    assert oauth.grants == {}
    assert account.client() is not None, "the client stays for the next login"


def test_a_logout_of_nobody_asks_nobody(folder: Path, oauth: OAuth) -> None:
    assert not GoogleAccount(folder).log_out().was_signed_in
    assert oauth.asked == []
    assert not folder.exists()


def test_what_google_has_ended_already_counts_as_revoked(account: GoogleAccount, oauth: OAuth) -> None:
    oauth.revoke(account.kept().refresh_token)
    assert account.log_out().problem == ""


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (DROPPED, "Google cannot be reached"),
        (Answer(503), "Google is busy (HTTP 503)"),
        (Answer(302, headers={"Location": "http://127.0.0.1:9/login"}), "Google cannot be reached (something else"),
        (refused(400, "unsupported_token_type"), "Google refused (unsupported_token_type)"),
    ],
)
def test_a_logout_that_google_does_not_hear_of_forgets_all_the_same(
    account: GoogleAccount, oauth: OAuth, answer: Answer, says: str
) -> None:
    oauth.faults.append(answer)
    assert account.log_out().problem.startswith(says)
    assert not account.signed_in


@pytest.mark.parametrize(
    ("token_uri", "revoke"),
    [
        ("https://oauth2.googleapis.com/token", "https://oauth2.googleapis.com/revoke"),
        ("https://accounts.google.com/o/oauth2/token", "https://accounts.google.com/o/oauth2/revoke"),
    ],
)
def test_the_address_to_revoke_at_is_google_s_own(token_uri: str, revoke: str) -> None:
    assert revoke_uri(token_uri) == revoke


# -- the client's file -------------------------------------------------------------------------------------------------

FIELDS = {
    "client_id": "id",
    "client_secret": CLIENT_SECRET,
    "auth_uri": "https://accounts.google.com/o/oauth2/auth",
    "token_uri": "https://oauth2.googleapis.com/token",
}


def test_the_file_that_google_offers_is_taken_as_it_is(tmp_path: Path, server: GoogleServer) -> None:
    assert client_from(client_file(tmp_path / "c.json", server).read_text(), "c.json") == client(server)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"web": FIELDS}, 'of kind "Web application"; make one of kind "Desktop app"'),
        ({"type": "service_account", "private_key": CLIENT_SECRET}, "is a service account's key"),
        ({"refresh_token": CLIENT_SECRET}, "holds no OAuth client"),
        ({"installed": [CLIENT_SECRET]}, "holds no OAuth client"),
        ([CLIENT_SECRET], "is not the file"),
        *(({"installed": {**FIELDS, name: ""}}, f"lacks {name}") for name in FIELDS),
        ({"installed": {**FIELDS, "client_secret": 5}}, "lacks client_secret"),
        ({"installed": {**FIELDS, "token_uri": "http://oauth2.example/token"}}, "its token_uri is no https address"),
        ({"installed": {**FIELDS, "auth_uri": "javascript:alert(1)"}}, "its auth_uri is no https address"),
        ({"installed": {**FIELDS, "auth_uri": "https://"}}, "its auth_uri is no https address"),
        ({"installed": {**FIELDS, "auth_uri": "https://[::1"}}, "its auth_uri is no https address"),
    ],
)
def test_any_other_file_is_refused_with_what_to_take_instead(value: object, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        client_from(json.dumps(value), "~/Downloads/x.json")
    assert str(error.value).startswith("~/Downloads/x.json")
    assert says in str(error.value)
    assert CLIENT_SECRET not in str(error.value)


@pytest.mark.parametrize("token_uri", ["http://127.0.0.1:8123/token", "http://localhost/token", "http://[::1]:1/token"])
def test_a_client_for_a_server_on_this_machine_is_taken(token_uri: str) -> None:
    text = json.dumps({"installed": {**FIELDS, "token_uri": token_uri}})
    assert client_from(text, "x").token_uri == token_uri


def test_a_client_s_file_that_is_not_there_is_named(account: GoogleAccount, tmp_path: Path) -> None:
    for path in (tmp_path / "gone.json", tmp_path):
        with pytest.raises(ConfigError, match=f"cannot read {path} "):
            account.client(path)


# -- secrets, and what is not installed --------------------------------------------------------------------------------


def test_no_secret_is_in_a_log_an_error_or_a_repr(
    account: GoogleAccount, oauth: OAuth, server: GoogleServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    kept = account.kept()
    seen = [repr(kept), repr(client(server)), repr(account), repr(account.credentials()), str(account.status())]
    account.check()
    secrets = {kept.refresh_token, kept.access_token, account.kept().access_token, CLIENT_SECRET}
    oauth.faults.extend([refused(400, "invalid_grant", kept.refresh_token), Answer(503, kept.refresh_token.encode())])
    for _ in range(2):
        with pytest.raises(KeryxError) as error:
            account.check()
        seen += [repr(error.value), error.value.spoken]
    seen.append(str(account.log_out()))
    seen += [record.getMessage() + str(vars(record)) for record in caplog.records]
    assert not [secret for secret in secrets for text in seen if secret in text]


def test_whether_anybody_is_signed_in_is_known_without_anything_heavy(account: GoogleAccount, folder: Path) -> None:
    script = (
        "import sys, pathlib; from keryx.workspace.auth import GoogleAccount, installed\n"
        "print(GoogleAccount(pathlib.Path(sys.argv[1])).signed_in, installed(), file=sys.stderr)\n"
        "print(*sorted(sys.modules), sep='\\n')"
    )
    loaded = run(script, str(folder)).splitlines()
    heavy = (
        "google.",
        "googleapiclient",
        "google_auth",
        "httplib2",
        "requests",
        "oauthlib",
        "cryptography",
        "filelock",
    )
    assert not [name for name in loaded if name.startswith(heavy)]


def test_without_the_packages_the_status_works_and_the_rest_says_what_to_install(
    server: GoogleServer, folder: Path
) -> None:
    signed_in(folder, server)
    script = (
        f"import sys, pathlib; sys.modules.update({OFFLINE!r})\n"
        "from keryx.errors import ConfigError\n"
        "from keryx.workspace.auth import GoogleAccount, installed\n"
        "account = GoogleAccount(pathlib.Path(sys.argv[1]))\n"
        "print(installed(), account.status().signed_in, len(account.features()))\n"
        "for ask in (account.credentials, account.check):\n"
        "    try: ask()\n"
        "    except ConfigError as error: print(error)\n"
        "print(account.log_out().problem)\n"
        "print(account.signed_in)"
    )
    how = "mail and calendar need Google's own packages: run pip install 'keryx[google]' and start again"
    assert run(script, str(folder)).splitlines() == ["False True 5", how, how, how, "False"]
