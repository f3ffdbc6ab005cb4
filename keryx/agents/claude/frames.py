"""What Claude Code writes, frame by frame, as events of a turn and as the turn's end. Pure.

A frame is one line of `--output-format stream-json`. Only what is read here is relied on; anything else is a sign of
life.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from keryx.agents.claude.tools import EDITS, known_of, title_of
from keryx.agents.equipment import McpServers
from keryx.agents.events import (
    AgentEvent,
    Alive,
    Done,
    Failure,
    FileEdit,
    Notice,
    SessionId,
    Text,
    TokenUsage,
    ToolCall,
    ToolEnd,
)
from keryx.agents.titles import short_path

Frame = Mapping[str, Any]

TOO_LONG_LINE = "keryx_line_too_long"
"""The type of the frame that stands for a line that was too long to be read."""

_USED_UP = re.compile(
    r"usage limit|hit your|limit reached|reached your|credit balance|out of (?:extra )?usage|quota|billing|"
    r"spend(?:ing)? limit",
    re.IGNORECASE,
)
_SIGN_IN = re.compile(
    r"not logged in|/login|api key|authenticat|oauth token|unauthori[sz]ed|credential|token has expired", re.IGNORECASE
)
_MODEL = re.compile(r"selected model|model.{0,40}(?:not exist|not found|not available|unknown)", re.IGNORECASE)
_LONG = re.compile(r"(?:prompt|input|conversation).{0,20}too long|context.{0,20}(?:limit|length|window)", re.IGNORECASE)
_UNREACHED = re.compile(
    r"ECONNREFUSED|ENOTFOUND|ECONNRESET|ETIMEDOUT|EAI_AGAIN|connection (?:refused|error|reset)|unable to connect|"
    r"fetch failed|network|socket|proxy|certificate|timed? ?out",
    re.IGNORECASE,
)
_RESETS = re.compile(r"resets?(?: at)?\s+([^·|\n]{1,60})", re.IGNORECASE)
_RESETS_AT = re.compile(r"\|\s*(\d{10})\b")


class FrameReader:
    """Reads one conversation's frames in order."""

    def __init__(self, place: Path, servers: McpServers | None = None) -> None:
        """`place` is the directory the agent works in: files are told of from there. `servers` are its servers."""
        self._place = place
        self._servers = servers or {}
        self._running: dict[str, str] = {}
        """The path that each running tool changes; "" for one that changes none."""
        self.resets_at: datetime | None = None
        """When the provider last said that the limit it refuses by is free again."""

    def events(self, frame: Frame) -> Iterator[AgentEvent]:
        """What happened, in order; at least one event for every frame."""
        yield Alive()
        match frame.get("type"):
            case "assistant":
                yield from self._said(frame)
            case "user":
                yield from self._results(frame)
            case "system":
                yield from self._told(frame)
            case "rate_limit_event":
                self._limited(frame)
            case kind if kind == TOO_LONG_LINE:
                # It may have held any tool's result; a tool that never ends would keep the watchdog waiting.
                yield from (ToolEnd(call_id) for call_id in self._running)
                self._running.clear()

    def _said(self, frame: Frame) -> Iterator[AgentEvent]:
        inner = frame.get("parent_tool_use_id") is not None
        for block in _blocks(frame):
            match block:
                case {"type": "text", "text": str(text)} if not inner:
                    yield Text(text)
                case {"type": "tool_use", "id": str(call_id), "name": str(tool), "input": dict(arguments)}:
                    known = known_of(tool, self._servers)
                    title = known.doing if known else title_of(tool, arguments, self._place)
                    if inner:
                        yield Notice(title)
                        continue
                    path = arguments.get("file_path") or arguments.get("notebook_path")
                    self._running[call_id] = path if tool in EDITS and isinstance(path, str) else ""
                    yield ToolCall(call_id, title)

    def _results(self, frame: Frame) -> Iterator[AgentEvent]:
        for block in _blocks(frame):
            match block:
                case {"type": "tool_result", "tool_use_id": str(call_id)} if call_id in self._running:
                    path = self._running.pop(call_id)
                    yield ToolEnd(call_id)
                    if path and not block.get("is_error"):
                        outcome = frame.get("tool_use_result")
                        made = isinstance(outcome, Mapping) and outcome.get("type") == "create"
                        yield FileEdit(short_path(path, self._place), "added" if made else "edited")

    def _told(self, frame: Frame) -> Iterator[AgentEvent]:
        match frame.get("subtype"):
            case "init":
                if isinstance(session_id := frame.get("session_id"), str):
                    yield SessionId(session_id)
            case "api_retry":
                yield Notice(f"{_trouble(frame)}, trying again")
            case "compact_boundary":
                yield Notice("The conversation grew long and was condensed")

    def _limited(self, frame: Frame) -> None:
        info = frame.get("rate_limit_info")
        if isinstance(info, Mapping) and info.get("status") == "rejected":
            at = info.get("resetsAt")
            self.resets_at = _moment(at) if isinstance(at, int | float) else None


