"""One calendar at the loopback Google: its events as Google stores them, recurring ones in their instances."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from tests.support.google.recurrence import When, end_of, moment_of, stamp, starts, when
from tests.support.google.refusals import not_found

ROLES = ("freeBusyReader", "reader", "writerWithoutPrivateAccess", "writer", "owner")
MOST_INSTANCES = 800
"""Of an endless rule, where nobody says until when."""

_INSTANCE = re.compile(r"(.+)_(\d{8}(?:T\d{6}Z)?)")

Event = dict[str, Any]


@dataclass(frozen=True)
class Notice:
    """Mail that Google would have sent because of an event."""

    event: str
    did: str
    """"insert", "update", "patch", "delete" or "move"."""
    to: tuple[str, ...]
    send_updates: str


@dataclass
class Calendar:
    """One calendar. `events` holds what Google stores: single events, recurring ones, and changed instances."""

    id: str
    summary: str
    zone: str
    role: str = "owner"
    primary: bool = False
    selected: bool = True
    listed: bool = True
    hidden: bool = False
    events: dict[str, Event] = field(default_factory=dict)

    def find(self, event_id: str) -> Event:
        """An event, or one instance of a recurring one; also when it is cancelled. `GoogleError` 404."""
        if event_id in self.events:
            return self.events[event_id]
        match = _INSTANCE.fullmatch(event_id)
        master = self.events.get(match[1]) if match else None
        if match and master and "recurrence" in master:
            for instance in self.instances(master):
                if instance["id"] == event_id:
                    return instance
                if stamp(when(instance["originalStartTime"], self.zone)) > match[2]:
                    break
        raise not_found()

    def changed(self, master: Event) -> dict[str, Event]:
        """Its instances that are stored by themselves, by id."""
        return {key: event for key, event in self.events.items() if event.get("recurringEventId") == master["id"]}

    def instances(self, master: Event) -> Iterator[Event]:
        """Every instance of a recurring event, by their original starts; endless where its rule is."""
        changed = self.changed(master)
        first, last = when(master["start"], self.zone), when(master["end"], self.zone)
        for start in starts(first, master["recurrence"]):
            instance_id = f"{master['id']}_{stamp(start)}"
            if instance_id in changed:
                yield changed[instance_id]
                continue
            instance = {key: value for key, value in master.items() if key != "recurrence"}
            own = master["start"].get("timeZone")
            yield instance | {
                "id": instance_id,
                "recurringEventId": master["id"],
                "originalStartTime": written(start, own),
                "start": written(start, own),
                "end": written(end_of(start, first, last), master["end"].get("timeZone")),
            }

    def expanded(self, event: Event, start: datetime | None, end: datetime | None) -> Iterator[Event]:
        """The instances that a stretch of time touches."""
        found = 0
        # One that was moved may be far from where it was: those are looked at by themselves.
        changed = self.changed(event)
        yield from (instance for instance in changed.values() if self.touches(instance, start, end))
        for instance in self.instances(event):
            if end is not None and moment_of(when(instance["originalStartTime"], self.zone), self.zone) >= end:
                return
            if instance["id"] not in changed and self.touches(instance, start, end):
                yield instance
                found += 1
                if end is None and found >= MOST_INSTANCES:
                    return

    def touches(self, event: Event, start: datetime | None, end: datetime | None) -> bool:
        begins, ends = self.span(event)
        if start is not None and ends <= start and not (begins == ends == start):
            return False
        return end is None or begins < end

    def span(self, event: Event) -> tuple[datetime, datetime]:
        """In UTC; a whole day is one of this calendar's zone."""
        begins, ends = (moment_of(when(event[key], self.zone), self.zone) for key in ("start", "end"))
        return begins, ends


def written(value: When, zone: str | None) -> dict[str, str]:
    """As an EventDateTime."""
    if isinstance(value, datetime):
        if zone is None and value.tzinfo is not None and getattr(value.tzinfo, "key", None):
            zone = str(value.tzinfo)
        return {"dateTime": value.isoformat(), **({"timeZone": zone} if zone else {})}
    assert isinstance(value, date)
    return {"date": value.isoformat()}
