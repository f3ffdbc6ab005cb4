"""Times of day and days, as people say them and are told them: "half past three", "on Friday the 20th". Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from keryx.voice.dialogue.normalise import NUMBER, UNITS, in_words, number_in

_DAY_BEGINS, _DAY_DARKENS = 7, 19
"""Hours that a number alone means, told or heard: "at nine" is in the morning, "at three" is in the afternoon."""

_HOUR = rf"(?:{'|'.join(sorted(UNITS[1:13], key=len, reverse=True))}|\d{{1,2}})"
_MINUTE = (
    rf"(?:(?:oh|o|zero) (?:{'|'.join(UNITS[1:10])})|(?:twenty|thirty|forty|fifty)(?: (?:{'|'.join(UNITS[1:10])}))?|"
    rf"{'|'.join(sorted(UNITS[10:], key=len, reverse=True))}|[0-5]\d)"
)
_HALF_OF_DAY = r"(?: ?(?:am|pm)| a m| p m| in the (?:morning|afternoon|evening)| at night)"
CLOCK = (
    r"(?:noon|midday|midnight"
    rf"|(?:half|a quarter|quarter|{NUMBER}(?: minutes)?) (?:past|to|after|before) {_HOUR}(?: o ?clock)?{_HALF_OF_DAY}?"
    rf"|half {_HOUR}{_HALF_OF_DAY}?"
    rf"|{_HOUR}(?: {_MINUTE})?(?: o ?clock)?{_HALF_OF_DAY}?)(?![a-z\d])"
)
"""A time of day in normal form, as a regular expression without groups of its own."""

_PARTS_OF_CLOCK = re.compile(
    rf"(?:(?P<fixed>noon|midday|midnight)"
    rf"|(?:(?P<away>half|a quarter|quarter|{NUMBER})(?: minutes)? (?P<side>past|to|after|before) (?P<near>{_HOUR})"
    rf"|half (?P<half>{_HOUR})"
    rf"|(?P<hour>{_HOUR})(?: (?P<minute>{_MINUTE}))?)(?: o ?clock)?(?P<part>{_HALF_OF_DAY})?)"
)


@dataclass(frozen=True)
class Clock:
    """A time of day; `sure` when nobody could take it for the other half of the day. Hour 24 is midnight at the end."""

    hour: int
    minute: int = 0
    sure: bool = True

    def hours(self) -> tuple[int, ...]:
        """The hours of the day that can be meant, the likelier first."""
        if self.sure:
            return (self.hour,)
        early, late = self.hour % 12, self.hour % 12 + 12
        return (early, late) if early >= _DAY_BEGINS else (late, early)


def clock_in(said: str) -> Clock | None:
    """The time that a phrase in the form of `CLOCK` says; None when there is no such time."""
    match = _PARTS_OF_CLOCK.fullmatch(said)
    if match is None:
        return None
    if fixed := match["fixed"]:
        return Clock(24 if fixed == "midnight" else 12)
    hour = number_in(match["near"] or match["half"] or match["hour"]) or 0
    minute = _minutes(match)
    if minute < 0:
        hour, minute = (hour - 1) % 24, minute + 60
    if not 0 <= hour <= 24 or minute > 59:
        return None
    part = re.sub(r"\W", "", match["part"] or "")
    if not part:
        return Clock(hour, minute, sure=hour > 12 or hour == 0)
    if part in ("am", "inthemorning"):
        return Clock(hour % 12, minute) if hour <= 12 else None
    return Clock(hour % 12 + 12, minute) if hour <= 12 and not (part == "atnight" and hour < 5) else Clock(hour, minute)


def _minutes(match: re.Match[str]) -> int:
    if match["half"]:
        return 30
    if away := match["away"]:
        minutes = {"half": 30, "quarter": 15, "a quarter": 15}.get(away) or number_in(away) or 0
        return minutes if match["side"] in ("past", "after") else -minutes
    if said := match["minute"]:
        return number_in(re.sub(r"^(?:oh|o|zero) ", "", said)) or 0
    return 0


def on_day(day: date, hour: int, minute: int, zone: tzinfo) -> datetime:
    """A moment by the local clock; one that the clock leaps over comes out as what it shows then."""
    moment = datetime.combine(day + timedelta(days=hour // 24), time(hour % 24, minute), zone)
    return moment.astimezone(UTC).astimezone(zone)


# -- told --------------------------------------------------------------------------------------------------------------


def time_words(moment: datetime) -> str:
    """A local time as it is said after "at": "nine ten", "half past three", "noon", "six in the morning"."""
    hour, minute = moment.hour, moment.minute
    if minute == 0 and hour in (0, 12):
        return "noon" if hour else "midnight"
    named = in_words(hour % 12 or 12)
    match minute:
        case 0:
            said = named
        case 15 | 30:
            said = f"{'quarter' if minute == 15 else 'half'} past {named}"
        case 45:
            said = f"quarter to {in_words((hour + 1) % 12 or 12)}"
        case _ if minute < 10:
            said = f"{named} oh {in_words(minute)}"
        case _:
            said = f"{named} {in_words(minute)}"
    if _DAY_BEGINS <= hour < _DAY_DARKENS:
        return said
    if hour < 5:
        return f"{said} at night"
    return f"{said} {'in the morning' if hour < 12 else 'in the evening' if hour < 22 else 'at night'}"


def day_words(day: date, today: date) -> str:
    """A day as it is said: "today", "tomorrow", "on Friday", further away "on Friday the 20th of March"."""
    away = (day - today).days
    if away in (-1, 0, 1):
        return ("yesterday", "today", "tomorrow")[away + 1]
    if -7 < away < 7:
        return f"on {day:%A}"
    month = "" if (day.year, day.month) == (today.year, today.month) else f" of {day:%B}"
    year = "" if abs(away) < 330 else f" {day.year}"
    return f"on {day:%A} the {_ordinal(day.day)}{month}{year}"


def _ordinal(number: int) -> str:
    """ "20th": the voice reads it as a word."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def length_words(minutes: int) -> str:
    """How long an appointment is: "an hour", "half an hour", "ninety minutes", "two hours"."""
    if minutes == 30:
        return "half an hour"
    if minutes % 60:
        return f"{in_words(minutes)} minutes" if minutes != 1 else "a minute"
    return "an hour" if minutes == 60 else f"{in_words(minutes // 60)} hours"


LENGTH = (
    rf"(?:(?:a )?(?:half|quarter)(?: of)? an hour|half an hour|an hour and a half|(?:an|one|a single) hour|"
    rf"a couple of hours|(?:{NUMBER}|a few) (?:minutes?|mins?|hours?)(?: and a half)?)"
)
"""How long something takes, in normal form, as a regular expression without groups of its own."""


def minutes_in(said: str) -> int | None:
    """The minutes of a phrase in the form of `LENGTH`; None when there are none."""
    if "quarter" in said:
        return 15
    if "half an hour" in said or said.startswith("a half"):
        return 30
    match = re.match(rf"(?P<number>{NUMBER}|an|a single|a couple of|a few)", said)
    if match is None:
        return None
    number = {"an": 1, "a single": 1, "a couple of": 2, "a few": 3}.get(match["number"]) or number_in(match["number"])
    unit = 60 if "hour" in said else 1
    return (number or 0) * unit + (unit // 2 if "and a half" in said else 0) or None
