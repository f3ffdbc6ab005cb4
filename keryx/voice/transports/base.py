"""The line: sound and keys in, sound out, whoever carries it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol


class Encoding(StrEnum):
    """How samples travel on a line."""

    PCM16 = "pcm16"
    """Signed 16-bit little-endian."""
    MULAW = "mulaw"
    """G.711 mu-law, one byte a sample."""


@dataclass(frozen=True)
class AudioFormat:
    """An encoding at a rate, always mono."""

    encoding: Encoding
    rate: int

    @property
    def bytes_per_sample(self) -> int:
        return 2 if self.encoding is Encoding.PCM16 else 1

    def bytes_of(self, duration_ms: float) -> int:
        """Whole samples' worth of bytes for `duration_ms`."""
        return int(self.rate * duration_ms / 1000) * self.bytes_per_sample

    def ms_of(self, size: int) -> float:
        """How long `size` bytes play, in milliseconds."""
        return size / self.bytes_per_sample / self.rate * 1000


@dataclass(frozen=True)
class Capabilities:
    """What a line can do."""

    incoming: AudioFormat
    outgoing: AudioFormat
    shows_text: bool
    """Captions can be shown and words typed (the page, the terminal)."""
    keypad: bool
    audio: bool = True
    """Sound travels at all; False for a terminal that only types and reads."""


@dataclass(frozen=True)
class Caller:
    """Who is on the line and what has been proven of them so far."""

    kind: Literal["page", "terminal", "phone"]
    name: str
    """The person's record name ("owner")."""
    proven: bool
    """May act, not only hear and ask: true from the start with the page's key, after the PIN on a telephone."""
    call_id: str = ""
    """What this call is named in logs and on the page; made up by the call when empty."""


@dataclass(frozen=True)
class AudioIn:
    """Some of the caller's sound, any size, in the line's incoming format."""

    payload: bytes


@dataclass(frozen=True)
class TextIn:
    """Something the caller typed."""

    text: str


@dataclass(frozen=True)
class KeyIn:
    """One key of a telephone's keypad: 0-9, * or #."""

    digit: str


@dataclass(frozen=True)
class Played:
    """The line has played everything sent before the mark `name` (or thrown it away after a `clear`)."""

    name: str


@dataclass(frozen=True)
class StopSpeaking:
    """The caller pressed the button that silences Keryx."""


Inbound = AudioIn | TextIn | KeyIn | Played | StopSpeaking


class LineClosed(Exception):
    """The other side is gone; raised by `receive` and by every send once that is known."""


class MediaTransport(Protocol):
    """One open line. The sends may be called from several coroutines; they keep their order."""

    capabilities: Capabilities

    async def receive(self) -> Inbound:
        """The next thing from the caller; raises `LineClosed` at the end. A cancellation loses nothing."""
        ...

    async def play(self, payload: bytes) -> None:
        """Queue sound in the outgoing format; the line plays it at its own pace, in order."""
        ...

    async def mark(self, name: str) -> None:
        """Ask for `Played(name)` once everything before it has been played."""
        ...

    async def clear(self) -> None:
        """Throw away everything queued and not yet played, at once."""
        ...

    async def caption(self, who: Literal["caller", "keryx"], text: str, *, final: bool, utterance: int) -> None:
        """Show words as they are said; the same `utterance` replaces its earlier text. Nothing on a telephone."""
        ...

    async def state(self, state: Literal["listening", "thinking", "speaking"]) -> None:
        """Show what Keryx is doing. Nothing on a telephone."""
        ...

    async def hang_up(self, reason: str) -> None:
        """End the line; bounded to under one second, and may be called twice."""
        ...
