"""The voice engine's seam: what a caller does in, what the line shall do out.

An engine owns the conversation: whose turn it is, what was understood, what is said, how much of it was heard. A call
only carries things between it and the line, so an engine may as well be a remote model that takes turns, thinks and
speaks by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from keryx.tasks.models import News
from keryx.voice.transports.base import Inbound


@dataclass(frozen=True)
class AudioOut:
    """At most 20 ms of one utterance in the line's outgoing format, to be played after what came before."""

    utterance: int
    payload: bytes


@dataclass(frozen=True)
class MarkOut:
    """Ask the line to say when everything before this has been played; `name` is never used twice in a call."""

    name: str


@dataclass(frozen=True)
class ClearOut:
    """Throw away what the line has not played yet; no sound given out before this may be played after it."""


@dataclass(frozen=True)
class CaptionOut:
    """Words to show; the same `utterance` of the same speaker replaces what it showed before."""

    who: Literal["caller", "keryx"]
    text: str
    final: bool
    utterance: int


@dataclass(frozen=True)
class StateOut:
    """What Keryx is doing now."""

    state: Literal["listening", "thinking", "speaking"]


@dataclass(frozen=True)
class HangUpOut:
    """The conversation is over; the last thing an engine gives out."""

    reason: str


EngineEvent = AudioOut | MarkOut | ClearOut | CaptionOut | StateOut | HangUpOut


class VoiceEngine(Protocol):
    """One call's conversation."""

    async def run(self) -> None:
        """Hold the conversation: greet, listen, answer. Returns after `HangUpOut` was given out, or is cancelled."""
        ...

    def take(self, inbound: Inbound) -> None:
        """What the caller did: sound in the line's incoming format and any size, words, keys, marks. Never waits."""
        ...

    async def next_event(self) -> EngineEvent:
        """The next thing the line shall do. A cancellation loses nothing."""
        ...

    def announce(self, news: Sequence[News]) -> None:
        """Tell this in the next pause, in order; news that this call already has in hand is left out."""
        ...

    def finish(self, farewell: str = "", reason: str = "goodbye") -> None:
        """Hang up for `reason` once what is being said was heard; with `farewell`, say that now instead. Bounded."""
        ...

    async def line_lost(self) -> None:
        """The line is gone: let what the caller had asked for be done, saying nothing more.

        An effect that has begun comes to its end, within `EFFECT_GRACE_S`. Words that were whole before the hang-up and
        are still being understood, or wait to be answered, are acted on, within `LAST_WORDS_GRACE_S` more. A sentence
        that the hang-up cut off is dropped. May be called twice.
        """
        ...


EFFECT_GRACE_S = 0.5
"""How long a tool that is already running may take to finish after the caller has hung up."""
LAST_WORDS_GRACE_S = 3.0
"""How long the caller's last words may take to be understood after that."""
