"""What one answer is made of: lines, the questions they ask, and what was not heard of them. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from keryx.voice.dialogue.base import Say, Understanding
from keryx.voice.dialogue.normalise import Heard

UNHEARD_TAIL_WORDS = 2
"""A question counts as asked although its last so many words were spoken over; a yes over more of it does not count."""


@dataclass(frozen=True)
class Question:
    """Something the caller was asked, and what their answer does.

    `pending` says it as a context does: "cancel 4", "answer 6", "pin", "project", "which", or any other yes-or-no.
    """

    pending: str
    text: str = ""
    held: Understanding | None = None
    """What is carried out on a yes, after the PIN, or with the project or task that was chosen."""
    task_id: int | None = None
    choices: tuple[str, ...] = ()
    request: str = ""
    """The call id under which `held` was tried first, so that it has one effect."""
    more: tuple["Line", ...] = ()
    """What a yes to "want the rest?" says."""

    @property
    def must_be_heard(self) -> bool:
        """A yes only counts once the question was played; a PIN or a name means the same either way."""
        return self.pending not in ("pin", "project", "which")


@dataclass(frozen=True)
class Line:
    """One thing to say, and what saying it means."""

    text: str
    news_id: int | None = None
    asks: Question | None = None
    focus: int | None = None
    """The task "it" means from here on."""

    @property
    def say(self) -> Say:
        return Say(self.text, self.news_id)


@dataclass
class Spoken:
    """The lines of the answer being given: what was yielded, what is still to come, what was talked over."""

    given: list[Line] = field(default_factory=list)
    to_come: list[Line] = field(default_factory=list)

    def unheard_news(self, unheard: str) -> list[Line]:
        """What is left of the news when everything from `unheard` on was not heard: whole sentences, oldest first."""
        missing = len(Heard(unheard).words)
        left: list[Line] = []
        for line in reversed(self.given):
            # One word more or less is only a difference in how a number was read.
            if missing <= 1:
                break
            if line.news_id is not None:
                left.insert(0, Line(_last_sentences(line.text, missing), line.news_id, line.asks, line.focus))
            missing -= len(Heard(line.text).words)
        return left + [line for line in self.to_come if line.news_id is not None]


def was_asked(question: Question, unheard: str) -> bool:
    """Whether so much of the question was heard that an answer means it."""
    return not question.must_be_heard or len(Heard(unheard).words) <= UNHEARD_TAIL_WORDS


def with_wish(question: Question, understood: Understanding) -> Understanding | None:
    """The request that waits for the PIN, with the wish to be called about it; None when `understood` is no such wish.

    "Fix the invoice test (a breath) and call me back": by the second half the first waits already.
    """
    held = question.held
    if question.pending != "pin" or held is None or held.tool != "dispatch_task":
        return None
    if understood.tool != "request_callback" or "callback" in held.then:
        return None
    return replace(held, then=(*held.then, "callback"))


def _last_sentences(text: str, words: int) -> str:
    """The sentences of `text` that hold its last `words` words; the whole of it when those are nearly all."""
    sentences = re.split(r"(?<=[.!?:])\s+", text)
    kept: list[str] = []
    for sentence in reversed(sentences):
        kept.insert(0, sentence)
        words -= len(Heard(sentence).words)
        if words <= 0:
            break
    return " ".join(kept)


def joined(lines: Sequence[Line]) -> str:
    """The text of several lines."""
    return " ".join(line.text for line in lines)
