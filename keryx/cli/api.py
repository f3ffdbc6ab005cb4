"""The running daemon as the command line sees it: found by its pointer, asked over HTTP with the page's key."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from keryx.config.daemon import DaemonPointer, find
from keryx.config.places import places
from keryx.errors import KeryxError, NotFound, Refused, Unavailable

if TYPE_CHECKING:
    import httpx2

NO_DAEMON = "No daemon is running. Start one with: keryx serve --demo"

REQUEST_TIMEOUT_S = 15.0
"""Longer than the ten seconds a locked database may hold a write up."""
SILENCE_LIMIT_S = 40.0
"""The event stream says something every 15 seconds; past this it is taken for broken."""


def running_daemon() -> DaemonPointer | None:
    """The daemon that runs in this user's places, if any."""
    return find(places())


def require_daemon() -> DaemonPointer:
    """The running daemon; `Unavailable` with the way to start one."""
    pointer = running_daemon()
    if pointer is None:
        raise Unavailable(NO_DAEMON)
    return pointer


class DaemonApi:
    """One daemon's HTTP interface. Every failure is a `KeryxError` with one line."""

    def __init__(self, pointer: DaemonPointer) -> None:
        import httpx2

        self._errors = httpx2.HTTPError
        self._connect_error = httpx2.ConnectError
        self._client = httpx2.Client(
            base_url=pointer.url,
            headers={"Authorization": f"Bearer {pointer.key}"},
            timeout=REQUEST_TIMEOUT_S,
            # The daemon is on this machine; a proxy from the environment would only be in the way, or be told the key.
            trust_env=False,
        )

    def get(self, path: str, **query: Any) -> Any:
        """The JSON at `path`."""
        return self._ask("GET", path, params=query)

    def post(self, path: str, body: Any = None) -> Any:
        """What the daemon answers to `body` at `path`."""
        return self._ask("POST", path, json=body)

    def events(self) -> Iterator[tuple[str, Any]]:
        """Name and value of each server-sent event, until the daemon ends the stream."""
        try:
            with self._client.stream("GET", "/api/events", timeout=SILENCE_LIMIT_S) as response:
                if response.status_code != 200:
                    response.read()
                    raise _problem(response)
                name, data = "message", []
                for line in response.iter_lines():
                    field, _, value = line.partition(":")
                    if not line and data:
                        yield name, json.loads("\n".join(data))
                        name, data = "message", []
                    elif field == "event":
                        name = value.strip()
                    elif field == "data":
                        data.append(value.removeprefix(" "))
        except self._errors as error:
            raise self._unreachable(error) from error

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> "DaemonApi":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, path: str, **rest: Any) -> Any:
        try:
            response = self._client.request(method, path, **rest)
        except self._errors as error:
            raise self._unreachable(error) from error
        if response.status_code >= 400:
            raise _problem(response)
        return response.json()

    def _unreachable(self, error: Exception) -> Unavailable:
        if isinstance(error, self._connect_error):
            return Unavailable(NO_DAEMON)
        return Unavailable(f"The daemon does not answer ({type(error).__name__}). Try again, or start it anew.")


def _problem(response: "httpx2.Response") -> KeryxError:
    try:
        sentence = str(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        sentence = f"The daemon answered with status {response.status_code}."
    match response.status_code:
        case 401:
            return Unavailable("The daemon does not take this page key. Another one may be running; start it anew.")
        case 404:
            return NotFound(sentence)
        case status if status >= 500:
            return Unavailable(sentence)
        case _:
            return Refused(sentence)
