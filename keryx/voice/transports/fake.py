"""A line in memory: it plays what it is sent at real-time pace on a clock, answers marks and honours a clear."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from keryx.clock import Clock
from keryx.voice.transports.base import AudioFormat, AudioIn, Capabilities, Encoding, Inbound, LineClosed, Played

PAGE_LIKE = Capabilities(
    AudioFormat(Encoding.PCM16, 16_000), AudioFormat(Encoding.PCM16, 24_000), shows_text=True, keypad=True
)
PHONE_LIKE = Capabilities(
    AudioFormat(Encoding.MULAW, 8_000), AudioFormat(Encoding.MULAW, 8_000), shows_text=False, keypad=True
)


@dataclass(frozen=True)
class Caption:
    """Words the line was asked to show."""

    who: Literal["caller", "keryx"]
    text: str
    final: bool
    utterance: int


@dataclass
class FakeTransport:
    """A `MediaTransport`; the test is the caller, with `send` and `close`, and looks at what arrived."""

    clock: Clock
    capabilities: Capabilities = PAGE_LIKE
    answers_marks: bool = True
    captions: list[Caption] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    heard: bytearray = field(default_factory=bytearray)
    """Sound the caller's ear has got, up to the last time anything happened; see `listen`."""
    sent_at_s: list[float] = field(default_factory=list)
    """When each piece of sound was sent."""
    cleared_at_s: list[float] = field(default_factory=list)
    hung_up: list[str] = field(default_factory=list)
    """Reasons, one for every time the line was hung up."""
    carried: list[tuple[str, bytes | str | None]] = field(default_factory=list)
    """What was sent, in order: ("audio", sound), ("mark", name), ("clear", None), ("ended", reason)."""

    def __post_init__(self) -> None:
        self._inbound: asyncio.Queue[Inbound | None] = asyncio.Queue()
        self._queue: deque[bytes | str] = deque()  # sound and marks, in order
        self._queued = asyncio.Event()
        self._carried = asyncio.Event()
        self._taken = 0
        self._odd = b""
        self._closed = False
        self._plays_until_s = 0.0

    # -- the caller's side ------------------------------------------------------------------------------------------

    def send(self, inbound: Inbound) -> None:
        """The caller does something."""
        self._inbound.put_nowait(inbound)

    def close(self) -> None:
        """The caller hangs up."""
        self._inbound.put_nowait(None)

    def said(self, who: Literal["caller", "keryx"] = "keryx", *, final: bool = True) -> list[str]:
        """The texts shown of one speaker, the newest of every utterance."""
        newest = {caption.utterance: caption for caption in self.captions if caption.who == who}
        return [caption.text for caption in newest.values() if caption.final or not final]

    async def next_item(self) -> tuple[str, bytes | str | None]:
        """What was sent next, one after the other, for a test that plays the loudspeaker by hand."""
        while self._taken >= len(self.carried):
            self._carried.clear()
            await self._carried.wait()
        self._taken += 1
        return self.carried[self._taken - 1]

    async def play_out(self) -> None:
        """The loudspeaker: run this beside the call; it plays for ever."""
        while True:
            while not self._queue:
                self._queued.clear()
                await self._queued.wait()
            item = self._queue.popleft()
            if isinstance(item, str):
                if self.answers_marks:
                    self.send(Played(item))
                continue
            # Each piece ends when the one before it ended plus its own length, or that long from now.
            now_s = self.clock.monotonic()
            length_s = self.capabilities.outgoing.ms_of(len(item)) / 1000
            self._plays_until_s = max(now_s, self._plays_until_s) + length_s
            await self.clock.sleep(self._plays_until_s - now_s)
            self.heard += item

    # -- the transport ----------------------------------------------------------------------------------------------

    async def receive(self) -> Inbound:
        if self._closed:
            raise LineClosed("the line is closed")
        while True:
            inbound = await self._inbound.get()
            if inbound is None:
                self._closed = True
                raise LineClosed("the caller hung up")
            if not isinstance(inbound, AudioIn):
                return inbound
            if whole := self._whole_samples(inbound.payload):
                return AudioIn(whole)

    async def play(self, payload: bytes) -> None:
        self._check()
        self.sent_at_s.append(self.clock.monotonic())
        self._carry("audio", payload)
        self._add(payload)

    async def mark(self, name: str) -> None:
        self._check()
        self._carry("mark", name)
        self._add(name)

    async def clear(self) -> None:
        self._check()
        self.cleared_at_s.append(self.clock.monotonic())
        self._carry("clear", None)
        flushed = [item for item in self._queue if isinstance(item, str)]
        self._queue.clear()
        if self.answers_marks:  # as a telephone provider does: a mark flushed comes back too
            for name in flushed:
                self.send(Played(name))

    async def caption(self, who: Literal["caller", "keryx"], text: str, *, final: bool, utterance: int) -> None:
        self._check()
        if self.capabilities.shows_text:
            self.captions.append(Caption(who, text, final, utterance))

    async def state(self, state: Literal["listening", "thinking", "speaking"]) -> None:
        self._check()
        self.states.append(state)

    async def hang_up(self, reason: str) -> None:
        self.hung_up.append(reason)
        self._closed = True
        self._carry("ended", reason)

    def _whole_samples(self, payload: bytes) -> bytes:
        payload = self._odd + payload
        whole = len(payload) - len(payload) % self.capabilities.incoming.bytes_per_sample
        self._odd = payload[whole:]
        return payload[:whole]

    def _carry(self, kind: str, content: bytes | str | None) -> None:
        self.carried.append((kind, content))
        self._carried.set()

    def _add(self, item: bytes | str) -> None:
        self._queue.append(item)
        self._queued.set()

    def _check(self) -> None:
        if self._closed:
            raise LineClosed("the line is closed")
