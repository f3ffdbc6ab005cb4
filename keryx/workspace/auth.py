"""Who is signed in at Google: what may be done for them, and credentials that keep themselves fresh.

Any number of processes and threads share one sign-in. Each change is made under a lock, on what the files say then: a
refresh that finishes after a logout, or after another login, changes nothing any more.
"""

import contextlib
import dataclasses
import importlib.util
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from keryx.clock import Clock, SystemClock
from keryx.errors import ConfigError, Unavailable
from keryx.workspace.features import Feature, features_of
from keryx.workspace.signin import oauth
from keryx.workspace.signin.kept import Client, Folder, Kept, client_from
from keryx.workspace.signin.oauth import INSTALL, TokenRefused

if TYPE_CHECKING:
    from google.oauth2.credentials import Credentials

__all__ = ["INSTALL", "GoogleAccount", "NotSignedIn", "SignIn", "SignedOut", "installed"]

_LOG = logging.getLogger(__name__)

LOGIN = "keryx auth login google"
CONNECTIONS = "https://myaccount.google.com/connections"
"""Where an owner sees, and takes away, what they have granted."""


class NotSignedIn(ConfigError):
    """Nobody is signed in at Google, or Google does not take the sign-in any more."""

    default_spoken = "You aren't signed in at Google. On your machine, run: keryx auth login google."


@dataclass(frozen=True)
class SignIn:
    """How the owner stands at Google, as far as this machine knows."""

    signed_in: bool
    """Whether there is a sign-in that works, as far as is known."""
    address: str = ""
    """Whose account it is; empty when what was granted does not show it."""
    features: frozenset[Feature] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    """How long the access token works; a new one is fetched when it is needed."""
    ends: datetime | None = None
    """When Google ends the sign-in itself, where it said so."""
    wrong: str = ""
    """What is wrong, and what to do about it; empty: nothing."""


@dataclass(frozen=True)
class SignedOut:
    """What became of a logout."""

    was_signed_in: bool
    address: str = ""
    problem: str = ""
    """Why Google may not have taken the sign-in back; empty: it has. It is forgotten here in any case."""


def installed() -> bool:
    """Whether the packages are there that talk to Google."""
    return all(importlib.util.find_spec(name) for name in ("googleapiclient", "google_auth_oauthlib"))


