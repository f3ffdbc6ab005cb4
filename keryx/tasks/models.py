"""What a task is, which ways it may go, and the news that comes of it. Pure: no clock, no store."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class TaskStatus(StrEnum):
    """Where a task stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Nothing more happens to the task unless somebody follows it up."""
        return self in (TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED)


LEGAL_TRANSITIONS: dict[TaskStatus, frozenset[TaskStatus]] = {
    TaskStatus.QUEUED: frozenset({TaskStatus.RUNNING, TaskStatus.CANCELLED, TaskStatus.FAILED}),
    # Back to QUEUED: the daemon stopped in the middle, or a refused steer is waiting as the next turn.
    TaskStatus.RUNNING: frozenset({TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED, TaskStatus.QUEUED}),
    # A follow-up takes an ended task up again.
    TaskStatus.DONE: frozenset({TaskStatus.QUEUED}),
    TaskStatus.FAILED: frozenset({TaskStatus.QUEUED}),
    TaskStatus.CANCELLED: frozenset({TaskStatus.QUEUED}),
}


class IllegalTransition(ValueError):
    """A task was asked to go where it cannot go from where it is; a defect in the caller, never shown to a person."""


def check_transition(before: TaskStatus, after: TaskStatus) -> None:
    """Raise `IllegalTransition` unless `before` → `after` is allowed."""
    if after not in LEGAL_TRANSITIONS[before]:
        raise IllegalTransition(f"a {before} task cannot become {after}")


@dataclass(frozen=True)
class Task:
    """Work somebody asked for, as the store last saw it.

    Times are timezone-aware UTC. Token counts and `cost_usd` are totals over the task's turns and None while unknown:
    unknown is not zero. `session_id` is the agent's own name for its conversation, None before it told us.
    """

    id: int
    description: str
    status: TaskStatus
    agent: str
    created_at: datetime
    project: str | None = None
    model: str | None = None
    mode: str = "auto"
    person: str = "owner"
    started_at: datetime | None = None
    finished_at: datetime | None = None
    progress: str | None = None
    """The last progress line the agent gave."""
    summary: str | None = None
    """What is spoken of the last turn: plain, at most `MAX_SUMMARY_CHARS` characters."""
    error: str | None = None
    session_id: str | None = None
    epoch: int = 0
    """How often the task was claimed; a write with an older epoch is refused (the fence)."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cost_usd: float | None = None
    report_path: str | None = None
    callback_requested: bool = False
    told_at: datetime | None = None
    """When the newest news of this task was heard; None while nobody has heard it or there is none."""


@dataclass(frozen=True)
class ProgressLine:
    """One line an agent reported while working."""

    task_id: int
    offset: int
    text: str
    at: datetime


class NewsKind(StrEnum):
    """What sort of thing there is to tell."""

    DONE = "done"
    FAILED = "failed"
    QUESTION = "question"
    """The agent's turn ended with something only the caller can decide; the answer is a follow-up."""


@dataclass(frozen=True)
class News:
    """Something the owner has not heard yet (`told_at` None) or has (`told_at` set).

    Written in the same transaction as the change it tells of, so that a result can be told twice at worst, never lost.
    """

    id: int
    task_id: int
    kind: NewsKind
    text: str
    """The agent's own summary, plain, without the words around it ("Task four is done")."""
    created_at: datetime
    agent: str
    project: str | None = None
    description: str = ""
    told_at: datetime | None = None


def is_question(summary: str) -> bool:
    """Whether a turn's summary ends by asking something."""
    return summary.rstrip().endswith("?")
