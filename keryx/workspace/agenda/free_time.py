"""When somebody has time: what is left of their hours between what keeps them busy. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from keryx.workspace.agenda.times import later, plus, settled
from keryx.workspace.models import Slot

STEP = timedelta(minutes=15)
"""Free time begins at a quarter of an hour, where there is enough of it."""
WHOLE_WINDOW = timedelta(hours=12)
"""Free time in a window of at most this length is looked for in all of it, not only in the hours of a day."""
SATURDAY = 5
Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class Hours:
    """The hours of a day that count, by the person's clock, and whether those of Saturday and Sunday do."""

    start: time = time(9)
    end: time = time(18)
    """On the next day when it is no later than the start: 22 to 6 is a night, 0 to 0 a whole day."""
    weekends: bool = False
    """Whether what begins on a Saturday or a Sunday counts."""


def usual_hours(window: Span, zone: ZoneInfo) -> Hours | None:
    """What to look at when nobody said: all of a short window, else nine to six, at weekends only of a weekend."""
    start, end = window
    if not later(end, plus(start, WHOLE_WINDOW)):
        return None
    first, last = start.astimezone(zone).date(), plus(end, -timedelta(seconds=1)).astimezone(zone).date()
    return Hours(weekends=first.weekday() >= SATURDAY and (last - first).days <= 6 - first.weekday())


def free_slots(
    window: Span, busy: Iterable[Span], *, length: timedelta, zone: ZoneInfo, hours: Hours | None = None
) -> list[Slot]:
    """The stretches of at least `length` inside `window` and `hours` that nothing of `busy` touches, in order.

    `hours` None: all of the window counts.
    """
    start, end = _whole_minute(window[0]), window[1].astimezone(UTC)
    taken = _merged(busy)
    # Whole days that follow each other are one stretch.
    stretches = [(start, end)] if hours is None else _merged(_stretches((start, end), zone, hours))
    slots: list[Slot] = []
    for opens, closes in stretches:
        for begins, ends in _gaps(opens, closes, taken):
            rounded = _rounded(begins, zone)
            begins = rounded if ends - rounded >= length else begins
            if ends - begins >= length:
                slots.append(Slot(begins.astimezone(zone), ends.astimezone(zone)))
    return slots


def _stretches(window: Span, zone: ZoneInfo, hours: Hours) -> Iterator[Span]:
    start, end = (moment.astimezone(UTC) for moment in window)
    # The hours of the day before may reach into the window.
    day = window[0].astimezone(zone).date() - timedelta(days=1)
    last = window[1].astimezone(zone).date()
    over_midnight = timedelta(days=1 if hours.end <= hours.start else 0)
    while day <= last:
        if hours.weekends or day.weekday() < SATURDAY:
            opens, closes = _on(day, hours.start, zone), _on(day + over_midnight, hours.end, zone)
            opens, closes = max(start, opens), min(end, closes)
            if closes > opens:
                yield opens, closes
        day += timedelta(days=1)


def _on(day: date, clock: time, zone: ZoneInfo) -> datetime:
    return settled(datetime.combine(day, clock, zone)).astimezone(UTC)


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


def _whole_minute(moment: datetime) -> datetime:
    """Up to the next one, in UTC."""
    moment = moment.astimezone(UTC)
    return moment + -timedelta(seconds=moment.second, microseconds=moment.microsecond) % timedelta(minutes=1)


def _rounded(moment: datetime, zone: ZoneInfo) -> datetime:
    """Up to the next quarter of an hour that the person's clock shows."""
    shown = moment.astimezone(zone)
    past = timedelta(minutes=shown.minute, seconds=shown.second, microseconds=shown.microsecond)
    return moment + -past % STEP
