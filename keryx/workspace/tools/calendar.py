"""The tools about the calendar."""

from datetime import date, datetime, time, timedelta
from typing import Annotated, Literal

from pydantic import Field

from keryx.errors import Refused
from keryx.workspace.agenda import times
from keryx.workspace.agenda.appointments import NewEvent
from keryx.workspace.agenda.free_time import Hours
from keryx.workspace.agenda.recurrence import rule
from keryx.workspace.calendar import PRIMARY
from keryx.workspace.features import Feature
from keryx.workspace.models import When
from keryx.workspace.tools import calendar_shown as shown
from keryx.workspace.tools.base import Arguments, Id, Nothing, PageToken, Tool
from keryx.workspace.tools.mail import people_of
from keryx.workspace.workspace import Workspace

_Moment = Annotated[str, Field(max_length=60)]
_EventId = Annotated[Id, Field(description="The event's id, as a list of events gives it.")]
_Name = Annotated[str, Field(min_length=1, max_length=300)]
_Calendar = Annotated[
    str, Field(max_length=300, description="The calendar's id or name; empty: the person's own calendar.")
]
_Calendars = Annotated[
    list[_Name], Field(max_length=50, description="Calendars by id or name; empty: those that the person has ticked.")
]
_All = Annotated[
    bool, Field(description="Of an event in a series: true means the whole series, false this one occurrence.")
]
_Text = Annotated[str, Field(max_length=8_000)]
_Line = Annotated[str, Field(max_length=1_000)]
_CLOCK = r"^(\d\d:\d\d)?$"
_FORM = 'A day, "2026-12-01", or a time, "2026-12-01T15:00", in the person\'s zone unless it has an offset.'
_Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class ListEvents(Arguments):
    start: Annotated[_Moment, Field(min_length=1, description=f"From when. {_FORM}")]
    end: Annotated[_Moment, Field(description="Until when; a day counts whole. Empty: the day of the start.")] = ""
    calendars: _Calendars = []
    most: Annotated[int, Field(ge=1, le=100, description="How many at once.")] = 40
    page: PageToken = ""


class SearchEvents(ListEvents):
    query: Annotated[str, Field(min_length=1, max_length=500, description="Words of its title, text, place or guests.")]


class ReadEvent(Arguments):
    event_id: _EventId
    calendar: _Calendar = ""
    from_character: Annotated[int, Field(ge=0, description="Where to go on in a long description.")] = 0


class FreeTime(Arguments):
    start: Annotated[_Moment, Field(min_length=1, description=f"From when. {_FORM}")]
    end: Annotated[_Moment, Field(description="Until when; a day counts whole. Empty: the day of the start.")] = ""
    minutes: Annotated[int, Field(ge=5, le=24 * 60, description="How long is wanted.")]
    calendars: Annotated[
        list[_Name], Field(max_length=50, description="Calendars by id or name; empty: all of the person's own.")
    ] = []
    people: Annotated[
        list[_Name], Field(max_length=30, description="Addresses of others whose calendars count as well.")
    ] = []
    day_starts: Annotated[
        str,
        Field(pattern=_CLOCK, description="Not before this hour of a day. Empty: nine, of a part of a day its start."),
    ] = ""
    day_ends: Annotated[
        str, Field(pattern=_CLOCK, description="Not after this hour; 00:00 is midnight. Empty: six, or its end.")
    ] = ""
    weekends: Annotated[bool, Field(description="Whether weekends count in a longer time; alone they do.")] = False


class Create(Arguments):
    title: Annotated[_Line, Field(min_length=1, description="What it is called.")]
    start: Annotated[_Moment, Field(min_length=1, description=f"When it begins. {_FORM} A day: it lasts all day.")]
    end: Annotated[
        _Moment, Field(description="When it ends; of days, the last one. Empty: an hour later, or that day.")
    ] = ""
    where: Annotated[_Line, Field(description="The place, or the address of a meeting online.")] = ""
    description: Annotated[_Text, Field(description="More about it, as plain text.")] = ""
    zone: Annotated[
        str, Field(max_length=60, description="The event's own time zone, when it is not the person's.")
    ] = ""
    calendar: _Calendar = ""
    repeat: Annotated[
        Literal["once", "daily", "weekly", "monthly", "yearly"], Field(description="How often it recurs.")
    ] = "once"
    every: Annotated[int, Field(ge=1, le=99, description="2 with weekly: every other week.")] = 1
    weekdays: Annotated[list[_Weekday], Field(max_length=7, description="Of a weekly one: on which days.")] = []
    times: Annotated[int, Field(ge=0, le=730, description="How many times in all; 0: without an end.")] = 0
    until: Annotated[_Moment, Field(description="The last day that it may recur on; empty: without an end.")] = ""
    again: Annotated[
        bool, Field(description="True only when the person wants a second event just like one made today.")
    ] = False


