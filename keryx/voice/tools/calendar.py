"""The tool about the owner's calendar: what is on, what comes next, and when there is time."""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from keryx.voice.dialogue.lookups.spans import Span
from keryx.voice.tools.base import Arguments, Tool, ToolResult
from keryx.voice.tools.lookup import Lookup
from keryx.voice.tools.mail import THEIR_WORDS, WHEN, no_such_time
from keryx.workspace.agenda.free_time import Hours, free_slots
from keryx.workspace.agenda.times import elapsed, later
from keryx.workspace.features import Feature
from keryx.workspace.models import Event

MOST_LISTED = 50
LOOKS_AHEAD = timedelta(days=90)
"""Where the next appointment is looked for."""
FREE_WITHIN = timedelta(days=7)
"""Where free time is looked for when nobody said when."""
HALF_A_DAY = timedelta(hours=12)
SATURDAY = 5

_Words = Annotated[str, Field(min_length=1, max_length=100)]


class CheckCalendar(Arguments):
    when: Annotated[_Words | None, Field(description=f"{WHEN} Left out: today; for what is next: from now on.")] = None
    free_minutes: Annotated[
        int | None, Field(ge=1, le=24 * 60, description="Asks for free time of so many minutes, not for what is on.")
    ] = None
    about: Annotated[_Words | None, Field(description="Words of an appointment's title: dentist.")] = None
    with_whom: Annotated[_Words | None, Field(description="Somebody who takes part.")] = None
    next_only: Annotated[bool, Field(description="Only the next one.")] = False


def calendar_tool(lookup: Lookup) -> Tool:
    """`check_calendar` for one call."""

    async def check_calendar(arguments: CheckCalendar, request: str) -> ToolResult:
        span = _span(arguments, lookup)
        if span is None:
            return no_such_time(arguments.when or "")
        if arguments.free_minutes and not span.moment:
            return await _free_time(arguments.free_minutes, span, lookup)
        query = " ".join(filter(None, (_title_words(arguments.about), arguments.with_whom)))
        page = await lookup.ask(
            Feature.READ_CALENDAR,
            lambda workspace: workspace.calendars.events(span.start, span.end, query=query, most=MOST_LISTED),
        )
        events = [event for event in page.items if not event.cancelled and event.mine != "declined"]
        if arguments.free_minutes:
            busy = [event for event in events if event.busy]
            return ToolResult(
                True, {"kind": "moment", "when": span.said, "at": _iso(span.start), **_events(busy, lookup)}
            )
        if arguments.next_only:
            events = _next(events, lookup.now, named=bool(query))
        kind = "next" if arguments.next_only else "events"
        more = page.next is not None and not arguments.next_only
        said = {"kind": kind, "when": span.said, "one_day": span.one_day, "more": more}
        return ToolResult(True, said | _events(events, lookup))

    return Tool(
        "check_calendar",
        "The owner's calendar: what is on, what comes next, or when there is free time. Changes nothing.",
        CheckCalendar,
        check_calendar,
        needs_proof=True,
    )


def _span(arguments: CheckCalendar, lookup: Lookup) -> Span | None:
    """The stretch that is looked at; of one that has begun, what is left."""
    now = lookup.now
    looks_for = arguments.next_only or arguments.about or arguments.with_whom
    if arguments.when is None:
        if arguments.free_minutes:
            return Span(now, now + FREE_WITHIN, "in the next days")
        if looks_for:
            return Span(now, now + LOOKS_AHEAD, "in the next three months")
    span = lookup.span(arguments.when or "today", past=False)
    if span is None or span.moment or not later(now, span.start) or not later(span.end, now):
        return span
    return Span(now, span.end, span.said)


async def _free_time(minutes: int, span: Span, lookup: Lookup) -> ToolResult:
    hours = _hours(span)
    slots = await lookup.ask(
        Feature.READ_CALENDAR,
        lambda workspace: workspace.calendars.free(span.start, span.end, minutes=minutes, hours=hours),
    )
    length = timedelta(minutes=minutes)
    all_of_it = free_slots((span.start, span.end), (), length=length, zone=lookup.zone, hours=hours)
    found = [{"start": _iso(slot.start), "end": _iso(slot.end)} for slot in slots]
    return ToolResult(
        True,
        {
            "kind": "free",
            "when": span.said,
            "to": _iso(span.end),
            "all_of_it": bool(slots) and list(slots) == all_of_it,
            "minutes": minutes,
            "one_day": span.one_day,
            "slots": found,
        },
    )


def _hours(span: Span) -> Hours | None:
    """Of whole days the hours that one works; of a weekend its own, of a part of a day all of it."""
    length = elapsed(span.start, span.end)
    if length <= HALF_A_DAY:
        return None
    return Hours(weekends=span.start.weekday() >= SATURDAY and length <= timedelta(days=2, hours=2))


_GENERIC = re.compile(r"\b(?:the|my|our|an?|appointments?|meetings?|events?|calls?)\b", re.IGNORECASE)


def _title_words(about: str | None) -> str:
    """What of "dentist appointment" stands in a title."""
    telling = " ".join(_GENERIC.sub(" ", about or "").split())
    return telling or (about or "")


def _next(events: Sequence[Event], now: datetime, *, named: bool) -> list[Event]:
    """The first that is still to begin. A whole day is no next meeting, unless it was asked for by name."""
    for event in events:
        start = event.when.start
        if isinstance(start, datetime):
            if named or not later(now, start):
                return [event]
        elif named:
            return [event]
    return []


# -- what comes of it --------------------------------------------------------------------------------------------------


def _events(events: Sequence[Event], lookup: Lookup) -> dict[str, Any]:
    return {"count": len(events), "events": [_event(event, lookup) for event in events], "note": THEIR_WORDS}


def _event(event: Event, lookup: Lookup) -> dict[str, Any]:
    zone = lookup.now.tzinfo

    def shown(moment: date | datetime) -> str:
        return _iso(moment.astimezone(zone) if isinstance(moment, datetime) else moment)

    return {
        "title": event.title,
        "all_day": event.when.all_day,
        "start": shown(event.when.start),
        "end": shown(event.when.end),
        "where": event.where,
        "with": [guest.person.name or guest.person.address for guest in event.guests if not guest.me],
    }


def _iso(moment: date | datetime) -> str:
    return moment.isoformat(timespec="minutes") if isinstance(moment, datetime) else moment.isoformat()
