"""Which of the settings that an ACP agent offers for a conversation are the ones a task asks for. Pure.

An agent offers models and modes under names of its own: as configuration options, or, in the older way, as modes. What
its modes mean is nowhere laid down, so only plain names count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp.schema import LoadSessionResponse, NewSessionResponse, ResumeSessionResponse, SessionConfigOptionSelect

_ASKING = ("ask", "default", "manual", "approve", "askpermissions", "alwaysask", "requestapproval", "build", "agent")
_MODES: Mapping[str, tuple[str, ...]] = {
    "plan": ("plan", "planmode", "planning", "readonly", "architect"),
    "ask": _ASKING,
    # Also the one that asks: what `auto` may do alone is decided here, and an agent's own "auto" is often "anything".
    "auto": _ASKING,
    "full": ("full", "fullaccess", "yolo", "bypass", "bypasspermissions", "dangerfullaccess", "autopilot"),
}
"""For each of our modes, what agents call theirs: small letters and digits only, the plainest first."""


@dataclass(frozen=True)
class Choice:
    """One setting and the values it can have."""

    option: str | None
    """The configuration option's id; None: the agent's modes, in the older way."""
    current: str
    values: Mapping[str, str]
    """Each value with its name for a person."""


def choice_of(
    category: str, opened: "NewSessionResponse | LoadSessionResponse | ResumeSessionResponse"
) -> Choice | None:
    """The setting of a category, "mode" or "model", in an agent's answer to the opening of a conversation."""
    for option in opened.config_options or ():
        if option.type == "select" and category in (option.category, option.id):
            return Choice(option.id, option.current_value, dict(_values(option)))
    if category == "mode" and opened.modes is not None:
        modes = {mode.id: mode.name for mode in opened.modes.available_modes}
        return Choice(None, opened.modes.current_mode_id, modes)
    return None


def mode_for(mode: str, choice: Choice) -> str | None:
    """The agent's value for our `mode` (plan, ask, auto, full); None when none is plainly the same."""
    for wanted in _MODES.get(mode, ()):
        for value, name in choice.values.items():
            # Some agents' ids are addresses whose last part says it.
            if wanted in (_bare(value), _bare(name), _bare(re.split(r"[#/]", value)[-1])):
                return value
    return None


def model_for(asked: str, choice: Choice) -> str | None:
    """The agent's value for the model `asked`: the same, or the only one that has it in its id or name."""
    if asked in choice.values:
        return asked
    wanted = _bare(asked)
    named = [(value, {_bare(value), _bare(re.split("/", value)[-1]), _bare(name)}) for value, name in _pairs(choice)]
    same = [value for value, words in named if wanted in words]
    holding = same or [value for value, words in named if wanted and any(wanted in word for word in words)]
    return holding[0] if len(holding) == 1 else None


def _pairs(choice: Choice) -> Sequence[tuple[str, str]]:
    return list(choice.values.items())


def _values(option: "SessionConfigOptionSelect") -> Iterator[tuple[str, str]]:
    for entry in option.options:
        if hasattr(entry, "group"):
            yield from ((value.value, value.name) for value in entry.options)  # pyright: ignore[reportAttributeAccessIssue]
        else:
            yield entry.value, entry.name  # pyright: ignore[reportAttributeAccessIssue]


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
