"""One line of text → words: links, paths, numbers, code and symbols, each as somebody would say it.

The rules run in order over the whole line. Each leaves plain words behind, so that a later rule has nothing left to
misread; digits that a rule leaves are said by the last of the number rules.
"""

import re

from keryx.security.redact import redact
from keryx.voice.speech import words
from keryx.voice.speech.amounts import AMOUNT_RULES
from keryx.voice.speech.blocks import plain_lines
from keryx.voice.speech.names import NAME_RULES

_ENDS = (".", "!", "?", "…", "。", "！", "？")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]{0,1000})\](?:\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)|\[[^\[\]]{0,200}\])")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\]")
_SHORTCODE = re.compile(r":(white_check_mark|heavy_check_mark|x|warning|rocket|tada|bug|sparkles|\+1|-1):")
_SHORTCODES = {
    "white_check_mark": "✅",
    "heavy_check_mark": "✅",
    "x": "❌",
    "warning": "⚠",
    "bug": "🐛",
    "+1": "👍",
    "-1": "👎",
}
_TICKS = re.compile(r"`+")
_STRONG = re.compile(r"\*{2,}(?=\S)|(?<=\S)\*{2,}|~~|(?<!\w)_{2,}(?=\w)|(?<=\w)_{2,}(?!\w)")
_GLOB = re.compile(r"(?<![\w*])\*(?=\.\w)|(?<=/)\*+(?=$|[\s/.,])")
_STAR = re.compile(r"(?<=[\d)])\s*\*\s*(?=[\d(])|(?<=\b\w)\s+\*\s+(?=\w\b)")
_ALL = re.compile(r"(?<=\s)\*(?=\s)")
_LESS = re.compile(r"(?<![<\w])\s*<\s*(?=[\d.$-])|\s<\s|(?<=\w)<(?=\d)")
_MORE = re.compile(r"(?<![-=>])\s+>\s+|(?<=\d)>(?=\d)|(?<!\S)>(?=\d)")
_EQUALS = re.compile(r"\s*=\s*")
_NOT = re.compile(r"(?<!\S)!(?=\w)")
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u23e9-\u23fa\ufe00-\ufe0f\u20e3\U000e0000-\U000e007f]+"
)
_UNSAYABLE = re.compile(r"[_*#|<>{}\[\]`~^=\\\"“”„«»\x00-\x1f\x7f]+")
_SOME_SLASH = re.compile(r"\s*/+\s*")
_BRACKETS = re.compile(r"\s*[()]+\s*")
_DASH = re.compile(r"\s+[-–—]+\s+|—|–")
_HYPHEN = re.compile(r"(?<=\w)-(?=\w)|(?<!\w)-+|-+(?!\w)")
_LONE_QUOTE = re.compile(r"(?<!\w)'|'(?!\w)")
_LONE_DOT = re.compile(r"\.(?=\w)")
_SPACE_BEFORE_STOP = re.compile(r"\s+([,.!?;:…])")
_STOPS = re.compile(r"[,;:\s]*[.!?…](?:\s*[,;:]*\s*[.!?…])+|[,;:]+\s*[.!?…]")
_COMMAS = re.compile(r"([,;:])(?:\s*[,;:])+")
_INNER_COLON = re.compile(r"(?<=\w)[:;]+(?=\w)")
_STRAY = re.compile(r"(?<!\w)[!?:;,]+(?=\w)|(?<=\s)[!?:;,.]+(?=\s)|^[!?:;,.\s]+(?=\s)")
_TIDYING_ROUNDS = 5
"""Each round can leave something for the next: a comma where two symbols stood. Words alone take one."""
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]{1,2}(?![^\W_]))?")


def speakable(text: str) -> str:
    """Any text as one line of words for the voice: no markup, no symbols, no secrets.

    Tables and lists keep everything they say; longer code and JSON are named, not read; an emoji that means something
    is said. Linear in the length of the text.
    """
    lines = plain_lines(redact(text))
    return " ".join(filter(None, (_tidy(pronounce(_said(line))) for line in lines)))


