"""What the owner allows: how many tasks at once, and how many a day. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from keryx.errors import BudgetSpent


@dataclass(frozen=True)
class Limits:
    """The owner's limits. `daily_cap` None: as many as wanted. `timezone`: an IANA name, where the owner's days are."""

    max_concurrent: int
    daily_cap: int | None
    timezone: str


@dataclass(frozen=True)
class LocalDay:
    """One calendar day where the owner lives, as two moments in UTC: from `start` up to, not including, `end`."""

    start: datetime
    end: datetime


def local_day(now: datetime, timezone: str) -> LocalDay:
    """The owner's day that `now` lies in; 23 or 25 hours long when the clocks change."""
    zone = ZoneInfo(timezone)
    date = now.astimezone(zone).date()
    start, end = (datetime.combine(day, time.min, zone).astimezone(UTC) for day in (date, date + timedelta(days=1)))
    return LocalDay(start, end)


def check_daily_cap(dispatched_today: int, limits: Limits) -> None:
    """Raise `BudgetSpent`, saying when it frees, if the owner's day has no task left."""
    cap = limits.daily_cap
    if cap is not None and dispatched_today >= cap:
        tasks = "task" if cap == 1 else "tasks"
        raise BudgetSpent(
            f"the daily limit of {cap} {tasks} is used up; it frees at midnight ({limits.timezone})",
            spoken=f"Today's limit of {cap} {tasks} is used up. It frees at midnight.",
        )
