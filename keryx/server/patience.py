"""Connections that ask for nothing: how many there may be, and how long each is waited for.

uvicorn waits for the head of a request for ever, and takes in connections until the process has no file left to open.
"""

import asyncio
from typing import Any

MAX_CONNECTIONS = 400
"""Well below the 1024 files that a process may usually open; one more is closed at once."""
HEAD_WAIT_S = 10.0
"""How long the head of a request may take to arrive."""


def patient(protocol: Any, *, max_connections: int = MAX_CONNECTIONS, head_wait_s: float = HEAD_WAIT_S) -> Any:
    """uvicorn's HTTP `protocol` with these bounds."""

    class Patient(protocol):
        _waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            if len(self.connections) > max_connections:
                transport.abort()
            else:
                self._wait_for_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._wait_for_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait_for_head(self) -> None:
            if self._is_answering():
                self._stop_waiting()
            elif self._waiting is None:
                self._waiting = self.loop.call_later(head_wait_s, self._give_up)

        def _stop_waiting(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _give_up(self) -> None:
            # After an upgrade the transport belongs to the WebSocket's protocol.
            if not self._is_answering() and self.transport.get_protocol() is self:
                self.transport.abort()

        def _is_answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

    return Patient
