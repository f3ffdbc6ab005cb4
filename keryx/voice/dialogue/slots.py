"""A request's work without the words around it: which project, which agent, "call me back", politeness. Pure."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.callbacks import CALLBACK_LEAD, CALLBACK_TAIL, NO_CALLBACK_TAIL
from keryx.voice.dialogue.models import model_said
from keryx.voice.dialogue.modes import mode_said, more_careful, only_to_be_planned
from keryx.voice.dialogue.names import agent_named, agent_pattern, exact_project, fitting_projects, mentioned_projects
from keryx.voice.dialogue.normalise import Heard, as_written
from keryx.voice.dialogue.smalltalk import TRAILING_GOODBYE, without_fillers

EDGE_WORDS = 40
"""How many words at either end are searched for slots; a project named deeper inside is only a mention."""

MAX_CUTS = 12
"""Slots are looked for at most so often; "in billing in billing in billing" is no request."""

_KIND = r"(?:project|repo|repository|codebase|code base|directory|folder)"
_LOOSE_KIND = r"(?:project|repo|repository|codebase|code base|code|app|service|side|site)"
_PLACE = r"(?:over in|back in|in|on|for|inside|within|at|with)"
_ARTICLE = r"(?:the |our |my |that )?"
_CORRECTION = (
    r"(?:(?:no wait|oh wait|wait|no sorry|sorry|no|i mean|i meant|or rather|rather|actually|scratch that|make that|"
    r"oh)(?: |$))+"
)
_NOT_A_NAME = frozenset(
    "whole entire current same new other next main git this that each every any right wrong first second last own"
    " real old big "
    "small demo test example sample python rust side open source remote local monorepo all".split()
)

_LEADING_PLACE = re.compile(rf"(?:{_CORRECTION})?{_PLACE} {_ARTICLE}(?P<name>\w+(?: \w+){{0,3}}?) {_KIND}\b ?")
_LEADING_BARE = re.compile(rf"(?:{_CORRECTION})?{_PLACE} {_ARTICLE}(?P<rest>\w+(?: \w+){{0,3}})")
_LEADING_TITLE = re.compile(rf"(?:the )?(?P<name>\w+(?: \w+){{0,2}}?) {_KIND}\b ?")
_TRAILING_PLACE = re.compile(
    rf" (?:and )?(?:(?:thats|that is|its|this is) )?(?:over in|in|on|for|of|from|to|inside|within|"
    rf"at) {_ARTICLE}(?P<name>\w+(?: \w+){{0,2}}?) {_KIND}$"
)
_TRAILING_BARE = re.compile(
    rf" (?:and )?(?:(?:thats|that is|its|this is) )?(?:over in|in|on|for|inside|"
    rf"within) {_ARTICLE}(?P<name>\w+(?: \w+){{0,2}}?)$"
)
_TRAILING_CORRECTED = re.compile(
    rf" (?:over in|in|on|for|of|from|to|inside|within|at) {_ARTICLE}(?P<wrong>\w+(?: \w+){{0,2}}?)(?: {_KIND})? "
    rf"(?={_CORRECTION}){_CORRECTION}(?:(?:{_PLACE}|to|of|from) )?{_ARTICLE}(?P<name>\w+(?: \w+){{0,2}}?)(?: {_KIND})?$"
)
_INNER_PLACE = re.compile(
    r"\b(?:in|on|for|of|from|inside|within) (?:the|our|my) (?P<name>\w+(?: \w+){0,2}?) (?:project|repo|repository|"
    r"codebase)\b"
)
_NEW_TASK = re.compile(
    r"(?:(?:start|create|make|begin|open|kick off|dispatch|queue|add|heres|here is|ive got|i have|its|thats|and|"
    r"now|another|a|one) )*"
    r"(?:a )?(?:new|another|separate|different|fresh) (?:task|job|one|thing|request)"
    rf"(?: for (?:you\b|(?P<agent>{agent_pattern(())})))?(?: (?:to|that should|that|where you|in which you|"
    r"which should)\b)? ?"
    r"|(?:start|create|make|open|add|queue|dispatch) a (?:task|job|ticket) (?:to (?!the |a |my |our |this |that )|"
    r"that should |which should |where you )"
)


@dataclass
class Work:
    """A request in parts."""

    description: str = ""
    project: str | None = None
    agent: str | None = None
    model: str | None = None
    mode: str | None = None
    then: list[str] = field(default_factory=list)
    which_projects: tuple[str, ...] = ()
    unknown_project: str | None = None
    in_place: bool = False
    """The project or agent was named in its own place, not merely mentioned: surely new work."""


class _Cutter:
    """Cuts words off both ends of an utterance, keeping the original text of the rest."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard
        self.start = 0
        self.end = len(heard.words)

    @property
    def left(self) -> str:
        return " ".join(self.heard.words[self.start : min(self.end, self.start + EDGE_WORDS)])

    @property
    def right(self) -> str:
        return " ".join(self.heard.words[max(self.start, self.end - EDGE_WORDS) : self.end])

    def take_left(self, words: int) -> None:
        self.start = min(self.end, self.start + words)

    def take_right(self, words: int) -> None:
        self.end = max(self.start, self.end - words)

    def pause_after(self, words: int) -> bool:
        """Whether punctuation follows this many words from the left."""
        return self.heard.original(self.start, self.start + words).endswith((",", ":", ".", ";", "-"))

    def pause_before(self, words: int) -> bool:
        """Whether punctuation stands before this many words from the right."""
        return self.heard.original(self.start, self.end - words).endswith((",", ":", ".", ";", "-"))

    def text(self) -> str:
        return self.heard.original(self.start, self.end)


