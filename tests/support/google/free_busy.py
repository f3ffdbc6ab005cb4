"""The method freebusy.query: when somebody is busy, over several calendars."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.google.calendar_shapes import rfc3339, stretch, zone_named
from tests.support.google.calendars import Calendars
from tests.support.google.diary import Event
from tests.support.google.refusals import GoogleError, invalid
from tests.support.google.routing import Asked

LONGEST = timedelta(days=92)


def free_busy(calendars: Calendars, asked: Asked) -> dict[str, Any]:
    body = asked.body or {}
    for name in ("timeMin", "timeMax"):
        if not body.get(name):
            raise invalid(f"Missing required field: {name}", reason="required")
    start, end = stretch(body)
    assert start is not None
    assert end is not None
    if end - start > LONGEST:
        raise invalid("The requested time range is too long.", reason="timeRangeTooLong")
    if len(body.get("items") or ()) > min(body.get("calendarExpansionMax", 50), 50):
        raise invalid("Too many calendars requested.", reason="tooManyCalendarsRequested")
    zone = zone_named(body.get("timeZone") or "UTC")
    return {
        "kind": "calendar#freeBusy",
        "timeMin": rfc3339(start, UTC),
        "timeMax": rfc3339(end, UTC),
        "calendars": {item["id"]: _busy(calendars, item["id"], start, end, zone) for item in body.get("items") or ()},
    }


def _busy(calendars: Calendars, calendar_id: str, start: datetime, end: datetime, zone: Any) -> dict[str, Any]:
    try:
        calendar = calendars[calendar_id]
    except GoogleError:
        return {"errors": [{"domain": "global", "reason": "notFound"}], "busy": []}
    spans: list[tuple[datetime, datetime]] = []
    for event in calendar.events.values():
        if "recurringEventId" in event:
            continue
        events = calendar.expanded(event, start, end) if "recurrence" in event else [event]
        spans += [calendar.span(each) for each in events if _is_busy(each) and calendar.touches(each, start, end)]
    merged: list[tuple[datetime, datetime]] = []
    for begins, ends in sorted((max(begins, start), min(ends, end)) for begins, ends in spans):
        if merged and begins <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(ends, merged[-1][1])
        elif begins < ends:
            merged.append((begins, ends))
    return {"busy": [{"start": rfc3339(begins, zone), "end": rfc3339(ends, zone)} for begins, ends in merged]}


def _is_busy(event: Event) -> bool:
    mine = [guest for guest in event.get("attendees", ()) if guest.get("self")]
    declined = bool(mine) and mine[0]["responseStatus"] == "declined"
    return event["status"] != "cancelled" and event.get("transparency") != "transparent" and not declined
