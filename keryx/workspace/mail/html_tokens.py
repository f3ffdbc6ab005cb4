"""HTML cut into tags and text as a browser cuts it, in one pass. Pure; never raises.

After the HTML standard (https://html.spec.whatwg.org/multipage/parsing.html#tokenization). The standard library's
parser is not used: in older ones an unclosed comment or attribute takes time that grows with the square of the length,
and it disagrees with browsers on where a comment ends, so on what a person sees.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_VALUE_CHARS = 20_000
"""What is kept of one attribute: pictures come inside of some."""

_BLANK = " \t\n\f\r"
_NAME = re.compile(rf"[A-Za-z][^{_BLANK}/>]*")
_BETWEEN = re.compile(rf"[{_BLANK}/]*")
_ATTRIBUTE = re.compile(rf"=?[^{_BLANK}/>=]*")
_EQUALS = re.compile(rf"[{_BLANK}]*=[{_BLANK}]*")
_BARE_VALUE = re.compile(rf"[^{_BLANK}>]*")
_COMMENT_END = re.compile("--!?>")
_RAW = {
    name: re.compile(rf"</{name}(?=[{_BLANK}/>])", re.IGNORECASE)
    for name in ("script", "style", "xmp", "iframe", "noembed", "noframes", "textarea", "title")
}
"""Elements whose text holds no tags, by what ends them."""
_LONG_NUMBER = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
"""A character reference that names no character; Python reads a number of 5,000 digits only with an error."""


@dataclass(frozen=True)
class Text:
    text: str
    raw: bool = False
    """From within a script, a style sheet or the like."""


@dataclass(frozen=True)
class Start:
    name: str
    """In small letters, as are the attributes' names."""
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class End:
    name: str


Token = Text | Start | End


def tokens(page: str) -> Iterator[Token]:
    """The tags and the text of `page`, in order; comments and declarations are left out."""
    at = 0
    while at < len(page):
        tag = page.find("<", at)
        if tag < 0:
            tag = len(page)
        if tag > at:
            yield Text(unescaped(page[at:tag]))
        if tag == len(page):
            return
        following = page[tag + 1 : tag + 2]
        if following.isascii() and following.isalpha():
            start, at = _start(page, tag)
            if start is None:
                return
            yield start
            if start.name == "plaintext":
                yield Text(page[at:])
                return
            if end := _RAW.get(start.name):
                stop = end.search(page, at)
                inside = page[at : stop.start() if stop else len(page)]
                # A title's and a text area's characters may be written as references.
                yield Text(unescaped(inside) if start.name in ("textarea", "title") else inside, raw=True)
                at = stop.start() if stop else len(page)
        elif following == "/":
            name = _NAME.match(page, tag + 2)
            if name:
                yield End(name[0].lower())
                at = _tag_end(page, name.end())
            else:
                at = _behind(page, ">", tag + 2)
        elif page.startswith("<!--", tag):
            # From the two dashes on: "<!-->" is a whole comment.
            stop = _COMMENT_END.search(page, tag + 2)
            at = stop.end() if stop else len(page)
        elif following in ("!", "?"):
            at = _behind(page, ">", tag + 2)
        else:
            yield Text("<")
            at = tag + 1


def unescaped(text: str) -> str:
    """`text` with its character references resolved."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text)) if "&" in text else text


def _start(page: str, tag: int) -> tuple[Start | None, int]:
    """The start tag at `tag`, and where it ends; None when the page ends within it."""
    name = _NAME.match(page, tag + 1)
    assert name is not None
    attributes: dict[str, str] = {}
    at = name.end()
    while True:
        at = _end(_BETWEEN, page, at)
        if at >= len(page):
            return None, at
        if page[at] == ">":
            return Start(name[0].lower(), attributes), at + 1
        stop = _end(_ATTRIBUTE, page, at)
        attribute, value, at = page[at:stop].lower(), "", stop
        if equals := _EQUALS.match(page, at):
            at = equals.end()
            quote = page[at : at + 1]
            if quote in ('"', "'") and quote:
                stop = page.find(quote, at + 1)
                if stop < 0:
                    return None, len(page)
                value, at = page[at + 1 : stop], stop + 1
            else:
                stop = _end(_BARE_VALUE, page, at)
                value, at = page[at:stop], stop
        attributes.setdefault(attribute, unescaped(value[:MAX_VALUE_CHARS]))


def _tag_end(page: str, at: int) -> int:
    """Behind an end tag whose name ends at `at`: it may have attributes, which mean nothing."""
    while True:
        at = _end(_BETWEEN, page, at)
        if at >= len(page) or page[at] == ">":
            return min(at + 1, len(page))
        at = _end(_ATTRIBUTE, page, at)
        if equals := _EQUALS.match(page, at):
            at = equals.end()
            quote = page[at : at + 1]
            at = _behind(page, quote, at + 1) if quote in ('"', "'") and quote else _end(_BARE_VALUE, page, at)


def _end(pattern: re.Pattern[str], page: str, at: int) -> int:
    found = pattern.match(page, at)
    return found.end() if found else at


def _behind(page: str, mark: str, at: int) -> int:
    found = page.find(mark, at)
    return found + len(mark) if found >= 0 else len(page)
