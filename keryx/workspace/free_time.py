"""When somebody has time: what is left of their hours between what keeps them busy. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from keryx.workspace.models import Slot
from keryx.workspace.times import day_start, elapsed, later, settled

STEP = timedelta(minutes=15)
"""Free time begins at a quarter of an hour."""
Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class Hours:
    """The hours of a day that count, by the person's clock, and whether those of Saturday and Sunday do."""

    start: time = time(9)
    end: time = time(18)
    """Midnight: to the end of the day."""
    weekends: bool = False


def free_slots(
    window: Span, busy: Iterable[Span], *, length: timedelta, zone: ZoneInfo, hours: Hours | None = None
) -> list[Slot]:
    """The stretches of at least `length` inside `window` and `hours` that nothing of `busy` touches, in order.

    `hours` None: all of the window counts.
    """
    taken = _merged(busy)
    slots: list[Slot] = []
    for start, end in _stretches(window, zone, hours):
        for begins, ends in _gaps(start, end, taken):
            begins = _rounded(begins, zone)
            if elapsed(begins, ends) >= length:
                slots.append(Slot(begins.astimezone(zone), ends.astimezone(zone)))
    return slots


def _stretches(window: Span, zone: ZoneInfo, hours: Hours | None) -> Iterator[Span]:
    start, end = (moment.astimezone(UTC) for moment in window)
    if hours is None:
        yield start, end
        return
    day = window[0].astimezone(zone).date()
    last = window[1].astimezone(zone).date()
    while day <= last:
        if hours.weekends or day.weekday() < 5:
            opens = settled(datetime.combine(day, hours.start, zone))
            closes = settled(datetime.combine(day, hours.end, zone))
            if hours.end == time():
                closes = day_start(day + timedelta(days=1), zone)
            opens, closes = max(start, opens.astimezone(UTC)), min(end, closes.astimezone(UTC))
            if closes > opens:
                yield opens, closes
        day += timedelta(days=1)


def _merged(busy: Iterable[Span]) -> Sequence[Span]:
    """In order, in UTC, without overlaps."""
    merged: list[Span] = []
    for start, end in sorted((start.astimezone(UTC), end.astimezone(UTC)) for start, end in busy):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif end > start:
            merged.append((start, end))
    return merged


def _gaps(start: datetime, end: datetime, taken: Sequence[Span]) -> Iterator[Span]:
    for begins, ends in taken:
        if ends <= start:
            continue
        if begins >= end:
            break
        if begins > start:
            yield start, begins
        start = max(start, ends)
    if end > start:
        yield start, end


def _rounded(moment: datetime, zone: ZoneInfo) -> datetime:
    """Up to the next quarter of an hour that the person's clock shows."""
    shown = moment.astimezone(zone)
    past = timedelta(minutes=shown.minute % 15, seconds=shown.second, microseconds=shown.microsecond)
    rounded = moment if not past else moment + (STEP - past)
    return rounded if not later(moment, rounded) else moment
