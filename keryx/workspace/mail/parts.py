"""A mail's parts: the tree that Gmail makes of them, taken apart within bounds. Pure; never raises."""

import mimetypes
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from keryx.workspace.mail.charsets import from_base64, text_of
from keryx.workspace.mail.headers import Headers, decoded
from keryx.workspace.plain import one_line

MAX_DEPTH = 50
MAX_PARTS = 1_000
MAX_DECODED_BYTES = 4_000_000
"""What is decoded of a part that is to be read. A page of this size is mostly tags."""
MAX_FILE_NAME_CHARS = 200

_KIND = re.compile(r"[a-z0-9][\w.+-]{0,80}/[a-z0-9][\w.+-]{0,80}", re.ASCII)
_EXTENSIONS = {"text/calendar": ".ics", "message/rfc822": ".eml", "text/plain": ".txt", "image/jpeg": ".jpg"}
_RFC2231 = re.compile(r"^([\w.:+-]{0,40})'[\w-]{0,40}'(.*)$", re.DOTALL)


@dataclass(frozen=True)
class Part:
    """One part of a mail, as Gmail gives it."""

    kind: str
    """Its media type in small letters."""
    headers: Headers
    name: str
    """Of a file; empty when the sender gave none."""
    size: int
    """Bytes, decoded."""
    depth: int
    children: "tuple[Part, ...]" = ()
    data: str = field(default="", repr=False)
    """Its content in base64, as far as it came along."""
    attachment_id: str = ""
    """What to ask Gmail for its content with, when it did not."""
    left_out: bool = False
    """It holds parts that are nested too deep, or too many, to be looked at."""

    @property
    def attached(self) -> bool:
        """Whether it is a file, even if it could be shown as text."""
        return bool(self.name) or self.headers.value("content-disposition") == "attachment"

    @property
    def size_here(self) -> int:
        """Bytes of what came along."""
        return len(self.data.rstrip("=")) * 3 // 4

    def content(self) -> bytes:
        return from_base64(self.data)

    def text(self, most_bytes: int = MAX_DECODED_BYTES) -> tuple[str, bool]:
        """Its content as text, and whether that is only the beginning."""
        data = from_base64(self.data, most_bytes)
        cut = len(self.data) // 4 * 3 > most_bytes
        return text_of(data, self.headers.parameter("content-type", "charset"), cut=cut), cut

    def shown_name(self, number: int) -> str:
        """A name in any case."""
        if self.name:
            return self.name
        if self.kind == "text/calendar":
            return "invitation.ics"
        if self.kind == "message/rfc822":
            return "message.eml"
        return f"attachment-{number}{_EXTENSIONS.get(self.kind) or mimetypes.guess_extension(self.kind) or ''}"

    @property
    def content_id(self) -> str:
        return self.headers.raw("content-id").strip().strip("<>")


def tree_of(payload: Any) -> Part:
    """The tree below Gmail's `payload`; what is not there, or is no such thing, is an empty part."""
    left = [MAX_PARTS]
    return _part(payload, 0, left)


def below(part: Part) -> Iterator[Part]:
    """`part` and all parts in it, in the order in which they stand in the mail."""
    yield part
    for child in part.children:
        yield from below(child)


def _part(payload: Any, depth: int, left: list[int]) -> Part:
    payload = payload if isinstance(payload, Mapping) else {}
    left[0] -= 1
    headers = Headers.of(payload)
    body = payload.get("body")
    body = body if isinstance(body, Mapping) else {}
    listed = payload.get("parts")
    children = listed if isinstance(listed, Sequence) and not isinstance(listed, str) else ()
    taken: list[Part] = []
    if depth < MAX_DEPTH:
        for child in children:
            if left[0] <= 0:
                break
            taken.append(_part(child, depth + 1, left))
    size = body.get("size")
    return Part(
        kind=_kind(payload, headers),
        headers=headers,
        name=_name(payload, headers),
        size=size if isinstance(size, int) and size >= 0 else 0,
        depth=depth,
        children=tuple(taken),
        data=_word(body.get("data")),
        attachment_id=_word(body.get("attachmentId")),
        left_out=len(taken) < len(children),
    )


def _kind(payload: Mapping[str, Any], headers: Headers) -> str:
    for said in (_word(payload.get("mimeType")).strip().lower(), headers.value("content-type")):
        if _KIND.fullmatch(said):
            return said
    return "multipart/mixed" if payload.get("parts") else "text/plain"


def _name(payload: Mapping[str, Any], headers: Headers) -> str:
    raw = _word(payload.get("filename"))
    if not raw:
        raw = headers.parameter("content-disposition", "filename") or headers.parameter("content-type", "name")
    if not raw:
        raw = _extended(headers.parameter("content-disposition", "filename*"))
    return one_line(decoded(raw), MAX_FILE_NAME_CHARS)


def _extended(value: str) -> str:
    """RFC 2231: "utf-8'en'na%C3%AFve.txt"."""
    found = _RFC2231.match(value)
    if not found:
        return ""
    encoded = unquote(found[2], encoding="latin-1")
    return text_of(encoded.encode("latin-1", "replace"), found[1])


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""
