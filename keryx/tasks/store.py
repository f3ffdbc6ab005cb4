"""Tasks in the database: every change that must happen together is one transaction.

A running task is written only by whoever claimed it last: each such write names the `epoch` of its claim and raises
`Fenced` when another claim, a cancellation or the task's end has come between.
"""

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, or_, select, update

from keryx.clock import Clock
from keryx.errors import NotFound, Refused
from keryx.store import schema
from keryx.store.db import Database
from keryx.tasks.limits import LocalDay
from keryx.tasks.models import News, NewsKind, ProgressLine, Task, TaskStatus, check_transition, is_question
from keryx.tasks.rows import (
    Message,
    MessageState,
    Turn,
    line_of,
    message_of,
    news_of,
    select_tasks,
    sum_known,
    task_of,
    turn_of,
)

UNSURE_OF_ONE = "I'm not sure your addition reached it."
UNSURE_OF_SEVERAL = "I'm not sure your additions reached it."

tasks, turns, inbox, news = schema.tasks, schema.turns, schema.inbox, schema.news
_OPEN = inbox.c.settled_at.is_(None)


class Fenced(Exception):
    """The task is no longer this claim's to write; the run stops its agent and writes nothing more."""


@dataclass(frozen=True)
class NewTask:
    """What is known of a task when it is dispatched."""

    description: str
    agent: str
    project: str | None
    model: str | None
    mode: str
    request_id: str | None
    person: str = "owner"


@dataclass(frozen=True)
class Posted:
    """A follow-up is in the inbox of `task`, as it stands now. `repeated`: the same request had put it there before."""

    message: Message
    task: Task
    repeated: bool


@dataclass(frozen=True)
class TurnInput:
    """What a turn has to answer: `interrupted` was given to a turn that broke off, `fresh` has been given to none."""

    task: Task
    earlier: tuple[Message, ...]
    interrupted: tuple[Message, ...]
    fresh: tuple[Message, ...]


@dataclass(frozen=True)
class TurnEnd:
    """How a turn ended, ready to be kept: plain text, secrets removed."""

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


