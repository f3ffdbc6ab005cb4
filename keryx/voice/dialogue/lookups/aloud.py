"""What other people wrote, made fit to be heard: subjects, titles, the text of a mail. Pure.

It stays data: secrets are taken out, and nothing in it is looked at as a command.
"""

import re
import unicodedata
from collections.abc import Sequence

from keryx.security.redact import redact
from keryx.voice.dialogue.replies import ended

TITLE_WORDS = 10
FIRST_SENTENCES, MORE_SENTENCES = 3, 6
FIRST_WORDS, MORE_WORDS = 60, 120
"""So much of a mail is read before the rest is offered, and so much each time after that."""

_PREFIXES = re.compile(
    r"(?:(?:re|fwd?|aw|wg|sv|vs|antw|tr|rv|ref)(?:\[\d+\]|\^\d+)?\s*:\s*|\[[^\[\]]{0,40}\]\s*|\((?:extern|external|ext)\)\s*)+",
    re.IGNORECASE,
)
_LINK = re.compile(r"<?\b(?:https?://|www\.)[^\s<>]+>?", re.IGNORECASE)
_LINK_BESIDE = re.compile(r"\s*[<(\[]\s*a link\s*[>)\]]")
_SIGNATURE = re.compile(r"--\s*|[-_=*]{5,}|(?:sent from my|get outlook for|sent via|von meinem) .*", re.IGNORECASE)
_CLOSING = re.compile(
    r"(?:(?:with )?(?:best|kind|kindest|warm|warmest|many|my best)? ?(?:regards|wishes|thanks|greetings)|best|cheers|"
    r"thanks(?: again| a lot)?|thank you|yours(?: truly| sincerely| faithfully)?|sincerely(?: yours)?|all the best|"
    r"talk soon|see you|love|take care|viele grüße|liebe grüße|mit freundlichen grüßen|gruß|lg|vg)[,.!\s]*",
    re.IGNORECASE,
)
_CLOSING_LINES = 6
"""A closing stands so near the end at the furthest."""
_SHORT_LINE = 45
_ENDS_WITHIN = re.compile(r"(?:(?<=\w{4})\.+|[!?…;:]+)(?:\s+(?=\S)|$)")
"""Where a name or a subject would begin a sentence of its own, which would sound like one of ours."""
_SENTENCE_ENDS = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=\S)")


def title_words(text: str) -> str:
    """A subject or a title in one breath, without "Re:", tags and pictures; "" when nothing is left."""
    plain = _PREFIXES.sub("", _without_pictures(redact(text)).strip(), count=1)
    words = _ENDS_WITHIN.sub(", ", _LINK.sub("a link", plain)).split()
    if len(words) > TITLE_WORDS:
        words = words[:TITLE_WORDS]
    return " ".join(words).strip(" \t.,;:!-–—\"'“”")


def name_words(text: str) -> str:
    """A person's name as it is said."""
    plain = _ENDS_WITHIN.sub(", ", _without_pictures(redact(text)))
    return " ".join(plain.split()[:5]).strip(",") or "somebody"


def sentences_of(text: str) -> list[str]:
    """The sentences of a mail: without signature, quotations and pictures, links only named."""
    lines = _without_signature(redact(text).splitlines())
    paragraphs: list[str] = [""]
    short = False
    for line in lines:
        # Single spaces first: a run of thousands would be gone through once for each of them.
        line = " ".join(_without_pictures(line).split())
        line = _LINK_BESIDE.sub("", _LINK.sub("a link", line)).strip()
        if not line or line.startswith(">"):
            paragraphs.append("")
            continue
        if short and not line[0].islower():
            paragraphs.append("")  # one thing on each line, without stops
        paragraphs[-1] = f"{paragraphs[-1]} {line}"
        short = len(line) < _SHORT_LINE and line[-1].isalnum()
    whole = [
        ended(paragraph.rstrip(" ,;:-–—")) for paragraph in paragraphs if any(char.isalnum() for char in paragraph)
    ]
    return [sentence.strip() for paragraph in whole for sentence in _SENTENCE_ENDS.split(paragraph) if sentence.strip()]


def in_breaths(sentences: Sequence[str]) -> list[str]:
    """The sentences in pieces that are read one at a time; a last one alone goes with what is before it."""
    breaths: list[list[str]] = []
    for sentence in sentences:
        most, words = (FIRST_SENTENCES, FIRST_WORDS) if len(breaths) <= 1 else (MORE_SENTENCES, MORE_WORDS)
        here = breaths[-1] if breaths else None
        if here is None or len(here) >= most or sum(len(each.split()) for each in here) >= words:
            breaths.append([])
        breaths[-1].append(sentence)
    if len(breaths) > 1 and len(breaths[-1]) == 1 and len(breaths[-1][0].split()) <= 12:
        last = breaths.pop()
        breaths[-1] += last
    return [" ".join(breath) for breath in breaths]


def _without_signature(lines: list[str]) -> list[str]:
    for index, line in enumerate(lines):
        if _SIGNATURE.fullmatch(line.strip()) and index:
            lines = lines[:index]
            break
    written = [index for index, line in enumerate(lines) if line.strip()]
    for index in written[-_CLOSING_LINES:]:
        if index and _CLOSING.fullmatch(lines[index].strip()):
            return lines[:index]
    return lines


def _without_pictures(text: str) -> str:
    return "".join(
        " " if unicodedata.category(char) in ("So", "Sk", "Cs", "Co", "Cn", "Cf") else char for char in text
    ).replace("\ufe0f", "")
