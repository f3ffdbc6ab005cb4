"""Making, changing and answering events: nothing is made twice, nor written over what has changed meanwhile."""

import base64
import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from keryx.errors import Refused
from keryx.workspace.agenda.event_store import EventStore, Fields, holds
from keryx.workspace.agenda.events import Resource, event_of, time_fields
from keryx.workspace.agenda.moving import in_order, moved, moved_series
from keryx.workspace.asking.faults import AlreadyThere
from keryx.workspace.google import Google
from keryx.workspace.models import Event, Person, When
from keryx.workspace.plain import one_line

MOST_GUESTS = 200
"""What Google takes."""
MOST_ALIKE = 20
"""So many equal events may be made in a day, each wanted anew."""

Answered = Literal["accepted", "declined", "tentative"]


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
    series that it belongs to is meant, not it alone; a series by its own id is never meant without. Guests are told of
    every change.
    """

    def __init__(self, google: Google, zone: ZoneInfo) -> None:
        self._google = google
        self._store = EventStore(google)
        self._zone = zone

    def read(self, event_id: str, calendar: str) -> Resource:
        """One event as Google has it; `NotFound`, also when it has been deleted."""
        return self._store.read(event_id, calendar)

    def create(self, new: NewEvent, calendar: str, *, again: bool = False) -> Made:
        """Put an event into a calendar. The same one twice on a day is made once; `again`: one more is wanted."""
        body = self._body(new)
        for number in range(MOST_ALIKE):
            event_id = self._id_for(body, calendar, number)
            # Looked for first: of one that is found after a lost answer it could not be told whose it is.
            there = self._store.look(event_id, calendar)
            if there is None:
                try:
                    return Made(self._event(self._store.insert({**body, "id": event_id}, calendar), calendar))
                except AlreadyThere:  # asked for by somebody else at the same moment
                    there = self._store.read(event_id, calendar)
            if not again and _is_still(there, body):
                return Made(self._event(there, calendar), already=True)
        raise Refused("that event was made too often today; change something about it")

    def invite(self, event_id: str, calendar: str, guests: Sequence[Person], *, all_of_them: bool = False) -> Event:
        """Invite people to an event, besides those who are invited; each is sent an invitation."""
        resource = self._meant(self.read(event_id, calendar), calendar, all_of_them)
        self._check_organiser(resource, "invite people to it")
        if resource.get("attendeesOmitted"):
            raise Refused("Google does not show all of its guests, so none can be added here; do it in Google Calendar")
        there = [dict(each) for each in resource.get("attendees") or ()]
        known = {str(each.get("email", "")).casefold() for each in there}
        wanted = {guest.address.casefold(): guest for guest in guests}
        new = [_attendee(guest) for address, guest in wanted.items() if address not in known]
        if len(there) + len(new) > MOST_GUESTS:
            raise Refused(f"an event has at most {MOST_GUESTS} guests; invite fewer")
        return self._change(resource, calendar, {"attendees": [*there, *new]}, doing="invite the guests")

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
        resource = self._meant(self.read(event_id, calendar), calendar, all_of_them)
        self._check_organiser(resource, "change it")
        return self._change(resource, calendar, wanted, doing="change the event")

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

        A series moves as a whole by as much as the occurrence does, by the clock of its own zone, which it keeps;
        `Refused` where its rule names days that do not move along.
        """
        occurrence = self.read(event_id, calendar)
        resource = self._meant(occurrence, calendar, all_of_them)
        self._check_organiser(resource, "move it")
        event = self._event(resource, calendar)
        if not event.rules:
            when = moved(event.when, start, end, zone)
            return self._change(resource, calendar, time_fields(when), doing="move the event")
        planned = self._event({**occurrence, **_planned(occurrence)}, calendar).when
        when, rules = moved_series(event, planned, start, end, zone)
        return self._change(
            resource, calendar, {**time_fields(when), "recurrence": list(rules)}, doing="move the series"
        )

    def delete(self, event_id: str, calendar: str, *, all_of_them: bool = False) -> Event:
        """Delete an event; its guests are told. What was deleted, as it last was."""
        resource = self._meant(self.read(event_id, calendar), calendar, all_of_them)
        self._store.delete(resource, calendar, tell=bool(resource.get("attendees")))
        return self._event(resource, calendar)

    def answer(
        self, event_id: str, calendar: str, response: Answered, *, comment: str = "", all_of_them: bool = False
    ) -> Event:
        """Answer an invitation; whoever invited hears of it."""
        resource = self._meant(self.read(event_id, calendar), calendar, all_of_them)
        attendees = [dict(each) for each in resource.get("attendees") or ()]
        mine = [each for each in attendees if each.get("self")]
        if not mine:
            raise Refused("you are not invited to that event, so there is nothing to answer")
        for each in mine:
            each |= {"responseStatus": response} | ({"comment": comment} if comment else {})
        omitted = {"attendeesOmitted": True} if resource.get("attendeesOmitted") else {}
        return self._change(resource, calendar, {"attendees": attendees, **omitted}, doing="answer the invitation")

    # -- one change ------------------------------------------------------------------------------------------------

    def _meant(self, resource: Resource, calendar: str, all_of_them: bool) -> Resource:
        """The series of an occurrence, when all of them are meant."""
        if resource.get("recurrence") and not all_of_them:
            # Whoever is asked for permission is told of one event.
            raise Refused(
                "that id is a whole series: say all_of_them=true, or give the id of one occurrence as a list of events "
                "shows it",
                spoken="That one recurs. Is it all of them, or just one?",
            )
        series = resource.get("recurringEventId")
        return self.read(str(series), calendar) if all_of_them and series else resource

    def _change(self, resource: Resource, calendar: str, fields: Fields, *, doing: str) -> Event:
        if not holds(resource, fields):
            tell = bool(fields.get("attendees") or resource.get("attendees"))
            resource = self._store.patch(resource, calendar, fields, doing=doing, tell=tell)
        return self._event(resource, calendar)

    def _check_organiser(self, resource: Resource, doing: str) -> None:
        organiser = resource.get("organizer") or {}
        if organiser and not organiser.get("self") and not resource.get("guestsCanModify"):
            # By the address: a name may be anything.
            who = one_line(str(organiser.get("email") or "somebody else"), 80)
            raise Refused(
                f"{who} organises that event, so only they can {doing}; answer it, or write to them",
                spoken="Somebody else organises that one. I can answer it, or write to them.",
            )

    def _event(self, resource: Resource, calendar: str) -> Event:
        return event_of(resource, calendar, self._zone)

    # -- a new one -------------------------------------------------------------------------------------------------

    def _body(self, new: NewEvent) -> Fields:
        if not new.title.strip():
            raise Refused("an event needs a title; give it one")
        when = in_order(new.when)
        if new.rules and not when.all_day:
            # What recurs needs a zone of its own: without one nobody knows what it does when the clocks change.
            when = dataclasses.replace(when, zone=when.zone or self._zone.key)
        times = {key: {name: each for name, each in field.items() if each} for key, field in time_fields(when).items()}
        words = {"summary": new.title, "location": new.where, "description": new.description}
        return {**{key: text for key, text in words.items() if text}, **times, **_recurring(new.rules)}

    def _id_for(self, body: Fields, calendar: str, number: int) -> str:
        """An id made of the content and the day, in the letters that Google takes (base32hex of RFC 2938)."""
        day = self._google.account.clock.now().date().isoformat()
        content = json.dumps([body, calendar, day, number], sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()[:20]
        return base64.b32hexencode(digest).decode().lower().rstrip("=")


def _recurring(rules: Sequence[str]) -> Fields:
    return {"recurrence": list(rules)} if rules else {}


def _is_still(there: Resource, body: Fields) -> bool:
    """Whether an event that was made so is as it was made, and was not deleted, moved or given another title since."""
    as_made = {name: body[name] for name in ("start", "end")}
    title = " ".join(str(there.get("summary", "")).split())
    return there.get("status") != "cancelled" and title == " ".join(body["summary"].split()) and holds(there, as_made)


def _planned(occurrence: Resource) -> dict[str, Any]:
    """When an occurrence is by its series' rule, whatever it was moved to by itself."""
    original = occurrence.get("originalStartTime")
    return {"start": original, "end": original} if original else {}


def _attendee(guest: Person) -> dict[str, str]:
    return {"email": guest.address, **({"displayName": guest.name} if guest.name else {})}
