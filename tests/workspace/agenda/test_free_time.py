"""Free time is what is left of somebody's hours, on the days that the clocks change too."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.workspace.agenda.free_time import Hours, Span, free_slots, usual_hours
from keryx.workspace.agenda.times import day_start, elapsed

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


def test_where_a_quarter_of_an_hour_is_too_late_free_time_begins_when_it_does() -> None:
    busy = [(at("2026-12-01T09:00"), at("2026-12-01T10:50")), (at("2026-12-01T11:20"), at("2026-12-01T18:00"))]
    assert free(day("2026-12-01"), busy, 30, Hours()) == ["Tue 10:50-11:20"]
    assert free(day("2026-12-01"), busy, 31, Hours()) == []
    # Nobody meets at so many seconds past.
    now = at("2026-12-01T12:00") + timedelta(seconds=17, microseconds=5)
    assert free((now, at("2026-12-01T12:31")), []) == ["Tue 12:01-12:31"]
    assert free((now, at("2026-12-01T12:30")), []) == []


def test_an_all_day_event_leaves_no_time() -> None:
    assert free(day("2026-12-01"), [day("2026-12-01")], hours=Hours()) == []


def test_hours_to_midnight_end_with_the_day() -> None:
    assert free(day("2026-12-01"), [], hours=Hours(time(20), time())) == ["Tue 20:00-00:00"]


def test_hours_over_midnight_are_those_of_the_night() -> None:
    night = Hours(time(22), time(6))
    assert free(day("2026-12-01"), [], hours=night) == ["Tue 00:00-06:00", "Tue 22:00-00:00"]
    window = (at("2026-12-01T12:00"), at("2026-12-03T12:00"))
    busy = [(at("2026-12-01T23:30"), at("2026-12-02T00:30"))]
    assert free(window, busy, 60, night) == ["Tue 22:00-23:30", "Wed 00:30-06:00", "Wed 22:00-06:00"]
    # The night of a Friday ends on the Saturday; that of a Sunday is one of the weekend's.
    assert free((at("2026-12-04T12:00"), at("2026-12-07T12:00")), [], 60, night) == ["Fri 22:00-06:00"]


def test_time_over_midnight_is_found_where_whole_days_count() -> None:
    busy = [
        (at("2026-12-01T00:00"), at("2026-12-01T23:00")),
        (at("2026-12-02T01:00"), at("2026-12-03T00:00")),
    ]
    whole = Hours(time(), time(), weekends=True)
    assert free((at("2026-12-01"), at("2026-12-03")), busy, 120, whole) == ["Tue 23:00-01:00"]


def test_when_nobody_says_which_hours_a_weekend_is_looked_at_as_one() -> None:
    def usual(start: str, end: str) -> Hours | None:
        return usual_hours((at(start), at(end)), BERLIN)

    assert usual("2026-12-01T18:00", "2026-12-02T06:00") is None
    assert usual("2026-12-01", "2026-12-02") == Hours()
    assert usual("2026-12-04", "2026-12-06") == Hours()  # from Friday on
    assert usual("2026-12-05", "2026-12-06") == usual("2026-12-05", "2026-12-07") == Hours(weekends=True)
    assert usual("2026-12-06", "2026-12-07") == Hours(weekends=True)
    assert usual("2026-12-06", "2026-12-08") == Hours()
    assert usual("2026-10-25", "2026-10-26") == Hours(weekends=True)  # of 25 hours
    assert usual("2026-10-24T18:00", "2026-10-25T06:00") == Hours(weekends=True)  # of 13 hours, by the clock twelve


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


ZONES = [BERLIN, ZoneInfo("America/New_York"), ZoneInfo("Australia/Lord_Howe")]
CHANGES = [
    datetime(2026, month, day, tzinfo=UTC) for month, day in ((3, 7), (3, 28), (4, 3), (10, 2), (10, 24), (10, 31))
]
clocks = st.integers(0, 95).map(lambda quarter: time(quarter // 4, quarter % 4 * 15))
minutes_of_days = st.lists(st.tuples(st.integers(-300, 3 * 1440), st.integers(0, 700)), max_size=8)


@given(
    st.sampled_from(ZONES),
    st.sampled_from(CHANGES),
    clocks,
    clocks,
    st.booleans(),
    minutes_of_days,
    st.integers(0, 200),
    st.integers(60, 3 * 1440),
    st.integers(5, 300),
)
@settings(max_examples=150, deadline=None)
def test_around_each_clock_change_what_is_free_is_long_enough_inside_the_hours_and_all_there_is(
    zone: ZoneInfo,
    base: datetime,
    opens: time,
    closes: time,
    weekends: bool,
    taken: list[tuple[int, int]],
    from_minute: int,
    window_minutes: int,
    minutes: int,
) -> None:
    minute = timedelta(minutes=1)
    window = (base + from_minute * minute, base + (from_minute + window_minutes) * minute)
    busy = [(base + start * minute, base + (start + length) * minute) for start, length in taken]
    hours = Hours(opens, closes, weekends)
    slots = free_slots(window, busy, length=minutes * minute, zone=zone, hours=hours)
    # Worked out anew, minute by minute.
    stretches = []
    day = window[0].astimezone(zone).date() - timedelta(days=2)
    for number in range(8):
        on = day + timedelta(days=number)
        if weekends or on.weekday() < 5:
            until = on if closes > opens else on + timedelta(days=1)
            first, last = (
                datetime.combine(of, clock, zone).astimezone(UTC) for of, clock in ((on, opens), (until, closes))
            )
            stretches.append((first, last))
    is_free = [
        any(first <= moment < last for first, last in stretches)
        and not any(start <= moment < end for start, end in busy)
        for moment in (window[0] + number * minute for number in range(window_minutes))
    ]
    runs, since = [], None
    for number, free_then in enumerate([*is_free, False]):
        if free_then and since is None:
            since = number
        elif not free_then and since is not None:
            if number - since >= minutes:
                runs.append((window[0] + since * minute, window[0] + number * minute))
            since = None
    found = [(slot.start.astimezone(UTC), slot.end.astimezone(UTC)) for slot in slots]
    assert [end for _, end in found] == [end for _, end in runs]
    for (start, end), (earliest, _) in zip(found, runs, strict=True):
        assert end - start >= minutes * minute
        assert earliest <= start < earliest + 15 * minute
        assert start == earliest or start.astimezone(zone).minute % 15 == 0
