"""Whether JSON, or a parameter's text, is what one of Google's discovery documents describes."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

Schema = Mapping[str, Any]

_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1)}
_NUMBERS = {"int64": re.compile(r"-?\d{1,19}"), "uint64": re.compile(r"\d{1,20}")}
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?")


def problems(
    value: Any,
    schema: Schema,
    schemas: Mapping[str, Schema],
    *,
    method: str = "",
    given: bool = False,
    nulls: bool = False,
    where: str = "",
) -> Iterator[str]:
    """What is wrong with `value`, in words.

    `method`: a method whose required fields must be there. `given`: a client wrote it, and may write null for a field
    that is to be absent (`nulls`: to be taken away).
    """
    schema = followed(schema, schemas)
    if value is None and (nulls or given) and where:
        return
    match schema.get("type", "object"):
        case "object":
            if not isinstance(value, dict):
                yield f"{where or 'the body'} is no object"
                return
            yield from _of_object(value, schema, schemas, method, given, nulls, where)
        case "array":
            if not isinstance(value, list):
                yield f"{where} is no list"
                return
            for number, entry in enumerate(value):
                yield from problems(
                    entry, schema["items"], schemas, method=method, given=given, where=f"{where}[{number}]"
                )
        case "any":
            return
        case "boolean":
            if not isinstance(value, bool):
                yield f"{where} is no boolean"
        case "integer":
            if isinstance(value, bool) or not isinstance(value, int):
                yield f"{where} is no integer"
            else:
                yield from _of_number(value, schema, where)
        case "number":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                yield f"{where} is no number"
        case "string":
            if not isinstance(value, str):
                yield f"{where} is no string"
            else:
                yield from _of_string(value, schema, where)
        case other:
            yield f"{where} is of an unknown type {other}"


def of_parameter(text: str, schema: Schema, name: str) -> Any:
    """A parameter's value; `ValueError` with what is wrong with its text."""
    match schema.get("type"):
        case "boolean":
            if text not in ("true", "false"):
                raise ValueError(f"Invalid value at '{name}' (TYPE_BOOL), \"{text}\"")
            return text == "true"
        case "integer":
            if not re.fullmatch(r"-?\d{1,12}", text):
                raise ValueError(f"Invalid value at '{name}' (TYPE_INT32), \"{text}\"")
            wrong = list(_of_number(int(text), schema, name))
            if wrong:
                raise ValueError(wrong[0])
            return int(text)
        case _:
            wrong = list(_of_string(text, schema, name))
            if wrong:
                raise ValueError(wrong[0])
            return text


def followed(schema: Schema, schemas: Mapping[str, Schema]) -> Schema:
    while "$ref" in schema:
        schema = schemas[schema["$ref"]]
    return schema


def _of_object(
    value: dict[str, Any],
    schema: Schema,
    schemas: Mapping[str, Schema],
    method: str,
    given: bool,
    nulls: bool,
    where: str,
) -> Iterator[str]:
    fields, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, entry in value.items():
        inner = fields.get(name, others)
        path = f"{where}.{name}" if where else name
        if inner is None:
            yield f"Unknown name \"{name}\" at '{where or 'the body'}': Cannot find field."
            continue
        yield from problems(entry, inner, schemas, method=method, given=given, nulls=nulls, where=path)
    for name, inner in fields.items():
        if method in inner.get("annotations", {}).get("required", ()) and value.get(name) is None:
            yield f"Missing required field: {f'{where}.{name}' if where else name}"


def _of_number(value: int, schema: Schema, where: str) -> Iterator[str]:
    lowest, highest = _BOUNDS.get(schema.get("format", ""), (None, None))
    lowest = int(schema["minimum"]) if "minimum" in schema else lowest
    highest = int(schema["maximum"]) if "maximum" in schema else highest
    if (lowest is not None and value < lowest) or (highest is not None and value > highest):
        yield f"Invalid value at '{where}': {value} is not between {lowest} and {highest}"


def _of_string(value: str, schema: Schema, where: str) -> Iterator[str]:
    if "enum" in schema and value not in schema["enum"]:
        yield f"Invalid value at '{where}' (TYPE_ENUM), \"{value}\""
    match schema.get("format"):
        case "byte":
            # Either alphabet will do, with padding or without; a character over is six bits of nothing.
            if not _BASE64.fullmatch(value) or len(value.rstrip("=")) % 4 == 1:
                yield f"Invalid value at '{where}' (TYPE_BYTES), Base64 decoding failed"
        case "date":
            try:
                date.fromisoformat(value)
            except ValueError:
                yield f"Invalid value at '{where}': {value} is no date"
        case "date-time" | "google-datetime":
            try:
                if not _DATE_TIME.fullmatch(value):
                    raise ValueError
                datetime.fromisoformat(value.upper())
            except ValueError:
                yield f"Invalid value at '{where}': {value} is no date and time"
        case "int64" | "uint64" as kind:
            if not _NUMBERS[kind].fullmatch(value):
                yield f"Invalid value at '{where}' (TYPE_{kind.upper()}), \"{value}\""
