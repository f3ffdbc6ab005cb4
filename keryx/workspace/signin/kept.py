"""What is kept of a sign-in at Google: the owner's OAuth client, and the token it led to. Files of their own, 0600."""

import contextlib
import functools
import json
import logging
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from keryx.config.checks import is_loopback
from keryx.config.places import make_private
from keryx.errors import ConfigError, Unavailable
from keryx.private import write_private

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_LOG = logging.getLogger(__name__)

CLIENT_FILE, SIGN_IN_FILE, LOCK_FILE = "client.json", "sign-in.json", "lock"
LOCK_WAIT_S = 40.0
"""Longer than whoever holds the lock waits for Google."""
MARGIN_S = 120.0
"""A token that has less left than this is not begun with: a request may take a while, and clocks differ a little."""


@dataclass(frozen=True)
class Client:
    """The owner's own OAuth client, of kind "Desktop app": as whom Keryx asks Google."""

    client_id: str
    client_secret: str = field(repr=False)
    auth_uri: str
    token_uri: str

    def config(self) -> dict[str, Any]:
        """As Google offers it for download, and as google-auth-oauthlib takes it."""
        fields = ("client_id", "client_secret", "auth_uri", "token_uri")
        return {"installed": {name: getattr(self, name) for name in fields}}


@dataclass(frozen=True)
class Kept:
    """A sign-in. All that a refresh needs is here, so that a new client's file never spoils an old sign-in."""

    login: str
    """Which sign-in this is; another one, of the same person too, has another."""
    client_id: str
    client_secret: str = field(repr=False)
    token_uri: str
    refresh_token: str = field(repr=False)
    access_token: str = field(repr=False)
    stored_at: datetime
    """When this machine got the access token, by its own clock."""
    lifetime_s: float
    """How long the access token works from then on."""
    scopes: tuple[str, ...]
    """What was really granted."""
    since: datetime
    address: str = ""
    """Whose account it is; empty when what was granted does not show it."""
    ends: datetime | None = None
    """When Google ends the sign-in as a whole, where it says so: after seven days while a project is in "Testing"."""
    refused: str = ""
    """Why Google gave no new access token, the last time it was asked; empty: it did."""

    @property
    def until(self) -> datetime:
        """When the access token stops working."""
        return self.stored_at + timedelta(seconds=self.lifetime_s)

    def fresh(self, now: datetime) -> bool:
        """Whether the access token should work. One that comes from the future tells nothing: the clock was set."""
        age_s = (now - self.stored_at).total_seconds()
        return -MARGIN_S <= age_s < self.lifetime_s - min(MARGIN_S, self.lifetime_s / 2)


# -- the client's file -------------------------------------------------------------------------------------------------


def client_from(text: str, called: str) -> Client:
    """The client in `text`, as Google offers it for download; `ConfigError` when `called` holds something else."""
    try:
        values = json.loads(text)
    except ValueError:
        raise ConfigError(f"{called} is not JSON; take the file that Google offers for download") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{called} is not the file that Google offers for download of an OAuth client")
    if "web" in values:
        raise ConfigError(f'{called} is a client of kind "Web application"; make one of kind "Desktop app"')
    if "private_key" in values:
        raise ConfigError(f'{called} is a service account\'s key; make an OAuth client of kind "Desktop app"')
    fields = values.get("installed")
    if not isinstance(fields, dict):
        raise ConfigError(f'{called} holds no OAuth client of kind "Desktop app"; take the file that Google offers')
    found: dict[str, str] = {}
    for name in ("client_id", "client_secret", "auth_uri", "token_uri"):
        value = fields.get(name)
        if not (isinstance(value, str) and value.strip()):
            raise ConfigError(f"{called} lacks {name}; download the client's file once more, or make a new client")
        found[name] = value
        if name.endswith("_uri") and not _is_safe(value):
            raise ConfigError(f"{called}: its {name} is no https address; take the file as Google offers it")
    return Client(**found)


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(str(host))))


# -- the folder --------------------------------------------------------------------------------------------------------


class Folder:
    """Where a sign-in is kept. Blocking."""

    lock_wait_s = LOCK_WAIT_S

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sign_in = path / SIGN_IN_FILE
        self.client = path / CLIENT_FILE

    def stamp(self) -> tuple[int, int] | None:
        """Changes with every write of the sign-in; None when there is none."""
        try:
            found = self.sign_in.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def read(self) -> Kept | None:
        """The sign-in; None when there is none, `ConfigError` when it cannot be read or is not whole."""
        text = self._text(self.sign_in)
        if text is None:
            return None
        try:
            return _sensible(_adapter().validate_json(text))
        except (ValueError, OverflowError):
            # Not `from`: the cause would show what is in the file.
            raise ConfigError(
                f"the stored sign-in at Google is damaged ({self.sign_in}); run keryx auth login google",
                spoken="What I kept of your Google sign-in is damaged. Sign in again on your machine.",
            ) from None

    def write(self, kept: Kept) -> None:
        self._write(self.sign_in, _adapter().dump_json(kept, indent=1).decode())

    def read_client(self) -> Client | None:
        """The client that was given at an earlier login; None when there is none, `ConfigError` when it is damaged."""
        text = self._text(self.client)
        return None if text is None else client_from(text, str(self.client))

    def write_client(self, client: Client) -> None:
        self._write(self.client, json.dumps(client.config(), indent=1))

    def remove(self) -> None:
        """Forget the sign-in. The client stays, for the next one."""
        self.sign_in.unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else changes the sign-in meanwhile; `Unavailable` when somebody does for too long."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / LOCK_FILE, mode=0o600, timeout=self.lock_wait_s)
        held = True
        try:
            lock.acquire()
        except Timeout:
            raise Unavailable(
                f"another program has been busy with the sign-in in {self.path} for too long; try again",
                spoken="Your Google sign-in is busy. Ask me again in a moment.",
            ) from None
        except OSError:
            # A folder that may only be read: nothing in it can be changed, so there is nothing to guard.
            _LOG.warning("the sign-in at Google cannot be changed: its folder may only be read")
            held = False
        try:
            yield
        finally:
            if held:
                lock.release()

    def prepare(self) -> None:
        """Make the folder, for the owner only; one that was opened to others is closed again. `ConfigError`."""
        make_private(self.path)
        _close(self.path, 0o700)

    def _write(self, path: Path, text: str) -> None:
        self.prepare()
        write_private(path, text + "\n")

    def _text(self, path: Path) -> str | None:
        try:
            _close(path, 0o600)
            return path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"cannot read {path} ({error.strerror}); make it yours, or sign in again") from None


def _sensible(kept: Kept) -> Kept:
    """`kept`; `ValueError` or `OverflowError` when its times cannot be, or its token would go anywhere unguarded."""
    moments = (kept.stored_at, kept.since, kept.until, *([kept.ends] if kept.ends else []))
    if any(moment.tzinfo is None for moment in moments) or not _is_safe(kept.token_uri):
        raise ValueError("it makes no sense")
    return kept


def _close(path: Path, mode: int) -> None:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        with contextlib.suppress(PermissionError):
            os.chmod(path, mode)


@functools.cache
def _adapter() -> "TypeAdapter[Kept]":
    # Imported when something is read: whether anybody is signed in is asked far more often.
    from pydantic import TypeAdapter

    return TypeAdapter(Kept)
