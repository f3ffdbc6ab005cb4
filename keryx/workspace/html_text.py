"""An HTML mail as plain text: what a person sees of it, and where its links lead. Pure; never raises.

What is hidden from a person is left out, since that is where words for a machine hide. Each line of quoted mail begins
with "> ", as in plain text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from keryx.workspace.html_style import Look, Rules, look_inside
from keryx.workspace.html_tokens import End, Start, Text, Token, tokens
from keryx.workspace.html_tree import BLOCKS, VOID, Open, Tree
from keryx.workspace.plain import one_line, plain
from keryx.workspace.quoting import begins_forwarded

MAX_HTML_CHARS = 2_000_000
"""What is looked at of a page."""
MAX_LINK_CHARS = 300
"""A longer address is shown as its host alone: it carries a tracker's data, and nobody can read or say it."""
MAX_DEPTH_SHOWN = 12
"""Levels of quotations and of lists that are told apart."""

_DROPPED = frozenset(
    "script style template title svg math select datalist audio video canvas iframe noembed noframes".split()
)
_WHOLE = frozenset({"html", "head", "body"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_PARAGRAPHS = frozenset(
    ("p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre hr form fieldset figure article section").split()
)
_BLANKS = re.compile("[ \t\n\f\r]+")
_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?")
_HOST = re.compile(r"https?://[^/?#\s]{1,200}")
_QUOTE_CLASSES = frozenset({"gmail_quote", "protonmail_quote", "tutanota_quote"})
"""Of a blockquote that is quoted mail. One that is not marked is somebody's way to indent."""
_ZONE_CLASSES = frozenset({"gmail_attr", "moz-cite-prefix", "yahoo_quoted", "zmail_extra"})
"""Of what is quoted, or announces it, in no blockquote. Gmail's own gmail_quote holds answers between, too."""
_REST_IDS = (
    "divrplyfwdmsg",
    "appendonsend",
    "mail-editor-reference-message-container",
    "ms-outlook-mobile-reference-message",
)
"""Where Outlook puts the message that is answered or forwarded: it reaches to the end of the page."""


@dataclass(frozen=True)
class Shown:
    """What a page shows."""

    text: str
    pictures: frozenset[str]
    """The content ids of the pictures in it that came with the mail."""
    cut: bool = False
    """There was more than was asked for."""


def shown_text(page: str, *, most: int, forwarded: bool = False) -> Shown:
    """`page` as text of about `most` characters. `forwarded`: what looks like quoted mail at its end is its content."""
    writer = _Writer(forwarded)
    cut = len(page) > MAX_HTML_CHARS
    for token in tokens(page[:MAX_HTML_CHARS]):
        writer.take(token)
        if writer.lines.written > most:
            cut = True
            break
    return Shown(writer.lines.text(), frozenset(writer.pictures), cut)


@dataclass(eq=False)
class _Zone:
    """A stretch of the page that is quoted, or seems to be."""

    quoted: bool = True
    begun: bool = False
    to_the_end: bool = False


@dataclass
class _Line:
    text: str
    zone: _Zone | None
    depth: int

    def written_out(self) -> str:
        depth = max(self.depth, 1) if self.zone is not None and self.zone.quoted else self.depth
        return ("> " * min(depth, MAX_DEPTH_SHOWN) + self.text).rstrip()


class _Lines:
    """Text under way: pieces are joined to lines, and breaks are made only once something follows them."""

    def __init__(self) -> None:
        self.written = 0
        """Characters, so far."""
        self.zone: _Zone | None = None
        self.depth = 0
        self._lines: list[_Line] = []
        self._parts: list[str] = []
        self._break = 0
        self._space = False
        self._mark = ""
        self._row_begins = False
        self._row_line = -1
        """The line that the current row of a table is on, as long as it is on one."""
        self._cell = False
        """Nothing has been said yet in a cell that follows another one on its line."""

    def add(self, text: str) -> None:
        """Text in which blanks mean no more than one space."""
        text = _BLANKS.sub(" ", plain(text))
        bare = text.strip(" \xa0")
        if text[:1] in (" ", "\xa0"):
            self._space = True
        if bare:
            self._put(bare.replace("\xa0", " "))
            self._space = text[-1] in " \xa0"

    def add_kept(self, text: str) -> None:
        """Text whose blanks and line breaks are shown as they are."""
        for number, line in enumerate(plain(text).replace("\xa0", " ").split("\n")):
            if number:
                self.line_break()
            if line.strip():
                self._put(line.rstrip())
            self._space = line[-1:] == " "

    def add_here(self, text: str) -> None:
        """Something more about what was said last, on its line if that is still under way."""
        if self._parts:
            self._parts.append(text)
            self.written += len(text)
        else:
            self._put(text.lstrip())

    def block(self, lines: int = 1) -> None:
        """Whatever comes next begins a line; `lines` 2 leaves one empty before it."""
        if not (self._row_begins or (self._cell and self._in_row())):
            self._break = max(self._break, lines)

    def line_break(self) -> None:
        """Each one counts, but no more than one line stays empty."""
        self._cell = False
        self._break = min(self._break + 1, 2)

    def row(self) -> None:
        """A row of a table; one of a table within a cell goes on with the line it is on, if it can."""
        if not (self._cell and self._in_row()):
            self.block()
            self._row_begins, self._cell = True, False

    def row_ends(self) -> None:
        """Rows of one line each stand close together, whatever their cells are made of."""
        self._break = 1 if self._in_row() else max(self._break, 1)
        self._row_line, self._row_begins = -1, False

    def cell(self) -> None:
        """A table's next cell: on the same line, when what the row holds so far is one line."""
        if self._in_row():
            self._break, self._cell = 0, True

    def mark(self, mark: str) -> None:
        """Put before what comes next, as a list's dash; empty: nothing any more."""
        self._mark = mark

    def quote(self, zone: _Zone | None, depth: int) -> None:
        """What comes next is quoted in this way."""
        if zone is not self.zone or depth != self.depth:
            self.flush()
            self.block()
            self.zone, self.depth = zone, depth

    def flush(self) -> None:
        """End the line under way."""
        if self._parts:
            line = _Line("".join(self._parts), self.zone, self.depth)
            if line.zone is not None and not line.zone.begun:
                line.zone.begun = True
                line.zone.quoted = not begins_forwarded(line.text)
            self._lines.append(line)
            self.written += 2 * min(self.depth, MAX_DEPTH_SHOWN)
            self._parts = []

    def text(self) -> str:
        self.flush()
        return "\n".join(line.written_out() for line in self._lines)

    def _in_row(self) -> bool:
        return not self._row_begins and self._row_line == len(self._lines) and bool(self._parts)

    def _put(self, text: str) -> None:
        if self._break:
            self.flush()
            if self._break > 1 and self._lines:
                depth = min(self._lines[-1].depth, self.depth)
                zone = self.zone if self._lines[-1].zone is self.zone else None
                self._lines.append(_Line("", zone, depth))
        elif self._parts:
            self._parts.append(" | " if self._cell else " " if self._space else "")
        if self._row_begins:
            self._row_begins, self._row_line = False, len(self._lines)
        self._parts += [self._mark, text]
        self.written += len(self._mark) + len(text) + 1
        self._break, self._space, self._cell, self._mark = 0, False, False, ""


class _Writer:
    """Goes through the tags of a page and writes down what can be seen."""

    def __init__(self, forwarded: bool) -> None:
        self.lines = _Lines()
        self.pictures: set[str] = set()
        self._forwarded = forwarded
        self._tree = Tree()
        self._look = Look()
        self._rules = Rules()
        self._whole: set[str] = set()
        self._dropped = 0
        self._lists: list[int | None] = []
        """Of each open list: the number of its next point, or None for one with dashes."""
        self._link_words: list[str] = []

    def take(self, token: Token) -> None:
        match token:
            case Text(text, raw):
                self._text(text, raw)
            case Start(name, attributes) if name in _WHOLE:
                # They are one element each, and their end tags end nothing.
                if name not in self._whole:
                    self._whole.add(name)
                    self._look = look_inside(self._look, name, attributes, self._rules)
            case Start(name, attributes):
                for element in self._tree.closed_by_start(name):
                    self._close(element)
                self._start(name, attributes)
            case End(name) if name not in _WHOLE:
                closed = self._tree.closed_by_end(name)
                for element in closed:
                    self._close(element)
                if not closed and name in ("p", "br"):
                    self.lines.block()

    def _text(self, text: str, raw: bool) -> None:
        innermost = self._tree.innermost
        if raw and innermost is not None and innermost.name == "style":
            self._rules.add(text)
        elif not (self._dropped or self._look.hidden):
            self._link_words.append(text[:MAX_LINK_CHARS])
            (self.lines.add_kept if self._look.kept_blanks else self.lines.add)(text)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        look = look_inside(self._look, name, attributes, self._rules)
        if name in VOID:
            self._void(name, attributes, look)
            return
        self._break(name)
        kept = _Kept(self._look, self.lines.zone, self.lines.depth, attributes, self.lines.written)
        self._tree.open(name, kept)
        self._look = look
        if name in _DROPPED:
            self._dropped += 1
        elif name == "tr":
            self.lines.row()
        elif name in ("td", "th"):
            self.lines.cell()
        elif name == "li":
            self._point()
        elif name in _LISTS:
            start = attributes.get("start", "")
            first = int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1
            self._lists.append(first if name == "ol" else None)
        elif name == "a":
            self._link_words = []
        if not look.hidden:
            self._quotation(name, attributes)

    def _break(self, name: str) -> None:
        if name in BLOCKS or name in ("table", "caption"):
            in_list = bool(self._lists) and name in ("p", *_LISTS)
            self.lines.block(2 if name in _PARAGRAPHS and not in_list else 1)

    def _point(self) -> None:
        number = self._lists[-1] if self._lists else None
        indent = "  " * min(max(len(self._lists) - 1, 0), MAX_DEPTH_SHOWN)
        self.lines.mark(indent + ("- " if number is None else f"{number}. "))
        if number is not None:
            self._lists[-1] = number + 1

    def _void(self, name: str, attributes: Mapping[str, str], look: Look) -> None:
        if self._dropped or look.hidden:
            return
        if name == "br":
            self.lines.line_break()
        elif name == "hr":
            self.lines.block(2)
        elif name == "img":
            source = attributes.get("src", "").strip()
            if source[:4].lower() == "cid:":
                self.pictures.add(unquote(source[4:]).strip("<> "))
            described = one_line(attributes.get("alt", ""), MAX_LINK_CHARS)
            if described and not {attributes.get("width"), attributes.get("height")} & {"0", "1"}:
                self.lines.add(f"[{described}]")

    def _quotation(self, name: str, attributes: Mapping[str, str]) -> None:
        lines = self.lines
        classes = set(attributes.get("class", "").lower().split()[:20])
        if attributes.get("id", "").lower().startswith(_REST_IDS) or attributes.get("name", "").lower() == "quote":
            # Without a word before it, it is not quoted but passed on.
            if lines.written and not self._forwarded and not (lines.zone and lines.zone.to_the_end):
                lines.quote(_Zone(to_the_end="id" in attributes), lines.depth)
        elif name == "blockquote":
            if attributes.get("type", "").lower() == "cite" or classes & _QUOTE_CLASSES:
                lines.quote(lines.zone, lines.depth + 1)
        elif classes & _ZONE_CLASSES and lines.zone is None:
            lines.quote(_Zone(), lines.depth)

    def _close(self, element: Open) -> None:
        name, kept = element.name, element.kept
        if name in _DROPPED:
            self._dropped -= 1
        elif name == "a":
            self._link(kept)
        elif name == "li":
            self.lines.mark("")
        elif name in _LISTS and self._lists:
            self._lists.pop()
        elif name == "tr":
            self.lines.row_ends()
        if element.closed:
            return  # what is inside of it goes on as it looks
        self._break(name)
        self._look = kept.look
        zone = self.lines.zone if self.lines.zone and self.lines.zone.to_the_end else kept.zone
        self.lines.quote(zone, kept.depth)

    def _link(self, kept: "_Kept") -> None:
        if self._dropped or self._look.hidden or self.lines.written == kept.written:
            return
        if more := _says_more(kept.attributes.get("href", ""), "".join(self._link_words[:100])):
            self.lines.add_here(f" <{more}>")


@dataclass
class _Kept:
    """How things were before an element, and what its end needs."""

    look: Look
    zone: _Zone | None
    depth: int
    attributes: Mapping[str, str]
    written: int


def _says_more(address: str, words: str) -> str:
    """The address, when its link's text does not say it already; empty otherwise."""
    address = "%20".join(plain(address).split())
    words = one_line(words)
    scheme = address.partition(":")[0].lower()
    if scheme in ("mailto", "tel"):
        bare = address.partition(":")[2].partition("?")[0]
        return "" if not bare or bare.lower() in words.lower() else bare
    if scheme not in ("http", "https"):
        return ""
    if _SCHEME.sub("", address).rstrip("/").lower() == _SCHEME.sub("", words).rstrip("/").lower():
        return ""
    if len(address) > MAX_LINK_CHARS:
        host = _HOST.match(address)
        return f"{host[0]}/…" if host else ""
    return address
