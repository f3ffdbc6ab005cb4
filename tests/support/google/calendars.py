"""The owner's calendars at the loopback Google, as a test fills and looks at them; what may be done to an event."""

import itertools
import re
import threading
from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from keryx.clock import Clock
from tests.support.google.diary import Calendar, Event, Notice, written
from tests.support.google.recurrence import When, stamp, starts, when
from tests.support.google.refusals import GoogleError, invalid, not_found

_ID = re.compile(r"[a-v0-9]{5,1024}")
_KEPT = ("kind", "id", "etag", "created", "updated", "creator", "organizer", "iCalUID", "htmlLink", "sequence")
_KEPT_OF_INSTANCE = ("recurringEventId", "originalStartTime")
_ANSWERS = ("needsAction", "declined", "tentative", "accepted")
_ALLOWED = {
    "status": ("confirmed", "tentative", "cancelled"),
    "transparency": ("opaque", "transparent"),
    "visibility": ("default", "public", "private", "confidential"),
}


class Calendars:
    """Thread-safe. `address`: the owner's own, which is their first calendar's id too; `zone`: of that calendar."""

    def __init__(self, address: str, zone: str, clock: Clock) -> None:
        self.address = address
        self.clock = clock
        self.lock = threading.RLock()
        self.notices: list[Notice] = []
        self.settings = {"timezone": zone, "locale": "en", "weekStart": "1", "format24HourTime": "true"}
        self.all: dict[str, Calendar] = {}
        self._numbers = itertools.count(1)
        self.add(address, address, zone=zone, primary=True)

    # -- for a test ----------------------------------------------------------------------------------------------------

    def __getitem__(self, calendar_id: str) -> Calendar:
        """`GoogleError` 404 when there is none."""
        found = self.all.get(self.address if calendar_id == "primary" else calendar_id)
        if found is None:
            raise not_found()
        return found

    def add(
        self,
        calendar_id: str,
        summary: str,
        *,
        zone: str | None = None,
        role: str = "owner",
        primary: bool = False,
        selected: bool = True,
        listed: bool = True,
        hidden: bool = False,
    ) -> Calendar:
        """`listed`: in the owner's list; another person's calendar is known without being listed."""
        zone = zone or self.settings["timezone"]
        self.all[calendar_id] = Calendar(calendar_id, summary, zone, role, primary, selected, listed, hidden)
        return self.all[calendar_id]

    def add_event(
        self,
        summary: str,
        start: When,
        end: When,
        *,
        calendar: str = "primary",
        zone: str | None = None,
        guests: Iterable[str | Mapping[str, Any]] = (),
        organizer: str | None = None,
        **fields: Any,
    ) -> Event:
        """An event that is there already. `organizer`: somebody else, who invited the owner."""
        with self.lock:
            found = self[calendar]
            body: Event = {"summary": summary, "start": written(start, zone), "end": written(end, zone), **fields}
            people = [{"email": guest} if isinstance(guest, str) else dict(guest) for guest in guests]
            if organizer and not any(guest["email"] == self.address for guest in people):
                people.append({"email": self.address})
            if organizer and not any(guest["email"] == organizer for guest in people):
                people.append({"email": organizer, "responseStatus": "accepted"})
            if people:
                body["attendees"] = people
            return self.insert(found, body, organizer=organizer)

    # -- for the interface ---------------------------------------------------------------------------------------------

    def insert(self, calendar: Calendar, body: Mapping[str, Any], *, organizer: str | None = None) -> Event:
        event = {key: deepcopy(value) for key, value in body.items() if value is not None and key not in _KEPT}
        event_id = body.get("id") or f"k{next(self._numbers):08d}eventmadehere"
        if not _ID.fullmatch(event_id):
            raise invalid("Invalid resource id value.", reason="invalid")
        if event_id in calendar.events:
            raise GoogleError(409, "duplicate")
        own = organizer or (self.address if calendar.primary else calendar.id)
        now = self._now()
        event |= {
            "kind": "calendar#event",
            "id": event_id,
            "status": event.get("status", "confirmed"),
            "created": now,
            "creator": self._person(organizer or self.address),
            "organizer": self._person(own, shown_as=calendar),
            "iCalUID": body.get("iCalUID") or f"{event_id}@google.com",
            "htmlLink": f"https://www.google.com/calendar/event?eid={event_id}",
            "sequence": 0,
            "eventType": event.get("eventType", "default"),
            "reminders": event.get("reminders", {"useDefault": True}),
        }
        self._check(calendar, event)
        self._stored(calendar, event)
        return event

    def replace(self, calendar: Calendar, old: Event, fields: Mapping[str, Any]) -> Event:
        """The event with other fields, which are all that it has but what Google itself keeps; `GoogleError`."""
        kept = (*_KEPT, *_KEPT_OF_INSTANCE) if "recurringEventId" in old else _KEPT
        new = {key: deepcopy(value) for key, value in fields.items() if value is not None and key not in kept}
        new |= {key: old[key] for key in kept if key in old}
        new.setdefault("status", "confirmed")
        new.setdefault("eventType", "default")
        if "recurringEventId" in old and "recurrence" in new:
            raise invalid("Recurring event instances cannot have a recurrence.", reason="invalid")
        self._check(calendar, new)
        self._check_shared(calendar, old, new)
        if _changed(calendar, old, new, ("start", "end", "recurrence")):
            new["sequence"] = old.get("sequence", 0) + 1
        self._stored(calendar, new)
        if new["status"] == "cancelled":
            self._drop_instances(calendar, new, all_of_them=True)
        elif "recurringEventId" not in new:
            self._drop_instances(calendar, new, all_of_them="recurrence" not in new)
        return new

    def cancel(self, calendar: Calendar, event: Event) -> None:
        if event.get("status") == "cancelled":
            raise GoogleError(410, "deleted")
        event = deepcopy(event) | {"status": "cancelled"}
        self._stored(calendar, event)
        self._drop_instances(calendar, event, all_of_them=True)

    def move(self, calendar: Calendar, event: Event, to: Calendar) -> Event:
        if "recurringEventId" in event:
            raise invalid("Cannot change the organizer of an instance.", reason="cannotChangeOrganizerOfInstance")
        if not event["organizer"].get("self") and event["organizer"]["email"] != calendar.id:
            raise invalid("Cannot change the organizer of an event.", reason="cannotChangeOrganizer")
        if event["id"] in to.events and to.events[event["id"]]["status"] != "cancelled":
            raise GoogleError(409, "duplicate")
        instances = calendar.changed(event)
        moved = event | {"organizer": self._person(to.id, shown_as=to)}
        self._stored(to, moved)
        to.events |= instances
        self.cancel(calendar, event)
        return to.events[event["id"]]

    def notify(self, did: str, old: Event | None, new: Event, send_updates: str) -> None:
        """Keep what Google would send: to the guests of an owner's event, to the organiser of another's."""
        if send_updates == "none":
            return
        before, after = old or {}, new
        if after["organizer"].get("self"):
            people = [guest["email"] for event in (before, after) for guest in event.get("attendees", ())]
            to = tuple(person for person in dict.fromkeys(people) if person != self.address)
        else:
            answered = self._answer(before) != self._answer(after)
            to = (after["organizer"]["email"],) if answered or did == "delete" else ()
        if send_updates == "externalOnly":
            to = tuple(person for person in to if person.rpartition("@")[2] not in ("gmail.com", "googlemail.com"))
        if to:
            self.notices.append(Notice(new["id"], did, to, send_updates))

    # -- inside --------------------------------------------------------------------------------------------------------

    def _stored(self, calendar: Calendar, event: Event) -> None:
        event["updated"] = self._now()
        event["etag"] = f'"{3_400_000_000_000_000 + next(self._numbers) * 2000}"'
        for guest in event.get("attendees", ()):
            guest.setdefault("responseStatus", "needsAction")
            if guest["email"].lower() == self.address.lower():
                guest["self"] = True
            if guest["email"].lower() == event["organizer"]["email"].lower():
                guest["organizer"] = True
        calendar.events[event["id"]] = event

    def _drop_instances(self, calendar: Calendar, master: Event, *, all_of_them: bool) -> None:
        """The changed instances that a recurring event no longer has."""
        changed = calendar.changed(master)
        if not changed:
            return
        kept: set[str] = set()
        if not all_of_them:
            latest = max(stamp(when(event["originalStartTime"], calendar.zone)) for event in changed.values())
            for start in starts(when(master["start"], calendar.zone), master["recurrence"]):
                if stamp(start) > latest:
                    break
                kept.add(f"{master['id']}_{stamp(start)}")
        for key in changed.keys() - kept:
            del calendar.events[key]

    def _check(self, calendar: Calendar, event: Event) -> None:
        values: dict[str, When] = {}
        for key in ("start", "end"):
            given = event.get(key) or {}
            if bool(given.get("date")) == bool(given.get("dateTime")):
                raise invalid(
                    f"Invalid {key} time." if given else f"Missing {key} time.",
                    reason="invalid" if given else "required",
                )
            has_offset = given.get("date") or datetime.fromisoformat(given["dateTime"].upper()).tzinfo
            if not given.get("timeZone") and (not has_offset or ("recurrence" in event and given.get("dateTime"))):
                raise invalid(f"Missing time zone definition for {key} time.", reason="required")
            try:
                values[key] = when(given, calendar.zone)
            except ValueError:
                raise invalid(f"Invalid time zone definition for {key} time.", reason="invalid") from None
        start, end = values["start"], values["end"]
        if isinstance(start, datetime) != isinstance(end, datetime):
            raise invalid("Start and end times must either both be date or both be dateTime.", reason="invalid")
        if start > end or (start == end and not isinstance(start, datetime)):
            raise invalid("The specified time range is empty.", reason="timeRangeEmpty")
        if "recurrence" in event:
            try:
                if next(starts(start, event["recurrence"]), None) is None:
                    raise ValueError
            except (ValueError, TypeError):
                raise invalid("Invalid recurrence rule.", reason="invalid") from None
        for key, allowed in _ALLOWED.items():
            if event.get(key) not in (None, *allowed):
                raise invalid(f"Invalid value for: {key}", reason="invalid")
        for guest in event.get("attendees", ()):
            if not re.fullmatch(r"[^@\s<>,]+@[^@\s<>,]+\.[^@\s<>,]+", guest.get("email") or ""):
                raise invalid("Invalid attendee email.", reason="invalid")
            if guest.get("responseStatus") not in (None, *_ANSWERS):
                raise invalid("Invalid attendee response status.", reason="invalid")

    def _check_shared(self, calendar: Calendar, old: Event, new: Event) -> None:
        """What belongs to the organiser, a guest does not change."""
        if old["organizer"].get("self") or old.get("guestsCanModify") or new["organizer"]["email"] in self.all:
            return
        shared = ("summary", "description", "location", "start", "end", "recurrence", "visibility")
        others = [
            [guest for guest in event.get("attendees", ()) if guest["email"] != self.address] for event in (old, new)
        ]
        addresses = [{guest["email"] for guest in guests} for guests in others]
        if _changed(calendar, old, new, shared) or addresses[0] != addresses[1]:
            message = "Shared properties can only be changed by the organizer of the event."
            raise GoogleError(403, "forbiddenForNonOrganizer", message, domain="calendar")

    def _answer(self, event: Mapping[str, Any]) -> Any:
        mine = [guest for guest in event.get("attendees", ()) if guest["email"] == self.address]
        return (mine[0].get("responseStatus"), mine[0].get("comment")) if mine else None

    def _person(self, address: str, *, shown_as: Calendar | None = None) -> dict[str, Any]:
        person: dict[str, Any] = {"email": address}
        if shown_as and not shown_as.primary and address == shown_as.id:
            person["displayName"] = shown_as.summary
        if address == self.address or (shown_as is not None and address == shown_as.id):
            person["self"] = True
        return person

    def _now(self) -> str:
        return f"{self.clock.now().astimezone(UTC):%Y-%m-%dT%H:%M:%S.000Z}"


def _changed(calendar: Calendar, old: Event, new: Event, keys: Iterable[str]) -> bool:
    """Whether any of it is something else now; a moment that is written in another way is the same."""

    def values(event: Event) -> list[Any]:
        return [when(event[key], calendar.zone) if key in ("start", "end") else event.get(key) for key in keys]

    return values(old) != values(new)
