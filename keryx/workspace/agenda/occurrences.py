"""What is on in several calendars: in order, each thing once, a page at a time."""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from keryx.errors import KeryxError, Refused
from keryx.workspace.agenda.events import Resource, event_of
from keryx.workspace.agenda.times import as_moment, later, to_google
from keryx.workspace.google import Google
from keryx.workspace.models import Event, Page

PRIMARY = "primary"
MOST_LISTED = 100
"""Events on one page."""
MOST_ASKED = 250
"""Events in one answer of Google's."""
MOST_ANSWERS = 20
"""So many answers about one calendar are read for one page."""
FURTHEST_APART = timedelta(hours=26)
"""Between the clocks of two zones."""
_SLACK = timedelta(hours=1)
_FIELDS = (
    "items(id,iCalUID,status,etag,summary,location,start,end,originalStartTime,recurringEventId,transparency,visibility,"
    "eventType,organizer,attendees(email,displayName,self,organizer,resource,responseStatus),htmlLink,hangoutLink,"
    "conferenceData/entryPoints),nextPageToken"
)
"""All but the descriptions, which may be long, and which a list does not show."""

_Cursor = tuple[datetime, frozenset[str]]
"""When the last event began that was shown, and the keys of those that began then."""


@dataclass(frozen=True)
class Place:
    """A calendar that is looked into. `zone`: its own; None when that is not known."""

    id: str
    zone: ZoneInfo | None = None


@dataclass(frozen=True)
class _Found:
    begins: datetime
    """UTC."""
    key: str
    event: Event


@dataclass
class _Reading:
    """What has been read of one calendar."""

    place: str
    asked: dict[str, Any]
    apart: timedelta
    """How far what Google puts next may lie before what it put last, by the person's days."""
    token: str | None = None
    found: list[_Found] = field(default_factory=list)
    known_until: datetime | None = None
    """All that begins before this has been read; None: all there is."""

    def enough(self, most: int) -> bool:
        until = self.known_until
        return until is None or sum(each.begins <= until for each in self.found) > most


