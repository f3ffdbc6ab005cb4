"""What calling a tool would do, in words for the ear: what the owner hears before they allow it. Pure."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from keryx.workspace.plain import one_line

MOST_CHARS = 220
"""One breath, about."""
MOST_NAMED = 3

_ADDRESS = re.compile(r"^\s*(?P<name>[^<>]*?)\s*<(?P<address>[^<>]*)>\s*$")
_Given = Mapping[str, Any]


def asked(tool: str, arguments: Any) -> str:
    """After "Claude wants to": "send a mail to Anna Berg, subject: Invoice 12". Never raises, whatever it is given."""
    given = arguments if isinstance(arguments, Mapping) else {}
    say = _SAYINGS.get(tool)
    text = say(given) if say else f"use {_words(tool, 60).replace('_', ' ') or 'a tool'} on your mail and calendar"
    return _words(text, MOST_CHARS)


def _words(value: Any, most: int = 80) -> str:
    """A value as words; nothing that is neither text nor number says anything."""
    return one_line(str(value), most) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _list(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [words for each in values if (words := _words(each))]


def _who(value: Any) -> str:
    """People as they are called, else by their address; of many, the first and how many more."""
    everybody = _list(value)
    named = [_called(each) for each in everybody[:MOST_NAMED]]
    if len(everybody) > MOST_NAMED:
        return f"{', '.join(named)} and {len(everybody) - MOST_NAMED} more"
    return f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else "".join(named)


def _called(written: str) -> str:
    # The address is said as well: a name is whatever somebody wrote before it.
    match = _ADDRESS.match(written)
    name = match["name"].strip(" \"'") if match else ""
    return f"{name}, {match['address']}" if match and name else match["address"] if match else written


def _count(value: Any, one: str, many: str) -> str:
    count = len(_list(value))
    return f"{count} {many}" if count != 1 else one


def _files(given: _Given) -> str:
    return f", with {_count(given['files'], 'a file', 'files')}" if _list(given.get("files")) else ""


def _subject(given: _Given) -> str:
    subject = _words(given.get("subject"))
    return f", subject: {subject}" if subject else ""


def _letter(verb: str) -> Callable[[_Given], str]:
    def say(given: _Given) -> str:
        others = [each for name in ("cc", "bcc") for each in _list(given.get(name))]
        receivers = _who([*_list(given.get("to")), *others])
        return f"{verb} to {receivers or 'somebody'}{_files(given)}{_subject(given)}"

    return say


def _answer(verb: str) -> Callable[[_Given], str]:
    def say(given: _Given) -> str:
        to = "to everybody who got it" if given.get("everyone") is True else "to whoever wrote it"
        text = _words(given.get("text"), 100)
        return f"{verb} a mail, {to}{f', saying: {text}' if text else ''}"

    return say


def _labels(given: _Given) -> str:
    messages = _count(given.get("message_ids"), "a message", "messages")
    parts = [
        *([f"put {', '.join(_list(given.get('add')))} on"] if _list(given.get("add")) else []),
        *([f"take {', '.join(_list(given.get('remove')))} off"] if _list(given.get("remove")) else []),
    ]
    return f"{' and '.join(parts) or 'change the labels of'} {messages}"


def _event(given: _Given) -> str:
    title = _words(given.get("title"))
    return f"the event {title}" if title else "an event"


def _every(given: _Given) -> str:
    return ", every time it recurs" if given.get("all_of_them") is True else ""


def _time(given: _Given, name: str = "start") -> str:
    return _words(given.get(name), 40).replace("T", " at ")


def _create(given: _Given) -> str:
    return f"put {_event(given)} into your calendar{f', {_time(given)}' if _time(given) else ''}"


def _invite(given: _Given) -> str:
    return f"invite {_who(given.get('guests')) or 'somebody'} to {_event(given)}{_every(given)}"


def _change(given: _Given) -> str:
    changed = [name for name in ("title", "where", "description") if name in given]
    return f"change the {' and '.join(changed) or 'details'} of an event{_every(given)}, which its guests see"


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
    "send_draft": lambda given: "send a draft that it wrote",
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
