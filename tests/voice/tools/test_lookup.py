"""Asking the owner's mail and calendar: only when it may be asked, and never longer than a caller waits."""

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from keryx.clock import VirtualClock, settle
from keryx.errors import ConfigError, Refused, Unavailable
from keryx.voice.tools.lookup import ANSWER_WITHIN_S, MOST_AT_ONCE, Lookup
from keryx.workspace.features import Feature
from keryx.workspace.workspace import Workspace
from tests.voice.tools.owners import owner

pytest.importorskip("googleapiclient", reason="the google extra is not installed")


async def test_what_a_slow_answer_would_have_been_is_not_waited_for(tmp_path: Path, clock: VirtualClock) -> None:
    release = threading.Event()
    with owner(tmp_path, clock) as who:
        asking = asyncio.ensure_future(who.lookup.ask(Feature.READ_MAIL, lambda _: release.wait(30)))
        await settle()
        await clock.advance(ANSWER_WITHIN_S - 0.1)
        assert not asking.done()
        await clock.advance(0.2)
        with pytest.raises(Unavailable) as slow:
            await asking
        release.set()
    assert slow.value.spoken == "Your mail is slow just now. Ask me again in a moment."


async def test_a_cancelled_question_holds_up_nobody(tmp_path: Path, clock: VirtualClock) -> None:
    release, began = threading.Event(), threading.Event()

    def hang(_: Workspace) -> bool:
        began.set()
        return release.wait(30)

    with owner(tmp_path, clock) as who:
        asking = asyncio.ensure_future(who.lookup.ask(Feature.READ_MAIL, hang))
        await asyncio.to_thread(began.wait, 10)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        left = [thread for thread in threading.enumerate() if thread.name == "lookup"]
        release.set()
    assert left
    assert all(thread.daemon for thread in left)


async def test_what_hangs_does_not_pile_up(tmp_path: Path, clock: VirtualClock) -> None:
    release = threading.Event()
    with owner(tmp_path, clock) as who:
        hanging = [
            asyncio.ensure_future(who.lookup.ask(Feature.READ_CALENDAR, lambda _: release.wait(30)))
            for _ in range(MOST_AT_ONCE)
        ]
        await settle()
        with pytest.raises(Unavailable, match="within"):
            await who.lookup.ask(Feature.READ_CALENDAR, lambda _: True)
        release.set()
        assert await asyncio.gather(*hanging) == [True] * MOST_AT_ONCE
        assert await who.lookup.ask(Feature.READ_CALENDAR, lambda _: "again") == "again"


async def test_a_library_that_gives_up_altogether_ends_one_answer_only(tmp_path: Path, clock: VirtualClock) -> None:
    def panics(_: Workspace) -> None:
        raise SystemExit(3)

    with owner(tmp_path, clock) as who:
        async with asyncio.timeout(30):
            with pytest.raises(RuntimeError, match="SystemExit"):
                await who.lookup.ask(Feature.READ_MAIL, panics)
            assert await who.lookup.ask(Feature.READ_MAIL, lambda _: "again") == "again"


async def test_nobody_signed_in_is_said_with_what_to_do(tmp_path: Path, clock: VirtualClock) -> None:
    with owner(tmp_path, clock, features=None) as who:
        with pytest.raises(ConfigError) as mail:
            await who.lookup.ask(Feature.READ_MAIL, lambda _: True)
        with pytest.raises(ConfigError) as calendar:
            await who.lookup.ask(Feature.READ_CALENDAR, lambda _: True)

    assert mail.value.spoken == "I can't see your mail yet. On your machine, run keryx auth login google."
    assert "your calendar" in calendar.value.spoken


async def test_without_googles_packages_the_command_that_names_them_is_said(
    tmp_path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with owner(tmp_path, clock) as who:
        monkeypatch.setitem(sys.modules, "googleapiclient", None)
        with pytest.raises(ConfigError, match="pip install") as missing:
            await who.lookup.ask(Feature.READ_CALENDAR, lambda _: True)

    assert missing.value.spoken.startswith("I can't see your calendar yet.")


async def test_what_was_not_granted_is_said_as_that(tmp_path: Path, clock: VirtualClock) -> None:
    with owner(tmp_path, clock, features=[Feature.READ_CALENDAR]) as who:
        assert await who.lookup.ask(Feature.READ_CALENDAR, lambda _: True)
        with pytest.raises(Refused) as mail:
            await who.lookup.ask(Feature.READ_MAIL, lambda _: True)

    assert mail.value.spoken.startswith("You haven't let me read your mail yet.")


def test_warming_up_asks_google_nothing_and_never_fails(tmp_path: Path, clock: VirtualClock) -> None:
    with owner(tmp_path / "in", clock) as who:
        who.lookup.warm()
        assert who.google.requests == []
    with owner(tmp_path / "out", clock, features=None) as who:
        who.lookup.warm()
    (tmp_path / "half").mkdir()
    half = Workspace(tmp_path / "half", zone="UTC", api_url="http://127.0.0.1:9", clock=clock)
    Lookup(half, clock=clock).warm()
