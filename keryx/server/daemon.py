"""The web server that the daemon runs: limits set, and a stop that leaves nothing hanging."""

from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from keryx.server.patience import patient

if TYPE_CHECKING:
    import socket

    from fastapi import FastAPI

MAX_FRAME_BYTES = 1 << 20
"""A longer WebSocket frame closes the socket with 1009."""
STOP_GRACE_S = 3
"""How long open requests may take to finish when the daemon stops."""
PING_S = 20.0
BACKLOG = 128
KEEP_ALIVE_S = 10


class DaemonServer(uvicorn.Server):
    """uvicorn, told of a stop before it waits for connections that would never end by themselves."""

    def __init__(self, app: "FastAPI", *, host: str, port: int) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=host,
                port=port,
                http=patient(AutoHTTPProtocol),
                # So many are accepted in one go, before the first of them can be turned away.
                backlog=BACKLOG,
                log_config=None,
                access_log=False,
                server_header=False,
                # Signatures and origins are checked against the configured address, never against X-Forwarded-*.
                proxy_headers=False,
                ws_max_size=MAX_FRAME_BYTES,
                ws_ping_interval=PING_S,
                ws_ping_timeout=PING_S,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=STOP_GRACE_S,
                lifespan="off",
            )
        )
        self._app = app

    async def shutdown(self, sockets: "list[socket.socket] | None" = None) -> None:
        self._app.state.stopping.set()
        await super().shutdown(sockets)
