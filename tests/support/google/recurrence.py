"""When a recurring event takes place: RRULE, RDATE and EXDATE (RFC 5545), in the event's own zone."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from dateutil.rrule import rruleset, rrulestr

When: TypeAlias = date | datetime
"""A whole day, or a moment in its event's zone."""

_LINE = re.compile(r"(RRULE|RDATE|EXDATE|EXRULE)((?:;[^:]*)?):(.+)", re.IGNORECASE)
_UNTIL = re.compile(r"UNTIL=(\d{8}(?:T\d{6}Z?)?)", re.IGNORECASE)


def when(given: Mapping[str, Any], zone: str) -> When:
    """An EventDateTime as a value; a moment without an offset is in its own zone, else in `zone`. `ValueError`."""
    if given.get("date"):
        return date.fromisoformat(given["date"])
    own = zone_of(given.get("timeZone") or zone)
    moment = datetime.fromisoformat(given["dateTime"].upper())
    return moment.replace(tzinfo=own) if moment.tzinfo is None else moment.astimezone(own)


def zone_of(name: str) -> ZoneInfo:
    """`ValueError` for a zone that there is not."""
    try:
        return ZoneInfo(name)
    except (KeyError, OSError):
        raise ValueError(f"no zone {name}") from None


def moment_of(value: When, zone: str) -> datetime:
    """A whole day begins at midnight in `zone`."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return datetime.combine(value, time(), zone_of(zone)).astimezone(UTC)


def starts(first: When, lines: list[str]) -> Iterator[When]:
    """Each start, in order; endless where the rule is. `ValueError` for a line that says nothing."""
    own = first.tzinfo if isinstance(first, datetime) else None
    rules = rruleset()
    naive = first.replace(tzinfo=None) if isinstance(first, datetime) else datetime.combine(first, time())
    # Wall clock time, so that an event at nine is at nine in summer and in winter.
    repeats = False
    for line in lines:
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"no rule: {line}")
        kind, parameters, value = match[1].upper(), match[2], match[3]
        if kind in ("RRULE", "EXRULE"):
            value = _UNTIL.sub(lambda until: f"UNTIL={_wall(until[1], own, first):%Y%m%dT%H%M%S}", value)
            rule: Any = rrulestr(value, dtstart=naive)
            (rules.rrule if kind == "RRULE" else rules.exrule)(rule)
            repeats = repeats or kind == "RRULE"
            continue
        zone = re.search(r"TZID=([^;:]+)", parameters, re.IGNORECASE)
        for text in value.split(","):
            there = _wall(text, own, first, zone[1] if zone else None)
            (rules.rdate if kind == "RDATE" else rules.exdate)(there)
    if not repeats:
        rules.rdate(naive)
    before: When | None = None
    for naive_start in rules:
        # By way of UTC: half past two, in the night that has none, is half past three.
        start = naive_start.replace(tzinfo=own).astimezone(UTC).astimezone(own) if own else naive_start.date()
        if start != before:
            yield start
        before = start


def stamp(value: When) -> str:
    """As it stands in an instance's id."""
    return f"{value.astimezone(UTC):%Y%m%dT%H%M%SZ}" if isinstance(value, datetime) else f"{value:%Y%m%d}"


def end_of(start: When, first: When, last: When) -> When:
    """When an occurrence that begins at `start` ends, as the first ends at `last`: it takes exactly as long."""
    if isinstance(start, datetime) and isinstance(first, datetime) and isinstance(last, datetime):
        took = last.astimezone(UTC) - first.astimezone(UTC)
        return (start.astimezone(UTC) + took).astimezone(start.tzinfo)
    return start + (last - first)  # type: ignore[operator]  # both are days


def _wall(text: str, own: Any, first: When, zone: str | None = None) -> datetime:
    """A time in a rule, on the clock of the event's own zone."""
    if len(text) == 8:
        day = datetime.strptime(text, "%Y%m%d")
        # A day ends a rule of times only when it is over.
        return day.replace(hour=23, minute=59, second=59) if isinstance(first, datetime) and zone is None else day
    moment = datetime.strptime(text.removesuffix("Z"), "%Y%m%dT%H%M%S")
    if own is None:
        return moment.replace(hour=0, minute=0, second=0)
    if text.endswith("Z"):
        return moment.replace(tzinfo=UTC).astimezone(own).replace(tzinfo=None)
    if zone:
        return moment.replace(tzinfo=zone_of(zone)).astimezone(own).replace(tzinfo=None)
    return moment
