"""Making, changing and answering events: nothing is made twice, nor written over what has changed meanwhile."""

import base64
import contextlib
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from keryx.errors import KeryxError, NotFound, Refused
from keryx.workspace.events import Resource, event_of, time_fields
from keryx.workspace.faults import AlreadyThere, Changed, Gone, MaybeDone
from keryx.workspace.google import Google
from keryx.workspace.models import Event, Person, When
from keryx.workspace.moving import in_order, moved, moved_series
from keryx.workspace.plain import one_line

MOST_GUESTS = 100
MOST_ALIKE = 20
"""So many equal events may be made in a day, each wanted anew."""
_ID = re.compile(r"[0-9A-Za-z_@.-]{1,1024}")

Answered = Literal["accepted", "declined", "tentative"]
Fields = dict[str, Any]


@dataclass(frozen=True)
class NewEvent:
    """An event to be made. Nobody is invited with it."""

    title: str
    when: When
    where: str = ""
    description: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Made:
    """What came of making an event."""

    event: Event
    already: bool = False
    """The same one was there, made earlier; nothing was added."""


class Appointments:
    """Changes one account's calendars. `zone` is the person's. Blocking, thread-safe.

    Every method takes a calendar's id and raises what `Google.ask` raises, `Changed` when the event is no longer as it
    was read, `MaybeDone` when it cannot be found out whether a change was made. `all_of_them`: of an occurrence, the
    series that it belongs to is meant, not it alone. Guests are told of every change.
    """

    def __init__(self, google: Google, zone: ZoneInfo) -> None:
        self._google = google
        self._zone = zone

    def read(self, event_id: str, calendar: str) -> Resource:
        """One event as Google has it; `NotFound`, also when it has been deleted."""
        request = self._events().get(calendarId=calendar, eventId=_checked(event_id))
        resource = self._google.ask(request, doing="look at the event")
        if resource.get("status") == "cancelled":
            raise Gone("that event has been deleted; list the events again")
        return resource

    def create(self, new: NewEvent, calendar: str, *, again: bool = False) -> Made:
        """Put an event into a calendar. The same one twice on a day is made once; `again`: one more is wanted."""
        if not new.title.strip():
            raise Refused("an event needs a title; give it one")
        body = {
            "summary": new.title,
            "location": new.where,
            "description": new.description,
            "recurrence": list(new.rules),
            **time_fields(in_order(new.when)),
        }
        if new.rules and not new.when.all_day:
            # What recurs needs a zone of its own: without one nobody knows what it does when the clocks change.
            zone = new.when.zone or self._zone.key
            body |= time_fields(dataclasses.replace(new.when, zone=zone))
        body = {name: _without_nothing(value) for name, value in body.items() if value}
        for number in range(MOST_ALIKE):
            event_id = self._id_for(body, calendar, number)
            try:
                return Made(self._event(self._made({**body, "id": event_id}, calendar), calendar))
            except AlreadyThere:
                # There, or deleted since: Google keeps the id of a deleted one taken.
                there = self._kept(event_id, calendar)
                if there is not None and not again:
                    return Made(self._event(there, calendar), already=True)
        raise Refused("that event was made and deleted too often today; change something about it")

    def invite(self, event_id: str, calendar: str, guests: Sequence[Person], *, all_of_them: bool = False) -> Event:
        """Invite people to an event, besides those who are invited; each is sent an invitation."""

        def changed(resource: Resource) -> Fields:
            self._organised_by_owner(resource, "invite people to it")
            if resource.get("attendeesOmitted"):
                raise Refused("Google does not show who else is invited, and they would be left out; invite them there")
            there = [dict(each) for each in resource.get("attendees") or ()]
            known = {str(each.get("email", "")).casefold() for each in there}
            wanted = {guest.address.casefold(): guest for guest in guests}
            new = [_attendee(guest) for address, guest in wanted.items() if address not in known]
            if len(there) + len(new) > MOST_GUESTS:
                raise Refused(f"an event has at most {MOST_GUESTS} guests; invite fewer")
            return {"attendees": [*there, *new]} if new else {}

        return self._change(event_id, calendar, changed, all_of_them, doing="invite the guests")

    def change(
        self,
        event_id: str,
        calendar: str,
        *,
        title: str | None = None,
        where: str | None = None,
        description: str | None = None,
        all_of_them: bool = False,
    ) -> Event:
        """Change what an event says; None leaves a thing as it is."""
        fields = {"summary": title, "location": where, "description": description}
        wanted = {name: value for name, value in fields.items() if value is not None}
        if not wanted:
            raise Refused("nothing was named that should change; give a title, a place or a description")
        if title is not None and not title.strip():
            raise Refused("an event needs a title; give it one")

        def changed(resource: Resource) -> Fields:
            self._organised_by_owner(resource, "change it")
            return wanted

        return self._change(event_id, calendar, changed, all_of_them, doing="change the event")

    def move(
        self,
        event_id: str,
        calendar: str,
        start: date | datetime,
        *,
        end: date | datetime | None = None,
        zone: str | None = None,
        all_of_them: bool = False,
    ) -> Event:
        """Move an event to another time. Without an end it stays as long as it is; a day makes it last all day.

        A series moves as a whole by as much as the occurrence does, by the clock of its own zone; `Refused` where its
        rule names days that do not move along. It keeps its zone unless another is given.
        """

        occurrence = self.read(event_id, calendar)

        def changed(resource: Resource) -> Fields:
            self._organised_by_owner(resource, "move it")
            event = self._event(resource, calendar)
            if not event.rules:
                return time_fields(moved(event.when, start, end, zone))
            now, planned = (
                self._event(each, calendar).when for each in (occurrence, {**occurrence, **_planned(occurrence)})
            )
            when, rules = moved_series(event, planned, now, start, end, zone)
            return {**time_fields(when), "recurrence": list(rules)}

        return self._change(event_id, calendar, changed, all_of_them, doing="move the event")

    def delete(self, event_id: str, calendar: str, *, all_of_them: bool = False) -> Event:
        """Delete an event; its guests are told. What was deleted, as it last was."""
        resource = self._meant(self.read(event_id, calendar), calendar, all_of_them)
        event = self._event(resource, calendar)
        request = self._events().delete(
            calendarId=calendar, eventId=event.id, sendUpdates="all" if event.guests else "none"
        )
        request.headers["If-Match"] = event.etag
        with contextlib.suppress(Gone):  # somebody else was quicker, or the first try, which came late
            try:
                self._google.ask(request, doing="delete the event", once=True)
            except MaybeDone as lost:
                if self._looked_up(event.id, calendar, lost) is not None:
                    self._delete_again(request, event.id, calendar)
        return event

    def answer(
        self, event_id: str, calendar: str, response: Answered, *, comment: str = "", all_of_them: bool = False
    ) -> Event:
        """Answer an invitation; whoever invited hears of it."""

        def changed(resource: Resource) -> Fields:
            attendees = [dict(each) for each in resource.get("attendees") or ()]
            mine = [each for each in attendees if each.get("self")]
            if not mine:
                raise Refused("you are not invited to that event, so there is nothing to answer")
            for each in mine:
                each["responseStatus"] = response
                if comment:
                    each["comment"] = comment
            omitted = {"attendeesOmitted": True} if resource.get("attendeesOmitted") else {}
            return {"attendees": attendees, **omitted}

        return self._change(event_id, calendar, changed, all_of_them, doing="answer the invitation")

    def _delete_again(self, request: Any, event_id: str, calendar: str) -> None:
        try:
            self._google.ask(request, doing="delete the event", once=True)
        except Changed as changed_since:  # a deletion is a change, too
            if self._looked_up(event_id, calendar, changed_since) is not None:
                raise

    def _made(self, body: Fields, calendar: str) -> Resource:
        request = self._events().insert(calendarId=calendar, body=body, sendUpdates="none")
        try:
            return self._google.ask(request, doing="make the event", once=True)
        except MaybeDone as lost:
            there = self._looked_up(body["id"], calendar, lost)
            if there is not None:
                return there
        try:
            return self._google.ask(request, doing="make the event", once=True)
        except AlreadyThere:
            there = self._kept(body["id"], calendar)
            if there is None:
                raise
            return there  # by the first try, which came late

    # -- one change ------------------------------------------------------------------------------------------------

    def _change(
        self,
        event_id: str,
        calendar: str,
        changed: Callable[[Resource], Fields],
        all_of_them: bool,
        *,
        doing: str,
    ) -> Event:
        """Read an event, and write what `changed` makes of it, if it still is as it was read."""
        resource = self._meant(self.read(event_id, calendar), calendar, all_of_them)
        fields = changed(resource)
        if not fields:
            return self._event(resource, calendar)
        guests = fields.get("attendees") or resource.get("attendees")
        request = self._events().patch(
            calendarId=calendar, eventId=resource["id"], body=fields, sendUpdates="all" if guests else "none"
        )
        request.headers["If-Match"] = str(resource.get("etag", ""))
        try:
            return self._event(self._google.ask(request, doing=doing, once=True), calendar)
        except MaybeDone as lost:
            there = self._looked_up(resource["id"], calendar, lost)
        if there is not None and there.get("etag") == resource.get("etag"):
            try:
                return self._event(self._google.ask(request, doing=doing, once=True), calendar)
            except Changed as changed_since:  # perhaps by the first try, which came late
                there = self._looked_up(resource["id"], calendar, changed_since)
        if there is None:
            raise Gone("that event has been deleted; list the events again")
        if not _holds(there, fields):
            raise Changed("the event was changed meanwhile; look at it again")
        return self._event(there, calendar)  # it had arrived; only the answer was lost

    def _meant(self, resource: Resource, calendar: str, all_of_them: bool) -> Resource:
        """The series of an occurrence, when all of them are meant."""
        series = resource.get("recurringEventId")
        return self.read(str(series), calendar) if all_of_them and series else resource

    def _kept(self, event_id: str, calendar: str) -> Resource | None:
        """The event, unless it has been deleted."""
        try:
            return self.read(event_id, calendar)
        except NotFound:
            return None

    def _looked_up(self, event_id: str, calendar: str, lost: KeryxError) -> Resource | None:
        """The same, to see what became of something; raises `lost` when that cannot be found out."""
        try:
            return self._kept(event_id, calendar)
        except KeryxError:
            raise lost from None

    def _organised_by_owner(self, resource: Resource, doing: str) -> None:
        organiser = resource.get("organizer") or {}
        if organiser and not organiser.get("self") and not resource.get("guestsCanModify"):
            who = one_line(str(organiser.get("displayName") or organiser.get("email") or "somebody else"), 80)
            raise Refused(
                f"{who} organises that event, so only they can {doing}; answer it, or write to them",
                spoken="Somebody else organises that one. I can answer it, or write to them.",
            )

    def _event(self, resource: Resource, calendar: str) -> Event:
        return event_of(resource, calendar, self._zone)

    def _events(self) -> Any:
        return self._google.calendar().events()

    def _id_for(self, body: Mapping[str, Any], calendar: str, number: int) -> str:
        """An id made of the content and the day, in the letters that Google takes (base32hex of RFC 2938)."""
        day = self._google.account.clock.now().date().isoformat()
        content = json.dumps([body, calendar, day, number], sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()[:20]
        return base64.b32hexencode(digest).decode().lower().rstrip("=")


def _checked(event_id: str) -> str:
    if not _ID.fullmatch(event_id):
        raise NotFound(f'there is no event "{one_line(event_id, 60)}"; use an id that a list of events gave')
    return event_id


def _planned(occurrence: Resource) -> Fields:
    """When an occurrence is by its series' rule, whatever it was moved to by itself."""
    original = occurrence.get("originalStartTime")
    return {"start": original, "end": original} if original else {}


def _attendee(guest: Person) -> dict[str, str]:
    return {"email": guest.address, **({"displayName": guest.name} if guest.name else {})}


def _without_nothing(value: Any) -> Any:
    return {name: each for name, each in value.items() if each is not None} if isinstance(value, dict) else value


def _holds(resource: Resource, fields: Fields) -> bool:
    """Whether an event has all that was to be written."""
    for name, wanted in fields.items():
        there = resource.get(name)
        if name in ("start", "end"):
            if any(value is not None and not _same(there, key, value) for key, value in wanted.items()):
                return False
        elif name == "attendees":
            answers = {str(each.get("email")).casefold(): each.get("responseStatus") for each in there or ()}
            for each in wanted:
                address = str(each.get("email")).casefold()
                if address not in answers or each.get("responseStatus", answers[address]) != answers[address]:
                    return False
        elif there != wanted and not (there is None and not wanted):
            return False
    return True


def _same(there: Any, key: str, wanted: str) -> bool:
    value = (there or {}).get(key)
    if key != "dateTime" or not value:
        return value == wanted
    return datetime.fromisoformat(value) == datetime.fromisoformat(wanted)
