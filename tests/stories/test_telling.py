"""What came of a task reaches whoever is on the line, once; what nobody heard whole waits for the next call."""

import logging
from pathlib import Path

import pytest

from keryx.agents.base import FakeTurn
from keryx.clock import VirtualClock
from keryx.tasks.events import NewsTold
from tests.stories.house import House

SUMMARY = "The invoice test passes now. It was a rounding error in the third line, and the total was off by a cent."
FIRST, LAST = "invoice test passes", "off by a cent"
KEY = "sk-ant-api03-" + "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fR" * 2


def times(house: House, words: str) -> int:
    """How often the voice has begun a sentence with these words in it, over all calls."""
    return sum(words in said for said in house.voice.said)


async def test_two_callers_both_hear_a_result_and_it_is_marked_once(house: House) -> None:
    house.agent.script(FakeTurn(f"SPOKEN_SUMMARY: {SUMMARY}", takes_s=20))
    async with house.manager.events() as events:
        async with house.called() as page, house.called(by="phone") as telephone:
            await page.until_quiet()
            await page.type("In billing, fix the failing invoice test.")
            await house.until(lambda: times(house, LAST) == 2)
            before = len(telephone.line.heard)
            await telephone.until_quiet()
            assert any(LAST in text for text in page.line.said())
            assert len(telephone.line.heard) > before
            await telephone.quiet(25)  # offered again meanwhile, and taken by nobody
        assert times(house, FIRST) == times(house, LAST) == 2
        assert await house.manager.untold() == []
        await house.manager.stop()
        told = [event.news_ids async for event in events if isinstance(event, NewsTold)]
    assert told == [(1,)]


async def test_a_line_lost_in_the_middle_of_the_news_leaves_it_for_the_next_call(house: House) -> None:
    house.agent.script(FakeTurn(f"SPOKEN_SUMMARY: {SUMMARY}"))
    await house.manager.wait((await house.manager.dispatch("fix the invoice test")).id)
    async with house.called() as dropped:
        await dropped.hears(FIRST)
        await dropped.quiet(0.5)
    assert len(await house.manager.untold()) == 1

    async with house.called(by="phone") as again:
        await again.hears(LAST)
        await again.until_quiet()
        assert await house.manager.untold() == []
    told = times(house, FIRST)
    async with house.called() as third:
        await third.until_quiet()
    assert times(house, FIRST) == told


async def test_results_that_come_while_something_is_said_follow_in_order(house: House) -> None:
    for summary in ("Alpha is built.", "Bravo is tested.", "Charlie is written up."):
        house.agent.script(FakeTurn(f"SPOKEN_SUMMARY: {summary}", takes_s=5))
    async with house.called() as visitor:
        await visitor.until_quiet()
        for project in ("billing", "website", "parser"):
            await visitor.type(f"In {project}, run the tests.")
        await house.until(lambda: times(house, "Charlie is written"))
        await visitor.until_quiet()
        told = [text for text in visitor.line.said() if "is done" in text or "is finished" in text]
        assert [name for text in told for name in ("Alpha", "Bravo", "Charlie") if name in text] == [
            "Alpha",
            "Bravo",
            "Charlie",
        ]
    assert await house.manager.untold() == []


async def test_a_line_that_confirms_nothing_is_told_once_and_the_next_call_again(house: House) -> None:
    house.agent.script(FakeTurn(f"SPOKEN_SUMMARY: {SUMMARY}"))
    await house.manager.wait((await house.manager.dispatch("fix the invoice test")).id)
    async with house.called(by="phone", marks=False) as deaf:
        await deaf.hears(LAST)
        await deaf.quiet(25)  # offered again every ten seconds
        assert times(house, LAST) == 1
    assert len(await house.manager.untold()) == 1
    async with house.called(by="phone") as other:
        await other.until_quiet()
    assert times(house, LAST) == 2
    assert await house.manager.untold() == []


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (FakeTurn(error="The limit is reached. It resets at three o'clock."), "resets at three"),
        (FakeTurn(raises=RuntimeError("a defect")), "failed"),
        (FakeTurn(""), "is done"),
    ],
    ids=["a limit", "an agent that raises", "nothing said at all"],
)
async def test_what_went_wrong_is_told_as_that(house: House, turn: FakeTurn, reason: str) -> None:
    house.agent.script(turn)
    async with house.called() as visitor:
        await visitor.until_quiet()
        await visitor.say("In billing, run the tests.")
        await house.until(lambda: any(text.startswith("Task one") for text in visitor.line.said()))
        await visitor.until_quiet()
        told = next(text for text in visitor.line.said() if text.startswith("Task one"))
        assert reason in told
        assert ("failed" in told or "didn't work out" in told) == (reason != "is done")
        assert "defect" not in told
        assert (await house.tasks())[0].told_at is not None


async def test_a_cancelled_task_is_never_told_of(house: House) -> None:
    house.agent.script(FakeTurn(f"SPOKEN_SUMMARY: {SUMMARY}", takes_s=30))
    async with house.called() as visitor:
        await visitor.until_quiet()
        await visitor.say("In billing, fix the failing invoice test.")
        await visitor.until_quiet()
        await visitor.say("Cancel task one.")
        await visitor.until_quiet()
        await visitor.say("Yes.")
        await visitor.until_quiet()
        assert (await house.tasks())[0].status == "cancelled"
        await visitor.quiet(35)
    assert times(house, FIRST) == 0


async def test_a_key_in_a_result_is_said_shown_logged_and_kept_nowhere(
    house: House, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    turn = FakeTurn(
        f"The key is {KEY} and it works.\n\nSPOKEN_SUMMARY: I found the key {KEY} in the settings.",
        progress=(f"Reading {KEY}",),
        takes_s=8,
    )
    house.agent.script(turn)
    async with house.called() as visitor:
        await visitor.until_quiet()
        await visitor.say("In billing, look for keys in the settings.")
        await visitor.hears("a redacted key")
        await visitor.until_quiet()
        shown = " ".join(caption.text for caption in visitor.line.captions)
        assert "a redacted key" in shown
        progress = " ".join(line.text for line in await house.manager.progress(1))
        report = await house.manager.report(1) or ""
        result = (await house.tasks())[0]
        for place in (shown, " ".join(house.voice.said), progress, report, repr(result), caplog.text):
            assert KEY[:20] not in place
            assert KEY[-20:] not in place


async def test_a_restart_keeps_what_was_not_told(tmp_path: Path, clock: VirtualClock) -> None:
    async with House.opened(tmp_path, clock) as before:
        before.agent.script(FakeTurn(f"SPOKEN_SUMMARY: {SUMMARY}"))
        await before.manager.wait((await before.manager.dispatch("fix the invoice test")).id)
    async with House.opened(tmp_path, clock) as after, after.called() as visitor:
        await visitor.hears(LAST)
        await visitor.until_quiet()
        assert await after.manager.untold() == []
