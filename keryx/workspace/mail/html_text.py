"""An HTML mail as plain text: what a person sees of it, and where its links lead. Pure; never raises.

What is hidden from a person is left out, since that is where words for a machine hide. Each line of quoted mail begins
with "> ", as in plain text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from keryx.workspace.mail.html_lines import MAX_DEPTH_SHOWN, Lines, Zone
from keryx.workspace.mail.html_style import Look, Rules, look_inside
from keryx.workspace.mail.html_tokens import End, Start, Text, Token, tokens
from keryx.workspace.mail.html_tree import BLOCKS, VOID, Open, Tree
from keryx.workspace.plain import one_line, plain

MAX_HTML_CHARS = 2_000_000
"""What is looked at of a page."""
MAX_TAGS = 100_000
"""Ten times what a long newsletter has."""
MAX_LINK_CHARS = 300
"""A longer address is shown as its host alone: it carries a tracker's data, and nobody can read or say it."""

_DROPPED = frozenset(
    "script style template title svg math select datalist audio video canvas iframe noembed noframes".split()
)
_WHOLE = frozenset({"html", "head", "body"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_PARAGRAPHS = frozenset(
    ("p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre hr form fieldset figure article section").split()
)
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
    tags: int = 0
    """How many tags and stretches of text were looked at."""


def shown_text(page: str, *, most: int, most_tags: int = MAX_TAGS, forwarded: bool = False) -> Shown:
    """`page` as text of about `most` characters. `forwarded`: what looks like quoted mail at its end is its content."""
    writer = _Writer(forwarded)
    cut = len(page) > MAX_HTML_CHARS
    tags = 0
    for token in tokens(page[:MAX_HTML_CHARS]):
        if writer.lines.written > most or tags >= most_tags:
            cut = True
            break
        writer.take(token)
        tags += 1
    return Shown(writer.lines.text(), frozenset(writer.pictures), cut, tags)


class _Writer:
    """Goes through the tags of a page and writes down what can be seen."""

    def __init__(self, forwarded: bool) -> None:
        self.lines = Lines()
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
                lines.quote(Zone(to_the_end="id" in attributes), lines.depth)
        elif name == "blockquote":
            if attributes.get("type", "").lower() == "cite" or classes & _QUOTE_CLASSES:
                lines.quote(lines.zone, lines.depth + 1)
        elif classes & _ZONE_CLASSES and lines.zone is None:
            lines.quote(Zone(), lines.depth)

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
    zone: Zone | None
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
