"""What narrows a question about mail or the calendar: from or with whom, about what, when, for how long. Pure."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.lookups.clock_said import LENGTH
from keryx.voice.dialogue.lookups.spans import names_time
from keryx.voice.dialogue.names import agent_pattern, exact_project
from keryx.voice.dialogue.normalise import Heard

MOST_WORDS = 28
"""A longer sentence is no question about mail or the calendar."""
_TIME_WORDS = 9
_NAME_WORDS = 4
_SUBJECT_WORDS = 12

_IDLE = re.compile(
    r"please|thanks|thank you|for me|then|at all|yet|already|so far|again|right now|now|or so|too|as well|"
    r"at the moment|(?:in|to|on) my (?:inbox|mailbox|mail|email|calendar|diary|agenda|schedule)"
)
_LENGTH = re.compile(LENGTH)
_NOBODY = frozenset(
    "it this that these those you i we me us them everything something nothing anything task tasks agent agents one"
    " which what who all".split()
)
_DETERMINERS = frozenset("the a an this that these those its your their any all every each some no our".split())
_ANYBODY = frozenset("anyone anybody someone somebody people".split())


@dataclass(frozen=True)
class Qualifiers:
    """What was said beside the question itself. `who`, `about` in the caller's own letters; the rest in normal form."""

    who: str = ""
    about: str = ""
    when: str = ""
    length: str = ""


def qualifiers_in(heard: Heard, start: int, end: int | None = None) -> Qualifiers | None:
    """What the words from `start` to `end` narrow a question by; None when something else is among them."""
    end = len(heard.words) if end is None else end
    if end - start > MOST_WORDS:
        return None
    return next(_readings(heard, start, end, Qualifiers()), None)


def _readings(heard: Heard, start: int, end: int, so_far: Qualifiers) -> Iterator[Qualifiers]:
    """Every way to read the rest, the likeliest first."""
    if start == end:
        yield so_far
        return
    words = heard.words
    if not so_far.when:
        for stop in range(min(end, start + _TIME_WORDS), start, -1):
            if is_time(" ".join(words[start:stop])):
                yield from _readings(heard, stop, end, replace(so_far, when=" ".join(words[start:stop])))
    for stop in range(min(end, start + 3), start, -1):
        if _IDLE.fullmatch(" ".join(words[start:stop])):
            yield from _readings(heard, stop, end, so_far)
    match words[start]:
        case "from" | "by" | "with" if not so_far.who:
            for stop in range(start + 2, min(end, start + 1 + _NAME_WORDS) + 1):
                who = as_said(heard, start + 1, stop)
                yield from _readings(heard, stop, end, replace(so_far, who=who))
        case "about" | "regarding" | "concerning" if not so_far.about:
            for stop in range(start + 2, min(end, start + 1 + _SUBJECT_WORDS) + 1):
                about = as_said(heard, start + 1, stop)
                yield from _readings(heard, stop, end, replace(so_far, about=about))
        case "for" if not so_far.length:
            for stop in range(min(end, start + 7), start + 1, -1):
                if _LENGTH.fullmatch(length := " ".join(words[start + 1 : stop])):
                    yield from _readings(heard, stop, end, replace(so_far, length=length))
        case _:
            return


is_time = functools.lru_cache(maxsize=4096)(names_time)


def as_said(heard: Heard, start: int, end: int) -> str:
    """These words in the caller's own letters, without the marks around them."""
    return heard.original(start, end).strip(" \t,.;:?!\"'’")


def is_somebody(who: str, context: DialogueContext, *, or_house: bool = False) -> bool:
    """Whether it may be a person's name: no thing, no agent, no project. `or_house`: "the bank" may write too."""
    words = Heard(who).words
    if or_house and words[:1] in (["the"], ["our"]):
        words = words[1:]
    if not words or len(words) > _NAME_WORDS or not _NOBODY.isdisjoint(words) or words[0] in _DETERMINERS:
        return False
    norm = " ".join(words)
    if re.fullmatch(agent_pattern(context.agents), norm) or exact_project(norm, context.projects):
        return False
    return not any(word.isdigit() for word in words)


def is_anybody(who: str) -> bool:
    """Whether it means whoever it was: "has anyone written"."""
    return who.lower() in _ANYBODY


def without_possessive(heard: Heard, start: int, end: int) -> str:
    """ "Anna" of "Anna's"; "Chris" of "Chris'"."""
    said = as_said(heard, start, end)
    bare = re.sub(r"['’]s$", "", said)
    if bare != said or re.search(r"s['’]", heard.original(start, end)):
        return bare
    return re.sub(r"(?<=\w\w)s$", "", said)
