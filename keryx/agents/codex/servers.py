"""The servers of tools that a thread of Codex was told of: whether they have come up.

Codex begins a thread while its servers still start, and waits a second for them at its first turn: the model is not
told of the tools of one that takes longer.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress

from keryx.agents.codex.jsonrpc import Params
from keryx.agents.codex.wire import ServerStatus, parsed

TOLD = "mcpServer/startupStatus/updated"
"""The notification that says how a server is coming up."""
BEGUN_S = 1.0
"""How long it may take until a server is told to be starting. A Codex that tells of none is not waited for."""

_OVER = frozenset({"ready", "failed", "cancelled"})

log = logging.getLogger(__name__)


class Startups:
    """How the servers of one process are coming up."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}
        self._change = asyncio.Event()

    def told(self, params: Params) -> None:
        """Note what a notification says of one server."""
        if (status := parsed(ServerStatus, params)) is not None:
            self._states[status.name] = status.status
            self._change.set()
            self._change = asyncio.Event()

    async def up(self, names: Iterable[str], within_s: float) -> None:
        """Wait until each of `names` has come up or failed to, at most `within_s`."""
        wanted = set(names)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(BEGUN_S, within_s)):
                await self._until(lambda: wanted <= self._states.keys())
        begun = wanted & self._states.keys()
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._until(lambda: all(self._states[name] in _OVER for name in begun))
        for name in wanted:
            if (state := self._states.get(name)) != "ready":
                log.warning("server of tools is not there yet", extra={"server": name, "state": state})

    async def _until(self, true: Callable[[], bool]) -> None:
        while not true():
            await self._change.wait()
