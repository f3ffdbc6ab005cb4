"""One run of Codex as its reader sees it: what was told, which turn is running, and what is being steered into it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from keryx.agents.adapter import AskOwner
from keryx.agents.codex.items import Items
from keryx.agents.codex.steers import Steers
from keryx.agents.codex.thread import Bounds
from keryx.agents.codex.wire import FileUpdate, Notification
from keryx.agents.equipment import McpServers

Told = tuple[str, Notification]
_MARGIN_S = 0.01
"""A deadline is looked at when it has surely passed."""


class Run:
    """A turn, and the turns that steers make necessary after it. Its notes are taken by one consumer."""

    def __init__(self, inside: Path, ask: AskOwner, servers: McpServers) -> None:
        self.ask = ask
        self.items = Items(inside, servers)
        self.steers = Steers()
        self.told: asyncio.Queue[Told | None] = asyncio.Queue()
        """What is to be looked at, in order; None: the process has ended."""
        self.turn_id: str | None = None
        """The turn that is running; None before, between and after."""
        self.starting = False
        """One was asked for, and was not told to have begun."""
        self.idle = False
        """The thread was told to be idle, with no end of the turn told."""
        self.begun = 0
        """How many turns it has had."""
        self.unreachable = False
        """It was stopped because its provider was out of reach."""
        self._out_since_s: float | None = None
        self.interrupted = False
        self.closing = False
        """The last turn has ended; nothing is taken in any more."""
        self.over = False
        """The run has ended, and what became of its steers is settled."""
        self.changes: dict[str, list[FileUpdate]] = {}
        """The changes of files that were announced, by their item: who is asked about one wants to know which."""
        self._change = asyncio.Event()

    def take(self, method: str, note: Notification) -> None:
        """Take what the reader was told; called in the order of the wire."""
        match method:
            case "turn/started" if note.turn:
                self.turn_id, self.idle, self.starting = note.turn.id, False, False
            case "turn/completed" if note.turn:
                if note.turn.id != self.turn_id:
                    return
                self.turn_id = None
            case "thread/status/changed" if note.status:
                self.idle = note.status.type != "active"
            case "item/started" if note.item:
                if note.item.type == "userMessage":
                    self.steers.taken(note.item.client_id)
                elif note.item.type == "agentMessage":
                    self.steers.model_began(note.item.id)
                elif note.item.type == "fileChange":
                    self.changes[note.item.id] = note.item.changes
            case "item/completed" if note.item and note.item.type == "agentMessage":
                self.steers.model_said(note.item.id)
        self.told.put_nowait((method, note))
        self.changed()

    def mind_reach(self, told: Told) -> None:
        """Note whether the provider is within reach, by what was told."""
        method, note = told
        if method == "error" and note.will_retry:
            self._out_since_s = _now_s() if self._out_since_s is None else self._out_since_s
        elif method.startswith("item/"):
            self._out_since_s = None

    @property
    def out_of_reach_s(self) -> float:
        """For how long the provider has been out of reach; 0 when it is not."""
        return 0.0 if self._out_since_s is None else _now_s() - self._out_since_s

    @property
    def quiet(self) -> bool:
        """Nothing is known to be going on that would explain a silence."""
        return self.idle or not self.items.running

    def patience_s(self, bounds: Bounds) -> float:
        """How long to wait for the next thing before something is done about it."""
        wait_s = bounds.idle_s if self.idle and self.turn_id is not None else bounds.silent_s
        if self._out_since_s is None or self.unreachable:
            return wait_s
        return min(wait_s, max(0.0, bounds.unreachable_s - self.out_of_reach_s) + _MARGIN_S)

    def lost(self) -> None:
        """The process has ended."""
        self.turn_id, self.starting = None, False
        self.told.put_nowait(None)
        self.changed()

    def takes_steers(self) -> bool:
        return not (self.closing or self.interrupted)

    def changed(self) -> None:
        """Wake whoever waits for a change of the run."""
        self._change.set()
        self._change = asyncio.Event()

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for a condition on the run; the caller bounds it."""
        while not true():
            await self._change.wait()

    async def turn_running(self) -> str | None:
        """The id of the turn that runs, waiting while another is about to; None when no steer is taken any more."""
        await self.until(lambda: self.turn_id is not None or not self.takes_steers())
        return self.turn_id if self.takes_steers() else None

    async def settled(self) -> None:
        """Wait until the app-server has answered for every steer that was sent."""
        await self.until(lambda: not self.steers.in_flight)


def _now_s() -> float:
    return asyncio.get_running_loop().time()
