"""The demo agent's words: what a prompt asks of it, and how it says what it did. Pure text."""

import re
from dataclasses import dataclass

from keryx.agents.demo.projects import Mend
from keryx.agents.summary import extract_spoken_summary

MAX_PROMPT_CHARS = 4000
MAX_NOTE_CHARS = 120

_FAULT = (
    r"\b(?:tests?|invoices?|rounding|fail\w*|broken|builds?|lock file|bugs?|faults?|problems?"
    r"|it|that|them|this|these|everything)\b"
)
_MEND = re.compile(
    rf"\b(?:fix|mend|repair|correct|solve|update)(?:es|ed|ing)?\b[^.;]{{0,60}}?{_FAULT}"
    rf"|{_FAULT}[^.;]{{0,30}}\b(?:fixed|mended|repaired|corrected)\b|\b(?:make|get)\b[^.;]{{0,60}}?\bpass\b",
    re.IGNORECASE,
)
_DO_NOT = re.compile(
    r"\b(?:don'?t|do not|never|without)\b[^.,;]{0,20}\b(?:fix|mend|repair|correct|chang)", re.IGNORECASE
)
_YES = re.compile(r"\W*(?:yes|yeah|yep|sure|please|okay|ok|go ahead|do it|do that|go on)\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:add|write|rename|refactor|rewrite|implement|delete|remove|create|migrate|upgrade|handle|replace|move"
    r"|change|make(?! sure)|update|install|deploy|push|merge|document|fix|mend|repair|correct|solve)\b",
    re.IGNORECASE,
)
_NOTE_LEAD = re.compile(r"(?:(?:please|and|also|add|note|tell it|make sure)\b,?\s*)*(?:that\s+|to\s+)?", re.IGNORECASE)
_IT_MUST = re.compile(r"(?:it|they|that|this)\s+(?:must|should|has to|needs to)\s+(?:also\s+)?", re.IGNORECASE)
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Asked:
    """What a prompt asks: to mend the known fault, and whether there is more that the demo agent cannot do."""

    mend: bool
    more: bool


def understood(prompt: str, *, offered: bool) -> Asked:
    """What `prompt` asks for; `offered`: the turn before found the fault that can be mended, so "yes" means that."""
    prompt = prompt[:MAX_PROMPT_CHARS]
    if _DO_NOT.search(prompt):
        return Asked(mend=False, more=False)
    rest = _MEND.sub("", prompt)
    mend = rest != prompt or (offered and _YES.match(prompt) is not None)
    return Asked(mend, more=_CHANGE.search(rest) is not None)


def noted(text: str) -> str:
    """How a text that was steered in is acknowledged in the summary."""
    words = extract_spoken_summary(text)[:MAX_NOTE_CHARS].rstrip(".!? ")
    words = words[_end(_NOTE_LEAD.match(words)) :]
    words = words[_end(_IT_MUST.match(words)) :]
    if words[1:2].islower():
        words = words[0].lower() + words[1:]
    return f"I noted that it must also {words}, and left that for a real agent."


@dataclass(frozen=True)
class Outcome:
    """One run of a project's tests."""

    ran: int
    failed: tuple[str, ...]

    def told(self, project: str, mend: Mend | None) -> str:
        """What came of it, failures first."""
        if not self.ran:
            return f"There are no tests in {project}."
        if not self.failed:
            return f"{all_tests(self.ran)} in {project} {'passes' if self.ran == 1 else 'pass'}."
        names = [mend.called if mend and name == mend.test else spaced(name) for name in self.failed]
        listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        fails = f"{listed} {'fails' if len(names) == 1 else 'fail'}"
        passing = self.ran - len(self.failed)
        others = f", the other {_number(passing)} {'passes' if passing == 1 else 'pass'}" if passing else ""
        return f"I ran the tests in {project}: {fails}{others}."


def all_tests(count: int) -> str:
    """ "All five tests"."""
    return "The one test" if count == 1 else f"All {_number(count)} tests"


def spaced(name: str) -> str:
    """A test's or a branch's name as people say it."""
    return re.sub(r"[\W_]+", " ", name).strip()


def sentence(text: str) -> str:
    """`text` with a capital and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
