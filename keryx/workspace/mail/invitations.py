"""What an invitation that came by mail says, in a line or two. Pure; never raises."""

import re
from collections.abc import Iterator
from datetime import date, datetime

from keryx.workspace.plain import one_line

MAX_CALENDAR_CHARS = 200_000
MAX_LINES = 5_000
MAX_SAID_CHARS = 200

_METHODS = {
    "REQUEST": "Invitation",
    "CANCEL": "Cancelled",
    "REPLY": "Answer to an invitation",
    "COUNTER": "Another time is proposed",
    "PUBLISH": "Event",
    "ADD": "More times for an event",
}
_ANSWERS = {"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "may come", "DELEGATED": "sends somebody else"}
_ESCAPED = re.compile(r"\\(.)")
_NAME = re.compile(r"[\w-]{1,60}", re.ASCII)


def said(calendar: str) -> str:
    """The first event of an iCalendar file (RFC 5545) in words; empty when there is none.

    Times are as the file has them, with the zone that it names: they are somebody else's claim.
    """
    method = "PUBLISH"
    event: dict[str, tuple[str, str]] = {}
    inside = 0
    for name, parameters, value in _properties(calendar[:MAX_CALENDAR_CHARS]):
        if name == "METHOD" and not inside:
            method = value.strip().upper()
        elif name == "BEGIN":
            inside += bool(inside) or value.strip().upper() == "VEVENT"
        elif name == "END" and inside:
            inside -= 1
            if not inside:
                break
        elif inside == 1:
            event.setdefault(name, (parameters, value))
    if not event:
        return ""
    first = f"{_METHODS.get(method, 'Event')}: {_words(event, 'SUMMARY') or 'without a title'}"
    when = _when(event)
    lines = [f"{first}, {when}" if when else first]
    more = [
        f"{label} {text}"
        for label, name in (("at", "LOCATION"), ("from", "ORGANIZER"))
        if (text := _words(event, name))
    ]
    if method == "REPLY" and "ATTENDEE" in event:
        answer = re.search(r"PARTSTAT=\"?([A-Z-]{1,20})", event["ATTENDEE"][0].upper())
        more.append(f"{_words(event, 'ATTENDEE')}: {_ANSWERS.get(answer[1] if answer else '', 'no answer yet')}")
    if "RRULE" in event:
        more.append("repeated")
    if more:
        lines.append("; ".join(more))
    return "\n".join(lines)


def _properties(calendar: str) -> Iterator[tuple[str, str, str]]:
    """Name, parameters and value of each line, folded lines joined."""
    held: list[str] = []
    for line in [*re.split(r"\r\n|\n|\r", calendar, maxsplit=MAX_LINES)[:MAX_LINES], ""]:
        if line[:1] in (" ", "\t") and held:
            held.append(line[1:])
            continue
        if held:
            name, parameters, value = _parted("".join(held))
            if _NAME.fullmatch(name):
                yield name.upper(), parameters, value
        held = [line] if line else []


def _parted(line: str) -> tuple[str, str, str]:
    """A colon within quotation marks belongs to a parameter."""
    quoted = False
    for at, character in enumerate(line[:2_000]):
        if character == '"':
            quoted = not quoted
        elif character == ":" and not quoted:
            name, _, parameters = line[:at].partition(";")
            return name, parameters, line[at + 1 :]
    return "", "", ""


def _words(event: dict[str, tuple[str, str]], name: str) -> str:
    if name not in event:
        return ""
    parameters, value = event[name]
    if name in ("ORGANIZER", "ATTENDEE"):
        named = re.search(r"(?:^|;)CN=(?:\"([^\"]{1,200})\"|([^;:]{1,200}))", parameters, re.IGNORECASE)
        address = value.strip()[7:] if value.strip().lower().startswith("mailto:") else value.strip()
        who = (named[1] or named[2]) if named else ""
        value = f"{who} <{address}>" if who and who != address else address
    return one_line(_ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], value[:2_000]), MAX_SAID_CHARS)


def _when(event: dict[str, tuple[str, str]]) -> str:
    start = _moment(event.get("DTSTART", ("", ""))[1])
    if start is None:
        return ""
    parameters, value = event["DTSTART"]
    zone = re.search(r"TZID=\"?([\w/+ .-]{1,80})", parameters)
    named = " (UTC)" if value.strip().endswith(("Z", "z")) else f" ({one_line(zone[1])})" if zone else ""
    end = _moment(event.get("DTEND", ("", ""))[1])
    if not isinstance(start, datetime):
        return f"{_day(start)}, all day"
    said = f"{_day(start)} {start:%H:%M}"
    if isinstance(end, datetime):
        said += f"–{end:%H:%M}" if end.date() == start.date() else f" to {_day(end)} {end:%H:%M}"
    return said + named


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _moment(value: str) -> date | datetime | None:
    text = value.strip().upper().removesuffix("Z")
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%S") if "T" in text else datetime.strptime(text, "%Y%m%d").date()
    except ValueError:
        return None
