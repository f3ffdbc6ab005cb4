"""The shape of a text: fences, tables, lists and headings become plain lines, each ending like a sentence."""

import html
import json
import re

from keryx.voice.speech import words

_ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufffc-\uffff]"
)
# What a model writes to its tools is for nobody's ear; an unclosed call runs to the end of the text.
_TOOL_OPEN = re.compile(
    r"<(?:antml:)?(tool_calls?|function_calls?|invoke|tool_use|tool_result|thinking|think)\b[^<>]{0,400}>", re.I
)
_TOOL_LEFT = re.compile(
    r"</?(?:antml:)?(?:tool_\w+|function_\w+|invoke|parameter|think(?:ing)?)\b[^<>]{0,400}>|<\|[^<>|]{0,60}\|>", re.I
)
_TAG_NAMES = (
    "a|abbr|b|blockquote|body|br|button|center|code|dd|del|details|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|img|input"
    "|ins|kbd|label|li|link|main|mark|meta|nav|ol|option|p|picture|pre|q|s|samp|script|section|select|small|source|span"
    "|strike|strong|style|sub|summary|sup|svg|table|tbody|td|tfoot|th|thead|title|tr|tt|u|ul|var|video"
)
_TAG = re.compile(rf"</?(?:{_TAG_NAMES})(?:\s[^<>]{{0,2000}})?/?>", re.I)
_BLOCK_TAG = re.compile(
    r"</?(?:br|p|div|li|tr|h[1-6]|ul|ol|table|blockquote|hr|pre|summary|details)\b[^<>]{0,2000}>", re.I
)
_COMMENT = re.compile(r"<!--(?:(?!-->)[\s\S]){0,4000}(?:-->)?")
_FENCE = re.compile(r"\s{0,12}(?:>\s?){0,4}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}$")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_BULLET = re.compile(r"\s*[-*+•◦▪‣]\s+(?:\[([ xX])\]\s+)?")
_NUMBERED = re.compile(r"\s*(\d{1,9})[.)]\s+")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$|[^|]+(?:\|[^|]+)+$")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_DEFINITION = re.compile(r"\s{0,3}\[[^\]\n]{1,200}\]:\s+\S")
_ENDS = (".", "!", "?", "…", ":", ";", ",", "。", "！", "？")
_JSON_START = re.compile(r"[{\[]\s{0,40}(?:[\"{\[]|\}|\])")
_MAX_JSON_TRIES = 40
_MAX_JSON_CHARS = 20_000
_SHORT_CODE_CHARS = 60


