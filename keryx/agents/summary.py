"""What is said aloud of an agent's last words: pure text, in linear time, whatever the agent wrote.

The last marker is looked for in the whole text; everything else looks at windows of `WINDOW_CHARS`. One pass turns a
text into one line; it is repeated until nothing changes, so that what comes out has no markup left to find.
"""

import html
import re
from collections.abc import Iterator
from enum import Enum

MAX_SUMMARY_CHARS = 400
NOTHING_SAID = "It finished without saying what it did."

WINDOW_CHARS = 4000
MAX_PARAGRAPHS = 50
MAX_PASSES = 20
MAX_MENTIONS = 1000
MARKER_CHARS = 64

# What may stand before a marker on its line (quote, heading, list, emphasis, code), and around its name.
_BEFORE = r"^[ \t>#*_`~+\-•]{0,24}(?:\d{1,3}[.)][ \t]{1,4})?[*_`]{0,4}"
_AFTER = r"[*_`]{0,4}[ \t]{0,4}"
_COLON = r"[:：﹕︰]"

_MARKER = re.compile(
    rf"{_BEFORE}(?i:spoken[_ -]{{1,2}}summary){_AFTER}{_COLON}"
    # As a heading, or alone on its line, it needs no colon.
    rf"|{_BEFORE}(?:SPOKEN_SUMMARY|(?<=[#*])[ \t]?(?i:spoken summary)){_AFTER}$"
    # Inside a line only the exact word counts, and not where it is merely quoted.
    rf"|(?<![\w\"'`])SPOKEN_SUMMARY{_AFTER}{_COLON}(?![`\"'])",
    re.MULTILINE,
)
_CLOSERS = re.compile(r"\A(?!```)[*_`]{1,4}")
_LEFT_OVER = re.compile(r"SPOKEN_SUMMARY\s?:")
_RESTART = re.compile(rf"{_BEFORE}RESTART_REQUIRED{_AFTER}{_COLON}", re.MULTILINE)
_DENIED = frozenset({"no", "none", "false", "n/a", "not needed", "not required"})

_NEWLINES = re.compile("[\x0b\x0c\x85\u2028\u2029]")
# Controls, of which a terminal obeys some, and what would show letters in another order than they are said.
_UNSPEAKABLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
_BLANK_LINES = re.compile(r"\n(?:[ \t>]*\n)+")

_FENCE_LINE = re.compile(r"^[ \t>]{0,16}(?:[-*+][ \t]+)?(`{3,}|~{3,})([^`\n]*)$", re.MULTILINE)
_PLAIN_FENCES = frozenset({"", "text", "txt", "plain", "plaintext", "markdown", "md"})
_SENTENCE = re.compile(r"[^\W\d_][^{}=;<>`$|\\]* [^{}=;<>`$|\\]*[.!?…]$")

_TOOL_LINE = re.compile(
    r"^[ \t]{0,16}<((?:\w{1,30}[:_.-]){0,3}\w{0,30}(?:tool|function|invoke|think|call)\w{0,30})\b[^<>\n]{0,200}>"
    r"[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_LIST_ITEM = re.compile(r"(?:[-*+•–][ \t]+|\d{1,2}[.)][ \t]+)(?:\[[ xX]\][ \t]+)?")
_JSON = re.compile(
    r"\{|\[\s*(?:[{\[\"']|\]|-?\d[\d.eE+-]*\s*(?:,|\]\s*$)|(?:true|false|null)\s*[,\]])|[\"'][^\"']*[\"']\s*:\s|[\"'].*[\"'],$"
)
_JSON_OPENINGS = frozenset({"{", "[", "[{", "({", "[["})
_CODE = re.compile(
    r"(?:async )?def \w+\s*\(|class \w+(?:\([^)]*\))?:$|from [\w.]+ import |import [\w.]+(?: as \w+)?$"
    r"|(?:const|let|var) [\w{\[].* = |(?:export |async )*function\b.*\(|#include\b|#!"
    r"|>>> |\$ [a-z]|diff --git |@@ -|(?:\+\+\+|---) \S|Traceback \(|File \".*\", line \d"
    r"|[\w.]+(?:\[[^\]]*\])? [-+*/|]?= \S|[\w.]+\(.*\)[;,:]?$|.*[=(].*;$|.*[)\w] \{$"
)
# Where machine talk begins inside a line: JSON, a tool's markup, the other marker. Nothing after it is said.
_MACHINE = re.compile(
    r"(?:[\w.]{1,40}[=(]\(?)?\{\s*[\"'{\[]|\[\s*[{\"]|```|RESTART_REQUIRED[*_`]{0,4}:"
    r"|<\||\[/?TOOL_|<[a-zA-Z][\w:.-]*(?:[\s=][^<>]*)?>\s*[{\[]|<[a-zA-Z][\w:.-]*[\s=][^<>]*>"
    r"|<[\w:.-]*(?:tool|function|invoke|think|antml|parameter)[\w:.-]*>",
    re.IGNORECASE,
)
_INLINE_TAG = re.compile(
    r"</?(?:a|b|i|u|s|q|em|strong|code|kbd|mark|small|sub|sup|span|del|ins|tt|font|img)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_BLOCK_TAG = re.compile(
    r"</?(?:p|div|br|hr|li|ul|ol|h[1-6]|details|summary|center|pre|blockquote|t[dhr]|table)(?:\s[^<>]*)?/?>"
    r"|<!--.*?(?:-->|$)",
    re.IGNORECASE,
)
_PAIRED_TAG = re.compile(r"<([a-z][\w:.-]*)(?:\s[^<>]*)?>.*?</\1>", re.IGNORECASE)
_WORD_TAG = re.compile(r"<(https?://[^<>\s]+|[a-zA-Z][\w:.-]*)/?>")
_CLOSING_TAG = re.compile(r"</[a-zA-Z][^<>]*>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,31});")

