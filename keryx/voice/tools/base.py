"""What a tool is, what comes of calling one, and what a tool may know of its call."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from keryx.security.pin import PinOutcome

Code = Literal["pin_needed", "not_found", "refused", "budget", "bad_arguments", "unavailable"]
"""Why a call did nothing: the caller is not proven; there is no such thing; not allowed; a limit is used up; the
arguments make no sense; something is down, try later."""


class CallControl(Protocol):
    """What the tools may know of their call and do to it."""

    @property
    def call_id(self) -> str: ...

    @property
    def proven(self) -> bool:
        """The caller may act, not only hear and ask."""
        ...

    def submit_pin(self, pin: str) -> PinOutcome:
        """Try a PIN: the right one makes the caller proven; `LOCKED` ends the call after the next words."""
        ...

    def end(self) -> None:
        """Hang up after what is being said."""
        ...


@dataclass(frozen=True)
class ToolResult:
    """What came of a call: `value` when `ok`, else a `code` and one line a model can act on.

    `spoken` is a sentence that can be said as it is, when whoever refused had one.
    """

    ok: bool
    value: dict[str, Any] = field(default_factory=dict)
    code: Code | None = None
    error: str | None = None
    spoken: str | None = None


def failed(code: Code, error: str, spoken: str | None = None) -> ToolResult:
    """A call that did nothing."""
    return ToolResult(ok=False, code=code, error=error, spoken=spoken)


class Arguments(BaseModel):
    """A tool's arguments: nothing unknown, nothing converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, str_strip_whitespace=True)


def _numeric(value: object) -> object:
    # Models write "4" for 4 now and then; nothing else is turned into a number.
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value.strip()[:12])
    return value


TaskId = Annotated[int, BeforeValidator(_numeric), Field(gt=0, lt=2**31, description="The task's number.")]


@dataclass(frozen=True)
class Tool:
    """One thing the voice may do. `run` gets the checked arguments and an id that is the same when repeated."""

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Any, str], Awaitable[ToolResult]]
    needs_proof: bool = False
    """Changes something, or tells what is private, so the caller must be proven."""