class Invite(Arguments):
    event_id: _EventId
    guests: Annotated[list[_Name], Field(min_length=1, max_length=100, description="Addresses of whom to invite.")]
    calendar: _Calendar = ""
    all_of_them: _All = False


class Change(Arguments):
    event_id: _EventId
    title: Annotated[_Line | None, Field(description="The new title; left out: as it is.")] = None
    where: Annotated[_Line | None, Field(description="The new place; left out: as it is.")] = None
    description: Annotated[_Text | None, Field(description="The new text; left out: as it is.")] = None
    calendar: _Calendar = ""
    all_of_them: _All = False


class Move(Arguments):
    event_id: _EventId
    start: Annotated[
        _Moment, Field(min_length=1, description=f"When it begins then. {_FORM} A day alone: at the same hour as now.")
    ]
    end: Annotated[
        _Moment,
        Field(description="When it ends then; empty: it stays as long as it is. Start and end both days: all day."),
    ] = ""
    zone: Annotated[str, Field(max_length=60, description="Another time zone for the event itself.")] = ""
    calendar: _Calendar = ""
    all_of_them: _All = False


class Delete(Arguments):
    event_id: _EventId
    calendar: _Calendar = ""
    all_of_them: _All = False


class AnswerInvitation(Arguments):
    event_id: _EventId
    response: Annotated[Literal["accepted", "declined", "tentative"], Field(description="The person's answer.")]
    comment: Annotated[_Line, Field(description="A word to whoever invited.")] = ""
    calendar: _Calendar = ""
    all_of_them: _All = False


def _list_calendars(workspace: Workspace, arguments: Nothing) -> str:
    return shown.calendars(workspace.calendars.calendars())


def _list(workspace: Workspace, arguments: ListEvents) -> str:
    start, end = times.span(arguments.start, arguments.end, workspace.zone)
    query = arguments.query if isinstance(arguments, SearchEvents) else ""
    page = workspace.calendars.events(
        start,
        end,
        calendars=arguments.calendars,
        query=query,
        most=arguments.most,
        page=arguments.page or None,
    )
    return shown.events(page, workspace.zone, tool="search_events" if query else "list_events")


def _read(workspace: Workspace, arguments: ReadEvent) -> str:
    event = workspace.calendars.event(arguments.event_id, arguments.calendar or PRIMARY)
    return shown.event(event, workspace.zone, start=arguments.from_character)


def _free(workspace: Workspace, arguments: FreeTime) -> str:
    start, end = times.span(arguments.start, arguments.end, workspace.zone)
    hours = _hours(arguments)
    people = tuple(person.address for person in people_of(arguments.people))
    found = workspace.calendars.free(
        start, end, minutes=arguments.minutes, calendars=arguments.calendars, people=people, hours=hours
    )
    return shown.slots(found, workspace.zone, arguments.minutes)


def _hours(arguments: FreeTime) -> Hours | None:
    if not (arguments.day_starts or arguments.day_ends or arguments.weekends):
        return None
    usual, midnight = Hours(), time()
    start = _clock(arguments.day_starts) if arguments.day_starts else usual.start
    end = _clock(arguments.day_ends) if arguments.day_ends else usual.end
    # Of an evening, or an early morning, only one end may be given.
    if not arguments.day_ends and start >= end:
        end = midnight
    if not arguments.day_starts and end <= start:
        start = midnight
    return Hours(start, end, arguments.weekends)


def _clock(text: str) -> time:
    try:
        return time.fromisoformat(text)
    except ValueError:
        raise Refused(f'"{text}" is no time of day; write it as "09:00"') from None


def _create(workspace: Workspace, arguments: Create) -> str:
    zone = times.zone_of(arguments.zone) if arguments.zone else workspace.zone
    start = times.parsed(arguments.start, zone)
    when = _when(start, times.parsed(arguments.end, zone) if arguments.end else None, arguments.zone or None)
    rules = ()
    if arguments.repeat != "once":
        rules = (
            rule(
                arguments.repeat,
                every=arguments.every,
                on=tuple(arguments.weekdays),
                times=arguments.times or None,
                until=times.parsed(arguments.until, zone) if arguments.until else None,
                zone=zone,
                start=start,
            ),
        )
    new = NewEvent(arguments.title, when, arguments.where, arguments.description, rules)
    made = workspace.calendars.appointments.create(new, _calendar(workspace, arguments.calendar), again=arguments.again)
    said = "It was there already, and nothing was added" if made.already else "Made"
    return shown.done(said, made.event, workspace.zone, told=False)


def _when(start: date | datetime, end: date | datetime | None, zone: str | None) -> When:
    if isinstance(start, datetime):
        if end is None:
            return When(start, times.plus(start, timedelta(hours=1)), zone)
        if isinstance(end, datetime):
            return When(start, end, zone)
        raise Refused("the start is a time and the end a day; give both as times or both as days")
    last = start if end is None else end.date() if isinstance(end, datetime) else end
    return When(start, last + timedelta(days=1))


