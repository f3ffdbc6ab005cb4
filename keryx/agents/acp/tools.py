"""What an ACP agent's tool call is: what it is called for a person, what it would change, and how it is answered. Pure.

An agent names a call's `kind` itself and fills in the rest as it goes, so everything here takes what is known so far.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from keryx.agents.acp.naming import tool_meant
from keryx.agents.approver import Ask, Effect
from keryx.agents.effects import effect_of_command, effect_of_look, effect_of_path, spoken_command, worst
from keryx.agents.equipment import KnownTool, McpServers
from keryx.agents.titles import short_line

if TYPE_CHECKING:
    from acp.schema import PermissionOption, ToolCallProgress, ToolCallStart, ToolCallUpdate

MAX_EAR_CHARS = 200
MAX_DETAIL_CHARS = 20_000

# How agents call a path among their tools' arguments, without the case and the underscores.
_PATHS = frozenset({"path", "filepath", "abspath", "absolutepath", "notebookpath", "targetfile", "oldpath", "newpath"})
_COMMANDS = ("command", "cmd", "script")
_CHANGING = frozenset({"edit", "delete", "move"})
_DOING = {"edit": "Editing", "delete": "Deleting", "move": "Moving", "read": "Reading"}
_TO_DO = {"edit": "change", "delete": "delete", "move": "move", "read": "read"}


@dataclass(frozen=True)
class Surroundings:
    """What a conversation's tool calls are looked at with."""

    place: Path
    """Where the task works."""
    servers: McpServers = field(default_factory=dict)
    """The servers of tools that the agent was handed."""
    tool_title: str | None = None
    """As `KnownAgent.tool_title`."""


