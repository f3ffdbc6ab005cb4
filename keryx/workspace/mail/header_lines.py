"""Header lines of a letter, encoded and folded: RFC 5322 lines, RFC 2047 words. Pure."""

import base64
import re
from collections.abc import Iterable, Sequence
from email.policy import Policy

from keryx.workspace.models import Person

FOLD_AT = 76
"""Lines are folded at this many characters where they can be; the standard wants 78, and never more than 998."""
_WORD_BYTES = 42
"""Of the text in one encoded word, so that it stays below its 75 characters."""
_PLAIN_NAME = re.compile(r"[\w!#$%&'*+/=?^`{|}~ -]+", re.ASCII)
_ONLY_ASCII = re.compile(r"[ -~]*")


class HeaderLine(str):
    """A header's value that is encoded already: `pieces` are joined by spaces, and folded between them only.

    The email package leaves a value alone that has its `name` and can `fold` itself.
    """

    name: str
    pieces: Sequence[str]

    def __new__(cls, name: str, pieces: Iterable[str]) -> "HeaderLine":
        kept = list(pieces)
        line = super().__new__(cls, " ".join(kept))
        line.name, line.pieces = name, kept
        return line

    def fold(self, *, policy: Policy) -> str:
        lines = [f"{self.name}:"]
        for piece in self.pieces:
            if len(lines[-1]) + len(piece) >= FOLD_AT and lines[-1].strip(" "):
                # A first piece that is too long stays beside the name: a line of the name alone troubles some servers.
                if len(lines) > 1 or lines[-1] != f"{self.name}:":
                    lines.append("")
            lines[-1] += f" {piece}"
        return policy.linesep.join(lines) + policy.linesep


def words(text: str) -> list[str]:
    """`text` of one line as pieces of an unstructured header."""
    if _ONLY_ASCII.fullmatch(text) and "=?" not in text and max(map(len, text.split(" ")), default=0) < 900:
        return text.split()
    return _encoded(text)


def names_and_addresses(people: Iterable[Person]) -> list[str]:
    """`people` as the pieces of an address list."""
    pieces: list[str] = []
    for person in people:
        if pieces:
            pieces[-1] += ","
        name = " ".join(person.name.split())
        address = on_the_wire(person.address)
        pieces += [*_phrase(name), f"<{address}>"] if name else [address]
    return pieces


def on_the_wire(address: str) -> str:
    """With the domain as the name system writes it; a name before the @ that is not ASCII stays as it is."""
    local, _, domain = address.rpartition("@")
    return f"{local}@{domain if domain.isascii() else domain.encode('idna').decode('ascii')}"


def _phrase(name: str) -> list[str]:
    if "=?" in name or not _ONLY_ASCII.fullmatch(name):
        return _encoded(name)
    if _PLAIN_NAME.fullmatch(name):
        return name.split()
    return ['"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"']


def _encoded(text: str) -> list[str]:
    """Encoded words, none of which ends within a character."""
    held, all_words = b"", []
    for character in text:
        more = character.encode()
        if len(held) + len(more) > _WORD_BYTES:
            all_words.append(held)
            held = b""
        held += more
    all_words.append(held)
    return [f"=?utf-8?b?{base64.b64encode(word).decode('ascii')}?=" for word in all_words if word]
