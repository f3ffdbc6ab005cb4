"""From what an ACP agent tells of itself (`session/update`) to the events of a turn. Pure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from keryx.agents.acp.tools import Surroundings, ToolState
from keryx.agents.events import AgentEvent, Alive, FileEdit, Notice, Text, TokenUsage, ToolCall, ToolEnd

if TYPE_CHECKING:
    from acp.schema import AgentPlanUpdate, ToolCallProgress, ToolCallStart, ToolCallUpdate, Usage

Update = Any
"""One of the SDK's thirteen kinds of `session/update`, told apart by `session_update`."""

_ENDED = ("completed", "failed")


class Telling:
    """One turn's updates, gathered: texts into whole ones, a tool's many updates into its beginning and its end."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._said: list[str] = []
        self._saying: str | None = None
        self._tools: dict[str, ToolState] = {}
        self._step: str | None = None

    def take(self, update: Update) -> Iterator[AgentEvent]:
        """The events of one update; at least one, as every update is a sign of life."""
        match update.session_update:
            case "agent_message_chunk":
                # Another id is another message. Agents that give none are understood by what comes between.
                if update.message_id != self._saying:
                    yield from self.rest()
                    self._saying = update.message_id
                if update.content.type == "text":
                    self._said.append(update.content.text)
                yield Alive()
            case "agent_thought_chunk":
                if self._saying is None:
                    yield from self.rest()
                yield Alive()
            case "tool_call" | "tool_call_update":
                yield from self.rest()
                yield from self._tool(update)
            case "plan":
                yield from self._plan(update)
            case _:
                yield Alive()

    def rest(self) -> Iterator[AgentEvent]:
        """The text that has been gathered and is not told yet, if any."""
        text = "".join(self._said)
        self._said.clear()
        self._saying = None
        if text.strip():
            yield Text(text)

    def known(self, call: "ToolCallStart | ToolCallProgress | ToolCallUpdate") -> ToolState:
        """What is known of a tool call, `call` included."""
        tool = self._tools.setdefault(call.tool_call_id, ToolState(self._around))
        tool.merge(call)
        return tool

    def _tool(self, call: "ToolCallStart | ToolCallProgress") -> Iterator[AgentEvent]:
        tool, call_id = self.known(call), call.tool_call_id
        over = call.status in _ENDED
        # A call is often announced before its arguments are there: "bash", and only then what is run.
        if not tool.told and (tool.says_something or call.status not in (None, "pending")):
            tool.told = True
            yield ToolCall(call_id, tool.activity())
        if over and not tool.ended:
            tool.ended = True
            if call.status == "completed" and tool.changes_files:
                yield from (FileEdit(tool.shown(path), _change(tool, path)) for path in tool.diffs or tool.paths)
            yield ToolEnd(call_id)
        yield Alive()

    def _plan(self, plan: "AgentPlanUpdate") -> Iterator[AgentEvent]:
        step = next((entry.content for entry in plan.entries if entry.status == "in_progress"), None)
        if step and step != self._step:
            self._step = step
            yield Notice(step)
        yield Alive()


def _change(tool: ToolState, path: str) -> str:
    if tool.kind == "delete":
        return "deleted"
    return "added" if path in tool.diffs and tool.diffs[path] is None else "edited"


def usage_of(usage: "Usage | None") -> TokenUsage | None:
    """The tokens of a turn, the cached ones counted as input too.

    Agents differ in whether their `inputTokens` holds the cached ones. What their total leaves over tells.
    """
    if usage is None or usage.total_tokens == 0:
        return None
    cached = usage.cached_read_tokens or 0
    rest = usage.total_tokens - usage.output_tokens - (usage.thought_tokens or 0)
    return TokenUsage(max(usage.input_tokens, rest, cached), usage.output_tokens, cached)
