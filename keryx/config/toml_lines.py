"""Which line of a TOML file a key stands on: the parser keeps the values only, an error needs the place."""

import re

_HEADER = re.compile(r"\s*\[\s*(?P<name>[^\[\]]+?)\s*\]\s*(#.*)?$")
_KEY = re.compile(r"""\s*(?P<name>[\w.\s"'-]+?)\s*=""")
_PLACE = re.compile(r"\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)")


def line_of(text: str, section: str, key: str | None = None) -> int | None:
    """The line, from 1, of `key` in `section` (of the section itself when `key` is None); None when not found.

    Knows `[section]` with `key =`, dotted `section.key =` and the inline `section = {…}`; that is what people write.
    """
    here = ""
    inline = None
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            here = _plain(header["name"])
            if here == section and key is None:
                return number
        elif found := _KEY.match(line):
            name = _plain(found["name"])
            full = f"{here}.{name}" if here else name
            if full == (f"{section}.{key}" if key else section):
                return number
            if full == section:
                inline = number
    return inline


def syntax_place(message: str, text: str) -> tuple[str, int, int]:
    """What the TOML parser complains of, in which line and column, from its message's "(at line 3, column 5)"."""
    lines = text.splitlines() or [""]
    what = _PLACE.sub("", message).strip()
    place = _PLACE.search(message)
    if place and place["line"]:
        return what, int(place["line"]), int(place["column"])
    return what, len(lines), len(lines[-1]) + 1


def _plain(name: str) -> str:
    return re.sub(r"""[\s"']""", "", name)
