"""One login at Google: the link to the consent page, the answer that comes back by the browser or by hand, the token.

Nothing that is stored changes before all of it went well.
"""

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, unquote

from keryx.errors import ConfigError, KeryxError, Refused, Unavailable
from keryx.workspace.auth import CONNECTIONS, LOGIN, GoogleAccount, SignIn
from keryx.workspace.features import GRANTS, Feature, features_of, scopes_of
from keryx.workspace.signin import oauth
from keryx.workspace.signin.kept import Client, Kept
from keryx.workspace.signin.oauth import TokenRefused, Tokens
from keryx.workspace.signin.redirect import Redirect

WORKED = "Keryx is signed in at Google. You can close this page."


@dataclass(frozen=True)
class _Interface:
    """One of Google's interfaces, and how it tells whose account it is."""

    called: str
    base: str
    path: str
    field: str
    features: frozenset[Feature]
    """The features with any of which it may be asked."""
    enable: str


_INTERFACES = (
    _Interface(
        "Gmail API",
        "https://gmail.googleapis.com",
        "/gmail/v1/users/me/profile",
        "emailAddress",
        frozenset({Feature.READ_MAIL, Feature.WRITE_MAIL, Feature.SORT_MAIL}),
        "https://console.cloud.google.com/apis/library/gmail.googleapis.com",
    ),
    _Interface(
        "Google Calendar API",
        "https://www.googleapis.com",
        "/calendar/v3/users/me/calendarList/primary",
        "id",
        frozenset({Feature.READ_CALENDAR}),
        "https://console.cloud.google.com/apis/library/calendar-json.googleapis.com",
    ),
)


class Unfit(Refused):
    """What was pasted is not the answer; it may be asked for again."""


@dataclass(frozen=True)
class LoggedIn:
    """A login that went well."""

    sign_in: SignIn
    missing: frozenset[Feature]
    """Asked for, and not granted."""
    notes: tuple[str, ...] = ()
    """What does not work yet, each with what to do."""


class SigningIn:
    """A login under way. Blocking.

    `fileno` is readable once the browser is back: then `take_redirect`. An address that the owner brings by hand goes
    to `take_pasted`. Whichever comes first counts.
    """

    def __init__(
        self,
        account: GoogleAccount,
        client: Client,
        features: frozenset[Feature],
        redirect: Redirect,
        *,
        api_url: str | None = None,
    ) -> None:
        self._account = account
        self._client = client
        self._features = features
        self._redirect = redirect
        self._api_url = api_url
        self.link, self._verifier = _consent(client, scopes_of(features), redirect.uri, redirect.state)
        """`link`: the consent page, to be opened in any browser."""

    def fileno(self) -> int:
        return self._redirect.fileno()

    def take_redirect(self) -> LoggedIn:
        """Finish with what the browser brought, and tell it; `KeryxError` when that was no yes."""
        try:
            done = self._finish(answer_in(self._redirect.arrived(), self._redirect.state))
        except KeryxError as error:
            self._redirect.show(f"Keryx was not signed in: {error}.")
            raise
        except OSError:
            self._redirect.show("Keryx was not signed in: the sign-in could not be stored.")
            raise
        self._redirect.show(WORKED)
        return done

    def take_pasted(self, text: str) -> LoggedIn:
        """Finish with an address, or a code, that was pasted; `Unfit` when it was neither, `KeryxError` else."""
        return self._finish(answer_in(text, self._redirect.state))

    def _finish(self, code: str) -> LoggedIn:
        try:
            tokens = oauth.exchange(
                self._client.token_uri,
                client_id=self._client.client_id,
                client_secret=self._client.client_secret,
                code=code,
                verifier=self._verifier,
                redirect=self._redirect.uri,
            )
        except TokenRefused as refusal:
            raise _not_taken(refusal.error) from None
        scopes = scopes_of(self._features) if tokens.scopes is None else tokens.scopes
        if not features_of(scopes) & self._features:
            raise Refused(f"nothing was granted at Google; run {LOGIN} again and leave the ticks where they are")
        address, notes = self._whose(tokens.access_token, features_of(scopes))
        self._keep(tokens, scopes, address)
        sign_in = self._account.status()
        return LoggedIn(sign_in, self._features - sign_in.features, tuple(notes))

    def _keep(self, tokens: Tokens, scopes: tuple[str, ...], address: str) -> None:
        if tokens.refresh_token is None:
            raise ConfigError(
                "Google gave a sign-in of one hour only (no refresh token); take away what Keryx was granted at "
                f"{CONNECTIONS}, then run {LOGIN} again"
            )
        now = self._account.clock.now()
        kept = Kept(
            login=secrets.token_hex(8),
            client_id=self._client.client_id,
            client_secret=self._client.client_secret,
            token_uri=self._client.token_uri,
            refresh_token=tokens.refresh_token,
            access_token=tokens.access_token,
            stored_at=now,
            lifetime_s=tokens.lifetime_s,
            scopes=scopes,
            since=now,
            address=address,
            ends=None if tokens.ends_in_s is None else now + timedelta(seconds=tokens.ends_in_s),
        )
        self._account.keep(kept, self._client)

    def _whose(self, token: str, features: frozenset[Feature]) -> tuple[str, list[str]]:
        """Whose account it is, and which of Google's interfaces are not enabled. A login does not fail by it."""
        address, notes = "", []
        for interface in _INTERFACES:
            if not features & interface.features:
                continue
            try:
                status, answer = oauth.ask((self._api_url or interface.base) + interface.path, token=token)
            except Unavailable:
                notes.append(f"the {interface.called} did not answer just now; it is asked again when it is needed")
                continue
            if status == 403 and _not_enabled(answer):
                notes.append(f"the {interface.called} is not enabled in your Google Cloud project: {interface.enable}")
            said = answer.get(interface.field)
            if status == 200 and not address and isinstance(said, str) and said.isprintable() and len(said) <= 254:
                address = said
        return address, notes