def outcome_of(result: Frame, usage: TokenUsage | None, cost_usd: float | None, resets_at: datetime | None) -> Done:
    """The turn's end that a `result` frame tells of."""
    text = result.get("result")
    text = text.strip() if isinstance(text, str) else ""
    if not result.get("is_error") and result.get("subtype") == "success":
        return Done(True, text, usage, cost_usd)
    errors = [error for error in result.get("errors") or () if isinstance(error, str)]
    said = "; ".join(errors) or text or str(result.get("subtype") or "no reason given")
    failure = _failure_of(result, said)
    resets = None
    if failure is Failure.QUOTA:
        resets = _resets(said) or (_time_of_day(resets_at) if resets_at else None)
    return Done(False, "", usage, cost_usd, failure, said, resets)


def covered(result: Frame) -> frozenset[str] | None:
    """The uuids of the messages that a `result` answers; None when it does not say."""
    uuids = result.get("user_message_uuids")
    return frozenset(uuid for uuid in uuids if isinstance(uuid, str)) if isinstance(uuids, list) else None


def unasked(result: Frame) -> bool:
    """Whether a `result` ends a turn that nobody's message began."""
    origin = result.get("origin")
    return isinstance(origin, Mapping) and origin.get("kind") == "task-notification"


@dataclass(frozen=True)
class Spent:
    """What one CLI process counts up from its start, with what it took over from its conversation's file."""

    cost_usd: float = 0.0
    tokens: TokenUsage = TokenUsage(0, 0, 0)


class Meter:
    """Turns what is counted up over a conversation into what one turn took."""

    def __init__(self, before: Spent = Spent()) -> None:  # noqa: B008 - frozen
        self._before = before

    def take(self, result: Frame) -> tuple[TokenUsage | None, float | None]:
        """Tokens and cost since the last `result`; None for what it does not tell."""
        now = spent(result.get("modelUsage"), result.get("total_cost_usd"))
        if now is None:
            return None, None
        before, self._before = self._before, now
        if now.cost_usd < before.cost_usd or now.tokens.output_tokens < before.tokens.output_tokens:
            before = Spent()  # the process was killed before it wrote down what it had counted
        return (
            TokenUsage(
                now.tokens.input_tokens - before.tokens.input_tokens,
                now.tokens.output_tokens - before.tokens.output_tokens,
                now.tokens.cached_input_tokens - before.tokens.cached_input_tokens,
            ),
            round(now.cost_usd - before.cost_usd, 9),
        )


def spent(models: Any, cost_usd: Any) -> Spent | None:
    """A total over all models, subagents' included; None when it is not told."""
    if not isinstance(models, Mapping) or not isinstance(cost_usd, int | float):
        return None

    def total(*names: str) -> int:
        return sum(int(model.get(name) or 0) for model in models.values() for name in names)

    cached = total("cacheReadInputTokens")
    made = total("inputTokens", "cacheCreationInputTokens")
    return Spent(float(cost_usd), TokenUsage(made + cached, total("outputTokens"), cached))


def _blocks(frame: Frame) -> list[Any]:
    message = frame.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, list) else []


def _failure_of(result: Frame, said: str) -> Failure:
    subtype, reason, status = (result.get(key) for key in ("subtype", "terminal_reason", "api_error_status"))
    if isinstance(subtype, str) and subtype.startswith("error_max"):
        return Failure.LIMIT
    if isinstance(reason, str) and reason.startswith("aborted"):
        return Failure.INTERRUPTED
    if reason == "prompt_too_long" or status == 413:
        return Failure.TOO_LONG
    if status in (401, 403):
        return Failure.NOT_SIGNED_IN
    if status == 402 or _USED_UP.search(said):
        return Failure.QUOTA
    if status == 404 or _MODEL.search(said):
        return Failure.NO_SUCH_MODEL
    if status == 429 or (isinstance(status, int) and status >= 500):
        return Failure.OVERLOADED
    if _SIGN_IN.search(said):
        return Failure.NOT_SIGNED_IN
    if _LONG.search(said):
        return Failure.TOO_LONG
    return Failure.UNREACHABLE if _UNREACHED.search(said) else Failure.OTHER


def _trouble(frame: Frame) -> str:
    match frame.get("error_status"):
        case 529:
            return "The provider is overloaded"
        case 429:
            return "The provider asks for patience"
        case 401 | 403:
            return "The provider refuses the sign-in"
        case None:
            return "The provider could not be reached"
        case _:
            return "The provider has trouble"


def _resets(said: str) -> str | None:
    if at := _RESETS_AT.search(said):
        return _time_of_day(_moment(int(at.group(1))))
    found = _RESETS.search(said)
    return found.group(1).strip().rstrip(".") if found else None


def _moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds).astimezone()
    except (OverflowError, ValueError, OSError):
        return None


def _time_of_day(moment: datetime | None) -> str | None:
    """ "Tuesday 3pm", "Tuesday 3:20pm", in this machine's time."""
    if moment is None:
        return None
    minutes = f":{moment.minute:02}" if moment.minute else ""
    return f"{moment:%A} {moment.hour % 12 or 12}{minutes}{'am' if moment.hour < 12 else 'pm'}"