def _invite(workspace: Workspace, arguments: Invite) -> str:
    event = workspace.calendars.appointments.invite(
        arguments.event_id,
        _calendar(workspace, arguments.calendar),
        people_of(arguments.guests),
        all_of_them=arguments.all_of_them,
    )
    return shown.done("Invited", event, workspace.zone)


def _change(workspace: Workspace, arguments: Change) -> str:
    event = workspace.calendars.appointments.change(
        arguments.event_id,
        _calendar(workspace, arguments.calendar),
        title=arguments.title,
        where=arguments.where,
        description=arguments.description,
        all_of_them=arguments.all_of_them,
    )
    return shown.done("Changed", event, workspace.zone)


def _move(workspace: Workspace, arguments: Move) -> str:
    zone = times.zone_of(arguments.zone) if arguments.zone else workspace.zone
    event = workspace.calendars.appointments.move(
        arguments.event_id,
        _calendar(workspace, arguments.calendar),
        times.parsed(arguments.start, zone),
        end=times.parsed(arguments.end, zone) if arguments.end else None,
        zone=arguments.zone or None,
        all_of_them=arguments.all_of_them,
    )
    moved = shown.done("Moved", event, workspace.zone)
    # Google may put back what was moved or deleted by itself.
    return f"{moved}\nLook at those that had been moved or deleted by themselves." if event.rules else moved


def _delete(workspace: Workspace, arguments: Delete) -> str:
    event = workspace.calendars.appointments.delete(
        arguments.event_id, _calendar(workspace, arguments.calendar), all_of_them=arguments.all_of_them
    )
    return shown.done("Deleted", event, workspace.zone)


def _answer(workspace: Workspace, arguments: AnswerInvitation) -> str:
    event = workspace.calendars.appointments.answer(
        arguments.event_id,
        _calendar(workspace, arguments.calendar),
        arguments.response,
        comment=arguments.comment,
        all_of_them=arguments.all_of_them,
    )
    return shown.done(f"Answered, {arguments.response}", event, workspace.zone)


def _calendar(workspace: Workspace, named: str) -> str:
    return workspace.calendars.found([named])[0] if named else PRIMARY


_LOOK, _ALTER = Feature.READ_CALENDAR, Feature.CHANGE_CALENDAR

CALENDAR_TOOLS = (
    Tool(
        *("list_calendars", "List calendars", "Looking at the calendars"),
        "Which calendars the person has.",
        *(Nothing, _LOOK, _list_calendars),
        read_only=True,
    ),
    Tool(
        *("list_events", "List events", "Looking at the calendar"),
        "What is on in a stretch of time, in order, day by day; of what recurs, each occurrence.",
        *(ListEvents, _LOOK, _list),
        read_only=True,
    ),
    Tool(
        *("search_events", "Search events", "Searching the calendar"),
        "Find events by words in them, in a stretch of time.",
        *(SearchEvents, _LOOK, _list),
        read_only=True,
    ),
    Tool(
        *("read_event", "Read an event", "Looking at an event"),
        "One event, with its guests and their answers, and its description.",
        *(ReadEvent, _LOOK, _read),
        read_only=True,
    ),
    Tool(
        *("find_free_time", "Find free time", "Looking for free time"),
        "When the person, and others who show it, have time for so many minutes.",
        *(FreeTime, _LOOK, _free),
        read_only=True,
    ),
    Tool(
        *("create_event", "Create an event", "Putting an event into the calendar"),
        "Put an event into the person's calendar; nobody is invited with it. The same one is made once a day.",
        *(Create, _ALTER, _create),
    ),
    Tool(
        *("invite_guests", "Invite guests", "Inviting guests"),
        "Invite people to an event; each gets an invitation. Only when the person said so.",
        *(Invite, _ALTER, _invite),
        open_world=True,
    ),
    Tool(
        *("change_event", "Change an event", "Changing an event"),
        "Change an event's title, place or description; its guests are told.",
        *(Change, _ALTER, _change),
        destructive=True,
        open_world=True,
    ),
    Tool(
        *("move_event", "Move an event", "Moving an event"),
        "Move an event to another time; its guests are told.",
        *(Move, _ALTER, _move),
        destructive=True,
        open_world=True,
    ),
    Tool(
        *("delete_event", "Delete an event", "Deleting an event"),
        "Delete an event; its guests are told.",
        *(Delete, _ALTER, _delete),
        destructive=True,
        open_world=True,
    ),
    Tool(
        *("answer_invitation", "Answer an invitation", "Answering an invitation"),
        "Accept, decline or leave open an invitation; whoever invited is told.",
        *(AnswerInvitation, _ALTER, _answer),
        destructive=True,
        open_world=True,
    ),
)
