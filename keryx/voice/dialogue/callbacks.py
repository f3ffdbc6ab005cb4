"""Sentences that want a call when a task is done. Pure, in normal form."""

import re

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.names import NOBODY, Meant
from keryx.voice.dialogue.targets import meant_first, unfinished_tasks

_DONE_WORDS = frozenset(
    "it its it that thats they theyre you youre youve have are is has been was be done finished finish ready over"
    " complete completed "
    "everything all this he hes she shes something anything later tomorrow changes change happens happened"
    " afterwards news there any "
    "know more the results result with an answer through up both tests pass passed".split()
)
"""A clause of nothing but these is about the task in focus ("when it's done")."""


def callback_in(norm: str, context: DialogueContext) -> Meant | None:
    """For which task a call back is wanted; None unless that is all the sentence asks."""
    asked = re.fullmatch(
        r"(?:(?:yes|yeah|and|then|also|please) )*(?:call|ring|phone|text|message|ping|buzz|notify|dial|"
        r"alert)(?: me)(?: back| up)?"
        r"(?: (?P<when>(?:when|once|after|as soon as|if|about|later|tomorrow|then|with|on|afterwards).*))?"
        r"|(?:give me a (?:call|ring|shout|buzz|bell|ping)|let me know|get back to me|send me a (?:message|"
        r"text))(?: back)?(?: (?P<when2>(?:when|once|after|as soon as|if|about|later|then|on|with).*))?"
        r"|(?:tell me|i want to (?:know|hear)) (?P<when3>(?:when|once|as soon as) .*)|(?:i(?:d| would) (?:like|"
        r"want) (?:a|you to) (?:call|callback|call back)(?: me)?(?: back)?)(?: (?P<when4>when.*))?"
        r"|(?:can|could) i (?:get|have) a (?:call ?back|call)(?: (?P<when5>when.*))?",
        norm,
    )
    if asked is None:
        return None
    when = next((value for value in asked.groups() if value), None)
    if when is None:
        return Meant(context.focus) if context.focus is not None else NOBODY
    words = re.sub(
        r"^(?:when(?:ever)?|once|after|as soon as|if|about|with|on|then)\b ?(?:the results? (?:of|for) )?", "", when
    ).split()
    if not words or _DONE_WORDS.issuperset(words):
        return Meant(context.focus) if context.focus is not None else NOBODY
    for size in range(len(words), 0, -1):
        meant = meant_first(" ".join(words[:size]), context, unfinished_tasks(context))
        if meant.by not in ("", "it", "any") and meant.found:
            return meant
    if asked[0].split()[0] in ("let", "tell", "i"):
        # "Let me know when you've bumped the version": the clause itself is the work.
        return None
    return Meant(context.focus) if context.focus is not None else NOBODY
