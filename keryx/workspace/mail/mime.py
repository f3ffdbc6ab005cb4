"""A mail as it is read: Gmail's tree of parts as text, what is quoted, and attachments. Pure.

Whatever a sender made of the mail, reading it does not fail: what is broken is read as far as it goes, what is too long
or too deep is cut, and the text says so.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from keryx.errors import NotFound
from keryx.workspace.mail import invitations
from keryx.workspace.mail.headers import Headers
from keryx.workspace.mail.html_text import MAX_TAGS, shown_text
from keryx.workspace.mail.parts import MAX_DECODED_BYTES, MAX_DEPTH, Part, below, tree_of
from keryx.workspace.mail.quoting import is_forward, split
from keryx.workspace.mail.raw import payload_of
from keryx.workspace.models import Attachment, Message, MessageBrief
from keryx.workspace.plain import one_line, plain

MAX_TEXT_CHARS = 100_000
"""Of what somebody wrote, and of what they quote, each."""
MAX_SNIPPET_CHARS = 300
CUT = "[… the rest is left out: the message is longer than what is read of it]"
NESTED = f"[… parts are left out: there are too many, or they are nested more than {MAX_DEPTH} deep]"
ELSEWHERE = "[A text of this message is so long that it is listed as an attachment.]"
ENCRYPTED = "[This message is encrypted: only the owner's own mail program can open it.]"

_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_ENVELOPES = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_REPORTS = ("message/delivery-status", "message/disposition-notification", "message/feedback-report")
_REPORTED = ("final-recipient", "original-recipient", "action", "status", "diagnostic-code", "disposition")


@dataclass(frozen=True)
class AttachmentPart:
    """A file of a message, and where its content is."""

    attachment: Attachment
    attachment_id: str = ""
    """What Gmail is asked for the content with; empty when it is here."""
    data: bytes | None = field(default=None, repr=False)
    """The content, when it came along with the message."""


def message_of(resource: Mapping[str, Any]) -> Message:
    """The message in a Gmail `Message` resource of format `full`."""
    tree = tree_of(resource.get("payload"))
    headers = tree.headers
    reading = _Reading(forwarded=is_forward(headers.line("subject")))
    reading.read(tree)
    return Message(
        brief=brief_of(resource),
        cc=headers.people("cc"),
        text=_within_bounds(reading.own, reading.cut),
        quoted=_within_bounds(reading.quoted, False),
        attachments=tuple(_attachment(part, number) for number, part in enumerate(reading.files(tree), 1)),
        message_id=next(iter(headers.ids("message-id")), ""),
        references=headers.ids("references") or headers.ids("in-reply-to"),
        reply_to=headers.people("reply-to"),
    )


def brief_of(resource: Mapping[str, Any]) -> MessageBrief:
    """What the headers say, from a Gmail `Message` resource of format `metadata` or `full`."""
    payload = resource.get("payload")
    headers = Headers.of(payload if isinstance(payload, Mapping) else {})
    labels = tuple(label for label in resource.get("labelIds") or () if isinstance(label, str))
    return MessageBrief(
        id=str(resource.get("id") or ""),
        thread_id=str(resource.get("threadId") or ""),
        sender=headers.person("from"),
        to=headers.people("to"),
        subject=headers.line("subject"),
        # Gmail writes it as HTML has it.
        snippet=one_line(html.unescape(str(resource.get("snippet") or "")[: MAX_SNIPPET_CHARS * 8]), MAX_SNIPPET_CHARS),
        at=_received(resource, headers),
        unread="UNREAD" in labels,
        labels=labels,
    )


def attachment_part(resource: Mapping[str, Any], number: int) -> AttachmentPart:
    """Attachment `number`, from 1, of a Gmail `Message` resource of format `full`; `NotFound`."""
    tree = tree_of(resource.get("payload"))
    reading = _Reading(forwarded=False)
    reading.read(tree)
    files = reading.files(tree)
    if not 0 < number <= len(files):
        have = f"they are numbered 1 to {len(files)}" if files else "it has none"
        raise NotFound(
            f"the message has no attachment {number}: {have}", spoken="That message doesn't have such an attachment."
        )
    part = files[number - 1]
    attachment = _attachment(part, number)
    if part.attachment_id and not part.data:
        return AttachmentPart(attachment, attachment_id=part.attachment_id)
    return AttachmentPart(attachment, data=part.content())


class _Reading:
    """Goes through a mail's parts and collects what they say."""

    def __init__(self, *, forwarded: bool) -> None:
        self.own: list[str] = []
        self.quoted: list[str] = []
        self.cut = False
        self._forwarded = forwarded
        self._said = 0
        self._bytes_left, self._tags_left = MAX_DECODED_BYTES, MAX_TAGS
        """Of all parts together: a mail may have a thousand of them."""
        self._pictures: set[str] = set()
        self._unlisted: set[int] = set()
        """Parts, by identity, that are read here and so are no attachments."""

    def read(self, part: Part) -> None:
        """Say what `part` says, and whatever is in it."""
        if part.left_out:
            self._say(NESTED)
        if part.attached and part.kind != "message/rfc822":
            if part.kind == "text/calendar":
                self._invite(part)
            return
        if part.kind.startswith("text/") and part.attachment_id and not part.data:
            self._say(ELSEWHERE)
            return
        match part.kind.split("/"):
            case "multipart", "alternative":
                self._read_best(part)
            case "multipart", "signed":
                for child in part.children:
                    if child.kind in _SIGNATURES:
                        self._unlisted.add(id(child))
                    else:
                        self.read(child)
            case "multipart", "encrypted":
                self._say(ENCRYPTED)
            case "multipart", "report":
                self._read_report(part)
            case "multipart", _:
                for child in part.children:
                    self.read(child)
            case "message", "rfc822":
                self._read_forwarded(part)
            case "text", "calendar":
                self._invite(part)
            case "text", "html":
                self._unlisted.add(id(part))
                self._write(self._page(part))
            case "text", _:
                self._unlisted.add(id(part))
                self._write(self._plain(part))
            case _ if part.kind in _ENVELOPES:
                self._say(ENCRYPTED)

    def files(self, tree: Part) -> list[Part]:
        """The parts that are listed as attachments, in the order of the mail."""
        leaves = [part for part in below(tree) if not part.kind.startswith("multipart/")]
        found = [part for part in leaves if id(part) not in self._unlisted and self._has_content(part)]
        # The same invitation comes as a part to be shown and as a file.
        if any(part.kind in ("text/calendar", "application/ics") and part.name for part in found):
            found = [part for part in found if part.kind != "text/calendar" or part.name]
        return [part for part in found if not (part.kind.startswith("image/") and part.content_id in self._pictures)]

    def _has_content(self, part: Part) -> bool:
        return bool(part.data or part.attachment_id or (part.name and part.kind != "message/rfc822"))

    def _read_best(self, part: Part) -> None:
        """A person is shown the page. Its plain twin may say something else, and is read only when there is no page."""
        pages = [child for child in part.children if self._holds(child, "text/html")]
        plains = [child for child in part.children if child.kind.startswith("text/") and child.kind not in _NOT_PLAIN]
        others = [child for child in part.children if child not in pages and child not in plains]
        before = self._said
        for child in pages[-1:]:
            self.read(child)
        if self._said == before:
            for child in plains[-1:]:
                self.read(child)
        for child in (*pages, *plains):
            self._unlisted.update(
                id(inner)
                for inner in below(child)
                if inner.kind.startswith("text/") and inner.data and not inner.attached
            )
        for child in others:
            self.read(child)

    def _holds(self, part: Part, kind: str) -> bool:
        return any(inner.kind == kind and not inner.attached for inner in below(part))

    def _read_report(self, part: Part) -> None:
        """A bounce or a receipt: its words, what it is about in a line each, and the returned message folded away."""
        for child in part.children:
            if child.kind in _REPORTS:
                self._unlisted.add(id(child))
                self._say(_report(child))
            elif child.kind in ("message/rfc822", "text/rfc822-headers"):
                self._unlisted.update(id(inner) for inner in below(child))
                returned = _Reading(forwarded=False)
                returned.read(Part("multipart/mixed", child.headers, "", 0, child.depth, child.children))
                self.quoted += [_headlines(child.headers, child.children), *returned.own, *returned.quoted]
            else:
                self.read(child)

    def _read_forwarded(self, part: Part) -> None:
        """A message that came as an attachment: it is what was sent, so none of it is folded away."""
        inner = _Reading(forwarded=True)
        inner._bytes_left, inner._tags_left = self._bytes_left, self._tags_left
        children = part.children or ((tree_of(payload_of(part.content())),) if part.data else ())
        for child in children:
            inner.read(child)
        self._unlisted |= inner._unlisted
        self._pictures |= inner._pictures
        self._bytes_left, self._tags_left = inner._bytes_left, inner._tags_left
        self.cut = self.cut or inner.cut
        self._say("\n".join(line for line in ("[An attached message:]", _headlines(part.headers, children)) if line))
        for text in (*inner.own, *inner.quoted):
            self._say(text)

    def _invite(self, part: Part) -> None:
        text = part.text(invitations.MAX_CALENDAR_CHARS)[0]
        words = invitations.said(text)
        if words and f"[{words}]" not in self.own:
            self._say(f"[{words}]")

    def _page(self, part: Part) -> str:
        page, cut = self._content(part, MAX_DECODED_BYTES)
        shown = shown_text(page, most=2 * MAX_TEXT_CHARS, most_tags=self._tags_left, forwarded=self._forwarded)
        self._tags_left -= shown.tags
        self.cut = self.cut or cut or shown.cut
        self._pictures |= shown.pictures
        return shown.text

    def _plain(self, part: Part) -> str:
        text, cut = self._content(part, 8 * MAX_TEXT_CHARS)
        self.cut = self.cut or cut
        if part.headers.parameter("content-type", "format").lower() == "flowed":
            text = _unflowed(text, part.headers.parameter("content-type", "delsp").lower() == "yes")
        return plain(text)

    def _content(self, part: Part, most_bytes: int) -> tuple[str, bool]:
        text, cut = part.text(min(most_bytes, self._bytes_left))
        self._bytes_left = max(0, self._bytes_left - part.size_here)
        return text, cut

    def _write(self, text: str) -> None:
        """Words of the sender, apart from what they quote."""
        if self._said > 2 * MAX_TEXT_CHARS:
            self.cut = True
            return
        parted = split(text, forwarded=self._forwarded)
        self._say(parted.own)
        if parted.quoted:
            self.quoted.append(parted.quoted)
            self._said += len(parted.quoted)

    def _say(self, text: str) -> None:
        if text.strip():
            self.own.append(text)
            self._said += len(text)


