"""Takes a call in: gives it a gate, tools, a dialogue and an engine of its own, and holds it to its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from keryx.agents.registry import AgentRegistry
from keryx.clock import Clock
from keryx.security.pin import PinGate, PinGuard
from keryx.tasks.manager import TaskManager
from keryx.voice.call import Call, Desk
from keryx.voice.dialogue.rules import RulesDialogue
from keryx.voice.engines.cascade import CascadeEngine
from keryx.voice.engines.manner import NewsDesk, SpeechSource
from keryx.voice.live import LiveCalls
from keryx.voice.tools.lookup import Lookup
from keryx.voice.tools.toolbox import Toolbox
from keryx.voice.transports.base import Caller, MediaTransport


@dataclass(frozen=True)
class Host:
    """Whose calls these are. `pin` None: nothing can be proven on a telephone. `timezone` is an IANA name."""

    name: str
    pin: str | None
    timezone: str
    lookup: Lookup | None = None
    """Through which their mail and calendar are asked."""


class Reception:
    """Where every line ends up, whoever carries it."""

    def __init__(
        self,
        manager: TaskManager,
        registry: AgentRegistry,
        speech: SpeechSource,
        live: LiveCalls,
        news: NewsDesk,
        *,
        clock: Clock,
    ) -> None:
        self._manager = manager
        self._registry = registry
        self._speech = speech
        self._live = live
        self._news = news
        self._clock = clock
        self._guards: dict[str, PinGuard] = {}

    async def take(
        self, transport: MediaTransport, caller: Caller, host: Host, projects: Callable[[], Sequence[str]]
    ) -> None:
        """Hold one call from greeting to hang-up. Raises nothing but `CancelledError`, which hangs up too."""
        guard = self._guards.setdefault(host.name, PinGuard(self._clock))
        desk = Desk(caller, PinGate(host.pin, guard=guard))
        toolbox = Toolbox(self._manager, self._registry, projects(), desk, host.lookup)
        dialogue = RulesDialogue(
            toolbox,
            clock=self._clock,
            control=desk,
            owner_name=host.name,
            timezone=host.timezone,
            pin_digits=len(host.pin) if host.pin else None,
        )
        engine = CascadeEngine(transport.capabilities, dialogue, self._speech, self._news, clock=self._clock)
        call = Call(transport, engine, desk)
        with self._live.holding(call):
            await call.run()