@functools.lru_cache(maxsize=32)
def _agent_patterns(agents: tuple[str, ...]) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
    name = f"(?P<agent>{agent_pattern(agents)})"
    leading = [
        rf"(?:use|using|try|take) {name} (?:for|to|and|on|in)(?=\b) ?(?:this )?",
        rf"(?:with|using|via|through) {name} ?",
        rf"(?:ask|tell|have|get|let) {name} (?=(?:in|on|for|over|within|inside) )",
        rf"(?:have|let|make|having|letting) {name} (?:to )?(?=\w)",
        rf"(?:ask|asking|get|getting|tell|telling|want|instruct) {name} (?:(?:to|that it should) ?|"
        r"(?=(?:if|whether|what|which|how|why|where|when|who) ))",
        rf"(?:i would like|id like|i want|i need|id love|id prefer|i prefer) {name} to (?=\w)",
        rf"(?:can|could|would|will|should) {name} (?:please )?(?=\w)",
        rf"{name} (?:please|should|can you|could you|could|can|needs to|must|has to|shall) (?=\w)",
        rf"(?:give|hand|pass|assign) {name} (?:this|that|the following)(?: one| task| job| work)? ?",
        rf"(?:give|hand|pass|assign) (?:this|that|it)(?: one| task| job)? to {name} ?",
        rf"(?:put|set|send) {name} (?:on|onto|to work on|to) ?",
    ]
    trailing = [
        rf" (?:(?:and|please|but|preferably|ideally) )*(?:using|with|via|through|by|use|let|have|"
        rf"on) {name}(?: (?:do|handle|for|on)(?: (?:it|that|this))?)?$",
        rf" (?:(?:and|then) )*(?:give|hand|pass) (?:it|that|this) to {name}$",
        rf" (?:(?:and|maybe|please) )*(?:can|could|let|have|get|ask) {name} (?:to )?(?:please )?(?:(?:have|"
        rf"take) a look|"
        rf"look|take care|handle|do|take|work|check|see)(?: (?:at|on|of|into|to))?(?: (?:it|that|this))?$",
    ]
    return [re.compile(pattern) for pattern in leading], [re.compile(pattern) for pattern in trailing]


def work_in(heard: Heard, context: DialogueContext) -> Work:
    """Take a request apart. The description keeps the caller's own words, less what the other fields say."""
    work = Work()
    cut = _Cutter(heard)
    before = None
    for _ in range(MAX_CUTS):
        if before == (cut.start, cut.end):
            break
        before = (cut.start, cut.end)
        _cut_politeness(cut)
        _cut_left(cut, work, context)
        _cut_right(cut, work, context)
    _mentions(cut, work, context)
    if only_to_be_planned(heard.norm):
        work.mode = more_careful(work.mode, "plan")
    work.description = _tidy(cut.text()) or _tidy(heard.text)
    return work


def without_project(norm: str, projects: Sequence[str]) -> str:
    """A question without the project it is limited to at its end ("what's running in billing")."""
    match = _TRAILING_PLACE.search(norm) or _TRAILING_BARE.search(norm)
    return norm[: match.start()] if match and fitting_projects(match["name"], projects) else norm


