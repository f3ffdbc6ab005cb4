"""An ACP agent's process and the SDK's connection to it, from its start to its end.

The framing is ours: a line may be megabytes long, what is no message is passed over, and it is known when a message has
been written.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from keryx.agents.codex.jsonrpc import lines, parse
from keryx.agents.processes import AgentRun

if TYPE_CHECKING:
    from acp import Client
    from acp.client.connection import ClientSideConnection

LEAVE_S = 0.5
"""How long an agent may take to end by itself once its input is closed."""
LAST_WORDS_S = 1.0
"""How long is waited for the rest of its output when it has ended: a child of it may hold the pipe for ever."""
CLOSE_S = 1.0
MAX_WORDS_CHARS = 400

log = logging.getLogger(__name__)


class Callbacks(Protocol):
    """What the agent calls here; anything else is answered with "method not found"."""

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None: ...

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **kwargs: Any) -> Any: ...


class AcpProcess:
    """One agent that speaks ACP on its standard streams."""

    def __init__(self, run: AgentRun, callbacks: Callbacks) -> None:
        self.last_words = ""
        """The last line it wrote to its standard error."""
        self._run = run
        self._callbacks = callbacks
        self._process: asyncio.subprocess.Process | None = None
        self._connection: ClientSideConnection | None = None
        self._pipes: _Pipes | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, argv: Sequence[str], *, cwd: Path) -> "ClientSideConnection":
        """Start it and connect to it. Raises `OSError`. Only from the main thread."""
        from acp import connect_to_agent

        process = self._process = await self._run.spawn(argv, cwd=cwd)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._pipes = _Pipes(process.stdout, process.stdin)
        self._connection = connect_to_agent(cast("Client", self._callbacks), self._pipes)
        self.begin(self._listen(process.stderr))
        self.begin(self._watch(process, self._pipes, self._connection))
        return self._connection

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside, until it is done or the agent is closed. It must not raise."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def prompt_written(self) -> asyncio.Future[None]:
        """Done when the next `session/prompt` is in the agent's pipe, whole; `ConnectionError` when it cannot be."""
        assert self._pipes is not None
        written = asyncio.get_running_loop().create_future()
        self._pipes.expected.append(written)
        return written

    async def kill(self) -> None:
        """End it and everything it started, at once. What waits for it then gets a `ConnectionError`. Bounded."""
        await self._run.end()

    async def close(self, *, gently: bool) -> None:
        """End it; `gently` lets it end by itself first, to keep what it has not written yet. May be called twice."""
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            if gently:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LEAVE_S):
                        await process.wait()
        await self._run.end()
        if self._connection is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await self._connection.close()
        for task in (tasks := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if process is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await process.wait()

    async def _listen(self, complaints: asyncio.StreamReader) -> None:
        """Read its standard error, which it could not go on without, and keep the last line."""
        async for line in lines(complaints.read):
            if words := line.decode("utf-8", "replace").strip():
                self.last_words = words[:MAX_WORDS_CHARS]
                log.debug("agent complains", extra={"chars": len(words)})

    async def _watch(
        self, process: asyncio.subprocess.Process, pipes: "_Pipes", connection: "ClientSideConnection"
    ) -> None:
        """When it has ended, everything that waits for it hears of it, even if a child of it holds its output open."""
        await process.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S):
                await pipes.over.wait()
        await connection.close()


class _Pipes:
    """The messages of an agent's standard streams; the SDK's `Transport`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.over = asyncio.Event()
        """Nothing more will be received."""
        self.expected: deque[asyncio.Future[None]] = deque()
        """For each prompt that is still to be written, who waits for that."""
        self._lines = lines(reader.read)
        self._writer = writer
        self._writing = asyncio.Lock()

    async def send(self, message: dict[str, Any]) -> None:
        """Write one message. A request raises `ConnectionError` when the agent has gone; an answer comes too late."""
        written = self.expected.popleft() if message.get("method") == "session/prompt" and self.expected else None
        try:
            async with self._writing:
                self._writer.write(json_line(message))
                await self._writer.drain()
        except (ConnectionError, RuntimeError):  # RuntimeError: the pipe was closed on our side
            gone = ConnectionError("its process has ended")
            if written is not None and not written.done():
                written.set_exception(gone)
            if "method" in message:
                raise gone from None
        else:
            if written is not None and not written.done():
                written.set_result(None)

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end. A cancellation ends the stream."""
        try:
            async for line in self._lines:
                if (message := parse(line)) is not None:
                    return _clean(message) if b"\\ud" in line else message
        except BaseException:
            self.over.set()
            raise
        self.over.set()
        return None

    async def close(self) -> None:
        self.over.set()


def json_line(message: dict[str, Any]) -> bytes:
    """A message as it is written to an agent."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _clean(message: dict[str, Any]) -> dict[str, Any]:
    """`message` without halves of characters, which the SDK refuses together with all that stands around them."""
    return json.loads(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace"))
