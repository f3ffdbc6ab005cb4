"""The texts in `prompts/`: found, read once, and rendered strictly, so that a wrong name fails at once."""

import functools
import string
import tomllib
from pathlib import Path
from typing import Any

_INSTALLED = Path(__file__).parent / "_prompts"
_CHECKOUT = Path(__file__).parent.parent / "prompts"


def folder() -> Path:
    """Where the prompt files are: inside the installed package, or beside it in a checkout."""
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT


@functools.cache
def text(name: str) -> str:
    """The file `prompts/<name>` as it stands."""
    return (folder() / name).read_text(encoding="utf-8")


@functools.cache
def table(name: str) -> dict[str, Any]:
    """The TOML file `prompts/<name>`, parsed."""
    return tomllib.loads(text(name))


def placeholders(template: str) -> frozenset[str]:
    """The names in braces that `template` wants filled."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name)


def render(template: str, /, **values: object) -> str:
    """Fill `{name}` places; raises `KeyError` naming every place missing a value and every value without a place."""
    wanted = placeholders(template)
    if wanted != values.keys():
        raise KeyError(f"missing {sorted(wanted - values.keys())}, unknown {sorted(values.keys() - wanted)}")
    return template.format(**values)
