"""Google's discovery documents as routes: which method an address is, what may be asked of it, what it answers."""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.support.google.refusals import GoogleError, invalid
from tests.support.google.schemas import Schema, of_parameter, problems

DOCUMENTS = {"gmail": "v1", "calendar": "v3"}

_UPLOADING = ("uploadType", "upload_id", "upload_protocol")


@dataclass(frozen=True)
class Asked:
    """One request, understood: its method's id, its parameters as values, its body."""

    method: str
    parameters: Mapping[str, Any]
    body: Any = None
    media: bytes | None = None
    """What was uploaded beside the body, or in its place."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Their names in lower case."""


@dataclass(frozen=True)
class Method:
    """One method of a document."""

    api: str
    id: str
    http_method: str
    path: re.Pattern[str]
    parameters: Mapping[str, Schema]
    request: Schema | None
    response: Schema | None
    scopes: frozenset[str]
    schemas: Mapping[str, Schema]

    def understood(
        self,
        in_path: Mapping[str, str],
        in_query: list[tuple[str, str]],
        body: Any,
        headers: Mapping[str, str],
        media: bytes | None = None,
    ) -> Asked:
        """The request, once it is found to be what the document describes; `GoogleError` (400) when it is not."""
        parameters: dict[str, Any] = {}
        for name, text in [*in_path.items(), *in_query]:
            schema = self.parameters.get(name)
            if schema is None:
                if media is not None and name in _UPLOADING:
                    continue
                raise invalid(f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter.')
            if (schema["location"] == "path") != (name in in_path):
                raise invalid(f"Invalid parameter '{name}': it belongs into the {schema['location']}")
            try:
                value = of_parameter(text, schema, name)
            except ValueError as wrong:
                raise invalid(str(wrong), reason="invalidParameter", where=("parameter", name)) from None
            if schema.get("repeated"):
                parameters.setdefault(name, []).append(value)
            elif name in parameters:
                raise invalid(f"Invalid value: '{name}' is given twice")
            else:
                parameters[name] = value
        for name, schema in self.parameters.items():
            if schema.get("required") and name not in parameters:
                raise invalid(f"Missing required parameter: {name}", reason="required", where=("parameter", name))
        self._check_body(body, media)
        return Asked(self.id, parameters, body, media, headers)

    def problems(self, answer: Any) -> list[str]:
        """What is wrong with an answer that was made up here; nothing, if it is what the document describes."""
        if self.response is None:
            return [] if answer is None else [f"{self.id} answers nothing"]
        return [f"{self.id}: {wrong}" for wrong in problems(answer, self.response, self.schemas)]

    def _check_body(self, body: Any, media: bytes | None) -> None:
        if body is None and (self.request is None or media is not None):
            return
        if self.request is None:
            raise invalid("Invalid JSON payload received. The method takes no body.", reason="parseError")
        wrong = problems(
            {} if body is None else body,
            self.request,
            self.schemas,
            # What is uploaded stands for the fields that are required otherwise.
            method="" if media is not None else self.id,
            given=True,
            nulls=self.http_method == "PATCH",
        )
        if first := next(wrong, None):
            if first.startswith("Missing"):
                raise invalid(first, reason="required")
            raise invalid(f"Invalid JSON payload received. {first}")


@dataclass(frozen=True)
class Found:
    """A route: the method, what its path says, and whether something is uploaded."""

    method: Method
    in_path: Mapping[str, str]
    uploading: bool


class Routes:
    """Every method of every document."""

    def __init__(self) -> None:
        documents = [_document(api, version) for api, version in DOCUMENTS.items()]
        self.batch_paths = {f"/{document['batchPath']}": document["name"] for document in documents}
        self._methods = [method for document in documents for method in methods_of(document)]
        self._by_id = {method.id: method for method, _ in self._methods}

    def method(self, method_id: str) -> Method:
        """`KeyError` for an id that stands in no document."""
        return self._by_id[method_id]

    def find(self, http_method: str, path: str) -> Found:
        """The method at an address; `GoogleError` 404, or 405 for an address that has others."""
        other = False
        for method, uploads in self._methods:
            for pattern in (method.path, *uploads):
                if match := pattern.fullmatch(path):
                    if method.http_method != http_method:
                        other = True
                        continue
                    in_path = {name: unquote(text) for name, text in match.groupdict().items()}
                    return Found(method, in_path, uploading=pattern is not method.path)
        if other:
            raise GoogleError(405, "httpMethodNotAllowed", "HTTP method not allowed.")
        raise GoogleError(404, "notFound", f"The requested URL {path} was not found on this server.")


@functools.cache
def _document(api: str, version: str) -> Mapping[str, Any]:
    from googleapiclient.discovery_cache import get_static_doc

    text = get_static_doc(api, version)
    assert text, f"the library brings no description of {api} {version}"
    return json.loads(text)


@functools.cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)))


def methods_of(document: Mapping[str, Any]) -> list[tuple[Method, tuple[re.Pattern[str], ...]]]:
    """A document's methods with the addresses of their uploads; those whose paths name the most come first."""
    found = list(_methods(document, document))
    found.sort(key=lambda entry: entry[0].path.pattern.count("(?P"))
    return found


def _methods(
    document: Mapping[str, Any], resource: Mapping[str, Any]
) -> Iterator[tuple[Method, tuple[re.Pattern[str], ...]]]:
    for entry in resource.get("methods", {}).values():
        everywhere = {name: {**schema, "location": "query"} for name, schema in document["parameters"].items()}
        uploads = entry.get("mediaUpload", {}).get("protocols", {}).values()
        yield (
            Method(
                api=document["name"],
                id=entry["id"],
                http_method=entry["httpMethod"],
                path=_pattern(f"/{document['servicePath']}{entry['path']}"),
                parameters=everywhere | entry.get("parameters", {}),
                request=entry.get("request"),
                response=entry.get("response"),
                scopes=frozenset(entry.get("scopes", ())),
                schemas=document["schemas"],
            ),
            tuple(_pattern(upload["path"]) for upload in uploads),
        )
    for inner in resource.get("resources", {}).values():
        yield from _methods(document, inner)
