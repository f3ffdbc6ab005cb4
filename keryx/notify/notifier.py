"""Brings news to whoever is on the line, and keeps what nobody heard for the next call's opening words."""

import asyncio
import logging

from keryx.clock import Clock, SystemClock
from keryx.errors import Unavailable
from keryx.notify.ports import LiveCalls
from keryx.tasks.events import NewsArrived
from keryx.tasks.manager import TaskManager
from keryx.tasks.models import News

RECHECK_S = 10.0
"""How often untold news are offered again without anything having happened: a call may have come between two looks."""
MARK_RETRY_S = 2.0
"""How long to wait before what was heard is noted again, when the store could not be written."""
FLUSH_GRACE_S = 2.0
"""How long a notifier that is being stopped still tries to note what was heard."""

log = logging.getLogger(__name__)


class Notifier:
    """Offers untold news to the live calls, and notes what was heard. The store decides what is untold, nothing else.

    A result is told twice at worst: when it was heard and the process died before that could be stored.
    """

    def __init__(self, manager: TaskManager, live: LiveCalls, *, clock: Clock | None = None) -> None:
        self._manager = manager
        self._live = live
        self._clock = clock or SystemClock()
        self._wake = asyncio.Event()
        self._heard: set[int] = set()
        self._something_heard = asyncio.Event()

    async def run(self) -> None:
        """Work until cancelled, or until the manager stops. What was heard by then is still noted."""
        try:
            async with asyncio.TaskGroup() as group:
                helpers = [group.create_task(part) for part in (self._offer(), self._recheck(), self._note_heard())]
                await self._listen()
                for helper in helpers:
                    helper.cancel()
        finally:
            await self._flush()

    async def briefing(self) -> list[News]:
        """What a call that begins now has not heard, oldest first."""
        return [news for news in await self._manager.untold() if news.id not in self._heard]

    def heard(self, news_id: int) -> None:
        """This was heard whole. Noted in the store as soon as that can be written; never waits, never raises."""
        self._heard.add(news_id)
        self._something_heard.set()

    async def _listen(self) -> None:
        async with self._manager.events() as events:
            self._wake.set()
            async for event in events:
                if isinstance(event, NewsArrived):
                    self._wake.set()

    async def _recheck(self) -> None:
        while True:
            await self._clock.sleep(RECHECK_S)
            self._wake.set()

    async def _offer(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                if untold := await self.briefing():
                    self._live.announce(untold)
            except Unavailable as error:
                log.warning("untold news cannot be looked up for now", extra={"reason": str(error)})
            except Exception:  # the edge of one announcement: the news stays untold and is offered again
                log.exception("news could not be announced")

    async def _note_heard(self) -> None:
        while True:
            await self._something_heard.wait()
            self._something_heard.clear()
            try:
                await self._store_heard()
            except Unavailable as error:
                log.warning("what was heard cannot be noted for now", extra={"reason": str(error)})
                await self._clock.sleep(MARK_RETRY_S)
                self._something_heard.set()

    async def _store_heard(self) -> None:
        noted = frozenset(self._heard)
        if noted:
            await self._manager.mark_told(noted)
            self._heard -= noted

    async def _flush(self) -> None:
        try:
            async with asyncio.timeout(FLUSH_GRACE_S):
                await self._store_heard()
        except (TimeoutError, Unavailable):
            log.warning("what was heard last could not be noted; it will be told again")
