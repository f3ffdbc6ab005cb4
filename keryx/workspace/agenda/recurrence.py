"""How often an event recurs: rules as RFC 5545 has them, made, checked, and moved along with their event. Pure."""

from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo

from keryx.errors import Refused
from keryx.workspace.agenda.times import as_moment, day_of, later, settled, to_google

Often = Literal["daily", "weekly", "monthly", "yearly"]
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_OF_THE_DAY = {"BYHOUR", "BYMINUTE", "BYSECOND"}


def rule(
    often: Often,
    *,
    every: int = 1,
    on: tuple[str, ...] = (),
    times: int | None = None,
    until: date | datetime | None = None,
    zone: ZoneInfo,
    start: date | datetime,
) -> str:
    """An RRULE line for an event that first begins at `start`.

    `every`: each so many days, weeks, … `on`: weekdays, of a weekly one. `times` or `until` ends it. `Refused` for what
    makes no sense.
    """
    if times is not None and until is not None:
        raise Refused("it ends either after so many times or on a day; leave one of them out")
    days = tuple(day.strip().upper()[:2] for day in on)
    if unknown := [day for day, short in zip(on, days, strict=True) if short not in WEEKDAYS]:
        raise Refused(f'"{unknown[0][:40]}" is no weekday; write them as "monday"')
    if days and often != "weekly":
        raise Refused("weekdays go with a weekly event only; leave them out")
    first = day_of(start.astimezone(zone) if isinstance(start, datetime) else start)
    if days and WEEKDAYS[first.weekday()] not in days:
        # Some programs would have it on that day too, others not.
        begin = next(day for day in _following(first) if WEEKDAYS[day.weekday()] in days)
        raise Refused(f"{first} is a {first:%A}, which is none of its weekdays; begin it on {begin}")
    if until is not None and later(as_moment(start, zone), _last_moment(until, zone)):
        raise Refused("it would end before it begins; give a later last day")
    parts = [f"FREQ={often.upper()}"]
    if every > 1:
        parts.append(f"INTERVAL={every}")
    if days:
        parts.append(f"BYDAY={','.join(sorted(set(days), key=WEEKDAYS.index))}")
    if times is not None:
        parts.append(f"COUNT={times}")
    if until is not None:
        # Of an all-day event a day, else a moment in UTC.
        timed = isinstance(start, datetime)
        parts.append(f"UNTIL={_stamp(_last_moment(until, zone)) if timed else f'{day_of(until):%Y%m%d}'}")
    return f"RRULE:{';'.join(parts)}"


def _following(day: date) -> list[date]:
    return [day + timedelta(days=ahead) for ahead in range(1, 7)]


def _last_moment(until: date | datetime, zone: ZoneInfo) -> datetime:
    """A day includes all of it."""
    return until if isinstance(until, datetime) else as_moment(until + timedelta(days=1), zone) - timedelta(seconds=1)


def _stamp(moment: datetime) -> str:
    return to_google(moment).replace("-", "").replace(":", "")


def moved(rules: tuple[str, ...], before: date | datetime, after: date | datetime) -> tuple[str, ...]:
    """The rules of a series whose first event moves from `before` to `after`; the days that they name move along.

    Both are days, or moments of one zone. `Refused` where the rules name what does not simply move.
    """
    if before == after:
        return rules
    if any(not each.startswith("RRULE:") for each in rules):
        raise Refused(
            "this series has dates of its own besides its rule, so it cannot be moved as a whole; move single ones",
            spoken="That series has special dates, so I can only move single ones.",
        )
    return tuple(_moved(each, before, after) for each in rules)


def _moved(line: str, before: date | datetime, after: date | datetime) -> str:
    parts = dict(part.split("=", 1) for part in line.removeprefix("RRULE:").split(";") if "=" in part)
    days = (day_of(after) - day_of(before)).days
    if any(name in _OF_THE_DAY or (days and name != "BYDAY") for name in parts if name.startswith("BY")):
        raise _tied()
    if days:
        if not _moves_evenly(parts, day_of(before), day_of(after)):
            raise _tied()
        if "BYDAY" in parts:
            parts["BYDAY"] = _moved_days(parts, days)
    if "UNTIL" in parts:
        try:
            parts["UNTIL"] = _moved_end(parts["UNTIL"], before, after)
        except (ValueError, OverflowError):
            raise _tied() from None
    return "RRULE:" + ";".join(f"{name}={value}" for name, value in parts.items())


def _moves_evenly(parts: dict[str, str], before: date, after: date) -> bool:
    """Whether each of its days moves as much as the first. Months differ in length, and so do years."""
    match parts.get("FREQ"):
        case "DAILY" | "WEEKLY":
            return True
        case "MONTHLY" if "BYDAY" not in parts:
            return before.replace(day=1) == after.replace(day=1) and max(before.day, after.day) <= 28
        case "YEARLY" if "BYDAY" not in parts:
            ends_of_february = {(2, 29), (3, 1)}
            first, last = sorted(((before.month, before.day), (after.month, after.day)))
            return before.year == after.year and not any(first < day <= last for day in ends_of_february)
        case _:
            return False


def _moved_days(parts: dict[str, str], days: int) -> str:
    named = parts["BYDAY"].split(",")
    week_start = parts.get("WKST", "MO")
    if not {*named, week_start} <= {*WEEKDAYS}:
        raise _tied()
    places = [WEEKDAYS.index(day) for day in named]
    into_week = {((place - WEEKDAYS.index(week_start)) % 7 + days) // 7 for place in places}
    if parts.get("INTERVAL", "1") != "1" and len(into_week) > 1:
        raise _tied()  # of every other week, some days would come into the weeks that are left out
    return ",".join(WEEKDAYS[place] for place in sorted((place + days) % 7 for place in places))


def _moved_end(until: str, before: date | datetime, after: date | datetime) -> str:
    """UNTIL: as much later as the event is, by the clock; else it would cut off the last one, or let in another."""
    form = "%Y%m%d" if len(until) == 8 else "%Y%m%dT%H%M%S"
    end = datetime.strptime(until.removesuffix("Z"), form)
    if not (isinstance(before, datetime) and isinstance(after, datetime)) or len(until) == 8:
        return f"{end + (day_of(after) - day_of(before)):{form}}{'Z' if until.endswith('Z') else ''}"
    by = after.replace(tzinfo=None) - before.replace(tzinfo=None)
    if not until.endswith("Z"):
        return f"{end + by:{form}}"
    own: tzinfo | None = before.tzinfo
    shown = end.replace(tzinfo=UTC).astimezone(own).replace(tzinfo=None) + by
    return _stamp(settled(shown.replace(tzinfo=own)))


def _tied() -> Refused:
    return Refused(
        "this series falls on days or hours that its rule names, so it stays on them; delete it and make a new one",
        spoken="That series is tied to its days. I'd have to make a new one.",
    )
