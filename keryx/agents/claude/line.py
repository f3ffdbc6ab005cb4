"""The line to one Claude Code process: a `Transport` of claude-agent-sdk with exactly one reader.

Every frame the process writes is seen here first. What belongs to the control protocol goes on to the SDK, which
answers the permission requests; the rest goes to `frames`. So nothing of the SDK's own stream is in use: its parser
drops the acknowledgements of messages, and its buffer of a hundred frames would hold up the control protocol with it.

The process is started here and not by the SDK's own transport, which would hand it the daemon's whole environment.
"""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from keryx.agents.claude.frames import TOO_LONG_LINE, Frame
from keryx.agents.processes import AgentRun

MAX_LINE_BYTES = 16 << 20
READ_BYTES = 1 << 16
ALIVE_EVERY_S = 1.0
END_S = 0.8
"""How long the process may take to end by itself once its input is closed; 0.03 s when idle, 6 s in the middle of a
command, which is not waited for."""

ENDED = "keryx_ended"
"""The type of the frame that stands for the end of the process."""

OVER = frozenset({"completed", "cancelled", "discarded", "refused"})
"""The states of a message that nothing more becomes of."""

_CONTROL = frozenset({"control_request", "control_response", "control_cancel_request"})
_PIECE = b'{"type":"stream_event"'

log = logging.getLogger(__name__)


