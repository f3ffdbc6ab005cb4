"""A mail as Gmail shows it: its headers, and its parts as a tree."""

import base64
import binascii
import contextlib
import html
import re
from collections.abc import Callable, Iterator
from email import policy
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.utils import collapse_rfc2231_value
from typing import Any

INLINE_BYTES = 4096
"""A part that is no text, or that has a file's name, stands in the tree itself up to here."""

_TAGS = re.compile(r"<(style|script|title)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_SNIPPET = 200


def parsed(raw: bytes) -> Message:
    """Forgiving; headers stay as they were written."""
    return BytesParser(policy=policy.compat32).parsebytes(raw)


def headers_alone(raw: bytes) -> Message:
    """The mail without its body: for what is large, much sooner."""
    end = re.search(rb"\r?\n\r?\n", raw)
    return parsed(raw[: end.end()] if end else raw)


def headers_of(message: Message, *, decoded: bool) -> list[dict[str, str]]:
    return [{"name": name, "value": _header(str(value), decoded)} for name, value in message.items()]


def header(message: Message, name: str) -> str:
    """The first header of that name, decoded; empty when there is none."""
    return _header(str(message.get(name, "")), True)


def content_of(part: Message) -> bytes:
    """A leaf's bytes, out of their transfer encoding; a mail within a mail as it was written."""
    if part.get_content_maintype() == "message" and part.is_multipart():
        inner = part.get_payload(0)
        assert isinstance(inner, Message)
        return inner.as_bytes()
    encoded = part.get_payload()
    if isinstance(encoded, str) and str(part.get("Content-Transfer-Encoding", "")).strip().lower() == "base64":
        with contextlib.suppress(ValueError):  # much sooner than the library, which first looks for what is broken
            return binascii.a2b_base64(encoded)
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def filename_of(part: Message) -> str:
    named = part.get_param("filename", header="content-disposition") or part.get_param("name")
    return _header(collapse_rfc2231_value(named), True) if named else ""


def walk(message: Message, part_id: str = "") -> Iterator[tuple[str, Message]]:
    """Every part with its id, as Gmail counts: "" is the whole, "0" its first part, "0.1" that one's second."""
    yield part_id, message
    if message.is_multipart():
        for number, inner in enumerate(_inner(message)):
            yield from walk(inner, f"{part_id}.{number}" if part_id else str(number))


def payload(message: Message, keep_apart: Callable[[str], str], *, decoded: bool, part_id: str = "") -> dict[str, Any]:
    """The tree. `keep_apart` gives an attachment id for a part whose bytes are fetched by themselves."""
    shown: dict[str, Any] = {
        "partId": part_id,
        "mimeType": message.get_content_type(),
        "filename": filename_of(message),
        "headers": headers_of(message, decoded=decoded),
    }
    # Of a mail within a mail both can be had: its bytes as an attachment, and its own tree.
    leaf = not message.is_multipart() or message.get_content_maintype() == "message"
    content = content_of(message) if leaf else b""
    body: dict[str, Any] = {"size": len(content)}
    is_text = message.get_content_maintype() == "text" and not shown["filename"]
    if leaf and not is_text and (len(content) > INLINE_BYTES or message.is_multipart()):
        body["attachmentId"] = keep_apart(part_id)
    elif leaf and content:
        body["data"] = base64.urlsafe_b64encode(content).decode()
    shown["body"] = body
    if message.is_multipart():
        shown["parts"] = [
            payload(inner, keep_apart, decoded=decoded, part_id=f"{part_id}.{number}" if part_id else str(number))
            for number, inner in enumerate(_inner(message))
        ]
    return shown


def text_of(message: Message) -> str:
    """What can be read in it, plain where there is plain text."""
    plain: list[str] = []
    rich: list[str] = []
    for _, part in walk(message):
        if part.is_multipart() or part.get_content_maintype() != "text" or filename_of(part):
            continue
        text = _decoded(content_of(part), part.get_content_charset() or "utf-8")
        if part.get_content_subtype() == "html":
            rich.append(html.unescape(_TAGS.sub(" ", text)))
        else:
            plain.append(text)
    return "\n".join(plain or rich)


def snippet(text: str) -> str:
    """As Gmail gives it: one line, escaped for HTML."""
    line = " ".join(text[: _SNIPPET * 20].split())
    return html.escape(line[:_SNIPPET], quote=True).replace("&#x27;", "&#39;")


def _inner(message: Message) -> list[Message]:
    parts = message.get_payload()
    return [part for part in parts if isinstance(part, Message)] if isinstance(parts, list) else []


def _header(value: str, decoded: bool) -> str:
    value = re.sub(r"\r?\n", "", value)
    value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if not decoded:
        return value
    try:
        return str(make_header(decode_header(value)))
    except (LookupError, ValueError):  # words in a character set that nobody knows stay as they are
        return value


def _decoded(content: bytes, charset: str) -> str:
    try:
        return content.decode(charset, "replace")
    except (LookupError, ValueError):
        return content.decode("utf-8", "replace")
