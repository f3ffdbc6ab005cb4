"""Times as a model writes them, and days as they are where the person lives. Pure.

A time without an offset is meant in a zone. Of one that the zone's clock shows twice, the first is meant; one that it
leaves out, when it is put forward, is as much later as it is put forward (RFC 5545, 3.3.5).
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from keryx.errors import Refused
from keryx.workspace.plain import one_line

LONGEST_SPAN = timedelta(days=5 * 366)
FIRST_YEAR, LAST_YEAR = 1900, 2200
"""Outside of them nothing is looked for: calendars and clocks end somewhere beyond."""
FORMS = 'as "2026-12-01" or "2026-12-01T15:00"'

_WRITTEN = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)"
    r"(?:[Tt ](?P<clock>\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)? ?(?P<offset>[Zz]|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)


def zone_of(name: str) -> ZoneInfo:
    """The IANA zone `name`; `Refused` when there is none."""
    try:
        return ZoneInfo(name.strip())
    except (KeyError, ValueError, OSError):
        raise Refused(f'"{one_line(name, 60)}" is no time zone; write one as "Europe/Berlin"') from None


def parsed(text: str, zone: ZoneInfo) -> date | datetime:
    """A day, or a moment in `zone` that exists, to the second; `Refused` for anything else."""
    said = text.strip()
    written = _WRITTEN.fullmatch(said)
    try:
        if written is None:
            raise ValueError
        day = date.fromisoformat(written["day"])
        if not FIRST_YEAR <= day.year <= LAST_YEAR:
            raise Refused(f'"{said}" is too far away; write it {FORMS}')
        if written["clock"] is None:
            return day
        if written["clock"] in ("24:00", "24:00:00"):
            day, clock = day + timedelta(days=1), time()  # how the end of a day is written, too
        else:
            clock = time.fromisoformat(written["clock"])
        offset = written["offset"]
        own = datetime.fromisoformat(f"{day}T00:00{offset.upper()}").tzinfo if offset else zone
        return settled(datetime.combine(day, clock, own)).astimezone(zone)
    except ValueError:
        raise Refused(f'"{one_line(said, 60)}" is neither a day nor a time; write it {FORMS}') from None


def settled(moment: datetime) -> datetime:
    """The same moment with a clock time that its zone really shows."""
    return moment.astimezone(UTC).astimezone(moment.tzinfo)


def day_start(day: date, zone: ZoneInfo) -> datetime:
    """When `day` begins there; that need not be at midnight."""
    return settled(datetime.combine(day, time(), zone))


def day_of(value: date | datetime) -> date:
    """The day that a moment falls on by its own zone's clock."""
    return value.date() if isinstance(value, datetime) else value


def as_moment(value: date | datetime, zone: ZoneInfo) -> datetime:
    """A moment as it is, a day's beginning."""
    return value if isinstance(value, datetime) else day_start(value, zone)


def span(start: str, end: str, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """From when to when something is looked for: an end that is a day is that whole day; without one, a day is meant.

    `Refused` when it ends before it begins, or is longer than five years.
    """
    first = parsed(start, zone)
    last = parsed(end, zone) if end.strip() else day_of(first)
    begins = as_moment(first, zone)
    ends = last if isinstance(last, datetime) else day_start(last + timedelta(days=1), zone)
    if not later(ends, begins):
        raise Refused(f"the end, {end or last}, is not after the start, {start}; turn them round")
    if elapsed(begins, ends) > LONGEST_SPAN:
        raise Refused("that is more than five years; ask for less at once")
    return begins, ends


def elapsed(start: datetime, end: datetime) -> timedelta:
    """How much time really passes: moments of one zone are otherwise subtracted by what its clock shows."""
    return end.astimezone(UTC) - start.astimezone(UTC)


def later(one: datetime, other: datetime) -> bool:
    """Whether `one` comes after `other`, in the hour that a clock shows twice too."""
    return one.astimezone(UTC) > other.astimezone(UTC)


def plus(moment: datetime, length: timedelta) -> datetime:
    """The moment that much real time later, in its own zone."""
    return (moment.astimezone(UTC) + length).astimezone(moment.tzinfo)


def to_google(moment: datetime) -> str:
    """RFC 3339 in UTC, as parameters of queries have it."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
