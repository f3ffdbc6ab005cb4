"""What calling a tool would do, in words for the ear: what the owner hears before they allow it. Pure."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from keryx.errors import Refused
from keryx.workspace.mail.headers import people
from keryx.workspace.plain import one_line
from keryx.workspace.tools.table import TOOLS

MOST_CHARS = 220
"""One breath, about."""
MOST_NAMED = 3
WHO_CHARS = 130
"""Of everybody who is named; whoever is not is counted."""
NAME_CHARS = 30
ADDRESS_CHARS = 50
MOST_LOOKED_AT = 1_000
"""More of anything than a tool takes is not counted."""

_Given = Mapping[str, Any]


def asked(tool: Any, arguments: Any) -> str:
    """After "Claude wants to": "send a mail to Anna Berg, subject: Invoice 12". Never raises, whatever it is given."""
    given = _as_taken(tool, arguments) if isinstance(arguments, Mapping) else {}
    say = _SAYINGS.get(tool) if isinstance(tool, str) else None
    text = say(given) if say else f"use {_words(tool, 60).replace('_', ' ') or 'a tool'} on your mail and calendar"
    return _words(text, MOST_CHARS)


def _as_taken(tool: Any, arguments: _Given) -> _Given:
    """As the tool itself will take them, to which "yes" is true as well; what it will refuse, as it stands."""
    try:
        return TOOLS[tool].parse(arguments).model_dump()
    except (KeyError, TypeError, Refused):
        return arguments


def _words(value: Any, most: int = 80) -> str:
    """A value as words; nothing that is neither text nor a number says anything."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**15:
        return str(value)
    return one_line(value, most) if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return list(value[:MOST_LOOKED_AT]) if isinstance(value, list | tuple) else [value]


def _texts(value: Any) -> list[str]:
    return [each for each in _list(value) if isinstance(each, str) and one_line(each)]


def _who(values: list[str]) -> str:
    """People by name and address; of many, the first and how many more."""
    named: list[str] = []
    for each in values[:MOST_NAMED]:
        called = _called(each)
        if named and len(", ".join([*named, called])) > WHO_CHARS:
            break
        named.append(called)
    if len(values) > len(named):
        return f"{', '.join(named)} and {len(values) - len(named)} more"
    return _and(named)


def _called(written: str) -> str:
    """Read as the tool itself reads it; the address is always said: a name is whatever somebody wrote before it."""
    found = people(written)
    if len(found) != 1 or not found[0].address:
        return _words(written, ADDRESS_CHARS)
    name, address = _words(found[0].name, NAME_CHARS), _words(found[0].address, 1_000)
    if len(address) > ADDRESS_CHARS:  # whose it is stands at its end
        address = f"{address[:12]}…{address[13 - ADDRESS_CHARS :]}"
    return f"{name}, {address}" if name else address