_NOT_PLAIN = ("text/html", "text/calendar")


def _within_bounds(texts: list[str], cut: bool) -> str:
    text = "\n\n".join(text.strip("\n") for text in texts if text.strip())
    if len(text) > MAX_TEXT_CHARS:
        text, cut = text[:MAX_TEXT_CHARS].rstrip(), True
    return f"{text}\n\n{CUT}".strip() if cut else text


def _attachment(part: Part, number: int) -> Attachment:
    return Attachment(number, part.shown_name(number), part.kind, part.size or part.size_here)


def _received(resource: Mapping[str, Any], headers: Headers) -> datetime:
    """When Gmail got it; what its own Date header claims only when that is all there is."""
    try:
        return datetime.fromtimestamp(int(resource.get("internalDate") or "") / 1000, UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return headers.moment("date") or datetime.fromtimestamp(0, UTC)


def _headlines(own: Headers, children: Sequence[Part]) -> str:
    """Who a message within another one is from, and what about. Its headers are with its first part, or with itself."""
    for headers in (own, *(child.headers for child in children[:1])):
        if headers.raw("from") or headers.raw("subject"):
            named = (("From", "from"), ("To", "to"), ("Date", "date"), ("Subject", "subject"))
            return "\n".join(f"{label}: {headers.line(name)}" for label, name in named if headers.raw(name))
    return ""


def _report(part: Part) -> str:
    """What a delivery report says of each recipient (RFC 3464)."""
    lines = []
    # Its fields come as text, or as headers of a part for each recipient.
    for line in plain(part.text(20_000)[0]).split("\n")[:500]:
        name, colon, value = line.partition(":")
        if colon and name.strip().lower() in _REPORTED:
            lines.append(f"{name.strip().capitalize()}: {one_line(value, 300)}")
    for inner in part.children[:20]:
        lines += [f"{name.capitalize()}: {inner.headers.line(name)}" for name in _REPORTED if inner.headers.raw(name)]
    return "\n".join(lines[:40])


def _unflowed(text: str, delete_space: bool) -> str:
    """RFC 3676: lines that end in a space go on in the next one of the same depth."""
    out: list[str] = []
    open_depth = -1
    for line in text.replace("\r\n", "\n").split("\n"):
        depth = len(line) - len(line.lstrip(">"))
        bare = line[depth:].removeprefix(" ")
        flows = bare.endswith(" ") and bare != "-- "
        piece = bare[:-1] if flows and delete_space else bare
        if open_depth == depth and bare != "-- ":
            out[-1] += piece
        else:
            out.append(f"{'>' * depth} {piece}" if depth else piece)
        open_depth = depth if flows else -1
    return "\n".join(out)
