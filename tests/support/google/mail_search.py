"""Gmail's query language, the part of it that is used: a query as a predicate over a mail."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import Message
from functools import cached_property
from typing import Protocol
from zoneinfo import ZoneInfo

from tests.support.google import mail_parts

PACIFIC = ZoneInfo("America/Los_Angeles")
"""Google: dates in a query are midnights there; only seconds since 1970 are exact."""

_TOKEN = re.compile(
    r"\s*(?P<sign>-?)(?:(?P<key>[A-Za-z_]+\d*[a-z]*):)?"
    r'(?:"(?P<phrase>[^"]*)"?|(?P<mark>[(){}])|(?P<word>[^\s(){}"]+))'
)
_SPANS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_SIZES = {"": 1, "k": 2**10, "m": 2**20}


@dataclass(frozen=True)
class Searched:
    """What of a mail is searched: words in lower case, each text as " one two "."""

    fields: dict[str, str]
    everything: str
    message_id: str
    files: tuple[str, ...]
    size: int

    @classmethod
    def of(cls, message: Message, text: str) -> "Searched":
        names = ("From", "To", "Cc", "Bcc", "Subject", "List-ID", "Delivered-To")
        fields = {name.lower(): _words(mail_parts.header(message, name)) for name in names}
        files = tuple(name for _, part in mail_parts.walk(message) if (name := mail_parts.filename_of(part)))
        shown = [fields[name] for name in ("from", "to", "cc", "bcc", "subject")]
        everything = "".join([*shown, _words(text), *map(_words, files)])
        return cls(fields, everything, message.get("Message-ID", "").strip().strip("<>"), files, len(text))


class Looked(Protocol):
    """A mail, as far as a query looks at it."""

    labels: set[str]
    received: datetime
    raw: bytes
    searched: cached_property[Searched]


Test = Callable[[Looked], bool]


@dataclass(frozen=True)
class Query:
    """A query that was understood."""

    test: Test
    everywhere: bool
    """Whether the bin and the spam are looked through too."""

    def finds(self, mail: Looked) -> bool:
        return (self.everywhere or not mail.labels & {"TRASH", "SPAM"}) and self.test(mail)


@dataclass(frozen=True)
class _Token:
    negated: bool
    key: str
    text: str
    kind: str
    """"phrase", "mark" or "word"."""


def understood(query: str, *, now: datetime, labels: dict[str, str]) -> Query:
    """`labels`: the owner's own, name by id. Never fails: Gmail takes any query, and reads what is none as words."""
    reader = _Reader(_tokens(query), now, labels)
    return Query(reader.all_of(""), reader.everywhere)


def _tokens(query: str) -> list[_Token]:
    found: list[_Token] = []
    for match in _TOKEN.finditer(query):
        kind = next(kind for kind in ("phrase", "mark", "word") if match[kind] is not None)
        found.append(_Token(match["sign"] == "-", (match["key"] or "").lower(), match[kind], kind))
    return found


