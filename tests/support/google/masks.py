"""The `fields` parameter: which part of an answer is wanted, as in "messages(id,payload/headers),nextPageToken"."""

import re
from collections.abc import Mapping
from typing import Any

from tests.support.google.refusals import invalid
from tests.support.google.schemas import Schema, followed

Mask = dict[str, "Mask"]
"""What is wanted of each field; nothing named: all of it. "*" stands for every field."""

_PIECE = re.compile(r"[A-Za-z0-9_*.-]+|[(),/]")


def mask(text: str) -> Mask:
    """`GoogleError` (400) when it is none."""
    pieces = _PIECE.findall(text)
    if "".join(pieces) != re.sub(r"\s", "", text) or not pieces:
        raise _wrong(text)
    read = _list(pieces)
    if pieces:
        raise _wrong(pieces[0])
    return read


def masked(value: Any, wanted: Mask) -> Any:
    """What is left of an answer."""
    if isinstance(value, list):
        return [masked(entry, wanted) for entry in value]
    if not wanted or not isinstance(value, dict):
        return value
    left = {}
    for name, entry in value.items():
        inner = wanted.get(name, wanted.get("*"))
        if inner is not None:
            left[name] = masked(entry, inner)
    return left


def check(wanted: Mask, schema: Schema | None, schemas: Mapping[str, Schema]) -> None:
    """That there are such fields; `GoogleError` (400) when there are not."""
    for name, inner in wanted.items():
        of_field = _field(name, schema, schemas)
        if of_field is None:
            raise _wrong(name)
        if inner:
            check(inner, of_field, schemas)


def _field(name: str, schema: Schema | None, schemas: Mapping[str, Schema]) -> Schema | None:
    schema = followed(schema or {}, schemas)
    while schema.get("type") == "array":
        schema = followed(schema["items"], schemas)
    if name == "*":
        return schema
    return schema.get("properties", {}).get(name) or schema.get("additionalProperties")


def _list(pieces: list[str]) -> Mask:
    wanted: Mask = {}
    while True:
        name = _name(pieces)
        path = wanted.setdefault(name, {})
        while pieces and pieces[0] == "/":
            pieces.pop(0)
            path = path.setdefault(_name(pieces), {})
        if pieces and pieces[0] == "(":
            pieces.pop(0)
            path |= _list(pieces)
            if not pieces or pieces.pop(0) != ")":
                raise _wrong(name)
        if not pieces or pieces[0] != ",":
            return wanted
        pieces.pop(0)


def _name(pieces: list[str]) -> str:
    if not pieces or pieces[0] in "(),/":
        raise _wrong(pieces[0] if pieces else "")
    return pieces.pop(0)


def _wrong(what: str) -> Exception:
    return invalid(f"Invalid field selection {what}", reason="invalidParameter", where=("parameter", "fields"))
