"""Days as people name them, "next Friday", "the 14th", and what they are named against. Pure."""

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from keryx.voice.dialogue.lookups.clock_said import on_day
from keryx.voice.dialogue.normalise import NUMBER, ORDINAL, number_in

_WEEKDAYS = [name.lower() for name in calendar.day_name]
_MONTHS = [name.lower() for name in calendar.month_name]
_WEEKDAY = rf"(?:{'|'.join(_WEEKDAYS)})"
_MONTH = rf"(?:{'|'.join(_MONTHS[1:])})"
DAY = (
    r"(?:today|tomorrow|yesterday|(?:the )?day (?:after tomorrow|before yesterday)"
    rf"|(?:on )?(?:(?:this|next|last|this coming|the coming|coming|the) )?{_WEEKDAY}"
    rf"|(?:on )?the {ORDINAL}(?: of {_MONTH})?|(?:on )?{ORDINAL} of {_MONTH}"
    rf"|(?:on )?{_MONTH} (?:the )?(?:{ORDINAL}|{NUMBER}))"
)
"""A day in normal form, as a regular expression without groups of its own."""


@dataclass(frozen=True)
class Now:
    """The moment against which a phrase is understood. `past`: "Monday" is the last one, not the next."""

    at: datetime
    """In the owner's zone."""
    past: bool

    @property
    def zone(self) -> tzinfo:
        assert self.at.tzinfo is not None
        return self.at.tzinfo

    @property
    def today(self) -> date:
        return self.at.date()

    def day_begins(self, day: date) -> datetime:
        return on_day(day, 0, 0, self.zone)

    def later(self, by: timedelta) -> datetime:
        """So much real time away, whatever the clocks do meanwhile."""
        return (self.at.astimezone(UTC) + by).astimezone(self.zone)


def day_in(said: str, now: Now) -> date | None:
    """The day that a phrase in the form of `DAY` names; None when no calendar has it."""
    said = said.removeprefix("on ")
    away = {"today": 0, "tomorrow": 1, "yesterday": -1}.get(said)
    away = 2 if said.endswith("day after tomorrow") else -2 if said.endswith("day before yesterday") else away
    if away is not None:
        return now.today + timedelta(days=away)
    if match := re.search(rf"{_WEEKDAY}$", said):
        return _weekday(_WEEKDAYS.index(match[0]), said[: match.start()].strip(), now)
    month = re.search(_MONTH, said)
    number = number_in(re.sub(rf"\b(?:the|of|{_MONTH})\b", " ", said).strip()) or 0
    step = -1 if now.past else 1
    if month is None:
        first = now.today.year * 12 + now.today.month - 1
        months = [divmod(first + step * away, 12) for away in range(13)]
        return _nearest([(year, index + 1) for year, index in months], number, now)
    return _nearest([(now.today.year + step * away, _MONTHS.index(month[0])) for away in range(9)], number, now)


def _weekday(weekday: int, which: str, now: Now) -> date:
    today = now.today
    if which == "next":
        # Of the week that begins next Monday: "next Friday" said on a Tuesday is not the one in three days.
        return today + timedelta(days=7 - today.weekday() + weekday)
    if which == "last":
        return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    if now.past and which not in ("this coming", "the coming", "coming"):
        return today - timedelta(days=(today.weekday() - weekday) % 7)
    return today + timedelta(days=(weekday - today.weekday()) % 7)


def _nearest(months: list[tuple[int, int]], number: int, now: Now) -> date | None:
    """The first of `months` (year, month) in which there is such a day, on the side of today that is asked for."""
    for year, month in months:
        if 1 <= number <= calendar.monthrange(year, month)[1]:
            day = date(year, month, number)
            if day == now.today or (day < now.today) == now.past:
                return day
    return None
