"""A mail's raw bytes as the tree of parts that Gmail would make of them. Pure; never raises."""

import base64
from email import message_from_bytes
from email.message import Message as Mail
from typing import Any

from keryx.workspace.mail.headers import decoded

MAX_RAW_BYTES = 40_000_000


def payload_of(raw: bytes) -> dict[str, Any]:
    """`raw` as a `payload`: the same keys as in Gmail's API, with all content inline."""
    try:
        return _payload(message_from_bytes(raw[:MAX_RAW_BYTES]), "")
    except RecursionError:
        # The email package nests its own calls as the parts are nested.
        return {"mimeType": "text/plain", "filename": "", "headers": [], "body": _body(raw[:MAX_RAW_BYTES])}


def _payload(mail: Mail, part_id: str) -> dict[str, Any]:
    inside = mail.get_payload()
    parts = [part for part in inside if isinstance(part, Mail)] if isinstance(inside, list) else []
    payload: dict[str, Any] = {
        "partId": part_id,
        "mimeType": mail.get_content_type(),
        "filename": decoded(_file_name(mail)),
        "headers": [{"name": name, "value": str(value)} for name, value in mail.raw_items()],
        "body": {"size": 0} if parts else _body(_content(mail)),
    }
    if parts:
        prefix = f"{part_id}." if part_id else ""
        payload["parts"] = [_payload(part, f"{prefix}{number}") for number, part in enumerate(parts)]
    return payload


def _content(mail: Mail) -> bytes:
    content = mail.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _body(content: bytes) -> dict[str, Any]:
    return {"size": len(content), "data": base64.urlsafe_b64encode(content).decode("ascii")} if content else {"size": 0}


def _file_name(mail: Mail) -> str:
    try:
        return mail.get_filename() or ""
    except (LookupError, UnicodeError, ValueError, TypeError):
        return ""  # its character set is none, or its pieces are not in order
