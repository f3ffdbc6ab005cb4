"""The methods of Calendar v3 that are served, over the calendars."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.google.diary import ROLES, Calendar, Calendars, Event
from tests.support.google.recurrence import When, stamp, when, zone_of
from tests.support.google.refusals import GoogleError, invalid, not_found
from tests.support.google.routing import Asked

MOST_EVENTS = 2500
MOST_CALENDARS = 250
LONGEST_FREEBUSY = timedelta(days=92)
_NEVER = "2026-01-01T00:00:00.000Z"
_NOT_SERVED = ("syncToken", "privateExtendedProperty", "sharedExtendedProperty")


class CalendarMethods:
    """`table`: what answers each method, by its id. `GoogleError` is an answer too."""

    def __init__(self, calendars: Calendars) -> None:
        self._all = calendars
        self.table: dict[str, Callable[[Asked], Any]] = {
            f"calendar.{name}": self._locked(do)
            for name, do in {
                "calendarList.list": self._list_calendars,
                "calendarList.get": self._get_listed,
                "calendars.get": self._get_calendar,
                "settings.get": self._setting,
                "settings.list": self._settings,
                "events.list": self._list,
                "events.instances": self._instances,
                "events.get": lambda asked: self._shown(self._calendar(asked), self._event(asked), asked.parameters),
                "events.insert": self._insert,
                "events.patch": self._patch,
                "events.update": self._update,
                "events.move": self._move,
                "events.delete": self._delete,
                "freebusy.query": self._free_busy,
            }.items()
        }

    def _locked(self, do: Callable[[Asked], Any]) -> Callable[[Asked], Any]:
        def done(asked: Asked) -> Any:
            with self._all.lock:
                if used := next((name for name in _NOT_SERVED if name in asked.parameters), None):
                    raise AssertionError(f"{used} is not served")
                return do(asked)

        return done

    # -- calendars and settings ----------------------------------------------------------------------------------------

    def _calendar(self, asked: Asked, *, role: str = "freeBusyReader") -> Calendar:
        calendar = self._all[asked.parameters["calendarId"]]
        if ROLES.index(calendar.role) < ROLES.index(role):
            message = f"You need to have {role} access to this calendar."
            raise GoogleError(403, "requiredAccessLevel", message, domain="calendar")
        return calendar

    def _list_calendars(self, asked: Asked) -> dict[str, Any]:
        least = ROLES.index(asked.parameters.get("minAccessRole", ROLES[0]))
        found = [
            calendar
            for calendar in self._all.all.values()
            if calendar.listed
            and ROLES.index(calendar.role) >= least
            and (asked.parameters.get("showHidden") or not calendar.hidden)
        ]
        page, more = _page(found, asked.parameters, most=MOST_CALENDARS, usual=100)
        shown = [_listed(calendar) for calendar in page]
        return {"kind": "calendar#calendarList", "etag": '"p33c"', **more, "items": shown}

    def _get_listed(self, asked: Asked) -> dict[str, Any]:
        calendar = self._calendar(asked)
        if not calendar.listed:
            raise not_found()
        return _listed(calendar)

    def _get_calendar(self, asked: Asked) -> dict[str, Any]:
        calendar = self._calendar(asked, role="reader")
        return {
            "kind": "calendar#calendar",
            "etag": '"p33c"',
            "id": calendar.id,
            "summary": calendar.summary,
            "timeZone": calendar.zone,
        }

    def _setting(self, asked: Asked) -> dict[str, Any]:
        name = asked.parameters["setting"]
        if name not in self._all.settings:
            raise not_found()
        return {"kind": "calendar#setting", "etag": '"0"', "id": name, "value": self._all.settings[name]}

    def _settings(self, asked: Asked) -> dict[str, Any]:
        items = [
            {"kind": "calendar#setting", "etag": '"0"', "id": name, "value": value}
            for name, value in self._all.settings.items()
        ]
        return {"kind": "calendar#settings", "etag": '"p33c"', "items": items}

    # -- reading events ------------------------------------------------------------------------------------------------

    def _event(self, asked: Asked) -> Event:
        return self._calendar(asked).find(asked.parameters["eventId"])

    def _list(self, asked: Asked) -> dict[str, Any]:
        calendar, parameters = self._calendar(asked), asked.parameters
        single = parameters.get("singleEvents", False)
        if parameters.get("orderBy") == "startTime" and not single:
            raise invalid("The requested ordering is not available for the particular query.")
        start, end = _range(parameters)
        found: list[Event] = []
        for event in list(calendar.events.values()):
            if "recurrence" in event and event["status"] != "cancelled":
                found += self._of_recurring(calendar, event, start, end, single=single)
            elif "recurringEventId" not in event and calendar.touches(event, start, end):
                found.append(event)
        found = [event for event in found if self._wanted(event, parameters, single=single)]
        match parameters.get("orderBy"):
            case "startTime":
                found.sort(key=lambda event: (*calendar.span(event), event["id"]))
            case "updated":
                found.sort(key=lambda event: event["updated"])
        return self._events(calendar, found, parameters)

    def _of_recurring(
        self, calendar: Calendar, event: Event, start: datetime | None, end: datetime | None, *, single: bool
    ) -> Iterator[Event]:
        if single:
            yield from calendar.expanded(event, start, end)
            return
        # Without "singleEvents" the event itself stands for its instances; those that were changed come besides.
        if next(calendar.expanded(event, start, end), None) is not None:
            yield event
        yield from (changed for changed in calendar.changed(event).values() if calendar.touches(changed, start, end))

    def _wanted(self, event: Event, parameters: Mapping[str, Any], *, single: bool) -> bool:
        if event["status"] == "cancelled" and not parameters.get("showDeleted"):
            # An instance that is cancelled is told of where its event stands for all of them.
            if single or "recurringEventId" not in event:
                return False
        if updated := parameters.get("updatedMin"):
            if datetime.fromisoformat(event["updated"]) < _moment(updated, "updatedMin"):
                return False
        if parameters.get("iCalUID") not in (None, event["iCalUID"]):
            return False
        if event["eventType"] not in parameters.get("eventTypes", [event["eventType"]]):
            return False
        text = _text_of(event)
        return all(word in text for word in parameters.get("q", "").casefold().split())

    def _instances(self, asked: Asked) -> dict[str, Any]:
        calendar, event = self._calendar(asked), self._event(asked)
        start, end = _range(asked.parameters)
        if "recurrence" not in event:
            raise invalid("Instances cannot be fetched for an event that does not recur.", reason="invalid")
        found = list(calendar.expanded(event, start, end))
        found.sort(key=lambda instance: moment(instance, calendar))
        if not asked.parameters.get("showDeleted"):
            found = [instance for instance in found if instance["status"] != "cancelled"]
        if original := asked.parameters.get("originalStart"):
            wanted = stamp(when({"date" if len(original) == 10 else "dateTime": original}, calendar.zone))
            found = [instance for instance in found if instance["id"].endswith(f"_{wanted}")]
        return self._events(calendar, found, asked.parameters)

    def _events(self, calendar: Calendar, found: list[Event], parameters: Mapping[str, Any]) -> dict[str, Any]:
        page, more = _page(found, parameters, most=MOST_EVENTS, usual=250)
        if not more:
            more = {"nextSyncToken": "CPDAlvWDx70CEPDAlvWDx70CGAU="}
        return {
            "kind": "calendar#events",
            "etag": '"p33c"',
            "summary": calendar.summary,
            "updated": max((event["updated"] for event in calendar.events.values()), default=_NEVER),
            "timeZone": _zone(parameters, calendar),
            "accessRole": calendar.role,
            "defaultReminders": [{"method": "popup", "minutes": 10}] if calendar.primary else [],
            **more,
            "items": [self._shown(calendar, event, parameters) for event in page],
        }

    def _shown(self, calendar: Calendar, event: Event, parameters: Mapping[str, Any]) -> Event:
        zone = zone_of(_zone(parameters, calendar))
        shown = dict(event)
        for key in ("start", "end", "originalStartTime"):
            if key in event:
                shown[key] = _in_zone(event[key], when(event[key], calendar.zone), zone)
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

    # -- changing events -----------------------------------------------------------------------------------------------

    def _insert(self, asked: Asked) -> Event:
        calendar = self._calendar(asked, role="writer")
        event = self._all.insert(calendar, asked.body)
        self._all.notify("insert", None, event, _send_updates(asked))
        return self._shown(calendar, event, asked.parameters)

    def _patch(self, asked: Asked) -> Event:
        return self._changed(asked, lambda old: _merged(old, asked.body or {}))

    def _update(self, asked: Asked) -> Event:
        return self._changed(asked, lambda old: asked.body)

    def _changed(self, asked: Asked, fields: Callable[[Event], Mapping[str, Any]]) -> Event:
        calendar = self._calendar(asked, role="writer")
        old = self._event(asked)
        _check_etag(asked, old)
        new = self._all.replace(calendar, old, fields(old))
        self._all.notify(asked.method.rpartition(".")[2], old, new, _send_updates(asked))
        return self._shown(calendar, new, asked.parameters)

    def _move(self, asked: Asked) -> Event:
        calendar = self._calendar(asked, role="writer")
        to = self._calendar(Asked("", {"calendarId": asked.parameters["destination"]}), role="writer")
        old = self._event(asked)
        new = self._all.move(calendar, old, to)
        self._all.notify("move", old, new, _send_updates(asked))
        return self._shown(to, new, asked.parameters)

    def _delete(self, asked: Asked) -> None:
        calendar = self._calendar(asked, role="writer")
        event = self._event(asked)
        _check_etag(asked, event)
        self._all.cancel(calendar, event)
        self._all.notify("delete", event, event, _send_updates(asked))

    # -- who is busy ---------------------------------------------------------------------------------------------------

    def _free_busy(self, asked: Asked) -> dict[str, Any]:
        body = asked.body or {}
        for name in ("timeMin", "timeMax"):
            if not body.get(name):
                raise invalid(f"Missing required field: {name}", reason="required")
        start, end = _range(body)
        assert start is not None
        assert end is not None
        if end - start > LONGEST_FREEBUSY:
            raise invalid("The requested time range is too long.", reason="timeRangeTooLong")
        if len(body.get("items") or ()) > min(body.get("calendarExpansionMax", 50), 50):
            raise invalid("Too many calendars requested.", reason="tooManyCalendarsRequested")
        zone = zone_of(body.get("timeZone") or "UTC")
        return {
            "kind": "calendar#freeBusy",
            "timeMin": _rfc3339(start, UTC),
            "timeMax": _rfc3339(end, UTC),
            "calendars": {item["id"]: self._busy(item["id"], start, end, zone) for item in body.get("items") or ()},
        }

    def _busy(self, calendar_id: str, start: datetime, end: datetime, zone: Any) -> dict[str, Any]:
        try:
            calendar = self._all[calendar_id]
        except GoogleError:
            return {"errors": [{"domain": "global", "reason": "notFound"}], "busy": []}
        spans: list[tuple[datetime, datetime]] = []
        for event in calendar.events.values():
            if "recurringEventId" in event:
                continue
            events = calendar.expanded(event, start, end) if "recurrence" in event else [event]
            spans += [
                calendar.span(each) for each in events if self._is_busy(each) and calendar.touches(each, start, end)
            ]
        merged: list[tuple[datetime, datetime]] = []
        for begins, ends in sorted((max(begins, start), min(ends, end)) for begins, ends in spans):
            if merged and begins <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(ends, merged[-1][1])
            elif begins < ends:
                merged.append((begins, ends))
        return {"busy": [{"start": _rfc3339(begins, zone), "end": _rfc3339(ends, zone)} for begins, ends in merged]}

    def _is_busy(self, event: Event) -> bool:
        mine = [guest for guest in event.get("attendees", ()) if guest.get("self")]
        declined = bool(mine) and mine[0]["responseStatus"] == "declined"
        return event["status"] != "cancelled" and event.get("transparency") != "transparent" and not declined


def moment(event: Event, calendar: Calendar) -> datetime:
    return calendar.span(event)[0]


def _listed(calendar: Calendar) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "kind": "calendar#calendarListEntry",
        "etag": '"p33c"',
        "id": calendar.id,
        "summary": calendar.summary,
        "timeZone": calendar.zone,
        "colorId": "14",
        "backgroundColor": "#9fe1e7",
        "foregroundColor": "#000000",
        "accessRole": calendar.role,
        "defaultReminders": [],
        "conferenceProperties": {"allowedConferenceSolutionTypes": ["hangoutsMeet"]},
    }
    # Google leaves out what is false.
    return shown | {name: True for name in ("primary", "selected", "hidden") if getattr(calendar, name)}


def _page(
    found: list[Any], parameters: Mapping[str, Any], *, most: int, usual: int
) -> tuple[list[Any], dict[str, str]]:
    size = min(parameters.get("maxResults", usual), most)
    token = parameters.get("pageToken", "page0")
    if not token.removeprefix("page").isdecimal():
        raise invalid("Invalid page token value.", reason="invalid")
    start = int(token.removeprefix("page"))
    more = {"nextPageToken": f"page{start + size}"} if start + size < len(found) else {}
    return found[start : start + size], more


def _range(given: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    start, end = (_moment(given[name], name) if given.get(name) else None for name in ("timeMin", "timeMax"))
    if start and end and start >= end:
        raise invalid("The specified time range is empty.", reason="timeRangeEmpty", where=("parameter", "timeMax"))
    return start, end


def _moment(text: str, name: str) -> datetime:
    moment = datetime.fromisoformat(text.upper())
    if moment.tzinfo is None:
        raise invalid("Bad Request", where=("parameter", name))
    return moment.astimezone(UTC)


def _zone(parameters: Mapping[str, Any], calendar: Calendar) -> str:
    name = parameters.get("timeZone") or calendar.zone
    try:
        zone_of(name)
    except ValueError:
        raise invalid("Invalid time zone.", reason="invalidParameter", where=("parameter", "timeZone")) from None
    return name


def _in_zone(given: Mapping[str, Any], value: When, zone: Any) -> dict[str, Any]:
    """As it is shown: in the reader's zone, with the event's own beside it."""
    if not isinstance(value, datetime):
        return {"date": value.isoformat()}
    shown = {"dateTime": _rfc3339(value, zone)}
    return shown | ({"timeZone": given["timeZone"]} if given.get("timeZone") else {})


def _rfc3339(value: datetime, zone: Any) -> str:
    return value.astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")


def _text_of(event: Event) -> str:
    people = [event["organizer"], event["creator"], *event.get("attendees", ())]
    texts = [event.get(key, "") for key in ("summary", "description", "location")]
    texts += [person.get(key, "") for person in people for key in ("email", "displayName")]
    return "\n".join(texts).casefold()


def _merged(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """`old` with what is patched: null takes away, objects are merged, lists are replaced."""
    new = dict(old)
    for key, value in patch.items():
        if value is None:
            new.pop(key, None)
        elif isinstance(value, dict) and isinstance(old.get(key), dict):
            new[key] = _merged(old[key], value)
        else:
            new[key] = value
    return new


def _check_etag(asked: Asked, event: Event) -> None:
    wanted = asked.headers.get("if-match")
    if wanted not in (None, "*", event["etag"]):
        raise GoogleError(412, "conditionNotMet", where=("header", "If-Match"))


def _send_updates(asked: Asked) -> str:
    return asked.parameters.get("sendUpdates") or ("all" if asked.parameters.get("sendNotifications") else "none")
