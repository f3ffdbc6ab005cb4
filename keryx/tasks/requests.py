"""What somebody asks for, made safe to store and to hand to an agent. Pure."""

import re

from keryx.errors import Refused

MAX_REQUEST_CHARS = 20_000
MODES = ("plan", "ask", "auto", "full")
MAX_LINE_CHARS = 500
"""The longest progress line or error that is kept; agents have been seen to write megabytes without a newline."""

# Everything below a space but tab and newline, DEL and the C1 block: no text needs them, and NUL ends a C string.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """`text` without what no file, pipe or database takes: control characters, halves of surrogate pairs."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    whole = whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROLS.sub("", whole).strip()


def one_line(text: str, limit: int = MAX_LINE_CHARS) -> str:
    """`text` as one plain line of at most `limit` characters."""
    # The cut comes first: collapsing five megabytes to keep one line of them would hold the event loop.
    line = " ".join(clean(text[: limit * 8]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def last_part(text: str, limit: int) -> str:
    """The end of `text`, at most about `limit` characters, saying so when the beginning is left out."""
    return text if len(text) <= limit else f"(The beginning is left out.)\n\n{text[-limit:]}"


def request_text(text: str) -> str:
    """A description or a follow-up as it is kept. Raises `Refused` when it is empty or too long."""
    if len(text) > MAX_REQUEST_CHARS:
        raise Refused(
            f"that is {len(text):,} characters; a task takes at most {MAX_REQUEST_CHARS:,}",
            spoken="That's too long for one task. Make it shorter, or put it in a file.",
        )
    cleaned = clean(text)
    if not cleaned:
        raise Refused("there is nothing to do in an empty request", spoken="I heard no request. What should be done?")
    return cleaned


def mode_name(mode: str | None) -> str:
    """One of `MODES`; None is "auto". Raises `Refused`."""
    chosen = (mode or "auto").strip().lower()
    if chosen not in MODES:
        raise Refused(
            f"there is no mode {one_line(chosen, 40)!r}; the modes are {', '.join(MODES)}",
            spoken="I know the modes plan, ask, auto and full.",
        )
    return chosen
