"""`check_calendar` through the real library, against a loopback Google."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keryx.clock import VirtualClock
from keryx.voice.tools.toolbox import Toolbox
from tests.voice.tools.desk import Desk, Works
from tests.voice.tools.owners import Owner, owner

pytest.importorskip("googleapiclient", reason="the google extra is not installed")

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""A Monday."""


@pytest.fixture
def person(tmp_path: Path, clock: VirtualClock) -> Iterator[Owner]:
    with owner(tmp_path / "google", clock) as person:
        yield person


@pytest.fixture
def tools(house: Works, desk: Desk, person: Owner) -> Toolbox:
    return Toolbox(house.manager, house.registry, ["billing"], desk, person.lookup)


def hours(start: float, end: float, *, day: int = 2) -> tuple[datetime, datetime]:
    begin = datetime(2026, 3, day, tzinfo=UTC)
    return begin + timedelta(hours=start), begin + timedelta(hours=end)


async def ask(tools: Toolbox, **arguments: Any) -> dict[str, Any]:
    result = await tools.call("check_calendar", arguments, call_id=repr(arguments))
    assert result.ok, result.error
    return result.value


def titles(answer: dict[str, Any]) -> list[str]:
    return [event["title"] for event in answer["events"]]


async def test_what_is_on_in_a_part_of_the_day(tools: Toolbox, person: Owner) -> None:
    person.event("standup", *hours(14, 14.25))
    person.event("dentist", *hours(16, 17))
    person.event("this morning", *hours(10, 11))
    person.event("tomorrow's", *hours(14, 15, day=3))

    answer = await ask(tools, when="this afternoon")

    assert titles(answer) == ["standup", "dentist"]
    assert answer["events"][0]["start"] == "2026-03-02T14:00+00:00"


async def test_of_today_only_what_is_left_is_told(tools: Toolbox, person: Owner) -> None:
    person.event("over", *hours(7, 8))
    person.event("running", *hours(8.5, 9.5))
    person.event("to come", *hours(12, 13))

    assert titles(await ask(tools)) == ["running", "to come"]


async def test_what_was_declined_is_not_on(tools: Toolbox, person: Owner) -> None:
    no = {"email": person.google.mailbox.address, "responseStatus": "declined"}
    person.event("declined", *hours(12, 13), organizer="anna@example.com", guests=[no])
    person.event("taken", *hours(13, 14))

    assert titles(await ask(tools, when="today")) == ["taken"]


async def test_the_next_one_is_the_one_that_has_not_begun(tools: Toolbox, person: Owner) -> None:
    person.google.calendars.add_event("a whole day", date(2026, 3, 2), date(2026, 3, 3))
    person.event("running", *hours(8.5, 9.5))
    person.event("next", *hours(12, 13))
    person.event("later", *hours(15, 16))

    assert titles(await ask(tools, next_only=True)) == ["next"]


async def test_an_appointment_is_found_by_its_title_or_by_who_takes_part(tools: Toolbox, person: Owner) -> None:
    person.event("Dentist", *hours(10, 11, day=12))
    person.event("Review", *hours(14, 15, day=5), guests=[{"email": "anna@example.com", "displayName": "Anna Berg"}])

    assert titles(await ask(tools, about="dentist appointment", next_only=True)) == ["Dentist"]
    assert titles(await ask(tools, with_whom="Anna", next_only=True)) == ["Review"]


async def test_whole_days_are_days_in_any_zone(house: Works, desk: Desk, clock: VirtualClock, tmp_path: Path) -> None:
    with owner(tmp_path / "google", clock, zone="Pacific/Auckland") as person:
        tools = Toolbox(house.manager, house.registry, [], desk, person.lookup)
        person.google.calendars.add_event("Anna's birthday", date(2026, 3, 2), date(2026, 3, 3))

        answer = await ask(tools, when="today")

    assert titles(answer) == ["Anna's birthday"]
    assert (answer["events"][0]["start"], answer["events"][0]["all_day"]) == ("2026-03-02", True)


async def test_free_time_of_a_day_has_the_length_that_was_asked_for(tools: Toolbox, person: Owner) -> None:
    person.event("early", *hours(8, 9.5, day=3))
    person.event("half an hour later", *hours(10, 15, day=3))

    answer = await ask(tools, when="tomorrow", free_minutes=60)

    assert answer["kind"] == "free"
    starts = [slot["start"] for slot in answer["slots"]]
    assert "2026-03-03T15:00+00:00" in starts
    assert "2026-03-03T09:30+00:00" not in starts


async def test_a_time_of_day_is_free_or_says_what_is_in_the_way(tools: Toolbox, person: Owner) -> None:
    person.event("standup", *hours(15, 15.5))
    person.event("only a note", *hours(16, 17), transparency="transparent")

    assert titles(await ask(tools, when="at three", free_minutes=30)) == ["standup"]
    assert titles(await ask(tools, when="at four", free_minutes=30)) == []


async def test_over_a_clock_change_the_hours_are_the_owners(
    house: Works, desk: Desk, clock: VirtualClock, tmp_path: Path
) -> None:
    with owner(tmp_path / "google", clock, zone="Europe/Berlin") as person:
        tools = Toolbox(house.manager, house.registry, [], desk, person.lookup)
        person.event("brunch", datetime(2026, 3, 29, 9, 0, tzinfo=UTC), datetime(2026, 3, 29, 10, 0, tzinfo=UTC))

        answer = await ask(tools, when="2026-03-29")

    assert answer["events"][0]["start"] == "2026-03-29T11:00+02:00"


async def test_whoever_is_not_proven_gives_the_pin_first(tools: Toolbox, desk: Desk, person: Owner) -> None:
    desk.proven = False

    assert (await tools.call("check_calendar", {"when": "today"}, call_id="c1")).code == "pin_needed"
    assert person.google.requests == []


@pytest.mark.parametrize("arguments", [{"when": "the website"}, {"free_minutes": 0}, {"day": "today"}])
async def test_arguments_that_make_no_sense_are_refused(tools: Toolbox, arguments: dict[str, object]) -> None:
    assert (await tools.call("check_calendar", arguments, call_id="c1")).code == "bad_arguments"
