"""A call from the page or the terminal, over a WebSocket.

Text frames hold JSON, binary frames sound: signed 16-bit little-endian mono, 16 kHz in, 24 kHz out. `/docs` lists the
messages; `keryx/voice/transports/browser.py` speaks them.
"""

import logging

from fastapi import APIRouter
from starlette.websockets import WebSocket

from keryx.errors import Unavailable
from keryx.security.tokens import same_key
from keryx.server.access import house
from keryx.server.door import BUSY, MAX_CALLS
from keryx.server.sockets import AcceptedSocket
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
