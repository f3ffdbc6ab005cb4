"""What a program does by what the tables say of it and of its first words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from keryx.agents.approver import Effect
from keryx.agents.effects import subcommands, table
from keryx.agents.effects.call import Call, effect_of_variable
from keryx.agents.effects.paths import worst
from keryx.agents.effects.words import Word

_SPOILED = frozenset({"{}", "$()"})
_REPOSITORY = re.compile(r"(?![.~@/])[\w.-]+/[\w.-]+(?:#.*)?$")
"""Short for a repository on GitHub, where a package is expected."""


def plain(call: Call, program: str) -> Effect:
    """A program that the tables know as a whole, or not at all."""
    effect = table.PROGRAMS.get(program, Effect.RUN)
    if program.startswith("mkfs."):
        effect = Effect.OUTSIDE
    if effect is Effect.RUN:
        if program in table.TASK_RUNNERS and any(table.PUBLISHES.search(w.text) for w in call.positional()):
            return Effect.PUSH
        return worst((effect, *outputs(call)))
    return effect


def outputs(call: Call) -> Iterator[Effect]:
    """Where the options say that something is written."""
    for at, word in enumerate(call.words):
        if found := table.OUTPUT_OPTION.match(word.text):
            if found[1] is not None:
                yield call.place.effect(replace(word, text=found[1]))
            elif following := call.words[at + 1 : at + 2]:
                yield call.place.effect(following[0])


def subcommand(call: Call, program: str) -> Effect:
    """A program whose first words say what it does: "git push", "pip install"."""
    valued = subcommands.VALUED.get(program, frozenset())
    words = call.positional(valued)
    if runner := _runner(call, program, words):
        return runner
    if not words:
        return subcommands.BARE.get(program, Effect.READ) if not call.has("-[ep]|--eval") else Effect.RUN
    texts = [word.text for word in words]
    found = _listed(program, texts)
    if found is None:
        if not words[0].known or words[0].glob:
            return Effect.UNKNOWN
        # An option nobody here knows may have taken the first word: every word may be the subcommand.
        guessed = [_listed(program, texts[at:]) for at in range(1, min(len(texts), 8))]
        strange = call.words[0].text.startswith("-")
        found = worst((subcommands.OTHERWISE.get(program, Effect.RUN), *(g for g in guessed if g and strange)))
    if found is Effect.PACKAGES:
        found = _packages(call)
    if found is Effect.RUN and program in table.TASK_RUNNERS:
        before_dashes = texts[: len(texts) - _after_dashes(call)]
        if any(table.PUBLISHES.search(text) for text in before_dashes):
            return Effect.PUSH
    return found


def _after_dashes(call: Call) -> int:
    texts = [word.text for word in call.words]
    return len(texts) - texts.index("--") - 1 if "--" in texts else 0


def _listed(program: str, texts: Sequence[str]) -> Effect | None:
    """What the longest listed subcommand that `texts` begin with does."""
    for length in (2, 1):
        if found := subcommands.SUBCOMMANDS.get((program, *texts[:length])):
            return found
    return None


def _packages(call: Call) -> Effect:
    """An installation: of the project and from the usual place, or not."""
    found = [Effect.PACKAGES]
    if call.program in ("pip", "uv"):
        found += [call.place.effect(word) for word in call.values("--target", "--prefix", "--root", "-t")]
        found += [Effect.NETWORK for _ in call.values("-i", "-f")]
    if call.program in ("npm", "yarn", "npx"):
        found += [Effect.NETWORK for word in call.positional()[1:] if _REPOSITORY.match(word.text)]
    for word in call.words:
        if table.MACHINE_WIDE.match(word.text):
            found.append(Effect.OUTSIDE)
        if table.OTHER_SOURCE.match(word.text) or table.REMOTE_PACKAGE.search(word.text):
            found.append(Effect.NETWORK)
    return worst(found)


def _runner(call: Call, program: str, words: Sequence[Word]) -> Effect | None:
    """A program that runs the rest of its line; None when it does not this time."""
    ways, effect = table.RUNNERS.get(program, ((), Effect.RUN))
    texts = [word.text for word in words[:2]]
    for way in ways:
        own = way.split()
        if texts[: len(own)] != own:
            continue
        rest = list(call.words)
        for part in own:
            rest = rest[next(at for at, word in enumerate(rest) if word.text == part) + 1 :]
        while rest and rest[0].text.startswith("-"):
            takes = 2 if rest[0].text in table.RUNNER_VALUED else 1
            rest = rest[takes:]
        floor = _packages(call) if effect is Effect.PACKAGES else effect
        if not rest:
            return floor
        if len(rest) == 1 and " " in rest[0].text:
            return worst((floor, call.script(rest[0].text) if rest[0].known else Effect.UNKNOWN))
        named = rest[0].text.partition("@")[0] or rest[0].text  # without its version
        return worst((floor, call.again([replace(rest[0], text=named), *rest[1:]])))
    return None


def wrapped(call: Call, program: str) -> Effect:
    """A program that runs another one: what that does, and at least what it does itself."""
    options, own_words = table.WRAPPERS[program]
    valued = frozenset(options.split())
    rest = list(call.words)
    replaced = program == "xargs" and call.has("-I.*|-i.*|--replace")
    effect = table.PROGRAMS.get(program, Effect.READ)
    if program == "env" and call.has("-[a-zA-Z0]+S.*"):
        return Effect.UNKNOWN  # "-iS" and its like: where the line begins depends on the letters before it
    for text in (word for word in call.values("-S", "--split-string") if program == "env"):
        effect = worst((effect, call.script(text.text) if text.known else Effect.UNKNOWN))
    if program == "command" and call.has("-[vV]"):
        return effect
    while rest:
        if rest[0].text == "--":
            rest = rest[1:]
            break
        if rest[0].text.startswith("-") and len(rest[0].text) > 1:
            rest = rest[2 if rest[0].text in valued else 1 :]
        elif program in ("env", "sudo", "doas") and re.match(r"\w+=", rest[0].text):
            name, _, value = rest[0].text.partition("=")
            effect = worst((effect, effect_of_variable(name, value)))
            rest = rest[1:]
        elif own_words:
            rest, own_words = rest[1:], own_words - 1
        else:
            break
    if not rest:
        return effect
    if program == "watch":
        return worst((effect, call.script(" ".join(word.text for word in rest))))
    if program == "xargs":
        spoiled = Word("$()", known=False)
        placeholders = {word.text for word in call.values("-I")} | {"{}"} if replaced else set[str]()
        rest = [spoiled if any(p and p in word.text for p in placeholders) else word for word in rest]
        rest = rest if replaced else [*rest, spoiled]
    return worst((effect, call.again(rest)))


def shell(call: Call) -> Effect:
    """A shell: what its script does; `Effect.UNKNOWN` when that is made only when it runs."""
    found: list[Effect] = [Effect.RUN]
    words = iter(call.words)
    for word in words:
        if re.match(r"-[a-zA-Z]*c[a-zA-Z]*$", word.text):
            script = next((text for text in words if not text.text.startswith("-")), None)
            if script is None or not script.known or any(mark in script.text for mark in _SPOILED):
                return Effect.UNKNOWN
            return worst((Effect.READ, call.script(script.text)))
        if word.text in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
            next(words, None)
        elif not word.known:
            return Effect.UNKNOWN
        elif not word.text.startswith(("-", "+")):
            return Effect.UNKNOWN if word.text.startswith("/dev/") else Effect.RUN
    for redirect in call.redirects:
        if redirect.operator in ("<<", "<<<"):
            found.append(call.script(redirect.target.text) if redirect.target.known else Effect.UNKNOWN)
    return worst(found) if len(found) > 1 else Effect.UNKNOWN


def interpreter(call: Call) -> Effect:
    """Python and its like run anything; only a module that is a known program says more."""
    for at, word in enumerate(call.words):
        if word.text == "-m" and call.program in ("python", "pypy"):
            return worst((Effect.RUN, call.again(call.words[at + 1 :])))
        if not word.text.startswith("-") or word.text == "-c":
            break
    if call.words and all(word.text in ("--version", "-V", "-v", "--help", "-h") for word in call.words):
        return Effect.READ
    return worst((Effect.RUN, *outputs(call)))


def written(call: Call, which: str) -> Effect:
    """A program that writes to the paths it is given."""
    words = call.positional()
    # "cp -rt there a b" and "install -d a b" write to others than the last.
    if which == table.LAST_PATH and not call.has("-[a-zA-Z]*[td].*|--target-directory|--directory"):
        words = words[-1:]
    aimed = call.values("--target-directory")
    return worst((Effect.CHANGE, *(call.place.effect(word) for word in (*words, *aimed))))
