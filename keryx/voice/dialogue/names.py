"""Which project, agent or task somebody means, however the recogniser spelt it."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os.path import commonprefix

from rapidfuzz import fuzz

from keryx.agents.registry import CLAUDE, CODEX
from keryx.voice.dialogue.base import DialogueContext, TaskBrief
from keryx.voice.dialogue.normalise import NUMBER, ORDINAL, Heard, number_in

CALLED_A_PROJECT_FIT = 68
"""Enough where the word "project" follows and no other project is nearly as similar ("the build in project")."""
CLEARLY_BEST = 10
SLOT_FIT = 76
"""Similarity 0…100 that is enough where a project's name is certainly meant ("in the building project")."""
WORD_FIT = 86
"""Similarity 0…100 at which two words of a task's description count as the same."""

_HEARD_AS: dict[str, tuple[str, ...]] = {
    CODEX.name: (
        *("codecs", "codec", "code x", "code ex", "kodex", "codeks", "codecks", "co decks", "codexs", "code decks"),
        *("code acts", "kodaks", "codecs agent", "open ai codex", "openai codecs", "open ai codecs"),
    ),
    CLAUDE.name: (
        *("cloud code", "clawed code", "claud code", "clod code", "claude coat", "cloud coat"),
        *("clawed", "cloud", "claud", "clawd", "clod", "clode", "klaude", "klaud"),
    ),
}
AGENT_SOUNDS: dict[str, tuple[str, ...]] = {
    backend.name: (backend.name, *backend.also_called, *_HEARD_AS[backend.name]) for backend in (CODEX, CLAUDE)
} | {
    "fake": ("the demo agent", "demo agent", "the fake agent", "fake agent"),
    "gemini": ("gemini",),
    "aider": ("aider",),
    "copilot": ("copilot", "co pilot"),
    "opencode": ("opencode", "open code"),
}
"""Agents people ask for, installed or not, and what a recogniser makes of their names (spelt in normal form)."""


# --- projects -------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=512)
def _name_words(name: str) -> tuple[str, ...]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(Heard(spaced.replace("_", " ")).words)


def _skeleton(text: str) -> str:
    """Its consonants, a sign that two words sound alike ("per sir", "parser")."""
    return re.sub(r"(.)\1+", r"\1", re.sub(r"[aeiouyhw]", "", text))


def exact_project(phrase: str, projects: Sequence[str]) -> str | None:
    """The project whose name these words are, joined or apart ("mobile app" is "mobile-app"); None when none is."""
    joined = phrase.replace(" ", "")
    for project in projects:
        if "".join(_name_words(project)) == joined:
            return project
    return None


def fitting_projects(phrase: str, projects: Sequence[str], *, called_project: bool = False) -> list[str]:
    """Projects that `phrase`, said where a project's name belongs, may mean: none, one, or several to choose from."""
    if exact := exact_project(phrase, projects):
        return [exact]
    said = phrase.split()
    partly = [project for project in projects if said and set(said) <= set(_name_words(project))]
    if partly:
        return partly
    joined = "".join(said)
    scores: dict[str, float] = {}
    for project in projects:
        name = "".join(_name_words(project))
        score = fuzz.ratio(joined, name)
        if len(_skeleton(joined)) >= 3 and _skeleton(joined) == _skeleton(name):
            score = max(score, 90.0)
        scores[project] = score
    best = max(scores.values(), default=0.0)
    if best < SLOT_FIT:
        runner_up = max((score for score in scores.values() if score < best), default=0.0)
        if not called_project or best < CALLED_A_PROJECT_FIT or runner_up > best - CLEARLY_BEST:
            return []
    return [project for project, score in scores.items() if score >= best - 3]


def mentioned_projects(words: Sequence[str], projects: Sequence[str]) -> list[str]:
    """Projects whose exact name stands anywhere in `words`, in the order of their first mention."""
    if not projects:
        return []
    names = {"".join(_name_words(project)): project for project in projects}
    longest = max(len(_name_words(project)) for project in projects) + 1
    found: dict[str, None] = {}
    for start in range(len(words)):
        for size in range(1, longest + 1):
            if project := names.get("".join(words[start : start + size])):
                found.setdefault(project)
    return list(found)


