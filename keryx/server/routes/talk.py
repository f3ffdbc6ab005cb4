"""A call from the page or the terminal, over a WebSocket.

Text frames hold JSON, binary frames sound: signed 16-bit little-endian mono, 16 kHz in, 24 kHz out. `/docs` lists the
messages; `keryx/voice/transports/browser.py` speaks them.
"""

import logging

from fastapi import APIRouter
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from keryx.errors import Unavailable
from keryx.security.tokens import same_key
from keryx.server.access import house
from keryx.server.door import BUSY, MAX_CALLS
from keryx.voice.transports.base import LineClosed
from keryx.voice.transports.browser import BrowserTransport

log = logging.getLogger(__name__)

TURNED_AWAY = 1008
"""Given before the socket is accepted, which answers the request with HTTP 403."""

router = APIRouter()


@router.websocket("/talk")
async def talk(websocket: WebSocket) -> None:
    """Take one call to its end. A page of another origin may not even open the socket."""
    headers = websocket.headers
    if not websocket.app.state.served.has_origin(headers.get("origin"), headers.get("host")):
        log.warning("a page of another origin tried to open a call")
        await websocket.close(TURNED_AWAY)
        return
    keryx = house(websocket)
    try:
        with websocket.app.state.door.held():
            await websocket.accept()
            transport = await BrowserTransport.accept(
                AcceptedSocket(websocket),
                check_key=lambda key: same_key(key, keryx.page_key),
                voice=lambda: keryx.loading.state,
            )
    except (LineClosed, Unavailable) as reason:
        log.info("a call ended before it began", extra={"reason": str(reason)})
        if isinstance(reason, Unavailable):
            await websocket.close(TURNED_AWAY)
        return
    if len(keryx.live) >= MAX_CALLS:
        log.warning("a call was turned away, as many as can be held are on the line", extra={"calls": MAX_CALLS})
        await transport.turn_away(BUSY, "busy")
        return
    await keryx.take_call(transport, transport.caller)


class AcceptedSocket:
    """Starlette's WebSocket in the words of `keryx.voice.transports.browser.Socket`."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def receive(self) -> str | bytes:
        if self._websocket.client_state is not WebSocketState.CONNECTED:
            raise LineClosed("the other side has gone")
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise LineClosed("the other side has gone")
        text = message.get("text")
        return text if text is not None else message["bytes"]

    async def send_text(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})

    async def send_bytes(self, payload: bytes) -> None:
        await self._send({"type": "websocket.send", "bytes": payload})

    async def close(self, code: int, reason: str) -> None:
        await self._send({"type": "websocket.close", "code": code, "reason": reason})

    async def _send(self, message: dict[str, object]) -> None:
        states = (self._websocket.client_state, self._websocket.application_state)
        if states != (WebSocketState.CONNECTED, WebSocketState.CONNECTED):
            raise LineClosed("the other side has gone")
        try:
            await self._websocket.send(message)
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            # Starlette raises RuntimeError when the close and this message crossed.
            raise LineClosed("the other side has gone") from error
