"""What a task's mode allows by itself: a table, and the approver that goes by it."""

import logging
from dataclasses import dataclass
from enum import StrEnum

from keryx.agents.base import Answer, Approver, Ask, Effect
from keryx.tasks.models import Task

log = logging.getLogger(__name__)


class Verdict(StrEnum):
    """What becomes of something an agent wants to do."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True)
class Decision:
    """What a mode says of one effect."""

    verdict: Verdict
    reason: str = ""
    """With `Verdict.DENY`: why not, in words for the agent."""


ONLY_PLANS = (
    "This task only plans: nothing may be changed, run or sent. Look at what you need, describe what you would do in "
    "your final answer, and the owner decides."
)

_FREE: dict[str, frozenset[Effect]] = {
    "plan": frozenset({Effect.READ}),
    "ask": frozenset({Effect.READ}),
    "auto": frozenset({Effect.READ, Effect.CHANGE, Effect.RUN, Effect.PACKAGES}),
    "full": frozenset(Effect),
}
"""What each mode allows without asking."""
_BEYOND: dict[str, Decision] = {"plan": Decision(Verdict.DENY, ONLY_PLANS)}
"""What becomes of everything else, where it is not asked about."""
_UNKNOWN_MODE = "ask"
_EVERYDAY = frozenset({Effect.READ, Effect.CHANGE, Effect.RUN})


def decide(mode: str, effect: Effect) -> Decision:
    """What `mode` says of `effect`. A mode nobody knows asks about everything but looking. Pure."""
    known = mode if mode in _FREE else _UNKNOWN_MODE
    if effect in _FREE[known]:
        return Decision(Verdict.ALLOW)
    return _BEYOND.get(known, Decision(Verdict.ASK))


class ModeApprover:
    """Answers what the task's mode decides by itself, and passes on the rest: asks, and every question."""

    def __init__(self, beyond: Approver) -> None:
        self._beyond = beyond

    async def ask(self, task: Task, ask: Ask) -> Answer:
        """As `Approver.ask`. A cancellation reaches whoever is being asked beyond."""
        if ask.effect is None:
            return await self._beyond.ask(task, ask)
        decision = decide(task.mode, ask.effect)
        seen = {"mode": task.mode, "effect": ask.effect.value, "for_task": task.id}
        match decision.verdict:
            case Verdict.ALLOW:
                if ask.effect not in _EVERYDAY:
                    log.info("allowed by the task's mode", extra=seen)
                return Answer(True)
            case Verdict.DENY:
                log.info("denied by the task's mode", extra=seen)
                return Answer(False, decision.reason)
            case Verdict.ASK:
                return await self._beyond.ask(task, ask)
