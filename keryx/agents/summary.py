"""What is said aloud of an agent's last words: pure text, in linear time, whatever the agent wrote."""

import re

MAX_SUMMARY_CHARS = 400

NOTHING_SAID = "It finished without saying what it did."

_MARKER = re.compile(r"^[ \t>#*`_-]{0,16}SPOKEN[_ -]SUMMARY[*`_]{0,4}[ \t]{0,4}[:：]", re.IGNORECASE | re.MULTILINE)
_RESTART = re.compile(r"^[ \t>#*`_-]{0,16}RESTART_REQUIRED[*`_]{0,4}[ \t]{0,4}[:：](.*)$", re.MULTILINE)


def extract_spoken_summary(text: str) -> str:
    """The text after the last marker, else the last paragraph: plain, one line, at most `MAX_SUMMARY_CHARS`."""
    markers = list(_MARKER.finditer(text))
    tail = text[markers[-1].end() :] if markers else text.strip().rpartition("\n\n")[2]
    return shorten(" ".join(tail[: 4 * MAX_SUMMARY_CHARS].replace("`", "").replace("**", "").split())) or NOTHING_SAID


def extract_restart_request(text: str) -> str | None:
    """The reason on an explicit `RESTART_REQUIRED:` line; "" when none follows; None without such a line."""
    found = _RESTART.search(text)
    return None if found is None else shorten(" ".join(found[1].strip(" \t\r*`_").split()))


def shorten(text: str) -> str:
    """`text` cut at a word so that it has at most `MAX_SUMMARY_CHARS` characters."""
    if len(text) <= MAX_SUMMARY_CHARS:
        return text
    return text[: MAX_SUMMARY_CHARS - 1].rpartition(" ")[0].rstrip() + "…"
