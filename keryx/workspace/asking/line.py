"""The connections to Google, over httplib2. Imports it, so it is imported only when something is asked for.

httplib2 sends a request a second time when the connection ends before an answer: a letter would be sent twice. Here
each request goes out once, and whether it can have arrived is told apart: `NotReached`, `Lost`.
"""

import contextlib
import http.client
import math
import select
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import google_auth_httplib2
import httplib2

from keryx.workspace.asking.faults import Answered, Lost, NotReached

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

MOST_IDLE = 4
"""Connections that are kept for the next request."""
IDLE_S = 60.0
"""How long one is kept; Google itself ends them after four minutes."""
STEPS_OF_AN_ANSWER = 2
"""A whole answer may take as many times as long as one step; a file that is streamed may take longer."""
MOST_BYTES = 100_000_000
"""Of an answer that is read whole: more than any that makes sense. Files are streamed."""
_PIECE_BYTES = 65_536
_BROKEN = (OSError, http.client.HTTPException, httplib2.HttpLib2Error)
_RESUME = 308
"""What an upload in parts is answered with while parts are missing: no redirection."""


class _Answer(http.client.HTTPResponse):
    """One whose reading ends, however slowly it drips."""

    until_s = math.inf
    """By the machine's monotonic clock."""

    def read(self, amt: int | None = None) -> bytes:
        if amt is not None:
            return super().read(amt)
        pieces, left = [], MOST_BYTES
        while piece := self.read1(_PIECE_BYTES):
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                raise http.client.HTTPException("it does not end")
            if time.monotonic() > self.until_s:
                raise TimeoutError("it dripped")
        missing = self.length
        self.close()  # without this the connection waits for the rest of an answer that has none
        if missing:
            raise http.client.IncompleteRead(b"", missing)
        return b"".join(pieces)


class _Once:
    """A connection that does nothing twice, and says how far it came."""

    response_class = _Answer

    def connect(self) -> None:
        try:
            super().connect()  # pyright: ignore[reportAttributeAccessIssue] - of the class it is mixed into
        except _BROKEN as error:
            raise NotReached(error) from None

    def request(self, *arguments: Any, **options: Any) -> None:
        try:
            super().request(*arguments, **options)  # pyright: ignore[reportAttributeAccessIssue]
        except _BROKEN as error:
            raise Lost(error) from None

    def getresponse(self) -> http.client.HTTPResponse:
        try:
            answer = super().getresponse()  # pyright: ignore[reportAttributeAccessIssue]
        except _BROKEN as error:
            raise Lost(error) from None
        timeout_s: float = self.timeout  # pyright: ignore[reportAttributeAccessIssue]
        answer.until_s = time.monotonic() + STEPS_OF_AN_ANSWER * timeout_s
        return answer


class _Plain(_Once, httplib2.HTTPConnectionWithTimeout):
    """For a server on this machine; Google itself is never spoken to like this."""


class _Secure(_Once, httplib2.HTTPSConnectionWithTimeout):
    """For Google."""


class _Http(httplib2.Http):
    """Follows no redirection: a token is never carried on to another address."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(timeout=timeout_s)
        self.follow_redirects = False

    def request(self, uri: str, method: str = "GET", *arguments: Any, **options: Any) -> Any:
        secure = urlsplit(uri).scheme == "https"
        options["connection_type"] = options.get("connection_type") or (_Secure if secure else _Plain)
        try:
            return super().request(uri, method, *arguments, **options)
        except _BROKEN as error:  # the body broke off
            raise Lost(error) from None


class Line:
    """What a request of googleapiclient is executed over: its `http`. For one thread at a time."""

    def __init__(self, credentials: "Credentials", timeout_s: float) -> None:
        self.credentials = credentials
        self._http = _Http(timeout_s)
        self._authorized = google_auth_httplib2.AuthorizedHttp(credentials, http=self._http, max_refresh_attempts=1)
        self._idle_since = 0.0

    def request(self, uri: str, method: str = "GET", *arguments: Any, **options: Any) -> tuple[Any, bytes]:
        """An answer that was a success. `Answered`, `NotReached`, `Lost`, and what the credentials raise.

        Other answers never get as far as googleapiclient, which logs what it cannot parse.
        """
        response, body = self._authorized.request(uri, method, *arguments, **options)
        if response.status >= 300 and response.status != _RESUME:
            raise Answered(response.status, response, body)
        return response, body

    @contextlib.contextmanager
    def stream(self, uri: str) -> Iterator[Iterator[bytes]]:
        """The answer to a GET, in pieces, while it comes in. `Answered`, `NotReached`, `Lost` (when reading it, too),
        and what the credentials raise.
        """
        for last in (False, True):
            connection = self._connection(uri)
            try:
                headers: dict[str, str] = {"accept-encoding": "identity"}
                self.credentials.before_request(google_auth_httplib2.Request(self._http), "GET", uri, headers)
                parts = urlsplit(uri)
                connection.request("GET", f"{parts.path}?{parts.query}", headers=headers)
                response = connection.getresponse()
                if response.status == 200:
                    yield _pieces(response)
                    return
                if response.status != 401 or last:
                    told = {name.lower(): value for name, value in response.getheaders()}
                    raise Answered(response.status, told, response.read(_PIECE_BYTES))
                self.credentials.refresh(google_auth_httplib2.Request(self._http))
            finally:
                connection.close()

    def _connection(self, uri: str) -> "_Plain | _Secure":
        """One of its own: it cannot be used again when its answer was not read to the end."""
        parts = urlsplit(uri)
        kind = _Secure if parts.scheme == "https" else _Plain
        return kind(parts.netloc, timeout=self._http.timeout, proxy_info=self._http.proxy_info)

    def use(self, timeout_s: float) -> bool:
        """Get ready for a request that may take so long at each step; False when a connection has gone stale."""
        self._http.timeout = timeout_s
        for connection in self._http.connections.values():
            connection.timeout = timeout_s
            if connection.sock is not None:
                if _speaks(connection.sock):
                    return False
                connection.sock.settimeout(timeout_s)
        return time.monotonic() - self._idle_since <= IDLE_S

    def rest(self) -> None:
        self._idle_since = time.monotonic()

    def close(self) -> None:
        self._http.close()


class Lines:
    """A few connections for any number of threads; `close` ends those that rest. Thread-safe."""

    def __init__(self, credentials: "Callable[[], Credentials]") -> None:
        self._credentials = credentials
        self._idle: list[Line] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def line(self, timeout_s: float, *, fresh: bool = False) -> Iterator[Line]:
        """A line for one request, each step of which may take `timeout_s`; it is used again unless something raised.

        `fresh`: a new connection, which cannot have gone stale unseen.
        """
        line = None if fresh else self._rested(timeout_s)
        line = line or Line(self._credentials(), timeout_s)
        try:
            yield line
        except BaseException:
            line.close()
            raise
        line.rest()
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append(line)
                return
        line.close()

    def _rested(self, timeout_s: float) -> Line | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                line = self._idle.pop()
            if line.use(timeout_s):
                return line
            line.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for line in idle:
            line.close()


def _pieces(response: http.client.HTTPResponse) -> Iterator[bytes]:
    try:
        while piece := response.read1(_PIECE_BYTES):
            yield piece
    except _BROKEN as error:
        raise Lost(error) from None


def _speaks(sock: Any) -> bool:
    """Whether something came over a connection on which nothing is due: its end, as a rule."""
    try:
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return bool(poll.poll(0))
    except (OSError, ValueError):
        return True