_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+[\"'][^\"'\n]*[\"'])?\)|\[[^\[\]]*\])")
_FOOTNOTE = re.compile(r"\[\^[^\[\]]*\]")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!~>|])")
# A star between digits is arithmetic.
_STARS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]*[^\s*])\1(?![\w*])")
_LOOSE_STARS = re.compile(r"(?<!\w)\*{2,}(?=\S)|(?<=\S)\*{2,}(?!\w)|(?<=[^\W\d_])\*{2,}(?=[^\W\d_])|~~")
_UNDERLINES = re.compile(r"(?<!\w)_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?!\w)")
# Keys, base64 and the like: nobody can listen to a word this long.
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{120,}")


def extract_spoken_summary(text: str) -> str:
    """What is said aloud of `text`: one plain line of 1 to `MAX_SUMMARY_CHARS` characters, cut at a word.

    It is what follows the last `SPOKEN_SUMMARY:` marker; without one, or when nothing that can be said follows it, the
    last paragraph before it that can be said; else `NOTHING_SAID`. Code, JSON and tool markup are never said.
    """
    line = _pass(text)
    for _ in range(MAX_PASSES):
        before, line = line, _pass(line)
        if line == before:
            return line
    return NOTHING_SAID


def extract_restart_request(text: str) -> str | None:
    """The reason on the last explicit `RESTART_REQUIRED:` line, plain; "" when none follows; None without such a line.

    Prose about a restart does not count, and neither does a line that answers "no".
    """
    text = _tidied(text)
    request = _last(_RESTART, "restart_required", text)
    if request is None:
        return None
    line = text[request.end() : request.end() + WINDOW_CHARS].partition("\n")[0]
    reason = shorten(_plain(_first_prose(_CLOSERS.sub("", line).strip())))
    return None if reason.rstrip(".").casefold() in _DENIED else reason


def shorten(text: str) -> str:
    """`text` cut at a word so that it has at most `MAX_SUMMARY_CHARS` characters."""
    if len(text) <= MAX_SUMMARY_CHARS:
        return text
    room = text[:MAX_SUMMARY_CHARS]
    whole_words = room[:-1].rpartition(" ")[0].rstrip(" ,;:-–—(") or room[:-1]
    return whole_words + "…"


def _pass(text: str) -> str:
    """One pass from any text to one line; never empty."""
    text = _tidied(text)
    if marker := _last(_MARKER, "summary", text):
        after = _CLOSERS.sub("", text[marker.end() :], count=1).lstrip()[:WINDOW_CHARS]
        if summary := _plain(_first_prose(after)):
            return shorten(summary)
        text = text[: marker.start()]
    for paragraph in _last_paragraphs(_without_tool_blocks(_without_fences(text))):
        if summary := _plain(_first_prose(_MARKER.sub("", paragraph))):
            return shorten(summary)
    return NOTHING_SAID


def _last(pattern: re.Pattern[str], word: str, text: str) -> re.Match[str] | None:
    """The last match of a marker, found from the end by the `word` it holds; megabytes before it cost little."""
    letters = text.encode("ascii", "replace").lower()  # as long as `text`, character for character
    end = len(letters)
    for _ in range(MAX_MENTIONS):
        if (end := letters.rfind(word.encode(), 0, end)) < 0:
            return None
        for marker in pattern.finditer(text, max(0, end - MARKER_CHARS), end + MARKER_CHARS):
            if marker.start() <= end < marker.end():
                return marker
    return None


def _tidied(text: str) -> str:
    """`text` with one kind of newline, blank lines empty, and without what no voice and no file can hold."""
    return _BLANK_LINES.sub(
        "\n\n", _UNSPEAKABLE.sub("", _NEWLINES.sub("\n", text.replace("\r\n", "\n").replace("\r", "\n")))
    )


