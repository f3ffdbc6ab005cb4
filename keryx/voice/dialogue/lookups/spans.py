"""Stretches of time as people and models name them, "this afternoon", "2026-03-05", against a now. Pure.

Days and clock times are the owner's: a day is as long as the clocks make it, and "in an hour" is sixty minutes away.
What could be past or to come is settled by what is asked after: mail came, appointments come.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from keryx.voice.dialogue.lookups.clock_said import (
    CLOCK,
    LENGTH,
    Clock,
    clock_in,
    day_words,
    minutes_in,
    on_day,
    time_words,
)
from keryx.voice.dialogue.lookups.days_said import DAY, Now, day_in
from keryx.voice.dialogue.normalise import NUMBER, Heard, number_in

MOMENT_LASTS = timedelta(hours=1)
"""How far a time of day reaches: "at four"."""
_LONGEST = timedelta(days=3660)

_HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24)}
"""From which hour to which."""

_PART = rf"(?:{'|'.join(_HOURS)})"
_COUNT = rf"(?:{NUMBER}|an|a|few|couple of|a few|a couple of)"
_UNIT = r"(?:minute|hour|day|week)s?"


@dataclass(frozen=True)
class Span:
    """From `start` up to `end`, both in the owner's zone, and how it is said: "this afternoon", "on Friday at four"."""

    start: datetime
    end: datetime
    said: str
    moment: bool = False
    """A time of day: what is on then, or whether one is free from then on."""

    @property
    def one_day(self) -> bool:
        return self.start.date() == (self.end - timedelta(microseconds=1)).date()


def span_of(when: str, now: datetime, zone: tzinfo, *, past: bool) -> Span | None:
    """The stretch that `when` names; None when it names none. `past`: "Monday" is the last one, not the next."""
    at = Now(now.astimezone(zone), past)
    try:
        if (written := _written(when.strip(), at)) is not None:
            return written
        norm = Heard(when).norm
        for pattern, resolve in _FORMS:
            if match := pattern.fullmatch(norm):
                return resolve(match.groupdict(), at)
    except (OverflowError, ValueError):
        return None  # A day that no calendar has.
    return None


def names_time(norm: str) -> bool:
    """Whether words in normal form name a stretch of time."""
    return any(pattern.fullmatch(norm) for pattern, _ in _FORMS)


def _days(now: Now, first: date, count: int, said: str) -> Span:
    return Span(now.day_begins(first), now.day_begins(first + timedelta(days=count)), said)


# -- times of day ------------------------------------------------------------------------------------------------------


def _moment(day: date, clock: Clock, now: Now, part: str = "") -> datetime:
    """The moment on that day that the clock time means."""
    hours = clock.hours()
    if part and not clock.sure:
        hours = tuple(hour for hour in hours if (hour < 12) == (part == "morning")) or hours
    moments = [on_day(day, hour, clock.minute, now.zone) for hour in hours]
    if day == now.today:
        # "At eight", asked at noon, is tonight's; mail "since eight" came this morning.
        on_that_side = [moment for moment in moments if (moment <= now.at) == now.past]
        return (on_that_side or moments)[0]
    return moments[0]


def _at(moment: datetime, now: Now) -> Span:
    named = (moment - timedelta(microseconds=1)).date()  # Midnight is the end of a day.
    day = "" if named == now.today else f" {day_words(named, now.today)}"
    end = (moment.astimezone(UTC) + MOMENT_LASTS).astimezone(now.zone)
    return Span(moment, end, f"at {time_words(moment)}{day}", moment=True)


def _part_of(day: date, part: str, now: Now) -> Span:
    begins, ends = _HOURS[part]
    away = (day - now.today).days
    if part == "night" and away == -1:
        # Last night ends in the morning.
        return Span(on_day(day, 18, 0, now.zone), on_day(now.today, _HOURS["morning"][0], 0, now.zone), "last night")
    if part == "morning" and now.past:
        begins = 0  # What came at four is in this morning's mail.
    called = {0: "tonight" if part == "night" else f"this {part}"}.get(away, f"{day_words(day, now.today)} {part}")
    return Span(on_day(day, begins, 0, now.zone), on_day(day, ends, 0, now.zone), called)


# -- what a phrase means -----------------------------------------------------------------------------------------------

_Said = dict[str, str | None]


def _whole_day(said: _Said, now: Now) -> Span | None:
    day = day_in(said["day"] or "today", now)
    if day is None:
        return None
    if part := said.get("part"):
        return _part_of(day, part, now)
    return _days(now, day, 1, day_words(day, now.today))


def _this_part(said: _Said, now: Now) -> Span:
    return _part_of(now.today, said["part"] or "night", now)


def _last_night(said: _Said, now: Now) -> Span:
    return _part_of(now.today - timedelta(days=1), "night", now)


def _some_part(said: _Said, now: Now) -> Span:
    """ "In the morning": the nearest one on the side that is asked for."""
    today = _part_of(now.today, said["part"] or "night", now)
    over = today.end <= now.at if not now.past else today.start > now.at
    return _part_of(now.today + timedelta(days=-1 if now.past else 1), said["part"] or "night", now) if over else today


