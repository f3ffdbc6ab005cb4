"""Calendars and events as text for a model: by day, in the owner's zone, small, and saying when there is more. Pure."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from keryx.workspace.agenda.times import as_moment, day_of
from keryx.workspace.models import CalendarBrief, Event, Guest, Page, Slot, When
from keryx.workspace.tools.marking import THEIRS, person, piece, their_line, theirs

MOST_GUESTS = 30
MOST_RULES = 5
MOST_SLOTS = 60
MOST_CALENDARS = 100
_ANSWERS = {"accepted": "comes", "declined": "does not come", "tentative": "maybe", "needsAction": "has not answered"}
_MINE = {"declined": "you declined", "tentative": "you answered maybe", "needsAction": "you have not answered"}


def calendars(briefs: Sequence[CalendarBrief]) -> str:
    """Which calendars there are."""
    lines = [f"{len(briefs)} {'calendar' if len(briefs) == 1 else 'calendars'}. {THEIRS}"]
    for brief in briefs[:MOST_CALENDARS]:
        marks = [*(["the person's own"] if brief.primary else []), *([] if brief.writable else ["only to look at"])]
        lines += ["", ", ".join([f"calendar {brief.id}", brief.zone, *marks]), their_line(brief.name)]
    if len(briefs) > MOST_CALENDARS:
        lines += ["", f"(and {len(briefs) - MOST_CALENDARS} more)"]
    return "\n".join(lines)


def events(page: Page[Event], zone: ZoneInfo, *, tool: str) -> str:
    """What is on, day by day; `tool` asks for more of it."""
    if not page.items:
        return "Nothing is on then."
    lines = [f"{len(page.items)} {'event' if len(page.items) == 1 else 'events'}, times in {zone.key}. {THEIRS}"]
    day: date | None = None
    for event in page.items:
        starts = as_moment(event.when.start, zone).astimezone(zone).date()
        if starts != day:
            day = starts
            lines += ["", f"{day:%A %Y-%m-%d}"]
        lines += _short(event, zone)
    if page.next is not None:
        lines += ["", f"There are more: {tool} with the same arguments and page={page.next}"]
    return "\n".join(lines)


def _short(event: Event, zone: ZoneInfo) -> list[str]:
    marks = [
        *(["in a series"] if event.series else []),
        *([_MINE[event.mine]] if event.mine in _MINE else []),
        *([f"{len(event.guests)} guests"] if len(event.guests) > 1 else []),
        *([] if event.busy else ["does not block the time"]),
        *([] if event.calendar == "primary" else [f"calendar {event.calendar}"]),
    ]
    where = f" ({event.where})" if event.where else ""
    first = f"{hours(event.when, zone)}, event {event.id}{''.join(f', {mark}' for mark in marks)}"
    return [first, their_line(f"{event.title}{where}", 160)]


def event(found: Event, zone: ZoneInfo, *, start: int = 0) -> str:
    """One event, its description from character `start` on."""
    lines = [
        THEIRS,
        "",
        f"event {found.id}, calendar {found.calendar}",
        f"{span(found.when, zone)}",
        *(["It is one of a series; all_of_them=true means the series."] if found.series else []),
        *(their_line(f"It recurs: {rule}") for rule in found.rules[:MOST_RULES]),
        *([f"(and {len(found.rules) - MOST_RULES} more rules)"] if len(found.rules) > MOST_RULES else []),
        *([f"{_MINE[found.mine]}".capitalize() + "."] if found.mine in _MINE else []),
        *([] if found.busy else ["It does not block the time."]),
        their_line(found.title, 300),
        *([their_line(f"Where: {found.where}", 300)] if found.where else []),
        *([their_line(f"To join: {found.meeting}", 300)] if found.meeting else []),
        *([their_line(f"Organised by {person(found.organiser)}")] if found.organiser else []),
        *([theirs("\n".join(_guests(found.guests)))] if found.guests else []),
    ]
    if found.description:
        how = f"read_event with event_id={found.id} calendar={found.calendar} from_character="
        lines += ["", piece(found.description, start, how)]
    return "\n".join(lines)


def _guests(guests: Sequence[Guest]) -> list[str]:
    lines = [
        f"Guest: {person(guest.person)}{' (the person you work for)' if guest.me else ''}, {_ANSWERS[guest.response]}"
        for guest in guests[:MOST_GUESTS]
    ]
    return [*lines, f"and {len(guests) - MOST_GUESTS} more guests"] if len(guests) > MOST_GUESTS else lines


def slots(found: Sequence[Slot], zone: ZoneInfo, minutes: int) -> str:
    """When there is time."""
    if not found:
        return f"There are no {minutes} minutes free then."
    lines = [f"Free for at least {minutes} minutes, times in {zone.key}:"]
    for slot in found[:MOST_SLOTS]:
        ends = f"{slot.end:%H:%M}" if slot.end.date() == slot.start.date() else f"{slot.end:%a %Y-%m-%d %H:%M}"
        lines.append(f"{slot.start:%a %Y-%m-%d %H:%M} to {ends}")
    if len(found) > MOST_SLOTS:
        lines.append(f"(and {len(found) - MOST_SLOTS} more; ask for a shorter time)")
    return "\n".join(lines)


def done(what: str, found: Event, zone: ZoneInfo, *, told: bool = True) -> str:
    """What became of an event: "Moved", and how it stands now. `told`: it is of a kind that others hear of."""
    lines = [f"{what}: event {found.id}, {span(found.when, zone)}.{_heard(found) if told else ''}"]
    if found.rules:
        lines.append("That is the series, as it first is; all_of_them=true means it.")
    return "\n".join([*lines, their_line(found.title)])


def _heard(found: Event) -> str:
    """Who is told of a change: the guests of the owner's events, of others' whoever invited."""
    others = sum(not guest.me for guest in found.guests)
    invited = found.mine is not None and not any(guest.me and guest.organiser for guest in found.guests)
    if invited:
        return " Whoever invited is told."
    return f" {f'{others} guests are' if others > 1 else 'Its guest is'} told." if others else ""


def hours(when: When, zone: ZoneInfo) -> str:
    """ "14:00-15:00", in the owner's zone; an own zone that differs is said."""
    if not (isinstance(when.start, datetime) and isinstance(when.end, datetime)):
        last = day_of(when.end) - timedelta(days=1)
        return "all day" if last <= day_of(when.start) else f"all day, until {last:%a %Y-%m-%d}"
    begins, ends = when.start.astimezone(zone), when.end.astimezone(zone)
    until = f"{ends:%H:%M}" if ends.date() == begins.date() else f"{ends:%a %Y-%m-%d %H:%M}"
    return f"{begins:%H:%M}-{until}{_elsewhere(when, begins)}"


def span(when: When, zone: ZoneInfo) -> str:
    """The same with its day: "Tue 2026-12-01 14:00-15:00"."""
    first = when.start.astimezone(zone) if isinstance(when.start, datetime) else when.start
    return f"{first:%a %Y-%m-%d} {hours(when, zone)}"


def _elsewhere(when: When, begins: datetime) -> str:
    assert isinstance(when.start, datetime)
    if not when.zone or when.start.utcoffset() == begins.utcoffset():
        return ""
    return f" ({when.start:%H:%M} in {when.zone})"