def _without_fences(text: str) -> str:
    """`text` with each fenced block, and one that never closes, replaced by a blank line."""
    if "```" not in text and "~~~" not in text:
        return text
    kept: list[str] = []
    start, fence = 0, ""
    for line in _FENCE_LINE.finditer(text):
        if not fence:
            kept += (text[start : line.start()], "\n\n")
            fence = line[1]
        elif line[1].startswith(fence) and not line[2].strip():
            start, fence = line.end(), ""
    if not fence:
        kept.append(text[start:])
    return "".join(kept)


def _without_tool_blocks(text: str) -> str:
    """`text` with each block of tool markup, and one that never closes, replaced by a blank line."""
    kept: list[str] = []
    start = 0
    while opened := _TOOL_LINE.search(text, start):
        kept += (text[start : opened.start()], "\n\n")
        closed = text.find(f"</{opened[1]}>", opened.end())
        if closed < 0:
            return "".join(kept)
        start = closed + len(f"</{opened[1]}>")
    return "".join([*kept, text[start:]])


def _last_paragraphs(text: str) -> Iterator[str]:
    """The last paragraphs, last first: the beginning of each, up to `WINDOW_CHARS`."""
    for _ in range(MAX_PARAGRAPHS):
        text = text.rstrip()
        start = text.rfind("\n\n") + 1
        if paragraph := text[start : start + WINDOW_CHARS].strip("\n"):
            yield paragraph
        text = text[:start]


class _Kind(Enum):
    BLANK = "blank"
    HEADING = "heading"
    ITEM = "item of a list"
    WORDS = "words"
    CUT = "words, then machine talk"
    MACHINE = "machine talk"


def _first_prose(text: str) -> str:
    """The first run of lines in `text` that are somebody's words, joined; else its last heading; else ""."""
    said: list[str] = []
    heading = ""
    for kind, words in _lines(text):
        match kind:
            case _Kind.BLANK:
                continue
            case _Kind.HEADING | _Kind.MACHINE if said:
                break
            case _Kind.HEADING:
                heading = words
            case _Kind.ITEM if said and said[-1][-1] not in ".!?…:;,":
                said[-1] += "."
                said.append(words)
            case _Kind.ITEM | _Kind.WORDS | _Kind.CUT:
                said.append(words)
        if kind is _Kind.CUT:
            break
    return " ".join(said) or heading


def _lines(text: str) -> Iterator[tuple[_Kind, str]]:
    """Each line's kind and what of it can be said; blocks of code, JSON and tool markup are machine talk throughout."""
    fence = tag = ""
    after_blank, code = True, False
    for raw in text.split("\n"):
        line = raw.strip()
        indented, after_blank = after_blank and raw.startswith(("    ", "\t")), not line
        if not line:
            code = False
            yield _Kind.BLANK, ""
            continue
        if opening := _FENCE_LINE.match(raw):
            fence = "" if fence else opening[2].strip().casefold() or "text"
            yield _Kind.MACHINE, ""
            continue
        code = code or line in _JSON_OPENINGS or _CODE.match(line) is not None
        if opened := _TOOL_LINE.match(line):
            tag = opened[1]
        if tag or code or fence not in _PLAIN_FENCES:
            tag = "" if f"</{tag}" in line else tag
            yield _Kind.MACHINE, ""
            continue
        line = line.lstrip("> \t") or line
        mark = _HEADING.match(line) or _LIST_ITEM.match(line)
        rest = line[mark.end() :] if mark else line
        words = _words(rest)
        if not words or ((indented or fence) and not _SENTENCE.match(words)):
            yield _Kind.MACHINE, ""
        elif not rest.endswith(words[-1]):
            yield _Kind.CUT, words
        elif mark:
            yield (_Kind.HEADING, words.rstrip("# ")) if line.startswith("#") else (_Kind.ITEM, words)
        else:
            yield _Kind.WORDS, words


def _words(line: str) -> str:
    """What of one line can be said: all of it, what stands before machine talk, or nothing."""
    if _JSON.match(line) or _CODE.match(line) or _RESTART.match(line) or (line.startswith("|") and line.endswith("|")):
        return ""
    line = _ENTITY.sub(lambda entity: html.unescape(entity[0]), line)
    line = _PAIRED_TAG.sub(" ", _BLOCK_TAG.sub(" ", _INLINE_TAG.sub("", line)))
    if machine := _MACHINE.search(line):
        line = line[: machine.start()]
    line = line.strip()
    return line if any(char.isalnum() for char in line) else ""


def _plain(text: str) -> str:
    """`text` without inline markdown, entities or doubled spaces; "" when no letter or digit is left."""
    text = _LEFT_OVER.sub(" ", _ESCAPED.sub(r"\1", text))
    text = _FOOTNOTE.sub("", _LINK.sub(r"\1", _LINK.sub(r"\1", text)))
    text = _CLOSING_TAG.sub("", _WORD_TAG.sub(r" \1 ", text)).replace("`", "")
    text = _UNDERLINES.sub("", _LOOSE_STARS.sub("", _STARS.sub(r"\2", text)))
    text = " ".join(_BLOB.sub("", text).split())
    return text if any(char.isalnum() for char in text) else ""
