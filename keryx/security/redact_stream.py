"""Redaction of text that arrives in pieces, as a model's or an agent's words do."""

import re
import string

from keryx.security.redact import MAX_PEM_CHARS, REDACTED, redact


class StreamRedactor:
    """`redact` for text that comes in pieces: a secret split over any number of them is still found.

    What is fed comes out as soon as it cannot be part of a secret any more: a word later in ordinary text, a few
    words later after "password", "commit" and their like.
    """

    MAX_HELD_CHARS = MAX_PEM_CHARS + 4096

    def __init__(self) -> None:
        self._held = ""
        self._swallowing = False

    def feed(self, delta: str) -> str:
        """Take the next piece; returns what is safe to show by now."""
        self._held += delta
        if self._swallowing:
            self._held = self._held.lstrip(_RUN_CHARS)
            self._swallowing = not self._held
        cut = _safe_end(self._held)
        if len(self._held) - cut > self.MAX_HELD_CHARS:
            return self._let_go()
        safe, self._held = self._held[:cut], self._held[cut:]
        return redact(safe)

    def flush(self) -> str:
        """The text has ended: what is left, redacted."""
        safe, self._held, self._swallowing = self._held, "", False
        return redact(safe)

    def _let_go(self) -> str:
        """Far too much is held for one secret; if its end was hidden, so is what goes on from there."""
        clean = redact(self._held)
        self._held, self._swallowing = "", clean.endswith(REDACTED)
        return clean


def _safe_end(text: str) -> int:
    """How much of `text` may be judged already, whatever follows it."""
    cut, before = len(text) if text[-1:].isspace() else _last_word(text, len(text)), -1
    while cut != before:
        before = cut
        for open_ended in (_OPEN_PEM, _OPEN_QUOTE, _OPEN_HEADER):
            if found := open_ended.search(text, max(0, cut - MAX_PEM_CHARS - 64), cut):
                cut = _last_word(text, found.start() + 1)
        start = cut
        for _ in range(_WORDS_AFTER_A_NAME):
            start = _last_word(text, start)
        if found := _TELLING_WORD.search(text, max(0, min(start, cut - 64)), cut):
            cut = _last_word(text, _last_word(text, found.end()))  # two words: "api key"
    return cut


def _last_word(text: str, end: int) -> int:
    """Where the last word of `text[:end]` begins."""
    while end and text[end - 1].isspace():
        end -= 1
    words = text[:end].rsplit(None, 1)
    return end - len(words[-1]) if words else 0


_RUN_CHARS = string.ascii_letters + string.digits + "+/=_-.\r\n"
_WORDS_AFTER_A_NAME = 6
_TELLING_WORD = re.compile(
    r"pass(?:wd|word|phrase)|secret|credential|token|key|(?<![A-Za-z])(?:pwd|pin)(?![a-z])|signature|sig(?==)|authorization"
    r"|bearer|cookie|(?<![A-Za-z])(?:api|access|private|shared|signing|encryption|master|account|auth)(?![a-z])"
    r"|(?<![A-Za-z])(?:commit|sha-?\d|hash|digest|md5|checksum|etag|integrity|rev|ref|parent|tree|blob|[ug]uid)",
    re.IGNORECASE,
)
_OPEN_PEM = re.compile(r"-----BEGIN(?![^\n]{0,60}-----(?!END)[\s\S]*?-----END [A-Z0-9 ]{1,40}-----)")
_OPEN_QUOTE = re.compile(
    r"(?:passw|passph|pwd|secret|credential|key|token)[A-Za-z]{0,8}[^\r\n]{0,24}?"
    r"[=:|s][ \t*]{0,3}[\"'`][^\"'`\r\n]{0,512}\Z",
    re.IGNORECASE,
)
_OPEN_HEADER = re.compile(r"cookie:[^\r\n]{0,4200}\Z", re.IGNORECASE)
