"""The page and the terminal as a line: JSON text frames and raw sound over one WebSocket.

`/docs` lists the messages. The socket itself is a Protocol, so that any server's
WebSocket, and a test's, fits.
"""

import asyncio
import contextlib
import json
import logging
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from keryx.voice.transports.base import (
    AudioFormat,
    AudioIn,
    Caller,
    Capabilities,
    Encoding,
    Inbound,
    KeyIn,
    LineClosed,
    Played,
    StopSpeaking,
    TextIn,
)

log = logging.getLogger(__name__)

INCOMING = AudioFormat(Encoding.PCM16, 16_000)
OUTGOING = AudioFormat(Encoding.PCM16, 24_000)
START_GRACE_S = 10.0
SEND_GRACE_S = 5.0
"""A client that takes nothing for so long is gone; until then what waits for it is bounded by the voice's pacing."""
CLOSE_GRACE_S = 0.8
MAX_TEXT_CHARS = 20_000
MAX_SOUND_BYTES = INCOMING.bytes_of(100)
"""Longer sound is handed on in such pieces: a whole recording in one frame must not hold up everybody's call."""
OWNER = "owner"
"""Who holds the page's key."""
CLOSE_NORMAL = 1000
CLOSE_WRONG_KEY = 4401
CLOSE_NO_START = 4408


class Socket(Protocol):
    """An accepted WebSocket."""

    async def receive(self) -> str | bytes:
        """The next message; raises `LineClosed` once the other side is gone. A cancellation loses nothing."""
        ...

    async def send_text(self, text: str) -> None:
        """Waits while the other side does not read; raises `LineClosed` when it is gone."""
        ...

    async def send_bytes(self, payload: bytes) -> None: ...

    async def close(self, code: int, reason: str) -> None: ...


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Start(_Message):
    type: Literal["start"]
    key: str
    client: Literal["page", "terminal"] = "page"
    audio: bool = True


class _Text(_Message):
    type: Literal["text"]
    text: Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS)]


class _Key(_Message):
    type: Literal["key"]
    digit: Annotated[str, StringConstraints(pattern=r"^[0-9*#]$")]


class _Played(_Message):
    type: Literal["played"]
    mark: Annotated[str, StringConstraints(max_length=64)]


class _Interrupt(_Message):
    type: Literal["interrupt"]


class _Stop(_Message):
    type: Literal["stop"]


_Received = _Text | _Key | _Played | _Interrupt | _Stop
_RECEIVED: TypeAdapter[_Received] = TypeAdapter(Annotated[_Received, Field(discriminator="type")])


