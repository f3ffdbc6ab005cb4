"""What is said of a turn that failed: a sentence or two for the ear, whichever agent it was. Pure."""

import re

from keryx.agents.events import Done, Failure
from keryx.agents.summary import NOTHING_SAID, extract_spoken_summary, shorten

MAX_ERROR_CHARS = 160
"""Of a provider's own words: what fits one breath."""

_SAID = {
    Failure.NOT_SIGNED_IN: "{agent} isn't signed in on your machine. Sign it in there, then ask me again.",
    Failure.NO_SUCH_MODEL: "{agent} doesn't know that model. Ask me again with another one, or without naming one.",
    Failure.QUOTA: "{agent} has used up its limit. Ask me again {resets}.",
    Failure.OVERLOADED: "{agent}'s provider is overloaded and kept refusing. Ask me again in a while.",
    Failure.UNREACHABLE: "{agent} couldn't reach its provider. Make sure your machine is online, then ask me again.",
    Failure.TOO_LONG: "That conversation has become too long for {agent}. Ask me for the rest as a new task.",
    Failure.LIMIT: "{agent} stopped before it finished: it reached the limit set for it.",
    Failure.SILENT: "I stopped {agent}: nothing had come from it for too long. What it had done is still there.",
    Failure.TOO_SLOW: "I stopped {agent}: it had taken longer than I let a task run. What it had done is still there.",
    Failure.DIED: "{agent} stopped unexpectedly. What it had done is still there.",
    Failure.INTERRUPTED: "{agent} was stopped before it finished.",
}
_WORDED = "{agent} failed: {error}."
_UNWORDED = "{agent} failed without saying why."

_UNSAYABLE = re.compile(
    r"\w+://\S+"  # addresses
    r"|(?<!\S)[~.]{0,2}/[^\s,;]+"  # paths
    r"|\((?:request|trace|session)?[ _-]?id[^()]*\)|\b(?:request|trace|session)[ _-]?id[:= ]+\S+"
    r"|\b\S*\d\S{11,}",  # keys, hashes and the like
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"(?:after|at|by|in|on|from|tomorrow|tonight|today|next|later)\b", re.IGNORECASE)


def spoken_failure(agent: str, done: Done) -> str:
    """The sentence for `done`, of the agent called `agent` aloud; at most `MAX_SUMMARY_CHARS` characters, one line."""
    template = _SAID.get(done.failure or Failure.OTHER)
    if template is None:
        error = _sayable(done.error or "")
        return shorten((_WORDED if error else _UNWORDED).format(agent=agent, error=error))
    return shorten(template.format(agent=agent, resets=_when(_sayable(done.resets or ""))))


def _when(resets: str) -> str:
    if not resets:
        return "later"
    return resets if _PREPOSITION.match(resets) else f"after {resets}"


def _sayable(words: str) -> str:
    """A provider's own words without what nobody can listen to, and without their end mark; "" when none are left."""
    words = extract_spoken_summary(words) if words.strip() else NOTHING_SAID
    if words == NOTHING_SAID:
        return ""
    words = " ".join(_UNSAYABLE.sub(" ", words).split())
    if len(words) > MAX_ERROR_CHARS:
        first = words[:MAX_ERROR_CHARS].rpartition(". ")[0]
        words = first or words[:MAX_ERROR_CHARS].rpartition(" ")[0]
    words = re.sub(r"\s+(?=[.,:;!?])", "", words).strip(" .,:;!?…-–—([")
    return words if any(char.isalnum() for char in words) else ""
