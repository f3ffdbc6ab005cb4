"""Free time is what is left of somebody's hours, on the days that the clocks change too."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.workspace.free_time import Hours, Span, free_slots
from keryx.workspace.times import day_start, elapsed

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = timedelta(hours=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


def day(text: str) -> Span:
    start = at(text)
    return start, day_start(start.date() + timedelta(days=1), BERLIN)


def said(slots: list) -> list[str]:
    return [f"{slot.start:%a %H:%M}-{slot.end:%H:%M}" for slot in slots]


def free(window: Span, busy: list[Span], minutes: int = 30, hours: Hours | None = None) -> list[str]:
    return said(free_slots(window, busy, length=timedelta(minutes=minutes), zone=BERLIN, hours=hours))


def test_what_is_left_between_two_meetings_is_free() -> None:
    busy = [(at("2026-12-01T10:00"), at("2026-12-01T11:00")), (at("2026-12-01T13:30"), at("2026-12-01T17:45"))]
    assert free(day("2026-12-01"), busy, hours=Hours()) == ["Tue 09:00-10:00", "Tue 11:00-13:30"]
    assert free(day("2026-12-01"), busy, 120, Hours()) == ["Tue 11:00-13:30"]


def test_meetings_that_overlap_or_meet_leave_nothing_between_them() -> None:
    busy = [
        (at("2026-12-01T12:00"), at("2026-12-01T15:00")),
        (at("2026-12-01T09:00"), at("2026-12-01T12:00")),
        (at("2026-12-01T14:00"), at("2026-12-01T18:00")),
    ]
    assert free(day("2026-12-01"), busy, hours=Hours()) == []


def test_the_weekend_counts_only_when_it_is_wanted() -> None:
    week = (at("2026-12-04"), at("2026-12-08"))
    assert [each[:3] for each in free(week, [], hours=Hours())] == ["Fri", "Mon"]
    assert [each[:3] for each in free(week, [], hours=Hours(weekends=True))] == ["Fri", "Sat", "Sun", "Mon"]


def test_free_time_begins_at_a_quarter_of_an_hour() -> None:
    busy = [(at("2026-12-01T09:00"), at("2026-12-01T09:50"))]
    assert free(day("2026-12-01"), busy, hours=Hours()) == ["Tue 10:00-18:00"]
    assert free((at("2026-12-01T16:58"), at("2026-12-02")), [], 60, Hours()) == ["Tue 17:00-18:00"]


def test_an_all_day_event_leaves_no_time() -> None:
    assert free(day("2026-12-01"), [day("2026-12-01")], hours=Hours()) == []


def test_hours_to_midnight_end_with_the_day() -> None:
    assert free(day("2026-12-01"), [], hours=Hours(time(20), time())) == ["Tue 20:00-00:00"]


def test_without_hours_all_of_the_window_counts() -> None:
    assert free((at("2026-12-05T20:00"), at("2026-12-05T23:00")), []) == ["Sat 20:00-23:00"]


def test_a_night_in_which_the_clocks_change_is_as_long_as_it_is() -> None:
    night = Hours(time(0), time(4), weekends=True)
    short = free_slots(day("2026-03-29"), [], length=HOUR, zone=BERLIN, hours=night)
    long = free_slots(day("2026-10-25"), [], length=HOUR, zone=BERLIN, hours=night)
    assert [elapsed(slot.start, slot.end) for slot in (*short, *long)] == [3 * HOUR, 5 * HOUR]


BASE = datetime(2026, 10, 24, tzinfo=UTC)
spans = st.tuples(st.integers(0, 4 * 96), st.integers(1, 60)).map(
    lambda pair: (BASE + timedelta(minutes=15 * pair[0]), BASE + timedelta(minutes=15 * (pair[0] + pair[1])))
)


@given(st.lists(spans, max_size=12), st.sampled_from([15, 30, 90]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_nothing_busy_is_called_free_and_nothing_free_is_missed(busy: list[Span], minutes: int, whole: bool) -> None:
    window = (BASE, BASE + timedelta(days=4))
    hours = None if whole else Hours(weekends=True)
    length = timedelta(minutes=minutes)
    slots = free_slots(window, busy, length=length, zone=BERLIN, hours=hours)
    # Every quarter of an hour of the window: in a slot, or busy, or outside the hours, or in a gap too short.
    quarters = [window[0] + timedelta(minutes=15 * number) for number in range(4 * 96)]
    inside = [
        not any(start <= quarter < end for start, end in busy) and (whole or 9 <= quarter.astimezone(BERLIN).hour < 18)
        for quarter in quarters
    ]
    expected, run = [], 0
    for number, is_free in enumerate([*inside, False]):
        if is_free:
            run += 1
        else:
            if timedelta(minutes=15 * run) >= length and run:
                expected.append((quarters[number - run], window[0] + timedelta(minutes=15 * number)))
            run = 0
    assert [(slot.start.astimezone(UTC), slot.end.astimezone(UTC)) for slot in slots] == expected
