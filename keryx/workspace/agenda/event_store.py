"""Events as Google keeps them: read, and written once, which is found out by looking where an answer was lost."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from keryx.errors import KeryxError, NotFound
from keryx.workspace.agenda.events import Resource
from keryx.workspace.asking.faults import AlreadyThere, Changed, Gone, MaybeDone
from keryx.workspace.google import Google
from keryx.workspace.plain import one_line

Fields = Mapping[str, Any]
_ID = re.compile(r"[0-9A-Za-z_@.-]{1,1024}")


class EventStore:
    """The events of one account's calendars. Blocking, thread-safe.

    Each method takes a calendar's id and raises what `Google.ask` raises. Whatever writes raises `MaybeDone` when it
    cannot be found out whether it was done. `tell`: the event's guests, or whoever invited, are sent word of it.
    """

    def __init__(self, google: Google) -> None:
        self._google = google

    def read(self, event_id: str, calendar: str) -> Resource:
        """One event; `NotFound`, also when it has been deleted."""
        found = self.look(event_id, calendar)
        if found is None:
            raise NotFound(f'there is no event "{one_line(event_id, 60)}"; use an id that a list of events gave')
        if _is_deleted(found):
            raise _deleted()
        return found

    def look(self, event_id: str, calendar: str) -> Resource | None:
        """One event, also one that has been deleted; None: there never was one."""
        if not _ID.fullmatch(event_id):
            return None
        try:
            request = self._events().get(calendarId=calendar, eventId=event_id)
            return self._google.ask(request, doing="look at the event")
        except Gone:
            return {"id": event_id, "status": "cancelled"}
        except NotFound:
            return None

    def insert(self, body: Fields, calendar: str) -> Resource:
        """Make an event whose id, in `body`, is free; `AlreadyThere` when it is not. Nobody is told."""
        request = self._events().insert(calendarId=calendar, body=body, sendUpdates="none")
        try:
            return self._google.ask(request, doing="make the event", once=True)
        except MaybeDone as unclear:
            there = self._look_after(unclear, body["id"], calendar)
            if there is not None:
                return there
        try:
            return self._google.ask(request, doing="make the event", once=True)
        except AlreadyThere:
            return self.read(body["id"], calendar)  # the first try came late

    def patch(self, resource: Resource, calendar: str, fields: Fields, *, doing: str, tell: bool) -> Resource:
        """Change an event; `Changed` when it is no longer as `resource` was read."""
        event_id = str(resource["id"])
        request = self._events().patch(calendarId=calendar, eventId=event_id, body=fields, sendUpdates=_sent(tell))
        request.headers["If-Match"] = str(resource.get("etag", ""))
        try:
            return self._google.ask(request, doing=doing, once=True)
        except MaybeDone as lost:
            unclear, there = lost, self._look_after(lost, event_id, calendar)
        if there is not None and there.get("etag") == resource.get("etag"):
            try:
                return self._google.ask(request, doing=doing, once=True)
            except Changed:
                there = self._look_after(unclear, event_id, calendar)  # the first try came late
        if there is None or _is_deleted(there):
            raise _deleted()
        if not holds(there, fields):
            raise Changed("the event was changed meanwhile; look at it again")
        return there

    def delete(self, resource: Resource, calendar: str, *, tell: bool) -> None:
        """Delete an event; `Changed` when it is no longer as `resource` was read."""
        event_id = str(resource["id"])
        request = self._events().delete(calendarId=calendar, eventId=event_id, sendUpdates=_sent(tell))
        request.headers["If-Match"] = str(resource.get("etag", ""))
        for last in (False, True):
            try:
                self._google.ask(request, doing="delete the event", once=True)
            except Gone:
                return  # somebody else was quicker
            except (MaybeDone, Changed) as trouble:
                there = self._look_after(trouble, event_id, calendar)
                if there is None or _is_deleted(there):
                    return
                if last or isinstance(trouble, Changed):
                    raise
            else:
                return

    def _look_after(self, trouble: KeryxError, event_id: str, calendar: str) -> Resource | None:
        """What is there once a try to write it came to nothing, or so it seems; `trouble` when that cannot be seen."""
        try:
            return self.look(event_id, calendar)
        except KeryxError:
            raise trouble from None

    def _events(self) -> Any:
        return self._google.calendar().events()


def _sent(tell: bool) -> str:
    return "all" if tell else "none"


def _is_deleted(resource: Resource) -> bool:
    return resource.get("status") == "cancelled"


def _deleted() -> Gone:
    return Gone("that event has been deleted; list the events again")


# -- what is there already ---------------------------------------------------------------------------------------------


def holds(resource: Resource, fields: Fields) -> bool:
    """Whether an event has all that `fields` would write."""
    return all(_holds(name, resource.get(name), wanted) for name, wanted in fields.items())


def _holds(name: str, there: Any, wanted: Any) -> bool:
    if name in ("start", "end"):
        return all(value is None or _same_time(there, key, value) for key, value in wanted.items())
    if name == "attendees":
        by_address = {_address(each): each for each in there or ()}
        return all(_same_guest(by_address.get(_address(each)), each) for each in wanted)
    return there == wanted or not (there or wanted)


def _same_time(there: Any, key: str, wanted: str) -> bool:
    value = (there or {}).get(key)
    if key != "dateTime" or not value:
        return value == wanted
    return datetime.fromisoformat(value) == datetime.fromisoformat(wanted)


def _same_guest(there: Any, wanted: Fields) -> bool:
    return there is not None and all(wanted.get(name, there.get(name)) == there.get(name) for name in _ANSWER)


_ANSWER = ("responseStatus", "comment")


def _address(guest: Fields) -> str:
    return str(guest.get("email", "")).casefold()
