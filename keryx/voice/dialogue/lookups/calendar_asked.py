"""Sentences that ask about the owner's calendar, told by the whole of them. Pure, in normal form.

"Move my four o'clock to tomorrow" and "add a calendar to the website" are work for an agent.
"""

import re
from typing import Any

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.lookups.clock_said import LENGTH, minutes_in
from keryx.voice.dialogue.lookups.qualifiers import Qualifiers, as_said, is_somebody, is_time, qualifiers_in
from keryx.voice.dialogue.names import exact_project
from keryx.voice.dialogue.normalise import Heard

FREE_FOR = 30
"""Minutes that a gap must have when nobody said for how long."""

_CALENDAR = r"(?:calendar|diary|agenda|schedule|planner)"
_EVENT = r"(?:appointment|meeting|event|call|engagement)"
_I_HAVE = (
    r"(?:what have (?:i|we)(?: got)?|what do (?:i|we) have|whatve i got|(?:(?:do|did) (?:i|we) have|have (?:i|we) got|"
    r"is there|got) (?:anything|something|much|plans|stuff)|(?:am i|are we) doing anything|what else do i have|"
    r"what else have i got|what (?:am i|are we) doing|what are my plans|whats the plan|what else is on|is anything on|"
    r"(?:anything|what else) on)"
)
_ON = r"(?: (?:on|planned|scheduled|booked|lined up|else|coming up|in))"
_DAYS = [
    re.compile(rf"(?:{_I_HAVE}{_ON}*|(?:whats|what is){_ON}+)(?: for)?(?= )"),
    re.compile(r"(?:am i|are we) (?:very |really )?(?:busy|booked up|booked|tied up|occupied)(?= )"),
]
"""Whose day it is must be said: "what's on" alone could be asked after tasks."""
_ANYTHING = re.compile(r"(?:anything|is there anything|something)(?: planned| scheduled)?(?= )")
_NOT_TO_COME = re.compile(r"\b(?:today|now|since|last|yesterday|lately|recently|past|this morning|overnight)\b")
_MY_DAY = re.compile(
    r"(?:hows|how is|how does|whats|what is|what does) (?P<day>(?:the rest of )?my (?:day|morning|afternoon|"
    r"evening|week|weekend)|"
    r"\w+(?: \w+){0,3}?) (?:looking|look like|look|like)(?= |$)"
)
_LOOKS = [
    re.compile(
        rf"(?:{_I_HAVE}|(?:show me |tell me |read me )?(?:whats|what is)|anything|is anything)(?: new| else| down| up)?"
        rf"{_ON}*(?: for)? (?:on|in) (?P<whose>my|the) (?P<calendar>{_CALENDAR})(?: for)?(?= |$)"
    ),
    re.compile(
        r"(?:check|read|show|tell|give|open|whats|what is|hows|how is|how does|what does|go through|look at|look in)"
        rf"(?: me| out)* (?P<whose>my) (?P<calendar>{_CALENDAR})(?: (?:looking|look like|look|like|say))?(?: for)?"
        r"(?= |$)"
    ),
]
_EVENTS = [
    re.compile(
        r"(?:(?:do|did) (?:i|we) have|have (?:i|we) got|got|are there|is there)(?: (?:any|a|an|some|more|other|the|"
        rf"another))* {_EVENT}s?(?: (?:coming up|scheduled|planned|on))*(?= |$)"
    ),
    re.compile(
        rf"(?:what|which|how many|whats) (?:other |more |of my )?{_EVENT}s(?: (?:do (?:i|we) have|have (?:i|we) got|"
        r"have i|are there|are on|are coming up))?(?: (?:coming up|scheduled|planned|on))*(?= |$)"
    ),
    re.compile(rf"(?:any|what are my|list my|read me my|tell me my|whats my) {_EVENT}s(?= |$)"),
]
_NEXT = [
    re.compile(
        r"(?:and )?(?:whats|what is|when is|whens|what time is|what times|where is|wheres|who is|whos|"
        r"(?:tell|read|give) me) "
        rf"(?P<whose>my|the) (?:very )?(?P<nth>next|first) (?P<kind>{_EVENT}|thing)(?: on| coming up)?(?= |$)"
    ),
    re.compile(rf"(?:whats|what is) (?:up |coming up )?next (?:in|on) my {_CALENDAR}(?= |$)"),
    re.compile(r"(?:what do i have|what have i got|what am i doing|whats on) next$"),
    re.compile(rf"(?:when|what time) (?:do i have|is) my (?:next )?{_EVENT}(?= with)"),
]
_SEEING = re.compile(
    r"(?:when|what time) (?:am i|do i|are we|will i|do we) (?:next )?(?:seeing|see|meeting|meet|talking to|talk to|"
    r"calling|call)(?: with)? (?P<who>\w+(?: \w+){0,2}?)(?: next| again)?"
)
_WHEN_IS = re.compile(
    r"(?:(?P<clock>what time)|when|what day)(?: (?:is|does|do|are|have i got|do i have)|s) (?P<whose>my|the|our) "
    r"(?P<about>\w+(?: \w+){0,4}?)(?: (?:start|starting|begin|beginning))?"
)
_NO_EVENT = re.compile(
    r".*\b(?:done|ready|finished|finish|over|due|complete|released?|deployed?|deployment|build|tests?|tasks?|time|"
    r"running|run|next|job|report|agents?|server|branch)\b.*"
)
_AM_FREE = re.compile(r"(?:am i|are we|will i be|would i be|will we be) (?:free|available|around)(?= |$)")
_WHEN_FREE = [
    re.compile(
        rf"(?:and )?(?:when|what time|at what time|where) (?:am i|are we|will i be|do i have|have i got)(?: next)? "
        rf"(?:free|available|(?:a |some |any )?(?:free )?(?:time|gap|slot|(?P<length>{LENGTH}))(?: free)?)"
        r"(?= |$)"
    ),
    re.compile(
        r"(?:find|get|give|show)(?: me)? (?:a |an |the |some |my )?(?:next |first )?"
        r"(?:free (?:slot|time|gap|(?P<free>hour|half hour))|(?:slot|gap|time) (?=in my))(?= |$|in my)"
    ),
    re.compile(rf"(?:find|get|give)(?: me)? (?P<length>{LENGTH}) (?:free|in my {_CALENDAR})(?= |$)"),
    re.compile(
        r"(?:whats|what is|when is|whens) my (?:next|first) free (?:slot|time|gap|(?P<free>hour|half hour))(?= |$)"
    ),
]
_HAVE_TIME = re.compile(
    r"(?:do (?:i|we) have|have (?:i|we) got|is there) (?:any |some |a )?(?:free )?"
    rf"(?:time|(?:gap|slot|window)(?: of (?P<gap>{LENGTH}))?|(?P<length>{LENGTH}))(?: free| available)?"
    r"(?: for (?:a|an) (?:quick |short |long )?(?:call|meeting|chat|coffee|lunch|walk|break|visit))?(?= )"
)
_IS_FREE = re.compile(r"is (?P<when>.+?) (?:still )?(?:free|clear|open|empty|available)(?P<length> for .+)?")
_FOLLOW_UP = re.compile(
    r"(?:(?:and|or|but|so|okay) )*(?:what about |how about |then )?(?:for |on )?(?P<when>.+?)(?: then| please)?"
)
_PART = re.compile(
    r"(?: |^)(?:(?:(?:in|during) the |early |late |after |before |this )*"
    r"(?:morning|afternoon|evening|lunch|noon|night)|at .+)$"
)
"""What narrows a day down."""
_LEADS = re.compile(r"(?:and|or|but|what about|how about|then)\b")