@contextlib.contextmanager
def signing_in(
    account: GoogleAccount, client: Client, features: Iterable[Feature], *, api_url: str | None = None
) -> Iterator[SigningIn]:
    """A login for the length of the block; `ConfigError` where Google's packages are not installed."""
    with Redirect(secrets.token_urlsafe(24)) as redirect:
        yield SigningIn(account, client, frozenset(features), redirect, api_url=api_url)


def answer_in(text: str, state: str) -> str:
    """The code in an address that Google sent a browser to, or in what a person copied of it. Pure.

    `Unfit` with what is wrong with it; `Refused` when it says that the owner did not consent.
    """
    text = text.strip().strip("\"'<>")
    if "response_type=" in text:
        raise Unfit("that is the link itself: open it in a browser, and paste the address that the browser ends on")
    if "code=" not in text and "error=" not in text:
        return _code_alone(text)
    fields = parse_qs(text.partition("?")[2] or text)
    if fields.get("state") != [state]:
        raise Unfit("that address belongs to another sign-in; open the link above, and paste where it ends")
    if error := (fields.get("error") or [""])[0]:
        raise _no_consent(error)
    code = (fields.get("code") or [""])[0]
    if not code:
        raise Unfit("that address has no code in it; paste all of it, from http to its end")
    return code


def _code_alone(text: str) -> str:
    if "accounts.google.com" in text or "://" in text:
        raise Unfit("that is not where the browser ends: its address begins with http://127.0.0.1 and has code= in it")
    # A code looks like "4/0Ab…"; copied out of an address its slash may be written as %2F.
    code = unquote(text)
    if len(code) < 10 or not code.isprintable() or any(char.isspace() for char in code):
        raise Unfit("that is no address and no code; paste the whole address that the browser ends on")
    return code


def _no_consent(error: str) -> Refused:
    if error == "access_denied":
        return Refused(f"you said no at Google, and nothing was changed; run {LOGIN} again when you want to")
    word = error if error.replace("_", "").isalnum() and len(error) <= 60 else "no reason that can be shown"
    return Refused(f"Google did not allow it ({word}); look at your project's OAuth consent screen, then run {LOGIN}")


def _not_taken(error: str) -> KeryxError:
    match error:
        case "invalid_grant":
            return Unfit(f"Google does not take that code: it is cut off, used already or too old; run {LOGIN} again")
        case "invalid_client" | "deleted_client" | "disabled_client" | "unauthorized_client":
            return ConfigError(
                f"Google does not take your OAuth client ({error}); download its file again, or make a new one, "
                f"and run {LOGIN} --client FILE"
            )
        case "redirect_uri_mismatch":
            return ConfigError(
                f'your OAuth client is not of kind "Desktop app"; make one, and run {LOGIN} --client FILE'
            )
        case _:
            return ConfigError(f"Google did not finish the sign-in ({error}); run {LOGIN} again")


def _not_enabled(answer: dict[str, Any]) -> bool:
    """Whether an error says that the owner's project lacks the interface: in Google's old words, or its new ones."""
    error = answer.get("error")
    found = error if isinstance(error, dict) else {}
    reasons = [
        entry.get("reason")
        for key in ("errors", "details")
        for entry in found.get(key) or ()
        if isinstance(entry, dict)
    ]
    return bool({"accessNotConfigured", "SERVICE_DISABLED"} & set(reasons))


def _consent(client: Client, scopes: tuple[str, ...], redirect_uri: str, state: str) -> tuple[str, str]:
    """The consent page's address, and the verifier that goes with its challenge (PKCE, RFC 7636)."""
    try:
        from google_auth_oauthlib.flow import InstalledAppFlow
    except ImportError:
        raise oauth.not_installed() from None
    config = client.config()
    scheme, _, rest = client.auth_uri.partition("://")
    # The library takes https only; a loopback address, which `client_from` lets pass, gets its own scheme back below.
    config["installed"]["auth_uri"] = f"https://{rest}"
    flow = InstalledAppFlow.from_client_config(config, scopes=list(scopes), redirect_uri=redirect_uri)
    # Without "consent" Google gives no refresh token to somebody who has consented before.
    link, _ = flow.authorization_url(state=state, access_type="offline", prompt="consent")
    return f"{scheme}://{link.partition('://')[2]}", str(flow.code_verifier)


def words(features: Iterable[Feature]) -> list[tuple[Feature, str]]:
    """Features in their fixed order, each with what it is: "read your mail"."""
    wanted = frozenset(features)
    return [(feature, grant.words) for feature, grant in GRANTS.items() if feature in wanted]
