"""Tasks in the database: asked for, followed up, cancelled, looked up. What must happen together is one transaction."""

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from keryx.clock import Clock
from keryx.errors import Refused
from keryx.store.db import Database
from keryx.store.schema import inbox, news, progress, tasks, turns
from keryx.tasks.claims import Claims
from keryx.tasks.limits import LocalDay
from keryx.tasks.models import News, ProgressLine, Task, TaskStatus
from keryx.tasks.rows import Message, Turn, line_of, message_of, news_of, task_of, turn_of
from keryx.tasks.statements import (
    add_message,
    change_task,
    load_task,
    move_task,
    select_tasks,
    settle_messages,
    withdraw_untold,
)

UNFINISHED = (TaskStatus.QUEUED, TaskStatus.RUNNING)


@dataclass(frozen=True)
class NewTask:
    """What is known of a task when it is dispatched."""

    description: str
    agent: str
    project: str | None = None
    model: str | None = None
    mode: str = "auto"
    request_id: str | None = None
    person: str = "owner"


@dataclass(frozen=True)
class Posted:
    """A follow-up is in the inbox of `task`, as it stands now. `repeated`: the same request had put it there before.

    `new_mode` is set when the follow-up changed the task's mode from `old_mode`.
    """

    message: Message
    task: Task
    repeated: bool
    new_mode: str | None = None
    old_mode: str | None = None


