"""Google's authorisation server on loopback: consent with PKCE, tokens that rotate and end, revocation, error bodies.

`OAuth` answers requests and knows no socket; `server.py` mounts it.
"""

import base64
import hashlib
import http.client
import http.server
import itertools
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import parse_qs, urlencode, urlsplit

from keryx.clock import Clock
from keryx.workspace.auth import GoogleAccount
from keryx.workspace.features import Feature, scopes_of
from keryx.workspace.signin.kept import Client, Kept

CLIENT_ID = "1234567890-scripted.apps.googleusercontent.com"
CLIENT_SECRET = "GOCSPX-scripted-secret"
ADDRESS = "ada@example.org"
LIFETIME_S = 3599


@dataclass(frozen=True)
class Answer:
    """What goes back; `drop`: nothing does, the connection is closed."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False


DROPPED = Answer(0, drop=True)


def told(status: int, values: Mapping[str, Any]) -> Answer:
    return Answer(status, json.dumps(values).encode(), {"Content-Type": "application/json; charset=utf-8"})


def refused(status: int, error: str, description: str = "") -> Answer:
    """As Google words it."""
    return told(status, {"error": error, **({"error_description": description} if description else {})})


@dataclass
class Grant:
    """What an owner let a client do; the refresh token stands for it."""

    scopes: tuple[str, ...]
    tokens: list[str] = field(default_factory=list)
    """Every access token that it led to."""


@dataclass
class _Code:
    challenge: str
    redirect_uri: str
    scopes: tuple[str, ...]


class OAuth:
    """`tokens` holds the access tokens that work now, and what each may; a server of interfaces looks there."""

    def __init__(self, tokens: dict[str, set[str]] | None = None) -> None:
        self.tokens: dict[str, set[str]] = {} if tokens is None else tokens
        self.grants: dict[str, Grant] = {}
        """By refresh token."""
        self.consent: Literal["accept", "refuse"] = "accept"
        self.unticked: set[str] = set()
        """Scopes that the owner leaves out on the consent page."""
        self.gives_refresh_token = True
        self.lifetime_s: Any = LIFETIME_S
        self.ends_in_s: int | None = None
        """What a project in "Testing" is told: when the refresh token ends."""
        self.faults: deque[Answer] = deque()
        """What the next requests for tokens or revocation get instead of an answer."""
        self.meanwhile: Callable[[], object] | None = None
        """Done once, while the next request for tokens waits for its answer."""
        self.asked: list[tuple[str, dict[str, str]]] = []
        """Each request's path and fields."""
        self._codes: dict[str, _Code] = {}
        self._number = itertools.count(1)
        self._lock = threading.Lock()

    def count(self, kind: str) -> int:
        """How often tokens were asked for by this grant type."""
        return sum(fields.get("grant_type") == kind for _, fields in self.asked)

    def grant(self, scopes: Iterable[str]) -> tuple[str, str]:
        """As after a consent: a refresh token and its first access token."""
        refresh_token = f"1//scripted-refresh-{next(self._number)}"
        self.grants[refresh_token] = Grant(tuple(scopes))
        return refresh_token, self._access_token(refresh_token)

    def expire(self) -> None:
        """Every access token's time is over."""
        self.tokens.clear()

    def revoke(self, token: str) -> bool:
        """The grant ends, with all its access tokens; whether there was one."""
        found = next((r for r, grant in self.grants.items() if token == r or token in grant.tokens), None)
        if found is None:
            return False
        for access_token in self.grants.pop(found).tokens:
            self.tokens.pop(access_token, None)
        return True

    def answer(self, method: str, target: str, body: bytes) -> Answer | None:
        """The answer to a request for one of its addresses; None for any other address."""
        parts = urlsplit(target)
        sent = parts.query if method == "GET" else body.decode()
        fields = {name: values[0] for name, values in parse_qs(sent, keep_blank_values=True).items()}
        match method, parts.path:
            case "GET", "/auth":
                answer = self._authorise
            case "POST", "/token":
                answer = self._token
            case "POST", "/revoke":
                answer = self._revoke
            case _:
                return None
        if method == "POST" and (meanwhile := self.meanwhile):
            self.meanwhile = None
            meanwhile()
        with self._lock:
            self.asked.append((parts.path, fields))
            if self.faults and method == "POST":
                return self.faults.popleft()
            return answer(fields)

    def _authorise(self, asked: dict[str, str]) -> Answer:
        """The consent page, already decided on: the browser is sent back."""
        back = urlsplit(asked.get("redirect_uri", ""))
        wanted = {"response_type": "code", "client_id": CLIENT_ID, "code_challenge_method": "S256"}
        if any(asked.get(name) != value for name, value in wanted.items()) or not asked.get("scope"):
            return Answer(400, b"Error 400: invalid_request")
        if back.scheme != "http" or back.hostname not in ("127.0.0.1", "localhost", "::1"):
            return Answer(400, b"Error 400: redirect_uri_mismatch")
        if self.consent == "refuse":
            outcome = {"error": "access_denied"}
        else:
            code = f"4/0A-scripted-{next(self._number)}_code"
            scopes = tuple(scope for scope in asked["scope"].split() if scope not in self.unticked)
            offline = asked.get("access_type") == "offline" and asked.get("prompt") == "consent"
            self.gives_refresh_token = self.gives_refresh_token and offline
            self._codes[code] = _Code(asked["code_challenge"], asked["redirect_uri"], scopes)
            outcome = {"code": code, "scope": " ".join(scopes)}
        return Answer(302, headers={"Location": f"{back.geturl()}?{urlencode({'state': asked['state'], **outcome})}"})

    def _token(self, asked: dict[str, str]) -> Answer:
        if asked.get("client_id") != CLIENT_ID:
            return refused(401, "invalid_client", "The OAuth client was not found.")
        if asked.get("client_secret") != CLIENT_SECRET:
            return refused(401, "invalid_client", "Unauthorized")
        match asked.get("grant_type"):
            case "authorization_code":
                return self._exchange(asked)
            case "refresh_token":
                return self._refresh(asked)
            case other:
                return refused(400, "unsupported_grant_type", f"Invalid grant_type: {other}")

    def _exchange(self, asked: dict[str, str]) -> Answer:
        code = self._codes.pop(asked.get("code", ""), None)
        digest = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        if code is None:
            return refused(400, "invalid_grant", "Malformed auth code.")
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != code.challenge:
            return refused(400, "invalid_grant", "Invalid code verifier.")
        if asked.get("redirect_uri") != code.redirect_uri:
            return refused(400, "redirect_uri_mismatch", "Bad Request")
        refresh_token, access_token = self.grant(code.scopes)
        answer = self._given(access_token, code.scopes)
        if self.gives_refresh_token:
            answer["refresh_token"] = refresh_token
        if self.ends_in_s is not None:
            answer["refresh_token_expires_in"] = self.ends_in_s
        return told(200, answer)

    def _refresh(self, asked: dict[str, str]) -> Answer:
        grant = self.grants.get(asked.get("refresh_token", ""))
        if grant is None:
            return refused(400, "invalid_grant", "Token has been expired or revoked.")
        return told(200, self._given(self._access_token(asked["refresh_token"]), grant.scopes))

    def _revoke(self, asked: dict[str, str]) -> Answer:
        if self.revoke(asked.get("token", "")):
            return told(200, {})
        return refused(400, "invalid_token", "Token expired or revoked")

    def _given(self, access_token: str, scopes: Iterable[str]) -> dict[str, Any]:
        return {
            "access_token": access_token,
            "expires_in": self.lifetime_s,
            "scope": " ".join(scopes),
            "token_type": "Bearer",
        }

    def _access_token(self, refresh_token: str) -> str:
        grant = self.grants[refresh_token]
        token = f"ya29.scripted-access-{next(self._number)}"
        grant.tokens.append(token)
        self.tokens[token] = set(grant.scopes)
        return token