class Occurrences:
    """Lists events. `zone` is the person's, whose days all-day events are on. Blocking, thread-safe."""

    def __init__(self, google: Google, zone: ZoneInfo) -> None:
        self._google = google
        self._zone = zone

    def page(
        self,
        places: Sequence[Place],
        start: datetime,
        end: datetime,
        *,
        query: str = "",
        most: int = MOST_LISTED,
        page: str | None = None,
        strict: bool = True,
    ) -> Page[Event]:
        """The next events between two moments. `strict` False: a calendar that Google refuses to show is left out."""
        if not later(end, start):
            raise Refused("what is looked for ends before it begins; turn the two round")
        most = max(1, min(most, MOST_LISTED))
        after = _cursor(page) if page else None
        begun = start.astimezone(UTC)
        if after is not None and after[0] > begun:
            # Only what ends after a moment is told of, and an appointment may take no time.
            begun = after[0] - timedelta(seconds=1)
        if not later(end, begun):
            return Page([])
        window = (start.astimezone(UTC), end.astimezone(UTC))
        readings = [self._reading(place, begun, window[1], query, most, after) for place in places]
        self._read(readings, window, most, after, strict=strict)
        merged: dict[tuple[str, datetime], _Found] = {}
        for each in (each for reading in readings for each in reading.found):
            merged.setdefault((each.key, each.begins), each)
        ordered = sorted(merged.values(), key=lambda each: (each.begins, not each.event.when.all_day, each.event.id))
        shown = ordered[:most]
        return Page([each.event for each in shown], _page(shown, after) if len(ordered) > most else None)

    def _reading(
        self, place: Place, start: datetime, end: datetime, query: str, most: int, after: _Cursor | None
    ) -> _Reading:
        # An all-day event is on its day wherever one is; Google has it where its calendar is.
        back, ahead = _apart(place.zone, self._zone, (start, end))
        asked = {
            "singleEvents": True,
            "orderBy": "startTime",
            "timeMin": to_google(start - back),
            "timeMax": to_google(end + ahead),
            "maxResults": min(most + 1 + len(after[1] if after else ()), MOST_ASKED),
            "timeZone": self._zone.key,
            "fields": _FIELDS,
            **({"q": query} if query else {}),
        }
        return _Reading(place.id, asked, back + ahead)

    def _read(
        self,
        readings: list[_Reading],
        window: tuple[datetime, datetime],
        most: int,
        after: _Cursor | None,
        *,
        strict: bool,
    ) -> None:
        """Read on in each until there are more than `most` that nothing unread can come before."""
        events = self._google.calendar().events()
        waiting = readings
        for _ in range(MOST_ANSWERS):
            requests = [events.list(calendarId=each.place, **each.asked, pageToken=each.token) for each in waiting]
            answers = self._google.ask_all(requests, doing="look into the calendar")
            for reading, answer in zip(waiting, answers, strict=True):
                if isinstance(answer, KeryxError):
                    if strict or reading.place == PRIMARY:
                        raise answer
                    reading.token = reading.known_until = None
                    continue
                found = [self._found(resource, reading.place) for resource in answer.get("items", [])]
                reading.found += [each for each in found if self._is_on(each, window) and _is_new(each, after)]
                reading.token = answer.get("nextPageToken")
                if reading.token is None:
                    reading.known_until = None
                elif found:
                    reading.known_until = found[-1].begins - reading.apart
            waiting = [each for each in waiting if each.token and not each.enough(most)]
            if not waiting:
                return
        raise Refused("there is too much in the calendar for one question; ask for a shorter time")

    def _found(self, resource: Resource, calendar: str) -> _Found:
        event = event_of(resource, calendar, self._zone)
        return _Found(as_moment(event.when.start, self._zone).astimezone(UTC), _key(resource), event)

    def _is_on(self, found: _Found, window: tuple[datetime, datetime]) -> bool:
        start, end = window
        ends = as_moment(found.event.when.end, self._zone).astimezone(UTC)
        return found.begins < end and (ends > start or found.begins == ends == start)


def _apart(there: ZoneInfo | None, here: ZoneInfo, moments: Iterable[datetime]) -> tuple[timedelta, timedelta]:
    """How much earlier, and how much later, a day may be in the zone `there`."""
    if there is None:
        return FURTHEST_APART, FURTHEST_APART
    if there.key == here.key:
        return timedelta(), timedelta()
    later_by = [(here.utcoffset(each) or timedelta()) - (there.utcoffset(each) or timedelta()) for each in moments]
    return max(timedelta(), -min(later_by)) + _SLACK, max(timedelta(), max(later_by)) + _SLACK


def _key(resource: Resource) -> str:
    """The same for the copies of one occurrence in several calendars."""
    original = resource.get("originalStartTime") or {}
    parts = [resource.get("iCalUID") or resource.get("id"), original.get("dateTime") or original.get("date")]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


# -- pages: where the last one ended, in words that only we read -------------------------------------------------------


def _is_new(found: _Found, after: _Cursor | None) -> bool:
    return after is None or found.begins > after[0] or (found.begins == after[0] and found.key not in after[1])


def _page(shown: Sequence[_Found], before: _Cursor | None) -> str:
    last = shown[-1].begins
    keys = {each.key for each in shown if each.begins == last}
    if before is not None and before[0] == last:
        keys |= before[1]
    return base64.urlsafe_b64encode(json.dumps([last.isoformat(), sorted(keys)]).encode()).decode().rstrip("=")


def _cursor(page: str) -> _Cursor:
    try:
        last, keys = json.loads(base64.urlsafe_b64decode(page + "=" * (-len(page) % 4)))
        moment = datetime.fromisoformat(last)
        if moment.tzinfo is None or not isinstance(keys, list) or not all(isinstance(each, str) for each in keys):
            raise ValueError
        return moment.astimezone(UTC), frozenset(keys)
    except (ValueError, TypeError, binascii.Error, RecursionError, OverflowError):
        raise Refused("that is no page of this list; ask again from the beginning") from None