def _cut_politeness(cut: _Cutter) -> None:
    left, _ = without_fillers(cut.left)
    cut.take_left(left)
    _, right = without_fillers(cut.right)
    if right < cut.end - cut.start:
        cut.take_right(right)


def _cut_left(cut: _Cutter, work: Work, context: DialogueContext) -> None:
    if match := _NEW_TASK.match(cut.left):
        cut.take_left(len(match[0].split()))
        work.in_place = True
        if named := match["agent"]:
            work.agent = agent_named(named, context.agents)
    if _cut_project_left(cut, work, context):
        return
    if work.agent and cut.left.startswith("to "):
        cut.take_left(1)
    if _model_at(True, cut, work, context):
        return
    for pattern in _agent_patterns(tuple(context.agents))[0]:
        if (match := pattern.match(cut.left)) and match.end() < len(cut.left):
            work.agent = agent_named(match["agent"], context.agents)
            work.in_place = True
            cut.take_left(len(match[0].split()))
            return
    if match := _agent_vocative(cut, context):
        work.agent = match
    if (match := CALLBACK_LEAD.match(cut.left)) and "callback" not in work.then:
        work.then.append("callback")
        cut.take_left(len(match[0].split()))
    _mode_at(True, cut, work)


def _mode_at(leading: bool, cut: _Cutter, work: Work) -> bool:
    """Cut a mode off the left or the right; False when there is none. Of two, the more careful one counts."""
    said = mode_said(
        cut.left if leading else cut.right, leading=leading, paused=cut.pause_after if leading else cut.pause_before
    )
    if said is None or said.words >= cut.end - cut.start:
        return False
    work.mode = more_careful(work.mode, said.mode)
    (cut.take_left if leading else cut.take_right)(said.words)
    return True


def _model_at(leading: bool, cut: _Cutter, work: Work, context: DialogueContext) -> bool:
    """Cut a model's name off the left or the right; False when there is none."""
    said = model_said(cut.left if leading else cut.right, leading=leading, among=cut.heard.norm)
    if said is None:
        return False
    work.model = said.model or work.model
    # An agent that was named itself stays: whether it has the model is asked when the work is handed over.
    named = agent_named(said.owner, context.agents) if said.owner else None
    work.agent = named or work.agent or agent_named(said.agent, context.agents)
    (cut.take_left if leading else cut.take_right)(said.words)
    return True


def _agent_vocative(cut: _Cutter, context: DialogueContext) -> str | None:
    """ "Codex, fix the tests": a name and a comma."""
    match = re.match(agent_pattern(context.agents), cut.left)
    if match is None or not cut.pause_after(len(match[0].split())):
        return None
    cut.take_left(len(match[0].split()))
    return agent_named(match[0], context.agents)


def _cut_project_left(cut: _Cutter, work: Work, context: DialogueContext) -> bool:
    if work.in_place and _corrected(cut, work, context):
        return True
    left = cut.left
    for pattern in (_LEADING_PLACE, _LEADING_TITLE):
        if match := pattern.match(left):
            said = match["name"]
            apart = not {"in", "on", "for", "with", "the", "to"}.isdisjoint(said.split())
            if apart and not fitting_projects(said, context.projects):
                continue
            if pattern is _LEADING_TITLE and not cut.pause_after(len(match[0].split())):
                continue
            if _place(work, said, context):
                cut.take_left(len(match[0].split()))
                return True
    if match := _LEADING_BARE.match(left):
        lead = len(match[0].split()) - len(match["rest"].split())
        said = match["rest"].split()
        for size in range(len(said), 0, -1):
            phrase = " ".join(said[:size])
            project = exact_project(phrase, context.projects)
            if project is None and cut.pause_after(lead + size) and size <= 3:
                fits = fitting_projects(phrase, context.projects)
                project = fits[0] if len(fits) == 1 else None
                if len(fits) > 1:
                    work.which_projects, work.in_place = tuple(fits), True
                    cut.take_left(lead + size)
                    return True
            if project and size < cut.end - cut.start - lead:
                _found(work, project)
                taken = lead + size
                rest = left.split()[taken : taken + 1]
                cut.take_left(taken + (1 if rest and re.fullmatch(_LOOSE_KIND, rest[0]) else 0))
                return True
    words = left.split()
    for size in (3, 2, 1):
        if (
            len(words) > size
            and cut.pause_after(size)
            and (project := exact_project(" ".join(words[:size]), context.projects))
        ):
            _found(work, project)
            cut.take_left(size)
            return True
    return False