# -- being signed in ---------------------------------------------------------------------------------------------------


class Authorising(Protocol):
    """A server that `OAuth` is mounted on."""

    @property
    def url(self) -> str: ...

    @property
    def oauth(self) -> OAuth: ...


def client(server: Authorising) -> Client:
    return Client(CLIENT_ID, CLIENT_SECRET, f"{server.url}/auth", f"{server.url}/token")


def client_file(path: Path, server: Authorising) -> Path:
    """The file that Google offers for download, written to `path`."""
    downloaded = {
        **client(server).config()["installed"],
        "project_id": "scripted-project",
        "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
        "redirect_uris": ["http://localhost"],
    }
    path.write_text(json.dumps({"installed": downloaded}), encoding="utf-8")
    return path


def follow(link: str) -> str:
    """Where a browser on another machine ends that opens the consent page: the address that its owner copies."""
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}")
        answer = connection.getresponse()
        assert answer.status == 302, answer.read()
        return answer.headers["Location"]
    finally:
        connection.close()


def signed_in(
    folder: Path,
    server: Authorising,
    features: Iterable[Feature] = tuple(Feature),
    *,
    address: str = ADDRESS,
    clock: Clock | None = None,
) -> GoogleAccount:
    """The account of somebody who has just gone through `keryx auth login google`, kept in `folder`."""
    account = GoogleAccount(folder, clock=clock)
    scopes = scopes_of(features)
    refresh_token, access_token = server.oauth.grant(scopes)
    account.keep(
        Kept(
            login=refresh_token.rpartition("-")[2],
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
            token_uri=f"{server.url}/token",
            refresh_token=refresh_token,
            access_token=access_token,
            stored_at=account.clock.now(),
            lifetime_s=server.oauth.lifetime_s,
            scopes=scopes,
            address=address,
            since=account.clock.now(),
        ),
        client(server),
    )
    return account
