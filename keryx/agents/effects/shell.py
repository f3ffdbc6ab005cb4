"""Reads a shell line into its commands: what is quoted, what is only known when it runs, what is nested. Pure.

It follows the grammar of POSIX sh with the additions of bash that agents write: https://www.gnu.org/software/bash/manual.
Every character is read once for each level of nesting, and the levels are bounded. Words are all that is looked at.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from keryx.agents.effects.words import Unreadable, Word, WordReader, without_braces

MAX_CHARS = 100_000
MAX_WORDS = 5000
"""In one command."""

_SPACE = re.compile(r"(?:[ \t\r]|\\\n)+|#[^\n]*")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;&|;&|;;|[;&|()]")
_REDIRECT = re.compile(r"(?:\d{1,4}|\{\w+\})?(<<<|<<-|<<|<>|<&|>>|>\||>&|&>>|&>|>(?!\()|<(?!\())")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]\n$`]*\])?\+?=")
_FUNCTION = re.compile(r"\([ \t]*\)")
_ESAC = re.compile(r"esac(?![^ \t\r\n;&|)])")
_TIME_OPTION = re.compile(r"-p(?=[ \t])")
_RESERVED = frozenset("if then elif else fi do done while until ! { }".split())


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
class _Reader(WordReader):
    cases: int = 0
    inner: list[Script] = field(default_factory=list)
    heredocs: list[_Heredoc] = field(default_factory=list)

    def script(self, stop: str = "") -> Script:
        """Read up to `stop`, which is ")" or the end of the text."""
        self.deeper()
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

    def keep_script(self) -> None:
        self.inner.append(self.script(")"))

    def keep_text(self, text: str) -> None:
        self.inner.append(_Reader(text, self.depth).script())

    def _operator(self, operator: str, before: str, steps: list[Command | Group]) -> str:
        """Go past an operator between commands; what joins the next step."""
        if operator == "(":
            if self.text.startswith("(", self.at):
                self.at += 1
                self.arithmetic()
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
                assigned.append((assignment[1], self.word() or Word("")))
            else:
                word = self.word()
                if word is None or len(words) > MAX_WORDS:
                    raise Unreadable
                if words or not word.bare or not self._reserved(word.text):
                    words += without_braces(word)
        command = Command(before, words, assigned, redirects, self.inner)
        self.inner = outer
        return command

    def _reserved(self, word: str) -> bool:
        """Go past a word of the grammar at the beginning of a command; whether it was one."""
        match word:
            case "case":
                self._skip()
                self.word()
                self._skip(lines=True)
                if self.word() != Word("in", bare=True):
                    raise Unreadable
                self.cases += 1
                self._pattern()
            case "function":
                self._skip()
                self.word()
                self._skip()
                if parentheses := _FUNCTION.match(self.text, self.at):
                    self.at = parentheses.end()
            case "time":
                self._skip()
                if dashed := _TIME_OPTION.match(self.text, self.at):
                    self.at = dashed.end()
            case "[[":
                while (found := self.word()) != Word("]]", bare=True):
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
            self.arithmetic()
            return True
        if assigned and not words and self.text[self.at] == "(" and self.text[self.at - 1] == "=":
            self.at += 1
            while not self.text.startswith(")", self.at):
                self._skip(lines=True)
                if self.word() is None and not self.text.startswith(")", self.at):
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
            elif self.word() is None:
                raise Unreadable
            self._skip()
        self.at += 1

    def _redirect(self, operator: str, redirects: list[Redirect]) -> None:
        self._skip()
        start = self.at
        target = self.word()
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

    def _skip(self, *, lines: bool = False) -> None:
        """Go past blanks and a comment; with `lines` past line ends too."""
        while True:
            if space := _SPACE.match(self.text, self.at):
                self.at = space.end()
            elif lines and self.text.startswith("\n", self.at):
                self._newline()
            else:
                return
