"""How often an event recurs: rules as RFC 5545 has them, made, checked, and moved along with their event. Pure."""

from datetime import date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from keryx.errors import Refused
from keryx.workspace.times import as_moment, to_google

Often = Literal["daily", "weekly", "monthly", "yearly"]
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def rule(
    often: Often,
    *,
    every: int = 1,
    on: tuple[str, ...] = (),
    times: int | None = None,
    until: date | datetime | None = None,
    zone: ZoneInfo,
    all_day: bool,
) -> str:
    """An RRULE line. `every`: each so many days, weeks, … `on`: weekdays, of a weekly one. `times` or `until` ends it.

    `Refused` for what makes no sense.
    """
    if times is not None and until is not None:
        raise Refused("it ends either after so many times or on a day; leave one of them out")
    days = tuple(day.strip().upper()[:2] for day in on)
    if unknown := [day for day, short in zip(on, days, strict=True) if short not in WEEKDAYS]:
        raise Refused(f'"{unknown[0][:40]}" is no weekday; write them as "monday"')
    if days and often != "weekly":
        raise Refused("weekdays go with a weekly event only; leave them out")
    parts = [f"FREQ={often.upper()}"]
    if every > 1:
        parts.append(f"INTERVAL={every}")
    if days:
        parts.append(f"BYDAY={','.join(sorted(set(days), key=WEEKDAYS.index))}")
    if times is not None:
        parts.append(f"COUNT={times}")
    if until is not None:
        parts.append(f"UNTIL={_until(until, zone, all_day)}")
    return f"RRULE:{';'.join(parts)}"


def _until(until: date | datetime, zone: ZoneInfo, all_day: bool) -> str:
    """Of an all-day event a day, else a moment in UTC; a day includes all of it."""
    if all_day:
        day = until.date() if isinstance(until, datetime) else until
        return f"{day:%Y%m%d}"
    last = until if isinstance(until, datetime) else as_moment(until + timedelta(days=1), zone) - timedelta(seconds=1)
    return to_google(last).replace("-", "").replace(":", "")


def moved(rules: tuple[str, ...], days: int) -> tuple[str, ...]:
    """The rules of a series whose event moves by so many days; `Refused` when they name days that do not just move."""
    if any(not each.startswith("RRULE:") for each in rules):
        raise Refused(
            "this series has dates of its own besides its rule, so it cannot be moved as a whole; move single ones",
            spoken="That series has special dates, so I can only move single ones.",
        )
    return tuple(_moved(each, days) for each in rules) if days else rules


def _moved(line: str, days: int) -> str:
    parts = dict(part.split("=", 1) for part in line.removeprefix("RRULE:").split(";") if "=" in part)
    named = parts.get("BYDAY", "")
    others = [name for name in parts if name.startswith("BY") and name != "BYDAY"]
    if others or not all(day in WEEKDAYS for day in named.split(",") if day):
        raise Refused(
            "this series falls on days that its rule names, so it stays on them; delete it and make a new one",
            spoken="That series is tied to its days. I'd have to make a new one.",
        )
    if named:
        shifted = {WEEKDAYS[(WEEKDAYS.index(day) + days) % 7] for day in named.split(",")}
        parts["BYDAY"] = ",".join(sorted(shifted, key=WEEKDAYS.index))
    return "RRULE:" + ";".join(f"{name}={value}" for name, value in parts.items())
