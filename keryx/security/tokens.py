"""Secrets Keryx makes itself: the single-use token of a telephone stream, and the page's lasting key."""

import contextlib
import hmac
import json
import logging
import os
import re
import secrets
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from keryx.clock import Clock
from keryx.errors import ConfigError, Refused

log = logging.getLogger(__name__)

TOKEN_LIFETIME_S = 60.0
REMEMBERED_REQUESTS = 4096
"""How many requests are remembered after their token is gone, so that a replay never mints a second one."""
KEY_BYTES = 32
_KEY = re.compile(r"[A-Za-z0-9_-]{32,200}")
"""What may be a page's key: the beginning of one, or whatever else stands in the file, must not open the page."""


@dataclass
class _Issued:
    token: str
    subject: str
    request: str
    expires_s: float
    redeemed: bool = False


class StreamTokens:
    """Tokens that join a signed webhook to the media stream it leads to: single use, short-lived, in memory.

    A token belongs to the request it was issued for. The same request again, a provider's retry or somebody's
    replay, is given the same token: the retry can still use it, the replay finds it used. A signature has no date, so
    the requests answered are remembered in the file `answered`, if one is given: a replay after a restart gets nothing.
    """

    def __init__(self, clock: Clock, lifetime_s: float = TOKEN_LIFETIME_S, *, answered: Path | None = None) -> None:
        self._clock = clock
        self._lifetime_s = lifetime_s
        self._by_request: OrderedDict[str, _Issued] = OrderedDict()
        self._by_token: dict[str, _Issued] = {}
        self._file = answered
        self._earlier = frozenset() if answered is None else _answered_before(answered)

    def issue(self, subject: str, request: str) -> str:
        """A token saying that `request` (the call's own id) was made by `subject`.

        Raises `Refused` when the request had its token and that has run out: nobody retries so late.
        """
        issued = self._by_request.get(request)
        if issued is None:
            if request in self._earlier:
                raise Refused("this request was already answered before a restart")
            self._note(request)
            return self._new(subject, request).token
        if issued.subject != subject:
            raise Refused("this request was already answered for somebody else")
        if self._expired(issued):
            raise Refused("this request was already answered and its token has expired")
        return issued.token

    def redeem(self, token: str, *, request: str | None = None) -> str:
        """The subject `token` was issued to; it can never be redeemed again.

        With `request`, the token must also be that request's own. Raises `Refused` for a token that is forged, used,
        expired or somebody else's.
        """
        issued = self._by_token.get(token)
        if issued is None:
            raise Refused("unknown stream token")
        if issued.redeemed:
            raise Refused("stream token already used")
        issued.redeemed = True
        if self._expired(issued):
            raise Refused("stream token expired")
        if request is not None and request != issued.request:
            raise Refused("stream token belongs to another call")
        return issued.subject

    def _new(self, subject: str, request: str) -> _Issued:
        while len(self._by_request) >= REMEMBERED_REQUESTS:
            _, oldest = self._by_request.popitem(last=False)
            self._by_token.pop(oldest.token, None)
        issued = _Issued(
            token=secrets.token_urlsafe(KEY_BYTES),
            subject=subject,
            request=request,
            expires_s=self._clock.monotonic() + self._lifetime_s,
        )
        self._by_request[request] = self._by_token[issued.token] = issued
        return issued

    def _note(self, request: str) -> None:
        """Remember it beyond this process; a few bytes, so nobody waits for it."""
        if self._file is None:
            return
        try:
            descriptor = os.open(self._file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            with open(descriptor, "a", encoding="utf-8") as file:
                # The line's end comes first: a line torn by a crash must not swallow this one.
                file.write("\n" + json.dumps(request))
        except OSError as error:
            # The owner's call goes before a memory that only matters after a restart.
            log.warning("an answered call cannot be remembered", extra={"reason": error.strerror})

    def _expired(self, issued: _Issued) -> bool:
        return self._clock.monotonic() >= issued.expires_s


def _answered_before(path: Path) -> frozenset[str]:
    """The requests that were answered by earlier daemons, the newest ones; the file is cut to them."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    kept = lines[-REMEMBERED_REQUESTS:]
    if len(lines) > len(kept):
        with contextlib.suppress(OSError):
            path.write_text("\n".join(kept), encoding="utf-8")
    # A line that a crash tore in two is nobody's request.
    return frozenset(found for line in kept if (found := _string_in(line)) is not None)


def _string_in(line: str) -> str | None:
    with contextlib.suppress(ValueError):
        return value if isinstance(value := json.loads(line), str) else None
    return None


def page_key(path: Path) -> str:
    """The key of the page, read from `path`, or made and written there for its owner alone (0600).

    Two processes that start together end up with the same key. Raises `ConfigError` when the file can be neither
    read nor written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        key = _read_key(path)
        if key is None:
            _write_new(path, secrets.token_urlsafe(KEY_BYTES))
            key = _read_key(path)
    except OSError as error:
        raise ConfigError(
            f"cannot keep the page's key in {path}: {error.strerror}; check the folder's owner"
        ) from error
    if key is None or not _KEY.fullmatch(key):
        raise ConfigError(f"the page's key in {path} is damaged; delete the file and start again")
    return key


def same_key(a: str | None, b: str | None) -> bool:
    """Whether both are the same key, in constant time; a missing or empty key equals nothing."""
    if not a or not b:
        return False
    return hmac.compare_digest(a.encode("utf-8", "surrogatepass"), b.encode("utf-8", "surrogatepass"))


def _read_key(path: Path) -> str | None:
    """The key in the file, its permissions put right; None when there is no file or nothing in it."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            os.fchmod(file.fileno(), 0o600)
            key = file.read(4096).strip()
    except FileNotFoundError:
        return None
    if not key:
        path.unlink(missing_ok=True)
        return None
    return key


def _write_new(path: Path, key: str) -> None:
    """Put `key` at `path` whole or not at all, leaving a file that came first alone."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".key-")  # mkstemp makes it 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(key + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(name, path)
    except FileExistsError:
        pass  # the other process was first; its key is read next
    finally:
        os.unlink(name)
