"""Recurring events through Google's own client: one of them or all, in the series' own zone, with its exceptions."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from keryx.errors import Refused
from keryx.workspace.calendar import Calendars
from keryx.workspace.models import Event, Person
from tests.support.google import GoogleServer, served_google
from tests.support.google_account import Waits, asking

pytest.importorskip("googleapiclient", reason="the google extra is not installed")

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.fixture
def server() -> Iterator[GoogleServer]:
    with served_google(clock=Waits(NOW), zone="Europe/Berlin") as server:
        yield server


@pytest.fixture
def calendars(server: GoogleServer, tmp_path: Path) -> Calendars:
    return Calendars(asking(server, Waits(NOW), tmp_path), zone="Europe/Berlin")


def add(server: GoogleServer, start: Any, rule: str, *, zone: str | None = None, **fields: Any) -> str:
    length = timedelta(hours=1) if isinstance(start, datetime) else timedelta(days=1)
    lines = [f"RRULE:{rule}"]
    return server.calendars.add_event("Call", start, start + length, zone=zone, recurrence=lines, **fields)["id"]


def found(calendars: Calendars) -> list[Event]:
    return list(calendars.events(at("2026-02-01"), at("2026-12-31"), most=100).items)


def own_times(calendars: Calendars) -> list[str]:
    """Each start, by the clock of the event's own zone."""
    return [
        f"{event.when.start:%m-%d %H:%M}" if isinstance(event.when.start, datetime) else f"{event.when.start:%m-%d}"
        for event in found(calendars)
    ]


@pytest.mark.parametrize(
    ("zone", "first", "to", "times"),
    [
        # Between the two clock changes New York is five hours behind Berlin, else six: a Wednesday's 10:00 there is
        # 15:00 here, and the whole series is at ten there all the same.
        (
            NEW_YORK,
            "2026-03-04T09:00",
            "2026-03-11T15:00",
            ["03-04 10:00", "03-11 10:00", "03-18 10:00", "03-25 10:00", "04-01 10:00"],
        ),
        # Half an hour earlier on Lord Howe Island, whose clock is put back by half an hour on the 5th of April.
        (
            LORD_HOWE,
            "2026-03-25T20:00",
            "2026-04-08T11:00",
            ["03-25 19:30", "04-01 19:30", "04-08 19:30", "04-15 19:30", "04-22 19:30"],
        ),
    ],
)
def test_a_series_elsewhere_that_is_moved_from_here_keeps_its_own_clock(
    server: GoogleServer, calendars: Calendars, zone: ZoneInfo, first: str, to: str, times: list[str]
) -> None:
    add(server, at(first, zone), "FREQ=WEEKLY;BYDAY=WE;COUNT=5", zone=zone.key)
    nearest = min(found(calendars), key=lambda event: abs(event.when.start - at(to)))  # pyright: ignore[reportOperatorIssue]  all are timed
    moved = calendars.appointments.move(nearest.id, "primary", at(to), all_of_them=True)
    assert moved.when.zone == zone.key
    assert own_times(calendars) == times


def test_one_of_a_series_keeps_its_zone_and_the_others_their_times(server: GoogleServer, calendars: Calendars) -> None:
    add(server, at("2026-03-04T09:00", NEW_YORK), "FREQ=WEEKLY;COUNT=4", zone="America/New_York")
    second = found(calendars)[1]
    moved = calendars.appointments.move(second.id, "primary", at("2026-03-12T17:00"))
    assert (moved.when.zone, moved.series) == ("America/New_York", second.series)
    assert own_times(calendars) == ["03-04 09:00", "03-12 12:00", "03-18 09:00", "03-25 09:00"]


def test_a_series_that_ends_keeps_its_last_one_when_it_moves(server: GoogleServer, calendars: Calendars) -> None:
    # Until the very moment at which the last one begins, in summer time.
    add(server, at("2026-03-23T09:00"), "FREQ=WEEKLY;BYDAY=MO;UNTIL=20260413T070000Z", zone="Europe/Berlin")
    third = found(calendars)[2]
    calendars.appointments.move(third.id, "primary", at("2026-04-07T11:00"), all_of_them=True)
    assert own_times(calendars) == ["03-24 11:00", "03-31 11:00", "04-07 11:00", "04-14 11:00"]


def test_whole_days_that_recur_move_by_days_and_never_to_a_time(server: GoogleServer, calendars: Calendars) -> None:
    add(server, date(2026, 3, 2), "FREQ=WEEKLY;BYDAY=MO;COUNT=3")
    second = found(calendars)[1]
    calendars.appointments.move(second.id, "primary", date(2026, 3, 11), all_of_them=True)
    assert own_times(calendars) == ["03-04", "03-11", "03-18"]
    with pytest.raises(Refused, match="cannot be turned from all-day to timed"):
        calendars.appointments.move(found(calendars)[0].id, "primary", at("2026-03-04T09:00"), all_of_them=True)
    calendars.appointments.move(found(calendars)[0].id, "primary", at("2026-03-04T09:00"))
    assert own_times(calendars) == ["03-04 09:00", "03-11", "03-18"]


def test_an_invitation_to_a_series_is_answered_for_one_day_or_for_all(
    server: GoogleServer, calendars: Calendars
) -> None:
    add(server, at("2026-03-02T09:00"), "FREQ=DAILY;COUNT=3", zone="Europe/Berlin", organizer="anna@example.com")
    first, second, _ = found(calendars)
    calendars.appointments.answer(second.id, "primary", "declined", comment="On a train")
    assert [event.mine for event in found(calendars)] == ["needsAction", "declined", "needsAction"]
    calendars.appointments.answer(first.id, "primary", "accepted", all_of_them=True)
    answers = [event.mine for event in found(calendars)]
    assert (answers[0], answers[2]) == ("accepted", "accepted")
    assert {notice.to for notice in server.notices} == {("anna@example.com",)}


def test_guests_of_one_day_are_no_guests_of_the_others(server: GoogleServer, calendars: Calendars) -> None:
    bo, anna = "bo@example.org", "anna@example.org"
    add(server, at("2026-03-02T09:00"), "FREQ=DAILY;COUNT=3", zone="Europe/Berlin", guests=[bo])
    second = found(calendars)[1]
    calendars.appointments.invite(second.id, "primary", [Person(anna)])
    guests = [[guest.person.address for guest in event.guests] for event in found(calendars)]
    assert guests == [[bo], [bo, anna], [bo]]
    calendars.appointments.delete(second.id, "primary")
    assert own_times(calendars) == ["03-02 09:00", "03-04 09:00"]
    assert [notice.to for notice in server.notices] == [(bo, anna), (bo, anna)]


def test_nobody_moves_a_series_that_somebody_else_organises(server: GoogleServer, calendars: Calendars) -> None:
    add(server, at("2026-03-02T09:00"), "FREQ=DAILY;COUNT=3", zone="Europe/Berlin", organizer="anna@example.com")
    second = found(calendars)[1]
    for all_of_them in (False, True):
        with pytest.raises(Refused, match="anna@example.com organises that event"):
            calendars.appointments.move(second.id, "primary", at("2026-03-03T10:00"), all_of_them=all_of_them)
    assert server.count("calendar.events.patch") == 0