# --- agents ---------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def _agent_spellings(agents: tuple[str, ...]) -> dict[str, str]:
    spellings: dict[str, str] = {}
    for name, sounds in AGENT_SOUNDS.items():
        spellings |= dict.fromkeys(sounds, name)
    for configured in agents:
        sounds = AGENT_SOUNDS.get(configured.lower(), ())
        spellings |= dict.fromkeys([" ".join(_name_words(configured)), *sounds], configured)
    return spellings


def agent_pattern(agents: Sequence[str]) -> str:
    """A regular expression for any agent's name, as it may have been heard."""
    spellings = sorted(_agent_spellings(tuple(agents)), key=len, reverse=True)
    return "(?:" + "|".join(re.escape(spelling) for spelling in spellings) + r")\b"


def agent_named(phrase: str, agents: Sequence[str]) -> str | None:
    """The agent, in its configured spelling, that a phrase matched by `agent_pattern` names."""
    return _agent_spellings(tuple(agents)).get(phrase.strip())


# --- tasks ----------------------------------------------------------------------------------------------------------

_ENDINGS = re.compile(
    r"(?:ibility|ability|ibles?|ables?|ities|ity|ments?|ness|ally|ly|ations?|ating|ated|ates?|ions?|ings?|ers?|ed|"
    r"es|e|s)$"
)
_EMPTY_WORDS = frozenset(
    "a an the my our your that this these those one ones task tasks job jobs thing work for of in on at to with"
    " from about by and "
    "or is it its project repo repository stuff please which you was were i we asked gave started me currently still "
    "running other again".split()
)
_IT = re.compile(
    r"(?:it|they|those|these|this|that|this one|that one|(?:the|this|that|my)(?: current| same| running)? (?:task|"
    r"job|one|agent|"
    r"thing|work|request)|him|her|them|things?|"
    r"(?:whatever|what|whats|the one|the one thats|the one which)(?: is| you are| youre| its| it is)?(?: currently|"
    r" still)? (?:running|doing|working on|at|going on)(?: right)?(?: now)?|"
    r"what (?:youre|you are|its|it is) (?:doing|working on|busy with))"
)
_ONE_OF_MANY = re.compile(
    r"(?:(?:any |some )?one(?: of (?:them|those|the tasks|my tasks))?|a task|some task|something|one task|"
    r"everything|all|all of (?:them|it)|all (?:the |my )?tasks|them all|both|both of them|every task|tasks|"
    r"the tasks|the others?)"
)
NUMBERED = rf"(?:(?:task|tasks|job)(?: number| no| num)?|number|the number) (?P<number>{NUMBER})(?: task| one)?"
"""A task called by its number, in normal form: "task four", "number 4"."""
_NUMBERED = re.compile(rf"(?:the )?{NUMBERED}")
# At the end of a reference a recogniser's "for" and "to" can only be numbers.
_NUMBER_SOUNDS = {"for": 4, "fore": 4, "to": 2, "too": 2, "won": 1, "ate": 8, "tree": 3}
_NUMBERED_BY_SOUND = re.compile(rf"(?:task|number|task number) (?P<sound>{'|'.join(_NUMBER_SOUNDS)})")
_ORDERED = re.compile(
    rf"(?:the |my |that |this )?(?P<ordinal>{ORDINAL}|second to last|next to last|last but one|penultimate|last|"
    rf"latest|newest|most recent|oldest|earliest)(?: one| task|"
    rf" job| request| thing| of them)?"
    r"(?: in the list| on the list| you (?:said|mentioned|named|listed)| i (?:asked for|asked you for|gave you|"
    r"started))?"
)


@dataclass(frozen=True)
class Meant:
    """Which task a phrase means: `task_id`; or several in `which`; or neither, when it names none."""

    task_id: int | None = None
    which: tuple[int, ...] = ()
    by: str = ""
    """How it was named: "number", "it", "order", "words", "any"; "" when it was not."""

    @property
    def found(self) -> bool:
        return self.task_id is not None


NOBODY = Meant()


@functools.lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    short = _ENDINGS.sub("", word)
    return short if len(short) >= 3 else word


