"""The calls on the line now: who can be told something at once."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence

from keryx.clock import Clock, SystemClock
from keryx.tasks.models import News
from keryx.voice.call import Call
from keryx.voice.engines.waiting import happened_within

log = logging.getLogger(__name__)

FAREWELL_GRACE_S = 2.0
"""How long callers may take to hear that the daemon stops; the whole stop is bounded to five seconds."""
RESTARTING = "restarting"
"""Why a call ends when the daemon stops: whoever it was may call again in a moment, and the page does."""


class LiveCalls:
    """A register of running calls; it is what the notifier wants of live calls."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self.on_heard: Callable[[int], None] = lambda news_id: None
        """Told the id of every piece of news that was heard whole."""
        self._calls: dict[str, Call] = {}
        self._empty = asyncio.Event()
        self._empty.set()
        self._clock = clock or SystemClock()

    def __len__(self) -> int:
        return len(self._calls)

    @contextlib.contextmanager
    def holding(self, call: Call) -> Iterator[None]:
        """Count `call` as live for the length of a block."""
        self._calls[call.id] = call
        self._empty.clear()
        try:
            yield
        finally:
            del self._calls[call.id]
            if not self._calls:
                self._empty.set()

    def announce(self, news: Sequence[News]) -> int:
        """Queue `news` in every call; returns how many calls have it in hand."""
        for call in self._calls.values():
            call.engine.announce(news)
        return len(self._calls)

    def heard(self, news_id: int) -> None:
        """A call reports that a piece of news was heard whole."""
        self.on_heard(news_id)

    async def hang_up_all(self, farewell: str) -> None:
        """Say `farewell` into every call and wait for their ends, at most `FAREWELL_GRACE_S`.

        A call that takes longer goes on; whoever runs it ends it. A cancellation gives up the wait.
        """
        for call in list(self._calls.values()):
            call.engine.finish(farewell, RESTARTING)
        if not await happened_within(self._clock, FAREWELL_GRACE_S, self._empty):
            log.warning("calls did not end in time", extra={"calls": len(self._calls)})