def _and(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _few(values: list[str]) -> str:
    """Labels; of many, the first and how many more."""
    named = [_words(each, NAME_CHARS) for each in values[:MOST_NAMED]]
    more = len(values) - len(named)
    return (
        f"the labels {', '.join(named)} and {more} more" if more else f"the label{'s' * (len(named) > 1)} {_and(named)}"
    )


def _count(value: Any, one: str, many: str) -> str:
    count = len(_texts(value))
    return f"{count or 'some'} {many}" if count != 1 else one


def _files(given: _Given) -> str:
    return f", with {_count(given['files'], 'a file', 'files')}" if _texts(given.get("files")) else ""


def _subject(given: _Given) -> str:
    subject = _words(given.get("subject"))
    return f", subject: {subject}" if subject else ""


def _letter(verb: str) -> Callable[[_Given], str]:
    def say(given: _Given) -> str:
        openly = _who([each for name in ("to", "cc") for each in _texts(given.get(name))])
        # First: whom nobody else sees must not be lost among many.
        secretly = _who(_texts(given.get("bcc")))
        receivers = [*([f"secretly to {secretly}"] if secretly else []), *([f"to {openly}"] if openly else [])]
        return f"{verb} {', and '.join(receivers) or 'to somebody'}{_files(given)}{_subject(given)}"

    return say


def _answer(verb: str) -> Callable[[_Given], str]:
    def say(given: _Given) -> str:
        to = "to everybody who got it" if given.get("everyone") is True else "to whoever wrote it"
        text = _words(given.get("text"), 100)
        return f"{verb} a mail, {to}{f', saying: {text}' if text else ''}"

    return say


def _labels(given: _Given) -> str:
    messages = _count(given.get("message_ids"), "a message", "messages")
    add, remove = _texts(given.get("add")), _texts(given.get("remove"))
    parts = [*([f"put {_few(add)} on"] if add else []), *([f"take {_few(remove)} off"] if remove else [])]
    return f"{' and '.join(parts) or 'change the labels of'} {messages}"


def _event(given: _Given) -> str:
    title = _words(given.get("title"))
    return f"the event {title}" if title else "an event"


def _every(given: _Given) -> str:
    return ", every time it recurs" if given.get("all_of_them") is True else ""


def _time(given: _Given) -> str:
    """ "Friday, 4 December at 16:00"; what cannot be read so is said as it stands."""
    said = _words(given.get("start"), 40)
    zone = _words(given.get("zone"), 40)
    try:
        when = date.fromisoformat(said) if len(said) == len("2026-12-04") else datetime.fromisoformat(said)
    except ValueError:
        return said
    text = f"{when:%A}, {when.day} {when:%B}"
    if isinstance(when, datetime):
        text += f" at {when:%H:%M}{f' {when.tzname()}' if when.tzinfo else ''}"
    return f"{text} in {zone.replace('_', ' ')}" if zone else text


def _create(given: _Given) -> str:
    often = _words(given.get("repeat"), 20)
    recurs = f", {often}" if often not in ("", "once") else ""
    return f"put {_event(given)} into your calendar{f', {_time(given)}' if _time(given) else ''}{recurs}"


def _invite(given: _Given) -> str:
    return f"invite {_who(_texts(given.get('guests'))) or 'somebody'} to an event{_every(given)}"


def _change(given: _Given) -> str:
    names = {"title": "title", "where": "place", "description": "description"}
    changed = [f"{said}, to: {_words(given[name], 30)}" for name, said in names.items() if _words(given.get(name))]
    changed += [f"{said}, to nothing" for name, said in names.items() if given.get(name) == ""]
    return f"change an event's {' and '.join(changed) or 'details'}{_every(given)}; its guests see that"


def _move(given: _Given) -> str:
    return f"move an event{f' to {_time(given)}' if _time(given) else ''}{_every(given)}, which its guests see"


def _delete(given: _Given) -> str:
    return f"delete an event{_every(given)}, and tell its guests"


def _respond(given: _Given) -> str:
    verbs = {"accepted": "accept", "declined": "decline", "tentative": "answer maybe to"}
    verb = verbs.get(_words(given.get("response")), "answer")
    comment = _words(given.get("comment"), 100)
    return f"{verb} an invitation{_every(given)}{f', saying: {comment}' if comment else ''}"


def _searched(given: _Given) -> str:
    query = _words(given.get("query"))
    return f"search your mail for {query}" if query else "look through your mail"


_SAYINGS: dict[str, Callable[[_Given], str]] = {
    "search_mail": _searched,
    "read_message": lambda given: "read a message",
    "read_thread": lambda given: "read a mail thread",
    "save_attachment": lambda given: "save an attachment in the task's directory",
    "draft_mail": _letter("draft a mail"),
    "draft_reply": _answer("draft an answer to"),
    "send_mail": _letter("send a mail"),
    "reply": _answer("answer"),
    "send_draft": _letter("send a draft"),
    "list_labels": lambda given: "look at the labels of your mail",
    "label_messages": _labels,
    "archive_messages": lambda given: f"archive {_count(given.get('message_ids'), 'a message', 'messages')}",
    "bin_messages": lambda given: f"put {_count(given.get('message_ids'), 'a message', 'messages')} into the bin",
    "list_calendars": lambda given: "look at your calendars",
    "list_events": lambda given: "look at what is in your calendar",
    "search_events": lambda given: f"look in your calendar for {_words(given.get('query')) or 'something'}",
    "read_event": lambda given: "look at an event",
    "find_free_time": lambda given: "look for free time in your calendar",
    "create_event": _create,
    "invite_guests": _invite,
    "change_event": _change,
    "move_event": _move,
    "delete_event": _delete,
    "answer_invitation": _respond,
}
