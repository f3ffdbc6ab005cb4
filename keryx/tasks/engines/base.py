"""The engine seam: who runs tasks, how many at once, and how a running one is reached."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from keryx.tasks.models import Task


class Delivery(StrEnum):
    """What became of a follow-up that was passed on to a running task."""

    ACKNOWLEDGED = "acknowledged"
    WAITING = "waiting"
    """It was not delivered; it waits in the inbox for the next turn."""
    UNCERTAIN = "uncertain"
    """It may have been delivered, so nobody sends it again."""


@dataclass(frozen=True)
class Steer:
    """Hand a stored follow-up to the running turn."""

    message_id: int
    text: str


@dataclass(frozen=True)
class Cancel:
    """Stop the agent: the store already says that the task is cancelled."""


Signal = Steer | Cancel


class TaskRun(Protocol):
    """One claimed task being worked on."""

    async def run(self) -> None:
        """Work until the task has ended. A cancellation stops the agent and leaves the task `running` in the store."""
        ...

    async def signal(self, signal: Signal) -> Delivery:
        """Reach the running agent; bounded. Whoever waits may be cancelled: what was begun is carried out."""
        ...


class TaskWorker(Protocol):
    """What an engine needs to know of tasks."""

    async def claim(self, busy: Collection[int]) -> Task | None:
        """Take the next queued task (status `running`, epoch one higher), leaving out those in `busy`."""
        ...

    def begin(self, task: Task) -> TaskRun:
        """The run that works on a claimed task."""
        ...


class TaskEngine(Protocol):
    """Runs queued tasks, at most so many at once. The store says what is queued; the engine only needs waking."""

    async def start(self, worker: TaskWorker, *, slots: int) -> None:
        """Begin taking tasks."""
        ...

    def submit(self) -> None:
        """Something has been queued: look into the store."""
        ...

    async def signal(self, task_id: int, signal: Signal) -> Delivery:
        """Reach a running task; `Delivery.WAITING` when it is not running (any more)."""
        ...

    async def stop(self) -> None:
        """Stop the agents and leave their tasks `running`, to be taken up at the next start. Bounded, repeatable."""
        ...
