"""News reaches whoever is on the line, and is told once."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from keryx.agents.base import FakeAgentRunner, FakeTurn
from keryx.clock import VirtualClock
from keryx.notify.fake import FakeLiveCalls
from keryx.notify.notifier import MARK_RETRY_S, RECHECK_S, Notifier
from keryx.notify.ports import LiveCalls
from keryx.tasks.events import NewsTold
from keryx.tasks.models import News, NewsKind
from tests.tasks.house import House


@pytest.fixture
def house(tmp_path: Path, clock: VirtualClock) -> House:
    return House(tmp_path, clock, FakeAgentRunner(clock=clock))


@asynccontextmanager
async def notifying(house: House, live: LiveCalls) -> AsyncIterator[Notifier]:
    """A notifier at work on an open house; cancelled at the end, as the daemon does."""
    notifier = Notifier(house.manager, live, clock=house.clock)
    working = asyncio.ensure_future(notifier.run())
    try:
        yield notifier
    finally:
        working.cancel()
        await asyncio.wait({working})
        assert working.cancelled()


async def finish(house: House, summary: str) -> News:
    """A task comes to its end."""
    house.agent.script(FakeTurn(f"SPOKEN_SUMMARY: {summary}"))
    task = await house.manager.wait((await house.manager.dispatch("anything")).id)
    news = await house.manager.latest_news(task.id)
    assert news is not None
    return news


async def until(condition: Callable[[], object]) -> None:
    """Let everything run until `condition()` holds."""
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.to_thread(lambda: None)


async def test_a_result_goes_into_every_live_call(house: House) -> None:
    live = FakeLiveCalls(2)
    async with house.opened(), notifying(house, live):
        await finish(house, "Fixed.")
        await until(lambda: live.said == [["Fixed."], ["Fixed."]])


async def test_what_was_untold_at_the_start_is_offered_in_order(house: House) -> None:
    live = FakeLiveCalls(1)
    async with house.opened():
        for summary in ("One.", "Two.", "Three."):
            await finish(house, summary)
        async with notifying(house, live):
            await until(lambda: live.said == [["One.", "Two.", "Three."]])


async def test_without_a_call_it_stays_for_the_next_calls_opening_words(house: House) -> None:
    live = FakeLiveCalls(0)
    async with house.opened(), notifying(house, live) as notifier:
        news = await finish(house, "Fixed.")
        await until(lambda: live.offers)
        assert await notifier.briefing() == [news]
        assert await house.manager.untold() == [news]


async def test_a_call_that_came_between_two_looks_is_offered_it_a_little_later(house: House) -> None:
    live = FakeLiveCalls(0)
    async with house.opened(), notifying(house, live):
        await finish(house, "Fixed.")
        await until(lambda: live.offers)
        live.answer()
        await house.clock.advance(RECHECK_S)
        await until(lambda: live.said == [["Fixed."]])


async def test_heard_is_noted_at_once_and_told_once(house: House) -> None:
    live = FakeLiveCalls(1)
    async with house.opened() as manager, notifying(house, live) as notifier, manager.events() as events:
        news = await finish(house, "Fixed.")
        notifier.heard(news.id)
        notifier.heard(news.id)
        assert await notifier.briefing() == []
        async for event in events:
            if event == NewsTold((news.id,)):
                break
        assert await manager.untold() == []
        offers = live.offers
        await house.clock.advance(RECHECK_S * 3)
        await until(lambda: True)
        assert live.offers == offers


async def test_a_call_that_ends_in_the_middle_leaves_it_untold(house: House) -> None:
    live = FakeLiveCalls(1)
    async with house.opened(), notifying(house, live) as notifier:
        news = await finish(house, "Fixed.")
        await until(lambda: live.said == [["Fixed."]])
        live.hang_up()
        assert await notifier.briefing() == [news]


async def test_what_was_heard_while_the_database_is_locked_is_noted_later_and_not_told_again(house: House) -> None:
    house.busy_timeout_s = house.write_budget_s = 0.02
    live = FakeLiveCalls(1)
    async with house.opened() as manager, notifying(house, live) as notifier:
        news = await finish(house, "Fixed.")
        other = sqlite3.connect(house.file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        notifier.heard(news.id)
        await asyncio.to_thread(threading.Event().wait, 0.2)
        assert await manager.untold() == [news]
        assert await notifier.briefing() == []
        other.execute("ROLLBACK")
        other.close()
        async with asyncio.timeout(10):
            while await manager.untold():
                await house.clock.advance(MARK_RETRY_S)


async def test_what_was_heard_just_before_the_end_is_still_noted(house: House) -> None:
    live = FakeLiveCalls(1)
    async with house.opened() as manager:
        news = await finish(house, "Fixed.")
        async with notifying(house, live) as notifier:
            await until(lambda: live.offers)
            notifier.heard(news.id)
        assert await manager.untold() == []


async def test_what_was_heard_before_it_began_to_work_is_noted_too(house: House) -> None:
    async with house.opened() as manager:
        news = await finish(house, "Fixed.")
        notifier = Notifier(manager, FakeLiveCalls(), clock=house.clock)
        notifier.heard(news.id)
        working = asyncio.ensure_future(notifier.run())
        async with asyncio.timeout(10):
            while await manager.untold():
                await asyncio.to_thread(lambda: None)
        working.cancel()
        await asyncio.wait({working})


class Broken:
    """Live calls that fail once."""

    def __init__(self) -> None:
        self.working = FakeLiveCalls(1)
        self.failed = False

    def announce(self, news: Sequence[News]) -> int:
        if not self.failed:
            self.failed = True
            raise ConnectionError("the line is gone")
        return self.working.announce(news)


async def test_an_announcement_that_fails_is_made_again(house: House) -> None:
    live = Broken()
    async with house.opened(), notifying(house, live):
        await finish(house, "Fixed.")
        await until(lambda: live.failed)
        await house.clock.advance(RECHECK_S)
        await until(lambda: live.working.said == [["Fixed."]])


async def test_it_ends_when_the_manager_stops(house: House) -> None:
    async with house.opened() as manager:
        notifier = Notifier(manager, FakeLiveCalls(), clock=house.clock)
        working = asyncio.ensure_future(notifier.run())
        await until(lambda: True)
        await manager.stop()
        async with asyncio.timeout(10):
            await working


async def test_a_cancelled_task_is_never_offered(house: House) -> None:
    live = FakeLiveCalls(1)
    async with house.opened() as manager, notifying(house, live):
        house.agent.script(FakeTurn(takes_s=60))
        task = await manager.dispatch("anything")
        await house.agent.begun()
        await manager.cancel(task.id)
        await finish(house, "Fixed.")
        await until(lambda: live.said == [["Fixed."]])


def test_the_fake_takes_each_news_once_however_often_it_is_offered(clock: VirtualClock) -> None:
    news = [News(number, 1, NewsKind.DONE, str(number), clock.now(), "fake") for number in range(2)]
    live = FakeLiveCalls(1)
    assert live.announce(news) == 1
    live.answer()
    assert live.announce(news) == 2
    assert live.said == [["0", "1"], ["0", "1"]]
    live.hang_up()
    live.hang_up()
    assert live.announce(news) == 0
