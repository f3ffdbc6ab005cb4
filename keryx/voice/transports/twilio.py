"""A telephone call as a line: Twilio's media stream, JSON text frames with mu-law in base64, both ways untouched.

Follows Twilio's description of its WebSocket messages: `connected`, `start`, `media`, `dtmf`, `mark`, `stop` come in;
`media`, `mark` and `clear` go out. A mark comes back when the sound before it has played or when `clear` flushed it.
"""

import asyncio
import base64
import binascii
import json
import logging
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from keryx.voice.transports.base import (
    AudioFormat,
    AudioIn,
    Capabilities,
    Encoding,
    Inbound,
    KeyIn,
    LineClosed,
    Played,
)

log = logging.getLogger(__name__)

MULAW_8K = AudioFormat(Encoding.MULAW, 8_000)
FRAME_BYTES = 160
"""20 ms of mu-law: what telephones are used to."""
START_GRACE_S = 10.0
SEND_GRACE_S = 5.0
"""A provider that takes nothing for so long is gone."""
CLOSE_GRACE_S = 0.8
MAX_MESSAGE_CHARS = 1 << 20
CLOSE_NORMAL = 1000
CLOSE_REFUSED = 1008


class Socket(Protocol):
    """An accepted WebSocket of text frames."""

    async def receive_text(self) -> str:
        """The next message; raises `LineClosed` once the other side is gone. A cancellation loses nothing."""
        ...

    async def send_text(self, text: str) -> None:
        """Waits while the other side does not read; raises `LineClosed` when it is gone."""
        ...

    async def close(self, code: int, reason: str) -> None: ...


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class StreamStart(_Message):
    """What the provider says of a stream at its start."""

    stream_sid: Annotated[str, Field(alias="streamSid", min_length=1, max_length=100)]
    call_sid: Annotated[str, Field(alias="callSid", max_length=100)] = ""
    account_sid: Annotated[str, Field(alias="accountSid", max_length=100)] = ""
    parameters: Annotated[dict[str, str], Field(alias="customParameters")] = {}


class _Start(_Message):
    event: Literal["start"]
    start: StreamStart


class _Sound(_Message):
    payload: str
    track: str = "inbound"


class _Media(_Message):
    event: Literal["media"]
    media: _Sound


class _Key(_Message):
    digit: Annotated[str, StringConstraints(pattern=r"^[0-9*#]$")]


class _Dtmf(_Message):
    event: Literal["dtmf"]
    dtmf: _Key


class _Name(_Message):
    name: str


class _Mark(_Message):
    event: Literal["mark"]
    mark: _Name


class _Stop(_Message):
    event: Literal["stop"]


_Received = _Start | _Media | _Dtmf | _Mark | _Stop
_RECEIVED: TypeAdapter[_Received] = TypeAdapter(Annotated[_Received, Field(discriminator="event")])


