"""What the task manager says happened, and how listeners hear of it: wake-ups only, the store is the truth."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from keryx.tasks.models import News, ProgressLine, Task

MAX_WAITING_EVENTS = 256
"""How many events wait for one slow listener; beyond that the oldest are dropped."""


@dataclass(frozen=True)
class TaskChanged:
    """A task was made, or moved on."""

    task: Task


@dataclass(frozen=True)
class TaskProgressed:
    """The agent gave a progress line."""

    line: ProgressLine


@dataclass(frozen=True)
class NewsArrived:
    """There is something new to tell."""

    news: News


@dataclass(frozen=True)
class NewsTold:
    """These news have been heard."""

    news_ids: tuple[int, ...]


TaskEvent = TaskChanged | TaskProgressed | NewsArrived | NewsTold


class Listener:
    """One subscription: an endless iterator that never holds anybody up. It ends when the hub is closed.

    A cancellation while waiting for the next event loses none.
    """

    def __init__(self, wants: Callable[[TaskEvent], bool], capacity: int) -> None:
        self._wants = wants
        self._waiting: deque[TaskEvent] = deque(maxlen=capacity)
        self._wake = asyncio.Event()
        self._closed = False

    def offer(self, event: TaskEvent) -> None:
        """Put `event` in the line if it is wanted; the oldest makes room."""
        if self._wants(event):
            self._waiting.append(event)
            self._wake.set()

    def close(self) -> None:
        """End the iteration once what is waiting has been read."""
        self._closed = True
        self._wake.set()

    def __aiter__(self) -> AsyncIterator[TaskEvent]:
        return self

    async def __anext__(self) -> TaskEvent:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._waiting.popleft()


class EventHub:
    """Hands every event to every listener, at once and without waiting."""

    def __init__(self, capacity: int = MAX_WAITING_EVENTS) -> None:
        self._capacity = capacity
        self._listeners: set[Listener] = set()
        self._closed = False

    def publish(self, event: TaskEvent) -> None:
        """Tell everybody; never blocks, never raises."""
        for listener in self._listeners:
            listener.offer(event)

    @contextlib.contextmanager
    def listen(self, wants: Callable[[TaskEvent], bool] = lambda event: True) -> Iterator[Listener]:
        """Subscribe for the length of a block; what is published from its first line on is seen."""
        listener = Listener(wants, self._capacity)
        self._listeners.add(listener)
        if self._closed:
            listener.close()
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    def open(self) -> None:
        """Take listeners (again)."""
        self._closed = False

    def close(self) -> None:
        """End every subscription."""
        self._closed = True
        for listener in self._listeners:
            listener.close()
