"""What answers before the house is open: `/health` at once, everything else as soon as somebody is in.

Importing the web framework and the database takes longer than a second on a small machine; the socket listens before
that. A request that comes in meanwhile waits at the door instead of being turned away.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from types import SimpleNamespace
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

DOOR_WAIT_S = 60.0
"""How long a request waits for the house to open; a migration of a large database is the longest reason."""


class Doorstep:
    """An ASGI application that becomes another one."""

    def __init__(self, version: str) -> None:
        self.state = SimpleNamespace(stopping=asyncio.Event())
        """As the house's own: `stopping` is set when the daemon stops."""
        self._health = {"status": "ok", "voice": "loading", "calls": 0, "version": version}
        self._house: Application | None = None
        self._closed = False
        self._decided = asyncio.Event()

    def open(self, house: Application) -> None:
        """From now on `house` answers, those at the door first."""
        self._house = house
        self._decided.set()

    def shut(self) -> None:
        """Nobody is let in any more: the house did not open, or it closes. Those inside are not disturbed."""
        self._house = None
        self._closed = True
        self._decided.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._decided.is_set():
            if scope["type"] == "http" and scope["path"] == "/health":
                await _answer(send, 200, self._health)
                return
            try:
                async with asyncio.timeout(DOOR_WAIT_S):
                    await self._decided.wait()
            except TimeoutError:
                pass  # answered below, as when the house does not open at all
        if self._house is not None:
            await self._house(scope, receive, send)
        elif scope["type"] == "http":
            sentence = "Keryx is stopping." if self._closed else "Keryx is not up yet. Try again in a moment."
            await _answer(send, 503, {"error": sentence})
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1013, "reason": "Keryx is not up."})


async def _answer(send: Send, status: int, value: dict[str, Any]) -> None:
    body = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
