"""The owner's day, wherever the owner lives."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.errors import BudgetSpent
from keryx.tasks.limits import Limits, check_daily_cap, local_day

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/Los_Angeles",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Africa/Cairo",
    "America/Havana",
)


@given(st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)), st.sampled_from(ZONES))
def test_every_moment_lies_in_one_day_and_the_next_day_follows_at_once(now: datetime, zone: str) -> None:
    day = local_day(now, zone)
    assert day.start <= now < day.end
    assert local_day(day.end, zone).start == day.end
    assert timedelta(hours=23) <= day.end - day.start <= timedelta(hours=25)


@pytest.mark.parametrize(("date", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-07-01", 24)])
def test_a_day_is_as_long_as_the_clocks_say(date: str, hours: int) -> None:
    noon = datetime.fromisoformat(f"{date}T12:00").replace(tzinfo=ZoneInfo("Europe/Berlin"))
    day = local_day(noon.astimezone(UTC), "Europe/Berlin")
    assert day.end - day.start == timedelta(hours=hours)


def test_late_in_the_afternoon_in_california_it_is_still_today() -> None:
    half_past_five = datetime(2026, 3, 2, 17, 30, tzinfo=ZoneInfo("America/Los_Angeles"))
    assert local_day(half_past_five.astimezone(UTC), "America/Los_Angeles").start == datetime(2026, 3, 2, 8, tzinfo=UTC)


@given(st.integers(0, 50), st.none() | st.integers(1, 50))
def test_the_cap_refuses_exactly_what_is_beyond_it(today: int, cap: int | None) -> None:
    limits = Limits(1, cap, "UTC")
    if cap is None or today < cap:
        check_daily_cap(today, limits)
    else:
        with pytest.raises(BudgetSpent, match="frees at midnight"):
            check_daily_cap(today, limits)


def test_a_cap_of_one_is_said_in_the_singular() -> None:
    with pytest.raises(BudgetSpent) as error:
        check_daily_cap(1, Limits(1, 1, "Europe/Berlin"))
    assert str(error.value) == "the daily limit of 1 task is used up; it frees at midnight (Europe/Berlin)"
    assert error.value.spoken == "Today's limit of 1 task is used up. It frees at midnight."
