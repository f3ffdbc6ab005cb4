"""Other people's text without what cannot be seen: control, zero-width and direction characters, tags. Pure."""

import re

MAX_LINE_CHARS = 1_000
"""What `one_line` keeps of a header, a name, a title."""

# Unicode's Default_Ignorable_Code_Point and the interlinear marks. Invisible, so that words for a model hide there, and
# a name can be made to read backwards. The two variation selectors of emoji stay.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    # A joiner belongs between two letters of a script that needs it, or between two emoji; nowhere else.
    r"]|(?<![^\x00-\u02ff\u2000-\u206f\u3000\xa0])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u02ff\u2000-\u206f\u3000\xa0])"
    # Control characters but for tab and newline.
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_BREAKS = re.compile("\r\n?|[\x85\u2028\u2029]")


def plain(text: str) -> str:
    """`text` with its lines, each ending in a newline character alone, and nothing unseen in it."""
    return _UNSEEN.sub("", _SURROGATES.sub("\ufffd", _BREAKS.sub("\n", text)))


def one_line(text: str, limit: int = MAX_LINE_CHARS) -> str:
    """`text` as one line of at most `limit` characters, single spaces between its words."""
    # Cut first, then again: what is thrown away may be megabytes.
    line = " ".join(plain(text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
