"""The owner's mailbox at the loopback Google: mails, threads, labels and drafts, as a test fills and looks at them."""

import functools
import itertools
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage, Message
from email.utils import format_datetime, getaddresses, make_msgid, parsedate_to_datetime
from typing import Any

from keryx.clock import Clock
from tests.support.google import mail_parts
from tests.support.google.mail_search import Searched
from tests.support.google.mail_writing import written
from tests.support.google.refusals import GoogleError, invalid, not_found

SYSTEM_LABELS = (
    *("CHAT", "SENT", "INBOX", "IMPORTANT", "TRASH", "DRAFT", "SPAM", "STARRED", "UNREAD", "CATEGORY_FORUMS"),
    *("CATEGORY_UPDATES", "CATEGORY_PERSONAL", "CATEGORY_PROMOTIONS", "CATEGORY_SOCIAL"),
)
FIXED_LABELS = ("SENT", "DRAFT")
"""Labels that nobody puts on a mail or takes off one."""

_REPLY = re.compile(r"^\s*((re|fwd?|aw|wg)(\[\d+\])?:\s*)+", re.IGNORECASE)
_FIRST_ID = 0x18D0_0000_0000_0000


@dataclass
class Mail:
    """One mail in the mailbox."""

    id: str
    thread_id: str
    raw: bytes
    labels: set[str]
    received: datetime
    history: int

    @functools.cached_property
    def message(self) -> Message:
        return mail_parts.parsed(self.raw)

    @functools.cached_property
    def text(self) -> str:
        return mail_parts.text_of(self.message)

    @functools.cached_property
    def searched(self) -> Searched:
        return Searched.of(self.message, self.text)

    def header(self, name: str) -> str:
        """Decoded; empty when there is none."""
        return mail_parts.header(self.message, name)

    @property
    def subject(self) -> str:
        return self.header("Subject")

    @property
    def message_id(self) -> str:
        return self.header("Message-ID").strip()

    @property
    def sort_key(self) -> tuple[datetime, str]:
        return self.received, self.id


@dataclass
class Draft:
    id: str
    mail: Mail


