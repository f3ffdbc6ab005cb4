"""The one place that tasks are asked for, followed up, cancelled and looked up."""

import contextlib
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from keryx.agents.model_owner import check_owner, model_owner
from keryx.agents.registry import AgentRegistry
from keryx.clock import Clock
from keryx.errors import Unavailable
from keryx.tasks.engines.base import Cancel, Delivery, Steer, TaskEngine, TaskRun
from keryx.tasks.engines.local import LocalEngine
from keryx.tasks.events import EventHub, NewsTold, TaskChanged, TaskEvent
from keryx.tasks.limits import Limits, check_daily_cap, local_day
from keryx.tasks.models import News, ProgressLine, Task, TaskStatus
from keryx.tasks.reports import render_report
from keryx.tasks.requests import MODES, mode_name, one_line, request_text
from keryx.tasks.rows import MessageState
from keryx.tasks.store import NewTask, Posted, TaskStore
from keryx.tasks.turns import TaskTurns, Workbench

__all__ = ["FollowUp", "FollowUpHow", "Limits", "TaskManager"]


class FollowUpHow(StrEnum):
    """Which way a follow-up went."""

    STEERED = "steered"
    """The running agent said it has it."""
    NEXT = "next"
    """It is the next thing the task does."""
    TAKEN_UP = "taken up"
    """The task had ended and works again."""


@dataclass(frozen=True)
class FollowUp:
    """A follow-up was taken; it will not be lost."""

    task: Task
    how: FollowUpHow
    refused: bool = False
    """With `NEXT`: the agent is at work and takes nothing in just now."""
    new_mode: str | None = None
    """The mode the task runs in from this follow-up on; None when it keeps the one it has."""


