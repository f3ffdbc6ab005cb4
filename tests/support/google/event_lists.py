"""Events as they are listed and shown: expanded or not, narrowed, ordered, in pages, in the reader's zone."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from tests.support.google.calendar_shapes import in_zone, moment, page, stretch, zone_of_reader
from tests.support.google.diary import Calendar, Event
from tests.support.google.recurrence import stamp, when, zone_of
from tests.support.google.refusals import invalid

MOST_EVENTS = 2500
_NEVER = "2026-01-01T00:00:00.000Z"


def listed(calendar: Calendar, parameters: Mapping[str, Any]) -> dict[str, Any]:
    single = parameters.get("singleEvents", False)
    if parameters.get("orderBy") == "startTime" and not single:
        raise invalid("The requested ordering is not available for the particular query.")
    start, end = stretch(parameters)
    found: list[Event] = []
    for event in list(calendar.events.values()):
        if "recurrence" in event and event["status"] != "cancelled":
            found += _of_recurring(calendar, event, start, end, single=single)
        elif "recurringEventId" not in event and calendar.touches(event, start, end):
            found.append(event)
    found = [event for event in found if _wanted(event, parameters, single=single)]
    match parameters.get("orderBy"):
        case "startTime":
            found.sort(key=lambda event: (*calendar.span(event), event["id"]))
        case "updated":
            found.sort(key=lambda event: event["updated"])
    return _events(calendar, found, parameters)


def _of_recurring(
    calendar: Calendar, event: Event, start: datetime | None, end: datetime | None, *, single: bool
) -> Iterator[Event]:
    if single:
        yield from calendar.expanded(event, start, end)
        return
    # Without "singleEvents" the event itself stands for its instances; those that were changed come besides.
    if next(calendar.expanded(event, start, end), None) is not None:
        yield event
    yield from (changed for changed in calendar.changed(event).values() if calendar.touches(changed, start, end))


def _wanted(event: Event, parameters: Mapping[str, Any], *, single: bool) -> bool:
    if event["status"] == "cancelled" and not parameters.get("showDeleted"):
        # An instance that is cancelled is told of where its event stands for all of them.
        if single or "recurringEventId" not in event:
            return False
    if updated := parameters.get("updatedMin"):
        if datetime.fromisoformat(event["updated"]) < moment(updated, "updatedMin"):
            return False
    if parameters.get("iCalUID") not in (None, event["iCalUID"]):
        return False
    if event["eventType"] not in parameters.get("eventTypes", [event["eventType"]]):
        return False
    text = _text_of(event)
    return all(word in text for word in parameters.get("q", "").casefold().split())


def instances(calendar: Calendar, event: Event, parameters: Mapping[str, Any]) -> dict[str, Any]:
    start, end = stretch(parameters)
    if "recurrence" not in event:
        raise invalid("Instances cannot be fetched for an event that does not recur.", reason="invalid")
    found = list(calendar.expanded(event, start, end))
    found.sort(key=lambda instance: calendar.span(instance))
    if not parameters.get("showDeleted"):
        found = [instance for instance in found if instance["status"] != "cancelled"]
    if original := parameters.get("originalStart"):
        wanted = stamp(when({"date" if len(original) == 10 else "dateTime": original}, calendar.zone))
        found = [instance for instance in found if instance["id"].endswith(f"_{wanted}")]
    return _events(calendar, found, parameters)


def _events(calendar: Calendar, found: list[Event], parameters: Mapping[str, Any]) -> dict[str, Any]:
    some, more = page(found, parameters, most=MOST_EVENTS, usual=250)
    if not more:
        more = {"nextSyncToken": "CPDAlvWDx70CEPDAlvWDx70CGAU="}
    return {
        "kind": "calendar#events",
        "etag": '"p33c"',
        "summary": calendar.summary,
        "updated": max((event["updated"] for event in calendar.events.values()), default=_NEVER),
        "timeZone": zone_of_reader(parameters, calendar),
        "accessRole": calendar.role,
        "defaultReminders": [{"method": "popup", "minutes": 10}] if calendar.primary else [],
        **more,
        "items": [shown(calendar, event, parameters) for event in some],
    }


def shown(calendar: Calendar, event: Event, parameters: Mapping[str, Any]) -> Event:
    zone = zone_of(zone_of_reader(parameters, calendar))
    shown = dict(event)
    for key in ("start", "end", "originalStartTime"):
        if key in event:
            shown[key] = in_zone(event[key], when(event[key], calendar.zone), zone)
    if calendar.role == "freeBusyReader":
        known = ("kind", "etag", "id", "status", "start", "end", "updated", "iCalUID", "recurringEventId")
        return {key: shown[key] for key in known if key in shown} | {"visibility": "private"}
    if event["status"] == "cancelled" and "recurringEventId" in event:
        # Of an instance that is cancelled, Google promises no more.
        known = ("kind", "etag", "id", "status", "recurringEventId", "originalStartTime")
        return {key: shown[key] for key in known}
    guests = event.get("attendees")
    most = parameters.get("maxAttendees")
    if guests and most is not None and len(guests) > most:
        shown["attendees"] = [guest for guest in guests if guest.get("self")]
        shown["attendeesOmitted"] = True
    return shown


def _text_of(event: Event) -> str:
    people = [event["organizer"], event["creator"], *event.get("attendees", ())]
    texts = [event.get(key, "") for key in ("summary", "description", "location")]
    texts += [person.get(key, "") for person in people for key in ("email", "displayName")]
    return "\n".join(texts).casefold()