class Mailbox:
    """Thread-safe. `address`: the owner's own."""

    def __init__(self, address: str, clock: Clock) -> None:
        self.address = address
        self.clock = clock
        self.mails: dict[str, Mail] = {}
        self.drafts: dict[str, Draft] = {}
        self.labels: dict[str, str] = {}
        """The owner's own: name by id."""
        self.outbox: list[Mail] = []
        """What was sent through the interface, in order; a test's way to see what has left."""
        self.decodes_headers = True
        """Whether encoded words in headers come as text; Gmail leaves those that are broken."""
        self.lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._threads: dict[str, str] = {}
        """Which thread a Message-ID is in."""
        self._apart: dict[str, tuple[str, str]] = {}
        """Which part of which mail an attachment id stands for."""

    # -- for a test ----------------------------------------------------------------------------------------------------

    def add(
        self,
        raw: bytes | EmailMessage,
        *,
        labels: Iterable[str] = ("INBOX", "UNREAD"),
        received: datetime | None = None,
        thread: str | None = None,
    ) -> Mail:
        """A mail that is there already. `labels`: ids or names; `received`: by its Date, else now, unless given."""
        if isinstance(raw, EmailMessage):
            raw = raw.as_bytes()
        with self.lock:
            message = mail_parts.headers_alone(raw)
            names = {name: label for label, name in self.labels.items()}
            ids = {label if label in SYSTEM_LABELS else names.get(label) or self.label(label) for label in labels}
            return self._keep(raw, message, ids, received or _date_of(message) or self.clock.now(), thread)

    def write(
        self,
        text: str = "Hello.",
        *,
        sender: str = "Anna Berg <anna@example.com>",
        to: str = "",
        subject: str = "Hello",
        received: datetime | None = None,
        labels: Iterable[str] = ("INBOX", "UNREAD"),
        headers: Iterable[tuple[str, str]] = (),
        files: Iterable[tuple[str, bytes]] = (),
    ) -> Mail:
        """A simple mail that is there already; `files`: names and contents."""
        when = received or self.clock.now()
        fields = [("From", sender), ("To", to or self.address), ("Subject", subject), ("Date", format_datetime(when))]
        fields += headers
        if not any(name.lower() == "message-id" for name, _ in fields):
            fields.append(("Message-ID", f"<mail-{next(self._numbers)}@example.com>"))
        return self.add(written(fields, text, files), labels=labels, received=when)

    def label(self, name: str) -> str:
        """The id of a label of the owner's own, made when there is none."""
        with self.lock:
            for label, known in self.labels.items():
                if known == name:
                    return label
            label = f"Label_{len(self.labels) + 1}"
            self.labels[label] = name
            return label

    def thread(self, thread_id: str) -> list[Mail]:
        """A thread's mails, the oldest first."""
        with self.lock:
            return sorted((mail for mail in self.mails.values() if mail.thread_id == thread_id), key=_age)

    # -- for the interface ---------------------------------------------------------------------------------------------

    def mail(self, mail_id: str) -> Mail:
        if mail_id not in self.mails:
            if not re.fullmatch(r"[0-9a-f]{1,16}", mail_id):
                raise invalid("Invalid id value", reason="invalidArgument")
            raise not_found("Requested entity was not found.")
        return self.mails[mail_id]

    def send(self, raw: bytes, thread: str | None) -> Mail:
        """A letter that leaves; `GoogleError` when it is to nobody."""
        message = mail_parts.headers_alone(raw)
        to = [value for name in ("To", "Cc", "Bcc") for value in message.get_all(name, [])]
        recipients = [address for _, address in getaddresses([str(value) for value in to]) if address]
        if not recipients:
            raise invalid("Recipient address required", reason="invalidArgument")
        if bad := next((address for address in recipients if not re.fullmatch(r"[^@\s]+@[^@\s]+", address)), None):
            raise invalid(f"Invalid To header: {bad}", reason="invalidArgument")
        raw = self._completed(raw, message)
        message = mail_parts.headers_alone(raw)
        labels = {"SENT"} | ({"INBOX", "UNREAD"} if self.address in recipients else set())
        mail = self._keep(raw, message, labels, self.clock.now(), self._fitting(message, thread))
        self.outbox.append(mail)
        return mail

    def draft(self, raw: bytes, thread: str | None) -> Draft:
        raw = self._completed(raw, mail_parts.headers_alone(raw))
        message = mail_parts.headers_alone(raw)
        mail = self._keep(raw, message, {"DRAFT"}, self.clock.now(), self._fitting(message, thread))
        draft = Draft(f"r{7_000_000_000_000_000_000 + next(self._numbers)}", mail)
        self.drafts[draft.id] = draft
        return draft

    def redraft(self, draft_id: str, raw: bytes, thread: str | None) -> Draft:
        """The draft with other words: its mail is another one, as at Gmail."""
        old = self.found_draft(draft_id)
        new = self.draft(raw, thread or old.mail.thread_id)
        del self.drafts[new.id], self.mails[old.mail.id]
        self.drafts[draft_id] = Draft(draft_id, new.mail)
        return self.drafts[draft_id]

    def found_draft(self, draft_id: str) -> Draft:
        if draft_id not in self.drafts:
            raise not_found("Requested entity was not found.")
        return self.drafts[draft_id]

    def drop_draft(self, draft_id: str) -> Draft:
        draft = self.found_draft(draft_id)
        del self.drafts[draft_id], self.mails[draft.mail.id]
        return draft

    def relabel(self, mail: Mail, add: Iterable[str], remove: Iterable[str]) -> None:
        add, remove = set(add), set(remove)
        for label in sorted(add | remove):
            if label not in SYSTEM_LABELS and label not in self.labels:
                raise invalid(f"Invalid label: {label}", reason="invalidArgument")
            if label in FIXED_LABELS:
                raise invalid(f"Invalid label: {label}", reason="invalidArgument")
        if both := add & remove:
            raise invalid(f"Cannot both add and remove the same label: {min(both)}", reason="invalidArgument")
        mail.labels = mail.labels - remove | add
        mail.history = next(self._numbers)

    def keep_apart(self, mail: Mail) -> Callable[[str], str]:
        """Attachment ids: another one at each look, all of them good."""

        def given(part_id: str) -> str:
            attachment = f"ANGjdJ{next(self._numbers):08d}_{mail.id}"
            self._apart[attachment] = mail.id, part_id
            return attachment

        return given

    def attachment(self, mail_id: str, attachment: str) -> bytes:
        if self._apart.get(attachment, ("", ""))[0] != mail_id:
            raise invalid("Invalid attachment token", reason="invalidArgument")
        part_id = self._apart[attachment][1]
        return next(
            mail_parts.content_of(part)
            for found, part in mail_parts.walk(self.mail(mail_id).message)
            if found == part_id
        )

    def history_id(self) -> str:
        return str(max((mail.history for mail in self.mails.values()), default=1))

    def _keep(self, raw: bytes, message: Message, labels: set[str], when: datetime, thread: str | None) -> Mail:
        number = next(self._numbers)
        mail_id = f"{_FIRST_ID + number * 4099:016x}"
        thread = thread or self._thread_of(message) or mail_id
        mail = Mail(mail_id, thread, raw, labels, when, number)
        self.mails[mail_id] = mail
        if message_id := mail_parts.header(message, "Message-ID").strip():
            self._threads.setdefault(message_id, thread)
        return mail

    def _completed(self, raw: bytes, message: Message) -> bytes:
        """With what Gmail adds to a letter that lacks it."""
        missing = {
            "From": self.address,
            "Date": format_datetime(self.clock.now()),
            "Message-ID": make_msgid(domain="mail.gmail.com"),
        }
        added = [f"{name}: {value}\r\n" for name, value in missing.items() if name not in message]
        return "".join(added).encode() + raw

    def _thread_of(self, message: Message) -> str | None:
        for name in ("In-Reply-To", "References"):
            for reference in reversed(re.findall(r"<[^<>\s]+>", str(message.get(name, "")))):
                thread = self._threads.get(reference)
                if thread and self._same_subject(message, thread):
                    return thread
        return None

    def _fitting(self, message: Message, thread: str | None) -> str | None:
        """The thread that was asked for, if the letter belongs there by its headers; None: whichever it belongs to."""
        if thread is None:
            return None
        if not any(mail.thread_id == thread for mail in self.mails.values()):
            raise GoogleError(404, "notFound", "Requested entity was not found.")
        return thread if self._same_subject(message, thread) else None

    def _same_subject(self, message: Message, thread: str) -> bool:
        subject = _topic(mail_parts.header(message, "Subject"))
        return any(_topic(mail.subject) == subject for mail in self.thread(thread))

    def shown_labels(self) -> list[dict[str, Any]]:
        system = [{"id": label, "name": label, "type": "system"} for label in SYSTEM_LABELS]
        return system + [
            {
                "id": label,
                "name": name,
                "type": "user",
                "labelListVisibility": "labelShow",
                "messageListVisibility": "show",
            }
            for label, name in self.labels.items()
        ]


def _age(mail: Mail) -> tuple[datetime, str]:
    return mail.sort_key


def _topic(subject: str) -> str:
    return " ".join(_REPLY.sub("", subject).casefold().split())


def _date_of(message: Message) -> datetime | None:
    try:
        when = parsedate_to_datetime(str(message.get("Date")))
    except (TypeError, ValueError):
        return None
    return when if when.tzinfo else when.astimezone()
