"""What has to be asked before work goes to an agent: another one, another model, a free hand."""

import dataclasses
import re
from typing import Any

from keryx.agents.model_owner import check_owner, model_owner
from keryx.agents.registry import AgentRegistry, spoken_name
from keryx.errors import NotFound
from keryx.voice.dialogue.base import Understanding
from keryx.voice.dialogue.lines import Line, Question
from keryx.voice.dialogue.models import spoken_model
from keryx.voice.dialogue.normalise import Heard
from keryx.voice.dialogue.replies import Phrases

FULL_MODE = "full mode"
"""What is pending while the caller is asked whether an agent may have a free hand."""
USUAL_MODE = "auto"


_NO_WORK = re.compile(
    r"(?:(?:please|just|only|now|so|then|and|yes|ok|okay|well) )*"
    r"(?:(?:(?:do|take|handle|make|try|plan|run|start|use|have) )?(?:it|that|this|them|those|these|so|the work)"
    r"(?: (?:for|with|to|on) (?:it|that|this|me))?"
    r"|(?:do it |do that )?(?:in|with|use|using) (?:the )?\w+ mode|ask me(?: first| before(?: that)?)?)"
    r"(?: (?:please|now|for me|first|again|instead))*"
)


class AgentChoice:
    """Settles with the caller who does the work, and how freely, one question at a time."""

    def __init__(self, registry: AgentRegistry, phrases: Phrases) -> None:
        self._registry = registry
        self._phrases = phrases

    def ask(self, understood: Understanding, request: str) -> Line | None:
        """The first question about new work that is still open; None when it can be handed over."""
        return (
            self._about_agent(understood, request)
            or self._about_model(understood, request)
            or self.ask_about_mode(understood, request)
        )

    def ask_about_mode(self, understood: Understanding, request: str) -> Line | None:
        """Whoever has the number could ask for a free hand, or seem to: it is read back, and needs a yes."""
        if understood.arguments.get("mode") != "full" or understood.confirmed:
            return None
        text = self._phrases.say("full_check")
        return Line(text, asks=Question(FULL_MODE, text=text, held=understood, request=request))

    def _about_agent(self, understood: Understanding, request: str) -> Line | None:
        agent, default = understood.arguments.get("agent"), self._registry.default
        if agent is None or agent.casefold() in self._registry.names():
            return None
        text = self._phrases.say("not_installed", agent=spoken_name(agent), default=spoken_name(default))
        held = with_agent(understood, default)
        return Line(text, asks=Question(f"agent {default}", text=text, held=held, request=request))

    def _about_model(self, understood: Understanding, request: str) -> Line | None:
        model = understood.arguments.get("model")
        agent = (understood.arguments.get("agent") or self._registry.default).casefold()
        if model is None:
            return None
        try:
            check_owner(agent, model)
            return None
        except NotFound:
            owner = model_owner(model) or ""
        called, model = spoken_name(agent), spoken_model(model)
        if owner in self._registry.names():
            text = self._phrases.say("wrong_model", model=model, agent=called, owner=spoken_name(owner))
            held = with_agent(understood, owner)
        else:
            text = self._phrases.say("wrong_model_alone", model=model, agent=called)
            owner, held = agent, with_agent(understood, agent)
        return Line(text, asks=Question(f"agent {owner}", text=text, held=held, request=request))


def with_agent(understood: Understanding, agent: str) -> Understanding:
    """The same request for `agent`, without a model that is another's."""
    arguments: dict[str, Any] = {**understood.arguments, "agent": agent}
    if model_owner(arguments.get("model") or "") not in (None, agent.casefold()):
        del arguments["model"]
    return dataclasses.replace(understood, arguments=arguments)


def how_words(model: str | None, mode: str) -> str:
    """How an agent goes about it, where that is not the usual way: "with Opus in plan mode"; "" for the usual way."""
    if model and mode != USUAL_MODE:
        return f"with {spoken_model(model)} in {mode} mode"
    if model:
        return f"with {spoken_model(model)}"
    return f"with {mode} mode" if mode != USUAL_MODE else ""


def names_no_work(description: str) -> bool:
    """Whether nothing is left of a request once it is taken apart: "have Codex do it", with no word of what."""
    norm = Heard(description).norm
    return not norm or bool(
        re.fullmatch(rf"(?:{_NO_WORK.pattern})(?: (?:please|now|for me|first|again|instead))*", norm)
    )
