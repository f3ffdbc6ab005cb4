"""What scripts can do, as one page written from the OpenAPI document: nothing loaded from elsewhere."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Keryx for scripts</title><link rel="icon" href="/static/icon.svg"><link rel="stylesheet" href="/static/docs.css">
</head><body><main>"""
_FOOT = "</main></body></html>"
_SHELL_BREAK = " \\\n  "

_SOCKET = """<section id="talk"><h2><span class="verb">WS</span> <code>/talk</code></h2>
<p>A call: text frames hold JSON, binary frames hold sound (signed 16-bit little-endian mono; 16,000 samples a second
in, 24,000 out). The first message comes within ten seconds and holds the key.</p>
<div class="wide" tabindex="0" role="region" aria-label="Messages of a call"><table><thead><tr>
<th scope="col">Who</th><th scope="col">Message</th><th scope="col">Meaning</th></tr></thead><tbody>%s</tbody></table>
</div></section>"""
_MESSAGES = (
    ("you", '{"type":"start","key":KEY,"client":"terminal","audio":true}', "open the call; without sound: false"),
    ("you", '{"type":"text","text":T}', "something typed"),
    ("you", '{"type":"key","digit":D}', "a key of a keypad"),
    ("you", '{"type":"played","mark":M}', "everything before that mark was played"),
    ("you", '{"type":"interrupt"}', "stop speaking"),
    ("you", '{"type":"stop"}', "hang up"),
    ("Keryx", '{"type":"ready","call":ID,"incoming_rate":16000,"outgoing_rate":24000,"voice":V}', "the call is open"),
    ("Keryx", '{"type":"mark","name":M}', "say when this point was played"),
    ("Keryx", '{"type":"clear"}', "throw away what is queued, and answer its marks"),
    ("Keryx", '{"type":"caption","who":W,"text":T,"final":F,"utterance":N}', "words, as they are said"),
    ("Keryx", '{"type":"state","state":"listening"}', "listening, thinking or speaking"),
    ("Keryx", '{"type":"error","message":T}', "one sentence; the call goes on unless the socket closes"),
    ("Keryx", '{"type":"ended","reason":R}', 'the call is over; "restarting": call again in a moment'),
)


def docs_html(document: dict[str, Any], base_url: str) -> str:
    """The whole page for an OpenAPI `document` served at `base_url`."""
    about = document["info"].get("description", "")
    rows = "".join(
        f"<tr><td>{who}</td><td><code>{escape(message)}</code></td><td>{meaning}</td></tr>"
        for who, message, meaning in _MESSAGES
    )
    return "".join(
        (
            _HEAD,
            f"<h1>Keryx for scripts</h1><p>{_inline(about)}</p>",
            "<p>The key is the part after <code>?key=</code> in the address that <code>keryx serve</code> prints. ",
            'The examples read it from the variable <code>KEY</code>. The same as data: <a href="/openapi.json">',
            "openapi.json</a>.</p>",
            *_endpoints(document, base_url),
            _SOCKET % rows,
            "<h2>What the answers hold</h2>",
            *_schemas(document),
            _FOOT,
        )
    )


def _endpoints(document: dict[str, Any], base_url: str) -> Iterator[str]:
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            yield f'<section><h2><span class="verb">{verb.upper()}</span> <code>{escape(path)}</code></h2>'
            yield f"<p>{_inline(operation.get('description', ''))}</p>"
            keyed = bool(operation.get("security"))
            yield f"<p class='quiet'>{'Needs the key.' if keyed else 'Needs no key.'} {_answers(operation)}</p>"
            yield from _inputs(operation, document)
            yield _example(verb, path, operation, document, base_url, keyed)
            yield "</section>"


def _answers(operation: dict[str, Any]) -> str:
    parts = []
    for status, answer in sorted(operation["responses"].items()):
        schema = next(iter(answer.get("content", {}).values()), {}).get("schema", {})
        named = _type(schema) if schema else ""
        parts.append(f"{status}{' ' + named if named else ''}")
    return "Answers: " + ", ".join(parts) + "."


def _inputs(operation: dict[str, Any], document: dict[str, Any]) -> Iterator[str]:
    rows = [
        (entry["name"], entry["in"], _type(entry["schema"]), entry.get("description", ""), entry.get("required", False))
        for entry in operation.get("parameters", [])
    ]
    if body := _body_schema(operation, document):
        needed = body.get("required", [])
        rows += [
            (name, "body", _type(field), field.get("description", ""), name in needed)
            for name, field in body["properties"].items()
        ]
    if not rows:
        return
    yield '<div class="wide" tabindex="0" role="region" aria-label="What it takes"><table><thead><tr>'
    yield '<th scope="col">Takes</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th>'
    yield "</tr></thead><tbody>"
    for name, place, kind, meaning, required in rows:
        must = " (required)" if required else ""
        yield f"<tr><td><code>{escape(name)}</code></td><td>{place}</td><td>{kind}</td>"
        yield f"<td>{_inline(meaning)}{must}</td></tr>"
    yield "</tbody></table></div>"


def _example(
    verb: str, path: str, operation: dict[str, Any], document: dict[str, Any], base_url: str, keyed: bool
) -> str:
    url = base_url + path.replace("{number}", "4")
    parts = ["curl" + (" -N" if "events" in path else "") + (" -X POST" if verb == "post" else "")]
    if keyed:
        parts.append('-H "Authorization: Bearer $KEY"')
    if body := _body_schema(operation, document):
        parts += ["-H 'Content-Type: application/json'", f"-d '{json.dumps(body.get('example', {}))}'"]
    return f'<pre tabindex="0"><code>{escape(_SHELL_BREAK.join([*parts, url]))}</code></pre>'


def _schemas(document: dict[str, Any]) -> Iterator[str]:
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        if "properties" not in schema or name in ("HTTPValidationError", "ValidationError"):
            continue
        yield f'<section id="{escape(name)}"><h3>{escape(name)}</h3><p>{_inline(schema.get("description", ""))}</p><dl>'
        for field, inner in schema["properties"].items():
            yield f"<dt><code>{escape(field)}</code> <span class='quiet'>{_type(inner)}</span></dt>"
            yield f"<dd>{_inline(inner.get('description', ''))}</dd>"
        yield "</dl></section>"


def _body_schema(operation: dict[str, Any], document: dict[str, Any]) -> dict[str, Any] | None:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    return document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]


def _type(schema: dict[str, Any]) -> str:
    if reference := schema.get("$ref"):
        name = escape(reference.rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if choices := schema.get("anyOf"):
        return " or ".join(_type(choice) for choice in choices)
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if values := schema.get("enum"):
        return ", ".join(escape(str(value)) for value in values)
    return escape(schema.get("format") or schema.get("type") or "anything")


def _inline(text: str) -> str:
    """Escaped text with its backquoted parts as code."""
    parts = escape(" ".join(text.split())).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))
