"""Where a path leads, and where a shell line has gone to. Looks at symbolic links; changes nothing."""

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from keryx.agents.approver import Effect
from keryx.agents.effects.table import CREDENTIALS, SCRATCH, SETTING_FILES, SINKS
from keryx.agents.effects.words import Unreadable, Word

MAX_PATH_CHARS = 1024
MAX_PATHS = 300
MAX_DIRECTORIES = 4
MAX_BEEN = 16

_ORDER = list(Effect)
_KNOWN_START = re.compile(r"\$(HOME|PWD|TMPDIR)(?=/|$)(?!.*[$`])", re.DOTALL)


def worst(effects: Iterable[Effect]) -> Effect:
    """The one that changes most; `Effect.READ` of none."""
    return max(effects, key=_ORDER.index, default=Effect.READ)


def effect_of_path(path: str | Path, inside: Path) -> Effect:
    """`Effect.CHANGE` when writing to `path` stays inside the directory `inside`, else `Effect.OUTSIDE`.

    What an agent or git is told by its settings there counts as outside: it holds beyond this task, and unasked.
    A relative path is taken from `inside`; "..", "~" and symbolic links are followed. What lies below the machine's
    scratch directory counts as inside, because tests write there, unless `inside` lies there too: then its neighbours
    are other people's work. A path that nobody can follow is outside. Never raises.
    """
    try:
        place = inside.expanduser().resolve()
        return _effect(path, place, place)
    except (OSError, ValueError, RuntimeError):
        return Effect.OUTSIDE


def effect_of_look(path: str | Path, inside: Path) -> Effect:
    """`Effect.OUTSIDE` when reading `path` looks at a place of credentials outside `inside`, else `Effect.READ`."""
    try:
        place = inside.expanduser().resolve()
        target = (place / Path(path).expanduser()).resolve()
    except (OSError, ValueError, RuntimeError):
        return Effect.READ
    named = CREDENTIALS.search(str(path)) or CREDENTIALS.search(str(target))
    return Effect.OUTSIDE if named and target != place and place not in target.parents else Effect.READ


def _effect(path: str | Path, directory: Path, inside: Path) -> Effect:
    if len(str(path)) > MAX_PATH_CHARS:
        return Effect.OUTSIDE
    target = (directory / Path(path).expanduser()).resolve()
    if target == inside or inside in target.parents:
        return Effect.OUTSIDE if SETTING_FILES.match(str(target.relative_to(inside))) else Effect.CHANGE
    home = Path.home().resolve()
    if target == home or home in target.parents:
        return Effect.OUTSIDE  # wherever it is, an owner's home is no scratch directory
    for scratch in {Path(scratch).resolve() for scratch in (*SCRATCH, tempfile.gettempdir())}:
        # A pattern right below it would fit what others keep there.
        if scratch in target.parents and scratch not in inside.parents and not any(c in target.name for c in "*?["):
            return Effect.CHANGE
    return Effect.OUTSIDE


@dataclass
class Place:
    """Where a shell line may be by now: one directory, or several when it is not known whether a `cd` was reached."""

    inside: Path
    directories: frozenset[Path | None] = frozenset()
    """None: somewhere that only shows when it runs."""
    rambling: bool = False
    """The line has loops or functions: a step upwards may be taken any number of times."""
    been: set[Path | None] = field(default_factory=set)
    asked: list[int] = field(default_factory=lambda: [0])

    def copy(self) -> "Place":
        """The same place, for something that may go elsewhere by itself."""
        return Place(self.inside, self.directories, self.rambling, set(self.been), self.asked)

    def here(self) -> Effect:
        """What it means to change the directory the line is in."""
        return self.effect(Word("."))

    def effect(self, word: Word) -> Effect:
        """What it means to write to the path `word`; one that is not known is outside. Raises `Unreadable`."""
        if SINKS.match(word.text):
            return Effect.READ
        text = self._text(word)
        if text is None:
            return Effect.OUTSIDE
        return worst(self._from(directory, text) for directory in self.directories)

    def looked_at(self, word: Word) -> Effect:
        """What it means to read the path `word`: outside where credentials are kept, else nothing."""
        text = self._text(word)
        text = word.text if text is None else text
        if " " in text or "\n" in text or len(text) > MAX_PATH_CHARS:
            return Effect.READ
        in_secret = any(directory and CREDENTIALS.search(str(directory)) for directory in self.directories)
        if in_secret or CREDENTIALS.search(text):
            return Effect.OUTSIDE if self.effect(word) is Effect.OUTSIDE else Effect.READ
        return Effect.READ

    def go(self, word: Word | None) -> None:
        """Take a `cd`: to `word`, or home without one; `-` is anywhere it has been."""
        text = "~" if word is None else self._text(word)
        before = set(self.been) or {None}
        self.been = self.been | self.directories if len(self.been) < MAX_BEEN else {None}
        if text == "-":
            gone: set[Path | None] = before
        elif text is None or (self.rambling and ".." in text) or (word is not None and word.glob):
            gone = {None}
        else:
            gone = {self._gone(directory, text) for directory in self.directories}
        self.directories = _few(gone)

    def also(self, directories: frozenset[Path | None]) -> None:
        """It may just as well still be in `directories`."""
        self.directories = _few(self.directories | directories)

    def _gone(self, directory: Path | None, text: str) -> Path | None:
        try:
            target = Path(text).expanduser()
            if directory is None and not target.is_absolute():
                return None
            gone = (directory or target) / target
            return gone if len(str(gone)) <= MAX_PATH_CHARS else None
        except (ValueError, RuntimeError):
            return None

    def _from(self, directory: Path | None, text: str) -> Effect:
        self.asked[0] += 1
        if self.asked[0] > MAX_PATHS:
            raise Unreadable
        try:
            if directory is None and not text.startswith(("/", "~")):
                return Effect.OUTSIDE
            return _effect(text, directory or self.inside, self.inside)
        except (OSError, ValueError, RuntimeError):
            return Effect.OUTSIDE

    @staticmethod
    def _text(word: Word) -> str | None:
        """The path that `word` stands for; None when that only shows when it runs."""
        if word.known:
            return word.text
        if found := _KNOWN_START.match(word.text):
            start = {"HOME": "~", "PWD": ".", "TMPDIR": tempfile.gettempdir()}[found[1]]
            return start + word.text[found.end() :]
        return None


def _few(directories: set[Path | None] | frozenset[Path | None]) -> frozenset[Path | None]:
    return frozenset(directories) if len(directories) <= MAX_DIRECTORIES else frozenset({None})
