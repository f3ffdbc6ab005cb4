"""Starlette's WebSocket in the words of the lines that run over one (`Socket` in each of `keryx.voice.transports`)."""

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from keryx.voice.transports.base import LineClosed


class AcceptedSocket:
    """An accepted WebSocket. Everything raises `LineClosed` once the other side is gone."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def receive(self) -> str | bytes:
        """The next message; a cancellation loses nothing."""
        if self._websocket.client_state is not WebSocketState.CONNECTED:
            raise LineClosed("the other side has gone")
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise LineClosed("the other side has gone")
        text = message.get("text")
        return text if text is not None else message["bytes"]

    async def receive_text(self) -> str:
        """The next message; "" for a binary one, which is no message of a protocol of texts."""
        message = await self.receive()
        return message if isinstance(message, str) else ""

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