class TaskStore:
    """The task tables. `claims` writes for the runs. Raises `Unavailable` when the database cannot be used."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.claims = Claims(database, clock)

    async def add(self, new: NewTask, day: LocalDay, check: Callable[[int], None]) -> tuple[Task, bool]:
        """Store a queued task and say that it is new, or find the one its `request_id` made before.

        `check` gets the number of tasks dispatched in `day` and raises to refuse; nothing is stored then.
        """

        def work(connection: Connection) -> tuple[Task, bool]:
            if new.request_id is not None:
                made = select_tasks.where(tasks.c.request_id == new.request_id)
                if (row := connection.execute(made).mappings().first()) is not None:
                    return task_of(row), False
            today = (tasks.c.created_at >= day.start) & (tasks.c.created_at < day.end)
            check(connection.execute(select(func.count()).select_from(tasks).where(today)).scalar_one())
            now = self._clock.now()
            values = dataclasses.asdict(new) | {"status": TaskStatus.QUEUED, "created_at": now, "queued_at": now}
            values["progress"] = _held_up_by(connection, new.project)
            task = task_of(connection.execute(insert(tasks).values(values).returning(tasks)).mappings().one())
            add_message(connection, task.id, new.description, now)
            return task, True

        return await self._database.write(work)

    async def post(self, task_id: int, text: str, request_id: str | None, *, mode: str | None = None) -> Posted:
        """Put a follow-up in the inbox; an ended task is queued again. The same `request_id` is put there once.

        With a `mode` the task's next turn runs in it. Raises `NotFound`.
        """

        def work(connection: Connection) -> Posted:
            if request_id is not None:
                before = select(inbox).where(inbox.c.request_id == request_id)
                if (row := connection.execute(before).mappings().first()) is not None:
                    message = message_of(row)
                    return Posted(message, load_task(connection, message.task_id), repeated=True)
            task, now = load_task(connection, task_id), self._clock.now()
            took_up = task.status.ended
            if took_up:
                move_task(connection, task, TaskStatus.QUEUED, queued_at=now, finished_at=None, error=None)
            new_mode = mode if mode != task.mode else None
            if new_mode is not None:
                change_task(connection, task_id, {"mode": new_mode})
            message = add_message(connection, task_id, text, now, request_id=request_id, took_up=took_up)
            changed = load_task(connection, task_id)
            return Posted(message, changed, repeated=False, new_mode=new_mode, old_mode=task.mode)

        return await self._database.write(work)

    async def cancel(self, task_id: int) -> Task:
        """End the task without news: older news nobody has heard are withdrawn, what waits in its inbox is dropped.

        The running claim is fenced off by a higher epoch. Raises `NotFound`, or `Refused` if it has already ended.
        """

        def work(connection: Connection) -> Task:
            task, now = load_task(connection, task_id), self._clock.now()
            if task.status.ended:
                raise Refused(
                    f"task {task_id} has already ended ({task.status})", spoken=f"Task {task_id} has already ended."
                )
            move_task(connection, task, TaskStatus.CANCELLED, finished_at=now, epoch=task.epoch + 1)
            settle_messages(connection, task_id, now)
            withdraw_untold(connection, task_id, now)
            return load_task(connection, task_id)

        return await self._database.write(work)

    async def request_callback(self, task_id: int | None) -> Task | None:
        """Note that the owner wants to be called about a task (None: the newest unfinished one, if there is any)."""

        def work(connection: Connection) -> Task | None:
            newest = select(func.max(tasks.c.id)).where(tasks.c.status.in_(UNFINISHED))
            wanted = connection.execute(newest).scalar_one() if task_id is None else task_id
            if wanted is None:
                return None
            load_task(connection, wanted)
            change_task(connection, wanted, {"callback_requested": True})
            return load_task(connection, wanted)

        return await self._database.write(work)

    async def get(self, task_id: int) -> Task:
        """Raises `NotFound`."""
        return await self._database.read(lambda connection: load_task(connection, task_id))

    async def newest(self, statuses: Collection[TaskStatus] | None, limit: int) -> list[Task]:
        """The newest tasks first."""
        wanted = select_tasks.order_by(tasks.c.id.desc()).limit(limit)
        if statuses is not None:
            wanted = wanted.where(tasks.c.status.in_(tuple(statuses)))
        return await self._database.read(lambda c: [task_of(row) for row in c.execute(wanted).mappings()])

    async def progress(self, task_id: int, after: int) -> list[ProgressLine]:
        """The lines with an offset above `after`, in order. Raises `NotFound`."""
        wanted = select(progress).where(progress.c.task_id == task_id, progress.c.line_offset > after)

        def work(connection: Connection) -> list[ProgressLine]:
            load_task(connection, task_id)
            return [line_of(row) for row in connection.execute(wanted.order_by(progress.c.line_offset)).mappings()]

        return await self._database.read(work)

    async def turns(self, task_id: int) -> list[Turn]:
        """Every turn that has ended, in order."""
        wanted = select(turns).where(turns.c.task_id == task_id).order_by(turns.c.number)
        return await self._database.read(lambda c: [turn_of(row) for row in c.execute(wanted).mappings()])

    async def messages(self, task_id: int) -> list[Message]:
        """Everything that was said to the task, the request first."""
        wanted = select(inbox).where(inbox.c.task_id == task_id).order_by(inbox.c.id)
        return await self._database.read(lambda c: [message_of(row) for row in c.execute(wanted).mappings()])

    async def untold(self) -> list[News]:
        """What nobody has heard and is still worth saying, the oldest first."""
        wanted = select(news).where(news.c.told_at.is_(None), news.c.withdrawn_at.is_(None)).order_by(news.c.id)
        return await self._database.read(lambda c: [news_of(row) for row in c.execute(wanted).mappings()])

    async def latest_news(self, task_id: int) -> News | None:
        """The newest news of a task, heard or not. Raises `NotFound`."""

        def work(connection: Connection) -> News | None:
            load_task(connection, task_id)
            newest = select(news).where(news.c.task_id == task_id).order_by(news.c.id.desc()).limit(1)
            row = connection.execute(newest).mappings().first()
            return None if row is None else news_of(row)

        return await self._database.read(work)

    async def mark_told(self, news_ids: Collection[int]) -> tuple[int, ...]:
        """Note that these were heard; returns those that were not noted before."""

        def work(connection: Connection) -> tuple[int, ...]:
            first = update(news).where(news.c.id.in_(heard), news.c.told_at.is_(None))
            return tuple(sorted(connection.execute(first.values(told_at=now).returning(news.c.id)).scalars()))

        heard, now = tuple(news_ids), self._clock.now()
        return await self._database.write(work)


def _held_up_by(connection: Connection, project: str | None) -> str | None:
    """What to say of a new task in a project that another task is at work in: they go one after the other."""
    if project is None:
        return None
    ahead = select(func.max(tasks.c.id)).where(tasks.c.project == project, tasks.c.status.in_(UNFINISHED))
    task_id = connection.execute(ahead).scalar_one()
    return None if task_id is None else f"Waiting for task {task_id}, which is in the same project."
