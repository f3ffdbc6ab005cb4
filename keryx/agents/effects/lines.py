"""Walks a shell line: what each of its commands does, and where the line has gone to by then. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from keryx.agents.approver import Effect
from keryx.agents.effects.call import Call, effect_of_variable
from keryx.agents.effects.paths import Place, worst
from keryx.agents.effects.rules import effect_of_call
from keryx.agents.effects.shell import Command, Group, Redirect, Script, read_shell
from keryx.agents.effects.words import MAX_DEPTH, Unreadable, Word

MAX_CALLS = 2000
"""In one line, however nested."""

_LOOPS = re.compile(r"\b(?:for|while|until|select|function)\b|\(\s{0,8}\)")
_KNOWN_VARIABLES = re.compile(r"(?<![${A-Za-z0-9_])(?:PWD|HOME|TMPDIR)(?![A-Za-z0-9_])")
_NETWORK_FILE = re.compile(r"/dev/(?:tcp|udp)/")
_AS_ROOT = frozenset({"sudo", "doas"})
_DIRECTORIES = frozenset({"cd", "pushd", "chdir"})


@dataclass(frozen=True)
class Deed:
    """One of the things that a shell line does."""

    effect: Effect
    words: tuple[Word, ...]
    """The program and its words, without those around it; or ">" and the path that something is written to."""


def judged(command: str, inside: Path) -> tuple[Effect, tuple[Deed, ...]]:
    """The worst effect of the shell line `command` in the directory `inside`, and all that it does."""
    line = _Line(command)
    try:
        place = inside.expanduser().resolve()
        start = Place(place, frozenset({place}), bool(_LOOPS.search(command)))
        return line.script(read_shell(command), start, 0), tuple(line.deeds)
    except (Unreadable, OSError, ValueError, RuntimeError):
        return Effect.UNKNOWN, ()


class _Line:
    """One shell line, with all that is nested in it."""

    def __init__(self, text: str) -> None:
        # Where the line itself names one of these without a dollar sign, it may be given another value.
        self._renamed = bool(_KNOWN_VARIABLES.search(text))
        self.deeds: list[Deed] = []
        self._calls = 0

    def script(self, script: Script, place: Place, depth: int) -> Effect:
        """The worst effect of all steps; `place` is where they leave the line."""
        found: list[Effect] = []
        began = place.directories
        for step in script:
            if step.before not in ("&&", ""):
                # Whatever went before may have failed half way.
                place.also(began)
                began = place.directories
            match step:
                case Group():
                    found.append(self.script(step.script, place.copy(), depth))
                case Command():
                    found.append(self._command(step, place, depth))
                case never:
                    assert_never(never)
        place.also(began)
        return worst(found)

    def _command(self, command: Command, place: Place, depth: int) -> Effect:
        found = [self.script(inner, place.copy(), depth) for inner in command.inner]
        for redirect in command.redirects:
            found.append(self._redirect(redirect, place))
            self.deeds.append(Deed(found[-1], (Word(">"), redirect.target)))
        found += [effect_of_variable(name, value.text) for name, value in command.assigned]
        if command.words:
            words = [self._renewed(word) for word in command.words]
            found.append(self._words(words, place, depth, command.redirects))
        return worst(found)

    def _words(self, words: Sequence[Word], place: Place, depth: int, redirects: Sequence[Redirect] = ()) -> Effect:
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise Unreadable
        begun = len(self.deeds)
        effect = self._call(words, place, depth, redirects)
        if words[0].text in _AS_ROOT:
            del self.deeds[begun:]
        # One that only runs another is named by what it runs.
        if not any(deed.effect is effect for deed in self.deeds[begun:]):
            self.deeds.append(Deed(effect, tuple(words)))
        return effect

    def _call(self, words: Sequence[Word], place: Place, depth: int, redirects: Sequence[Redirect]) -> Effect:
        program, rest = words[0], words[1:]
        if not program.known or program.glob or depth > MAX_DEPTH:
            return Effect.UNKNOWN
        if program.text in ("builtin", "command") and rest and rest[0].text in _DIRECTORIES:
            program, rest = rest[0], rest[1:]
        if program.text in _DIRECTORIES:
            targets = [word for word in rest if word.text == "-" or not word.text.startswith("-")]
            place.go(targets[0] if targets else None)
            return Effect.READ
        if program.text == "popd":
            place.go(Word("-"))
            return Effect.READ

        def again(others: Sequence[Word], there: Place) -> Effect:
            return self._words(others, there, depth + 1) if others else Effect.READ

        def script(text: str, there: Place) -> Effect:
            return self.script(read_shell(text, depth + 1), there, depth + 1)

        if program.text == "eval":
            if not all(word.known for word in rest):
                return Effect.UNKNOWN
            return self.script(read_shell(" ".join(word.text for word in rest), depth + 1), place, depth + 1)
        return effect_of_call(Call(program.text, tuple(rest), tuple(redirects), place, again, script))

    def _redirect(self, redirect: Redirect, place: Place) -> Effect:
        target = self._renewed(redirect.target)
        if redirect.operator in ("<<", "<<<"):
            return Effect.READ
        if _NETWORK_FILE.match(target.text):
            return Effect.NETWORK
        if redirect.operator in ("<&", ">&") and (target.text.isdigit() or target.text == "-"):
            return Effect.READ
        return place.looked_at(target) if redirect.operator in ("<", "<&") else place.effect(target)

    def _renewed(self, word: Word) -> Word:
        """`word`, with no trust in a variable that the line itself sets."""
        return Word("$()", known=False) if self._renamed and not word.known and word.text.startswith("$") else word
