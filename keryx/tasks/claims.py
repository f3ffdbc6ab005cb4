"""What only the run that claimed a task may write, each write fenced by the claim's epoch.

Every such write raises `Fenced` when another claim, a cancellation or the task's end has come between.
"""

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, or_, select, update

from keryx.clock import Clock
from keryx.security.redact import redact
from keryx.store.db import Database
from keryx.store.schema import inbox, news, progress, tasks, turns
from keryx.tasks.models import News, NewsKind, ProgressLine, Task, TaskStatus, is_question
from keryx.tasks.rows import Message, MessageState, message_of, news_of, task_of
from keryx.tasks.statements import (
    UNSETTLED,
    change_task,
    load_task,
    move_task,
    select_tasks,
    settle_messages,
    totals,
    withdraw_untold,
)

UNSURE_OF_ONE = "I'm not sure your addition reached it."
UNSURE_OF_SEVERAL = "I'm not sure your additions reached it."


class Fenced(Exception):
    """The task is no longer this claim's to write; the run stops its agent and writes nothing more."""


@dataclass(frozen=True)
class TurnInput:
    """What a turn has to answer: `interrupted` was given to a turn that broke off, `fresh` has been given to none."""

    task: Task
    earlier: tuple[Message, ...]
    interrupted: tuple[Message, ...]
    fresh: tuple[Message, ...]


@dataclass(frozen=True)
class TurnEnd:
    """How a turn ended, ready to be kept: plain text, secrets removed. Unknown figures are None."""

    ok: bool
    final_text: str
    summary: str
    session_id: str | None = None
    error: str | None = None
    restart_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cost_usd: float | None = None
    report_path: str | None = None


@dataclass(frozen=True)
class Ended:
    """A turn's end is stored. `more`: texts are waiting, so the task goes on with a further turn."""

    task: Task
    news: News
    more: bool