class TwilioTransport:
    """A `MediaTransport` over one media stream; made by `accept`."""

    capabilities = Capabilities(MULAW_8K, MULAW_8K, shows_text=False, keypad=True)

    def __init__(self, socket: Socket, start: StreamStart, *, send_grace_s: float = SEND_GRACE_S) -> None:
        self.start = start
        self.hung_up: str | None = None
        """The reason, when Keryx itself ended a call that was still open; None when the other side did."""
        self._socket = socket
        self._send_grace_s = send_grace_s
        self._sending = asyncio.Lock()
        self._remainder = b""
        self._clears = 0
        self._closed = False

    @classmethod
    async def accept(
        cls, socket: Socket, *, start_grace_s: float = START_GRACE_S, send_grace_s: float = SEND_GRACE_S
    ) -> "TwilioTransport":
        """Wait for the stream's `start`; whatever comes before it is passed over.

        Raises `LineClosed`, with the socket already closed, when none comes in time or the stream ends first.
        """
        try:
            async with asyncio.timeout(start_grace_s):
                while True:
                    match _parsed(await socket.receive_text()):
                        case _Start(start=start):
                            return cls(socket, start, send_grace_s=send_grace_s)
                        case _Stop():
                            await _close(socket, CLOSE_NORMAL, "stopped before it started")
                            raise LineClosed("the stream stopped before it started")
        except TimeoutError:
            await _close(socket, CLOSE_REFUSED, "no start in time")
            raise LineClosed("no start came in time") from None

    async def receive(self) -> Inbound:
        """The next thing from the caller; raises `LineClosed` at the end. A cancellation loses nothing."""
        while True:
            if self._closed:
                raise LineClosed("the call has ended")
            try:
                message = await self._socket.receive_text()
            except LineClosed:
                self._closed = True
                raise
            match _parsed(message):
                case _Media(media=sound) if sound.track == "inbound" and (payload := _decoded(sound.payload)):
                    return AudioIn(payload)
                case _Dtmf(dtmf=key):
                    return KeyIn(key.digit)
                case _Mark(mark=mark):
                    return Played(mark.name)
                case _Stop():
                    self._closed = True
                    raise LineClosed("the caller hung up")

    async def play(self, payload: bytes) -> None:
        """Send whole frames of 20 ms; what is left over goes out with the next sound or mark."""
        clears = self._clears
        async with self._sending:
            self._check()
            if clears != self._clears:
                return  # thrown away while it waited its turn
            payload = self._remainder + payload
            whole = len(payload) - len(payload) % FRAME_BYTES
            self._remainder = payload[whole:]
            for at in range(0, whole, FRAME_BYTES):
                await self._send_sound(payload[at : at + FRAME_BYTES])
                if clears != self._clears:
                    return  # cleared meanwhile: the rest is thrown away with what was sent

    async def mark(self, name: str) -> None:
        async with self._sending:
            self._check()
            if self._remainder:
                remainder, self._remainder = self._remainder, b""
                await self._send_sound(remainder)
            await self._send({"event": "mark", "mark": {"name": name}})

    async def clear(self) -> None:
        """Empty the provider's buffer; its outstanding marks then come back."""
        self._clears += 1
        self._remainder = b""
        async with self._sending:
            self._check()
            await self._send({"event": "clear"})

    async def caption(self, who: Literal["caller", "keryx"], text: str, *, final: bool, utterance: int) -> None:
        self._check()

    async def state(self, state: Literal["listening", "thinking", "speaking"]) -> None:
        self._check()

    async def hang_up(self, reason: str) -> None:
        """Close the stream, which ends the call; waits at most `CLOSE_GRACE_S` for the other side."""
        if not self._closed:
            self._closed = True
            self.hung_up = reason
        await _close(self._socket, CLOSE_NORMAL, reason)

    async def _send_sound(self, frame: bytes) -> None:
        await self._send({"event": "media", "media": {"payload": base64.b64encode(frame).decode("ascii")}})

    async def _send(self, message: dict[str, object]) -> None:
        text = json.dumps({"streamSid": self.start.stream_sid, **message}, separators=(",", ":"))
        try:
            async with asyncio.timeout(self._send_grace_s):
                await self._socket.send_text(text)
        except TimeoutError:
            self._closed = True
            raise LineClosed("the other side stopped reading") from None

    def _check(self) -> None:
        if self._closed:
            raise LineClosed("the call has ended")


def _parsed(message: str) -> _Received | None:
    """A message, or None for one that is of no use here: unknown, malformed or far too long."""
    if len(message) > MAX_MESSAGE_CHARS:
        log.warning("a far too long message on the telephone line was passed over", extra={"chars": len(message)})
        return None
    try:
        return _RECEIVED.validate_json(message)
    except ValidationError:
        return None


def _decoded(payload: str) -> bytes:
    try:
        return base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError):
        log.debug("sound that is no base64 was passed over")
        return b""


async def _close(socket: Socket, code: int, reason: str) -> None:
    try:
        async with asyncio.timeout(CLOSE_GRACE_S):
            await socket.close(code, reason[:100])
    except (LineClosed, TimeoutError):
        log.debug("the telephone line did not close in time")
