"""Wake-ups: nobody is held up, and a slow listener loses the oldest."""

import asyncio

from keryx.clock import settle
from keryx.tasks.events import EventHub, NewsTold


async def test_every_listener_hears_everything_from_its_first_line_on() -> None:
    hub = EventHub()
    hub.publish(NewsTold((0,)))
    with hub.listen() as one, hub.listen() as other:
        hub.publish(NewsTold((1,)))
        hub.publish(NewsTold((2,)))
        assert [await anext(one), await anext(one)] == [NewsTold((1,)), NewsTold((2,))]
        assert await anext(other) == NewsTold((1,))


async def test_a_slow_listener_loses_the_oldest_and_holds_nobody_up() -> None:
    hub = EventHub(capacity=3)
    with hub.listen() as slow:
        for number in range(10):
            hub.publish(NewsTold((number,)))
        hub.close()
        assert [event async for event in slow] == [NewsTold((7,)), NewsTold((8,)), NewsTold((9,))]


async def test_a_listener_may_want_only_some_of_it() -> None:
    hub = EventHub()
    with hub.listen(lambda event: event == NewsTold((2,))) as choosy:
        for number in range(4):
            hub.publish(NewsTold((number,)))
        assert await anext(choosy) == NewsTold((2,))


async def test_a_cancelled_wait_loses_nothing() -> None:
    hub = EventHub()
    with hub.listen() as listener:
        waiting = asyncio.ensure_future(anext(listener))
        await settle()
        waiting.cancel()
        await asyncio.wait({waiting})
        hub.publish(NewsTold((1,)))
        assert await anext(listener) == NewsTold((1,))


async def test_after_the_block_nothing_is_kept_for_a_listener_and_a_closed_hub_ends_new_ones() -> None:
    hub = EventHub()
    with hub.listen() as gone:
        pass
    hub.publish(NewsTold((1,)))
    hub.close()
    with hub.listen() as late:
        assert [event async for event in late] == []
    gone.close()
    assert [event async for event in gone] == []
    hub.open()
    with hub.listen() as again:
        hub.publish(NewsTold((2,)))
        assert await anext(again) == NewsTold((2,))