def _at_a_time(said: _Said, now: Now) -> Span | None:
    day, clock = day_in(said.get("day") or "today", now), clock_in(said["clock"] or "")
    if day is None or clock is None:
        return None
    return _at(_moment(day, clock, now, said.get("part") or ""), now)


def _around_a_time(said: _Said, now: Now) -> Span | None:
    """ "After four tomorrow", "before noon": to the day's end, or from its beginning or from now."""
    at = _at_a_time(said, now)
    if at is None:
        return None
    if said["side"] == "after":
        return Span(at.start, now.day_begins(at.start.date() + timedelta(days=1)), f"after {at.said[3:]}")
    day_begins = now.day_begins(at.start.date())
    begins = now.at if day_begins <= now.at < at.start and not now.past else day_begins
    return Span(begins, at.start, f"before {at.said[3:]}")


def _between(said: _Said, now: Now) -> Span | None:
    day = day_in(said.get("day") or "today", now)
    first, last = clock_in(said["first"] or ""), clock_in(said["last"] or "")
    if day is None or first is None or last is None:
        return None
    start = _moment(day, first, now)
    ends = [on_day(day, hour, last.minute, now.zone) for hour in last.hours()]
    end = min((end for end in ends if end > start), default=None)
    if end is None:
        return None
    named = "" if day == now.today else f" {day_words(day, now.today)}"
    return Span(start, end, f"between {time_words(start)} and {time_words(end)}{named}")


def _lunch(said: _Said, now: Now) -> Span | None:
    day = day_in(said.get("day") or "today", now)
    if day is None:
        return None
    hours = {"after": (13, 18), "before": (5, 12)}.get(said["side"] or "", (12, 14))
    named = "" if day == now.today else f" {day_words(day, now.today)}"
    start, end = (on_day(day, hour, 0, now.zone) for hour in hours)
    return Span(start, end, f"{said['side'] or 'at'} lunch{named}")


def _since(said: _Said, now: Now) -> Span | None:
    past = Now(now.at, past=True)
    if clock := clock_in(said.get("clock") or ""):
        start = _at(_moment(now.today, clock, past), now)
        return Span(start.start, now.at, f"since {start.said.removeprefix('at ')}")
    then = said.get("then") or ""
    inner = span_of("after lunch" if then == "lunch" else then, now.at, now.zone, past=True)
    if inner is None or inner.start > now.at:
        return None
    return Span(inner.start, now.at, f"since {inner.said.removeprefix('on ').removeprefix('after ')}")


def _week(said: _Said, now: Now) -> Span:
    monday = now.today - timedelta(days=now.today.weekday())
    away = {"next": 1, "last": -1}.get(said["which"] or "", 0)
    return _days(now, monday + timedelta(weeks=away), 7, f"{said['which']} week")


def _weekend(said: _Said, now: Now) -> Span:
    saturday = now.today + timedelta(days=5 - now.today.weekday())
    which = said["which"] or ""
    if which == "last" or (now.past and saturday > now.today):
        saturday -= timedelta(weeks=1)
    elif which == "next":
        saturday += timedelta(weeks=1)
    return _days(now, saturday, 2, f"{which} weekend" if which in ("last", "next") else "at the weekend")


def _month(said: _Said, now: Now) -> Span:
    away = {"next": 1, "last": -1}.get(said["which"] or "", 0)
    year, index = divmod(now.today.year * 12 + now.today.month - 1 + away, 12)
    first = date(year, index + 1, 1)
    return _days(now, first, calendar.monthrange(year, index + 1)[1], f"{said['which']} month")


def _rest(said: _Said, now: Now) -> Span:
    days = 7 - now.today.weekday() if said["what"] == "week" else 1
    called = "later today" if said["what"] in ("today", None) else f"for the rest of the {said['what']}"
    return Span(now.at, now.day_begins(now.today + timedelta(days=days)), called)


def _stretch(said: _Said, now: Now) -> Span | None:
    """ "In the last two hours", "the next three days"."""
    count = _count(said["count"] or "one")
    unit = (said["unit"] or "").removesuffix("s")
    by = timedelta(**{f"{unit}s": count})
    if not timedelta() < by <= _LONGEST:
        return None
    called = said["called"] or ""
    if said["which"] == "next":
        end = now.later(by) if unit in ("minute", "hour") else now.day_begins(now.today + by + timedelta(days=1))
        return Span(now.at, end, f"in the {called}")
    return Span(now.later(-by), now.at, f"in the {called}")


def _in_a_while(said: _Said, now: Now) -> Span | None:
    """ "In half an hour", "in two days"."""
    if length := said.get("length"):
        minutes = minutes_in(length)
        return _at(now.later(timedelta(minutes=minutes)), now) if minutes else None
    count = _count(said["count"] or "one")
    by = timedelta(weeks=count) if (said["unit"] or "").startswith("week") else timedelta(days=count)
    if not timedelta() < by <= _LONGEST:
        return None
    return _days(now, now.today + by, 1, day_words(now.today + by, now.today))


