"""How the settings are read: environment over secrets.toml over config.toml over defaults; where a wrong one stands.

Every failure is one line that names the field, what is allowed and where it was read; a secret's value is never in it.
"""

import difflib
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from keryx.config.places import Places, places
from keryx.config.settings import SECTIONS, TABLES, Settings, allowed, is_private, knows
from keryx.config.toml_lines import line_of, syntax_place
from keryx.errors import ConfigError

ENV_PREFIX = "KERYX_"
ENV_SEPARATOR = "__"

__all__ = ["Places", "load", "places", "read_settings"]


@dataclass(frozen=True)
class _Read:
    """One value as it was found, and the words for where that was."""

    value: Any
    where: str
    private: bool = False
    """Whether the value may not be shown, whatever field it was meant for."""


def load(*, demo: bool = False, environ: Mapping[str, str] = os.environ) -> tuple[Settings, Places]:
    """The checked settings and the places; raises `ConfigError`.

    A demo reads the same settings from the same places; only its data go to a throw-away folder, unless `KERYX_HOME`
    is set. Whoever calls `load(demo=True)` calls `places.discard()` at the end.
    """
    found = places(demo=demo, environ=environ)
    try:
        return read_settings(found, environ), found
    except ConfigError:
        found.discard()
        raise


def read_settings(found: Places, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings alone, from the files in `found.config_dir` and from `environ`."""
    layers: dict[tuple[str, str], _Read] = {}
    for name, read in _from_file(found.config_file):
        layers[name] = read
    for name, read in _from_file(found.secrets_file, private=True):
        layers[name] = read
    for name, read in _from_environment(environ):
        layers[name] = read
    values: dict[str, dict[str, Any]] = {}
    for (section, field), read in layers.items():
        values.setdefault(section, {})[field] = read.value
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        # "from None": pydantic's own text would be a second, longer account of the same mistake.
        raise ConfigError(_one_line(error, layers, found)) from None


def _from_file(path: Path, *, private: bool = False) -> Iterator[tuple[tuple[str, str], _Read]]:
    try:
        if private and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ConfigError(f"{path} holds secrets and others may read it; run: chmod 600 {path}")
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})") from None
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, line, column = syntax_place(str(error), text)
        raise ConfigError(f"{path}, line {line}, column {column}: {what}") from None
    for section, table in tables.items():
        if section not in Settings.model_fields:
            raise ConfigError(_unknown(section, None, _where(path, text, section)))
        if not isinstance(table, dict):
            raise ConfigError(
                f"{section} is a section: write [{section}] and its fields below it ({_where(path, text, section)})"
            )
        for field, value in table.items():
            where = _where(path, text, section, field)
            if not knows(section, field):
                raise ConfigError(_unknown(section, field, where))
            # A variable's name has no case of its own, so a name of the owner's has none either.
            yield (section, field.lower() if section in TABLES else field), _Read(value, where, private)


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[tuple[str, str], _Read]]:
    for variable, value in environ.items():
        section, separator, field = variable.removeprefix(ENV_PREFIX).lower().partition(ENV_SEPARATOR)
        if not variable.startswith(ENV_PREFIX) or not separator:
            continue
        where = f"environment variable {variable}"
        if not knows(section, field):
            raise ConfigError(_unknown(section, field, where))
        if value:
            yield (section, field), _Read(value, where)


def _where(path: Path, text: str, section: str, field: str | None = None) -> str:
    line = line_of(text, section, field)
    return f"{path}, line {line}" if line else str(path)


def _unknown(section: str, field: str | None, where: str) -> str:
    if section not in SECTIONS:
        sections = Settings.model_fields
        near = difflib.get_close_matches(section, sections, n=1, cutoff=0.5)
        hint = f"did you mean [{near[0]}]?" if near else f"there are: {', '.join(sections)}"
        return f"there is no section {section!r}; {hint} ({where})"
    fields = list(SECTIONS[section].model_fields)
    own = [f"{section}.{name}" for name in fields]
    # The very name in another section is the likelier slip; only then a misspelling within this one.
    near = [f"{other}.{field}" for other, model in SECTIONS.items() if field in model.model_fields]
    near += [f"{section}.{name}" for name in difflib.get_close_matches(field or "", fields, n=1)]
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(own)}"
    return f"there is no setting {section}.{field}; {hint} ({where})"


def _one_line(error: ValidationError, layers: Mapping[tuple[str, str], _Read], found: Places) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    reason = str(first.get("ctx", {}).get("error", ""))
    section, field, *_ = (*first["loc"], "", "")
    if not field:
        # Only the telephone line's check looks at more than one field.
        return f"{reason} (set them in {found.config_file} and {found.secrets_file}, or as KERYX_SECTION__FIELD)"
    name = f"{section}.{field}"
    read = layers.get((str(section), str(field)))
    shown = read is not None and not read.private and not is_private(str(section), str(field))
    value = f" is {_shown(read.value)}" if read and shown else " is wrong"
    reason = f" ({reason})" if reason else ""
    place = read.where if read else "default"
    return f"{name}{value}{reason}; allowed: {allowed(str(section), str(field))} ({place})"


def _shown(value: Any) -> str:
    # An address may carry a password before its "@".
    text = re.sub(r"//[^/]*@", "//…@", repr(value))
    return text if len(text) <= 60 else f"{text[:57]}…"
