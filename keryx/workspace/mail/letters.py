"""A letter as the bytes that are sent, who an answer goes to, and a Message-ID that the same letter always gets. Pure.

Headers are written here, not by the email package: what it makes of long address lists and names differs between the
Pythons, and some of them cannot be read again. It writes the text and the attachments.
"""

import hashlib
import mimetypes
import re
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime

from keryx.errors import Refused
from keryx.workspace.mail.header_lines import HeaderLine, names_and_addresses, on_the_wire, words
from keryx.workspace.models import Letter, Message, Person

MAX_LETTER_BYTES = 25_000_000
"""Text and attachments together, before they are encoded: what Gmail takes."""
MAX_RECIPIENTS = 500
"""What Gmail lets one message go to."""
MAX_SUBJECT_CHARS = 500
MAX_NAME_CHARS = 200
MAX_ADDRESS_CHARS = 254
MAX_REFERENCES = 20
"""How many earlier messages an answer names: the first one, and the last ones."""

_REPLY = re.compile(
    r"\s*(?:re|aw|sv|antw|odp|ynt|vá|res|r|rif|bls|vs)(?:\[\d{1,3}\]|\(\d{1,3}\))?\s?[:：]", re.IGNORECASE
)
_LOCAL = re.compile(r"[^\s@<>()\[\]\\,;:\"]{1,64}")
_LABEL = re.compile(r"(?!-)[^\W_](?:[\w-]{0,61}[^\W_])?|[^\W_]")
_ID = re.compile(r"<[!-;=?-~]{1,900}>")


def written(
    letter: Letter,
    *,
    sender: Person,
    message_id: str,
    at: datetime,
    answering: Message | None = None,
    files: Sequence[tuple[str, bytes]] = (),
) -> bytes:
    """`letter` as RFC 822 bytes, lines ending in CR LF; `files` are its attachments, name and content.

    With `answering` it continues that message's thread. Raises `Refused` with what is wrong with which field.
    """
    checked(letter, sender=sender)
    size = len(letter.text.encode()) + sum(len(content) for _, content in files)
    if size > MAX_LETTER_BYTES:
        raise Refused(
            f"the letter is {size / 1e6:.1f} MB with its attachments, and Gmail takes {MAX_LETTER_BYTES / 1e6:.0f} MB; "
            "leave some out",
            spoken="That is too large to be mailed. Leave out an attachment.",
        )
    if not _ID.fullmatch(message_id):
        raise Refused(f"{message_id!r} is no Message-ID")
    subject = letter.subject
    if answering is not None:
        subject = reply_subject(letter.subject or answering.brief.subject)
    everybody = (sender, *letter.to, *letter.cc, *letter.bcc)
    # A name before the @ that is not ASCII has no other form on the wire.
    policy = SMTP if all(on_the_wire(person.address).isascii() for person in everybody) else SMTPUTF8
    message = EmailMessage(policy=policy)
    for name, people in (("From", (sender,)), ("To", letter.to), ("Cc", letter.cc), ("Bcc", letter.bcc)):
        if people:
            message[name] = HeaderLine(name, names_and_addresses(people))
    message["Subject"] = HeaderLine("Subject", words(subject))
    message["Date"] = HeaderLine("Date", [format_datetime(at)])
    message["Message-ID"] = HeaderLine("Message-ID", [message_id])
    if answering is not None and _ID.fullmatch(answering.message_id):
        message["In-Reply-To"] = HeaderLine("In-Reply-To", [answering.message_id])
        message["References"] = HeaderLine("References", _references(answering))
    # Quoted-printable or base64 where lines are long: a paragraph stays one line and wraps where it is read.
    message.set_content(_lines(letter.text))
    for name, content in files:
        _refuse_controls("an attachment's name", name)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if kind.startswith(("message/", "multipart/")):
            kind = "application/octet-stream"  # it would have to be taken apart, and could not be signed or encoded
        maintype, _, subtype = kind.partition("/")
        message.add_attachment(content, maintype=maintype, subtype=subtype, filename=name)
    return message.as_bytes()


def checked(letter: Letter, *, sender: Person) -> None:
    """Nothing when it can be sent as it is; `Refused` says which field is wrong, and how."""
    if not (letter.to or letter.cc or letter.bcc):
        raise Refused("the letter has nobody to go to; name at least one recipient", spoken="Who should it go to?")
    for field, people in (("From", (sender,)), ("To", letter.to), ("Cc", letter.cc), ("Bcc", letter.bcc)):
        for person in people:
            _check_address(field, person.address)
            _refuse_controls(f"a name in {field}", person.name)
            if len(person.name) > MAX_NAME_CHARS:
                raise Refused(f"a name in {field} is longer than {MAX_NAME_CHARS} characters; shorten it")
    recipients = len(letter.to) + len(letter.cc) + len(letter.bcc)
    if recipients > MAX_RECIPIENTS:
        raise Refused(
            f"the letter goes to {recipients} people, and Gmail takes {MAX_RECIPIENTS}; send it in parts",
            spoken="That goes to too many people at once.",
        )
    _refuse_controls("the subject", letter.subject)
    if len(letter.subject) > MAX_SUBJECT_CHARS:
        raise Refused(f"the subject is longer than {MAX_SUBJECT_CHARS} characters; shorten it")
    _refuse_controls("the text", letter.text, but="\r\n\t")