class GoogleAccount:
    """The owner's account. `folder` need not exist; nothing is made before a login. Blocking, thread-safe."""

    def __init__(self, folder: Path, *, clock: Clock | None = None) -> None:
        self.folder = Folder(folder)
        self.clock = clock or SystemClock()

    @property
    def signed_in(self) -> bool:
        """Whether a sign-in is kept; one look at the disk."""
        return self.folder.stamp() is not None

    def features(self) -> frozenset[Feature]:
        """What the owner granted; `NotSignedIn`, `ConfigError`."""
        return features_of(self.kept().scopes)

    def credentials(self) -> "Credentials":
        """What the Google libraries sign requests with: it follows a logout and another login, and refreshes itself.

        Raises `NotSignedIn` and `ConfigError`; so do its own methods, and `Unavailable` when Google cannot be reached.
        """
        try:
            from keryx.workspace.signin.credentials import KeptCredentials
        except ImportError:
            raise oauth.not_installed() from None
        return KeptCredentials(self)

    def status(self) -> SignIn:
        """What is known here; Google is not asked, see `check`. Never raises."""
        try:
            kept = self.folder.read()
        except ConfigError as error:
            return SignIn(signed_in=False, wrong=str(error))
        if kept is None:
            return SignIn(signed_in=False)
        return SignIn(
            signed_in=not kept.refused,
            address=kept.address,
            features=features_of(kept.scopes),
            since=kept.since,
            until=kept.until,
            ends=kept.ends,
            wrong=kept.refused or self._without_client(),
        )

    def check(self) -> None:
        """Have Google say whether the sign-in still works: a new access token is fetched.

        `NotSignedIn`, `ConfigError`; `Unavailable` when it cannot be found out now.
        """
        self.refreshed(self.kept().access_token)

    def kept(self) -> Kept:
        """The sign-in as it stands in its file; `NotSignedIn`, `ConfigError`."""
        kept = self.folder.read()
        if kept is None:
            raise NotSignedIn(f"not signed in at Google; run {LOGIN}")
        return kept

    def refreshed(self, instead_of: str | None) -> Kept:
        """The sign-in with an access token that works and is not `instead_of`, asking Google only if it must.

        `NotSignedIn`, `ConfigError`, `Unavailable`.
        """
        self.kept()
        with self.folder.locked():
            kept = self.kept()
            if kept.access_token != instead_of and kept.fresh(self.clock.now()):
                return kept  # another thread or process was quicker
            try:
                tokens = oauth.refresh(
                    kept.token_uri,
                    client_id=kept.client_id,
                    client_secret=kept.client_secret,
                    refresh_token=kept.refresh_token,
                )
            except TokenRefused as refusal:
                why = _refused(refusal.error, kept, self.clock.now())
                self._replace(kept, dataclasses.replace(kept, refused=why))
                raise NotSignedIn(why, spoken="Google has ended your sign-in. Sign in again on your machine.") from None
            newer = dataclasses.replace(
                kept,
                access_token=tokens.access_token,
                refresh_token=tokens.refresh_token or kept.refresh_token,
                stored_at=self.clock.now(),
                lifetime_s=tokens.lifetime_s,
                refused="",
            )
            self._replace(kept, newer)
            return newer

    def client(self, given: Path | None = None) -> Client | None:
        """The OAuth client to log in with: the one in the file `given`, else the one of an earlier login, else None.

        `ConfigError` when its file cannot be read or is something else.
        """
        if given is None:
            return self.folder.read_client()
        try:
            text = given.expanduser().read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise ConfigError(f"cannot read {given} ({error.strerror}); name the file that Google offers") from None
        return client_from(text, str(given))

    def keep(self, kept: Kept, client: Client) -> None:
        """Store a new login in place of any other, and the client that it was made with."""
        self.folder.prepare()
        with self.folder.locked():
            self.folder.write_client(client)
            self.folder.write(kept)

    def log_out(self) -> SignedOut:
        """Have Google take the sign-in back, and forget it whether or not Google could be asked."""
        if not self.signed_in:
            return SignedOut(was_signed_in=False)
        with self.folder.locked():
            try:
                kept = self.folder.read()
                problem = _revoked(kept) if kept else ""
            except ConfigError:
                kept, problem = None, "what was kept of it could not be read"
            finally:
                self.folder.remove()
        return SignedOut(was_signed_in=True, address=kept.address if kept else "", problem=problem)

    def _replace(self, old: Kept, new: Kept) -> None:
        """Write `new` unless the sign-in has become another one, or none. A full disk costs only the next refresh."""
        with contextlib.suppress(ConfigError):
            current = self.folder.read()
            if current is not None and current.login == old.login:
                try:
                    self.folder.write(new)
                except OSError:
                    _LOG.warning("the refreshed sign-in at Google could not be written: look at the disk")

    def _without_client(self) -> str:
        try:
            client = self.folder.read_client()
        except ConfigError as error:
            return f"the sign-in works, but the next login needs --client FILE: {error}"
        return (
            "" if client else f"the sign-in works, but the next login needs --client FILE: {self.folder.client} is gone"
        )


def _revoked(kept: Kept) -> str:
    """Why not; empty when Google has taken it back."""
    try:
        oauth.revoke(kept.token_uri, kept.refresh_token)
    except Unavailable as error:
        return str(error).partition(";")[0]
    except ConfigError as error:
        return str(error)
    except TokenRefused as refusal:
        return f"Google refused ({refusal.error})"
    return ""


def _refused(error: str, kept: Kept, now: datetime) -> str:
    match error:
        case "invalid_grant" if kept.ends and now >= kept.ends - timedelta(hours=1):
            return (
                "Google ended the sign-in when its time was over: seven days while your Google Cloud project is in "
                f'"Testing"; run {LOGIN}'
            )
        case "invalid_grant":
            return f"Google ended the sign-in: it was revoked or has expired; run {LOGIN}"
        case "invalid_client" | "deleted_client" | "disabled_client" | "unauthorized_client":
            return f"Google no longer takes your OAuth client ({error}); make a new one and run {LOGIN} --client FILE"
        case _:
            return f"Google refused the sign-in ({error}); run {LOGIN}"