class TaskManager:
    """Keeps the tasks. Every method may raise `Unavailable` when the store cannot be read or written."""

    def __init__(
        self,
        store: TaskStore,
        registry: AgentRegistry,
        *,
        clock: Clock,
        limits: Limits,
        reports: Path,
        owner: str = "",
    ) -> None:
        """`reports`: the folder for report files; `owner`: who agents are told that a task is for, "" for no name."""
        self._store = store
        self._registry = registry
        self._clock = clock
        self._limits = limits
        self._events = EventHub()
        self._bench = Workbench(registry, store, clock, self._events, reports, owner)
        self._engine: TaskEngine = LocalEngine(clock)

    async def start(self) -> None:
        """Take up what the last daemon left queued or running, and begin to work."""
        self._events.open()
        await self._store.claims.recover()
        await self._engine.start(self, slots=self._limits.max_concurrent)

    async def stop(self) -> None:
        """Stop the agents, leaving their tasks `running` for the next start. Bounded; may be called twice."""
        await self._engine.stop()
        self._events.close()

    async def dispatch(
        self,
        description: str,
        *,
        project: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        mode: str | None = None,
        request_id: str | None = None,
    ) -> Task:
        """Store a task and start it as soon as there is room. The same `request_id` again returns the same task.

        A `model` without an `agent` goes to the installed agent whose model it is, as far as its name tells.

        Raises `Refused` (empty, too long, no such mode), `NotFound` (the agent, or its model) or `BudgetSpent` (the
        day's limit).
        """
        owner = model_owner(model) if model and not agent else None
        chosen = self._registry.name(owner if owner in self._registry.names() else agent)
        check_owner(chosen, _name(model))
        new = NewTask(
            description=request_text(description),
            agent=chosen,
            project=_name(project),
            model=self._registry.model(chosen, _name(model)),
            mode=mode_name(mode),
            request_id=request_id,
        )
        day = local_day(self._clock.now(), self._limits.timezone)
        task, is_new = await self._store.add(new, day, lambda today: check_daily_cap(today, self._limits))
        if is_new:
            self._events.publish(TaskChanged(task))
            self._engine.submit()
        return task

    async def follow_up(
        self, task_id: int, text: str, *, mode: str | None = None, request_id: str | None = None
    ) -> FollowUp:
        """Add `text` to a task: into its running turn, as its next turn, or by taking it up again once it has ended.

        `mode` is the one the task runs in from its next turn on. A turn that is running keeps its own, so a text that
        gives the agent more freedom ("go ahead" after a plan) waits for the next one; any other reaches it now.

        It is stored before anything else, so it is never lost; the same `request_id` adds it once. Raises `NotFound`,
        `Refused` (empty, too long, no such mode), or `Unavailable` when it was passed on and nobody knows whether it
        arrived: it is not sent again, and the turn's news says so.
        """
        new_mode = mode_name(mode) if mode else None
        posted = await self._store.post(task_id, request_text(text), request_id, mode=new_mode)
        if posted.repeated and posted.message.state is not MessageState.SENDING:
            return self._answer(posted, _DELIVERY_OF[posted.message.state])
        if not posted.repeated and posted.task.status is TaskStatus.QUEUED:
            self._events.publish(TaskChanged(posted.task))
            self._engine.submit()
            return self._answer(posted, Delivery.WAITING)
        if posted.new_mode:
            self._events.publish(TaskChanged(posted.task))
            if posted.old_mode and MODES.index(posted.new_mode) > MODES.index(posted.old_mode):
                return self._answer(posted, Delivery.WAITING)
        delivery = await self._engine.signal(posted.task.id, Steer(posted.message.id, posted.message.text))
        return self._answer(posted, delivery, refused=delivery is Delivery.WAITING)

    async def cancel(self, task_id: int) -> Task:
        """End a task and stop its agent; nothing is told of it. Bounded. Raises `NotFound`, `Refused` (has ended)."""
        task = await self._store.cancel(task_id)
        self._events.publish(TaskChanged(task))
        await self._engine.signal(task_id, Cancel())
        return task

    async def status(self, task_id: int) -> Task:
        """The task as it stands. Raises `NotFound`."""
        return await self._store.get(task_id)

    async def wait(self, task_id: int) -> Task:
        """The task once it has ended. Raises `NotFound`, or `Unavailable` when Keryx stops before that."""
        with self._events.listen(lambda event: isinstance(event, TaskChanged) and event.task.id == task_id) as changes:
            task = await self._store.get(task_id)
            if task.status.ended:
                return task
            async for event in changes:
                if isinstance(event, TaskChanged) and event.task.status.ended:
                    return event.task
        raise Unavailable(f"Keryx stopped before task {task_id} ended", spoken="I'm just shutting down.")

    async def progress(self, task_id: int, *, after: int = 0) -> list[ProgressLine]:
        """The progress lines with an offset above `after`. Raises `NotFound`."""
        return await self._store.progress(task_id, after)

    async def report(self, task_id: int) -> str | None:
        """The task's report as markdown, from the store; None before its first turn has ended. Raises `NotFound`."""
        task = await self._store.get(task_id)
        turns = await self._store.turns(task_id)
        if not turns:
            return None
        return render_report(task, await self._store.messages(task_id), await self._store.progress(task_id, 0), turns)

    async def request_callback(self, task_id: int | None) -> Task | None:
        """Call the owner when this task has news; None: the newest unfinished one, if any. Raises `NotFound`."""
        task = await self._store.request_callback(task_id)
        if task is not None:
            self._events.publish(TaskChanged(task))
        return task

    async def untold(self) -> list[News]:
        """What nobody has heard and is worth saying, oldest first.

        A task may have several: each turn's result stands for itself. Left out are a question that the task has since
        moved on from, and everything about a task that was cancelled.
        """
        return await self._store.untold()

    async def latest_news(self, task_id: int) -> News | None:
        """The newest news of a task, heard or not. Raises `NotFound`."""
        return await self._store.latest_news(task_id)

    async def mark_told(self, news_ids: Collection[int]) -> None:
        """Note that these were heard. Noting it again changes nothing."""
        if told := await self._store.mark_told(news_ids):
            self._events.publish(NewsTold(told))

    @contextlib.asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[TaskEvent]]:
        """Listen to what happens; a slow reader loses the oldest wake-ups. The iteration ends when Keryx stops."""
        with self._events.listen() as listener:
            yield listener

    # What the engine asks (`TaskWorker`).

    async def claim(self, busy: Collection[int]) -> Task | None:
        return await self._store.claims.claim(busy)

    def begin(self, task: Task) -> TaskRun:
        return TaskTurns(task, self._bench)

    def _answer(self, posted: Posted, delivery: Delivery, *, refused: bool = False) -> FollowUp:
        if delivery is Delivery.UNCERTAIN:
            raise Unavailable(
                f"task {posted.task.id} may or may not have received that; it is not sent again, its result will say",
                spoken="I'm not sure that reached it. I won't send it twice; you'll hear with the result.",
            )
        if delivery is Delivery.ACKNOWLEDGED:
            return FollowUp(posted.task, FollowUpHow.STEERED, new_mode=posted.new_mode)
        how = FollowUpHow.TAKEN_UP if posted.message.took_up else FollowUpHow.NEXT
        return FollowUp(posted.task, how, refused and how is FollowUpHow.NEXT, posted.new_mode)

    # The last method: from here on `list` in this class body is not the type any more.
    async def list(self, *, statuses: Collection[TaskStatus] | None = None, limit: int = 50) -> list[Task]:
        """The newest tasks first; `statuses` None: of any status."""
        return await self._store.newest(statuses, limit)


_DELIVERY_OF = {
    MessageState.WAITING: Delivery.WAITING,
    MessageState.TAKEN: Delivery.WAITING,
    MessageState.ACKNOWLEDGED: Delivery.ACKNOWLEDGED,
    MessageState.UNCERTAIN: Delivery.UNCERTAIN,
}


def _name(value: str | None) -> str | None:
    return (one_line(value, 200) or None) if value is not None else None