def message_id_for(
    letter: Letter,
    sender: Person,
    thread_id: str | None,
    day: date,
    salt: str = "",
    *,
    files: Sequence[tuple[str, bytes]] = (),
) -> str:
    """The Message-ID of this letter on this (UTC) day: the same one for the same letter, so that it is not sent twice.

    The order of recipients, how their names are written and trailing blanks make no difference; a `salt` does.
    """
    said = [day.isoformat(), _folded(sender.address), thread_id or "", salt]
    for people in (letter.to, letter.cc, letter.bcc):
        said += ["people", *sorted({_folded(person.address) for person in people})]
    said += ["subject", unicodedata.normalize("NFC", " ".join(letter.subject.split()))]
    said += ["text", *unicodedata.normalize("NFC", _lines(letter.text)).split("\n")]
    said += ["files", *letter.files]
    said += [f"{name} {hashlib.sha256(content).hexdigest()}" for name, content in files]
    digest = hashlib.sha256("\0".join(said).encode("utf-8", "surrogatepass")).hexdigest()
    domain = _folded(sender.address).rpartition("@")[2].encode("idna").decode("ascii") or "localhost"
    return f"<keryx.{digest[:40]}@{domain}>"


def answer_to(message: Message, me: str, everyone: bool) -> tuple[tuple[Person, ...], tuple[Person, ...]]:
    """Who an answer to `message` goes to, and who gets a copy; `me` is the owner's address.

    An answer to one's own message goes to whom that went to. `Refused` when the message names nobody.
    """
    brief = message.brief
    if _same(brief.sender.address, me):
        first = _others(brief.to, me) or _others(message.cc, me) or (brief.sender,)
        second = _others(message.cc, me, first) if everyone else ()
        return first, second
    first = _others(message.reply_to, me) or _others((brief.sender,), me)
    if not first:
        raise Refused(
            "that message does not say who sent it; write a new one and name the recipient",
            spoken="That message doesn't say who sent it, so I can't answer it.",
        )
    if not everyone:
        return first, ()
    first = (*first, *_others(brief.to, me, first))
    return first, _others(message.cc, me, first)


def strangers_in(letter: Letter, message: Message, me: str, *, everyone: bool) -> tuple[Person, ...]:
    """Who would get this answer to `message` though they did not write it, nor got it if it goes to `everyone`.

    A Reply-To names anybody at all, and so does a From that pretends to be the owner's own.
    """
    brief = message.brief
    mine = _same(brief.sender.address, me) and "SENT" in brief.labels
    known = {_mailbox(brief.sender.address)}
    if everyone or mine:
        known |= {_mailbox(person.address) for person in (*brief.to, *message.cc)}
    recipients = (*letter.to, *letter.cc, *letter.bcc)
    return tuple(person for person in recipients if _mailbox(person.address) not in known)


def reply_subject(subject: str) -> str:
    """The subject of an answer: "Re: " before it, unless it says so already, in whatever language."""
    return subject if _REPLY.match(subject) else f"Re: {subject}".rstrip()


def _references(answering: Message) -> list[str]:
    known = [known for known in answering.references if _ID.fullmatch(known) and known != answering.message_id]
    chain = [*known, answering.message_id]
    return chain if len(chain) <= MAX_REFERENCES else [chain[0], *chain[1 - MAX_REFERENCES :]]


def _check_address(field: str, address: str) -> None:
    wrong = _wrong_with(address)
    if wrong:
        shown = "".join(character if character.isprintable() else "?" for character in address[:80])
        raise Refused(
            f'{field}: "{shown}" {wrong}; give one address such as anna@example.org',
            spoken="That isn't a mail address I can write to.",
        )


def _wrong_with(address: str) -> str:
    if not address:
        return "is no address"
    if any(unicodedata.category(character)[0] == "C" for character in address):
        return "has control characters in it"
    local, at, domain = address.rpartition("@")
    if not at or not _LOCAL.fullmatch(local):
        return "is not exactly one mail address"
    if "." not in domain:
        return "has no whole domain behind the @"
    if len(address) > MAX_ADDRESS_CHARS or not all(_LABEL.fullmatch(label) for label in domain.split(".")):
        return "has a domain that cannot be"
    try:
        domain.encode("idna")
    except UnicodeError:
        return "has a domain that cannot be"
    return ""


def _refuse_controls(field: str, text: str, but: str = "") -> None:
    for character in text:
        kind = unicodedata.category(character)
        if character not in but and (kind in ("Cc", "Cs", "Zl", "Zp")):
            what = (
                "a line break" if character in "\r\n\u2028\u2029" else f"the control character U+{ord(character):04X}"
            )
            raise Refused(
                f"{field} has {what} in it; take it out", spoken="There is something in it that can't be mailed."
            )


def _lines(text: str) -> str:
    """Its lines without trailing blanks, and none that are empty at the end."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip(" \t") for line in unified.split("\n")).rstrip("\n")


def _others(people: Sequence[Person], me: str, but: Sequence[Person] = ()) -> tuple[Person, ...]:
    """Those who have an address, each once, without the owner and without `but`."""
    seen = {_mailbox(me), *(_mailbox(person.address) for person in but)}
    kept = []
    for person in people:
        if person.address and _mailbox(person.address) not in seen:
            seen.add(_mailbox(person.address))
            kept.append(person)
    return tuple(kept)


def _same(one: str, other: str) -> bool:
    return _mailbox(one) == _mailbox(other)


def _folded(address: str) -> str:
    return unicodedata.normalize("NFC", address.strip()).casefold()


def _mailbox(address: str) -> str:
    """Where its mail ends up, as far as the address shows: Gmail ignores dots and what follows a plus."""
    local, _, domain = _folded(address).rpartition("@")
    if domain in ("gmail.com", "googlemail.com"):
        return f"{local.partition('+')[0].replace('.', '')}@gmail.com"
    return f"{local}@{domain}"
