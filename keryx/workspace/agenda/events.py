"""Google's event resources as models, and back. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, TypeVar, cast, get_args
from zoneinfo import ZoneInfo

from keryx.workspace.agenda.times import settled
from keryx.workspace.mail.html_text import shown_text
from keryx.workspace.models import Event, Guest, Person, Response, When
from keryx.workspace.plain import one_line, plain

NO_TITLE = "(no title)"
MOST_DESCRIPTION_CHARS = 100_000

Resource = Mapping[str, Any]
Day = TypeVar("Day", date, datetime)
_LINK = re.compile(r"https://[!-~]{3,2000}")
_KINDS = {"outOfOffice": "Out of office", "focusTime": "Focus time", "workingLocation": "Working location"}


def event_of(resource: Resource, calendar: str, zone: ZoneInfo) -> Event:
    """An event of `calendar`; `zone` is the person's, in which moments without another one are meant."""
    guests = tuple(_guest(each) for each in _dicts(resource.get("attendees")) if not each.get("resource"))
    mine: Response | None = next((guest.response for guest in guests if guest.me), None)
    organiser = resource.get("organizer") or {}
    return Event(
        id=_text(resource, "id"),
        calendar=calendar,
        title=one_line(_text(resource, "summary"), 300) or _title(resource),
        when=when_of(resource, zone),
        where=one_line(_text(resource, "location"), 300),
        description=_description(resource),
        guests=guests,
        organiser=_person(organiser) if organiser else None,
        mine=mine,
        series=resource.get("recurringEventId"),
        rules=tuple(str(rule) for rule in resource.get("recurrence") or ()),
        busy=resource.get("transparency") != "transparent",
        cancelled=resource.get("status") == "cancelled",
        link=_text(resource, "htmlLink"),
        meeting=_meeting(resource),
        etag=_text(resource, "etag"),
    )


def _title(resource: Resource) -> str:
    if kind := _KINDS.get(_text(resource, "eventType")):
        return kind
    # Of a calendar that shows only when somebody is busy there is no more than that.
    return "Busy" if resource.get("visibility") == "private" else NO_TITLE


def when_of(resource: Resource, zone: ZoneInfo) -> When:
    """When it is; of a cancelled occurrence, which has no times of its own, when it would have been."""
    start = resource.get("start") or resource.get("originalStartTime") or {}
    end = resource.get("end") or start
    begins, ends = _moment(start, zone), _moment(end, zone)
    if isinstance(begins, datetime) != isinstance(ends, datetime):
        ends = begins
    if not isinstance(begins, datetime):
        # Whatever has no end of its own lasts that day.
        return When(begins, max(ends, begins + timedelta(days=1)))
    own = _zone(start.get("timeZone"))
    return When(begins, ends, own.key if own else None)


def _moment(value: Resource, zone: ZoneInfo) -> date | datetime:
    """What is no time counts as the beginning of 1970."""
    own = _zone(value.get("timeZone")) or zone
    try:
        if said := value.get("date"):
            return _within_reach(date.fromisoformat(str(said)))
        moment = _within_reach(datetime.fromisoformat(str(value.get("dateTime"))))
    except ValueError:
        return datetime.fromtimestamp(0, own)
    return settled(moment.replace(tzinfo=own)) if moment.tzinfo is None else moment.astimezone(own)


def _within_reach(value: Day) -> Day:
    # In the very first year and the last one, the day after or another zone's clock may lie outside of the calendar.
    return value.replace(year=min(max(value.year, 2), 9998))


def _zone(name: Any) -> ZoneInfo | None:
    try:
        return ZoneInfo(str(name)) if name else None
    except (KeyError, ValueError, OSError):
        return None  # a name that only Google knows: the moment itself has its offset


def _meeting(resource: Resource) -> str:
    """Google's own conferences and others' stand in different places."""
    entries = _dicts((resource.get("conferenceData") or {}).get("entryPoints"))
    links = [_text(each, "uri") for each in entries if each.get("entryPointType") == "video"]
    return next((link for link in (*links, _text(resource, "hangoutLink")) if _LINK.fullmatch(link)), "")


def _description(resource: Resource) -> str:
    written = _text(resource, "description")[:MOST_DESCRIPTION_CHARS]
    # Google's own page writes HTML, other programs plain text.
    return (
        shown_text(written, most=MOST_DESCRIPTION_CHARS).text if "</" in written or "<br" in written else plain(written)
    )


def _guest(attendee: Resource) -> Guest:
    said = _text(attendee, "responseStatus")
    response: Response = cast(Response, said) if said in get_args(Response) else "needsAction"
    return Guest(_person(attendee), response, bool(attendee.get("self")), bool(attendee.get("organizer")))


def _person(value: Resource) -> Person:
    return Person(one_line(_text(value, "email"), 320), one_line(_text(value, "displayName"), 200))


def _text(resource: Resource, name: str) -> str:
    value = resource.get(name)
    return value if isinstance(value, str) else ""


def _dicts(values: Any) -> Sequence[Resource]:
    return [value for value in values if isinstance(value, Mapping)] if isinstance(values, list) else []


# -- back --------------------------------------------------------------------------------------------------------------


def time_fields(when: When) -> dict[str, Any]:
    """`start` and `end` of a resource; what stood there before, of the other kind, is taken away."""
    return {"start": _field(when.start, when.zone), "end": _field(when.end, when.zone)}


def _field(value: date | datetime, zone: str | None) -> dict[str, Any]:
    if not isinstance(value, datetime):
        return {"date": value.isoformat(), "dateTime": None, "timeZone": None}
    said = {"date": None, "dateTime": value.isoformat(timespec="seconds")}
    return {**said, "timeZone": zone} if zone else said
