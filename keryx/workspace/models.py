"""Mail and calendar as the rest of the house sees them: no raw answers of Google's travel further than this."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Generic, Literal, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A part of a longer list."""

    items: Sequence[T]
    next: str | None = None
    """What to ask the same question with to get on; None: that was all."""
    about: int | None = None
    """How many there are in all, as Google estimates it."""


# -- mail --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Person:
    """Somebody in a header. `name` is empty when none is given; both are other people's words."""

    address: str
    name: str = ""


@dataclass(frozen=True)
class MessageBrief:
    """A message in a list: what its headers say. One line each, decoded, without control characters."""

    id: str
    thread_id: str
    sender: Person
    to: tuple[Person, ...]
    subject: str
    snippet: str
    """The beginning of its text, as Gmail cuts it."""
    at: datetime
    """When Gmail received it (not what its Date header claims); timezone-aware, UTC."""
    unread: bool
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attachment:
    """A file that came with a message."""

    number: int
    """Its place among the message's attachments, from 1: how it is asked for. Google's own ids change at each look."""
    name: str
    """As the sender named it; never a path that is safe to write to."""
    kind: str
    """Its media type, as "application/pdf"."""
    size: int
    """Bytes."""


@dataclass(frozen=True)
class Message:
    """One message, read."""

    brief: MessageBrief
    cc: tuple[Person, ...]
    text: str
    """What the sender wrote, as plain text, without what they quote."""
    quoted: str
    """What was folded away: earlier messages below or between."""
    attachments: tuple[Attachment, ...] = ()
    message_id: str = ""
    """The Message-ID header with its angle brackets; empty when there is none."""
    references: tuple[str, ...] = ()
    reply_to: tuple[Person, ...] = ()


@dataclass(frozen=True)
class Letter:
    """A message to be drafted or sent. Plain text; lines are the writer's own."""

    to: tuple[Person, ...]
    subject: str
    text: str
    cc: tuple[Person, ...] = ()
    bcc: tuple[Person, ...] = ()
    files: tuple[str, ...] = ()
    """Paths of attachments; what may be attached was checked before."""


@dataclass(frozen=True)
class Sent:
    """What became of a send."""

    id: str
    thread_id: str
    already: bool = False
    """It had been sent before, by an earlier try that got no answer; nothing was sent again."""


# -- calendar ----------------------------------------------------------------------------------------------------------

Response = Literal["accepted", "declined", "tentative", "needsAction"]


@dataclass(frozen=True)
class CalendarBrief:
    """One of the person's calendars."""

    id: str
    name: str
    zone: str
    """Its IANA zone."""
    primary: bool = False
    writable: bool = True


@dataclass(frozen=True)
class Guest:
    """Somebody invited."""

    person: Person
    response: Response = "needsAction"
    me: bool = False
    organiser: bool = False


@dataclass(frozen=True)
class When:
    """From when to when: either two days (all-day; `end` is the day after the last) or two moments with a zone."""

    start: date | datetime
    end: date | datetime
    zone: str | None = None
    """The event's own IANA zone, when it has one; its moments are in it. None for all-day events."""

    @property
    def all_day(self) -> bool:
        return not isinstance(self.start, datetime)


@dataclass(frozen=True)
class Event:
    """One event, or one occurrence of a recurring one."""

    id: str
    calendar: str
    """The id of the calendar it is in."""
    title: str
    when: When
    where: str = ""
    description: str = ""
    guests: tuple[Guest, ...] = ()
    organiser: Person | None = None
    mine: Response | None = None
    """How the person has answered; None when nobody was invited."""
    series: str | None = None
    """Of an occurrence: the recurring event's id."""
    rules: tuple[str, ...] = ()
    """Of a recurring event itself: its RRULE lines (RFC 5545)."""
    busy: bool = True
    cancelled: bool = False
    link: str = ""
    """Where it is shown in a browser."""
    meeting: str = ""
    """Where one joins it by video, an https address; the words of whoever made it."""
    etag: str = field(default="", repr=False)


@dataclass(frozen=True)
class Slot:
    """A stretch of free time, in the person's zone."""

    start: datetime
    end: datetime
