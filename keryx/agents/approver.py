"""Asking whoever may decide: what an agent wants to know or to be allowed, and what comes back."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from keryx.tasks.models import Task


class Effect(StrEnum):
    """What something an agent wants to do would change. From harmless to not."""

    READ = "read"
    """Looks at files, searches, lists; changes nothing and talks to nobody."""
    CHANGE = "change"
    """Makes, changes or deletes files inside the task's directory."""
    RUN = "run"
    """A command that, as far as its words show, stays inside the task's directory."""
    PACKAGES = "packages"
    """A package manager fetches what the project asks for."""
    NETWORK = "network"
    """Reaches another machine in any other way."""
    PUSH = "push"
    """Publishes commits, tags, packages or releases."""
    SEND = "send"
    """Something that other people see: mail, a message, an invitation, a comment."""
    OUTSIDE = "outside"
    """Changes files outside the task's directory, the machine itself, or what agents and git may run unasked."""
    UNKNOWN = "unknown"
    """A tool nobody here knows."""


@dataclass(frozen=True)
class Ask:
    """Something only the owner can decide, asked while the turn waits for it."""

    text: str
    """One sentence for the ear: "Which database?", or for a permission what would be done: "push to origin"."""
    effect: Effect | None = None
    """What a permission is for; None: a question, whose answer is words."""
    choices: tuple[str, ...] = ()
    """For a question: the answers the agent offers, if it offers any; another is allowed."""
    detail: str = ""
    """The whole command or change, for a screen."""


@dataclass(frozen=True)
class Answer:
    """What came of an `Ask`."""

    allowed: bool
    """A permission: go ahead. A question: it was answered."""
    text: str = ""
    """An answer's words; with `allowed` False: why not, in words for the agent."""


class Approver(Protocol):
    """Whoever decides."""

    async def ask(self, task: Task, ask: Ask) -> Answer:
        """Put `ask` to whoever may decide and wait for it, however long that is; never raises.

        A cancellation withdraws the ask and is not swallowed.
        """
        ...


NOBODY_TO_ASK = (
    "Nobody can be asked just now, so this was not allowed. Do what you can without it; if nothing useful is left, "
    "end your turn and put it as the question in your summary."
)
NOBODY_TO_ANSWER = (
    "Nobody can be asked just now. Choose the safest answer yourself and say in your summary what you chose, or, if "
    "the choice cannot be undone, end your turn and put it as the question in your summary."
)


class NobodyToAsk:
    """The approver where there is none: denies, and says why."""

    async def ask(self, task: Task, ask: Ask) -> Answer:
        return Answer(False, NOBODY_TO_ANSWER if ask.effect is None else NOBODY_TO_ASK)
