"""The tables of `prompts/pronunciations.toml`, ready to look up."""

import functools
import re

from keryx import prompts

_FILE = "pronunciations.toml"


def _table(name: str) -> dict[str, str]:
    return prompts.table(_FILE)[name]


def described(what: str, **values: object) -> str:
    """How a stretch that would only be spelled is named."""
    return prompts.render(_table("described")[what], **values)


@functools.cache
def units() -> dict[str, tuple[str, str]]:
    """Unit → its words for one and for many."""
    return {unit: (one, many) for unit, (one, many) in prompts.table(_FILE)["units"].items()}


@functools.cache
def operators() -> dict[str, str]:
    return _table("operators")


@functools.cache
def symbols() -> dict[str, str]:
    return _table("symbols")


@functools.cache
def abbreviations() -> dict[str, str]:
    return _table("abbreviations")


@functools.cache
def pronunciations() -> dict[str, str]:
    return _table("words")


@functools.cache
def one_of(name: str) -> re.Pattern[str]:
    """A pattern that finds any key of the table `name`, the longest first."""
    keys = sorted(prompts.table(_FILE)[name], key=len, reverse=True)
    return re.compile("|".join(map(re.escape, keys)), re.IGNORECASE if name == "abbreviations" else 0)
