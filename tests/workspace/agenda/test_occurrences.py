"""What is on in several calendars: each thing once and on its day, however many there are and wherever they are."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keryx.errors import NotFound, Refused
from keryx.workspace.agenda.times import day_start, span
from keryx.workspace.calendar import Calendars
from keryx.workspace.google import Google
from keryx.workspace.models import Event
from tests.support.google import GoogleServer, Status, served_google
from tests.support.google_account import Waits, asking

pytest.importorskip("googleapiclient", reason="the google extra is not installed")

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
KOLKATA = ZoneInfo("Asia/Kolkata")
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
LIST = "calendar.events.list"
FAR = {"hawaii": "Pacific/Honolulu", "utc": "UTC", "kiribati": "Pacific/Kiritimati"}


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.fixture
def server() -> Iterator[GoogleServer]:
    with served_google(clock=Waits(NOW), zone="Europe/Berlin") as server:
        yield server


@pytest.fixture
def google(server: GoogleServer, tmp_path: Path) -> Google:
    return asking(server, Waits(NOW), tmp_path)


@pytest.fixture
def calendars(google: Google) -> Calendars:
    return Calendars(google, zone="Europe/Berlin")


def titles(events: Sequence[Event]) -> list[str]:
    return [event.title for event in events]


def all_pages(calendars: Calendars, start: datetime, end: datetime, most: int, **how: Any) -> list[Event]:
    found, page = [], None
    for _ in range(150):
        result = calendars.events(start, end, most=most, page=page, **how)
        assert len(result.items) <= most
        found += result.items
        page = result.next
        if page is None:
            return found
        assert result.items
    raise AssertionError("the pages have no end")


def on(calendars: Calendars, start: str, end: str = "", zone: ZoneInfo = BERLIN) -> list[str]:
    return titles(calendars.events(*span(start, end, zone)).items)


# -- days of other zones -----------------------------------------------------------------------------------------------


def test_a_whole_day_of_a_calendar_elsewhere_is_on_that_day_and_on_no_other(
    server: GoogleServer, calendars: Calendars
) -> None:
    for name, zone in FAR.items():
        server.calendars.add(f"{name}@example.org", name, zone=zone)
        for number in (23, 24, 25):
            day = date(2026, 12, number)
            server.calendars.add_event(f"{name} {number}", day, day + timedelta(days=1), calendar=f"{name}@example.org")
    for number in (23, 24, 25):
        expected = sorted(f"{name} {number}" for name in FAR)
        assert sorted(on(calendars, f"2026-12-{number}")) == expected
        # In the small hours and at night too, when it is another day there.
        assert sorted(on(calendars, f"2026-12-{number}T00:30", f"2026-12-{number}T01:00")) == expected
        assert sorted(on(calendars, f"2026-12-{number}T23:00", f"2026-12-{number}T23:30")) == expected


def test_whole_days_of_the_own_calendar_are_days_while_its_owner_is_elsewhere(
    server: GoogleServer, google: Google
) -> None:
    server.calendars.add_event("Holiday", date(2026, 3, 5), date(2026, 3, 7))
    for zone in (NEW_YORK, KOLKATA, LORD_HOWE, ZoneInfo("Pacific/Kiritimati")):
        there = Calendars(google, zone=zone.key)
        found = [number for number in range(3, 9) if on(there, f"2026-03-0{number}", zone=zone)]
        assert found == [5, 6], zone
        named = [
            number
            for number in range(3, 9)
            if there.events(*span(f"2026-03-0{number}", "", zone), calendars=["primary"]).items
        ]
        assert named == [5, 6], zone
        # In the first minutes of the first day and the last of the second, too.
        for start, end in (("2026-03-05T00:01", "2026-03-05T00:05"), ("2026-03-06T23:50", "2026-03-06T23:59")):
            assert titles(there.events(*span(start, end, zone), calendars=["primary"]).items) == ["Holiday"], zone


def test_what_only_touches_a_stretch_is_not_on_in_it(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add("utc@example.org", "UTC", zone="UTC")
    for calendar in ("primary", "utc@example.org"):
        server.calendars.add_event("before", at("2026-03-02T09:00"), at("2026-03-02T10:00"), calendar=calendar)
        server.calendars.add_event("after", at("2026-03-02T12:00"), at("2026-03-02T13:00"), calendar=calendar)
        server.calendars.add_event("into", at("2026-03-02T09:30"), at("2026-03-02T10:01"), calendar=calendar)
    found = calendars.events(at("2026-03-02T10:00"), at("2026-03-02T12:00")).items
    assert titles(found) == ["into", "into"]


@pytest.mark.parametrize(
    ("zone", "first", "shown"),
    [
        # New York changes its clocks three weeks before Berlin, and a week after it.
        (NEW_YORK, "2026-03-06T09:00", {"15:00", "14:00"}),
        (NEW_YORK, "2026-10-23T09:00", {"15:00", "14:00"}),
        (LORD_HOWE, "2026-04-03T20:00", {"11:00", "11:30"}),
        (KOLKATA, "2026-03-27T15:00", {"10:30", "11:30"}),
    ],
)
def test_a_series_keeps_the_clock_of_its_own_zone_over_every_change(
    server: GoogleServer, calendars: Calendars, zone: ZoneInfo, first: str, shown: set[str]
) -> None:
    start = at(first, zone)
    server.calendars.add_event(
        "Call", start, start + timedelta(hours=1), zone=zone.key, recurrence=["RRULE:FREQ=DAILY;COUNT=12"]
    )
    found = calendars.events(start - timedelta(days=1), start + timedelta(days=14)).items
    assert [event.when.start.strftime("%H:%M") for event in found] == [first[11:]] * 12
    assert {event.when.zone for event in found} == {zone.key}
    begins = [event.when.start for event in found]
    assert {each.astimezone(BERLIN).strftime("%H:%M") for each in begins if isinstance(each, datetime)} == shown


def test_the_hour_that_there_is_twice_is_listed_in_order(server: GoogleServer, calendars: Calendars) -> None:
    second = at("2026-10-25T02:15").replace(fold=1)
    server.calendars.add_event("second", second, second + timedelta(minutes=10))
    server.calendars.add_event("first", at("2026-10-25T02:45"), at("2026-10-25T02:50"))
    assert on(calendars, "2026-10-25") == ["first", "second"]


# -- many --------------------------------------------------------------------------------------------------------------


def test_a_thousand_events_are_gone_through_page_by_page_with_the_long_ones_once(
    server: GoogleServer, calendars: Calendars
) -> None:
    server.calendars.add("work@example.org", "Work", zone="America/New_York")
    server.calendars.add_event("sabbatical", at("2025-12-01T00:00"), at("2026-12-01T00:00"))
    start = at("2026-03-02T00:00")
    for number in range(1_000):
        begins = start + timedelta(minutes=5 * number)
        name = "work@example.org" if number % 3 else "primary"
        server.calendars.add_event(f"{number}", begins, begins + timedelta(minutes=30), calendar=name)
    found = all_pages(calendars, start, start + timedelta(days=30), 60)
    assert titles(found) == ["sabbatical", *(f"{number}" for number in range(1_000))]
    # Not from the beginning for every page.
    assert server.count(LIST) < 80


def test_more_at_one_moment_than_a_page_holds_are_each_listed_once(server: GoogleServer, calendars: Calendars) -> None:
    for number in range(120):
        server.calendars.add_event(f"{number}", at("2026-03-02T09:00"), at("2026-03-02T09:00"))
    listed = server.methods[LIST]

    def ended_later(asked: Any) -> Any:
        # Google's own words: what ends at the lower bound is not listed.
        answer = listed(asked)
        lower = datetime.fromisoformat(asked.parameters["timeMin"])
        kept = [each for each in answer["items"] if datetime.fromisoformat(each["end"]["dateTime"]) > lower]
        return {**answer, "items": kept}

    server.methods[LIST] = ended_later
    found = all_pages(calendars, at("2026-03-02"), at("2026-03-03"), 7)
    assert sorted(map(int, titles(found))) == list(range(120))


def test_copies_under_other_ids_are_listed_once_over_the_ends_of_pages(
    server: GoogleServer, calendars: Calendars
) -> None:
    server.calendars.add("work@example.org", "Work")
    for number in range(6):
        for name in ("primary", "work@example.org"):
            server.calendars.add_event(
                f"{number}", at("2026-03-02T09:00"), at("2026-03-02T10:00"), calendar=name, iCalUID=f"{number}@x"
            )
    found = all_pages(calendars, at("2026-03-02"), at("2026-03-03"), 1)
    assert sorted(titles(found)) == [f"{number}" for number in range(6)]
    assert {event.calendar for event in found} == {"primary"}


def test_a_search_is_paged_as_well(server: GoogleServer, calendars: Calendars) -> None:
    for number in range(30):
        begins = at("2026-03-02T09:00") + timedelta(days=number)
        server.calendars.add_event(f"Review {number}", begins, begins + timedelta(hours=1))
        server.calendars.add_event("Lunch", begins, begins + timedelta(hours=1))
    found = all_pages(calendars, at("2026-03-01"), at("2026-05-01"), 4, query="review")
    assert titles(found) == [f"Review {number}" for number in range(30)]


WHERE = ("primary", "hawaii@example.org", "utc@example.org", "kiribati@example.org")
EVENTS = st.tuples(st.sampled_from(WHERE), st.integers(0, 6 * 24), st.sampled_from([0, 1, 5, 30]), st.booleans())


@given(st.lists(EVENTS, max_size=25), st.integers(1, 6), st.integers(0, 40), st.integers(1, 100))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_pages_together_are_all_that_is_on_in_order(
    server: GoogleServer,
    calendars: Calendars,
    events: list[tuple[str, int, int, bool]],
    most: int,
    skip: int,
    long: int,
) -> None:
    base = at("2026-03-27T00:00")  # two days before the clocks change
    for each in server.calendars.all.values():
        each.events.clear()
    for name, zone in FAR.items():
        server.calendars.add(f"{name}@example.org", name, zone=zone)
    start = base + timedelta(hours=skip)
    end = start + timedelta(hours=long)
    expected: list[tuple[datetime, str]] = []
    for number, (calendar, hour, length, all_day) in enumerate(events):
        begins: Any = (base.astimezone(UTC) + timedelta(hours=hour)).astimezone(BERLIN)
        ends: Any = (begins.astimezone(UTC) + timedelta(hours=length)).astimezone(BERLIN)
        if all_day:
            begins, ends = begins.date(), begins.date() + timedelta(days=max(1, length // 24))
        server.calendars.add_event(f"{number}", begins, ends, calendar=calendar)
        if all_day:
            begins, ends = day_start(begins, BERLIN), day_start(ends, BERLIN)
        begins, ends = begins.astimezone(UTC), ends.astimezone(UTC)
        if begins < end.astimezone(UTC) and (ends > start.astimezone(UTC) or begins == ends == start.astimezone(UTC)):
            expected.append((begins, f"{number}"))
    found: list[tuple[datetime, str]] = []
    for event in all_pages(calendars, start, end, most):
        begins = event.when.start if isinstance(event.when.start, datetime) else day_start(event.when.start, BERLIN)
        found.append((begins.astimezone(UTC), event.title))
    assert [begins for begins, _ in found] == sorted(begins for begins, _ in expected)
    assert sorted(found) == sorted(expected)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_ticked_calendar_that_was_taken_away_spoils_nothing_but_a_named_one_is_missed(
    server: GoogleServer, calendars: Calendars
) -> None:
    server.calendars.add("gone@example.org", "Gone")
    server.calendars.add_event("Dentist", at("2026-03-02T09:00"), at("2026-03-02T10:00"))
    listed = server.methods[LIST]

    def taken_away(asked: Any) -> Any:
        if asked.parameters["calendarId"] == "gone@example.org":
            return server.calendars["none"]  # raises what Google answers
        return listed(asked)

    server.methods[LIST] = taken_away
    assert on(calendars, "2026-03-02") == ["Dentist"]
    with pytest.raises(NotFound):
        calendars.events(at("2026-03-02"), at("2026-03-03"), calendars=["Gone"])


def test_an_own_calendar_that_google_does_not_show_is_no_empty_one(server: GoogleServer, calendars: Calendars) -> None:
    def refused(asked: Any) -> Any:
        return server.calendars["none"]

    server.methods[LIST] = refused
    with pytest.raises(NotFound):
        on(calendars, "2026-03-02")


def test_a_stretch_that_has_no_length_is_refused(server: GoogleServer, calendars: Calendars) -> None:
    for end in ("2026-03-02", "2026-03-01"):
        with pytest.raises(Refused, match="ends before it begins"):
            calendars.events(at("2026-03-02"), at(end))
    assert server.count(LIST) == 0


def test_a_moment_without_google_between_two_pages_loses_nothing(server: GoogleServer, calendars: Calendars) -> None:
    for number in range(9):
        begins = at("2026-03-02T09:00") + timedelta(hours=number)
        server.calendars.add_event(f"{number}", begins, begins + timedelta(minutes=30))
    first = calendars.events(at("2026-03-02"), at("2026-03-03"), most=5)
    server.faults.script(LIST, Status(503), Status(429, "rateLimitExceeded", headers={"Retry-After": "3"}))
    second = calendars.events(at("2026-03-02"), at("2026-03-03"), most=5, page=first.next)
    assert titles([*first.items, *second.items]) == [f"{number}" for number in range(9)]
    assert second.next is None
