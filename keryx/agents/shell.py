"""Reads a shell line into its commands: what is quoted, what is only known when it runs, what is nested. Pure.

It follows the grammar of POSIX sh with the additions of bash that agents write: https://www.gnu.org/software/bash/manual.
Every character is read once for each level of nesting, and the levels are bounded. Words are all that is looked at.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_CHARS = 100_000
MAX_DEPTH = 12
MAX_WORDS = 5000
"""In one command."""
MAX_BRACE_WORDS = 64

_SPACE = re.compile(r"(?:[ \t\r]|\\\n)+|#[^\n]*")
_PLAIN = re.compile(r"[^ \t\r\n'\"\\$`<>|&;()]+")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;&|;&|;;|[;&|()]")
_REDIRECT = re.compile(r"(?:\d{1,4}|\{\w+\})?(<<<|<<-|<<|<>|<&|>>|>\||>&|&>>|&>|>(?!\()|<(?!\())")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]\n$`]*\])?\+?=")
_FUNCTION = re.compile(r"\([ \t]*\)")
_ESAC = re.compile(r"esac(?![^ \t\r\n;&|)])")
_TIME_OPTION = re.compile(r"-p(?=[ \t])")
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
_BRACE_LIST = re.compile(r"\{([^{},]*+,[^{}]*+)\}")
_RESERVED = frozenset("if then elif else fi do done while until ! { }".split())


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


@dataclass(frozen=True)
class Redirect:
    operator: str
    target: Word
    """A path, or for `<<` and `<<<` the text itself."""


@dataclass(frozen=True)
class Command:
    """One simple command, or what is left of a compound one: redirections, substitutions."""

    before: str
    """The operator that joins it to the step before it: "", "|", "&&", "||" or ";"."""
    words: Sequence[Word] = ()
    assigned: Sequence[tuple[str, Word]] = ()
    redirects: Sequence[Redirect] = ()
    inner: Sequence["Script"] = ()
    """What runs while its words are made."""


@dataclass(frozen=True)
class Group:
    """Commands in parentheses: where they go to does not outlast them."""

    before: str
    script: "Script"


Script = tuple[Command | Group, ...]


def read_shell(text: str, depth: int = 0) -> Script:
    """The steps of `text`, in order. `depth`: how many lines this one is nested in. Raises `Unreadable`."""
    if len(text) > MAX_CHARS or "\0" in text:
        raise Unreadable
    return _Reader(text, depth).script()


@dataclass
class _Heredoc:
    ends_with: str
    tabs_off: bool
    expands: bool
    redirects: list[Redirect]
    inner: list[Script]


@dataclass
class _Reader:
    text: str
    depth: int
    at: int = 0
    cases: int = 0
    inner: list[Script] = field(default_factory=list)
    heredocs: list[_Heredoc] = field(default_factory=list)

    def script(self, stop: str = "") -> Script:
        """Read up to `stop`, which is ")" or the end of the text."""
        self._deeper()
        outer, self.inner, cases, self.cases = self.inner, [], self.cases, 0
        loose = self.inner
        steps: list[Command | Group] = []
        before = ""
        while True:
            self._skip()
            if self.at >= len(self.text):
                if stop:
                    raise Unreadable
                break
            if self.text[self.at] == "\n":
                self._newline()
                before = ";"
            elif operator := _OPERATOR.match(self.text, self.at):
                self.at = operator.end()
                if operator[0] == ")":
                    if not stop:
                        raise Unreadable
                    break
                before = self._operator(operator[0], before, steps)
            else:
                steps.append(self._command(before))
                before = ""
        if loose:
            steps.append(Command(";", inner=loose))
        self.inner, self.cases = outer, cases
        self.depth -= 1
        return tuple(steps)

    def _operator(self, operator: str, before: str, steps: list[Command | Group]) -> str:
        """Go past an operator between commands; what joins the next step."""
        if operator == "(":
            if self.text.startswith("(", self.at):
                self.at += 1
                self._arithmetic()
            else:
                steps.append(Group(before, self.script(")")))
            return ""
        if operator.startswith(";") and len(operator) > 1:
            if not self.cases:
                raise Unreadable
            self._pattern()
        return {"|&": "|", "|": "|", "&&": "&&", "||": "||"}.get(operator, ";")

    def _command(self, before: str) -> Command:
        words: list[Word] = []
        assigned: list[tuple[str, Word]] = []
        redirects: list[Redirect] = []
        outer, self.inner = self.inner, []
        while True:
            self._skip()
            if self.at >= len(self.text) or self.text[self.at] == "\n":
                break
            if redirect := _REDIRECT.match(self.text, self.at):
                self.at = redirect.end()
                self._redirect(redirect[1], redirects)
            elif _OPERATOR.match(self.text, self.at):
                if not self._parenthesis(words, assigned):
                    break
            elif not words and (assignment := _ASSIGNMENT.match(self.text, self.at)):
                self.at = assignment.end()
                assigned.append((assignment[1], self._word() or Word("")))
            else:
                word = self._word()
                if word is None or len(words) > MAX_WORDS:
                    raise Unreadable
                if words or not word.bare or not self._reserved(word.text):
                    words += _without_braces(word)
        command = Command(before, words, assigned, redirects, self.inner)
        self.inner = outer
        return command

    def _reserved(self, word: str) -> bool:
        """Go past a word of the grammar at the beginning of a command; whether it was one."""
        match word:
            case "case":
                self._skip()
                self._word()
                self._skip(lines=True)
                if self._word() != Word("in", bare=True):
                    raise Unreadable
                self.cases += 1
                self._pattern()
            case "function":
                self._skip()
                self._word()
                self._skip()
                if parentheses := _FUNCTION.match(self.text, self.at):
                    self.at = parentheses.end()
            case "time":
                self._skip()
                if dashed := _TIME_OPTION.match(self.text, self.at):
                    self.at = dashed.end()
            case "[[":
                while (found := self._word()) != Word("]]", bare=True):
                    if found is None:
                        self.at += 1
                    if self.at >= len(self.text):
                        raise Unreadable
            case _:
                return word in _RESERVED
        return True

    def _parenthesis(self, words: list[Word], assigned: list[tuple[str, Word]]) -> bool:
        """Go past a parenthesis that belongs to a command: a function's, a list's, a counting loop's."""
        if words and (function := _FUNCTION.match(self.text, self.at)):
            self.at = function.end()
            words.clear()
            return True
        if [word.text for word in words] == ["for"] and self.text.startswith("((", self.at):
            self.at += 2
            self._arithmetic()
            return True
        if assigned and not words and self.text[self.at] == "(" and self.text[self.at - 1] == "=":
            self.at += 1
            while not self.text.startswith(")", self.at):
                self._skip(lines=True)
                if self._word() is None and not self.text.startswith(")", self.at):
                    raise Unreadable
            self.at += 1
            return True
        return False

    def _pattern(self) -> None:
        """Go past one pattern of a `case`, or its end."""
        self._skip(lines=True)
        if esac := _ESAC.match(self.text, self.at):
            self.at = esac.end()
            self.cases -= 1
            return
        while not self.text.startswith(")", self.at):
            if self.text[self.at : self.at + 1] in ("|", "("):
                self.at += 1
            elif self._word() is None:
                raise Unreadable
            self._skip()
        self.at += 1

    def _redirect(self, operator: str, redirects: list[Redirect]) -> None:
        self._skip()
        start = self.at
        target = self._word()
        if target is None:
            raise Unreadable
        if operator in ("<<", "<<-"):
            quoted = any(mark in self.text[start : self.at] for mark in "'\"\\")
            self.heredocs.append(_Heredoc(target.text, operator == "<<-", not quoted, redirects, self.inner))
        else:
            redirects.append(Redirect(operator, target))

    def _newline(self) -> None:
        """Go past the end of a line, and past the texts that were announced on it."""
        self.at += 1
        for heredoc in self.heredocs:
            body: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line, self.at = self.text[self.at : end], end + 1
                line = line.lstrip("\t") if heredoc.tabs_off else line
                if line == heredoc.ends_with:
                    break
                body.append(line + "\n")
            known = True
            if heredoc.expands:
                reader = _Reader("".join(body), self.depth)
                known = reader.quoted([], "")
                heredoc.inner += reader.inner
            heredoc.redirects.append(Redirect("<<", Word("".join(body), known)))
        self.heredocs.clear()

    def _word(self) -> Word | None:
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
                self.inner.append(self.script(")"))
                pieces.append("$()")
                known = False
            else:
                break
        if self.at == start:
            return None
        unquoted, text = "".join(bare), "".join(pieces)
        braces = "{" in unquoted and ("," in unquoted or ".." in unquoted) and "}" in unquoted
        whole = len(bare) == len(pieces)
        glob = any(mark in unquoted for mark in "*?[")
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
            self.inner.append(_Reader(body, self.depth).script())
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
            self._arithmetic()
            pieces.append("$()")
        elif text.startswith("(", after):
            self.at = after + 1
            self.inner.append(self.script(")"))
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

    def _arithmetic(self) -> None:
        self._nested("))", _ARITHMETIC)

    def _nested(self, stop: str, plain: re.Pattern[str]) -> None:
        """Go past what is no command up to `stop`, keeping the commands in it."""
        self._deeper()
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

    def _skip(self, *, lines: bool = False) -> None:
        """Go past blanks and a comment; with `lines` past line ends too."""
        while True:
            if space := _SPACE.match(self.text, self.at):
                self.at = space.end()
            elif lines and self.text.startswith("\n", self.at):
                self._newline()
            else:
                return

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable


def _unescaped(found: re.Match[str]) -> str:
    for digits, base in ((found[1], 16), (found[2], 16), (found[3], 16), (found[4], 8)):
        if digits:
            return chr(min(int(digits, base), 0x10FFFF))
    return _ANSI_LETTERS.get(found[5], found[5])


def _without_braces(word: Word) -> list[Word]:
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