class TaskStore:
    """The tables `tasks`, `turns`, `progress`, `inbox` and `news`. Raises `Unavailable` when they cannot be written."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    # Asked for, followed up, cancelled.

    async def add(self, new: NewTask, day: LocalDay, may_add: Callable[[int], None]) -> tuple[Task, bool]:
        """Store a queued task and say that it is new, or find the one its `request_id` made before.

        `may_add` gets the number of tasks dispatched in `day` and raises to refuse; nothing is stored then.
        """

        def work(connection: Connection) -> tuple[Task, bool]:
            if new.request_id is not None:
                made = select_tasks.where(tasks.c.request_id == new.request_id)
                if (row := connection.execute(made).mappings().first()) is not None:
                    return task_of(row), False
            today = (tasks.c.created_at >= day.start) & (tasks.c.created_at < day.end)
            may_add(connection.execute(select(func.count()).select_from(tasks).where(today)).scalar_one())
            now = self._clock.now()
            values = dataclasses.asdict(new) | {"status": TaskStatus.QUEUED, "created_at": now, "queued_at": now}
            (task_id,) = connection.execute(insert(tasks).values(values).returning(tasks.c.id)).one()
            self._post(connection, task_id, new.description, None, took_up=False)
            return _task(connection, task_id), True

        return await self._database.write(work)

    async def post(self, task_id: int, text: str, request_id: str | None) -> Posted:
        """Put a follow-up in the inbox; an ended task is queued again. The same `request_id` is put there once.

        Raises `NotFound`.
        """

        def work(connection: Connection) -> Posted:
            if request_id is not None:
                before = select(inbox).where(inbox.c.request_id == request_id)
                if (row := connection.execute(before).mappings().first()) is not None:
                    message = message_of(row)
                    return Posted(message, _task(connection, message.task_id), repeated=True)
            task = _task(connection, task_id)
            if took_up := task.status.ended:
                self._move(
                    connection, task, TaskStatus.QUEUED, queued_at=self._clock.now(), finished_at=None, error=None
                )
            message = self._post(connection, task_id, text, request_id, took_up=took_up)
            return Posted(message, _task(connection, task_id), repeated=False)

        return await self._database.write(work)

    async def cancel(self, task_id: int) -> Task:
        """End the task without news: older news nobody has heard are withdrawn, what waits in its inbox is dropped.

        The running claim is fenced off by a higher epoch. Raises `NotFound`, or `Refused` if it has already ended.
        """

        def work(connection: Connection) -> Task:
            task = _task(connection, task_id)
            if task.status.ended:
                raise Refused(
                    f"task {task_id} has already ended ({task.status})", spoken=f"Task {task_id} has already ended."
                )
            now = self._clock.now()
            self._move(connection, task, TaskStatus.CANCELLED, finished_at=now, epoch=task.epoch + 1)
            self._settle(connection, task_id)
            untold = (news.c.task_id == task_id) & news.c.told_at.is_(None)
            connection.execute(update(news).where(untold).values(withdrawn_at=now))
            return _task(connection, task_id)

        return await self._database.write(work)

    async def request_callback(self, task_id: int | None) -> Task | None:
        """Note that the owner wants to be called about a task (None: the newest unfinished one, if there is any)."""

        def work(connection: Connection) -> Task | None:
            wanted = task_id
            if wanted is None:
                unfinished = tasks.c.status.in_((TaskStatus.QUEUED, TaskStatus.RUNNING))
                wanted = connection.execute(select(func.max(tasks.c.id)).where(unfinished)).scalar_one()
            if wanted is None:
                return None
            _task(connection, wanted)
            connection.execute(update(tasks).where(tasks.c.id == wanted).values(callback_requested=True))
            return _task(connection, wanted)

        return await self._database.write(work)

    # Worked on: by whoever claimed the task.

    async def recover(self) -> None:
        """Queue what was running when the last daemon went away; texts on their way then may or may not have landed."""

        def work(connection: Connection) -> None:
            running = update(tasks).where(tasks.c.status == TaskStatus.RUNNING)
            connection.execute(running.values(status=TaskStatus.QUEUED))
            sending = update(inbox).where(inbox.c.state == MessageState.SENDING, inbox.c.settled_at.is_(None))
            connection.execute(sending.values(state=MessageState.UNCERTAIN))

        await self._database.write(work)

    async def claim(self, busy: Collection[int]) -> Task | None:
        """Take the task that has been queued longest: `running`, epoch one higher. None when there is none.

        Left out are tasks in `busy` (their last run is still ending) and those of a project somebody is working in:
        two agents in one checkout lose each other's work.
        """

        def work(connection: Connection) -> Task | None:
            occupied = select(tasks.c.project).where(
                tasks.c.project.is_not(None), or_(tasks.c.status == TaskStatus.RUNNING, tasks.c.id.in_(taken))
            )
            free = or_(tasks.c.project.is_(None), tasks.c.project.not_in(occupied))
            queued = tasks.c.status == TaskStatus.QUEUED
            line = select(tasks.c.id).where(queued, tasks.c.id.not_in(taken), free)
            task_id = connection.execute(line.order_by(tasks.c.queued_at, tasks.c.id).limit(1)).scalar_one_or_none()
            if task_id is None:
                return None
            task = _task(connection, task_id)
            values = {"epoch": task.epoch + 1, "started_at": self._clock.now(), "progress": None}
            self._move(connection, task, TaskStatus.RUNNING, **values)
            return _task(connection, task_id)

        taken = tuple(busy)
        return await self._database.write(work)

    async def begin_turn(self, task_id: int, epoch: int, session_id: str | None) -> TurnInput:
        """Take everything that waits as the prompt of a turn. Raises `Fenced`."""

        def work(connection: Connection) -> TurnInput:
            _fence(connection, task_id, epoch)
            if session_id is not None:
                connection.execute(update(tasks).where(tasks.c.id == task_id).values(session_id=session_id))
            rows = connection.execute(select(inbox).where(inbox.c.task_id == task_id).order_by(inbox.c.id)).mappings()
            known = [message for row in rows if (message := message_of(row)).state is not MessageState.UNCERTAIN]
            fresh = tuple(message for message in known if message.state is MessageState.WAITING and not message.settled)
            interrupted = tuple(message for message in known if not message.settled and message not in fresh)
            earlier = tuple(message for message in known if message.settled)
            ids = [message.id for message in fresh]
            connection.execute(update(inbox).where(inbox.c.id.in_(ids)).values(state=MessageState.TAKEN))
            return TurnInput(_task(connection, task_id), earlier, interrupted, fresh)

        return await self._database.write(work)

    async def save_session(self, task_id: int, epoch: int, session_id: str) -> None:
        """Keep the agent's name for its conversation as soon as it is known. Raises `Fenced`."""

        def work(connection: Connection) -> None:
            _fence(connection, task_id, epoch)
            connection.execute(update(tasks).where(tasks.c.id == task_id).values(session_id=session_id))

        await self._database.write(work)

    async def add_progress(self, task_id: int, epoch: int, text: str) -> ProgressLine:
        """Append a progress line. Raises `Fenced`."""

        def work(connection: Connection) -> ProgressLine:
            _fence(connection, task_id, epoch)
            lines = schema.progress
            last = select(func.coalesce(func.max(lines.c.line_offset), 0)).where(lines.c.task_id == task_id)
            offset = connection.execute(last).scalar_one() + 1
            line = ProgressLine(task_id, offset, text, self._clock.now())
            connection.execute(insert(lines).values(task_id=task_id, line_offset=offset, line=text, at=line.at))
            connection.execute(update(tasks).where(tasks.c.id == task_id).values(progress=text))
            return line

        return await self._database.write(work)

    async def begin_sending(self, message_id: int) -> bool:
        """Note, before it is passed on, that a waiting text may reach the agent from here on.

        False: it is not waiting any more, because a turn has taken it or the task was cancelled.
        """

        def work(connection: Connection) -> bool:
            waiting = (inbox.c.state == MessageState.WAITING) & inbox.c.settled_at.is_(None)
            change = update(inbox).where(inbox.c.id == message_id, waiting).values(state=MessageState.SENDING)
            return connection.execute(change).rowcount == 1

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
            task = _fence(connection, task_id, epoch)
            now = self._clock.now()
            unsure = self._settle(connection, task_id, but_waiting=True)
            number = select(func.count()).select_from(turns).where(turns.c.task_id == task_id)
            kept = dataclasses.asdict(end)
            for key in ("session_id", "report_path"):
                kept.pop(key)
            connection.execute(
                insert(turns).values(
                    kept
                    | {"task_id": task_id, "number": connection.execute(number).scalar_one() + 1, "finished_at": now}
                )
            )
            waiting = select(func.count()).select_from(inbox).where(inbox.c.task_id == task_id, _OPEN)
            more = connection.execute(waiting).scalar_one() > 0
            values = _totals(connection, task_id) | {"summary": end.summary, "error": None if end.ok else end.error}
            values["session_id"] = end.session_id or task.session_id
            values["report_path"] = end.report_path or task.report_path
            if more:
                connection.execute(update(tasks).where(tasks.c.id == task_id).values(values))
            else:
                status = TaskStatus.DONE if end.ok else TaskStatus.FAILED
                self._move(connection, task, status, finished_at=now, **values)
            return Ended(_task(connection, task_id), self._add_news(connection, task, end, unsure), more)

        return await self._database.write(work)

    # Read.

    async def get(self, task_id: int) -> Task:
        """Raises `NotFound`."""
        return await self._database.read(lambda connection: _task(connection, task_id))

    async def newest(self, statuses: Collection[TaskStatus] | None, limit: int) -> list[Task]:
        """The newest tasks first."""
        wanted = select_tasks.order_by(tasks.c.id.desc()).limit(limit)
        if statuses is not None:
            wanted = wanted.where(tasks.c.status.in_(tuple(statuses)))
        return await self._database.read(lambda c: [task_of(row) for row in c.execute(wanted).mappings()])

    async def progress(self, task_id: int, after: int) -> list[ProgressLine]:
        """The lines with an offset above `after`, in order. Raises `NotFound`."""
        lines = schema.progress
        wanted = select(lines).where(lines.c.task_id == task_id, lines.c.line_offset > after)

        def work(connection: Connection) -> list[ProgressLine]:
            _task(connection, task_id)
            return [line_of(row) for row in connection.execute(wanted.order_by(lines.c.line_offset)).mappings()]

        return await self._database.read(work)

    async def turns(self, task_id: int) -> list[Turn]:
        """Every turn that has ended, in order."""
        wanted = select(turns).where(turns.c.task_id == task_id).order_by(turns.c.number)
        return await self._database.read(lambda c: [turn_of(row) for row in c.execute(wanted).mappings()])

    async def messages(self, task_id: int) -> list[Message]:
        """Everything that was said to the task, the request first."""
        wanted = select(inbox).where(inbox.c.task_id == task_id).order_by(inbox.c.id)
        return await self._database.read(lambda c: [message_of(row) for row in c.execute(wanted).mappings()])

    async def message(self, message_id: int) -> Message:
        """One text as it stands now."""
        wanted = select(inbox).where(inbox.c.id == message_id)
        return await self._database.read(lambda c: message_of(c.execute(wanted).mappings().one()))

    async def untold(self) -> list[News]:
        """What nobody has heard and is still worth saying, the oldest first."""
        wanted = select(news).where(news.c.told_at.is_(None), news.c.withdrawn_at.is_(None)).order_by(news.c.id)
        return await self._database.read(lambda c: [news_of(row) for row in c.execute(wanted).mappings()])

    async def latest_news(self, task_id: int) -> News | None:
        """The newest news of a task, heard or not. Raises `NotFound`."""

        def work(connection: Connection) -> News | None:
            _task(connection, task_id)
            newest = select(news).where(news.c.task_id == task_id).order_by(news.c.id.desc()).limit(1)
            row = connection.execute(newest).mappings().first()
            return None if row is None else news_of(row)

        return await self._database.read(work)

    async def mark_told(self, news_ids: Collection[int]) -> tuple[int, ...]:
        """Note that these were heard; returns those that were not noted before."""

        def work(connection: Connection) -> tuple[int, ...]:
            first = update(news).where(news.c.id.in_(wanted), news.c.told_at.is_(None))
            told = connection.execute(first.values(told_at=self._clock.now()).returning(news.c.id)).scalars()
            return tuple(sorted(told))

        wanted = tuple(news_ids)
        return await self._database.write(work)

    # Parts of transactions.

    def _move(self, connection: Connection, task: Task, status: TaskStatus, **values: object) -> None:
        check_transition(task.status, status)
        connection.execute(update(tasks).where(tasks.c.id == task.id).values(status=status, **values))

    def _post(
        self, connection: Connection, task_id: int, text: str, request_id: str | None, *, took_up: bool
    ) -> Message:
        values = {"task_id": task_id, "message": text, "request_id": request_id, "took_up": took_up}
        values |= {"state": MessageState.WAITING, "at": self._clock.now()}
        row = connection.execute(insert(inbox).values(values).returning(inbox)).mappings().one()
        return message_of(row)

    def _settle(self, connection: Connection, task_id: int, *, but_waiting: bool = False) -> int:
        """Close the books on what the turn took; returns how many texts may not have reached the agent."""
        mine = (inbox.c.task_id == task_id) & _OPEN
        if but_waiting:
            mine &= inbox.c.state != MessageState.WAITING
        closed = update(inbox).where(mine).values(settled_at=self._clock.now()).returning(inbox.c.state)
        states = connection.execute(closed).scalars().all()
        return sum(state in (MessageState.UNCERTAIN, MessageState.SENDING) for state in states)

    def _add_news(self, connection: Connection, task: Task, end: TurnEnd, unsure: int) -> News:
        now = self._clock.now()
        # A question is overtaken by whatever the task has to say after it; every other result stands for itself.
        overtaken = (news.c.task_id == task.id) & (news.c.kind == NewsKind.QUESTION) & news.c.told_at.is_(None)
        connection.execute(update(news).where(overtaken).values(withdrawn_at=now))
        kind = NewsKind.QUESTION if is_question(end.summary) else NewsKind.DONE
        doubt = "" if not unsure else UNSURE_OF_ONE if unsure == 1 else UNSURE_OF_SEVERAL
        values = {
            "task_id": task.id,
            "kind": kind if end.ok else NewsKind.FAILED,
            "message": f"{doubt} {end.summary}".strip(),
            "created_at": now,
            "agent": task.agent,
            "project": task.project,
            "description": task.description,
        }
        return news_of(connection.execute(insert(news).values(values).returning(news)).mappings().one())


def _task(connection: Connection, task_id: int) -> Task:
    row = connection.execute(select_tasks.where(tasks.c.id == task_id)).mappings().first()
    if row is None:
        raise NotFound(f"there is no task {task_id}", spoken=f"There is no task {task_id}.")
    return task_of(row)


def _fence(connection: Connection, task_id: int, epoch: int) -> Task:
    task = _task(connection, task_id)
    if task.epoch != epoch or task.status is not TaskStatus.RUNNING:
        raise Fenced(f"task {task_id}, claim {epoch}")
    return task


def _totals(connection: Connection, task_id: int) -> dict[str, int | float | None]:
    columns = (turns.c.input_tokens, turns.c.output_tokens, turns.c.cached_input_tokens, turns.c.cost_usd)
    wanted = select(*(sum_known(column).label(column.name) for column in columns)).where(turns.c.task_id == task_id)
    return dict(connection.execute(wanted).mappings().one())
