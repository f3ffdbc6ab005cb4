"""The sign-in as it is kept and refreshed, against an authorisation server on loopback."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keryx.clock import VirtualClock
from keryx.workspace.auth import GoogleAccount
from tests.support.google.oauth import OAuth, OAuthServer, served_oauth, signed_in

pytest.importorskip("google.oauth2", reason="the google extra is not installed")


@pytest.fixture
def server() -> Iterator[OAuthServer]:
    with served_oauth() as server:
        yield server


@pytest.fixture
def oauth(server: OAuthServer) -> OAuth:
    return server.oauth


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "google"


@pytest.fixture
def account(folder: Path, server: OAuthServer, clock: VirtualClock) -> GoogleAccount:
    return signed_in(folder, server, clock=clock)


def bearer(credentials: Any) -> str:
    """What a request would be signed with now."""
    headers: dict[str, str] = {}
    credentials.before_request(None, "GET", "https://gmail.googleapis.com/", headers)
    return headers["authorization"].removeprefix("Bearer ")


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
