"""The other end of a telephone line: what Twilio does when somebody rings, over a real WebSocket, in real time.

`dial` sends the signed webhook and follows its TwiML; `TwilioLine` then is the caller's ear, mouth and keypad. Sound
is played out at its own pace, so that marks come back when they were heard, and a `clear` flushes what was not.
"""

import asyncio
import base64
import contextlib
import json
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from keryx.clock import Clock, SystemClock

FRAME_BYTES = 160
FRAME_S = 0.02
SILENCE = b"\xff" * FRAME_BYTES
QUIET_S = 0.8
"""Longer than any pause between two sentences of one answer."""
LISTEN_LIMIT_S = 30.0
MEDIA_FORMAT = {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1}


def sid(kind: str) -> str:
    """A name such as the provider gives: `CA` for calls, `MZ` for streams."""
    return kind + secrets.token_hex(16)


@dataclass(frozen=True)
class Account:
    """Whose line it is, and where the provider was told to find the daemon."""

    auth_token: str
    public_url: str
    number: str = "+15550001111"
    account_sid: str = "AC" + "0" * 32

    def sign(self, path: str, form: Mapping[str, str] | None = None, *, origin: str | None = None) -> str:
        from twilio.request_validator import RequestValidator

        return RequestValidator(self.auth_token).compute_signature((origin or self.public_url) + path, form or {})

    def webhook(self, caller: str, call_sid: str, **more: str) -> dict[str, str]:
        """The fields of the request that announces a call."""
        return {
            "AccountSid": self.account_sid, "ApiVersion": "2010-04-01", "CallSid": call_sid, "CallStatus": "ringing",
            "Called": self.number, "Caller": caller, "Direction": "inbound", "From": caller, "To": self.number, **more,
        }  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What a webhook was answered with."""

    status: int
    body: str

    @property
    def twiml(self) -> ElementTree.Element:
        return ElementTree.fromstring(self.body)

    @property
    def stream_url(self) -> str:
        stream = self.twiml.find("./Connect/Stream")
        assert stream is not None, self.body
        return stream.attrib["url"]

    @property
    def parameters(self) -> dict[str, str]:
        found = self.twiml.iterfind("./Connect/Stream/Parameter")
        return {parameter.attrib["name"]: parameter.attrib["value"] for parameter in found}


async def post(
    url: str, path: str, form: Mapping[str, str], signature: str, headers: Mapping[str, str] | None = None
) -> Answer:
    """Send a webhook to the daemon at `url`, whatever address it was signed for."""
    import httpx2

    headers = {
        "X-Twilio-Signature": signature,
        "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
        **(headers or {}),
    }
    async with httpx2.AsyncClient(base_url=url, trust_env=False) as client:
        response = await client.post(path, content=urlencode(form), headers=headers)
    return Answer(response.status_code, response.text)


@contextlib.asynccontextmanager
async def dial(
    url: str, account: Account, caller: str, *, clock: Clock | None = None, call_sid: str | None = None
) -> AsyncIterator["TwilioLine"]:
    """Ring the daemon at `url` (its loopback address) and be connected to it; fails when it does not answer."""
    call_sid = call_sid or sid("CA")
    form = account.webhook(caller, call_sid)
    answer = await post(url, "/twilio/voice", form, account.sign("/twilio/voice", form))
    local = f"ws://{urlsplit(url).netloc}{urlsplit(answer.stream_url).path}"
    async with TwilioLine.open(local, answer.parameters, call_sid=call_sid, clock=clock) as line:
        yield line


@dataclass
class TwilioLine:
    """One call's media stream, from the provider's side."""

    socket: ClientConnection
    clock: Clock
    call_sid: str
    stream_sid: str = field(default_factory=lambda: sid("MZ"))
    heard: bytearray = field(default_factory=bytearray)
    """Mu-law that has come out of the caller's loudspeaker."""
    frames: list[int] = field(default_factory=list)
    """The size of every piece of sound that came in."""
    came_at_s: list[float] = field(default_factory=list)
    """When each of them came, on the clock."""
    cleared_at_s: list[float] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    """Marks that were sent back, in order."""
    sounding: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the first sound has come out."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the daemon has closed the stream."""

    def __post_init__(self) -> None:
        self._playing: deque[tuple[float, bytes | str]] = deque()
        self._queued = asyncio.Event()
        self._speech: deque[bytes] = deque()
        self._spoken = asyncio.Event()
        self._sequence = 1
        self._chunk = 0
        self._plays_until_s = 0.0

    @property
    def quiet_s(self) -> float:
        """How long nothing has come out of the loudspeaker; 0 before the first sound."""
        if not self.heard or self._playing:
            return 0.0
        return max(0.0, self.clock.monotonic() - self._plays_until_s)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls,
        url: str,
        parameters: Mapping[str, str],
        *,
        call_sid: str | None = None,
        clock: Clock | None = None,
        headers: Mapping[str, str] | None = None,
        talks: bool = True,
    ) -> AsyncIterator["TwilioLine"]:
        """Connect, send `connected` and `start`, and run the line; with `talks`, sound or silence every 20 ms."""
        async with connect(url, additional_headers=headers, compression=None, proxy=None) as socket:
            line = cls(socket, clock or SystemClock(), call_sid or sid("CA"))
            await line.send({"event": "connected", "protocol": "Call", "version": "1.0.0"})
            await line.begin(parameters)
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(line._listen()), group.create_task(line._play_out())]
                if talks:
                    running.append(group.create_task(line._talk()))
                try:
                    yield line
                finally:
                    for task in running:
                        task.cancel()

    async def begin(self, parameters: Mapping[str, str]) -> None:
        start = {
            "accountSid": "AC" + "0" * 32, "streamSid": self.stream_sid, "callSid": self.call_sid,
            "tracks": ["inbound"], "mediaFormat": MEDIA_FORMAT, "customParameters": dict(parameters),
        }  # fmt: skip
        await self.event("start", start)

    async def event(self, event: str, content: Mapping[str, object]) -> None:
        """Send one numbered event of this stream; numbers are strings, as the provider writes them."""
        sequence, self._sequence = self._sequence, self._sequence + 1
        await self.send(
            {"event": event, "sequenceNumber": str(sequence), "streamSid": self.stream_sid, event: dict(content)}
        )

    async def send(self, message: Mapping[str, object] | str) -> None:
        with contextlib.suppress(ConnectionClosed):
            await self.socket.send(message if isinstance(message, str) else json.dumps(message))

    async def say(self, mulaw: bytes) -> None:
        """Speak at the pace of speech; returns when the last frame has gone out."""
        self._spoken.clear()
        self._speech.extend(mulaw[at : at + FRAME_BYTES] for at in range(0, len(mulaw), FRAME_BYTES))
        await self._spoken.wait()

    async def ask(self, mulaw: bytes) -> bytes:
        """Speak, and give the answer: everything that came out of the loudspeaker until it fell quiet again."""
        before = len(self.heard)
        await self.say(mulaw)
        return await self.listen(before)

    async def listen(self, since: int) -> bytes:
        """What is heard beyond the first `since` bytes, once there is something and it is over."""
        await self._until(lambda: len(self.heard) > since and self.quiet_s > QUIET_S)
        return bytes(self.heard[since:])

    async def until_quiet(self) -> None:
        """Wait for the first sound and its end."""
        await self._until(lambda: self.quiet_s > QUIET_S)

    async def _until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(LISTEN_LIMIT_S):
            while not condition():
                await self.clock.sleep(FRAME_S)

    async def send_audio(self, payload: bytes) -> None:
        """Sound of any size, at once."""
        self._chunk += 1
        media = {
            "track": "inbound", "chunk": str(self._chunk), "timestamp": str(self._chunk * 20),
            "payload": base64.b64encode(payload).decode("ascii"),
        }  # fmt: skip
        await self.event("media", media)

    async def press(self, digits: Iterable[str], gap_s: float = 0.05) -> None:
        for digit in digits:
            await self.event("dtmf", {"track": "inbound_track", "digit": digit})
            await self.clock.sleep(gap_s)

    async def hang_up(self) -> None:
        await self.event("stop", {"accountSid": "AC" + "0" * 32, "callSid": self.call_sid})
        await self.socket.close()

    async def _talk(self) -> None:
        due_s = self.clock.monotonic()
        while not self.ended.is_set():
            spoke = bool(self._speech)
            await self.send_audio(self._speech.popleft() if spoke else SILENCE)
            if spoke and not self._speech:
                self._spoken.set()
            due_s += FRAME_S
            await self.clock.sleep(max(0.0, due_s - self.clock.monotonic()))

    async def _listen(self) -> None:
        try:
            async for message in self.socket:
                await self._take(json.loads(message))
        except ConnectionClosed:
            pass
        self.ended.set()
        self._spoken.set()

    async def _take(self, message: dict) -> None:
        assert message["streamSid"] == self.stream_sid
        match message["event"]:
            case "media":
                payload = base64.b64decode(message["media"]["payload"], validate=True)
                self.frames.append(len(payload))
                self.came_at_s.append(self.clock.monotonic())
                now_s = self.clock.monotonic()
                frames = (payload[at : at + FRAME_BYTES] for at in range(0, len(payload), FRAME_BYTES))
                self._playing.extend((now_s, frame) for frame in frames)
            case "mark":
                self._playing.append((self.clock.monotonic(), message["mark"]["name"]))
            case "clear":
                self.cleared_at_s.append(self.clock.monotonic())
                flushed = [item for _, item in self._playing if isinstance(item, str)]
                self._playing.clear()
                for name in flushed:
                    await self._answer(name)
            case other:
                raise AssertionError(f"Twilio knows no {other}")
        self._queued.set()

    async def _play_out(self) -> None:
        while True:
            while not self._playing:
                self._queued.clear()
                await self._queued.wait()
            came_s, item = self._playing.popleft()
            if isinstance(item, str):
                await self._answer(item)
                continue
            # A telephone plays on while this process waits for its turn on a busy machine.
            self._plays_until_s = max(came_s, self._plays_until_s) + len(item) / 8000
            await self.clock.sleep(self._plays_until_s - self.clock.monotonic())
            self.heard += item
            self.sounding.set()

    async def _answer(self, name: str) -> None:
        self.marks.append(name)
        await self.event("mark", {"name": name})
