"""What Codex tells of its work, as an agent's events. Pure: no process, no clock."""

import json
import re
import shlex
from pathlib import Path

from keryx.agents.codex.wire import CommandAction, Item, Notification, Turn, TurnError
from keryx.agents.equipment import McpServers, known_tool
from keryx.agents.events import (
    AgentEvent,
    Alive,
    Done,
    Failure,
    FileEdit,
    Notice,
    Question,
    Text,
    TokenUsage,
    ToolCall,
    ToolEnd,
)
from keryx.agents.titles import short_line, short_path, without_folders

TRYING_AGAIN = "The provider doesn't answer as it should; Codex tries again"

_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_ADDRESS = re.compile(r",? (?:url: )?\(?https?://[^\s,)]+\)?")
_RESETS = re.compile(r"try again (?:at|in|on) (.+?)\.?$", re.IGNORECASE)
_NO_MODEL = re.compile(r"\bmodel\b.*\b(not (?:supported|found|available)|does not exist|unknown)", re.IGNORECASE)
_TOO_LONG = re.compile(r"context (?:window|length)|context_length_exceeded", re.IGNORECASE)

_CHANGES = {"add": "added", "delete": "deleted"}
_FAILURES = {
    "contextWindowExceeded": Failure.TOO_LONG,
    "sessionBudgetExceeded": Failure.LIMIT,
    "usageLimitExceeded": Failure.QUOTA,
    "rateLimitExceeded": Failure.OVERLOADED,
    "flexUnavailable": Failure.OVERLOADED,
    "serverOverloaded": Failure.OVERLOADED,
    "internalServerError": Failure.OVERLOADED,
    "unauthorized": Failure.NOT_SIGNED_IN,
}
_CONNECTION = frozenset(
    {"httpConnectionFailed", "responseStreamConnectionFailed", "responseStreamDisconnected"},
)


class Items:
    """Reads the notifications of one run: a turn, and the turns that steers made necessary after it."""

    def __init__(self, inside: Path, servers: McpServers) -> None:
        self.final = ""
        """What the newest turn ended with."""
        self.retrying = False
        """The provider failed, and nothing has come from it since."""
        self.running: set[str] = set()
        """The tools that run, by their item."""
        self._inside = inside
        self._servers = servers
        self._final_phase = False

    def read(self, method: str, note: Notification) -> list[AgentEvent]:
        """The events of one notification about the thread; a sign of life at least."""
        match method:
            case "turn/started":
                self.final, self._final_phase, self.retrying = "", False, False
            case "item/started" if note.item:
                self.retrying = False
                return self._started(note.item)
            case "item/completed" if note.item:
                self.retrying = False
                return self._completed(note.item)
            case "item/agentMessage/delta":
                self.retrying = False
            case "error" if note.will_retry:
                self.retrying = True
                return [Notice(TRYING_AGAIN)]
        return [Alive()]

    def take_in(self, turn: Turn) -> None:
        """Note the last words of a turn whose end was not told of, only read."""
        for item in turn.items:
            if item.type == "agentMessage":
                self._said(item)

    def _started(self, item: Item) -> list[AgentEvent]:
        title = title_of(item, self._inside, self._servers)
        if title is None:
            return [Alive()]
        self.running.add(item.id)
        return [ToolCall(item.id, title)]

    def _completed(self, item: Item) -> list[AgentEvent]:
        self.running.discard(item.id)
        match item.type:
            case "agentMessage":
                return self._said(item)
            case "plan":
                return self._said(item.model_copy(update={"phase": "final_answer"}))
            case "fileChange" if item.status == "completed":
                return [
                    FileEdit(short_path(change.path, self._inside), _CHANGES.get(change.kind.get("type", ""), "edited"))
                    for change in item.changes
                ]
            case _ if title_of(item, self._inside, self._servers) is not None:
                return [ToolEnd(item.id)]
        return [Alive()]

    def _said(self, item: Item) -> list[AgentEvent]:
        if item.questions:
            # It comes as a final answer, and is none: what the turn comes back with stands in another message.
            return [Question(each.title, tuple(each.options or ())) for each in item.questions]
        is_final = item.phase == "final_answer"
        if is_final or not self._final_phase:
            self.final = item.text
        self._final_phase = self._final_phase or is_final
        return [Text(item.text)]


