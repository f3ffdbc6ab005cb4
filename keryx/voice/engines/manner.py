"""How a conversation is held, and what it needs of the rest of the house."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from keryx.tasks.models import News
from keryx.voice.engines.speaking import Pacing
from keryx.voice.engines.thinking import Patience
from keryx.voice.loading import SpeechParts
from keryx.voice.turns import Timing


class SpeechSource(Protocol):
    """Where the speech parts come from, perhaps only later (`keryx.voice.loading.SpeechLoading`)."""

    parts: SpeechParts | None

    async def changed(self) -> None: ...


@dataclass(frozen=True)
class Limits:
    """How long a call may be silent, and last, in seconds."""

    idle_s: float = 45.0
    typed_idle_s: float = 600.0
    """The same where nothing is spoken: reading and typing are slow, and cost nobody's line."""
    question_s: float = 6.0
    """News waits so long for the answer to a question."""
    call_s: float = 3600.0
    goodbye_s: float = 12.0
    """The last words may take no longer."""
    farewell: str = "We have talked for an hour, so I'm hanging up. Call again any time."


@dataclass(frozen=True)
class Manner:
    """How the conversation is held; every default was measured, see the modules."""

    timing: Timing = field(default_factory=Timing)
    pacing: Pacing = field(default_factory=Pacing)
    patience: Patience = field(default_factory=Patience)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class NewsDesk:
    """Where news comes from when a call begins, and where it is reported as heard."""

    briefing: Callable[[], Awaitable[Sequence[News]]]
    heard: Callable[[int], None]