def _same_word(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    if shorter >= 5 and len(commonprefix([one, other])) >= (shorter if shorter < 6 else max(6, 0.8 * shorter)):
        return True  # "reconciliation" and "reconcile"
    return _stem(one) == _stem(other) or (min(len(one), len(other)) >= 4 and fuzz.ratio(one, other) >= WORD_FIT)


def _content(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in _EMPTY_WORDS]


def _share(said: Sequence[str], known: Sequence[str]) -> float:
    joined = "".join(known)
    hits = sum(
        1 for word in said if any(_same_word(word, other) for other in known) or (len(word) >= 7 and word in joined)
    )
    return hits / len(said) if said else 0.0


def task_meant(
    phrase: str, context: DialogueContext, *, among: Sequence[TaskBrief] | None = None, least: float = 1.0
) -> Meant:
    """Which task `phrase` (in normal form) means.

    `among` are the tasks it can sensibly mean, all by default; a number may still name another. `least` is the share
    of the phrase's words, 0…1, that a task's description must hold.
    """
    candidates = list(context.tasks if among is None else among)
    ids = [task.id for task in candidates]
    if numbered := _NUMBERED.fullmatch(phrase):
        return Meant(number_in(numbered["number"]), by="number")
    if sounded := _NUMBERED_BY_SOUND.fullmatch(phrase):
        return Meant(_NUMBER_SOUNDS[sounded["sound"]], by="number")
    if (
        phrase != "one"
        and re.fullmatch(NUMBER, phrase)
        and (number := number_in(phrase)) in {task.id for task in context.tasks}
    ):
        return Meant(number, by="number")
    if _IT.fullmatch(phrase):
        return it_meant(context, candidates)
    if _ONE_OF_MANY.fullmatch(phrase):
        return Meant(ids[0], by="any") if len(ids) == 1 else Meant(which=tuple(ids), by="any")
    if ordered := _ORDERED.fullmatch(phrase):
        by_its_number = Meant(number_in(ordered["ordinal"]), by="number")
        if re.search(r"\b(?:task|job)$", phrase) and by_its_number.task_id in {task.id for task in context.tasks}:
            return by_its_number
        return _by_order(ordered["ordinal"], candidates, context)
    return _by_words(phrase, candidates, context.focus, least)


def it_meant(context: DialogueContext, among: Sequence[TaskBrief]) -> Meant:
    """What "it" means: the task in focus, else the only one there is, else one of several."""
    if context.focus is not None:
        return Meant(context.focus, by="it")
    ids = tuple(task.id for task in among)
    return Meant(ids[0], by="it") if len(ids) == 1 else Meant(which=ids, by="it")


def _by_order(ordinal: str, candidates: Sequence[TaskBrief], context: DialogueContext) -> Meant:
    ids = [task.id for task in candidates] or [task.id for task in context.tasks]
    if not ids:
        return Meant(by="order")
    if ordinal in ("last", "latest", "newest", "most recent"):
        return Meant(max(ids), by="order")
    if ordinal in ("second to last", "next to last", "last but one", "penultimate"):
        return Meant(sorted(ids)[-2] if len(ids) > 1 else ids[0], by="order")
    if ordinal in ("oldest", "earliest"):
        return Meant(min(ids), by="order")
    place = number_in(ordinal) or 0
    # The order they were told in; beyond the last of them the number can only be the task's own.
    return Meant(ids[place - 1] if 1 <= place <= len(ids) else place, by="order")


def _by_words(phrase: str, candidates: Sequence[TaskBrief], focus: int | None, least: float) -> Meant:
    said = _content(phrase.split())
    if not said:
        return NOBODY
    best: list[int] = []
    best_score = 0.0
    for task in candidates:
        described = _content(Heard(task.description).words)
        share = _share(said, described)
        with_project = _share(said, [*described, *_name_words(task.project or "")])
        if with_project < least:
            continue
        score = with_project + share / 2
        if score > best_score + 1e-9:
            best, best_score = [task.id], score
        elif score > best_score - 1e-9:
            best.append(task.id)
    if not best:
        return NOBODY
    if len(best) == 1:
        return Meant(best[0], by="words")
    return Meant(focus, by="words") if focus in best else Meant(which=tuple(best), by="words")
