"""The owner's calendars: what is in them, and when there is time; `appointments` changes them."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from keryx.errors import KeryxError, NotFound, Refused, Unavailable
from keryx.workspace.agenda.appointments import Appointments
from keryx.workspace.agenda.events import Resource, event_of
from keryx.workspace.agenda.free_time import Hours, Span, free_slots, usual_hours
from keryx.workspace.agenda.occurrences import PRIMARY, Occurrences, Place
from keryx.workspace.agenda.times import later, plus, to_google
from keryx.workspace.google import Google
from keryx.workspace.models import CalendarBrief, Event, Page, Slot
from keryx.workspace.plain import one_line

MOST_CALENDARS = 50
MOST_PAGES = 20
"""So many pages of the list of calendars are read."""
LONGEST_FREE_SPAN = timedelta(days=90)

_LISTED_FIELDS = "items(id,summary,summaryOverride,timeZone,primary,selected,hidden,accessRole),nextPageToken"


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
        What stands in several calendars is listed once. `page`: what the page before named as the next. Descriptions
        are left out; `event` has them.
        """
        places = self._places(calendars) if calendars else self._ticked()
        return Occurrences(self._google, self.zone).page(
            places, start, end, query=query, most=most, page=page, strict=bool(calendars)
        )

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

        Over `calendars` (none: the person's own, as far as they are ticked) and what other `people`, by address, show
        of theirs. `hours` None: nine to six on weekdays, of a weekend too when the window is one, or all of a window
        that is at most half a day. Raises `NotFound` when a calendar cannot be looked into, rather than taking it for
        free.
        """
        if later(end, plus(start, LONGEST_FREE_SPAN)):
            raise Refused("that is more than three months; look for free time in less")
        hours = hours or usual_hours((start, end), self.zone)
        now = self._google.account.clock.now()
        start = max(start, now, key=lambda moment: moment.astimezone(UTC))
        if not later(end, start):
            return []
        ids = [place.id for place in (self._places(calendars) if calendars else self._ticked(own=True))]
        asked = list(dict.fromkeys([*ids, *people]))
        if len(asked) > MOST_CALENDARS:
            raise Refused(f"free time is looked for in at most {MOST_CALENDARS} calendars; name fewer")
        body = {"timeMin": to_google(start), "timeMax": to_google(end), "items": [{"id": each} for each in asked]}
        answer = self._google.ask(self._google.calendar().freebusy().query(body=body), doing="look for free time")
        length = timedelta(minutes=max(1, minutes))
        return free_slots((start, end), _busy(answer, asked), length=length, zone=self.zone, hours=hours)

    def found(self, named: Sequence[str]) -> list[str]:
        """The ids of calendars that are given by id or by name; `NotFound` for one there is not."""
        return [place.id for place in self._places(named)]

    # -- asking ----------------------------------------------------------------------------------------------------

    def _places(self, named: Sequence[str]) -> list[Place]:
        if all(each == PRIMARY for each in named):
            return [Place(PRIMARY)][: len(named)]
        briefs = self.calendars()
        places = {brief.id: _place(brief) for brief in briefs}
        by_name = {brief.name.casefold(): places[brief.id] for brief in reversed(briefs)}
        places[PRIMARY] = next((_place(brief) for brief in briefs if brief.primary), Place(PRIMARY))
        found = []
        for each in named:
            place = places.get(each) or by_name.get(" ".join(each.split()).casefold())
            if place is None:
                # Not by their names: those are other people's words, and this is a line of ours.
                raise NotFound(
                    f'there is no calendar "{one_line(each, 60)}"; list_calendars says which there are',
                    spoken="I can't find a calendar by that name.",
                )
            found.append(place)
        return list(dict.fromkeys(found))

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

    def _ticked(self, *, own: bool = False) -> list[Place]:
        """Their own calendar and those that they have ticked; `own`: but no others', whose time is not theirs."""
        places = [
            _place(_brief(each))
            for each in self._listed()
            if each.get("primary")
            or (each.get("selected") and not each.get("hidden") and (not own or each.get("accessRole") == "owner"))
        ]
        return places[:MOST_CALENDARS] or [Place(PRIMARY)]


def _place(brief: CalendarBrief) -> Place:
    try:
        zone = ZoneInfo(brief.zone)
    except (KeyError, ValueError, OSError):
        zone = None  # a name that only Google knows
    return Place(PRIMARY if brief.primary else brief.id, zone)


def _brief(resource: Resource) -> CalendarBrief:
    return CalendarBrief(
        id=str(resource["id"]),
        name=one_line(str(resource.get("summaryOverride") or resource.get("summary") or resource["id"]), 200),
        zone=str(resource.get("timeZone") or "UTC"),
        primary=bool(resource.get("primary")),
        writable=resource.get("accessRole") in ("owner", "writer"),
    )


def _busy(answer: Any, asked: Iterable[str]) -> list[Span]:
    """When any of them is; of a group, when any of its members is."""
    groups, shown = answer.get("groups") or {}, answer.get("calendars") or {}
    spans: list[Span] = []
    for each in asked:
        group = groups.get(each) or {}
        if group.get("errors"):
            raise _unseen(each, group)
        for calendar in group.get("calendars") or [each]:
            found = shown.get(calendar) or {"errors": [{"reason": "notFound"}]}
            if found.get("errors"):
                raise _unseen(calendar, found)
            spans += [(_moment(busy["start"]), _moment(busy["end"])) for busy in found.get("busy", ())]
    return spans


def _unseen(calendar: str, found: Resource) -> KeryxError:
    who, reasons = one_line(calendar, 80), {each.get("reason") for each in found["errors"]}
    if reasons & {"internalError", "backendError"}:
        return Unavailable(f"Google cannot say just now when {who} is free; try again in a minute")
    if "groupTooBig" in reasons:
        return Refused(f"{who} has too many members to look for a time that suits all of them; name some of them")
    return NotFound(
        f"{who} does not show when it is free; leave it out, or ask them",
        spoken="I can't see into one of those calendars.",
    )


def _moment(said: str) -> datetime:
    return datetime.fromisoformat(said)
