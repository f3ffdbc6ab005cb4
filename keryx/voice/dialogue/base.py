"""The dialogue seam: what the caller said in, what Keryx says out, one conversation at a time."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from keryx.tasks.models import News, TaskStatus


@dataclass(frozen=True)
class Say:
    """One thing to say: a sentence or two, as it would be shown; the voice makes it speakable."""

    text: str
    news_id: int | None = None
    """Once this has been heard whole, that news is told."""


@dataclass(frozen=True)
class TaskBrief:
    """As much of a task as understanding a sentence needs."""

    id: int
    status: TaskStatus
    project: str | None
    description: str
    mode: str = "auto"


@dataclass(frozen=True)
class Looked:
    """The question about mail or the calendar that was answered last, while nothing else was spoken of since."""

    tool: str
    arguments: dict[str, Any]
    listed: int = 0
    """So many messages were told, the newest first: what "the second one" counts."""


@dataclass(frozen=True)
class DialogueContext:
    """What a sentence is understood against."""

    projects: Sequence[str] = ()
    agents: Sequence[str] = ()
    tasks: Sequence[TaskBrief] = ()
    focus: int | None = None
    """The task "it" means: the last one spoken of."""
    pending: str | None = None
    """What a yes would do now, such as "cancel 4"; None when nothing was asked."""
    question: str = ""
    """The question that is pending, as it was asked."""
    told: int | None = None
    """The task whose result was spoken last: what "what did it say again?" means once "it" has none."""
    looked: Looked | None = None
    """What "read it" and "and tomorrow?" are about."""


@dataclass(frozen=True)
class Understanding:
    """What a sentence comes to: a tool to call or an intent of the conversation itself, never both."""

    tool: str | None = None
    intent: str | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    confidence: float = 1.0
    then: Sequence[str] = ()
    """What the caller wants right after it: "callback" (call when done), "goodbye"."""
    which_tasks: Sequence[int] = ()
    """Several tasks fit, and `task_id` is missing because of it."""
    which_projects: Sequence[str] = ()
    """Several projects fit, and `project` is missing because of it."""
    unknown_project: str | None = None
    """The words in a project's place that name none."""
    unknown_task: str | None = None
    """The words in a task's place that name none."""
    confirmed: bool = False
    """The caller was asked whether the agent may have a free hand, and said yes."""


class Dialogue(Protocol):
    """One call's conversation. Calls the tools itself; the voice only says what it yields.

    The voice never runs two of these methods at a time, except `cue`. Closing an iterator early (the caller spoke
    over it) undoes nothing: what a tool did stays done.
    """

    ended: bool
    """True once goodbye was yielded: hang up after it was heard."""
    pace: float
    """How fast to speak, 1.0 ordinary; "slower" lowers it."""

    def open(self, news: Sequence[News]) -> AsyncIterator[Say]:
        """The first words of a call, with everything not yet heard."""
        ...

    def respond(self, text: str) -> AsyncIterator[Say]:
        """Answer what the caller said or typed; "" means something was said and nothing understood."""
        ...

    def key(self, digit: str) -> AsyncIterator[Say]:
        """Answer a key of the keypad (0-9, *, #); yields nothing while digits are being collected."""
        ...

    def announce(self, news: Sequence[News]) -> AsyncIterator[Say]:
        """Tell results that came in during the call, in order."""
        ...

    def cue(self) -> Say:
        """A few words while something is slow; never the same twice in a row."""
        ...

    def idle(self) -> AsyncIterator[Say]:
        """The caller has been silent for long: ask once; the second time say goodbye and set `ended`."""
        ...

    def interrupted(self, unheard: str) -> None:
        """The caller spoke over it; `unheard` is the text they did not hear ("" if all was heard)."""
        ...

    def vocabulary(self) -> Sequence[str]:
        """Names likely to be said next, for the recogniser."""
        ...
