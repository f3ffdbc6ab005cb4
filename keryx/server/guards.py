"""What stands before every route: who the request thinks it talks to, how much it may send, what the browser is told.

Plain ASGI, because a stream of events and a WebSocket pass through too.
"""

import asyncio
import json
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1 << 20
"""The longest request body that is read: room for 20,000 characters in the most wasteful JSON escapes."""
MAX_DRAINED_BYTES = 64 << 20
"""What is still taken in and thrown away, so that a sender of too much hears the answer instead of a broken pipe."""
BODY_WAIT_S = 30.0
"""How long a request may take to send its body."""

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
WILDCARDS = frozenset({"0.0.0.0", "::", ""})
FOREIGN_HOST = "This address is not one that Keryx serves. Open it as it was printed, or set server.public_url."
TOO_LARGE = "That is too much text at once. Send at most 20,000 characters."
TOO_SLOW = "The request took too long to arrive. Send it again."


@dataclass(frozen=True)
class Served:
    """The names this daemon answers to.

    A page of another site can have its own name resolve to this machine (DNS rebinding); its `Host` header gives it
    away. An address in figures cannot be rebound, so those pass when the daemon listens on every interface.
    """

    names: frozenset[str]
    any_figures: bool = False
    public_origin: str | None = None

    @classmethod
    def at(cls, host: str, public_url: str | None = None) -> "Served":
        """What is served when listening on `host`, known outside as `public_url`."""
        names = set(LOOPBACK_NAMES)
        if host not in WILDCARDS:
            names.add(host.lower())
        public = urlsplit(public_url) if public_url else None
        if public and public.hostname:
            names.add(public.hostname)
        origin = origin_of(public_url) if public_url else None
        return cls(frozenset(names), any_figures=host in WILDCARDS, public_origin=origin)

    def has_host(self, header: str | None) -> bool:
        """Whether a `Host` header names this daemon, at whatever port."""
        name = _hostname(header)
        return name is not None and (name in self.names or (self.any_figures and _is_figures(name)))

    def has_origin(self, origin: str | None, host: str | None) -> bool:
        """Whether a page from `origin` may open a socket that was asked for at `host`.

        No `Origin` is no browser: a terminal, which proves itself by the key alone.
        """
        if origin is None:
            return True
        seen = origin_of(origin)
        if seen is None:
            return False
        if seen == self.public_origin:
            return True
        scheme = seen.partition(":")[0]
        return self.has_host(host) and seen == origin_of(f"{scheme}://{host}")


def origin_of(url: str) -> str | None:
    """Scheme, host and port as a browser writes an origin (`https://keryx.example`); None for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    ordinary = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" if port in (None, ordinary) else f"{parts.scheme}://{host}:{port}"


class HostGuard:
    """Answers only requests made to a served name. The telephone's webhooks prove themselves by signature instead."""

    def __init__(self, app: ASGIApp, served: Served) -> None:
        self._app = app
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"].startswith("/twilio/"):
            await self._app(scope, receive, send)
        elif self._served.has_host(Headers(scope=scope).get("host")):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            # Closing before accepting is answered with HTTP 403.
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _refuse(send, 421, FOREIGN_HOST)


class BodyLimit:
    """Reads a request's body up to a limit before the route sees any of it."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(BODY_WAIT_S):
                body = await self._read(receive)
        except TimeoutError:
            await _refuse(send, 408, TOO_SLOW)
            return
        if body is None:
            await _refuse(send, 413, TOO_LARGE)
            return
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The whole body, or None when it is longer than allowed."""
        kept: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"".join(kept)
            chunk = message.get("body", b"")
            size += len(chunk)
            if size <= self._max_bytes:
                kept.append(chunk)
            else:
                kept.clear()
            if not message.get("more_body", False) or size > MAX_DRAINED_BYTES:
                return b"".join(kept) if size <= self._max_bytes else None


class BrowserRules:
    """Tells the browser to load nothing from elsewhere, run nothing inline and hand on no address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")

        async def ruled(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in RULES.items():
                    headers.setdefault(name, value)
                headers.setdefault("Content-Security-Policy", content_policy(host))
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, ruled)


RULES = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # The first address opened holds the key.
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=(), payment=(), usb=()",
}


def content_policy(host: str) -> str:
    """The Content-Security-Policy of every answer."""
    # Safari before 15.4 does not count a socket to the same host as 'self'.
    sockets = f" ws://{host} wss://{host}" if _hostname(host) and not set(host) & set(" ;,'\"") else ""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'{sockets}; "
        "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hostname(header: str | None) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname if header else None
    except ValueError:
        return None


def _is_figures(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
