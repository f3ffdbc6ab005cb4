"""How often an event recurs: rules that make sense, and that mean the same days after their event was moved."""

import itertools
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from keryx.errors import Refused
from keryx.workspace.agenda.recurrence import WEEKDAYS, moved, rule
from tests.support.google.recurrence import starts

BERLIN = ZoneInfo("Europe/Berlin")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=BERLIN)


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


# -- made --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        ({"often": "daily"}, "FREQ=DAILY"),
        ({"often": "weekly", "every": 2, "on": ("friday", "Monday")}, "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR"),
        ({"often": "monthly", "times": 4}, "FREQ=MONTHLY;COUNT=4"),
        # The last day is part of it, by the clock of the event's zone, in winter and in summer.
        ({"often": "daily", "until": date(2026, 12, 24)}, "FREQ=DAILY;UNTIL=20261224T225959Z"),
        ({"often": "daily", "until": date(2026, 7, 24)}, "FREQ=DAILY;UNTIL=20260724T215959Z"),
        ({"often": "daily", "until": at("2026-07-24T12:00")}, "FREQ=DAILY;UNTIL=20260724T100000Z"),
        # The day on which the clocks go forward ends as any other.
        ({"often": "daily", "until": date(2026, 3, 29)}, "FREQ=DAILY;UNTIL=20260329T215959Z"),
        ({"often": "yearly", "until": date(2030, 1, 1), "start": date(2026, 1, 1)}, "FREQ=YEARLY;UNTIL=20300101"),
    ],
)
def test_a_rule_is_written_as_the_standard_has_it(wanted: dict[str, Any], line: str) -> None:
    assert rule(**{"zone": BERLIN, "start": MONDAY, **wanted}) == f"RRULE:{line}"


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"often": "daily", "times": 3, "until": date(2026, 12, 24)}, "leave one of them out"),
        ({"often": "weekly", "on": ("someday",)}, "no weekday"),
        ({"often": "daily", "on": ("monday",)}, "weekly event only"),
        ({"often": "daily", "until": date(2026, 3, 1)}, "before it begins"),
        ({"often": "daily", "until": date(2026, 3, 1), "start": date(2026, 3, 2)}, "before it begins"),
        # The first one would be on a Monday to some programs, and on the Tuesday after to others.
        ({"often": "weekly", "on": ("tuesday", "sunday")}, "2026-03-02 is a Monday.*begin it on 2026-03-03"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_with_what_would(wanted: dict[str, Any], why: str) -> None:
    with pytest.raises(Refused, match=why):
        rule(**{"zone": BERLIN, "start": MONDAY, **wanted})


def test_the_weekday_of_a_start_is_that_of_its_zone() -> None:
    late = at("2026-03-02T20:00", ZoneInfo("America/New_York"))  # Tuesday in Berlin
    assert rule("weekly", on=("tuesday",), zone=BERLIN, start=late) == "RRULE:FREQ=WEEKLY;BYDAY=TU"


# -- moved -------------------------------------------------------------------------------------------------------------


def test_a_rule_that_names_days_may_change_its_hour() -> None:
    for line in ("RRULE:FREQ=MONTHLY;BYDAY=1MO", "RRULE:FREQ=MONTHLY;BYMONTHDAY=2", "RRULE:FREQ=YEARLY;BYMONTH=3"):
        assert moved((line,), MONDAY, MONDAY + timedelta(hours=2)) == (line,)


def test_the_last_one_of_a_series_that_moves_is_not_lost() -> None:
    # To the very beginning of the last one, as some programs write it.
    line = "RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20260330T070000Z"
    assert moved((line,), MONDAY, MONDAY + timedelta(hours=1)) == (line.replace("T07", "T08"),)
    assert moved((line,), MONDAY, MONDAY + timedelta(days=1)) == ("RRULE:FREQ=WEEKLY;BYDAY=TU;UNTIL=20260331T070000Z",)
    # Over the night in which the clocks change: still at ten by the clock.
    winter = "RRULE:FREQ=DAILY;UNTIL=20260328T080000Z"
    assert moved((winter,), MONDAY, MONDAY + timedelta(days=1)) == ("RRULE:FREQ=DAILY;UNTIL=20260329T070000Z",)
    whole = "RRULE:FREQ=DAILY;UNTIL=20260328"
    assert moved((whole,), date(2026, 3, 2), date(2026, 3, 1)) == ("RRULE:FREQ=DAILY;UNTIL=20260327",)


@pytest.mark.parametrize(
    ("line", "start", "days"),
    [
        # A Friday would become a Monday of the other week.
        ("RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR", "2026-03-02", 3),
        ("RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU", "2026-03-01", -1),
        # Months differ in length: the 30th is not two days after each 28th.
        ("RRULE:FREQ=MONTHLY", "2026-01-28", 2),
        ("RRULE:FREQ=MONTHLY", "2026-01-28", 5),
        ("RRULE:FREQ=MONTHLY", "2026-01-01", -1),
        ("RRULE:FREQ=MONTHLY;BYDAY=MO", "2026-03-02", 1),
        ("RRULE:FREQ=YEARLY", "2028-02-28", 1),
    ],
)
def test_a_series_whose_days_would_not_all_move_along_is_refused(line: str, start: str, days: int) -> None:
    first = date.fromisoformat(start)
    with pytest.raises(Refused, match="make a new one"):
        moved((line,), first, first + timedelta(days=days))


def test_days_of_every_other_week_move_when_they_stay_together() -> None:
    line = "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE"
    assert moved((line,), MONDAY, MONDAY + timedelta(days=1)) == ("RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH",)
    assert moved((line,), MONDAY, MONDAY + timedelta(days=7)) == (line,)


def lines(first: date) -> st.SearchStrategy[str]:
    """Rules that `first` is a day of, with an end or without."""
    others = st.lists(st.sampled_from(WEEKDAYS), max_size=3)
    named = others.map(lambda days: ",".join(sorted({*days, WEEKDAYS[first.weekday()]}, key=WEEKDAYS.index)))
    weekly = named.map(lambda days: f"FREQ=WEEKLY;BYDAY={days}")
    often = st.one_of(weekly, st.sampled_from(["FREQ=DAILY", "FREQ=WEEKLY", "FREQ=MONTHLY", "FREQ=YEARLY"]))
    every = st.sampled_from(["", ";INTERVAL=2", ";INTERVAL=3"])
    ends = st.one_of(
        st.just(""),
        st.integers(1, 9).map(lambda count: f";COUNT={count}"),
        st.integers(0, 200).map(lambda ahead: f";UNTIL={first + timedelta(days=ahead):%Y%m%d}T120000Z"),
    )
    return st.builds(lambda *parts: "RRULE:" + "".join(parts), often, every, ends)


@given(
    st.data(), st.dates(date(2026, 1, 1), date(2027, 12, 31)), st.integers(-9, 9), st.sampled_from([BERLIN, LORD_HOWE])
)
@settings(max_examples=200, deadline=None)
def test_a_series_that_moves_has_each_of_its_times_moved_by_the_clock(
    data: st.DataObject, first: date, days: int, zone: ZoneInfo
) -> None:
    line = data.draw(lines(first))
    start = datetime.combine(first, time(9), zone)
    by = timedelta(days=days, hours=data.draw(st.integers(-1, 8)))
    to = (start.replace(tzinfo=None) + by).replace(tzinfo=zone)
    before = list(itertools.islice(starts(start, [line]), 12))
    assume(before)
    try:
        [there] = moved((line,), start, to)
    except Refused:
        assert days
        return
    expected = [each.replace(tzinfo=None) + by for each in before if isinstance(each, datetime)]
    found = list(itertools.islice(starts(to, [there]), 12))
    assert [each.replace(tzinfo=None) for each in found if isinstance(each, datetime)] == expected
