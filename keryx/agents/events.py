"""What any agent's turn is made of, whichever agent it is. An adapter yields these; the session reads them."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "AgentEvent",
    "Alive",
    "Done",
    "Failure",
    "FileEdit",
    "Notice",
    "Question",
    "SessionId",
    "Text",
    "TokenUsage",
    "ToolCall",
    "ToolEnd",
]


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of one turn. `input_tokens` counts the cached ones too (`cached_input_tokens` ≤ `input_tokens`)."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int = 0


class Failure(StrEnum):
    """Why a turn failed, by what the owner can do about it."""

    NOT_SIGNED_IN = "not signed in"
    NO_SUCH_MODEL = "no such model"
    QUOTA = "quota used up"
    OVERLOADED = "provider overloaded"
    UNREACHABLE = "provider unreachable"
    TOO_LONG = "conversation too long"
    LIMIT = "a limit of ours was reached"
    SILENT = "nothing came from it"
    TOO_SLOW = "took too long"
    DIED = "its process ended"
    INTERRUPTED = "interrupted"
    OTHER = "something else"


@dataclass(frozen=True)
class Text:
    """Something the agent said, whole. The last one is its final text unless `Done` brings another."""

    text: str


@dataclass(frozen=True)
class ToolCall:
    """A tool began to run. While any runs, silence is no fault."""

    call_id: str
    title: str
    """What it does, for a person: "Running pytest -q", "Reading the invoice module"."""


@dataclass(frozen=True)
class ToolEnd:
    """The tool of an earlier `ToolCall` came to its end, well or badly."""

    call_id: str


@dataclass(frozen=True)
class FileEdit:
    """A file was changed."""

    path: str
    change: str = "edited"
    """One past participle: "edited", "added", "deleted"."""


@dataclass(frozen=True)
class SessionId:
    """The agent's own name for its conversation became known."""

    session_id: str


@dataclass(frozen=True)
class Notice:
    """Something the owner may want to know of while it lasts: "The provider is overloaded, trying again"."""

    text: str


@dataclass(frozen=True)
class Alive:
    """A sign of life with nothing to tell: part of a text, a ping."""


@dataclass(frozen=True)
class Question:
    """The agent asks without waiting: it is what the turn comes back with, and the answer is a follow-up."""

    text: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """The turn's end; always the last event, and exactly one."""

    ok: bool
    text: str = ""
    """The agent's last words; "" when the last `Text` is meant."""
    usage: TokenUsage | None = None
    """Of this turn alone; None while unknown."""
    cost_usd: float | None = None
    """Of this turn alone, in US dollars; None while unknown."""
    failure: Failure | None = None
    """Set exactly when `ok` is False."""
    error: str | None = None
    """On failure, one line for a screen: the provider's own words where it has any."""
    resets: str | None = None
    """For `Failure.QUOTA`: when it is free again, as the provider words it ("3pm", "Tuesday at nine")."""


AgentEvent = Text | ToolCall | ToolEnd | FileEdit | SessionId | Notice | Alive | Question | Done