class _Reader:
    def __init__(self, tokens: list[_Token], now: datetime, labels: dict[str, str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._now = now
        self._labels = labels
        self.everywhere = False

    def all_of(self, field: str, end: str = "") -> Test:
        """Terms that all must hold, with OR between some, up to `end`."""
        groups: list[list[Test]] = []
        joins = False
        while (token := self._next()) is not None and not (token.kind == "mark" and token.text == end):
            if token.kind == "word" and not token.key and token.text in ("OR", "|"):
                joins = bool(groups)
                continue
            if token.kind == "word" and not token.key and token.text == "AND":
                continue
            test = self._term(token, field)
            if joins:
                groups[-1].append(test)
            else:
                groups.append([test])
            joins = False
        return lambda mail: all(any(test(mail) for test in group) for group in groups)

    def _any_of(self, field: str) -> Test:
        tests: list[Test] = []
        while (token := self._next()) is not None and not (token.kind == "mark" and token.text == "}"):
            if not (token.kind == "word" and token.text == "OR"):
                tests.append(self._term(token, field))
        return lambda mail: any(test(mail) for test in tests)

    def _term(self, token: _Token, field: str) -> Test:
        key = token.key or field
        if token.kind == "mark":
            test = self._any_of(key) if token.text == "{" else self.all_of(key, {"(": ")"}.get(token.text, ""))
        else:
            test = self._test(key, token.text)
        return (lambda mail: not test(mail)) if token.negated else test

    def _next(self) -> _Token | None:
        if self._at == len(self._tokens):
            return None
        self._at += 1
        return self._tokens[self._at - 1]

    def _test(self, key: str, text: str) -> Test:
        low = text.lower()
        match key:
            case "from" | "to" | "cc" | "bcc" | "subject" | "list" | "deliveredto":
                return self._in_field(key, low)
            case "in" | "label" | "is" | "category":
                return self._labelled(key, low)
            case "has" if low in ("attachment", "userlabels", "nouserlabels"):
                if low == "attachment":
                    return lambda mail: bool(mail.searched.files)
                return lambda mail: any(map(self._labels.get, mail.labels)) == (low == "userlabels")
            case "filename":
                return lambda mail: any(low in name.lower() for name in mail.searched.files)
            case "rfc822msgid":
                return lambda mail: mail.searched.message_id == text.strip("<>")
            case "after" | "newer" | "before" | "older" if when := _moment(text):
                if key in ("after", "newer"):
                    return lambda mail: mail.received >= when
                return lambda mail: mail.received < when
            case "newer_than" | "older_than" if span := re.fullmatch(r"(\d+)([hdwmy])", low):
                edge = self._now - timedelta(days=int(span[1]) * _SPANS[span[2]])
                return lambda mail: (mail.received >= edge) == (key == "newer_than")
            case "larger" | "smaller" | "size" if size := re.fullmatch(r"(\d+)([km]?)b?", low):
                least = int(size[1]) * _SIZES[size[2]]
                return lambda mail: (len(mail.raw) >= least) == (key != "smaller")
            case _:
                wanted = _words(f"{key} {text}")
                # Of signs alone Gmail makes nothing.
                return lambda mail: not wanted.strip() or wanted in mail.searched.everything

    def _in_field(self, key: str, low: str) -> Test:
        header = {"list": "list-id", "deliveredto": "delivered-to"}.get(key, key)
        wanted = _words(low)
        if key == "to":  # Gmail's to: finds those that got a copy too
            return lambda mail: any(wanted in mail.searched.fields[name] for name in ("to", "cc", "bcc"))
        return lambda mail: wanted in mail.searched.fields[header]

    def _labelled(self, key: str, low: str) -> Test:
        if key == "category":
            low = {"primary": "personal"}.get(low, low)
            return lambda mail: f"CATEGORY_{low.upper()}" in mail.labels
        match low:
            case "anywhere":
                self.everywhere = True
                return lambda mail: True
            case "read":
                return lambda mail: "UNREAD" not in mail.labels
            case "drafts" | "draft":
                return lambda mail: "DRAFT" in mail.labels
            case "archive" if key == "in":
                return lambda mail: not mail.labels & {"INBOX", "SENT", "DRAFT", "TRASH", "SPAM"}
            case "trash" | "spam":
                self.everywhere = True
        wanted = {label for label, name in self._labels.items() if _dashed(name) == _dashed(low)} | {low.upper()}
        return lambda mail: bool(mail.labels & wanted)


def _words(text: str) -> str:
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} "


def _dashed(name: str) -> str:
    """A label's name as it is written in a query."""
    return re.sub(r"[\s/]+", "-", name.lower())


def _moment(text: str) -> datetime | None:
    if re.fullmatch(r"\d{9,11}", text):
        return datetime.fromtimestamp(int(text), UTC)
    if found := re.fullmatch(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})", text):
        try:
            return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=PACIFIC)
        except ValueError:
            return None
    return None
