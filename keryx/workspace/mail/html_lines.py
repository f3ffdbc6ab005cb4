"""Lines of text from the pieces and breaks of a page: paragraphs, list points, rows of a table, quotations. Pure."""

import re
from dataclasses import dataclass

from keryx.workspace.mail.quoting import begins_forwarded
from keryx.workspace.plain import plain

MAX_DEPTH_SHOWN = 12
"""Levels of quotations and of lists that are told apart."""

_BLANKS = re.compile("[ \t\n\f\r]+")


@dataclass(eq=False)
class Zone:
    """A stretch of the page that is quoted, or seems to be."""

    quoted: bool = True
    begun: bool = False
    to_the_end: bool = False


@dataclass
class Line:
    text: str
    zone: Zone | None
    depth: int

    def written_out(self) -> str:
        depth = max(self.depth, 1) if self.zone is not None and self.zone.quoted else self.depth
        return ("> " * min(depth, MAX_DEPTH_SHOWN) + self.text).rstrip()


class Lines:
    """Text under way: pieces are joined to lines, and breaks are made only once something follows them."""

    def __init__(self) -> None:
        self.written = 0
        """Characters, so far."""
        self.zone: Zone | None = None
        self.depth = 0
        self._lines: list[Line] = []
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

    def quote(self, zone: Zone | None, depth: int) -> None:
        """What comes next is quoted in this way."""
        if zone is not self.zone or depth != self.depth:
            self.flush()
            self.block()
            self.zone, self.depth = zone, depth

    def flush(self) -> None:
        """End the line under way."""
        if self._parts:
            line = Line("".join(self._parts), self.zone, self.depth)
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
                self._lines.append(Line("", zone, depth))
        elif self._parts:
            self._parts.append(" | " if self._cell else " " if self._space else "")
        if self._row_begins:
            self._row_begins, self._row_line = False, len(self._lines)
        self._parts += [self._mark, text]
        self.written += len(self._mark) + len(text) + 1
        self._break, self._space, self._cell, self._mark = 0, False, False, ""
