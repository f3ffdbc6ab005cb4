"""What is said of a turn that failed: one sentence for the ear, whichever agent it was. Pure."""

from keryx.agents.events import Done, Failure
from keryx.agents.summary import shorten

_SAID = {
    Failure.NOT_SIGNED_IN: "{agent} isn't signed in on your machine. Sign it in there, then ask me again.",
    Failure.NO_SUCH_MODEL: "{agent} doesn't know that model. Ask again with another, or name none.",
    Failure.QUOTA: "{agent} has used up its limit. Ask me again {resets}.",
    Failure.OVERLOADED: "{agent}'s provider is overloaded and kept refusing. Ask me again in a while.",
    Failure.UNREACHABLE: "{agent} couldn't reach its provider. Is your machine online?",
    Failure.TOO_LONG: "That conversation has become too long for {agent}. Ask me for the rest as a new task.",
    Failure.LIMIT: "{agent} reached the limit set for it and stopped.",
    Failure.SILENT: "I stopped {agent}: nothing had come from it for too long.",
    Failure.TOO_SLOW: "I stopped {agent}: it had been at it for longer than I let any task run.",
    Failure.DIED: "{agent} stopped unexpectedly. What it had done so far is still there.",
    Failure.INTERRUPTED: "I was stopped before I finished.",
}
_UNNAMED = "{agent} failed: {error}."


def spoken_failure(agent: str, done: Done) -> str:
    """The sentence for `done`, of the agent called `agent` aloud; at most `MAX_SUMMARY_CHARS` characters."""
    template = _SAID.get(done.failure or Failure.OTHER)
    if template is None:
        error = " ".join((done.error or "").split()).rstrip(".")
        template = _UNNAMED if error else "{agent} failed without saying why."
        return shorten(template.format(agent=agent, error=error))
    return shorten(template.format(agent=agent, resets=f"after {done.resets}" if done.resets else "later"))
