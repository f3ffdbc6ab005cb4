"""What a model writes for a time is one moment where the person lives, or refused in words."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.errors import Refused
from keryx.workspace.agenda import times

BERLIN = ZoneInfo("Europe/Berlin")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-12-01", date(2026, 12, 1)),
        ("2026-12-01T15:00", "2026-12-01T15:00:00+01:00"),
        (" 2026-12-01 15:00 ", "2026-12-01T15:00:00+01:00"),
        ("2026-07-01T15:00:30", "2026-07-01T15:00:30+02:00"),
        ("2026-12-01T15:00Z", "2026-12-01T16:00:00+01:00"),
        ("2026-12-01T15:00-05:00", "2026-12-01T21:00:00+01:00"),
        # Half past two does not exist in the night of the change, and exists twice in the other.
        ("2026-03-29T02:30", "2026-03-29T03:30:00+02:00"),
        ("2026-10-25T02:30", "2026-10-25T02:30:00+02:00"),
    ],
)
def test_a_time_without_an_offset_is_meant_where_the_person_lives(said: str, meant: date | str) -> None:
    found = times.parsed(said, BERLIN)
    assert (found.isoformat() if isinstance(found, datetime) else found) == meant


@pytest.mark.parametrize("said", ["", "tomorrow", "2026-13-01", "2026-12-01T25:00", "15:00", "1", "0001-01-01T00:00"])
def test_what_is_no_time_is_refused_with_the_form(said: str) -> None:
    with pytest.raises(Refused, match='write it as "2026-12-01"'):
        times.parsed(said, BERLIN)


@given(st.text(max_size=30) | st.datetimes().map(str) | st.dates().map(str), st.text(max_size=30))
@settings(max_examples=200)
def test_whatever_is_written_only_a_refusal_comes_of_it(start: str, end: str) -> None:
    for zone in (BERLIN, LORD_HOWE, ZoneInfo("Asia/Kolkata")):
        try:
            begins, ends = times.span(start, end, zone)
        except Refused:
            continue
        assert times.later(ends, begins)


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-28", 24), ("2026-03-29", 23), ("2026-10-25", 25), ("2026-10-26", 24)]
)
def test_a_day_is_as_long_as_it_is(day: str, hours: int) -> None:
    begins, ends = times.span(day, "", BERLIN)
    assert times.elapsed(begins, ends) == timedelta(hours=hours)
    assert (begins.hour, ends.hour) == (0, 0)


def test_a_last_day_counts_whole_and_a_last_moment_does_not() -> None:
    begins, ends = times.span("2026-12-01", "2026-12-03", BERLIN)
    assert (begins.isoformat(), ends.isoformat()) == ("2026-12-01T00:00:00+01:00", "2026-12-04T00:00:00+01:00")
    begins, ends = times.span("2026-12-01T09:00", "2026-12-01T17:00", BERLIN)
    assert times.elapsed(begins, ends) == timedelta(hours=8)
    # From a time on, without an end: the rest of that day.
    assert times.span("2026-12-01T09:00", "", BERLIN)[1].isoformat() == "2026-12-02T00:00:00+01:00"


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        ("2026-12-02", "2026-12-01", "not after the start"),
        ("2026-12-02T10:00", "2026-12-02T09:00", "not after the start"),
        ("2020-01-01", "2026-01-01", "five years"),
        ("9999-12-31", "", "too far away"),
    ],
)
def test_a_stretch_that_makes_no_sense_is_refused(start: str, end: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        times.span(start, end, BERLIN)


def test_in_the_hour_that_is_shown_twice_the_second_is_later() -> None:
    first = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN)
    second = first.replace(fold=1)
    assert times.later(second, first)
    assert times.elapsed(first, second) == timedelta(hours=1)
    assert times.plus(first, timedelta(hours=1)).isoformat() == second.isoformat()
    assert times.to_google(first) == "2026-10-25T00:30:00Z"


def test_a_zone_is_one_that_there_is() -> None:
    assert times.zone_of(" Europe/Berlin ").key == "Europe/Berlin"
    for name in ("", "Berlin", "../etc/passwd", "Europe", "a\0b"):
        with pytest.raises(Refused, match="no time zone"):
            times.zone_of(name)


def test_half_an_hour_of_summer_time_is_half_an_hour() -> None:
    begins, ends = times.span("2026-04-05", "", LORD_HOWE)
    assert times.elapsed(begins, ends) == timedelta(hours=24, minutes=30)
    assert begins.astimezone(UTC) < ends.astimezone(UTC)
