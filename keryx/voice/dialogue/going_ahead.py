"""What mode a follow-up asks for: by name, or by letting a plan be carried out ("go ahead", "do it"). Pure."""

import re
from collections.abc import Callable

from keryx.voice.dialogue import smalltalk
from keryx.voice.dialogue.base import DialogueContext, TaskBrief
from keryx.voice.dialogue.modes import mode_said, more_careful
from keryx.voice.dialogue.names import NUMBERED
from keryx.voice.dialogue.normalise import Heard

CARRIED_OUT_IN = "auto"
"""The mode that a plan is carried out in when none is named."""
MOST_WORDS = 16
"""A longer text may hold such words without meaning them."""

_IT = r"(?:it|that|this|so|them|all of (?:it|that)|the whole thing|everything|(?:the|that|your|this) plan)"
_GO = (
    rf"go ahead(?: (?:with|and do) {_IT})?|go for it|do (?:it|that|so|all of (?:it|that)|the whole thing)|"
    rf"carry {_IT} out|carry out {_IT}|make it so|(?:implement|execute|build|apply|realise|realize) {_IT}|"
    rf"proceed(?: with {_IT})?|carry on(?: with {_IT})?|(?:make|do|apply) (?:the|those|these|all the) changes|"
    rf"get (?:on with it|started(?: (?:on|with) {_IT})?|going(?: with {_IT})?)|start(?: (?:on|with))? {_IT}|"
    rf"put {_IT} into (?:action|practice)|run with {_IT}|please do|go on(?: with {_IT})?|"
    r"you (?:can|may) (?:start|begin|go ahead)(?: now)?"
)
_AROUND = (
    r"yes|yeah|yep|sure|okay|ok|please|great|good|perfect|fine|now|then|alright|all right|right|and|so|well|just|"
    r"(?:that |it )?(?:sounds|looks) (?:good|great|fine|right)|i like (?:it|that|the plan)|lets|let us|"
    r"(?:can|could|would|will) you|you (?:can|may|should)|tell (?:it|him|her|them) to|(?:let|have|make|get) "
    r"(?:it|him|her|them)(?: to)?|thanks|thank you|for me|as (?:planned|you (?:said|planned)|described)|exactly|"
    rf"right away|the way you planned it|(?:with|for|on|to) {NUMBERED.replace('?P<number>', '?:')}|to|"
    r"(?:in|with) (?:ask|auto|automatic|full) mode"
)
_IN_PART = r"(?: (?:but|only|except|starting|beginning|and) .{1,80})?"
_GOES_AHEAD = re.compile(rf"(?:(?:{_AROUND})(?: |$))*(?:{_GO})(?: (?:{_GO}|{_AROUND}))*{_IN_PART}")
_OFFERS = re.compile(
    r"\b(?:carry|carried) (?:\w+ ){0,4}out|\bcarry out\b|\bgo ahead\b|\b(?:shall|should|may|can) (?:i|it|we) "
    r"(?:do|make|start|begin|proceed|implement|apply|go|build|change|execute)\b|\bproceed\b|\bimplement\b|"
    r"\b(?:want|like) (?:me|it) to (?:do|make|start|begin|proceed|implement|apply|go|build|execute)\b"
)


def mode_wanted(text: str, context: DialogueContext, task_id: object) -> str | None:
    """The mode that a follow-up to a task asks for; None when it leaves the task's own.

    A refusal anywhere lets it do nothing more than before. A mere yes counts where the question was whether to carry a
    plan out. A task that asks for every effect is let go by plain words too: nobody can be asked while it works.
    """
    heard = Heard(text)
    if len(heard.words) > MOST_WORDS:
        return None
    named = _mode_named(heard)
    if named in ("plan", "ask") or (named and not smalltalk.says_no(heard.words)):
        return named
    task = next((task for task in context.tasks if task.id == task_id), None)
    if task is None or task.mode not in ("plan", "ask") or smalltalk.says_no(heard.words):
        return None
    says_yes = task.mode == "plan" and smalltalk.YES.fullmatch(heard.norm) and offers_to_carry_out(context.question)
    return CARRIED_OUT_IN if says_yes or goes_ahead(heard.norm) else None


def _mode_named(heard: Heard) -> str | None:
    """The mode called by its name at either end; of two, the more careful one."""
    mode = None
    count = len(heard.words)
    for leading in (True, False):
        paused = _pauses(heard, (lambda words: words) if leading else (lambda words: count - words))
        if (said := mode_said(heard.norm, leading=leading, paused=paused)) is not None:
            mode = more_careful(mode, said.mode)
    return mode


def _pauses(heard: Heard, place: Callable[[int], int]) -> Callable[[int], bool]:
    return lambda words: heard.original(0, place(words)).endswith((",", ":", ".", ";", "-"))


def goes_ahead(norm: str) -> bool:
    """Whether it is said plainly that something shall be done: "sounds good, carry it out, but only the first step"."""
    return bool(_GOES_AHEAD.fullmatch(norm))


def offers_to_carry_out(question: str) -> bool:
    """Whether the last sentence of `question` asks whether to do what was planned."""
    last = re.split(r"(?<=[.!?])\s+", question.strip())[-1]
    return last.endswith("?") and bool(_OFFERS.search(Heard(last).norm))


def plan_in_focus(context: DialogueContext) -> TaskBrief | None:
    """The plan that "go ahead" means when nothing was asked: the task spoken of last, if it has made one."""
    for number in (context.focus, context.told):
        task = next((task for task in context.tasks if task.id == number), None)
        if task is not None:
            return task if task.mode == "plan" and task.status.ended else None
    return None
