"""What a command that an agent wants to run would change, judged by its words alone.

This decides what is asked about, not what is possible: an interpreter can do anything, whatever its words say. What
holds an agent back is its own sandbox. When in doubt the worse effect is named, and what cannot be read is
`Effect.UNKNOWN`. Linear in time; never raises.

- A fetch from a repository's remote is `NETWORK`, like any other machine that is no package index.
- A server on this machine's own loopback is `RUN`: tests talk to servers they started. Keryx's own interface lies there
  too, but answers only to a token that no agent is given.
- Running a package by its name (npx, uvx) is `PACKAGES`: installing one runs its code just the same.
- Looking at files is `READ` wherever they are, but for the well-known places of credentials: `OUTSIDE`.
- A container engine runs as root, outside any sandbox: all but looking is `OUTSIDE`.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from keryx.agents.approver import Effect
from keryx.agents.effect_call import Call, effect_of_variable
from keryx.agents.effect_paths import Place, effect_of_path, worst
from keryx.agents.effect_rules import effect_of_call
from keryx.agents.shell import MAX_DEPTH, Command, Group, Redirect, Script, Unreadable, Word, read_shell

__all__ = ["effect_of_command", "effect_of_path"]

_LOOPS = re.compile(r"\b(?:for|while|until|select|function)\b|\(\s{0,8}\)")
_KNOWN_VARIABLES = re.compile(r"(?<![${A-Za-z0-9_])(?:PWD|HOME|TMPDIR)(?![A-Za-z0-9_])")
_NETWORK_FILE = re.compile(r"/dev/(?:tcp|udp)/")
_DIRECTORIES = frozenset({"cd", "pushd", "chdir"})


def effect_of_command(command: str, inside: Path) -> Effect:
    """The worst effect of the shell line `command`, run in the directory `inside`."""
    try:
        place = inside.expanduser().resolve()
        line = _Line(command)
        return line.script(read_shell(command), Place(place, frozenset({place}), bool(_LOOPS.search(command))), 0)
    except (Unreadable, OSError, ValueError, RuntimeError):
        return Effect.UNKNOWN


class _Line:
    """One shell line, with all that is nested in it."""

    def __init__(self, text: str) -> None:
        # Where the line itself names one of these without a dollar sign, it may be given another value.
        self._renamed = bool(_KNOWN_VARIABLES.search(text))

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
        found += [self._redirect(redirect, place) for redirect in command.redirects]
        found += [effect_of_variable(name, value.text) for name, value in command.assigned]
        if command.words:
            words = [self._renewed(word) for word in command.words]
            found.append(self._words(words, place, depth, command.redirects))
        return worst(found)

    def _words(self, words: Sequence[Word], place: Place, depth: int, redirects: Sequence[Redirect] = ()) -> Effect:
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