@dataclass
class Mail:
    """One message to the agent, and what became of it so far."""

    text: str
    uuid: str = field(default_factory=lambda: str(uuid4()))
    state: str | None = None
    """The last that was heard of it: queued, started, completed, cancelled, discarded, refused; None: nothing."""
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when anything was heard of it, and when nothing will be any more."""

    @property
    def turned_away(self) -> bool:
        """It was never taken in."""
        return self.state in ("refused", "discarded", "cancelled")


class ClaudeLine:
    """As `claude_agent_sdk.Transport`, which is not named here so that importing this stays cheap."""

    def __init__(self, run: AgentRun, argv: Sequence[str], cwd: Path) -> None:
        self.frames: asyncio.Queue[Frame] = asyncio.Queue()
        """What the process wrote, but for the control protocol; the last one is of the type `ENDED`."""
        self.complaints: deque[str] = deque(maxlen=20)
        """The last lines of its standard error."""
        self._run = run
        self._argv = argv
        self._cwd = cwd
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._ready = False
        self._mails: dict[str, Mail] = {}
        self._requests: dict[str, asyncio.Future[dict[str, Any]]] = {}

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode if self._process else None

    async def connect(self) -> None:
        """Start the process; nothing when it runs already. Raises `OSError` when it cannot be started."""
        if self._process is None:
            self._process = await self._run.spawn(self._argv, cwd=self._cwd)
            self._listening = asyncio.create_task(self._listen(self._process))
            self._ready = True

    def is_ready(self) -> bool:
        return self._ready and self._process is not None and self._process.returncode is None

    async def write(self, data: str) -> None:
        """Write whole lines; raises `ConnectionError` when there is nobody to read them."""
        if not self.is_ready() or self._process is None or self._process.stdin is None:
            raise ConnectionError("the agent's process is gone")
        # One call writes whole lines: a cancellation while they drain cannot tear one.
        self._process.stdin.write(data.encode())
        await self._process.stdin.drain()

    async def post(self, mail: Mail) -> None:
        """Send a message to the agent. That this returns proves nothing: `mail.answered` does."""
        self._mails[mail.uuid] = mail
        message = {
            "type": "user",
            "message": {"role": "user", "content": _no_command(mail.text)},
            "parent_tool_use_id": None,
            "session_id": "default",
            "uuid": mail.uuid,
            # As written: no slash command is run, and no file that an "@" names is pulled in.
            "client_composed": True,
        }
        await self.write(json.dumps(message) + "\n")

    async def request(self, request: dict[str, Any], limit_s: float) -> dict[str, Any] | None:
        """A control request that the SDK has no method for; None when there is no answer in time or a refusal."""
        request_id = f"keryx-{uuid4()}"
        answer = self._requests[request_id] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(limit_s):
                frame = {"type": "control_request", "request_id": request_id, "request": request}
                await self.write(json.dumps(frame) + "\n")
                return await answer
        except (TimeoutError, ConnectionError):
            return None
        finally:
            del self._requests[request_id]

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """The frames of the control protocol; all others go where they belong. For the SDK alone, and once."""
        assert self._process
        assert self._process.stdout
        try:
            async for line in _lines(self._process.stdout):
                if (frame := self._frame(line)) is not None:
                    yield frame
            # Without an error the SDK would go on waiting for an answer to its first request.
            raise ConnectionError("the agent's process ended")
        finally:
            self._ended()

    async def end_input(self) -> None:
        """Close the process's input."""
        self._ready = False
        if self._process and self._process.stdin:
            self._process.stdin.close()

    async def close(self) -> None:
        """End the process and all that it started; bounded, and may be called twice."""
        await self.end_input()
        if self._process is not None:
            # It writes its conversation down on the way out.
            with suppress(TimeoutError):
                async with asyncio.timeout(END_S):
                    await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """End the process and all that it started at once; bounded, and may be called twice."""
        self._ready = False
        try:
            await self._run.end()
        finally:
            if self._listening is not None:
                self._listening.cancel()
            self._ended()

    def _frame(self, line: bytes | None) -> dict[str, Any] | None:
        """Put one line where it belongs; it comes back when it is for the SDK. None: a line that was too long."""
        if line is None:
            log.warning("a line of the agent's was too long and is left out", extra={"limit_bytes": MAX_LINE_BYTES})
            self.frames.put_nowait({"type": TOO_LONG_LINE})
            return None
        try:
            frame = json.loads(line)
        except ValueError:
            return None  # some builds write notes for their makers among the frames
        if not isinstance(frame, dict):
            return None
        kind = frame.get("type")
        if kind == "control_response" and self._answered(frame):
            return None
        if kind in _CONTROL:
            return frame
        if kind == "command_lifecycle":
            self._heard_of(frame)
        self.frames.put_nowait(frame)
        return None

    def _answered(self, frame: Frame) -> bool:
        """Whether this answers a request of our own."""
        response = frame.get("response")
        if not isinstance(response, dict) or response.get("request_id") not in self._requests:
            return False
        answer = self._requests[response["request_id"]]
        if not answer.done():
            fields = response.get("response")
            answer.set_result(fields if isinstance(fields, dict) else {})
        return True

    def _heard_of(self, frame: Frame) -> None:
        mail = self._mails.get(str(frame.get("command_uuid")))
        if mail is not None:
            mail.state = str(frame.get("state"))
            mail.answered.set()
            if mail.state in OVER:
                del self._mails[mail.uuid]

    def _ended(self) -> None:
        """Nothing more will come: let go everybody who waits for it."""
        self._ready = False
        for answer in self._requests.values():
            if not answer.done():
                answer.set_exception(ConnectionError("the agent's process is gone"))
        for mail in self._mails.values():
            mail.answered.set()
        self._mails.clear()
        self.frames.put_nowait({"type": ENDED})

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Keep the end of what it complains of: a full pipe would stop it."""
        assert process.stderr
        while piece := await process.stderr.read(READ_BYTES):
            self.complaints.extend(piece.decode("utf-8", "replace").splitlines()[-20:])


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[bytes | None]:
    """Whole lines, however long; None for one longer than `MAX_LINE_BYTES`, of which nothing is kept.

    Pieces of a text that is still being written come once in `ALIVE_EVERY_S`: they are but a sign of life, and reading
    each of them would be most of our work.
    """
    begun: list[bytes] = []
    length, told_s = 0, 0.0
    while piece := await stream.read(READ_BYTES):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            length += len(end)
            line = b"".join((*begun, end)) if length <= MAX_LINE_BYTES else None
            begun, length = [], 0
            if line is not None and line.startswith(_PIECE):
                if time.monotonic() - told_s < ALIVE_EVERY_S:
                    continue
                told_s = time.monotonic()
            yield line
        length += len(rest)
        if length <= MAX_LINE_BYTES:
            begun.append(rest)
        else:
            begun.clear()


def _no_command(text: str) -> str:
    """`text` so that even a Claude Code that knows nothing of `client_composed` takes it for words."""
    return f" {text}" if text.startswith("/") else text