def _right_now(said: _Said, now: Now) -> Span:
    return Span(now.at, now.later(MOMENT_LASTS), "now", moment=True)


def _lately(said: _Said, now: Now) -> Span:
    return Span(now.later(-timedelta(days=7)), now.at, "lately")


def _count(said: str) -> int:
    return {"a": 1, "an": 1, "couple of": 2, "a couple of": 2}.get(said) or (
        3 if said.endswith("few") else number_in(said) or 0
    )


_NEAR = r"(?:at|around|about|by)"
_FORMS: list[tuple[re.Pattern[str], Callable[[_Said, Now], Span | None]]] = [
    (re.compile(pattern), resolve)
    for pattern, resolve in (
        (rf"(?:for |during )?(?P<day>{DAY})(?: (?:in the )?(?P<part>{_PART}))?", _whole_day),
        (rf"(?:in the |on the )?(?P<part>{_PART}) (?:of )?(?P<day>{DAY})", _whole_day),
        (rf"(?:for |later )?this (?P<part>{_PART})|tonight", _this_part),
        (r"last night|overnight", _last_night),
        (rf"(?:in|during) the (?P<part>{_PART})", _some_part),
        (rf"(?:{_NEAR} )?(?P<clock>{CLOCK}) (?P<day>{DAY})(?: (?P<part>{_PART}))?", _at_a_time),
        (rf"(?P<day>{DAY}|this)(?: (?P<part>{_PART}))? {_NEAR} (?P<clock>{CLOCK})", _at_a_time),
        (rf"{_NEAR} (?P<clock>{CLOCK})", _at_a_time),
        (rf"(?P<side>after|before) (?P<clock>{CLOCK})(?: (?P<day>{DAY}))?", _around_a_time),
        (rf"(?P<day>{DAY}) (?P<side>after|before) (?P<clock>{CLOCK})", _around_a_time),
        (
            rf"(?:between|from) (?P<first>{CLOCK}) (?:and|to|till|until) (?P<last>{CLOCK})(?: (?P<day>{DAY}))?",
            _between,
        ),
        (rf"(?P<day>{DAY}) (?:between|from) (?P<first>{CLOCK}) (?:and|to|till|until) (?P<last>{CLOCK})", _between),
        (rf"(?:(?P<side>after|before)|at|over|during) lunch(?: ?time)?(?: (?P<day>{DAY}))?", _lunch),
        (rf"(?P<day>{DAY}) (?:(?P<side>after|before)|at|over|during) lunch(?: ?time)?", _lunch),
        (rf"since (?P<clock>{CLOCK})", _since),
        (rf"since (?P<then>{DAY}(?: {_PART})?|this {_PART}|last night|last week|last month|lunch)", _since),
        (r"(?:for |in |during )?(?P<which>this|next|last) week", _week),
        (r"(?:for |on |at |over |during )?(?P<which>this|next|last|the) weekend", _weekend),
        (r"(?:for |in |during )?(?P<which>this|next|last) month", _month),
        (r"(?:for )?(?:the )?rest of (?:the )?(?P<what>day|today|week)|later(?: today)?(?P<also>)", _rest),
        (
            rf"(?:(?:in|over|during|within|from) )?the (?P<called>(?P<which>last|past|next)(?: (?P<count>{_COUNT}))? "
            rf"(?P<unit>{_UNIT}))",
            _stretch,
        ),
        (rf"in (?P<length>{LENGTH})(?: from now)?", _in_a_while),
        (rf"in (?P<count>{_COUNT}) (?P<unit>days?|weeks?)", _in_a_while),
        (r"(?:right |just )?now|at the moment", _right_now),
        (r"lately|recently", _lately),
    )
]

# -- as a model writes it ----------------------------------------------------------------------------------------------

_ISO = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?"
_WRITTEN = re.compile(rf"({_ISO})(?:\s*/\s*({_ISO}))?")


def _written(when: str, now: Now) -> Span | None:
    """A date, a moment, or two of either with a slash between; the second date is the last day."""
    match = _WRITTEN.fullmatch(when)
    if match is None:
        return None
    first, last = match[1], match[2]
    start = _iso(first, now)
    if last is None:
        if len(first) > 10:
            return _at(start, now)
        return _days(now, start.date(), 1, day_words(start.date(), now.today))
    end = _iso(last, now)
    if len(last) == 10:
        end = now.day_begins(end.date() + timedelta(days=1))
    if not start < end <= start + _LONGEST:
        return None
    named = f"between {time_words(start)} and {time_words(end)} {day_words(start.date(), now.today)}"
    if len(first) > 10 and (span := Span(start, end, named)).one_day:
        return span
    days = (day_words(day, now.today) for day in (start.date(), (end - timedelta(microseconds=1)).date()))
    since, until = (words.removeprefix("on ") for words in days)
    return Span(start, end, f"from {since} to {until}")


def _iso(text: str, now: Now) -> datetime:
    if len(text) == 10:
        return now.day_begins(date.fromisoformat(text))
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = datetime.combine(moment.date(), time(moment.hour, moment.minute, moment.second), now.zone)
    return moment.astimezone(UTC).astimezone(now.zone)
