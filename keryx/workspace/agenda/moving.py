"""Events at another time: one by itself, or a whole series with its rule. Pure."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from keryx.errors import Refused
from keryx.workspace.agenda import recurrence
from keryx.workspace.agenda.times import day_of, elapsed, later, plus, settled
from keryx.workspace.models import Event, When

USUAL_LENGTH = timedelta(hours=1)
"""How long what lasted all day is, once it begins at a time."""


def in_order(when: When) -> When:
    """The same; `Refused` when it ends before it begins, or is no day long."""
    if isinstance(when.start, datetime) and isinstance(when.end, datetime):
        wrong = later(when.start, when.end)
    else:
        wrong = when.end <= when.start
    if wrong:
        raise Refused("an event cannot end before it begins; give a later end")
    return when


def moved(when: When, start: date | datetime, end: date | datetime | None, zone: str | None) -> When:
    """`when` moved to `start`, as long as it is unless `end` (of days, the last) is given, in its zone unless one is.

    A day alone moves an event that has an hour to the same hour of that day; with an end, it lasts all day.
    `Refused` for an end that does not go with the start.
    """
    if not isinstance(start, datetime) and end is None and isinstance(when.start, datetime):
        start = settled(datetime.combine(start, when.start.time(), when.start.tzinfo))
    if not isinstance(start, datetime):
        if end is None:
            days = (day_of(when.end) - day_of(when.start)).days if when.all_day else 1
            return When(start, start + timedelta(days=max(1, days)))
        return in_order(When(start, day_of(end) + timedelta(days=1)))
    key = zone or when.zone or getattr(start.tzinfo, "key", None)
    begins = start.astimezone(ZoneInfo(key)) if key else start
    if end is None:
        return When(begins, plus(begins, length(when)), key)
    if not isinstance(end, datetime):
        raise Refused("the start is a time and the end a day; give both as times or both as days")
    return in_order(When(begins, end.astimezone(begins.tzinfo), key))


def moved_series(
    series: Event,
    planned: When,
    start: date | datetime,
    end: date | datetime | None,
    zone: str | None,
) -> tuple[When, tuple[str, ...]]:
    """A series moved by as much as one of its occurrences, and its rule: when its first one is then.

    `planned` is when the rule has that occurrence. Each stays as long as the series has it, unless there is an `end`.
    `Refused` where that makes no sense.
    """
    all_day = not isinstance(start, datetime) and (series.when.all_day or end is not None)
    if all_day is not series.when.all_day:
        raise Refused(
            "a series cannot be turned from all-day to timed or back; move single ones, or delete it and make a new one"
        )
    if zone and isinstance(start, datetime) and zone != series.when.zone:
        raise Refused("a series keeps its own time zone; move single ones, or delete it and make a new one")
    target = moved(series.when, start, end, None)
    first = _shifted(series.when.start, planned.start, target.start)
    rules = recurrence.moved(series.rules, series.when.start, first)
    if isinstance(first, datetime):
        return When(first, plus(first, length(target)), series.when.zone), rules
    return When(first, first + (day_of(target.end) - day_of(target.start))), rules


def _shifted(first: date | datetime, planned: date | datetime, target: date | datetime) -> date | datetime:
    if not (isinstance(first, datetime) and isinstance(planned, datetime) and isinstance(target, datetime)):
        return day_of(first) + (day_of(target) - day_of(planned))
    # By the clock, not by what really passes: a series at nine that moves to ten is at ten in summer, too.
    own = first.tzinfo
    by = target.astimezone(own).replace(tzinfo=None) - planned.astimezone(own).replace(tzinfo=None)
    return settled((first.replace(tzinfo=None) + by).replace(tzinfo=own))


def length(when: When) -> timedelta:
    """How long it really lasts; what lasts all day, an hour once it has a time."""
    if isinstance(when.start, datetime) and isinstance(when.end, datetime):
        return elapsed(when.start, when.end)
    return USUAL_LENGTH