def pronounce(text: str) -> str:
    """Developers' words respelled as they are said: "pytest" → "pie test"."""
    table = words.pronunciations()

    def respelled(found: re.Match[str]) -> str:
        word = found[0]
        if said := table.get(word.lower()):
            return said
        if word.isascii() and word.isupper() and 2 <= len(word) <= 5 and not re.search("[AEIOUY]", word):
            return " ".join(word)
        return word

    return _WORD.sub(respelled, text)


_NOT_JUST_WORDS = re.compile(
    r"[^A-Za-z ,.!?;:'’]|[a-z][A-Z]|[A-Z]{2}[a-z]|\w[.:?!]\w|[.:?!]{2}|(?<!\w)[.:?!]|\b[A-Za-z]\."
    r"|\b(?:[Ee]tc|[Vv]s|[Aa]pprox|[Cc]f)\."
)


def _said(line: str) -> str:
    """The line's links, names, amounts and symbols as words; most lines hold none and are through at once."""
    return _rewritten(line) if _NOT_JUST_WORDS.search(line) else line


def _rewritten(line: str) -> str:
    line = _SHORTCODE.sub(lambda found: _SHORTCODES.get(found[1], " "), line)
    line = _FOOTNOTE.sub("", _IMAGE_OR_LINK.sub(r" \1 ", line))
    line = _TICKS.sub("", line)
    line = words.one_of("abbreviations").sub(_abbreviation, line)
    for pattern, said in NAME_RULES[0]:
        line = pattern.sub(said, line)
    line = _STRONG.sub("", line)
    line = _GLOB.sub("star ", line)
    for pattern, said in (*AMOUNT_RULES[0], *NAME_RULES[1]):
        line = pattern.sub(said, line)
    line = words.one_of("operators").sub(lambda found: f" {words.operators()[found[0]]} ", line)
    line = _ALL.sub("star", _STAR.sub(" times ", line))
    line = _LESS.sub(" is less than ", line)
    line = _MORE.sub(" is more than ", line)
    line = _EQUALS.sub(" equals ", line)
    line = _NOT.sub("not ", line)
    for pattern, said in AMOUNT_RULES[1]:
        line = pattern.sub(said, line)
    line = words.one_of("symbols").sub(_symbol, line)
    line = _EMOJI.sub(" ", line)
    for pattern, said in NAME_RULES[2]:
        line = pattern.sub(said, line)
    for pattern, said in AMOUNT_RULES[2]:
        line = pattern.sub(said, line)
    return line


def _symbol(found: re.Match[str]) -> str:
    """A symbol's words; after a pictogram a short pause, it stands for a phrase of its own."""
    pause = "," if found[0] >= "\u2600" else ""
    return f" {words.symbols()[found[0]]}{pause} "


def _abbreviation(found: re.Match[str]) -> str:
    """The words of an abbreviation that stands alone; inside a longer word it is none."""
    text, start, end = found.string, found.start(), found.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if before.isalnum() or (after.isalnum() and not found[0].endswith((".", "/"))):
        return found[0]
    return words.abbreviations()[found[0].lower()] + (" " if after.isalnum() else "")


def _one_stop(found: re.Match[str]) -> str:
    stops = found[0]
    return next((stop for stop in "?!…" if stop in stops), ".")


def _tidy(line: str) -> str:
    line = _BRACKETS.sub(", ", line)
    line = _DASH.sub(", ", line)
    line = _SOME_SLASH.sub(" ", line)
    line = _UNSAYABLE.sub(" ", _HYPHEN.sub(" ", line))
    for _ in range(_TIDYING_ROUNDS):
        before = line
        line = re.sub(r"\s+", " ", _LONE_DOT.sub(" dot ", _STOPS.sub(_one_stop, _LONE_QUOTE.sub("", line))))
        line = _COMMAS.sub(r"\1", _SPACE_BEFORE_STOP.sub(r"\1", line))
        line = _STRAY.sub("", _INNER_COLON.sub(" ", line))
        line = re.sub(r"[:,;\s]+\.?$", ".", line.strip(" ,;"))
        if line == before:
            break
    if not any(char.isalnum() for char in line):
        return ""
    return line if line.endswith(_ENDS) else f"{line}."