def calendar_in(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    """What `check_calendar` is asked for; None when the sentence is no question about the calendar."""
    for read in (_free, _next, _whole, _events):
        if (asked := read(heard, context)) is not None:
            return asked
    return None


def calendar_perhaps(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    """The same for "what time is the dentist", which is about a task when there is one it could be about."""
    match = _WHEN_IS.fullmatch(heard.norm)
    if match is None or _NO_EVENT.fullmatch(match["about"]):
        return None
    named = match["whose"] == "my" or re.search(rf"{_EVENT}(?: with\b.*)?$", match["about"])
    if not named and not (match["clock"] and re.match(r"what time(?: is|s) ", match[0])):
        return None
    start = len(heard.norm[: match.start("about")].split())
    for end in range(start + 1, len(heard.words) + 1):
        rest = qualifiers_in(heard, end)
        if rest is not None and not rest.length and not rest.about:
            about = as_said(heard, start, end)
            return _arguments(rest, about=re.sub(r" (?:start|begin)$", "", about), next_only=True)
    return None


def follow_up_in(heard: Heard, context: DialogueContext) -> tuple[str, dict[str, Any]] | None:
    """ "And tomorrow?": the last question about mail or the calendar, asked of another time."""
    looked, match = context.looked, _FOLLOW_UP.fullmatch(heard.norm)
    if looked is None or match is None or not _LEADS.match(heard.norm):
        return None
    when = re.sub(r"^(?:on |for )", "", match["when"])
    length = re.fullmatch(rf"(?:for )?({LENGTH})", match["when"])
    if length and "free_minutes" in looked.arguments and (minutes := minutes_in(length[1])):
        return looked.tool, {**looked.arguments, "free_minutes": minutes}
    if not is_time(when):
        return None
    kept = {name: value for name, value in looked.arguments.items() if name not in ("read", "unread_only", "next_only")}
    # "And after lunch?", asked after tomorrow, is tomorrow after lunch.
    of_that_day = f"{_PART.sub('', str(looked.arguments.get('when', '')))} {when}".strip()
    return looked.tool, {**kept, "when": of_that_day if is_time(of_that_day) else when}


def _whole(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    norm = heard.norm
    for pattern in _LOOKS:
        if (match := pattern.match(norm)) and (rest := _rest(heard, match)) is not None:
            if match["whose"] == "the" and exact_project(match["calendar"], context.projects):
                return None
            return _arguments(rest)
    for pattern in _DAYS:
        if (match := pattern.match(norm)) and (rest := _rest(heard, match)) is not None and rest.when:
            return _arguments(rest)
    if (match := _ANYTHING.match(norm)) and (rest := _rest(heard, match)) is not None and rest.when:
        return None if _NOT_TO_COME.search(rest.when) or rest.who else _arguments(rest)
    if (match := _MY_DAY.match(norm)) and (rest := _rest(heard, match)) is not None:
        day = re.sub(r"^my ", "this ", match["day"]).replace("this day", "today").replace(" my ", " the ")
        if is_time(day):
            return _arguments(Qualifiers(when=rest.when or day))
    return None


def _events(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    for pattern in _EVENTS:
        if (match := pattern.match(heard.norm)) and (rest := _rest(heard, match)) is not None:
            sure = "meeting" in match[0] or "appointment" in match[0] or "my " in match[0]
            if (sure or rest.when or rest.who) and (not rest.who or is_somebody(rest.who, context)):
                return _arguments(rest, next_only=bool(rest.who) and not rest.when)
    return None


def _next(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    for pattern in _NEXT:
        if (match := pattern.match(heard.norm)) and (rest := _rest(heard, match)) is not None:
            groups = match.groupdict()
            if groups.get("whose") == "the" and groups.get("kind") not in ("meeting", "appointment"):
                continue
            return _arguments(rest, next_only=True)
    if (match := _SEEING.fullmatch(heard.norm)) and is_somebody(match["who"], context, or_house=True):
        start = len(heard.norm[: match.start("who")].split())
        who = as_said(heard, start, start + len(match["who"].split()))
        if match["who"].startswith("the "):
            return _arguments(Qualifiers(), about=who[4:], next_only=True)
        return _arguments(Qualifiers(who=who), next_only=True)
    return None


def _free(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    norm = heard.norm
    if (match := _AM_FREE.match(norm)) and (rest := _rest(heard, match)) is not None and not rest.who:
        return _arguments(Qualifiers(when=rest.when or "now", length=rest.length), free=FREE_FOR)
    for pattern in _WHEN_FREE:
        if (match := pattern.match(norm)) and (rest := _rest(heard, match)) is not None and not rest.who:
            groups = match.groupdict()
            free = {"hour": 60, "half hour": 30}.get(groups.get("free") or "") or minutes_in(groups.get("length") or "")
            return _arguments(rest, free=free or FREE_FOR)
    if (match := _HAVE_TIME.match(norm)) and (rest := _rest(heard, match)) is not None and not rest.who and rest.when:
        return _arguments(rest, free=minutes_in(match["length"] or match["gap"] or "") or FREE_FOR)
    if match := _IS_FREE.fullmatch(norm):
        when = re.sub(r"^my ", "this ", match["when"]).replace("this day", "today")
        minutes = minutes_in((match["length"] or "").removeprefix(" for "))
        if is_time(when) and (minutes or not match["length"]):
            return {"when": when, "free_minutes": minutes or FREE_FOR}
    return None


def _rest(heard: Heard, match: "re.Match[str]") -> Qualifiers | None:
    rest = qualifiers_in(heard, len(match[0].split()))
    return None if rest is None or rest.about else rest


def _arguments(rest: Qualifiers, *, about: str = "", next_only: bool = False, free: int = 0) -> dict[str, Any] | None:
    if rest.length and not free:
        return None
    given = {
        "when": rest.when,
        "with_whom": rest.who,
        "about": about,
        "next_only": next_only,
        "free_minutes": (minutes_in(rest.length) or free) if free else 0,
    }
    return {name: value for name, value in given.items() if value}
