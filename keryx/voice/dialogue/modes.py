"""How freely an agent shall work, as people say it: "plan only", "ask me first", "in full mode". Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from keryx.tasks.requests import MODES

_MODE_WORDS = {
    "plan": "plan|planning|planned|plane|plain",
    "ask": "ask|asking|asked|ask me|ask first",
    "auto": "auto|automatic|otto|autonomous",
    "full": "full|fool|full access|full control",
}
_MODE_ALONE = ("plan", "full")
"""Modes that need no "in", apart from the work: "fix it, plan mode"."""
_ANYTHING = r"(?:anything|any(?: of the)? (?:code|files?)|a thing|the code|something|things)"
_IT_ACTS = (
    rf"(?:(?:you|it|he|she|they) )?(?:chang(?:es?|ing)|do(?:es|ing)?|touch(?:es|ing)?|runs?|running|writ(?:es?|ing)|"
    rf"edit(?:s|ing)?|mak(?:es?|ing) (?:any |a )?changes?)(?: {_ANYTHING})?"
)
_SAID_OTHERWISE = {
    "plan": (
        r"(?:plan|planning|plain) only|(?:just|only) (?:make |write |give me |do )?(?:a )?plan(?: it| that| this)?|"
        r"(?:make|write|give me|show me|come up with|draw up)(?: me)? a plan first|"
        r"plan (?:it|that|this)(?: out)? first|"
        r"(?:dont|do not|without|never) (?:chang(?:e|ing)|touch(?:ing)?|modify(?:ing)?|edit(?:ing)?) "
        rf"{_ANYTHING}(?: yet)?|(?:dont|do not|without) mak(?:e|ing) any changes(?: yet)?|"
        r"make no changes(?: yet)?"
    ),
    "ask": (
        rf"(?:ask|check with)(?: me)? (?:first )?before (?:{_IT_ACTS}|(?:each|every|any) (?:change|step|command))|"
        rf"ask me first|(?:ask|check with) me (?:about )?(?:each|every) (?:change|step|command|time)|"
        r"run (?:everything|every change|it all) (?:by|past) me(?: first)?"
    ),
    "full": (
        r"go all the way|(?:with|in|use|using|give it|has|have) (?:the )?full (?:access|control|permissions?|rights)|"
        r"without asking me(?: (?:first|anything|for permission|for anything))?|without asking for permission|"
        r"(?:dont|do not) ask me (?:first|anything|for permission|for anything)"
    ),
}


def _any_mode() -> str:
    forms: list[str] = []
    for mode, words in _MODE_WORDS.items():
        called = rf"(?:{words}) mode(?: for (?:this|that|it)(?: one)?)?"
        forms.append(rf"(?P<{mode}_named>(?:in|using|with|use|on|to) (?:the )?{called})")
        if mode in _MODE_ALONE:
            forms.append(rf"(?P<{mode}_alone>{called})")
    forms += [rf"(?P<{mode}_said>{phrase})" for mode, phrase in _SAID_OTHERWISE.items()]
    return f"(?:{'|'.join(forms)})"


_LEADING_MODE = re.compile(rf"(?P<said>{_any_mode()})(?P<joined>(?: (?:and|but|then|to|please))*)(?: |$)")
_TRAILING_MODE = re.compile(rf"(?:^| )(?P<joined>(?:(?:and|but|please|then|so|though) )*)(?P<said>{_any_mode()})$")
MOST_LOOKED_AT = 400
"""Characters of a sentence in which "just plan" is looked for."""
_STANDS_ALONE = re.compile(r"without .+|.+ only")
"""What means the agent's mode wherever it begins or ends a sentence; the rest could be part of the work."""
_JUST_PLAN = re.compile(r"\b(?:just|only) plan (?:the|a|an|our|my|out|how|what|where|this|that|for)\b")
"""As the work's own verb: "just plan the move to Postgres"."""


@dataclass(frozen=True)
class ModeSaid:
    """A mode, and how many words it took to say."""

    mode: str
    words: int


def mode_said(text: str, *, leading: bool, paused: Callable[[int], bool]) -> ModeSaid | None:
    """The mode named at the beginning (`leading`) or the end of `text`, apart from the work itself.

    `paused`: whether there is a pause between so many words of `text`, from that end, and the others. "Go all the way"
    can be part of the work ("the bar should go all the way"), "and go all the way" is not.
    """
    match = _LEADING_MODE.match(text) if leading else _TRAILING_MODE.search(text)
    if match is None:
        return None
    mode, named = _mode_of(match)
    words = len(match[0].split())
    whole = len(match[0].strip()) >= len(text)
    if named or whole or match["joined"].strip() or _STANDS_ALONE.fullmatch(match["said"]) or paused(words):
        return ModeSaid(mode, words)
    return None


def only_to_be_planned(norm: str) -> bool:
    """Whether planning is all that is asked for: "just plan the move"."""
    return bool(_JUST_PLAN.search(norm, 0, MOST_LOOKED_AT))


def more_careful(one: str | None, other: str) -> str:
    """Of two modes that one sentence names, the one that lets an agent do less."""
    return other if one is None else min(one, other, key=MODES.index)


def _mode_of(match: re.Match[str]) -> tuple[str, bool]:
    """The mode, and whether it was called by its name as a way to work."""
    forms = (name.split("_") for name, said in match.groupdict().items() if said and "_" in name)
    mode, form = next(iter(forms))
    return mode, form == "named"
