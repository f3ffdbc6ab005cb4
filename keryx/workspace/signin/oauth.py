"""Google's token and revoke addresses (RFC 6749, RFC 7009), and what their refusals mean.

Over httplib2's connections, as every other request to Google. The libraries' own way is not taken: requests-oauthlib
logs the tokens and refuses a consent that the owner narrowed; google-auth waits two minutes, and tries three times.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import urlencode, urlsplit

from keryx.errors import ConfigError, Unavailable

if TYPE_CHECKING:
    from http.client import HTTPResponse

WAIT_S = 10.0
"""How long Google may take to connect, and to answer."""
STEPS_OF_AN_ANSWER = 2
"""A whole answer may take as many times as long, however slowly it drips: others wait for their turn meanwhile."""
MOST_BYTES = 1 << 20
"""Of an answer; Google's have a few hundred."""
USUAL_LIFETIME_S = 3600.0
_SOMETHING_ELSE = "something else answered: a network's own sign-in page?"
INSTALL = "pip install 'keryx[google]'"


@dataclass(frozen=True)
class Tokens:
    """What the token address gave."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    lifetime_s: float
    ends_in_s: float | None
    """When Google ends the whole sign-in, where it says so."""
    scopes: tuple[str, ...] | None
    """None: all that was asked for."""


class TokenRefused(Exception):
    """The token address said no; `error` is its word for why, as "invalid_grant"."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


def exchange(token_uri: str, *, client_id: str, client_secret: str, code: str, verifier: str, redirect: str) -> Tokens:
    """What a consent's code is worth; `TokenRefused`, `Unavailable`."""
    return _tokens(
        token_uri,
        grant_type="authorization_code",
        client_id=client_id,
        client_secret=client_secret,
        code=code,
        code_verifier=verifier,
        redirect_uri=redirect,
    )


def refresh(token_uri: str, *, client_id: str, client_secret: str, refresh_token: str) -> Tokens:
    """A new access token; `TokenRefused`, `Unavailable`."""
    return _tokens(
        token_uri,
        grant_type="refresh_token",
        client_id=client_id,
        client_secret=client_secret,
        refresh_token=refresh_token,
    )


def revoke(token_uri: str, refresh_token: str) -> None:
    """Take the sign-in back at Google; one that Google has ended already counts. `TokenRefused`, `Unavailable`."""
    status, answer = ask(revoke_uri(token_uri), form={"token": refresh_token})
    if status != 200 and _word(answer) != "invalid_token":
        raise TokenRefused(_word(answer) or f"HTTP {status}")


def revoke_uri(token_uri: str) -> str:
    """Google's own client files do not name it: it stands beside the token address, in the old place and the new."""
    return token_uri.rpartition("/")[0] + "/revoke"


def ask(url: str, *, form: Mapping[str, str] | None = None, token: str | None = None) -> tuple[int, dict[str, Any]]:
    """Post a form, or get what `token` may see: the status and the JSON object that came, an empty one when none did.

    `Unavailable` when Google cannot be reached, is overloaded or did not answer itself.
    """
    try:
        import httplib2
    except ImportError:
        raise not_installed() from None
    import http.client

    parts = urlsplit(url)
    kind = httplib2.HTTPSConnectionWithTimeout if parts.scheme == "https" else httplib2.HTTPConnectionWithTimeout
    # The connection itself: `Http` follows redirections with the token, and sends again what got no answer, while a
    # consent's code is good for once.
    connection = kind(parts.netloc, timeout=WAIT_S, proxy_info=httplib2.proxy_info_from_environment)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        connection.request(
            "GET" if form is None else "POST", parts.path, None if form is None else urlencode(form), headers
        )
        response = connection.getresponse()
        body = _read(response)
    except (httplib2.HttpLib2Error, http.client.HTTPException, OSError) as error:
        raise _unreachable(type(error).__name__) from None
    finally:
        connection.close()
    if response.status >= 500 or response.status == 429:
        raise Unavailable(
            f"Google is busy (HTTP {response.status}); your sign-in is as it was, try again in a minute",
            spoken="Google is busy just now. Ask me again in a minute.",
        )
    try:
        answer = json.loads(body) if body else {}
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or 300 <= response.status < 400:
        raise _unreachable(_SOMETHING_ELSE)
    return response.status, answer


def _read(response: "HTTPResponse") -> bytes:
    until_s = time.monotonic() + STEPS_OF_AN_ANSWER * WAIT_S
    body = b""
    while len(body) < MOST_BYTES and (piece := response.read1(MOST_BYTES - len(body))):
        body += piece
        if time.monotonic() > until_s:
            raise TimeoutError("it dripped")
    return body


def not_installed() -> ConfigError:
    return ConfigError(
        f"mail and calendar need Google's own packages: run {INSTALL} and start again",
        spoken="Mail and calendar aren't installed on your machine yet.",
    )


def _unreachable(why: str) -> Unavailable:
    return Unavailable(
        f"Google cannot be reached ({why}); your sign-in is as it was, try again when this machine is online",
        spoken="I can't reach Google just now. Make sure your machine is online, then ask me again.",
    )


def _tokens(token_uri: str, **form: str) -> Tokens:
    status, answer = ask(token_uri, form=form)
    access_token, refresh_token = answer.get("access_token"), answer.get("refresh_token")
    if "error" in answer:
        raise TokenRefused(_word(answer) or f"HTTP {status}")
    if status != 200 or not _is_token(access_token):
        raise _unreachable(_SOMETHING_ELSE)
    scope = answer.get("scope")
    return Tokens(
        access_token=access_token,
        refresh_token=refresh_token if _is_token(refresh_token) else None,
        lifetime_s=_seconds(answer.get("expires_in")) or USUAL_LIFETIME_S,
        ends_in_s=_seconds(answer.get("refresh_token_expires_in")),
        scopes=tuple(scope.split()) if isinstance(scope, str) else None,
    )


def _is_token(value: object) -> TypeGuard[str]:
    """Whether it can be one: anything else could not be written into a header, and would be shown by the error."""
    return isinstance(value, str) and value.isascii() and value.isprintable() and value != "" and " " not in value


def _word(answer: Mapping[str, Any]) -> str:
    """Why, in Google's one word: its descriptions may repeat what was sent."""
    error = answer.get("error")
    return error if isinstance(error, str) and error.replace("_", "").isalnum() and len(error) <= 60 else ""


def _seconds(value: object) -> float | None:
    """A number of seconds, as a number or a text; None when it is none."""
    try:
        seconds = float(str(value))
    except ValueError:
        return None
    return seconds if 0 < seconds < 10 * 365 * 86400 else None