class Claims:
    """Takes queued tasks and writes what becomes of them. Raises `Unavailable` when the store cannot be written."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def recover(self) -> None:
        """Queue what was running when the last daemon went away; texts on their way then may or may not have landed."""

        def work(connection: Connection) -> None:
            running = update(tasks).where(tasks.c.status == TaskStatus.RUNNING)
            connection.execute(running.values(status=TaskStatus.QUEUED))
            sending = update(inbox).where(inbox.c.state == MessageState.SENDING, UNSETTLED)
            connection.execute(sending.values(state=MessageState.UNCERTAIN))

        await self._database.write(work)

    async def claim(self, busy: Collection[int]) -> Task | None:
        """Take the task that has been queued longest: `running`, epoch one higher. None when there is none.

        Left out are tasks in `busy` (their last run is still ending) and those of a project somebody is working in:
        two agents in one checkout lose each other's work.
        """

        def work(connection: Connection) -> Task | None:
            at_work = or_(tasks.c.status == TaskStatus.RUNNING, tasks.c.id.in_(ending))
            occupied = select(tasks.c.project).where(tasks.c.project.is_not(None), at_work)
            free = or_(tasks.c.project.is_(None), tasks.c.project.not_in(occupied))
            line = select_tasks.where(tasks.c.status == TaskStatus.QUEUED, tasks.c.id.not_in(ending), free)
            first = line.order_by(tasks.c.queued_at, tasks.c.id).limit(1)
            if (row := connection.execute(first).mappings().first()) is None:
                return None
            task = task_of(row)
            values: dict[str, Any] = {"epoch": task.epoch + 1, "started_at": self._clock.now(), "progress": None}
            move_task(connection, task, TaskStatus.RUNNING, **values)
            return dataclasses.replace(task, status=TaskStatus.RUNNING, **values)

        ending = tuple(busy)
        # Taken back by a power cut, the task is queued as it was, and no run is left that could write under this claim.
        return await self._database.write(work, outlasts_power_cut=False)

    async def begin_turn(self, task_id: int, epoch: int, session_id: str | None) -> TurnInput:
        """Take everything that waits as the prompt of a turn in the conversation `session_id`. Raises `Fenced`."""

        def work(connection: Connection) -> TurnInput:
            _fence(connection, task_id, epoch)
            change_task(connection, task_id, {"session_id": session_id})
            rows = connection.execute(select(inbox).where(inbox.c.task_id == task_id).order_by(inbox.c.id)).mappings()
            known = [message for row in rows if (message := message_of(row)).state is not MessageState.UNCERTAIN]
            fresh = tuple(message for message in known if message.state is MessageState.WAITING and not message.settled)
            interrupted = tuple(message for message in known if not message.settled and message not in fresh)
            earlier = tuple(message for message in known if message.settled)
            ids = [message.id for message in fresh]
            connection.execute(update(inbox).where(inbox.c.id.in_(ids)).values(state=MessageState.TAKEN))
            return TurnInput(load_task(connection, task_id), earlier, interrupted, fresh)

        return await self._database.write(work)

    async def save_session(self, task_id: int, epoch: int, session_id: str) -> None:
        """Keep the agent's name for its conversation as soon as it is known. Raises `Fenced`."""

        def work(connection: Connection) -> None:
            _fence(connection, task_id, epoch)
            change_task(connection, task_id, {"session_id": session_id})

        await self._database.write(work)

    async def add_progress(self, task_id: int, epoch: int, text: str) -> ProgressLine:
        """Append a progress line. Raises `Fenced`."""

        def work(connection: Connection) -> ProgressLine:
            _fence(connection, task_id, epoch)
            last = select(func.coalesce(func.max(progress.c.line_offset), 0)).where(progress.c.task_id == task_id)
            line = ProgressLine(task_id, connection.execute(last).scalar_one() + 1, text, self._clock.now())
            values = {"task_id": task_id, "line_offset": line.offset, "line": text, "at": line.at}
            connection.execute(insert(progress).values(values))
            change_task(connection, task_id, {"progress": text})
            return line

        return await self._database.write(work, outlasts_power_cut=False)

    async def begin_sending(self, message_id: int) -> bool:
        """Note, before it is passed on, that a waiting text may reach the agent from here on.

        False: it is not waiting any more, because a turn has taken it or the task was cancelled.
        """

        def work(connection: Connection) -> bool:
            waiting = (inbox.c.id == message_id) & (inbox.c.state == MessageState.WAITING) & UNSETTLED
            return connection.execute(update(inbox).where(waiting).values(state=MessageState.SENDING)).rowcount == 1

        return await self._database.write(work)

    async def sent(self, message_id: int, state: MessageState) -> None:
        """What became of a text that was being passed on; `WAITING` when it was refused."""

        def work(connection: Connection) -> None:
            sending = (inbox.c.id == message_id) & (inbox.c.state == MessageState.SENDING)
            connection.execute(update(inbox).where(sending).values(state=state))

        await self._database.write(work)

    async def end_turn(self, task_id: int, epoch: int, end: TurnEnd) -> Ended:
        """Store a turn's result and its news together; the task ends unless more texts are waiting. Raises `Fenced`."""

        def work(connection: Connection) -> Ended:
            task, now = _fence(connection, task_id, epoch), self._clock.now()
            unsure = settle_messages(connection, task_id, now, but_waiting=True)
            number = select(func.count()).select_from(turns).where(turns.c.task_id == task_id)
            turn = dataclasses.asdict(end) | {"task_id": task_id, "finished_at": now}
            turn["number"] = connection.execute(number).scalar_one() + 1
            connection.execute(insert(turns).values({key: turn[key] for key in turns.c.keys()}))
            waiting = select(func.count()).select_from(inbox).where(inbox.c.task_id == task_id, UNSETTLED)
            more = connection.execute(waiting).scalar_one() > 0
            values = totals(connection, task_id) | {"summary": end.summary, "error": None if end.ok else end.error}
            values["session_id"] = end.session_id or task.session_id
            values["report_path"] = end.report_path or task.report_path
            if more:
                change_task(connection, task_id, values)
            else:
                status = TaskStatus.DONE if end.ok else TaskStatus.FAILED
                move_task(connection, task, status, finished_at=now, **values)
            added = self._add_news(connection, task, end, unsure)
            return Ended(load_task(connection, task_id), added, more)

        return await self._database.write(work)

    def _add_news(self, connection: Connection, task: Task, end: TurnEnd, unsure: int) -> News:
        now = self._clock.now()
        # A question is overtaken by whatever the task has to say after it; every other result stands for itself.
        withdraw_untold(connection, task.id, now, NewsKind.QUESTION)
        kind = NewsKind.QUESTION if is_question(end.summary) else NewsKind.DONE
        doubt = "" if not unsure else UNSURE_OF_ONE if unsure == 1 else UNSURE_OF_SEVERAL
        values = {
            "task_id": task.id,
            "kind": kind if end.ok else NewsKind.FAILED,
            # In front, so that a question still ends the sentence and the answer follows it.
            "message": f"{doubt} {end.summary}".strip(),
            "created_at": now,
            "agent": task.agent,
            "project": task.project,
            "description": redact(task.description),
        }
        return news_of(connection.execute(insert(news).values(values).returning(news)).mappings().one())


def _fence(connection: Connection, task_id: int, epoch: int) -> Task:
    task = load_task(connection, task_id)
    if task.epoch != epoch or task.status is not TaskStatus.RUNNING:
        raise Fenced(f"task {task_id}, claim {epoch}")
    return task
