"""The words of an answer: phrases from `prompts/phrases.toml` in turn, and how tasks, times and lists are said."""

import re
from collections.abc import Sequence
from datetime import datetime, tzinfo

from keryx.prompts import render, table
from keryx.voice.dialogue.normalise import in_words

PHRASES = "phrases.toml"
MAX_NAME_WORDS = 7
"""A task's description is called by so many of its words at most."""

_BEGINS_A_SENTENCE = re.compile(r"(?:^|[.!?] )\{(\w+)\}")
_DOING = {
    "add": "adding", "build": "building", "bump": "bumping", "change": "changing", "check": "checking",
    "clean": "cleaning", "compress": "compressing", "convert": "converting", "create": "creating",
    "document": "documenting", "explain": "explaining", "find": "finding", "fix": "fixing", "get": "getting",
    "implement": "implementing", "improve": "improving", "log": "logging", "make": "making", "merge": "merging",
    "migrate": "migrating", "move": "moving", "push": "pushing", "refactor": "refactoring", "rename": "renaming",
    "replace": "replacing", "review": "reviewing", "run": "running", "send": "sending", "speed": "speeding",
    "split": "splitting", "support": "supporting", "test": "testing", "tidy": "tidying", "translate": "translating",
    "update": "updating", "upgrade": "upgrading", "use": "using", "write": "writing",
}  # fmt: skip
_UNDOING = {
    "delete": "deleting", "disable": "disabling", "drop": "dropping", "remove": "removing", "revert": "reverting",
    "rewrite": "rewriting", "undo": "undoing",
}  # fmt: skip
"""What is done to a thing matters here: "deleting the old blog" is not "the old blog"."""
_LEADING_VERB = re.compile(r"^(?:please )?\w+ (?=(?:the|a|an|our|my|all|every|its) \w)", re.IGNORECASE)
_HANGING = frozenset(
    "the a an and or to of in on at for with from by that which so my our is are it its when where while".split()
)


class Phrases:
    """Wordings in turn, so that one is never said twice running. `start` picks where the turns begin."""

    def __init__(self, start: int = 0) -> None:
        self._start = start
        self._turns: dict[str, int] = {}

    def say(self, name: str, /, **values: str) -> str:
        """One wording of `name` with its places filled, each sentence with a capital. Raises `KeyError`."""
        wordings = table(PHRASES)[name]
        turn = self._turns.get(name, self._start)
        self._turns[name] = turn + 1
        wording = wordings[turn % len(wordings)]
        opening = set(_BEGINS_A_SENTENCE.findall(wording))
        said = {name: sentence_case(value) if name in opening else value for name, value in values.items()}
        return sentence_case(render(wording, **said))


def sentence_case(text: str) -> str:
    """`text` with a capital first letter."""
    return text[:1].upper() + text[1:]


def ended(text: str) -> str:
    """`text` as a whole sentence: one line with a full stop unless it ends in a mark already."""
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?…" else f"{text}."


def task_number(task_id: int) -> str:
    """ "task four"."""
    return f"task {in_words(task_id)}"


def task_name(task_id: int, description: str) -> str:
    """ "task four, the parser rewrite": the number and what it was about."""
    about = about_words(description)
    return f"{task_number(task_id)}, {about}," if about else task_number(task_id)


def about_words(description: str) -> str:
    """What a task is called in a sentence: "the failing invoice test"; "" when there is no short way.

    Marks that would break the sentence are left out.
    """
    flat = " ".join(re.sub(r"[\"`*_#<>{}\[\]|\\]+", " ", description).split())
    first = re.split(r"(?<=\w)[.;:,?!](?:\s|$)|\s+(?:and|then|because|so that|which|but)\s+", flat, maxsplit=1)[
        0
    ].strip()
    verb, _, rest = re.sub(r"^please ", "", first, flags=re.IGNORECASE).partition(" ")
    if rest and (doing := _UNDOING.get(verb.lower())):
        first = f"{doing} {rest}"
    else:
        first = _LEADING_VERB.sub("", first)
        verb, _, rest = first.partition(" ")
        first = f"{_DOING[verb.lower()]} {rest}" if rest and verb.lower() in _DOING else first
    words = first.split()
    if len(words) > MAX_NAME_WORDS:
        words = words[:MAX_NAME_WORDS]
        while words and words[-1].lower() in _HANGING:
            words.pop()
    if not words or any(len(word) > 30 for word in words):
        return ""
    head = words[0]
    if head[1:] == head[1:].lower() and head.isalpha() and head != "I":
        words[0] = head.lower()
    return " ".join(words)


def in_a_sentence(name: str) -> str:
    """A name that ends in a comma, before a mark that closes the sentence."""
    return name.rstrip(",")


def listed(items: Sequence[str], last: str = "and") -> str:
    """ "one, two and three"."""
    if len(items) <= 1:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def listed_names(names: Sequence[str], last: str = "and") -> str:
    """Names with commas in them: "task one, the menu; task two, the footer; and task three, the logo"."""
    if len(names) <= 2:
        return f", {last} ".join(names)
    return f"{'; '.join(names[:-1])}; {last} {names[-1]}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """ "one task", "two tasks"."""
    return f"{in_words(number)} {one if number == 1 else many or one + 's'}"


def duration_words(seconds: float) -> str:
    """How long something took, in the largest units that matter: "eleven minutes", "two hours and five minutes"."""
    minutes = int(max(0.0, seconds) // 60)
    if minutes < 1:
        return "less than a minute"
    if minutes < 60:
        return counted(minutes, "minute")
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        first = "an hour" if hours == 1 else counted(hours, "hour")
        return first + (f" and {counted(minutes, 'minute')}" if minutes else "")
    days, hours = divmod(hours, 24)
    return counted(days, "day") + (f" and {counted(hours, 'hour')}" if hours else "")


def moment_words(moment: datetime, now: datetime, zone: tzinfo) -> str:
    """When something happened, as the owner's own clock and calendar say it."""
    seconds = (now - moment).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{counted(int(seconds // 60), 'minute')} ago"
    local, today = moment.astimezone(zone), now.astimezone(zone).date()
    clock = f"{local.hour % 12 or 12}:{local.minute:02d} {'AM' if local.hour < 12 else 'PM'}"
    days = (today - local.date()).days
    if days == 0:
        return f"today at {clock}"
    if days == 1:
        return f"yesterday at {clock}"
    if days < 7:
        return f"on {local:%A} at {clock}"
    return f"on {local:%B} {local.day}"
