"""Questions that are looked up at once, without a task: the owner's mail and calendar. Pure."""

import re
from collections.abc import Iterator

from keryx.voice.dialogue.base import DialogueContext, Understanding
from keryx.voice.dialogue.lookups.calendar_asked import calendar_in, calendar_perhaps, follow_up_in
from keryx.voice.dialogue.lookups.mail_asked import mail_in, mail_perhaps
from keryx.voice.dialogue.lookups.qualifiers import MOST_WORDS
from keryx.voice.dialogue.normalise import Heard
from keryx.voice.dialogue.smalltalk import without_fillers
from keryx.voice.dialogue.targets import without_asking, without_hesitation

LOOKUPS = ("check_mail", "check_calendar")
_SURE, _PERHAPS = 0.9, 0.75
_THE_OTHERS = re.compile(
    r"(?:(?:yes|okay|please|and|now) )*(?:(?:read|tell|give|let me hear|whats|what are|ill hear)(?: me)? )?(?:all )?"
    r"(?:of )?(?:what else|the (?:others|rest|other ones|remaining ones)|them all|more|all of them)"
    r"(?: please| too| then)*"
)


def lookup_in(heard: Heard, context: DialogueContext) -> Understanding | None:
    """The question, when the sentence is nothing but one."""
    found = (_surely(asked, context) for asked in _questions(heard))
    return next((each for each in found if each is not None), None)


def lookup_perhaps(heard: Heard, context: DialogueContext) -> Understanding | None:
    """The question, when it could be about a task too but is not."""
    for asked in _questions(heard):
        if (mail := mail_perhaps(asked, context)) is not None:
            return Understanding(tool="check_mail", arguments=mail, confidence=_PERHAPS)
        if (calendar := calendar_perhaps(asked, context)) is not None:
            return Understanding(tool="check_calendar", arguments=calendar, confidence=_PERHAPS)
    return None


def _surely(asked: Heard, context: DialogueContext) -> Understanding | None:
    if context.pending == "more" and _THE_OTHERS.fullmatch(asked.norm):
        return Understanding(intent="confirm", confidence=_SURE)
    if (mail := mail_in(asked, context)) is not None:
        return Understanding(tool="check_mail", arguments=mail, confidence=_SURE)
    if (calendar := calendar_in(asked, context)) is not None:
        return Understanding(tool="check_calendar", arguments=calendar, confidence=_SURE)
    if (again := follow_up_in(asked, context)) is not None:
        return Understanding(tool=again[0], arguments=again[1], confidence=_SURE)
    return None


def _questions(heard: Heard) -> Iterator[Heard]:
    """The words of it less what leads up to them, first those that were said; none of a sentence too long to be one."""
    if len(heard.words) > MOST_WORDS + 10:
        return
    said = without_hesitation(heard)
    # What leads up to a question may be put into other words: "is there anything on" asks after news, too.
    for asked in (_less_fillers(said), without_asking(_less_fillers(without_asking(said)))):
        if asked.words:
            yield asked


def _less_fillers(heard: Heard) -> Heard:
    left, _ = without_fillers(heard.norm)
    return Heard(heard.original(left))
