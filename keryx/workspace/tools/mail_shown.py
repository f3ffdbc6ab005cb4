"""Mail as text for a model: small, and never without saying that there is more. Pure."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from pathlib import Path

from keryx.workspace.models import Attachment, Message, MessageBrief, Page, Sent
from keryx.workspace.plain import one_line
from keryx.workspace.tools.marking import PEOPLE_CHARS, THEIRS, people, person, piece, their_line, theirs

SUBJECT_CHARS = 60
NAME_CHARS = 30
ADDRESS_CHARS = 50
SNIPPET_CHARS = 45
LEAST_SNIPPET_CHARS = 15
TEXT_CHARS = 130
"""Of sender, subject and snippet together, in a list: the snippet has what the others leave. So twenty messages take
some 4,000 characters, about a thousand tokens."""
LABEL_CHARS = 20
MOST_LABELS_SHOWN = 3
"""Of one message in a list."""
MOST_LABELS = 300
MOST_ATTACHMENTS = 20
ATTACHMENT_CHARS = 80
TITLE_CHARS = 300
_UNSAID = frozenset({"inbox", "unread", "sent"})
"""Labels that say nothing new in a list of what was found."""


def found(page: Page[MessageBrief], zone: tzinfo) -> str:
    """What a search found."""
    if not page.items:
        return "No message found." if page.next is None else f"Nothing on this page; the next: page={page.next}"
    count = len(page.items)
    about = f" of about {page.about}" if page.about and page.about > count else ""
    lines = [f"{count} {'message' if count == 1 else 'messages'}{about}, newest first. {THEIRS}", ""]
    for brief in page.items:
        lines += _brief(brief, zone)
    if page.next is not None:
        lines += ["", f"There are more: search_mail with the same query and page={page.next}"]
    return "\n".join(lines)


def _brief(brief: MessageBrief, zone: tzinfo) -> list[str]:
    labels = [one_line(label, LABEL_CHARS) for label in brief.labels if label not in _UNSAID]
    marks = [*(["unread"] if brief.unread else []), *labels[:MOST_LABELS_SHOWN]]
    if len(labels) > MOST_LABELS_SHOWN:
        marks.append(f"{len(labels) - MOST_LABELS_SHOWN} more labels")
    # Of a thread of one, the thread's id is the message's.
    thread = "" if brief.thread_id == brief.id else f" thread {brief.thread_id}"
    first = f"{brief.id}{thread}, {moment(brief.at, zone)}{''.join(f', {mark}' for mark in marks)}"
    sender = person(brief.sender, NAME_CHARS, ADDRESS_CHARS)
    subject = f"{sender}: {one_line(brief.subject, SUBJECT_CHARS) or '(no subject)'}"
    room = min(SNIPPET_CHARS, TEXT_CHARS - len(subject))
    snippet = one_line(brief.snippet, room) if room >= LEAST_SNIPPET_CHARS else ""
    return [first, their_line(subject), *([their_line(snippet)] if snippet else [])]


def message(mail: Message, zone: tzinfo, *, start: int = 0, quoted: bool = False) -> str:
    """One message, from its text's character `start` on; what it quotes only when asked for."""
    return f"{THEIRS}\n\n{_message(mail, zone, start=start, quoted=quoted)}"


def thread(messages: list[Message], older: int, zone: tzinfo, *, most_chars: int) -> str:
    """The newest messages of a thread, oldest first; each short, the newest as long as there is room."""
    lines = [f"{len(messages)} messages, oldest first. {THEIRS}"]
    if older:
        lines.append(f"({older} older ones are not shown; search_mail for its subject finds them)")
    parts: list[str] = []
    left = most_chars
    for mail in reversed(messages):
        part = _message(mail, zone)
        if parts and len(part) > left:
            earlier = messages[: len(messages) - len(parts)]
            count = "1 earlier one" if len(earlier) == 1 else f"{len(earlier)} earlier ones"
            lines.append(f"({count} left out; read_message reads one)")
            lines += [_pointer(each, zone) for each in earlier]
            break
        parts.insert(0, part)
        left -= len(part)
    return "\n\n".join([*lines, *parts])


def _pointer(mail: Message, zone: tzinfo) -> str:
    return f"{mail.brief.id}, {moment(mail.brief.at, zone)}\n{their_line(f'from {person(mail.brief.sender)}')}"


def _message(mail: Message, zone: tzinfo, *, start: int = 0, quoted: bool = False) -> str:
    brief = mail.brief
    lines = [
        f"message {brief.id}, thread {brief.thread_id}, {moment(brief.at, zone)}{', unread' if brief.unread else ''}",
        their_line(f"From: {person(brief.sender)}"),
        their_line(f"To: {people(brief.to)}", 2 * PEOPLE_CHARS),
    ]
    if mail.cc:
        lines.append(their_line(f"Cc: {people(mail.cc)}", 2 * PEOPLE_CHARS))
    lines += [their_line(f"Subject: {brief.subject or '(no subject)'}", TITLE_CHARS), ""]
    how = f"read_message with message_id={brief.id}{' quoted=true' if quoted else ''} from_character="
    text = mail.quoted if quoted else mail.text
    lines.append(piece(text, start, how) or "(no text)")
    if mail.quoted and not quoted:
        count = mail.quoted.count("\n") + 1
        lines.append(f"({count} {'line' if count == 1 else 'lines'} quoted from before are folded away: quoted=true)")
    if mail.attachments:
        lines += ["", "Attachments, for save_attachment:"]
        for attachment in mail.attachments[:MOST_ATTACHMENTS]:
            lines.append(_attachment(attachment))
        if len(mail.attachments) > MOST_ATTACHMENTS:
            more = mail.attachments[MOST_ATTACHMENTS:]
            lines.append(f"(and {len(more)} more, numbered on to {more[-1].number})")
    return "\n".join(lines)


def labels(names: Sequence[str]) -> str:
    """Which labels there are; the first of very many."""
    lines = [their_line(name) for name in names[:MOST_LABELS]]
    if len(names) > MOST_LABELS:
        lines.append(f"(and {len(names) - MOST_LABELS} more; list_labels with a part of their names finds them)")
    return "\n".join(["The labels there are:", *lines]) if names else "There is no such label."


def saved(path: Path, count: int) -> str:
    """What became of an attachment."""
    return f"Saved, {size(count)}. Where, by a name that is the sender's:\n{theirs(str(path))}"


def _attachment(attachment: Attachment) -> str:
    name, kind = one_line(attachment.name, ATTACHMENT_CHARS), one_line(attachment.kind, ATTACHMENT_CHARS // 2)
    return f"number {attachment.number}, {size(attachment.size)}\n{their_line(f'{name} ({kind})')}"


def sent(done: Sent, what: str) -> str:
    """What became of a send."""
    if done.already:
        return f"{what} had been sent today already (message {done.id}); nothing was sent again."
    return f"{what} is sent (message {done.id}, thread {done.thread_id})."


def moment(at: datetime, zone: tzinfo) -> str:
    """A moment, in the owner's zone: "Tue 2026-12-01 09:10"."""
    return f"{at.astimezone(zone):%a %Y-%m-%d %H:%M}"


def size(count: int) -> str:
    """Bytes as people say them."""
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1_000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