class Meter:
    """Counts one thread's tokens, turn by turn, out of the totals that Codex tells."""

    def __init__(self) -> None:
        self._before: TokenUsage | None = None
        self._now: TokenUsage | None = None

    def begin(self) -> None:
        """A run begins: what was counted until now is not its own."""
        self._before = self._now

    def read(self, note: Notification, *, running: bool) -> None:
        """Take a notification's totals, if it has any; `running`: it is about a turn of this run."""
        if (usage := note.token_usage) is None:
            return
        total = TokenUsage(
            usage.total.input_tokens, usage.total.output_tokens, usage.total.cached_input_tokens
        )  # Codex counts the cached ones in its input too
        if not running:
            self._before = total  # what a thread had that is taken up again
        elif self._before is None:
            last = TokenUsage(usage.last.input_tokens, usage.last.output_tokens, usage.last.cached_input_tokens)
            self._before = _minus(total, last)
        self._now = total

    @property
    def usage(self) -> TokenUsage | None:
        """The tokens of this run; None while nothing is known."""
        if self._now is None or self._before is None or self._now == self._before:
            return None
        return _minus(self._now, self._before)


def _minus(more: TokenUsage, less: TokenUsage) -> TokenUsage:
    return TokenUsage(
        max(0, more.input_tokens - less.input_tokens),
        max(0, more.output_tokens - less.output_tokens),
        max(0, more.cached_input_tokens - less.cached_input_tokens),
    )


def title_of(item: Item, inside: Path, servers: McpServers) -> str | None:
    """What an item does, for a person: "Running pytest -q"; None when it is no tool. No whole paths."""
    match item.type:
        case "commandExecution":
            return short_line(
                _reading(item.command_actions) or f"Running {_without_paths(unwrapped(item.command), inside)}"
            )
        case "mcpToolCall":
            known = known_tool(servers, item.server, item.tool)
            return known.doing if known else short_line(f"Using {item.tool} from {item.server}")
        case "dynamicToolCall":
            return short_line(f"Using {item.tool}")
        case "webSearch":
            return short_line(f"Searching the web for {item.query}") if item.query else "Searching the web"
        case "collabAgentToolCall" | "subAgentActivity":
            return "Handing on part of the work"
        case "imageGeneration":
            return "Drawing a picture"
        case "sleep":
            return "Waiting"
    return None


def unwrapped(command: str) -> str:
    """The shell line itself: Codex names the shell that runs it too."""
    try:
        match shlex.split(command):
            case [shell, "-lc" | "-c", line] if Path(shell).name in _SHELLS:
                return line
    except ValueError:
        pass
    return command


def failed(error: TurnError | None) -> Done:
    """How a turn ended that failed for `error`, without its usage."""
    if error is None:
        return Done(False, failure=Failure.OTHER, error="it failed without saying why")
    said = _words(error)
    failure = _failure(error, said)
    resets = found[1] if failure is Failure.QUOTA and (found := _RESETS.search(said)) else None
    return Done(False, failure=failure, error=said or failure.value, resets=resets)


def _failure(error: TurnError, said: str) -> Failure:
    match error.codex_error_info:
        case str(kind) if kind in _FAILURES:
            return _FAILURES[kind]
        case dict(info) if info:
            kind, more = next(iter(info.items()))
            status = more.get("httpStatusCode") if isinstance(more, dict) else None
            if (found := _by_status(kind, status, said)) is not None:
                return found
    if _TOO_LONG.search(said):
        return Failure.TOO_LONG
    return Failure.NO_SUCH_MODEL if _NO_MODEL.search(said) else Failure.OTHER


def _by_status(kind: str, status: int | None, said: str) -> Failure | None:
    if status is None:
        return Failure.UNREACHABLE if kind in _CONNECTION else None
    if status == 401:
        return Failure.NOT_SIGNED_IN
    if status == 404 and _NO_MODEL.search(said):
        return Failure.NO_SUCH_MODEL
    return Failure.OVERLOADED if status == 429 or status >= 500 else None


def _words(error: TurnError) -> str:
    """The provider's own words in one line: out of the JSON it may have sent, and without addresses."""
    said = error.message
    try:
        match json.loads(said):
            case {"error": {"message": str(message), **more}}:
                code = more.get("code")
                said = f"{message} ({code})" if code == "context_length_exceeded" else message
    except ValueError:
        pass
    return " ".join(_ADDRESS.sub("", said).split())


def _reading(actions: list[CommandAction]) -> str | None:
    """A command that only looks, in words; None for any other."""
    match actions:
        case [CommandAction(type="read", name=str(name))]:
            return f"Reading {Path(name).name}"
        case [CommandAction(type="listFiles")]:
            return "Looking through the files"
        case [CommandAction(type="search", query=str(query))]:
            return f"Searching for {query}"
    return None


def _without_paths(command: str, inside: Path) -> str:
    command = command.replace(f"{inside}/", "").replace(str(inside), ".")
    return without_folders(command)
