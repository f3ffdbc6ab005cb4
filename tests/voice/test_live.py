"""The register of calls on the line, with whole calls under a virtual clock."""

import asyncio

from keryx.clock import VirtualClock
from keryx.voice.live import LiveCalls
from tests.voice.engines.conversation import Conversation, a_piece_of_news


class Registered(Conversation):
    """A conversation that is counted among the live ones."""

    def __init__(self, clock: VirtualClock, live: LiveCalls, **options) -> None:
        super().__init__(clock, **options)
        self.live = live

    async def _run(self) -> None:
        with self.live.holding(self.call):
            await super()._run()


async def test_calls_are_counted_while_they_run(clock: VirtualClock):
    live = LiveCalls(clock=clock)
    assert len(live) == 0
    async with Registered(clock, live).held() as talk:
        assert len(live) == 1
        talk.line.close()
        await clock.advance(1)
        assert len(live) == 0


async def test_news_is_spoken_into_every_call_and_counted(clock: VirtualClock):
    live = LiveCalls(clock=clock)
    news = [a_piece_of_news(1, "Task one is done.")]
    assert live.announce(news) == 0
    async with Registered(clock, live).held() as first, Registered(clock, live).held() as second:
        await clock.advance(2)
        assert live.announce(news) == 2
        await clock.advance(3)
        assert "Task one is done." in first.voice.said
        assert "Task one is done." in second.voice.said


async def test_what_was_heard_is_passed_on(clock: VirtualClock):
    live = LiveCalls(clock=clock)
    heard: list[int] = []
    live.on_heard = heard.append
    live.heard(4)
    assert heard == [4]


async def test_every_caller_hears_a_goodbye_before_the_daemon_stops(clock: VirtualClock):
    live = LiveCalls(clock=clock)
    async with Registered(clock, live).held() as first, Registered(clock, live, typing_only=True).held() as second:
        await clock.advance(2)
        async with asyncio.TaskGroup() as group:
            stopping = group.create_task(live.hang_up_all("Back soon."))
            await clock.advance(3)
            assert stopping.done()
        assert first.voice.said[-1] == "Back soon."
        assert second.line.said()[-1] == "Back soon."
        assert first.line.hung_up == ["restarting"]
        assert len(live) == 0


async def test_a_caller_who_never_hears_it_does_not_keep_the_daemon_up(clock: VirtualClock):
    live = LiveCalls(clock=clock)
    talk = Registered(clock, live)
    talk.line.answers_marks = False
    async with talk.held():
        await clock.advance(1)
        async with asyncio.TaskGroup() as group:
            stopping = group.create_task(live.hang_up_all("Word " * 100))
            await clock.advance(8.5)
            assert stopping.done()


async def test_with_nobody_on_the_line_stopping_takes_no_time(clock: VirtualClock):
    await LiveCalls(clock=clock).hang_up_all("Bye.")
