"""Questions in words that no fixed form foresees: told by which words are in them, and by what is left. Pure."""

import re
from dataclasses import dataclass

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.names import AGENT_SOUNDS, NUMBERED, agent_pattern, task_meant
from keryx.voice.dialogue.normalise import number_in

ABOUT_AGENTS = re.compile(
    r"(?:(?:and|so|tell me|do you know) )?(?:which|what|who) (?:are )?(?:the |your |my )?(?:other )?(?:coding )?agents?"
    r"(?: (?:do you have|have you got|can you use|can i use|can i have|are there|there are|are available|can work))?"
    rf"|(?:is|are) (?:the )?(?:{agent_pattern(())}|agents?)"
    r"(?: (?:there|here|installed|ready|available|signed in|set up))+"
    rf"|do (?:you|i) have {agent_pattern(())}|who (?:else )?(?:can|could) do (?:it|that|the work)"
)
"""Asks who there is to do the work."""
ABOUT_HOW = re.compile(
    r"(?:which|what) (?:agent|model|mode)(?: is)? (?:it|that|this|on it|on that|working on it|doing it)"
    r"(?: (?:in|on|using|running|working in))?"
    r"|who is (?:on it|doing it|working on it)"
)
"""Asks how the task spoken of is done."""

_OPENERS = frozenset(
    "what whats which who whos how hows howre is are was has have had do does did any anything give get show tell"
    " list read "
    "name where wheres when let see lets going whatre there".split()
)
_STATES = {
    "running": ("running", "active", "progress", "busy", "working", "doing", "underway", "ongoing"),
    "queued": ("queued", "waiting", "pending", "queue", "line", "scheduled"),
    "done": ("done", "finished", "complete", "completed", "ready", "finish"),
    "failed": ("failed", "failing", "fail", "broken", "crashed"),
    "cancelled": ("cancelled", "canceled", "aborted"),
}
_STATE_OF = {word: state for state, words in _STATES.items() for word in words}
_LIST_CORE = (
    frozenset(
        "tasks task jobs job overview status update updates going happening open rundown news anything everything"
        " work".split()
    )
    | _STATE_OF.keys()
)
_LIST_WORDS = (
    _LIST_CORE
    | _OPENERS
    | frozenset(
        "many much i you we they my the a an of them all in on at for me us to please now right moment currently"
        " still else other "
        "others quick short brief full current recent latest new things stuff ones one up today so far yet already"
        " just been being "
        "your got with about been agents agent everybody everyone anyone anybody someone somebody list state summary"
        " going long how "
        "really actually exactly sort kind some something more and that this week morning be can could would like"
        " know hear out got while away gone since overnight night yesterday last finish".split()
    )
)
_NOT_OF_ALL = frozenset("it its that this he she".split())
_RESULT_WORDS = frozenset(
    "say said says result results outcome answer answered find found report reported turn turned out went wrong"
    " conclude "
    "concluded measured discovered learned summary error problem reason findings failed fail happened came".split()
)
_STATUS_WORDS = _STATE_OF.keys() | frozenset(
    "going coming along status state update updates news luck far stuck started start gone through pass passed work"
    " worked "
    "ended over way close looking progressing moving word latest standing success succeed succeeded getting hold"
    " hanging still "
    "yet already made make any soon eta".split()
)
_SMALL_WORDS = _OPENERS | frozenset(
    "a an the my our your that this it its of in on at to for with from about by and or we you i they he she me us"
    " been being "
    "be just now right so again once more please can could would will think expect guess reckon believe suppose got"
    " yet already still anyone anybody someone"
    " somebody "
    "everyone one task job thing work up out there as if whether not".split()
)
_NEVER_ABOUT_A_TASK = frozenset("why explain fix add write make create remove change use should".split())


def list_by_words(norm: str) -> str | None:
    """The status that a question about all tasks is limited to: every word belongs to such questions, one is its core.

    "" for every status, None when it is no such question.
    """
    words = norm.split()
    if not words or len(words) > 14 or words[0] not in _OPENERS:
        return None
    if not _LIST_WORDS.issuperset(words) or _LIST_CORE.isdisjoint(words) or not _NOT_OF_ALL.isdisjoint(words):
        return None
    return next((_STATE_OF[word] for word in reversed(words) if word in _STATE_OF), "")


_NUMBERED = re.compile(NUMBERED)
_ASKS_AFTER = re.compile(
    r"(?:what|whats|how|hows|is|isnt|are|has|hasnt|have you|was|wasnt|did|didnt|does|why|when|where|wheres|any|"
    r"anything|"
    r"tell "
    r"me|show me|give me|check|read|whether|if)\b"
)
_WANTS_WORK = re.compile(r"\b(?:should|shall|would|could|must|if we|use|used|using|like in|same as|than|similar)\b")
MOST_QUESTION_WORDS = 12


def about_number(norm: str) -> "AskedAbout | None":
    """Any short question about a task called by its number."""
    words = norm.split()
    match = _NUMBERED.search(norm)
    if match is None or len(words) > MOST_QUESTION_WORDS or not _ASKS_AFTER.match(norm) or _WANTS_WORK.search(norm):
        return None
    if re.match(r"tell me (?:when|once|as soon)\b|(?:show|give|read) me (?!.*\b(?:task|number|result|status))", norm):
        return None
    return AskedAbout(number_in(match["number"]) or 0, wants_result=not _RESULT_WORDS.isdisjoint(words))


@dataclass(frozen=True)
class AskedAbout:
    """A question about one task: how it stands, or what came of it."""

    task_id: int
    wants_result: bool


def about_task(norm: str, context: DialogueContext) -> AskedAbout | None:
    """A question in which, beside words about standing and results, there is nothing but one task's name."""
    words = norm.split()
    if not words or len(words) > 16 or words[0] not in _OPENERS or not _NEVER_ABOUT_A_TASK.isdisjoint(words):
        return None
    agents = {sound for sounds in AGENT_SOUNDS.values() for sound in sounds} | {name.lower() for name in context.agents}
    about_state = not _STATUS_WORDS.isdisjoint(words)
    about_result = not _RESULT_WORDS.isdisjoint(words)
    if not about_state and not about_result:
        return None
    name = [word for word in words if word not in _SMALL_WORDS and word not in agents]
    name = [word for word in name if word not in _STATUS_WORDS and word not in _RESULT_WORDS]
    if not name:
        return None
    unfinished = [task for task in context.tasks if not task.status.ended]
    for among in (unfinished, context.tasks):
        meant = task_meant(" ".join(name), context, among=among)
        if meant.found and meant.by == "words":
            ended = all(task.id != meant.task_id for task in unfinished)
            return AskedAbout(meant.task_id or 0, wants_result=about_result and ended)
    return None
