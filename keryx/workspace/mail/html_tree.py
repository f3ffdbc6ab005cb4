"""Which elements are open, as a browser sees it: what closes what, also where tags are missing or cross. Pure.

A small part of the HTML standard's tree construction: enough that text is inside of the elements that a browser has it
in, which decides whether it is seen. Each tag takes the same time, however deep they are nested.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

VOID = frozenset(("area base br col embed hr img input link meta param source track wbr").split())
FORMATTING = frozenset(("a b big code em font i nobr s small strike strong tt u").split())
BLOCKS = frozenset(
    (
        "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure "
        "footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search "
        "section summary table ul xmp"
    ).split()
)
TABLE_PARTS = frozenset("caption col colgroup tbody td tfoot th thead tr".split())
SPECIAL = (
    BLOCKS | TABLE_PARTS | frozenset("body html head button iframe marquee noembed noframes object select".split())
)
"""Elements that the end tag of an ordinary one does not reach across."""
_SCOPES = frozenset("table td th caption html marquee object template".split())
_CLOSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # A start tag closes the open ones named first, unless one of those named second was opened since.
    "li": (("li",), ("ul", "ol", "menu", "dir", "table", "td", "th")),
    "dt": (("dt", "dd"), ("dl", "table", "td", "th")),
    "dd": (("dt", "dd"), ("dl", "table", "td", "th")),
    "td": (("td", "th"), ("table",)),
    "th": (("td", "th"), ("table",)),
    "tr": (("tr",), ("table",)),
    "tbody": (("tbody", "thead", "tfoot"), ("table",)),
    "thead": (("tbody", "thead", "tfoot"), ("table",)),
    "tfoot": (("tbody", "thead", "tfoot"), ("table",)),
    "option": (("option",), ("select",)),
    "a": (("a",), ("table", "td", "th")),
}


@dataclass
class Open:
    """An element that is open; `kept` is whatever its owner needs when it closes."""

    name: str
    kept: Any = None
    closed: bool = field(default=False)
    """Its end tag has come, but elements inside of it are still open."""


class Tree:
    """The open elements, outermost first."""

    def __init__(self) -> None:
        self._open: list[Open] = []
        self._places: dict[str, list[int]] = defaultdict(list)
        self._specials: list[int] = []
        self._scopes: list[int] = []

    def __len__(self) -> int:
        return len(self._open)

    @property
    def innermost(self) -> Open | None:
        return self._open[-1] if self._open else None

    def is_open(self, name: str) -> bool:
        return bool(self._places[name])

    def closed_by_start(self, name: str) -> list[Open]:
        """Close what the start tag `name` closes; innermost first."""
        closed: list[Open] = []
        if name in BLOCKS and self._last("p") > self._last_scope():
            closed += self._close_from(self._last("p"))
        if name in _CLOSES:
            names, but = _CLOSES[name]
            place = max(self._last(one) for one in names)
            if place > max(self._last(one) for one in but):
                closed += self._close_from(place)
        return closed

    def open(self, name: str, kept: Any = None) -> None:
        place = len(self._open)
        self._open.append(Open(name, kept))
        self._places[name].append(place)
        if name in SPECIAL:
            self._specials.append(place)
        if name in _SCOPES:
            self._scopes.append(place)

    def closed_by_end(self, name: str) -> list[Open]:
        """Close what the end tag `name` closes; innermost first. One without a start closes nothing."""
        place = self._last(name)
        if place < 0:
            return []
        last_special = self._specials[-1] if self._specials else -1
        if name in SPECIAL:
            bound = self._last("table") if name in TABLE_PARTS else -1 if name in _SCOPES else self._last_scope()
            return self._close_from(place) if place > bound or name == "table" else []
        if place >= last_special:
            return self._close_from(place)
        if name in FORMATTING:
            # A browser goes on inside of the block, no longer inside of this one.
            self._places[name].pop()
            self._open[place].closed = True
            return [self._open[place]]
        return []

    def _close_from(self, place: int) -> list[Open]:
        closed = []
        while len(self._open) > place:
            element = self._open.pop()
            at = len(self._open)
            for places in (self._specials, self._scopes):
                if places and places[-1] == at:
                    places.pop()
            if not element.closed:
                self._places[element.name].pop()
                closed.append(element)
        return closed

    def _last(self, name: str) -> int:
        places = self._places.get(name)
        return places[-1] if places else -1

    def _last_scope(self) -> int:
        return self._scopes[-1] if self._scopes else -1
