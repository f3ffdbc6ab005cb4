"""Parts of transactions on the task tables, used by `store.py` and `claims.py`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from keryx.errors import NotFound
from keryx.store.schema import inbox, news, tasks, turns
from keryx.tasks.models import Task, TaskStatus, check_transition
from keryx.tasks.rows import Message, MessageState, message_of, task_of

UNSETTLED = inbox.c.settled_at.is_(None)

newest_told_at = (
    select(news.c.told_at)
    .where(news.c.task_id == tasks.c.id)
    .order_by(news.c.id.desc())
    .limit(1)
    .correlate(tasks)
    .scalar_subquery()
    .label("told_at")
)
select_tasks = select(tasks, newest_told_at)


def load_task(connection: Connection, task_id: int) -> Task:
    """Raises `NotFound`."""
    row = connection.execute(select_tasks.where(tasks.c.id == task_id)).mappings().first()
    if row is None:
        raise NotFound(f"there is no task {task_id}", spoken=f"There is no task {task_id}.")
    return task_of(row)


def change_task(connection: Connection, task_id: int, values: Mapping[str, Any]) -> None:
    """Set columns, leaving the status alone."""
    connection.execute(update(tasks).where(tasks.c.id == task_id).values(dict(values)))


def move_task(connection: Connection, task: Task, status: TaskStatus, **values: Any) -> None:
    """Change the status, if that is legal, and set further columns."""
    check_transition(task.status, status)
    change_task(connection, task.id, values | {"status": status})


def add_message(
    connection: Connection,
    task_id: int,
    text: str,
    at: datetime,
    *,
    request_id: str | None = None,
    took_up: bool = False,
) -> Message:
    """Put a text in the inbox, waiting for the next turn."""
    values = {"task_id": task_id, "message": text, "request_id": request_id, "took_up": took_up, "at": at}
    values["state"] = MessageState.WAITING
    return message_of(connection.execute(insert(inbox).values(values).returning(inbox)).mappings().one())


def settle_messages(connection: Connection, task_id: int, at: datetime, *, but_waiting: bool = False) -> int:
    """Close the books on a task's texts; returns how many may not have reached the agent."""
    unsettled = (inbox.c.task_id == task_id) & UNSETTLED
    if but_waiting:
        unsettled &= inbox.c.state != MessageState.WAITING
    closed = update(inbox).where(unsettled).values(settled_at=at).returning(inbox.c.state)
    return sum(state in MAY_HAVE_LANDED for state in connection.execute(closed).scalars())


MAY_HAVE_LANDED = (MessageState.UNCERTAIN, MessageState.SENDING)


def withdraw_untold(connection: Connection, task_id: int, at: datetime, *kinds: str) -> None:
    """Take back a task's news that nobody has heard: those of `kinds`, or all of them."""
    untold = (news.c.task_id == task_id) & news.c.told_at.is_(None) & news.c.withdrawn_at.is_(None)
    if kinds:
        untold &= news.c.kind.in_(kinds)
    connection.execute(update(news).where(untold).values(withdrawn_at=at))


def totals(connection: Connection, task_id: int) -> dict[str, Any]:
    """A task's figures over its turns: the sum of what is known, None where nothing is (SQL's `sum` does just so)."""
    columns = (turns.c.input_tokens, turns.c.output_tokens, turns.c.cached_input_tokens, turns.c.cost_usd)
    wanted = select(*(func.sum(column).label(column.name) for column in columns)).where(turns.c.task_id == task_id)
    return dict(connection.execute(wanted).mappings().one())
