"""Requests that carry several things: a batch's parts, and an upload beside its description."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.parser import HeaderParser
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.support.google.oauth import Answer
from tests.support.google.refusals import GoogleError, invalid

MOST_IN_A_BATCH = {"gmail": 100, "calendar": 1000}


@dataclass(frozen=True)
class Incoming:
    """A request as it came in; the names of its headers are lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)

    def json(self) -> Any:
        """The body's value; None: there is no body. `GoogleError` when it is no JSON."""
        if not self.body.strip():
            return None
        if not self.headers.get("content-type", "").startswith("application/json"):
            kind = self.headers.get("content-type", "")
            raise invalid(f"Invalid content type {kind}: the body is to be application/json.", reason="parseError")
        return _json(self.body)


@dataclass
class _Resumable:
    target: str
    description: bytes
    size: int | None
    got: bytearray = field(default_factory=bytearray)


class Uploads:
    """What is uploaded: at once, with a description beside it, or in pieces."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._open: dict[str, _Resumable] = {}

    def take(
        self, incoming: Incoming, http_method: str, perform: Callable[[Any, bytes], tuple[Answer, Any]]
    ) -> tuple[Answer, Any]:
        """The answer; `perform` is given the description and the whole of what was uploaded, once it is there."""
        query = dict(incoming.query)
        if upload_id := query.get("upload_id"):
            return self._piece(upload_id, incoming, perform)
        match query.get("uploadType"):
            case "media":
                _of_kind(incoming.headers.get("content-type", ""))
                return perform(None, incoming.body)
            case "multipart":
                parts = parts_of(incoming.headers.get("content-type", ""), incoming.body)
                if len(parts) != 2:
                    raise invalid("Missing end boundary in multipart body.", reason="badContent")
                (_, description), (headers, media) = parts
                _of_kind(headers.get("content-type", ""))
                return perform(_json(description), media)
            case "resumable":
                _of_kind(incoming.headers.get("x-upload-content-type", ""))
                return self._begin(incoming), None
            case other:
                raise invalid(f"Invalid upload type {other}", where=("parameter", "uploadType"))

    def _begin(self, incoming: Incoming) -> Answer:
        size = incoming.headers.get("x-upload-content-length")
        upload_id = f"AHmUCY{len(self._open) + 1}"
        self._open[upload_id] = _Resumable(incoming.target, incoming.body, int(size) if size else None)
        location = f"{self._url}{incoming.target}&upload_id={upload_id}"
        return Answer(200, headers={"Location": location, "X-GUploader-UploadID": upload_id})

    def _piece(
        self, upload_id: str, incoming: Incoming, perform: Callable[[Any, bytes], tuple[Answer, Any]]
    ) -> tuple[Answer, Any]:
        upload = self._open.get(upload_id)
        if upload is None:
            raise GoogleError(404, "notFound", "Invalid upload id.")
        if asked := re.fullmatch(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)", incoming.headers.get("content-range", "")):
            start, _, size = asked.groups()
            if size != "*":
                upload.size = int(size)
            if start is not None and int(start) != len(upload.got):
                raise GoogleError(503, "backendError", "Failed to parse Content-Range header.")
        upload.got += incoming.body
        if upload.size is None or len(upload.got) < upload.size:
            seen = {"Range": f"bytes=0-{len(upload.got) - 1}"} if upload.got else {}
            return Answer(308, headers=seen), None
        description = _json(upload.description) if upload.description.strip() else None
        return perform(description, bytes(upload.got))


def batched(api: str, incoming: Incoming, answer: Callable[[Incoming], Answer]) -> Answer:
    """The answer to a batch: each part's own, in their order."""
    parts = parts_of(incoming.headers.get("content-type", ""), incoming.body)
    if not parts:
        raise invalid("The batch request could not be processed: it has no parts.")
    if len(parts) > MOST_IN_A_BATCH[api]:
        raise invalid(f"The batch request could not be processed: more than {MOST_IN_A_BATCH[api]} calls.")
    boundary = "batch_scripted_boundary"
    pieces: list[bytes] = []
    for headers, content in parts:
        if headers.get("content-type") != "application/http":
            raise invalid("The batch request could not be processed: a part is not application/http.")
        part = _request(content, incoming.headers)
        if part.path.startswith(("/batch", "/upload", "/resumable")):
            raise invalid("The batch request could not be processed: neither batches nor uploads may be in it.")
        said = answer(part)
        content_id = headers.get("content-id", "<>").replace("<", "<response-", 1)
        status = HTTPStatus(said.status)
        lines = [f"{name}: {value}" for name, value in said.headers.items()]
        head = [
            f"--{boundary}",
            "Content-Type: application/http",
            f"Content-ID: {content_id}",
            "",
            f"HTTP/1.1 {status.value} {status.phrase}",
            *lines,
            f"Content-Length: {len(said.body)}",
            "",
            "",
        ]
        pieces.append("\r\n".join(head).encode() + said.body + b"\r\n")
    body = b"".join(pieces) + f"--{boundary}--\r\n".encode()
    return Answer(200, body, {"Content-Type": f"multipart/mixed; boundary={boundary}"})


def parts_of(content_type: str, body: bytes) -> list[tuple[dict[str, str], bytes]]:
    """The parts of a multipart body: headers by lower-case name, and content, byte by byte as it was."""
    message = HeaderParser().parsestr(f"Content-Type: {content_type}\n\n")
    boundary = message.get_param("boundary")
    if message.get_content_maintype() != "multipart" or not isinstance(boundary, str):
        raise invalid("Failed to parse the multipart request body.", reason="badContent")
    line = re.compile(rb"(?:^|\r?\n)--" + re.escape(boundary.encode()) + rb"(--)?[ \t]*(?:\r?\n|$)")
    # A line that ends one part may be where the next begins: each piece gets a line break of its own in front.
    pieces, rest = [], b"\n" + body
    while match := line.search(rest):
        pieces.append(rest[: match.start()])
        if match[1]:
            break
        rest = b"\n" + rest[match.end() :]
    else:
        raise invalid("Missing end boundary in multipart body.", reason="badContent")
    return [_headed(piece[1:]) for piece in pieces[1:]]


def _headed(piece: bytes) -> tuple[dict[str, str], bytes]:
    if piece.startswith((b"\n", b"\r\n")):
        return {}, piece.lstrip(b"\r").removeprefix(b"\n")
    gap = re.search(rb"\r?\n\r?\n", piece)
    head, content = (piece[: gap.start()], piece[gap.end() :]) if gap else (piece, b"")
    fields = HeaderParser().parsestr(head.decode("utf-8", "replace"))
    return {name.lower(): " ".join(value.split()) for name, value in fields.items()}, content


def _request(content: bytes, outer: Mapping[str, str]) -> Incoming:
    """A part's own request; what the batch itself says of who asks holds for it too."""
    first, _, rest = content.partition(b"\n")
    words = first.decode().split()
    if len(words) != 3:
        raise invalid("The batch request could not be processed: a part is no request.")
    headers, body = _headed(rest)
    shared = {name: value for name, value in outer.items() if name == "authorization"}
    return Incoming(words[0], words[1], shared | headers, body)


def _of_kind(content_type: str) -> None:
    if not content_type.startswith("message/"):
        raise invalid(
            f"Media type '{content_type}' is not supported. Valid media types: [message/*]", reason="badContent"
        )


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        raise invalid("Invalid JSON payload received. Parse error.", reason="parseError") from None