class BrowserTransport:
    """A `MediaTransport` over `/talk`; made by `accept`."""

    def __init__(
        self, socket: Socket, caller: Caller, *, audio: bool = True, send_grace_s: float = SEND_GRACE_S
    ) -> None:
        self.caller = caller
        self.capabilities = Capabilities(INCOMING, OUTGOING, shows_text=True, keypad=True, audio=audio)
        self._socket = socket
        self._sending = asyncio.Lock()
        self._send_grace_s = send_grace_s
        self._odd = b""
        self._sound: deque[bytes] = deque()
        self._closed = False

    @classmethod
    async def accept(
        cls,
        socket: Socket,
        *,
        check_key: Callable[[str], bool],
        voice: Callable[[], str],
        start_grace_s: float = START_GRACE_S,
        send_grace_s: float = SEND_GRACE_S,
    ) -> "BrowserTransport":
        """Shake hands: wait for `start`, check its key, answer `ready`.

        `voice` says how the voice stands ("ready", "loading", "typing only"). Raises `LineClosed`, with the socket
        already closed, when the client says nothing in time, something else, or the wrong key.
        """
        try:
            async with asyncio.timeout(start_grace_s):
                start = await cls._await_start(socket)
        except TimeoutError:
            await _refuse(socket, "No start message came in time.", CLOSE_NO_START)
            raise LineClosed("no start message came in time") from None
        if not check_key(start.key):
            await _refuse(
                socket, "That key is wrong. Open the address that Keryx printed at its start.", CLOSE_WRONG_KEY
            )
            raise LineClosed("wrong key")
        caller = Caller(start.client, OWNER, proven=True, call_id=uuid.uuid4().hex[:8])
        transport = cls(socket, caller, audio=start.audio, send_grace_s=send_grace_s)
        await transport._send(
            {
                "type": "ready",
                "call": caller.call_id,
                "incoming_rate": INCOMING.rate,
                "outgoing_rate": OUTGOING.rate,
                "voice": voice(),
            }
        )
        return transport

    @staticmethod
    async def _await_start(socket: Socket) -> _Start:
        """The `start` message; sound before it is dropped, anything else is answered with an error."""
        while True:
            message = await socket.receive()
            if isinstance(message, bytes):
                continue
            try:
                return _Start.model_validate_json(message[: MAX_TEXT_CHARS + 1000])
            except ValidationError:
                await socket.send_text(_error("Begin with a start message."))

    async def receive(self) -> Inbound:
        """The next thing from the caller; raises `LineClosed` at the end. A cancellation loses nothing."""
        while True:
            if self._closed:
                raise LineClosed("hung up")
            if self._sound:
                return AudioIn(self._sound.popleft())
            message = await self._socket.receive()
            if isinstance(message, bytes):
                whole = self._whole_samples(message)
                self._sound.extend(whole[at : at + MAX_SOUND_BYTES] for at in range(0, len(whole), MAX_SOUND_BYTES))
                continue
            inbound = self._parse(message)
            if isinstance(inbound, str):
                await self._send({"type": "error", "message": inbound})
                # Neither receiving nor sending waits while there is room: everybody else has a turn in between.
                await asyncio.sleep(0)
            elif inbound is not None:
                return inbound

    def _whole_samples(self, payload: bytes) -> bytes:
        payload = self._odd + payload
        even = len(payload) & ~1
        self._odd = payload[even:]
        return payload[:even]

    def _parse(self, message: str) -> Inbound | str | None:
        """What a text frame means, or what is wrong with it in words for the person."""
        if len(message) > 6 * MAX_TEXT_CHARS + 1000:  # a character of JSON may take six: \u0041
            return f"That is too long. Send at most {MAX_TEXT_CHARS} characters."
        try:
            parsed = _RECEIVED.validate_json(message)
        except ValidationError as problem:
            if any(error["type"] == "string_too_long" for error in problem.errors()):
                return f"That is too long. Send at most {MAX_TEXT_CHARS} characters."
            return "I could not read that message."
        match parsed:
            case _Text():
                return TextIn(parsed.text) if parsed.text.strip() else None
            case _Key():
                return KeyIn(parsed.digit)
            case _Played():
                return Played(parsed.mark)
            case _Interrupt():
                return StopSpeaking()
            case _Stop():
                self._closed = True
                raise LineClosed("hung up")

    async def play(self, payload: bytes) -> None:
        await self._guarded(self._socket.send_bytes, payload)

    async def mark(self, name: str) -> None:
        await self._send({"type": "mark", "name": name})

    async def clear(self) -> None:
        await self._send({"type": "clear"})

    async def caption(self, who: Literal["caller", "keryx"], text: str, *, final: bool, utterance: int) -> None:
        await self._send({"type": "caption", "who": who, "text": text, "final": final, "utterance": utterance})

    async def state(self, state: Literal["listening", "thinking", "speaking"]) -> None:
        await self._send({"type": "state", "state": state})

    async def turn_away(self, sentence: str, reason: str) -> None:
        """End a call that cannot be held, with `sentence` to show; bounded like `hang_up`."""
        with contextlib.suppress(LineClosed):
            await self._send({"type": "error", "message": sentence})
        await self.hang_up(reason)

    async def hang_up(self, reason: str) -> None:
        """Say why, close, and wait for neither longer than `CLOSE_GRACE_S`."""
        if self._closed and self._sending.locked():
            return
        began_s = time.monotonic()
        try:
            async with asyncio.timeout(CLOSE_GRACE_S):
                if not self._closed:
                    await self._send({"type": "ended", "reason": reason})
                self._closed = True
                await self._socket.close(CLOSE_NORMAL, reason[:100])
        except (LineClosed, TimeoutError):
            self._closed = True
            log.debug("the other side did not close", extra={"waited_s": round(time.monotonic() - began_s, 2)})

    async def _send(self, message: dict[str, object]) -> None:
        await self._guarded(self._socket.send_text, json.dumps(message, ensure_ascii=False))

    async def _guarded(self, send: Callable, content: str | bytes) -> None:
        if self._closed:
            raise LineClosed("hung up")
        try:
            async with asyncio.timeout(self._send_grace_s), self._sending:
                await send(content)
        except TimeoutError:
            self._closed = True
            raise LineClosed("the other side stopped reading") from None


async def _refuse(socket: Socket, message: str, code: int) -> None:
    try:
        async with asyncio.timeout(CLOSE_GRACE_S):
            await socket.send_text(_error(message))
            await socket.close(code, message[:100])
    except (LineClosed, TimeoutError):
        log.debug("a refused client was gone before it was told")


def _error(message: str) -> str:
    return json.dumps({"type": "error", "message": message})
