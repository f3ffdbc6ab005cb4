"""What a scripted model does next, whichever vendor's protocol its server speaks: one step answers one request."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

SAID = "All done.\n\nSPOKEN_SUMMARY: All done."


@dataclass(frozen=True)
class Say:
    """The model's answer, and the turn's end."""

    text: str = SAID
    pause_s: float = 0.0
    """Between two pieces of `piece_chars` characters, in real time."""
    piece_chars: int = 20


@dataclass(frozen=True)
class Run:
    """The model has the agent run a shell command, perhaps saying something first."""

    command: str
    say: str = ""


@dataclass(frozen=True)
class Write:
    """The model has the agent write a file by its own tool for that."""

    path: str
    content: str
    say: str = ""


@dataclass(frozen=True)
class AskUser:
    """The model asks the user by the agent's own tool for that."""

    question: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """The model calls any other tool, by the name the agent gives it."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Refuse:
    """The provider answers with an HTTP error."""

    status: int
    message: str = "scripted refusal"
    retry_after_s: float | None = None


@dataclass(frozen=True)
class Stall:
    """The answer begins and then nothing more comes, the connection staying open."""

    text: str = "I will"


@dataclass(frozen=True)
class Drop:
    """The answer begins and the connection breaks."""

    text: str = "I will"


Step = Say | Run | Write | AskUser | Call | Refuse | Stall | Drop


class ModelServer(Protocol):
    """A vendor's model API on loopback, scripted. Steps are used up one a request; without one it says `SAID`."""

    url: str
    """What the agent is told as the API's base address."""

    def script(self, *steps: Step) -> None:
        """Add steps for the requests to come."""
        ...

    @property
    def requests(self) -> Sequence[Any]:
        """The bodies of the model requests so far (not of the agent's side errands, such as naming a conversation)."""
        ...

    async def asked(self, times: int = 1) -> None:
        """Wait until so many requests came in; `TimeoutError` after a bound."""
        ...

    def heard(self, text: str) -> int:
        """How often `text` stands in what the newest request tells the model, everything before included."""
        ...
