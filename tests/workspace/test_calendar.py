"""The owner's calendars are looked into over Google's own client: in order, paged, each thing once, on real days."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from keryx.errors import NotFound, Refused, Unavailable
from keryx.workspace.agenda.free_time import Hours
from keryx.workspace.calendar import Calendars
from keryx.workspace.models import Event
from tests.support.google import GoogleServer, Status, served_google
from tests.support.google_account import Waits, asking

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)  # a Monday
LIST = "calendar.events.list"


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.fixture
def waits() -> Waits:
    return Waits(NOW)


@pytest.fixture
def server(waits: Waits) -> Iterator[GoogleServer]:
    with served_google(clock=waits, zone="Europe/Berlin") as server:
        yield server


@pytest.fixture
def calendars(server: GoogleServer, waits: Waits, tmp_path: Path) -> Calendars:
    return Calendars(asking(server, waits, tmp_path), zone="Europe/Berlin")


def titles(events: Iterable[Event]) -> list[str]:
    return [event.title for event in events]


def day(text: str) -> tuple[datetime, datetime]:
    return at(text), at(text) + timedelta(days=1)


# -- what is on --------------------------------------------------------------------------------------------------------


def test_what_is_on_comes_in_order_all_day_first(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add_event("Lunch", at("2026-03-02T12:00"), at("2026-03-02T13:00"))
    server.calendars.add_event("Standup", at("2026-03-02T09:00"), at("2026-03-02T09:15"))
    server.calendars.add_event("Holiday", date(2026, 3, 2), date(2026, 3, 3))
    server.calendars.add_event("Elsewhen", at("2026-03-03T09:00"), at("2026-03-03T09:15"))
    assert titles(calendars.events(*day("2026-03-02")).items) == ["Holiday", "Standup", "Lunch"]


def test_an_event_keeps_its_own_zone(server: GoogleServer, calendars: Calendars) -> None:
    zone = ZoneInfo("America/New_York")
    server.calendars.add_event(
        "Call", at("2026-03-02T10:00", zone), at("2026-03-02T11:00", zone), zone="America/New_York"
    )
    [event] = calendars.events(*day("2026-03-02")).items
    assert event.when.zone == "America/New_York"
    assert event.when.start == at("2026-03-02T16:00")


def test_an_all_day_event_is_on_its_day_wherever_its_calendar_is(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add("far@example.org", "Far", zone="Pacific/Auckland")
    server.calendars.add_event("Birthday", date(2026, 3, 2), date(2026, 3, 3), calendar="far@example.org")
    [event] = calendars.events(*day("2026-03-02")).items
    assert (event.when.start, event.when.end, event.when.all_day) == (date(2026, 3, 2), date(2026, 3, 3), True)


@pytest.mark.parametrize("month", [3, 10])
def test_a_recurring_event_is_at_nine_on_both_sides_of_a_clock_change(
    server: GoogleServer, calendars: Calendars, month: int
) -> None:
    first = datetime(2026, month, 23, 9, 0, tzinfo=BERLIN)
    server.calendars.add_event(
        "Standup", first, first + timedelta(minutes=15), zone="Europe/Berlin", recurrence=["RRULE:FREQ=DAILY;COUNT=10"]
    )
    found = calendars.events(first, first + timedelta(days=12)).items
    assert [event.when.start.isoformat()[11:16] for event in found] == ["09:00"] * 10
    assert len({event.id for event in found}) == 10
    assert {event.series for event in found} == {found[0].series}


def test_exceptions_of_a_series_are_where_they_were_put(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add_event(
        "Standup",
        at("2026-03-02T09:00"),
        at("2026-03-02T09:15"),
        zone="Europe/Berlin",
        recurrence=["RRULE:FREQ=DAILY;COUNT=3"],
    )
    first, second, _ = calendars.events(at("2026-03-02"), at("2026-03-08")).items
    calendars.appointments.move(first.id, "primary", at("2026-03-02T15:00"))
    calendars.appointments.delete(second.id, "primary")
    moved, kept = calendars.events(at("2026-03-02"), at("2026-03-08")).items
    assert moved.when.start == at("2026-03-02T15:00")
    assert kept.when.start == at("2026-03-04T09:00")


def test_events_are_found_by_their_words(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add_event("Dentist", at("2026-03-02T09:00"), at("2026-03-02T10:00"))
    server.calendars.add_event("Lunch", at("2026-03-02T12:00"), at("2026-03-02T13:00"))
    assert titles(calendars.events(*day("2026-03-02"), query="dentist").items) == ["Dentist"]


def test_ticked_calendars_are_looked_into_and_others_when_named(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add("work@example.org", "Work")
    server.calendars.add("team@example.org", "Team Berlin", selected=False)
    server.calendars.add("old@example.org", "Old", hidden=True)
    for number, name in enumerate(["primary", "work@example.org", "team@example.org", "old@example.org"]):
        start = at(f"2026-03-02T{9 + number:02}:00")
        server.calendars.add_event(name, start, start + timedelta(hours=1), calendar=name)
    assert titles(calendars.events(*day("2026-03-02")).items) == ["primary", "work@example.org"]
    assert titles(calendars.events(*day("2026-03-02"), calendars=["team berlin", "WORK"]).items) == [
        "work@example.org",
        "team@example.org",
    ]
    with pytest.raises(NotFound, match='no calendar "Tennis"; list_calendars says which there are'):
        calendars.events(*day("2026-03-02"), calendars=["Tennis"])


def test_what_stands_in_two_calendars_is_told_once(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add("work@example.org", "Work")
    for name in ("primary", "work@example.org"):
        server.calendars.add_event(
            "Review", at("2026-03-02T09:00"), at("2026-03-02T10:00"), calendar=name, iCalUID="review@example.org"
        )
    [event] = calendars.events(*day("2026-03-02")).items
    assert event.calendar == "primary"


def test_hundreds_of_events_of_several_calendars_are_paged_through_each_once(
    server: GoogleServer, calendars: Calendars
) -> None:
    server.calendars.add("work@example.org", "Work")
    # Half of them begin at the same time, and one began long before.
    server.calendars.add_event("Long", at("2026-02-20T09:00"), at("2026-03-20T10:00"))
    for number in range(150):
        name = "primary" if number % 2 else "work@example.org"
        start = at("2026-03-02T09:00") + timedelta(minutes=number // 10)
        server.calendars.add_event(f"E{number}", start, start + timedelta(hours=1), calendar=name)
    seen: list[Event] = []
    page = None
    for _ in range(20):
        found = calendars.events(at("2026-03-02"), at("2026-03-03"), most=40, page=page)
        assert len(found.items) <= 40
        seen += found.items
        page = found.next
        if page is None:
            break
    assert len(seen) == 151
    assert len({event.title for event in seen}) == 151
    assert [event.when.start for event in seen] == sorted(event.when.start for event in seen)


def test_more_events_at_one_moment_than_google_gives_at_once_are_each_shown_once(
    server: GoogleServer, calendars: Calendars
) -> None:
    server.calendars.add("work@example.org", "Work")
    start = at("2026-03-02T09:00")
    for number in range(330):
        name = "work@example.org" if number < 310 else "primary"
        server.calendars.add_event(f"E{number}", start, start + timedelta(minutes=number % 7), calendar=name)
    server.calendars.add_event("After", start + timedelta(hours=1), start + timedelta(hours=2))
    seen: list[str] = []
    page = None
    for _ in range(4):
        found = calendars.events(*day("2026-03-02"), most=100, page=page)
        seen += titles(found.items)
        page = found.next
    assert page is None
    assert (len(seen), len(set(seen)), seen[-1]) == (331, 331, "After")


def test_what_comes_to_be_between_two_pages_neither_hides_nor_repeats_anything(
    server: GoogleServer, calendars: Calendars
) -> None:
    for number in range(6):
        start = at("2026-03-02T09:00") + timedelta(hours=number)
        server.calendars.add_event(f"E{number}", start, start + timedelta(minutes=30))
    first = calendars.events(*day("2026-03-02"), most=3)
    server.calendars.add_event("New early", at("2026-03-02T08:00"), at("2026-03-02T08:30"))
    server.calendars.add_event("New late", at("2026-03-02T13:30"), at("2026-03-02T14:00"))
    second = calendars.events(*day("2026-03-02"), page=first.next)
    assert titles([*first.items, *second.items]) == ["E0", "E1", "E2", "E3", "E4", "New late", "E5"]


@pytest.mark.parametrize("person", ["Pacific/Honolulu", "Europe/Berlin", "Pacific/Kiritimati"])
@pytest.mark.parametrize("there", ["Pacific/Honolulu", "Australia/Lord_Howe", "Pacific/Kiritimati"])
def test_an_all_day_event_is_on_its_own_day_and_no_other_whatever_zone_its_calendar_has(
    server: GoogleServer, waits: Waits, tmp_path: Path, person: str, there: str
) -> None:
    zone = ZoneInfo(person)
    calendars = Calendars(asking(server, waits, tmp_path), zone=person)
    server.calendars.add("far@example.org", "Far", zone=there)
    for number in range(1, 6):
        server.calendars.add_event(
            f"Day {number}", date(2026, 3, number), date(2026, 3, number + 1), calendar="far@example.org"
        )
    for number in range(1, 6):
        midnight = datetime(2026, 3, number, tzinfo=zone)
        for named in ((), ("Far",)):
            found = calendars.events(midnight, midnight + timedelta(days=1), calendars=named)
            assert titles(found.items) == [f"Day {number}"]
    # Among the appointments of the day before, over the edge of each page.
    for hour in range(24):
        start = datetime(2026, 3, 2, hour, tzinfo=zone)
        server.calendars.add_event(f"At {hour}", start, start + timedelta(minutes=30), calendar="far@example.org")
    seen, page = [], None
    while page is not None or not seen:
        found = calendars.events(
            datetime(2026, 3, 2, tzinfo=zone), datetime(2026, 3, 4, tzinfo=zone), most=3, page=page
        )
        seen, page = [*seen, *titles(found.items)], found.next
    assert seen == ["Day 2", *(f"At {hour}" for hour in range(24)), "Day 3"]


def test_two_occurrences_of_one_series_at_the_same_time_are_two(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add_event(
        "Standup",
        at("2026-03-02T09:00"),
        at("2026-03-02T09:15"),
        zone="Europe/Berlin",
        recurrence=["RRULE:FREQ=DAILY;COUNT=2"],
    )
    _, second = calendars.events(at("2026-03-02"), at("2026-03-05")).items
    calendars.appointments.move(second.id, "primary", at("2026-03-02T09:00"))
    assert titles(calendars.events(*day("2026-03-02")).items) == ["Standup", "Standup"]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
@pytest.mark.parametrize("month", [3, 4, 9, 10, 11])
def test_a_series_keeps_its_hour_in_each_zone_whose_clock_changes(
    server: GoogleServer, calendars: Calendars, zone: str, month: int
) -> None:
    there = ZoneInfo(zone)
    first = datetime(2026, month, 1, 2, 15, tzinfo=there)
    server.calendars.add_event(
        "Backup", first, first + timedelta(minutes=30), zone=zone, recurrence=["RRULE:FREQ=DAILY;COUNT=31"]
    )
    found = calendars.events(first - timedelta(days=2), first + timedelta(days=33)).items
    assert len(found) == 31
    assert {event.when.zone for event in found} == {zone}
    clocks = {f"{event.when.start:%H:%M}" for event in found}
    # A quarter past two is left out in one night of some months, and is then as much later as the clock is put forward.
    assert "02:15" in clocks
    assert clocks <= {"02:15", "03:15", "02:45"}
    lengths = {event.when.end.astimezone(UTC) - event.when.start.astimezone(UTC) for event in found}  # type: ignore[union-attr]
    assert lengths == {timedelta(minutes=30)}


def test_a_list_is_fetched_without_descriptions_and_an_event_with(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add_event(
        "Dentist", at("2026-03-02T09:00"), at("2026-03-02T10:00"), description="Bring <b>it</b>."
    )
    [listed] = calendars.events(*day("2026-03-02")).items
    assert listed.description == ""
    assert calendars.event(listed.id).description == "Bring it."


@pytest.mark.parametrize("page", ["x", "W10", "bnVsbA", "WzEsMl0", "é" * 20, "A" * 5_000, "WyIyMDI2LTAzLTAyIiwgW11d"])
def test_a_page_that_is_none_of_ours_is_refused(calendars: Calendars, page: str) -> None:
    with pytest.raises(Refused, match="no page of this list"):
        calendars.events(*day("2026-03-02"), page=page)


def test_other_people_s_times_without_their_words_are_busy(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add("bo@example.org", "Bo", role="freeBusyReader")
    server.calendars.add_event(
        "Secret", at("2026-03-02T09:00"), at("2026-03-02T10:00"), calendar="bo@example.org", description="Secret"
    )
    [event] = calendars.events(*day("2026-03-02")).items
    assert "Secret" not in f"{event}"


def test_which_calendars_there_are_their_own_first(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add("a@example.org", "Aardvarks", zone="Asia/Tokyo", role="reader")
    own, other = calendars.calendars()
    assert own.primary
    assert (other.name, other.zone, other.writable) == ("Aardvarks", "Asia/Tokyo", False)


def test_a_moment_that_google_has_no_time_for_is_waited_out(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add_event("Dentist", at("2026-03-02T09:00"), at("2026-03-02T10:00"))
    server.faults.script(LIST, Status(503), Status(429, "rateLimitExceeded"))
    assert titles(calendars.events(*day("2026-03-02")).items) == ["Dentist"]


def test_an_event_that_is_gone_is_said_as_that(server: GoogleServer, calendars: Calendars) -> None:
    event = server.calendars.add_event("Dentist", at("2026-03-02T09:00"), at("2026-03-02T10:00"))
    calendars.appointments.delete(event["id"], "primary")
    for event_id in (event["id"], "nosuchevent", "a/../b", ""):
        with pytest.raises(NotFound):
            calendars.event(event_id)


# -- free time ---------------------------------------------------------------------------------------------------------


def free(diary: Calendars, start: str, end: str, minutes: int = 30, **how: Any) -> list[str]:
    slots = diary.free(at(start), at(end), minutes=minutes, **how)
    return [f"{slot.start:%a %H:%M}-{slot.end:%H:%M}" for slot in slots]


def test_free_time_is_what_several_calendars_leave(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add("work@example.org", "Work")
    server.calendars.add_event("A", at("2026-03-03T09:00"), at("2026-03-03T11:00"))
    server.calendars.add_event("B", at("2026-03-03T13:00"), at("2026-03-03T16:00"), calendar="work@example.org")
    assert free(calendars, "2026-03-03", "2026-03-04") == ["Tue 11:00-13:00", "Tue 16:00-18:00"]
    assert free(calendars, "2026-03-03", "2026-03-04", calendars=["work"]) == ["Tue 09:00-13:00", "Tue 16:00-18:00"]


def test_what_was_declined_or_does_not_block_leaves_time(server: GoogleServer, calendars: Calendars) -> None:
    mine = {"email": server.calendars.address, "responseStatus": "declined"}
    server.calendars.add_event("A", at("2026-03-03T09:00"), at("2026-03-03T18:00"), transparency="transparent")
    server.calendars.add_event(
        "B", at("2026-03-03T09:00"), at("2026-03-03T18:00"), organizer="bo@example.org", guests=[mine]
    )
    assert free(calendars, "2026-03-03", "2026-03-04") == ["Tue 09:00-18:00"]


def test_a_colleague_s_calendar_that_is_ticked_to_be_looked_at_takes_no_time_of_mine(
    server: GoogleServer, calendars: Calendars
) -> None:
    server.calendars.add("bo@example.org", "Bo", role="reader")
    server.calendars.add_event("X", at("2026-03-03T09:00"), at("2026-03-03T17:00"), calendar="bo@example.org")
    assert free(calendars, "2026-03-03", "2026-03-04") == ["Tue 09:00-18:00"]
    assert free(calendars, "2026-03-03", "2026-03-04", calendars=["primary", "Bo"]) == ["Tue 17:00-18:00"]


def test_a_group_is_free_when_all_of_its_members_are(server: GoogleServer, calendars: Calendars) -> None:
    query = server.methods["calendar.freebusy.query"]

    def with_groups(asked: Any) -> Any:
        busy = [{"start": "2026-03-03T08:00:00Z", "end": "2026-03-03T12:00:00Z"}]
        members = {"a@example.org": {"busy": busy}, "b@example.org": {"busy": []}}
        groups = {
            "team@example.org": {"calendars": [*members]},
            "all@example.org": {"errors": [{"domain": "global", "reason": "groupTooBig"}]},
            "half@example.org": {"calendars": ["a@example.org", "secret@example.org"]},
        }
        answer = query(asked)
        return {**answer, "groups": groups, "calendars": {**answer["calendars"], **members}}

    server.methods["calendar.freebusy.query"] = with_groups
    assert free(calendars, "2026-03-03", "2026-03-04", people=["team@example.org"]) == ["Tue 13:00-18:00"]
    with pytest.raises(Refused, match="all@example.org has too many members"):
        free(calendars, "2026-03-03", "2026-03-04", people=["all@example.org"])
    with pytest.raises(NotFound, match="secret@example.org does not show when it is free"):
        free(calendars, "2026-03-03", "2026-03-04", people=["half@example.org"])


def test_a_calendar_that_google_has_no_answer_for_just_now_is_not_called_hidden(
    server: GoogleServer, calendars: Calendars
) -> None:
    server.methods["calendar.freebusy.query"] = lambda asked: {
        "kind": "calendar#freeBusy",
        "calendars": {"primary": {"errors": [{"domain": "global", "reason": "internalError"}], "busy": []}},
    }
    with pytest.raises(Unavailable, match="cannot say just now when primary is free; try again"):
        free(calendars, "2026-03-03", "2026-03-04")


def test_free_time_is_never_in_the_past(calendars: Calendars) -> None:
    assert free(calendars, "2026-03-02", "2026-03-03") == ["Mon 09:00-18:00"]  # it is nine there
    assert free(calendars, "2026-02-25", "2026-03-01") == []


def test_an_evening_is_looked_at_whole_and_a_day_by_its_hours(calendars: Calendars) -> None:
    assert free(calendars, "2026-03-03T18:00", "2026-03-03T23:00") == ["Tue 18:00-23:00"]
    assert free(calendars, "2026-03-07", "2026-03-08", hours=Hours()) == []
    assert free(calendars, "2026-03-07", "2026-03-09") == ["Sat 09:00-18:00", "Sun 09:00-18:00"]
    assert [slot[:3] for slot in free(calendars, "2026-03-06", "2026-03-10")] == ["Fri", "Mon"]


def test_a_calendar_that_cannot_be_seen_is_not_taken_for_free(calendars: Calendars) -> None:
    with pytest.raises(NotFound, match="stranger@example.org does not show when it is free"):
        free(calendars, "2026-03-03", "2026-03-04", people=["stranger@example.org"])


def test_somebody_else_s_busy_time_counts(server: GoogleServer, calendars: Calendars) -> None:
    server.calendars.add("bo@example.org", "Bo", role="freeBusyReader", listed=False)
    server.calendars.add_event("X", at("2026-03-03T09:00"), at("2026-03-03T17:00"), calendar="bo@example.org")
    assert free(calendars, "2026-03-03", "2026-03-04", people=["bo@example.org"]) == ["Tue 17:00-18:00"]


def test_more_than_three_months_are_not_searched(calendars: Calendars) -> None:
    with pytest.raises(Refused, match="three months"):
        free(calendars, "2026-03-03", "2026-07-03")


def test_google_not_answering_is_no_free_time(server: GoogleServer, calendars: Calendars) -> None:
    server.faults.script("calendar.freebusy.query", *[Status(500)] * 10)
    with pytest.raises(Unavailable):
        free(calendars, "2026-03-03", "2026-03-04")
