"""The owner's calendars: what is in them, and when there is time; `appointments` changes them."""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from keryx.errors import KeryxError, NotFound, Refused, Unavailable
from keryx.workspace.appointments import Appointments
from keryx.workspace.events import Resource, event_of
from keryx.workspace.free_time import Hours, Span, free_slots
from keryx.workspace.google import Google
from keryx.workspace.models import CalendarBrief, Event, Page, Slot
from keryx.workspace.plain import one_line
from keryx.workspace.times import as_moment, later, plus, to_google

PRIMARY = "primary"
MOST_LISTED = 100
"""Events on one page."""
MOST_CALENDARS = 50
MOST_PAGES = 20
"""So many pages of one calendar are read to get past what was shown before."""
WHOLE_WINDOW = timedelta(hours=12)
"""Free time in a window of at most this length is looked for in all of it, not only in the hours of a day."""
LONGEST_FREE_SPAN = timedelta(days=90)

_LISTED_FIELDS = "items(id,summary,summaryOverride,timeZone,primary,selected,hidden,accessRole),nextPageToken"
_Cursor = tuple[datetime, frozenset[str]]


class Calendars:
    """One account's calendars. `zone` is the person's IANA zone. Blocking, thread-safe.

    Every method raises what `Google.ask` raises: `NotSignedIn`, `ConfigError`, `NotFound`, `Refused`, `BudgetSpent`,
    `Unavailable`.
    """

    def __init__(self, google: Google, *, zone: str) -> None:
        self._google = google
        self.zone = ZoneInfo(zone)
        self.appointments = Appointments(google, self.zone)
        """What changes them."""

    def calendars(self) -> list[CalendarBrief]:
        """The person's calendars, their own first."""
        return [_brief(resource) for resource in self._listed()]

    def event(self, event_id: str, calendar: str = PRIMARY) -> Event:
        """One event, or one occurrence."""
        found = self.found([calendar])[0] if calendar != PRIMARY else PRIMARY
        return event_of(self.appointments.read(event_id, found), found, self.zone)

    def events(
        self,
        start: datetime,
        end: datetime,
        *,
        calendars: Sequence[str] = (),
        query: str = "",
        most: int = 50,
        page: str | None = None,
    ) -> Page[Event]:
        """What is on between two moments, in order; of what recurs each occurrence. All-day ones begin at midnight.

        `calendars`: ids or names; none: those that the person has ticked. `query`: words in an event or its guests.
        What stands in several calendars is listed once. `page`: what the page before named as the next.
        """
        most = max(1, min(most, MOST_LISTED))
        after = _cursor(page) if page else None
        ids = self.found(calendars) if calendars else self._selected()
        found: dict[tuple[str, str], tuple[datetime, str, Event]] = {}
        more = False
        for calendar, resources, cut in self._occurrences(ids, start, end, query, most, after, named=bool(calendars)):
            more = more or cut
            for resource in resources:
                event = event_of(resource, calendar, self.zone)
                begins = as_moment(event.when.start, self.zone)
                key = (str(resource.get("iCalUID") or event.id), begins.astimezone(UTC).isoformat())
                found.setdefault(key, (begins, event.id, event))
        ordered = sorted(found.values(), key=lambda each: (each[0].astimezone(UTC), not each[2].when.all_day, each[1]))
        shown = ordered[:most]
        next_page = _page(shown, after) if shown and (more or len(ordered) > most) else None
        return Page([event for _, _, event in shown], next_page)

    def free(
        self,
        start: datetime,
        end: datetime,
        *,
        minutes: int,
        calendars: Sequence[str] = (),
        people: Sequence[str] = (),
        hours: Hours | None = None,
    ) -> list[Slot]:
        """When there are at least `minutes` free, in the person's zone and not before now.

        Over `calendars` (none: those that are ticked) and what other `people`, by address, show of theirs. `hours`
        None: nine to six on weekdays, or all of a window that is at most half a day. Raises `NotFound` when a calendar
        cannot be looked into, rather than taking it for free.
        """
        if later(end, plus(start, LONGEST_FREE_SPAN)):
            raise Refused("that is more than three months; look for free time in less")
        now = self._google.account.clock.now()
        start = max(start, now, key=lambda moment: moment.astimezone(UTC))
        if not later(end, start):
            return []
        ids = self.found(calendars) if calendars else self._selected()
        asked = list(dict.fromkeys([*ids, *people]))
        if len(asked) > MOST_CALENDARS:
            raise Refused(f"free time is looked for in at most {MOST_CALENDARS} calendars; name fewer")
        body = {"timeMin": to_google(start), "timeMax": to_google(end), "items": [{"id": each} for each in asked]}
        answer = self._google.ask(self._google.calendar().freebusy().query(body=body), doing="look for free time")
        if hours is None and later(end, plus(start, WHOLE_WINDOW)):
            hours = Hours()
        length = timedelta(minutes=max(1, minutes))
        return free_slots((start, end), _busy(answer, asked), length=length, zone=self.zone, hours=hours)

    def found(self, named: Sequence[str]) -> list[str]:
        """The ids of calendars that are given by id or by name; `NotFound` names those there are."""
        if all(each == PRIMARY for each in named):
            return list(dict.fromkeys(named))
        briefs = self.calendars()
        ids = {brief.id: PRIMARY if brief.primary else brief.id for brief in briefs} | {PRIMARY: PRIMARY}
        by_name = {brief.name.casefold(): ids[brief.id] for brief in reversed(briefs)}
        found = []
        for each in named:
            calendar = ids.get(each) or by_name.get(" ".join(each.split()).casefold())
            if calendar is None:
                there = ", ".join(f'"{one_line(brief.name, 40)}"' for brief in briefs[:20])
                raise NotFound(
                    f'there is no calendar "{one_line(each, 60)}"; there is {there}',
                    spoken="I can't find a calendar by that name.",
                )
            found.append(calendar)
        return list(dict.fromkeys(found))

    # -- asking ----------------------------------------------------------------------------------------------------

    def _listed(self) -> list[Resource]:
        calendar_list = self._google.calendar().calendarList()
        listed: list[Resource] = []
        token = None
        for _ in range(MOST_PAGES):
            request = calendar_list.list(maxResults=250, pageToken=token, fields=_LISTED_FIELDS)
            answer = self._google.ask(request, doing="list the calendars")
            listed += answer.get("items", [])
            token = answer.get("nextPageToken")
            if not token:
                break
        return sorted(listed, key=lambda each: not each.get("primary"))

    def _selected(self) -> list[str]:
        """Their own calendar and those that they have ticked."""
        ids = [
            PRIMARY if each.get("primary") else str(each["id"])
            for each in self._listed()
            if each.get("primary") or (each.get("selected") and not each.get("hidden"))
        ]
        return ids[:MOST_CALENDARS] or [PRIMARY]

    def _occurrences(
        self,
        calendars: Sequence[str],
        start: datetime,
        end: datetime,
        query: str,
        most: int,
        after: _Cursor | None,
        *,
        named: bool,
    ) -> Iterator[tuple[str, list[Resource], bool]]:
        """Of each calendar the next `most` or so that were not shown yet, and whether it has more."""
        events = self._google.calendar().events()
        asked = {
            "singleEvents": True,
            "orderBy": "startTime",
            "timeMin": to_google(start),
            "timeMax": to_google(end),
            "maxResults": min(most + 1, 250),
            "timeZone": self.zone.key,
            **({"q": query} if query else {}),
        }
        requests = {calendar: events.list(calendarId=calendar, **asked) for calendar in calendars}
        kept: dict[str, list[Resource]] = {calendar: [] for calendar in calendars}
        for _ in range(MOST_PAGES):
            answers = self._google.ask_all(list(requests.values()), doing="look into the calendar")
            waiting = {}
            for calendar, answer in zip(requests, answers, strict=True):
                if isinstance(answer, KeryxError):
                    if named or not isinstance(answer, Refused):
                        raise answer
                    continue  # one that is ticked and was taken away
                kept[calendar] += [each for each in answer.get("items", []) if self._is_new(each, calendar, after)]
                token = answer.get("nextPageToken")
                if token and len(kept[calendar]) <= most:
                    waiting[calendar] = events.list(calendarId=calendar, **asked, pageToken=token)
            requests = waiting
            if not requests:
                break
        else:
            raise Unavailable("there is too much in the calendar for one question; ask for a shorter time")
        for calendar, resources in kept.items():
            yield calendar, resources, len(resources) > most

    def _is_new(self, resource: Resource, calendar: str, after: _Cursor | None) -> bool:
        if after is None:
            return True
        event = event_of(resource, calendar, self.zone)
        begins = as_moment(event.when.start, self.zone).astimezone(UTC)
        return begins > after[0] or (begins == after[0] and event.id not in after[1])


