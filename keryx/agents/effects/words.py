"""Reads one word of a shell line: its quotes, its expansions, and whether it is known before the line runs. Pure."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

MAX_DEPTH = 12
MAX_BRACE_WORDS = 64

_PLAIN = re.compile(r"[^ \t\r\n'\"\\$`<>|&;()]+")
_NAME = re.compile(r"\w+|[@*#?$!-]")
_BRACED_NAME = re.compile(r"\{(\w+)\}")
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ANSI_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,6})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_QUOTED = re.compile(r"[^\"\\$`]+")
_BRACED = re.compile(r"[^}'\"\\$`]+")
_ARITHMETIC = re.compile(r"[^()'\"\\$`]+")
_GLOB = re.compile(r"[*?]|\[[^]]")
_BRACE_LIST = re.compile(r"\{([^{},]*+,[^{}]*+)\}")


class Unreadable(Exception):
    """The text is no shell line that can be read here."""


@dataclass(frozen=True)
class Word:
    """One word without its quotes; an expansion stands in it as it is written."""

    text: str
    known: bool = True
    """False: part of it is only known when it runs."""
    bare: bool = False
    """Nothing of it was quoted."""
    glob: bool = False
    """It stands for the files it fits."""


@dataclass
class WordReader(ABC):
    """Goes through a text, word by word; what is nested in a word is left to whoever reads whole lines."""

    text: str
    depth: int
    at: int = 0

    @abstractmethod
    def keep_script(self) -> None:
        """Read on as a line of its own up to its closing parenthesis, and keep what it does."""

    @abstractmethod
    def keep_text(self, text: str) -> None:
        """Read `text` as a line of its own, and keep what it does."""

    def word(self) -> Word | None:
        """One word; None where none begins."""
        start, pieces, bare = self.at, list[str](), list[str]()
        known = True
        while self.at < len(self.text):
            char = self.text[self.at]
            if plain := _PLAIN.match(self.text, self.at):
                self.at = plain.end()
                pieces.append(plain[0])
                bare.append(plain[0])
            elif char == "'":
                end = self.text.find("'", self.at + 1)
                if end < 0:
                    raise Unreadable
                pieces.append(self.text[self.at + 1 : end])
                self.at = end + 1
            elif char == '"':
                self.at += 1
                known &= self.quoted(pieces, '"')
            elif char == "\\":
                pieces.append(
                    "" if self.text[self.at + 1 : self.at + 2] == "\n" else self.text[self.at + 1 : self.at + 2]
                )
                self.at += 2
            elif char == "$" or char == "`":
                known &= self._expansion(pieces, quoted=False)
            elif char in "<>" and self.text.startswith("(", self.at + 1):
                self.at += 2
                self.keep_script()
                pieces.append("/dev/fd/63")
                known = False
            else:
                break
        if self.at == start:
            return None
        unquoted, text = "".join(bare), "".join(pieces)
        braces = "{" in unquoted and ("," in unquoted or ".." in unquoted) and "}" in unquoted
        whole = len(bare) == len(pieces)
        glob = _GLOB.search(unquoted) is not None
        return Word(text, known and (whole or not braces), whole, glob)

    def quoted(self, pieces: list[str], stop: str) -> bool:
        """Read up to a double quote, or with `stop` "" the whole text as if within them; whether all is known."""
        known = True
        while self.at < len(self.text):
            char = self.text[self.at]
            if plain := _QUOTED.match(self.text, self.at):
                self.at = plain.end()
                pieces.append(plain[0])
            elif char == '"':
                self.at += 1
                if stop:
                    return known
                pieces.append(char)
            elif char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                pieces.append("" if following == "\n" else following if following in '$`"\\' else char + following)
                self.at += 2
            else:
                known &= self._expansion(pieces, quoted=True)
        if stop:
            raise Unreadable
        return known

    def _expansion(self, pieces: list[str], *, quoted: bool) -> bool:
        """Read what begins with a dollar sign or a backtick; whether its value is known."""
        text, after = self.text, self.at + 1
        if text[self.at] == "`":
            if not (ticks := _BACKTICKS.match(text, self.at)):
                raise Unreadable
            self.at = ticks.end()
            body = re.sub(r'\\([`$\\"])' if quoted else r"\\([`$\\])", r"\1", ticks[1])
            self.keep_text(body)
            pieces.append("$()")
        elif not quoted and (ansi := _ANSI.match(text, self.at)):
            self.at = ansi.end()
            pieces.append(_ANSI_ESCAPE.sub(_unescaped, ansi[1]))
            return True
        elif not quoted and text.startswith('"', after):
            self.at = after + 1
            return self.quoted(pieces, '"')
        elif text.startswith("((", after):
            self.at = after + 2
            self.arithmetic()
            pieces.append("$()")
        elif text.startswith("(", after):
            self.at = after + 1
            self.keep_script()
            pieces.append("$()")
        elif name := _BRACED_NAME.match(text, after) or _NAME.match(text, after):
            self.at = name.end()
            pieces.append("$" + (name[1] if name.re is _BRACED_NAME else name[0]))
        elif text.startswith("{", after):
            self.at = after + 1
            self._nested("}", _BRACED)
            pieces.append("$()")
        else:
            self.at = after
            pieces.append("$")
            return not text.startswith("[", after)
        return False

    def arithmetic(self) -> None:
        self._nested("))", _ARITHMETIC)

    def _nested(self, stop: str, plain: re.Pattern[str]) -> None:
        """Go past what is no command up to `stop`, keeping the commands in it."""
        self.deeper()
        open_parentheses = 0
        while open_parentheses or not self.text.startswith(stop, self.at):
            if self.at >= len(self.text):
                raise Unreadable
            char = self.text[self.at]
            if found := plain.match(self.text, self.at):
                self.at = found.end()
            elif char in "()}":
                open_parentheses += {"(": 1, ")": -1}.get(char, 0)
                if open_parentheses < 0:
                    raise Unreadable  # "$((" that was no arithmetic after all
                self.at += 1
            elif char == "\\":
                self.at += 2
            elif char == '"':
                self.at += 1
                self.quoted([], '"')
            elif char == "'":
                # Within double quotes it is an ordinary character, elsewhere it quotes: only what is the same either
                # way is read.
                end = self.text.find("'", self.at + 1)
                if any(mark in self.text[self.at : max(end, 0)] for mark in '$`}()"\\'):
                    raise Unreadable
                self.at = end + 1 or self.at + 1
            else:
                self._expansion([], quoted=False)
        self.at += len(stop)
        self.depth -= 1

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable


def _unescaped(found: re.Match[str]) -> str:
    for digits, base in ((found[1], 16), (found[2], 16), (found[3], 16), (found[4], 8)):
        if digits:
            return chr(min(int(digits, base), 0x10FFFF))
    return _ANSI_LETTERS.get(found[5], found[5])


def without_braces(word: Word) -> list[Word]:
    """The words that a list in braces stands for; one that is not known when there are too many."""
    if not word.bare or "{" not in word.text:
        return [word]
    done: list[str] = []
    texts = [word.text]
    while texts:
        text = texts.pop()
        if found := _BRACE_LIST.search(text):
            if found[1].count(",") > MAX_BRACE_WORDS:
                return [Word(word.text, known=False)]
            texts += [text[: found.start()] + part + text[found.end() :] for part in reversed(found[1].split(","))]
        else:
            done.append(text)
        if len(texts) + len(done) > MAX_BRACE_WORDS:
            return [Word(word.text, known=False)]
    known = not any("{" in text and ".." in text for text in done)
    return [Word(text, known, True, word.glob) for text in done]
