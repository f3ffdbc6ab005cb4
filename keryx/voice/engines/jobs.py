"""What a conversation has to do next, one thing at a time."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from keryx.tasks.models import News
from keryx.voice.dialogue.base import Dialogue, Say


@dataclass(frozen=True)
class Open:
    """Say the first words."""


@dataclass(frozen=True)
class Answer:
    """The caller said or typed this; "" was speech that nobody understood."""

    text: str


@dataclass(frozen=True)
class Key:
    """The caller pressed a key."""

    digit: str


@dataclass(frozen=True)
class Tell:
    """Results came in."""

    news: Sequence[News]


@dataclass(frozen=True)
class Idle:
    """Nobody has said anything for long."""


@dataclass(frozen=True)
class Farewell:
    """The call ends with these words."""

    text: str


Job = Open | Answer | Key | Tell | Idle | Farewell


def says(job: Job, dialogue: Dialogue, opening: Callable[[], AsyncIterator[Say]]) -> AsyncIterator[Say]:
    """What `dialogue` says to `job`; `opening` gives the first words."""
    match job:
        case Open():
            return opening()
        case Answer(text):
            return dialogue.respond(text)
        case Key(digit):
            return dialogue.key(digit)
        case Tell(news):
            return dialogue.announce(news)
        case Idle():
            return dialogue.idle()
        case Farewell(text):
            return _just(text)
        case _:
            assert_never(job)


async def _just(text: str) -> AsyncIterator[Say]:
    yield Say(text)
