"""Questions that are looked up at once, without a task: the owner's mail and calendar. Pure."""

import re

from keryx.voice.dialogue.base import DialogueContext, Understanding
from keryx.voice.dialogue.calendar_asked import calendar_in, calendar_perhaps, follow_up_in
from keryx.voice.dialogue.mail_asked import mail_in, mail_perhaps
from keryx.voice.dialogue.normalise import Heard
from keryx.voice.dialogue.qualifiers import MOST_WORDS
from keryx.voice.dialogue.smalltalk import without_fillers
from keryx.voice.dialogue.targets import without_asking, without_hesitation

LOOKUPS = ("check_mail", "check_calendar")
_SURE, _PERHAPS = 0.9, 0.75
_THE_OTHERS = re.compile(
    r"(?:(?:yes|okay|please|and|now) )*(?:(?:read|tell|give|let me hear|whats|what are|ill hear)(?: me)? )?(?:all )?"
    r"(?:of )?(?:the (?:others|rest|other ones|remaining ones)|them all|more|all of them)(?: please| too| then)*"
)


def lookup_in(heard: Heard, context: DialogueContext) -> Understanding | None:
    """The question, when the sentence is nothing but one."""
    if (asked := _question(heard)) is None:
        return None
    if context.pending == "more" and _THE_OTHERS.fullmatch(asked.norm):
        return Understanding(intent="confirm", confidence=_SURE)
    if (mail := mail_in(asked, context)) is not None:
        return Understanding(tool="check_mail", arguments=mail, confidence=_SURE)
    if (calendar := calendar_in(asked, context)) is not None:
        return Understanding(tool="check_calendar", arguments=calendar, confidence=_SURE)
    if (again := follow_up_in(asked, context)) is not None:
        return Understanding(tool=again[0], arguments=again[1], confidence=_SURE)
    return None


def lookup_perhaps(heard: Heard, context: DialogueContext) -> Understanding | None:
    """The question, when it could be about a task too but is not."""
    if (asked := _question(heard)) is None:
        return None
    if (mail := mail_perhaps(asked, context)) is not None:
        return Understanding(tool="check_mail", arguments=mail, confidence=_PERHAPS)
    if (calendar := calendar_perhaps(asked, context)) is not None:
        return Understanding(tool="check_calendar", arguments=calendar, confidence=_PERHAPS)
    return None


def _question(heard: Heard) -> Heard | None:
    """The words of it less what leads up to them; None for a sentence too long to be one."""
    if len(heard.words) > MOST_WORDS + 10:
        return None
    asked = without_asking(without_hesitation(heard))
    left, _ = without_fillers(asked.norm)
    asked = without_asking(Heard(asked.original(left)))
    return asked if asked.words else None
