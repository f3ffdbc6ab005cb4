"""What a mail's headers say: decoded, one line each, whatever is wrong with them. Pure; never raises.

RFC 5322 for addresses and RFC 2047 for encoded words, read forgivingly. The standard library's parsers are not used:
the time they take grows with the square of the length, and they raise on some of what arrives.
"""

import quopri
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from keryx.workspace.mail.charsets import from_base64, text_of
from keryx.workspace.models import Person
from keryx.workspace.plain import one_line

MAX_HEADER_CHARS = 64_000
"""What is looked at of one header; a list of a thousand recipients fits."""
MAX_PEOPLE = 1_000
MAX_IDS = 100

_WORD = re.compile(r"=\?([\w.:+-]{1,40})(?:\*[\w-]{0,20})?\?([bBqQ])\?([^?]*)\?=")
_RAW_BYTE = re.compile("[\udc80-\udcff]")
_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_ID = re.compile(r"<[!-;=?-~]{1,900}>")
_PARAMETER = re.compile(r"""([\w*-]{1,40})[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^;\s]*)""")
# Every piece of an address list: a quoted string, the rest after a quotation mark that is never closed, a bracket or
# what separates, or a run of anything else.
_PIECE = re.compile(r'"((?:[^"\\]|\\.)*)(?:"|(\Z))|([()<>,;:])|([^"()<>,;:]+)', re.DOTALL)
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)


class Headers:
    """The headers of one message or part, by name without regard to case; of doubled ones the first counts."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._all: dict[str, list[str]] = {}
        for name, value in pairs:
            self._all.setdefault(name.strip().lower(), []).append(value[:MAX_HEADER_CHARS])

    @classmethod
    def of(cls, part: Mapping[str, Any]) -> "Headers":
        """Of a message part as Gmail's API gives it."""
        listed = part.get("headers")
        entries = listed if isinstance(listed, Sequence) and not isinstance(listed, str) else ()
        return cls(
            (str(entry.get("name") or ""), str(entry.get("value") or ""))
            for entry in entries
            if isinstance(entry, Mapping)
        )

    def raw(self, name: str) -> str:
        """As it arrived, unfolded by nobody; empty when there is none."""
        return next(iter(self._all.get(name.lower(), ())), "")

    def line(self, name: str) -> str:
        """Decoded text."""
        return decoded(self.raw(name))

    def people(self, name: str) -> tuple[Person, ...]:
        """Everybody named in it, of doubled ones too: a second Cc line is still somebody who gets the mail."""
        return people(", ".join(self._all.get(name.lower(), ())))

    def person(self, name: str) -> Person:
        """The first one; nobody at all is a `Person` with an empty address."""
        return next(iter(people(self.raw(name))), Person(""))

    def ids(self, name: str) -> tuple[str, ...]:
        """Message-IDs with their angle brackets."""
        return tuple(dict.fromkeys(_ID.findall(self.raw(name))))[-MAX_IDS:]

    def value(self, name: str) -> str:
        """Of a structured header what stands before its parameters, in small letters: "text/plain"."""
        return self.raw(name).partition(";")[0].strip().lower()

    def parameter(self, name: str, parameter: str) -> str:
        """A plain parameter, as the charset of a Content-Type."""
        for found in _PARAMETER.finditer(self.raw(name).partition(";")[2]):
            if found[1].lower() == parameter:
                return found[2].strip('"')
        return ""

    def moment(self, name: str) -> datetime | None:
        """A date, in UTC."""
        try:
            found = parsedate_to_datetime(self.raw(name)[:200])
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        try:
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            return None


def decoded(raw: str) -> str:
    """A header's value as a person reads it: one line, encoded words decoded."""
    return one_line(_decoded_words(raw[:MAX_HEADER_CHARS]))


def people(raw: str) -> tuple[Person, ...]:
    """The people in an address list, in order, groups dissolved. Somebody without an address keeps the name."""
    return tuple(person for person, _ in zip(_people(raw[:MAX_HEADER_CHARS]), range(MAX_PEOPLE), strict=False))


@dataclass
class _Entry:
    """One entry of an address list, while it is read."""

    loose: str = ""
    """What stands outside of brackets."""
    address: str | None = None
    comment: str = ""

    def person(self) -> Person | None:
        address, name = self.address or "", self.loose.strip()
        if self.address is None and "@" in name:
            *before, address = name.split()
            name = " ".join(before) if "@" in address else ""
            address = address if "@" in address else "".join((*before, address))
        if address.startswith("@"):
            address = address.rpartition(":")[2]  # a route, as RFC 822 had them
        address = "".join(one_line(_mended(address)).split())
        name = decoded(name or self.comment)
        return Person(address, name) if address or name else None


def _people(raw: str) -> Iterator[Person]:
    entry = _Entry()
    depth = 0
    into: str | None = None
    """Where text goes: None is outside of brackets, "address", or "nowhere" for a second address in one entry."""
    for mark, text in _pieces(raw):
        if depth:  # inside a comment, which may hold others
            depth += {"(": 1, ")": -1}.get(mark, 0)
            entry.comment += (text or mark) if depth else ""
        elif mark == "(":
            depth = 1
            entry.comment += " " if entry.comment else ""
        elif mark == "<":
            into = "address" if entry.address is None else "nowhere"
            entry.address = entry.address or ""
        elif mark == ">":
            into = None
        elif mark == ";" or (mark == "," and into is None):
            into = None
            if person := entry.person():
                yield person
            entry = _Entry()
        elif mark == ":" and into is None and entry.address is None and "@" not in entry.loose:
            entry = _Entry()  # what stood before was the name of a group
        elif into is None:
            entry.loose += text or mark
        elif into == "address":
            entry.address = (entry.address or "") + (text or mark)
    if person := entry.person():
        yield person


def _pieces(raw: str) -> Iterator[tuple[str, str]]:
    """Each bracket or separator as the first of a pair, each stretch of text as the second."""
    for found in _PIECE.finditer(raw):
        quoted, unclosed, mark, run = found.groups()
        if quoted is None:
            yield mark or "", run or ""
        elif unclosed is None:
            yield "", _QUOTED_PAIR.sub(r"\1", quoted)
        else:
            yield from _pieces(quoted.replace('"', " "))


def _decoded_words(raw: str) -> str:
    """Encoded words of one charset that follow one another are joined, then decoded: some senders split characters."""
    pieces: list[str] = []
    held, charset = b"", ""
    end = 0
    for word in _WORD.finditer(raw):
        between = raw[end : word.start()]
        if between.strip() or word[1].lower() != charset:
            pieces.append(text_of(held, charset))
            held = b""
            pieces.append(_mended(between if between.strip() or not charset else ""))
        charset = word[1].lower()
        held += from_base64(word[3]) if word[2] in "bB" else _from_q(word[3])
        end = word.end()
    pieces.append(text_of(held, charset))
    pieces.append(_mended(raw[end:]))
    return "".join(pieces)


def _from_q(text: str) -> bytes:
    return quopri.decodestring(text.encode("utf-8", "surrogateescape"), header=True)


def _mended(text: str) -> str:
    """Raw 8-bit bytes, which the email package carries as surrogates, read as text. Other surrogates say nothing."""
    if not _RAW_BYTE.search(text):
        return text
    return text_of(_LONE.sub("\ufffd", text).encode("utf-8", "surrogateescape"))
