"""Mail as text for a model: small, and never without saying that there is more. Pure."""

from datetime import datetime, tzinfo

from keryx.workspace.marking import THEIRS, people, person, piece, their_line
from keryx.workspace.models import Attachment, Message, MessageBrief, Page, Sent

SUBJECT_CHARS = 70
SNIPPET_CHARS = 60
MOST_ATTACHMENTS = 30
_UNSAID = frozenset({"inbox", "unread", "sent"})
"""Labels that say nothing new in a list of what was found."""


def found(page: Page[MessageBrief], zone: tzinfo) -> str:
    """What a search found."""
    if not page.items:
        return "No message found." if page.next is None else f"Nothing on this page; the next: page={page.next}"
    count = len(page.items)
    about = f" of about {page.about}" if page.about and page.about > count else ""
    lines = [f"{count} {'message' if count == 1 else 'messages'}{about}, newest first. {THEIRS}"]
    for brief in page.items:
        lines += ["", *_brief(brief, zone)]
    if page.next is not None:
        lines += ["", f"There are more: search_mail with the same query and page={page.next}"]
    return "\n".join(lines)


def _brief(brief: MessageBrief, zone: tzinfo) -> list[str]:
    marks = [*(["unread"] if brief.unread else []), *(label for label in brief.labels if label not in _UNSAID)]
    # Of a thread of one, the thread's id is the message's.
    thread = "" if brief.thread_id == brief.id else f" thread {brief.thread_id}"
    first = f"{brief.id}{thread}, {moment(brief.at, zone)}{''.join(f', {mark}' for mark in marks[:5])}"
    subject = f"{person(brief.sender)}: {brief.subject or '(no subject)'}"
    return [first, their_line(subject, SUBJECT_CHARS + 40), their_line(brief.snippet, SNIPPET_CHARS)]


def message(mail: Message, zone: tzinfo, *, start: int = 0, quoted: bool = False) -> str:
    """One message, from its text's character `start` on; what it quotes only when asked for."""
    return f"{THEIRS}\n\n{_message(mail, zone, start=start, quoted=quoted)}"


def thread(messages: list[Message], older: int, zone: tzinfo, *, most_chars: int) -> str:
    """The newest messages of a thread, oldest first; each short, the newest as long as there is room."""
    lines = [f"{len(messages)} messages, oldest first. {THEIRS}"]
    if older:
        lines.append(f"({older} older ones are not shown; search_mail finds them)")
    parts: list[str] = []
    left = most_chars
    for mail in reversed(messages):
        part = _message(mail, zone)
        if parts and len(part) > left:
            lines.append(f"({len(messages) - len(parts)} earlier ones left out; read_message reads one)")
            lines += [_pointer(each, zone) for each in messages[: len(messages) - len(parts)]]
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
        their_line(f"To: {people(brief.to)}", 1_000),
    ]
    if mail.cc:
        lines.append(their_line(f"Cc: {people(mail.cc)}", 1_000))
    lines += [their_line(f"Subject: {brief.subject or '(no subject)'}", 300), ""]
    how = f"read_message with message_id={brief.id} from_character={{at}}"
    text = mail.quoted if quoted else mail.text
    lines.append(piece(text, start, how + (" quoted=true" if quoted else "")) or "(no text)")
    if mail.quoted and not quoted:
        count = mail.quoted.count("\n") + 1
        lines.append(f"({count} {'line' if count == 1 else 'lines'} quoted from before are folded away: quoted=true)")
    if mail.attachments:
        lines += ["", "Attachments, for save_attachment:"]
        for attachment in mail.attachments[:MOST_ATTACHMENTS]:
            lines.append(_attachment(attachment))
        if len(mail.attachments) > MOST_ATTACHMENTS:
            lines.append(f"(and {len(mail.attachments) - MOST_ATTACHMENTS} more)")
    return "\n".join(lines)


def _attachment(attachment: Attachment) -> str:
    return (
        f"number {attachment.number}, {size(attachment.size)}\n{their_line(f'{attachment.name} ({attachment.kind})')}"
    )


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