def _corrected(cut: _Cutter, work: Work, context: DialogueContext) -> bool:
    """ "In the shop, sorry, I mean the app, …": the name after the correction is the one that counts."""
    lead = re.match(rf"{_CORRECTION}(?:(?:{_PLACE}|have|let|use|with|ask) )?{_ARTICLE}", cut.left)
    if lead is None or not lead.end():
        return False
    words = cut.left[lead.end() :].split()
    for size in (3, 2, 1):
        phrase = " ".join(words[:size])
        project = exact_project(phrase, context.projects) if work.project and len(words) > size else None
        agent = agent_named(phrase, context.agents) if work.agent and len(words) > size else None
        if not project and not agent:
            continue
        if project:
            _found(work, project)
        work.agent = agent or work.agent
        kind = words[size : size + 1]
        drop = bool(kind) and bool(re.fullmatch(_LOOSE_KIND, kind[0]) or (agent and kind[0] == "to"))
        cut.take_left(len(lead[0].split()) + size + drop)
        return True
    return False


def _cut_right(cut: _Cutter, work: Work, context: DialogueContext) -> None:
    right = cut.right
    if match := TRAILING_GOODBYE.search(right):
        work.then.append("goodbye")
        cut.take_right(len(match[0].split()))
        return
    if match := NO_CALLBACK_TAIL.search(right):
        cut.take_right(len(match[0].split()))
        return
    if match := CALLBACK_TAIL.search(right):
        taken = len(match[0].split())
        if taken < cut.end - cut.start:
            work.then.insert(0, "callback")
            cut.take_right(taken)
            return
    if _model_at(False, cut, work, context):
        return
    for pattern in _agent_patterns(tuple(context.agents))[1]:
        if match := pattern.search(right):
            work.agent = work.agent or agent_named(match["agent"], context.agents)
            work.in_place = True
            cut.take_right(len(match[0].split()))
            return
    if _mode_at(False, cut, work):
        return
    if match := _TRAILING_CORRECTED.search(right):
        meant = exact_project(match["name"], context.projects)
        if meant and exact_project(match["wrong"], context.projects):
            _found(work, meant)
            cut.take_right(len(match[0].split()))
            return
    if match := _TRAILING_PLACE.search(right):
        if work.project is None and _place(work, match["name"], context):
            cut.take_right(len(match[0].split()))
        return
    if (match := _TRAILING_BARE.search(right)) and (project := exact_project(match["name"], context.projects)):
        if work.project in (None, project):
            _found(work, project)
            cut.take_right(len(match[0].split()))


def _place(work: Work, said: str, context: DialogueContext) -> bool:
    """Take `said`, found where a project's name belongs; False when it is no name at all."""
    words = said.split()
    if set(words) <= _NOT_A_NAME or not context.projects:
        return False
    fits = fitting_projects(said, context.projects, called_project=True)
    if len(fits) == 1:
        _found(work, fits[0])
    elif fits:
        work.which_projects, work.in_place = tuple(fits), True
    elif work.project is None:
        work.unknown_project, work.in_place = said, True
    return True


def _found(work: Work, project: str) -> None:
    work.project, work.in_place = project, True
    work.which_projects, work.unknown_project = (), None


def _mentions(cut: _Cutter, work: Work, context: DialogueContext) -> None:
    """A project named inside the sentence counts when none was named in its place."""
    if work.project or work.which_projects:
        return
    words = cut.heard.words[cut.start : cut.end]
    if work.unknown_project is None and (match := _INNER_PLACE.search(" ".join(words))):
        _place(work, match["name"], context)
    if work.project or work.which_projects or work.unknown_project:
        return
    mentioned = mentioned_projects(words, context.projects)
    if len(mentioned) == 1:
        work.project = mentioned[0]
    elif 1 < len(mentioned) <= 3:
        work.which_projects = tuple(mentioned)


def _tidy(text: str) -> str:
    text = as_written(text.strip())
    text = re.sub(r"^[\s,;:.\-–—]+(?=\w)", lambda lead: "--" if lead[0].endswith("--") else "", text)
    text = re.sub(r"[\s,;:]+$", "", text)
    return text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text
