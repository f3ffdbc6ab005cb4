"""Tools about the line itself: prove who is calling, hang up."""

from typing import Annotated

from pydantic import Field

from keryx.security.pin import MAX_TRIES, PinOutcome
from keryx.voice.tools.base import Arguments, CallControl, Tool, ToolResult
from keryx.voice.tools.projects import Nothing


class Pin(Arguments):
    # Text, never a number: 001234 and 1234 are two PINs.
    pin: Annotated[str, Field(pattern=r"^[0-9]([ -]?[0-9]){2,15}$", description="The digits as text.")]


def line_tools(control: CallControl) -> list[Tool]:
    """The line tools of one call."""
    wrong = 0

    async def submit_pin(arguments: Pin, request: str) -> ToolResult:
        nonlocal wrong
        outcome = control.submit_pin("".join(digit for digit in arguments.pin if digit.isdigit()))
        match outcome:
            case PinOutcome.ACCEPTED:
                return ToolResult(True, {"outcome": "accepted"})
            case PinOutcome.WRONG:
                wrong += 1
                left = max(1, MAX_TRIES - wrong)
                return _refused("wrong", f"wrong PIN, {left} tries left", left)
            case PinOutcome.LOCKED:
                return _refused("locked", "too many wrong PINs; the call ends", 0)
            case PinOutcome.RESTING:
                return _refused("resting", "too many wrong PINs of late; none is taken for a while", 0)
            case PinOutcome.NOT_SET:
                return _refused("not_set", "no PIN is set, so nobody can prove themselves on this line", 0)

    async def end_call(arguments: Nothing, request: str) -> ToolResult:
        control.end()
        return ToolResult(True, {"ended": True})

    return [
        Tool("submit_pin", "Try the caller's PIN.", Pin, submit_pin),
        Tool("end_call", "Hang up after the goodbye has been said.", Nothing, end_call),
    ]


def _refused(outcome: str, error: str, tries_left: int) -> ToolResult:
    return ToolResult(False, {"outcome": outcome, "tries_left": tries_left}, "refused", error)
