"""Claude Code's tools in plain words: what is said while one runs, and what would come of allowing it. Pure."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keryx.agents.approver import Ask, Effect
from keryx.agents.effects import effect_of_command, effect_of_look, effect_of_path
from keryx.agents.equipment import KnownTool, McpServers, known_tool
from keryx.agents.titles import short_line, short_path, without_folders

EDITS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
"""The tools that change one file."""

_READS = frozenset(
    {
        *("Read", "Glob", "Grep", "LS", "NotebookRead", "LSP", "ListMcpResourcesTool", "ReadMcpResourceTool"),
        # Its own bookkeeping, which changes nothing but its own mind.
        *("TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput", "BashOutput", "ToolSearch"),
        *("EnterPlanMode", "ExitPlanMode", "ListAgents", "ReportFindings", "StructuredOutput"),
    }
)
_RUNS = frozenset({"Task", "Agent", "KillShell", "TaskStop", "Skill", "EnterWorktree", "ExitWorktree"})

_CHANGE_OF_PLACE = re.compile(r"^\s*cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;)\s*")


def known_of(tool: str, servers: McpServers) -> KnownTool | None:
    """What the house knows of the tool that Claude Code calls `mcp__SERVER__TOOL`; None: nothing."""
    prefix, _, rest = tool.partition("__")
    server, _, name = rest.partition("__")
    return known_tool(servers, server, name) if prefix == "mcp" else None


def title_of(tool: str, arguments: Mapping[str, Any], place: Path) -> str:
    """What the tool is about to do, for a person: "Running pytest -q", "Editing totals.py". No whole paths."""
    match tool:
        case "Bash":
            return short_line(f"Running {_command(_text(arguments, 'command'), place)}")
        case "Read" | "NotebookRead":
            return short_line(f"Reading {_file(arguments, place)}")
        case "Write":
            return short_line(f"Writing {_file(arguments, place)}")
        case "Edit" | "MultiEdit" | "NotebookEdit":
            return short_line(f"Editing {_file(arguments, place)}")
        case "Grep":
            return short_line(f"Searching for {_text(arguments, 'pattern')}")
        case "Glob":
            return short_line(f"Looking for {_command(_text(arguments, 'pattern'), place)}")
        case "LS":
            return short_line(f"Listing {_file(arguments, place)}")
        case "WebFetch":
            return short_line(f"Fetching {_host(arguments)}")
        case "WebSearch":
            return short_line(f"Searching the web for {_text(arguments, 'query')}")
        case "Task" | "Agent":
            return short_line(f"Handing on: {_text(arguments, 'description') or 'part of the work'}")
        case "Skill":
            return short_line(f"Using its {_text(arguments, 'skill')} skill")
        case "AskUserQuestion":
            return "Asking a question"
        case "ExitPlanMode":
            return "Handing over the plan"
        case "EnterPlanMode" | "TodoWrite" | "TaskCreate" | "TaskUpdate":
            return "Planning the work"
        case "ToolSearch":
            return "Looking for a tool"
    if mcp := _of_server(tool):
        return short_line(f"Using {mcp[1]} from {mcp[0]}")
    return short_line(f"Using {tool}")


def permission_for(tool: str, arguments: Mapping[str, Any], place: Path, *, read_only: bool = False) -> Ask:
    """What is to be asked before `tool` may run in the directory `place`.

    `read_only`: a tool of an MCP server says of itself that it changes nothing.
    """
    match tool:
        case "Bash":
            command = _text(arguments, "command")
            return Ask(short_line(f"run {_command(command, place)}"), effect_of_command(command, place), detail=command)
        case "WebFetch":
            return Ask(
                short_line(f"fetch a page from {_host(arguments)}"), Effect.NETWORK, detail=_text(arguments, "url")
            )
        case "WebSearch":
            query = _text(arguments, "query")
            return Ask(short_line(f"search the web for {query}"), Effect.NETWORK, detail=query)
    if tool in EDITS:
        verb = "write" if tool == "Write" else "edit"
        effect = effect_of_path(place / _path(arguments), place)
        return Ask(short_line(f"{verb} {_file(arguments, place)}"), effect, detail=_change(arguments))
    looks = effect_of_look(_path(arguments), place)
    effect = looks if tool in _READS else Effect.READ if read_only else Effect.RUN if tool in _RUNS else Effect.UNKNOWN
    title = title_of(tool, arguments, place)
    verb, _, rest = title.partition(" ")
    return Ask(f"{_INFINITIVE.get(verb, verb.lower())} {rest}", effect, detail=_details(arguments))


_INFINITIVE = {
    "Reading": "read",
    "Searching": "search",
    "Looking": "look",
    "Listing": "list",
    "Handing": "hand",
    "Using": "use",
    "Asking": "ask",
    "Planning": "plan",
}


def _path(arguments: Mapping[str, Any]) -> str:
    return next((text for key in ("file_path", "notebook_path", "path") if (text := _text(arguments, key))), "")


def _file(arguments: Mapping[str, Any], place: Path) -> str:
    return short_path(_path(arguments), place) or "files"


def _command(command: str, place: Path) -> str:
    command = _CHANGE_OF_PLACE.sub("", command.strip()).partition("\n")[0]
    command = command.replace(f"{place}/", "")
    return without_folders(command)


def _change(arguments: Mapping[str, Any]) -> str:
    parts = [_path(arguments)]
    if "old_string" in arguments:
        parts += ["- " + _text(arguments, "old_string"), "+ " + _text(arguments, "new_string")]
    else:
        parts += [_text(arguments, "content") or _text(arguments, "new_source")]
    return "\n".join(filter(None, parts))


def _details(arguments: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in arguments.items())


def _host(arguments: Mapping[str, Any]) -> str:
    try:
        return urlsplit(_text(arguments, "url")).hostname or "the web"
    except ValueError:
        return "the web"


def _of_server(tool: str) -> tuple[str, str] | None:
    """The server and the tool that `mcp__server__tool` names."""
    prefix, _, rest = tool.partition("__")
    server, _, name = rest.partition("__")
    return (server, name.replace("_", " ")) if prefix == "mcp" and name else None


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    return value if isinstance(value, str) else ""