def _brief(resource: Resource) -> CalendarBrief:
    return CalendarBrief(
        id=str(resource["id"]),
        name=one_line(str(resource.get("summaryOverride") or resource.get("summary") or resource["id"]), 200),
        zone=str(resource.get("timeZone") or "UTC"),
        primary=bool(resource.get("primary")),
        writable=resource.get("accessRole") in ("owner", "writer"),
    )


def _busy(answer: Any, asked: Iterable[str]) -> list[Span]:
    calendars = answer.get("calendars", {})
    spans: list[Span] = []
    for calendar in asked:
        shown = calendars.get(calendar) or {}
        if calendar not in calendars or shown.get("errors"):
            raise NotFound(
                f"{one_line(calendar, 80)} does not show when it is free; leave it out, or ask them",
                spoken="I can't see into one of those calendars.",
            )
        spans += [(_moment(each["start"]), _moment(each["end"])) for each in shown.get("busy", ())]
    return spans


def _moment(said: str) -> datetime:
    return datetime.fromisoformat(said)


# -- pages: where the last one ended, in words that only we read -------------------------------------------------------


def _page(shown: Sequence[tuple[datetime, str, Event]], before: _Cursor | None) -> str:
    last = shown[-1][0].astimezone(UTC)
    ids = {event_id for begins, event_id, _ in shown if begins.astimezone(UTC) == last}
    if before is not None and before[0] == last:
        ids |= before[1]
    return base64.urlsafe_b64encode(json.dumps([last.isoformat(), sorted(ids)]).encode()).decode().rstrip("=")


def _cursor(page: str) -> _Cursor:
    try:
        last, ids = json.loads(base64.urlsafe_b64decode(page + "=" * (-len(page) % 4)))
        moment = datetime.fromisoformat(last)
        if moment.tzinfo is None or not all(isinstance(each, str) for each in ids):
            raise ValueError
        return moment.astimezone(UTC), frozenset(ids)
    except (ValueError, TypeError, binascii.Error, RecursionError, OverflowError):
        raise Refused("that is no page of this list; ask again from the beginning") from None
