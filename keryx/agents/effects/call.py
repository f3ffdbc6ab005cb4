"""One program and its words, as the rules look at it."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from keryx.agents.approver import Effect
from keryx.agents.effects import subcommands, table
from keryx.agents.effects.paths import Place
from keryx.agents.effects.shell import Redirect
from keryx.agents.effects.words import Word

_VERSION = re.compile(r"(?<=[a-z])-?\d+(?:\.\d+)*$")


def effect_of_variable(name: str, value: str) -> Effect:
    """What it means to set a variable for a command."""
    if name == "CDPATH":
        return Effect.UNKNOWN  # every "cd" after it leads somewhere else than it says
    if table.SOURCE_VARIABLE.search(name) and value not in ("", "off"):
        return Effect.NETWORK
    return Effect.RUN if table.RUNNING_VARIABLE.search(name) else Effect.READ


@dataclass(frozen=True)
class Call:
    """One program and its words, where it is called."""

    name: str
    """As it is written, with its folder."""
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    place: Place
    call: Callable[[Sequence[Word], Place], Effect]
    read: Callable[[str, Place], Effect]

    def again(self, words: Sequence[Word]) -> Effect:
        """The effect of another call made of `words`, in the same place."""
        return self.call(words, self.place.copy())

    def script(self, text: str) -> Effect:
        """The effect of a shell line within this one."""
        return self.read(text, self.place.copy())

    @property
    def program(self) -> str:
        """Without folder, version and capitals; another name for the same program is that program."""
        name = self.name.rpartition("/")[2].lower()
        plain = _VERSION.sub("", name)
        name = plain if plain in table.INTERPRETERS or plain in subcommands.OTHERWISE else name
        return subcommands.ALIASES.get(name, name)

    def positional(self, valued: frozenset[str] = frozenset()) -> list[Word]:
        """The words that are no options, and no values of the options `valued`."""
        found: list[Word] = []
        words = iter(self.words)
        for word in words:
            if word.text == "--":
                return found + list(words)
            if word.text in valued:
                next(words, None)
            elif not word.text.startswith("-") or word.text == "-" or word.text.startswith("$"):
                found.append(word)
        return found

    def values(self, *options: str) -> Iterator[Word]:
        """The values of the options: "-C dir", "-Cdir", "--directory=dir"."""
        for at, word in enumerate(self.words):
            for option in options:
                if word.text == option:
                    yield from self.words[at + 1 : at + 2]
                elif option.startswith("--") and word.text.startswith(option + "="):
                    yield replace(word, text=word.text[len(option) + 1 :])
                elif not option.startswith("--") and word.text.startswith(option) and len(word.text) > len(option):
                    yield replace(word, text=word.text[len(option) :])

    def has(self, pattern: str) -> bool:
        """Whether an option fits `pattern`, up to an equals sign."""
        return any(re.match(rf"(?:{pattern})(?:=|$)", word.text) for word in self.words)
