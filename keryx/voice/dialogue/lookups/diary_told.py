"""How the owner's calendar is told: what is on, what comes next, when there is time. Pure but for phrases in turn."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

from keryx.voice.dialogue.lines import Line, Question
from keryx.voice.dialogue.lookups.aloud import title_words
from keryx.voice.dialogue.lookups.clock_said import day_words, length_words, time_words
from keryx.voice.dialogue.replies import Phrases, counted, listed
from keryx.voice.dialogue.telling import TOLD_OF_A_LIST

Asked = Mapping[str, Any]
"""The arguments of the question."""
Found = Mapping[str, Any]
"""What `check_calendar` answered."""

EVENING = 18
"""Free time that lasts until this hour or longer has no end worth saying."""
SOON = timedelta(minutes=15)
"""What begins so soon begins now."""
PLACE_WORDS = 4


class DiaryTold:
    """Says the calendar to one person."""

    def __init__(self, phrases: Phrases) -> None:
        self._phrases = phrases

    def lines(self, asked: Asked, found: Found, now: datetime) -> list[Line]:
        """The answer; `now` is in the owner's zone."""
        match found["kind"]:
            case "free":
                return [Line(self._free(found, now))]
            case "moment":
                return [Line(self._moment(found, now))]
            case "next":
                return [Line(self._next(asked, found, now))]
            case _:
                return self._events(asked, found, now)

    # -- what is on --------------------------------------------------------------------------------------------------

    def _events(self, asked: Asked, found: Found, now: datetime) -> list[Line]:
        events = (
            sorted(found["events"], key=lambda event: not event["all_day"]) if found["one_day"] else found["events"]
        )
        narrowed = _narrowed(asked, found)
        if not events:
            # Of a stretch that has begun only the rest was looked at.
            started = found["when"] in ("today", "this morning", "this afternoon", "this evening", "this week")
            return [Line(self._phrases.say("diary_none_more" if started else "diary_none", narrowed=narrowed))]
        items = [_item(event, now, with_day=not found["one_day"]) for event in events]
        if len(items) == 1:
            return [Line(self._phrases.say("diary_one", narrowed=narrowed, event=items[0]))]
        count = f"more than {counted(len(items), 'thing')}" if found["more"] else counted(len(items), "thing")
        told, rest = items[:TOLD_OF_A_LIST], items[TOLD_OF_A_LIST:]
        key = "diary_many" if rest else "diary_few"
        return [Line(self._phrases.say(key, count=count, narrowed=narrowed, events=listed(told))), *self._offered(rest)]

    def _offered(self, rest: Sequence[str]) -> list[Line]:
        if not rest:
            return []
        text = self._phrases.say("diary_others")
        few = Line(self._phrases.say("diary_more", events=listed(rest[:TOLD_OF_A_LIST])))
        more = (few, *self._offered(rest[TOLD_OF_A_LIST:]))
        return [Line(text, asks=Question("more", text=text, more=more))]

    def _next(self, asked: Asked, found: Found, now: datetime) -> str:
        if not found["events"]:
            return self._phrases.say("diary_none", narrowed=_narrowed(asked, found))
        [event] = found["events"]
        item = _item(event, now, with_day=True)
        if place := _place(event["where"]):
            item = f"{item}, {place}"
        return self._phrases.say("diary_found" if asked.get("about") else "diary_next", event=item)

    # -- free time ---------------------------------------------------------------------------------------------------

    def _moment(self, found: Found, now: datetime) -> str:
        at = datetime.fromisoformat(found["at"])
        when = found["when"]
        in_the_way = [event for event in found["events"] if not event["all_day"]] or found["events"]
        if not in_the_way:
            return self._phrases.say("moment_free", when=when)
        event = in_the_way[0]
        title = _title(event)
        if event["all_day"]:
            return self._phrases.say("moment_all_day", when=when, event=title)
        start, end = datetime.fromisoformat(event["start"]), datetime.fromisoformat(event["end"])
        if start > at:
            return self._phrases.say("moment_until", when=when, event=title, time=time_words(start))
        return self._phrases.say("moment_busy", when=when, event=title, time=time_words(end))

    def _free(self, found: Found, now: datetime) -> str:
        slots = [
            (datetime.fromisoformat(slot["start"]), datetime.fromisoformat(slot["end"])) for slot in found["slots"]
        ]
        if not slots:
            return self._phrases.say("free_none", when=found["when"], length=_gap(found["minutes"]))
        ends = datetime.fromisoformat(found["to"])
        if found["all_of_it"]:
            return self._phrases.say("free_all", when=found["when"])
        if found["one_day"]:
            said = listed([_slot(slot, now, ends) for slot in slots[: TOLD_OF_A_LIST + 1]])
            return self._phrases.say("free_some", when=found["when"], slots=said)
        days = [
            f"{day_words(day, now.date())} {listed([_slot(slot, now, ends) for slot in list(of_day)[:TOLD_OF_A_LIST]])}"
            for day, of_day in groupby(slots, key=lambda slot: slot[0].date())
        ]
        key = "free_days_more" if len(days) > TOLD_OF_A_LIST else "free_days"
        return self._phrases.say(key, days="; ".join(days[:TOLD_OF_A_LIST]))


def _item(event: Mapping[str, Any], now: datetime, *, with_day: bool) -> str:
    title = _title(event)
    if event["all_day"]:
        first = date.fromisoformat(event["start"])
        if with_day and first > now.date():
            return f"{title}, {day_words(first, now.date())}"
        days = (date.fromisoformat(event["end"]) - max(first, now.date())).days
        return f"{title}, all day" if days <= 1 else f"{title}, until {_last_day(event, now)}"
    start, end = datetime.fromisoformat(event["start"]), datetime.fromisoformat(event["end"])
    if start < now < end:
        day = "" if end.date() == now.date() else f" {day_words(end.date(), now.date())}"
        return f"{title}, until {time_words(end)}{day}"
    return f"{title} {day_words(start.date(), now.date()) + ' ' if with_day else ''}at {time_words(start)}"


def _last_day(event: Mapping[str, Any], now: datetime) -> str:
    last = date.fromisoformat(event["end"]) - timedelta(days=1)
    return day_words(last, now.date()).removeprefix("on ")


def _title(event: Mapping[str, Any]) -> str:
    return title_words(event["title"]) or "something without a name"


def _place(where: str) -> str:
    """Where it is, when that can be said: no address of a video call, no post code."""
    words = title_words(where.split(",")[0]).split()
    plain = words and len(words) <= PLACE_WORDS and "link" not in words
    return " ".join(words) if plain and not any(char.isdigit() for char in where.split(",")[0]) else ""


def _slot(slot: tuple[datetime, datetime], now: datetime, ends: datetime) -> str:
    start, end = slot
    open_end = end >= ends or end.hour >= EVENING or end.date() > start.date()
    if start <= now + SOON:
        return f"until {time_words(end)}" if not open_end else "from now on"
    return f"after {time_words(start)}" if open_end else f"from {time_words(start)} to {time_words(end)}"


def _gap(minutes: int) -> str:
    return "gap" if minutes <= 30 else length_words(minutes).removeprefix("an ").removeprefix("a ")


def _narrowed(asked: Asked, found: Found) -> str:
    parts = [
        f"with {asked['with_whom']}" if asked.get("with_whom") else "",
        f"called {asked['about']}" if asked.get("about") else "",
        found.get("when") or "",
    ]
    return " ".join(filter(None, parts))