@dataclass
class ToolState:
    """One tool call, as far as its agent has told of it."""

    around: Surroundings
    kind: str | None = None
    title: str = ""
    raw: dict[str, Any] = field(default_factory=dict)
    """What the tool was called with, in the agent's own words."""
    located: list[str] = field(default_factory=list)
    diffs: dict[str, str | None] = field(default_factory=dict)
    """The files whose new text came along, each with its old one; None: there was none."""
    told: bool = False
    ended: bool = False

    def merge(self, update: "ToolCallStart | ToolCallProgress | ToolCallUpdate") -> None:
        """Take in what an update says; what it leaves out stays as it was."""
        self.kind = update.kind or self.kind
        self.title = update.title or self.title
        if isinstance(update.raw_input, dict):
            self.raw.update(update.raw_input)
        if update.locations:
            self.located = [location.path for location in update.locations]
        for part in update.content or ():
            if part.type == "diff":
                self.diffs[part.path] = part.old_text or None

    @property
    def place(self) -> Path:
        return self.around.place

    @property
    def says_something(self) -> bool:
        """Whether it is known what it is about, and not only that there is such a call."""
        if self.kind == "execute":
            return self.command is not None
        return bool(self.paths if self.kind in _DOING else self.raw)

    @property
    def command(self) -> str | None:
        """The shell command it runs; None when it runs none, or none that is known."""
        for name in _COMMANDS:
            match self.raw.get(name):
                # An editor's tool may call what it does its "command".
                case str(line) if line.strip() and self.kind in ("execute", "other", None):
                    return line
                case [*words] if words and all(isinstance(word, str) for word in words):
                    return _unwrapped(words)
        return None

    @property
    def paths(self) -> list[str]:
        """The files it is about; the first is the one to name."""
        given = [v for k, v in self.raw.items() if isinstance(v, str) and k.replace("_", "").casefold() in _PATHS]
        changes = self.raw.get("changes")
        named = [path for path in changes if isinstance(path, str)] if isinstance(changes, dict) else []
        return list(dict.fromkeys(filter(None, (*self.diffs, *named, *self.located, *given))))

    @property
    def changes_files(self) -> bool:
        """Whether files are different after it, as far as its agent says."""
        return self.kind in _CHANGING or bool(self.diffs)

    def shown(self, path: str) -> str:
        """`path` as the task's owner knows it: from the task's directory where it lies inside."""
        whole = self.place / path
        return str(whole.relative_to(self.place)) if whole.is_relative_to(self.place) else path

    def activity(self) -> str:
        """What it does, for a person: "Running pytest -q"."""
        title, paths = _plain(self.title), self.paths
        if (meant := self._meant()) is not None:
            return meant[0].doing
        if (command := self.command) is not None:
            return f"Running {_plain(command)}"
        if self.kind in _DOING and paths:
            return f"{_DOING[self.kind]} {self.shown(paths[0])}"
        if self.kind == "fetch" and (url := _first(self.raw, "url", "uri")):
            return f"Fetching {url}"
        if self.kind == "search" and (pattern := _first(self.raw, "pattern", "query")):
            return f"Searching for {pattern}"
        return title or "Using a tool"

    def effect(self) -> Effect:
        """What it would change. A kind that says too little is `Effect.UNKNOWN`."""
        if (command := self.command) is not None:
            return effect_of_command(command, self.place)
        if self.changes_files:
            effects = [effect_of_path(path, self.place) for path in self.paths]
            return worst(effects) if effects else Effect.UNKNOWN
        match self.kind:
            case "read" | "search" | "think":
                return worst(effect_of_look(path, self.place) for path in self.paths)
            case "fetch":
                return Effect.NETWORK
            case _:
                return Effect.UNKNOWN

    def ask(self) -> Ask:
        """The permission that it needs, as it is put to whoever may decide."""
        if (meant := self._meant()) is not None:
            known, arguments = meant
            return known.judge(arguments)
        return Ask(
            short_line(self._wish(), MAX_EAR_CHARS), effect=self.effect(), detail=self._detail()[:MAX_DETAIL_CHARS]
        )

    def _meant(self) -> tuple[KnownTool, Mapping[str, Any]] | None:
        """The tool of the house's that it is surely of, and what it is called with."""
        if self.diffs or self.located:
            return None
        around = self.around
        return tool_meant(self.title, self.kind, self.raw, around.servers, spelling=around.tool_title)

    def _wish(self) -> str:
        title, paths = _plain(self.title), self.paths
        if (command := self.command) is not None:
            return spoken_command(command, self.place)
        if paths and (self.kind in _TO_DO or self.diffs):
            more = f" and {len(paths) - 1} more" if len(paths) > 1 and self.changes_files else ""
            where = " outside the project" if self.effect() is Effect.OUTSIDE else ""
            return f"{_TO_DO.get(self.kind or '', 'change')} {Path(paths[0]).name}{more}{where}"
        if self.kind == "fetch" and (url := _first(self.raw, "url", "uri")):
            return f"fetch something from {urlsplit(url).hostname or 'the network'}"
        return f"use a tool: {title}" if title else "use a tool that it does not name"

    def _detail(self) -> str:
        if (command := self.command) is not None:
            return command
        if isinstance(diff := self.raw.get("diff"), str):
            return diff
        whole = json.dumps(self.raw, ensure_ascii=False, indent=1, default=str) if self.raw else ""
        return "\n".join(filter(None, (self.title, whole or "\n".join(self.paths))))


def option_for(allowed: bool, options: "Sequence[PermissionOption]") -> str | None:
    """The id of the option that says just this, by its kind: its name and its place are the agent's taste.

    None: there is no such option. One yes is never answered with "always"; a no may be, it only stays a no.
    """
    kinds = ("allow_once",) if allowed else ("reject_once", "reject_always")
    found = {option.kind: option.option_id for option in reversed(options)}
    return next((found[kind] for kind in kinds if kind in found), None)


def _unwrapped(words: Sequence[str]) -> str:
    """A command that came as words, as a shell line; what a shell is handed with -c is the line itself."""
    match words:
        case [shell, "-c" | "-lc", line] if Path(shell).name in ("sh", "bash", "zsh", "dash"):
            return line
        case _:
            return shlex.join(words)


def _first(raw: dict[str, Any], *names: str) -> str | None:
    return next((_plain(value) for name in names if isinstance(value := raw.get(name), str) and value.strip()), None)


def _plain(text: str) -> str:
    """One line without Markdown's backticks, which agents put around titles."""
    return " ".join(re.sub("`+", " ", text[: 8 * MAX_EAR_CHARS]).split())
