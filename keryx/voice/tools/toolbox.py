"""One call's tools: checks what is asked, does it once, and turns every failure into an answer."""

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from pydantic import ValidationError

from keryx.agents.registry import AgentRegistry
from keryx.errors import BudgetSpent, KeryxError, NotFound, Refused
from keryx.tasks.manager import TaskManager
from keryx.voice.tools.base import Arguments, CallControl, Code, Tool, ToolResult, failed
from keryx.voice.tools.calendar import calendar_tool
from keryx.voice.tools.line import line_tools
from keryx.voice.tools.lookup import Lookup
from keryx.voice.tools.mail import mail_tool
from keryx.voice.tools.projects import project_tools
from keryx.voice.tools.tasks import task_tools

log = logging.getLogger(__name__)

MAX_ARGUMENT_CHARS = 200_000
REMEMBERED_CALLS = 500
"""So many finished calls are remembered by their id; a repeat of an older one would run again."""

_NOTHING_HAPPENED = ("bad_arguments", "pin_needed")
"""Not remembered: with better arguments, or after the PIN, the same call id may still do its work."""


class _Once:
    """One call id: who holds the lock runs it, who waits gets the same result."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.result: ToolResult | None = None


class Toolbox:
    """The tools of one call."""

    def __init__(
        self,
        manager: TaskManager,
        registry: AgentRegistry,
        projects: Sequence[str],
        control: CallControl,
        lookup: Lookup | None = None,
    ) -> None:
        """`lookup`: through which the owner's mail and calendar are asked; None: there are no tools for them."""
        self.manager = manager
        self.registry = registry
        self.projects = tuple(projects)
        self.control = control
        tools = [
            *task_tools(manager, self.projects, control.call_id),
            *project_tools(self.projects),
            *line_tools(control),
        ]
        if lookup is not None:
            tools += [mail_tool(lookup), calendar_tool(lookup)]
        self._tools: dict[str, Tool] = {tool.name: tool for tool in tools}
        self._once: OrderedDict[str, _Once] = OrderedDict()

    def schemas(self) -> list[dict[str, Any]]:
        """Every tool for a model: `name`, `description`, and its arguments as a JSON schema in `parameters`."""
        return [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": _without_titles(tool.arguments.model_json_schema()),
            }
            for tool in self._tools.values()
        ]

    async def call(self, name: str, arguments: str | Mapping[str, Any], *, call_id: str) -> ToolResult:
        """Call a tool with arguments as JSON text or as a mapping; never raises but `CancelledError`.

        The same `call_id` again, also at the same time, has one effect and gives the same result. After a cancellation
        the effect may have happened; the same `call_id` again finds it.
        """
        once = self._once.setdefault(call_id, _Once())
        self._once.move_to_end(call_id)
        async with once.lock:
            if once.result is not None:
                return once.result
            result = await self._run(name, arguments, call_id)
            if result.code not in _NOTHING_HAPPENED:
                once.result = result
        self._forget_oldest()
        return result

    async def _run(self, name: str, raw: str | Mapping[str, Any], call_id: str) -> ToolResult:
        tool = self._tools.get(name)
        if tool is None:
            return failed("bad_arguments", f'no tool "{name}"; there is {", ".join(self._tools)}')
        try:
            arguments = _parse(tool.arguments, raw)
        except _BadArguments as bad:
            return failed("bad_arguments", f"{name}: {bad}; nothing was done, call it again with a JSON object")
        if tool.needs_proof and not self.control.proven:
            return failed("pin_needed", "the caller must give the PIN first; then call this again")
        try:
            return await tool.run(arguments, call_id)
        except KeryxError as error:
            return failed(_code_of(error), str(error), error.spoken)
        except Exception:
            # The edge of one tool call: the conversation goes on and says that it did not work.
            log.exception("a tool broke", extra={"tool": name})
            return failed("unavailable", f"{name} failed unexpectedly; it may work later")

    def _forget_oldest(self) -> None:
        while len(self._once) > REMEMBERED_CALLS:
            self._once.popitem(last=False)


class _BadArguments(ValueError):
    """The arguments make no sense; says which and why."""


def _parse(model: type[Arguments], raw: str | Mapping[str, Any]) -> Arguments:
    values: object = raw
    if isinstance(raw, str):
        if len(raw) > MAX_ARGUMENT_CHARS:
            raise _BadArguments("the arguments are too long")
        try:
            values = json.loads(raw, parse_constant=_no_constant, object_pairs_hook=_no_doubles)
        except (ValueError, RecursionError) as error:
            raise _BadArguments(f"the arguments are not valid JSON ({str(error)[:120]})") from error
    if not isinstance(values, Mapping):
        raise _BadArguments(f"the arguments must be a JSON object, not {_kind(values)}")
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise _BadArguments("; ".join(_fault(detail) for detail in error.errors(include_input=False)[:5])) from None


def _fault(detail: Any) -> str:
    place = ".".join(str(part) for part in detail["loc"]) or "arguments"
    return f"{place}: {detail['msg'][0].lower()}{detail['msg'][1:]}"


def _kind(value: object) -> str:
    return {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name stands there twice")
    return values


def _code_of(error: KeryxError) -> Code:
    match error:
        case NotFound():
            return "not_found"
        case Refused():
            return "refused"
        case BudgetSpent():
            return "budget"
        case _:
            return "unavailable"


def _without_titles(schema: Any) -> Any:
    """The schema less the titles pydantic adds, which tell a model nothing."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_without_titles(value) for value in schema]
    return schema
