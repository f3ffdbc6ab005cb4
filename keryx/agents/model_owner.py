"""Whose model a name is, as far as the name tells. Pure."""

import re

from keryx.agents.registry import CLAUDE, CODEX, spoken_name
from keryx.errors import NotFound

_IDS = {
    CLAUDE.name: re.compile(r"claude-.+|(?:opus|sonnet|haiku)\b.*"),
    CODEX.name: re.compile(r"gpt-?\d.*|o\d\b.*|codex-.+"),
}
_LISTS = {backend.name: backend.models for backend in (CLAUDE, CODEX)}


def model_owner(said: str) -> str | None:
    """The agent whose model is called `said`, by a word for it or by its id; None when that does not tell."""
    name = said.strip().casefold()
    owners = (agent for agent, models in _LISTS.items() if name in models or _IDS[agent].fullmatch(name))
    return next(owners, None)


def check_owner(agent: str, model: str | None) -> None:
    """Raise `NotFound`, which names what `agent` has, when `model` is plainly another agent's.

    An agent of which no models are known may have any.
    """
    owner = None if model is None else model_owner(model)
    if owner is None or owner == agent or agent not in _LISTS:
        return
    own = [name for name in _LISTS[agent] if name.isalpha()]
    raise NotFound(
        f'"{model}" is a model of {owner}, not of {agent}; {agent} has {", ".join(_LISTS[agent])}',
        spoken=f"That's a model of {spoken_name(owner)}, not of {spoken_name(agent)}, "
        f"which has {', '.join(own[:-1])} and {own[-1]}.",
    )
