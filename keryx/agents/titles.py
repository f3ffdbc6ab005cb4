"""What an agent does, shown to a person: one short line, and no path that only a machine would want. Pure."""

import re
from pathlib import Path

MAX_TITLE_CHARS = 120

# A path from the root, or from home: only its last name is for the ear.
_PATH = re.compile(r"(?<![\w.:/])~?(?:/[^\s/'\"`;|&<>()]+){2,}/?")


def short_line(text: str, limit: int = MAX_TITLE_CHARS) -> str:
    """`text` as one line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def short_path(path: str, place: Path) -> str:
    """A file as it is told of: below the task's directory `place` from there on, anywhere else by its name alone."""
    whole = Path(path)
    if whole.is_relative_to(place):
        return str(whole.relative_to(place))
    return whole.name if whole.is_absolute() else path


def without_folders(text: str) -> str:
    """`text` with each whole path in it cut down to its last name."""
    return _PATH.sub(lambda found: Path(found[0]).name, text)
