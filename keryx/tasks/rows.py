"""Rows of the store as the frozen types of `models.py`, and the types that only the store hands out."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import RowMapping

from keryx.tasks.models import News, NewsKind, ProgressLine, Task, TaskStatus


class MessageState(StrEnum):
    """Where one text somebody said to a task stands, the first request included."""

    WAITING = "waiting"
    """Not given to the agent; the next turn takes it."""
    SENDING = "sending"
    """Being passed on to the running turn. Found after a crash, it may have landed."""
    TAKEN = "taken"
    """Part of the running turn's prompt."""
    ACKNOWLEDGED = "acknowledged"
    """Passed on, and the agent said it has it."""
    UNCERTAIN = "uncertain"
    """Passed on, and nobody knows whether it landed; never sent again."""


@dataclass(frozen=True)
class Message:
    """One text somebody said to a task. `settled`: the turn that took it has ended, or the task was cancelled."""

    id: int
    task_id: int
    text: str
    state: MessageState
    took_up: bool
    settled: bool


@dataclass(frozen=True)
class Turn:
    """How one turn ended, as it is kept; unknown figures are None."""

    number: int
    finished_at: datetime
    ok: bool
    final_text: str
    summary: str
    error: str | None
    restart_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    cached_input_tokens: int | None
    cost_usd: float | None


_NOT_IN_TASK = frozenset({"queued_at", "request_id"})


def task_of(row: RowMapping) -> Task:
    values: dict[str, Any] = {key: value for key, value in row.items() if key not in _NOT_IN_TASK}
    values["status"] = TaskStatus(row["status"])
    return Task(**values)


def message_of(row: RowMapping) -> Message:
    return Message(
        id=row["id"],
        task_id=row["task_id"],
        text=row["message"],
        state=MessageState(row["state"]),
        took_up=row["took_up"],
        settled=row["settled_at"] is not None,
    )


def news_of(row: RowMapping) -> News:
    return News(
        id=row["id"],
        task_id=row["task_id"],
        kind=NewsKind(row["kind"]),
        text=row["message"],
        created_at=row["created_at"],
        agent=row["agent"],
        project=row["project"],
        description=row["description"],
        told_at=row["told_at"],
    )


def line_of(row: RowMapping) -> ProgressLine:
    return ProgressLine(task_id=row["task_id"], offset=row["line_offset"], text=row["line"], at=row["at"])


def turn_of(row: RowMapping) -> Turn:
    return Turn(**{key: value for key, value in row.items() if key != "task_id"})