def plain_lines(text: str) -> list[str]:
    """The text without control characters, tool markup, HTML and block markup, one sentence-like line each."""
    text = _CONTROL.sub("", _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    text = _without_tags(_without_tools(text))
    lines: list[str] = []
    paragraph: list[str] = []

    def close() -> None:
        if paragraph:
            lines.append(_ended(" ".join(paragraph)))
            paragraph.clear()

    rows = text.split("\n")
    at = 0
    while at < len(rows):
        row = rows[at]
        at += 1
        if fence := _FENCE.match(row):
            close()
            at, said = _fenced(rows, at, fence[1], fence[2])
            lines.append(_ended(said))
        elif _is_table(rows, at - 1):
            close()
            at, said_rows = _table(rows, at - 1)
            lines += map(_ended, said_rows)
        elif not row.strip() or _RULE.match(row) or _DEFINITION.match(row):
            close()
        else:
            row, alone = _without_mark(_QUOTE.sub("", row, count=1) if row.lstrip().startswith(">") else row)
            if alone:
                close()
            paragraph.append(row.strip())
            if alone == "heading":
                close()
    close()
    return [_without_json(line) for line in lines if line.strip(" .")]


def _without_tools(text: str) -> str:
    kept: list[str] = []
    at = 0
    while found := _TOOL_OPEN.search(text, at):
        kept.append(text[at : found.start()])
        end = text.find(f"{found[1]}>", found.end())
        if end < 0:
            return "".join(kept)
        at = end + len(found[1]) + 1
    return _TOOL_LEFT.sub(" ", "".join(kept) + text[at:])


def _without_tags(text: str) -> str:
    if "<" in text:
        text = _TAG.sub("", _BLOCK_TAG.sub("\n\n", _COMMENT.sub("", text)))
    return html.unescape(text) if "&" in text else text


def _fenced(rows: list[str], at: int, fence: str, language: str) -> tuple[int, str]:
    """What to say of a block of code, and the row after it; a short single line is said as it is."""
    inside: list[str] = []
    while at < len(rows):
        row = rows[at].strip().lstrip("> ")
        at += 1
        if row.startswith(fence) and not row.strip(fence[0]):
            break
        if row:
            inside.append(row)
    if not inside:
        return at, ""
    if len(inside) == 1 and len(inside[0]) <= _SHORT_CODE_CHARS and not _JSON_START.match(inside[0]):
        return at, inside[0]
    count = words.described("one_line") if len(inside) == 1 else words.described("lines", count=len(inside))
    if language.lower() in ("", "text", "txt", "plain", "plaintext", "console", "output"):
        return at, words.described("code", lines=count)
    return at, words.described("language", language=language, lines=count)


def _is_table(rows: list[str], at: int) -> bool:
    row = rows[at]
    if "|" not in row or not _TABLE_ROW.match(row):
        return False
    ruled = at + 1 < len(rows) and "-" in rows[at + 1] and bool(_TABLE_RULE.match(rows[at + 1]))
    return ruled or (row.strip().startswith("|") and row.strip().endswith("|") and "||" not in row)


def _table(rows: list[str], at: int) -> tuple[int, list[str]]:
    """Every row as "header cell, header cell"; without headers as "cell, cell"."""
    headers: list[str] = []
    if at + 1 < len(rows) and "-" in rows[at + 1] and _TABLE_RULE.match(rows[at + 1]):
        headers = _cells(rows[at])
        at += 2
    said: list[str] = []
    while at < len(rows) and "|" in rows[at] and _TABLE_ROW.match(rows[at]):
        if not _TABLE_RULE.match(rows[at]):
            cells = _cells(rows[at])
            names = headers + [""] * (len(cells) - len(headers))
            said.append(", ".join(f"{name} {cell}".strip() for name, cell in zip(names, cells, strict=False) if cell))
        at += 1
    return at, said or [", ".join(filter(None, headers))]


def _cells(row: str) -> list[str]:
    return [cell.strip().replace("\0", "|") for cell in row.replace("\\|", "\0").strip().strip("|").split("|")]


def _without_mark(row: str) -> tuple[str, str]:
    """The row without its heading or list mark, and which of them it had ("" for ordinary text)."""
    if heading := _HEADING.match(row):
        return heading[1], "heading"
    if bullet := _BULLET.match(row):
        mark = {None: "", " ": "to do: ", "x": "done: ", "X": "done: "}[bullet[1]]
        return mark + row[bullet.end() :], "item"
    if numbered := _NUMBERED.match(row):
        return f"{numbered[1]}, {row[numbered.end() :]}", "item"
    return row, ""


def _ended(line: str) -> str:
    bare = line.rstrip(" *_`\"')")
    return line if not line.strip() or bare.endswith(_ENDS) else f"{line.rstrip()}."


def _without_json(line: str) -> str:
    """JSON in the middle of a sentence is named, not read out."""
    kept: list[str] = []
    at = tries = 0
    decoder = json.JSONDecoder()
    while tries < _MAX_JSON_TRIES and (found := _JSON_START.search(line, at)):
        tries += 1
        start = found.start()
        try:
            value, size = decoder.raw_decode(line[start : start + _MAX_JSON_CHARS])
        except (ValueError, RecursionError):
            value, size = None, 1
        if value and isinstance(value, (dict, list)):
            kept += line[at:start], words.described("json")
        else:
            kept.append(line[at : start + size])
        at = start + size
    return "".join(kept) + line[at:]
