"""Events at another time: alone, or a whole series with its rule."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from keryx.errors import Refused
from keryx.workspace.agenda.moving import moved, moved_series
from keryx.workspace.models import Event, When

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def timed(start: str, end: str, zone: ZoneInfo = BERLIN) -> When:
    return When(at(start, zone), at(end, zone), zone.key)


def said(when: When) -> tuple[str, str, str | None]:
    return when.start.isoformat(), when.end.isoformat(), when.zone


def test_an_event_stays_as_long_as_it_is() -> None:
    when = timed("2026-12-01T16:00", "2026-12-01T16:45")
    assert said(moved(when, at("2026-12-02T09:30"), None, None)) == (
        "2026-12-02T09:30:00+01:00",
        "2026-12-02T10:15:00+01:00",
        "Europe/Berlin",
    )


def test_an_event_keeps_its_own_zone() -> None:
    when = timed("2026-12-01T10:00", "2026-12-01T11:00", NEW_YORK)
    assert said(moved(when, at("2026-12-02T17:00"), None, None)) == (
        "2026-12-02T11:00:00-05:00",
        "2026-12-02T12:00:00-05:00",
        "America/New_York",
    )
    assert moved(when, at("2026-12-02T17:00"), None, "Asia/Kolkata").zone == "Asia/Kolkata"


def test_an_hour_stays_an_hour_when_the_clocks_change_in_it() -> None:
    when = timed("2026-10-20T02:00", "2026-10-20T03:00")
    assert said(moved(when, at("2026-10-25T02:30"), None, None))[1] == "2026-10-25T02:30:00+01:00"


def test_a_day_alone_keeps_the_hour() -> None:
    when = timed("2026-12-01T16:00", "2026-12-01T16:45", NEW_YORK)
    assert said(moved(when, date(2026, 12, 4), None, None)) == (
        "2026-12-04T16:00:00-05:00",
        "2026-12-04T16:45:00-05:00",
        "America/New_York",
    )
    now = timed("2026-04-08T09:00", "2026-04-08T09:15")
    first, rules = moved_series(WEEKLY, now, date(2026, 4, 9), None, None)
    assert (said(first)[0], rules) == ("2026-03-03T09:00:00+01:00", ("RRULE:FREQ=WEEKLY;BYDAY=TU,TH",))


def test_two_days_make_an_event_last_all_day_and_a_time_ends_that() -> None:
    when = timed("2026-12-01T16:00", "2026-12-01T16:45")
    assert moved(when, date(2026, 12, 4), date(2026, 12, 4), None) == When(date(2026, 12, 4), date(2026, 12, 5))
    holiday = When(date(2026, 12, 1), date(2026, 12, 4))
    assert moved(holiday, date(2026, 12, 24), None, None) == When(date(2026, 12, 24), date(2026, 12, 27))
    assert moved(holiday, date(2026, 12, 24), date(2026, 12, 24), None) == When(date(2026, 12, 24), date(2026, 12, 25))
    assert said(moved(holiday, at("2026-12-01T09:00"), None, None))[:2] == (
        "2026-12-01T09:00:00+01:00",
        "2026-12-01T10:00:00+01:00",
    )


def test_an_end_that_does_not_go_with_the_start_is_refused() -> None:
    when = timed("2026-12-01T16:00", "2026-12-01T16:45")
    with pytest.raises(Refused, match="both as times or both as days"):
        moved(when, at("2026-12-02T09:00"), date(2026, 12, 3), None)
    with pytest.raises(Refused, match="before it begins"):
        moved(when, at("2026-12-02T09:00"), at("2026-12-02T08:00"), None)


def series(when: When, *rules: str) -> Event:
    return Event("e1", "primary", "Standup", when, rules=rules)


WEEKLY = series(timed("2026-03-02T09:00", "2026-03-02T09:15"), "RRULE:FREQ=WEEKLY;BYDAY=MO,WE")


def test_a_series_moves_as_much_as_one_of_its_occurrences_by_the_clock() -> None:
    now = timed("2026-04-08T09:00", "2026-04-08T09:15")  # summer time; the series began in winter
    when, rules = moved_series(WEEKLY, now, at("2026-04-08T10:30"), None, None)
    assert said(when)[:2] == ("2026-03-02T10:30:00+01:00", "2026-03-02T10:45:00+01:00")
    assert rules == WEEKLY.rules


def test_days_that_a_rule_names_move_along() -> None:
    now = timed("2026-04-08T09:00", "2026-04-08T09:15")
    when, rules = moved_series(WEEKLY, now, at("2026-04-09T09:00"), None, None)
    assert said(when)[0] == "2026-03-03T09:00:00+01:00"
    assert rules == ("RRULE:FREQ=WEEKLY;BYDAY=TU,TH",)


def test_a_series_stays_as_long_as_it_is_unless_an_end_is_given() -> None:
    planned = timed("2026-04-08T09:00", "2026-04-08T09:15")
    when, _ = moved_series(WEEKLY, planned, at("2026-04-08T11:00"), None, None)
    assert said(when)[:2] == ("2026-03-02T11:00:00+01:00", "2026-03-02T11:15:00+01:00")
    when, _ = moved_series(WEEKLY, planned, at("2026-04-08T11:00"), at("2026-04-08T12:00"), None)
    assert said(when)[:2] == ("2026-03-02T11:00:00+01:00", "2026-03-02T12:00:00+01:00")


def test_a_series_of_another_zone_moves_by_that_zones_clock() -> None:
    # In these weeks New York has summer time and Berlin has not.
    call = series(timed("2026-02-04T10:00", "2026-02-04T11:00", NEW_YORK), "RRULE:FREQ=WEEKLY;BYDAY=WE")
    planned = timed("2026-03-11T10:00", "2026-03-11T11:00", NEW_YORK)
    when, rules = moved_series(call, planned, at("2026-03-11T16:00"), None, None)
    assert said(when) == ("2026-02-04T11:00:00-05:00", "2026-02-04T12:00:00-05:00", "America/New_York")
    assert rules == call.rules
    # One in the morning of Thursday in Berlin is still Wednesday evening there.
    when, rules = moved_series(call, planned, at("2026-03-12T01:00"), None, None)
    assert said(when)[0] == "2026-02-04T20:00:00-05:00"
    assert rules == call.rules


def test_an_all_day_series_moves_by_days() -> None:
    holiday = series(When(date(2026, 1, 5), date(2026, 1, 6)), "RRULE:FREQ=MONTHLY")
    now = When(date(2026, 4, 5), date(2026, 4, 6))
    when, rules = moved_series(holiday, now, date(2026, 4, 7), None, None)
    assert (when, rules) == (When(date(2026, 1, 7), date(2026, 1, 8)), holiday.rules)


@pytest.mark.parametrize(
    ("rules", "start", "zone", "why"),
    [
        (("RRULE:FREQ=MONTHLY;BYDAY=1MO",), at("2026-03-03T09:00"), None, "stays on them"),
        (("RRULE:FREQ=MONTHLY;BYMONTHDAY=2",), at("2026-03-03T09:00"), None, "stays on them"),
        (("RRULE:FREQ=WEEKLY", "EXDATE:20260309T080000Z"), at("2026-03-02T10:00"), None, "dates of its own"),
        (("RRULE:FREQ=WEEKLY",), at("2026-03-02T10:00"), "Asia/Kolkata", "own time zone"),
    ],
)
def test_a_series_that_cannot_move_so_is_refused_with_what_can_be_done(
    rules: tuple[str, ...], start: date | datetime, zone: str | None, why: str
) -> None:
    event = series(timed("2026-03-02T09:00", "2026-03-02T09:15"), *rules)
    with pytest.raises(Refused, match=why):
        moved_series(event, event.when, start, None, zone)
