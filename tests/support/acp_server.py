"""The scripted model behind `acp_agent.py`: it is sent the conversation, on one JSON line, and says a step."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from tests.support.model_steps import Say, Step

ASKED_S = 30.0


class AcpModel:
    """As `ModelServer`. A request is the whole conversation, and last the agent's settings."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[list[dict[str, Any]]] = []
        self.ready = asyncio.Event()
        """Cleared: whoever asks waits for the next step until it is set again."""
        self.ready.set()
        self._steps: deque[Step] = deque()
        self._came = asyncio.Condition()

    def script(self, *steps: Step) -> None:
        self._steps.extend(steps)

    async def asked(self, times: int = 1) -> None:
        async with asyncio.timeout(ASKED_S), self._came:
            await self._came.wait_for(lambda: len(self.requests) >= times)

    def heard(self, text: str) -> int:
        said = self.requests[-1][:-1] if self.requests else []
        return sum(part["text"].count(text) for part in said)

    @property
    def settings(self) -> dict[str, Any]:
        """The agent's mode, model and tool servers at the newest request."""
        return self.requests[-1][-1]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = json.loads(await reader.readline())
            async with self._came:
                self.requests.append(request)
                self._came.notify_all()
            await self.ready.wait()
            step = self._steps.popleft() if self._steps else Say()
            writer.write(json.dumps({"kind": type(step).__name__, **asdict(step)}).encode() + b"\n")
            await writer.drain()
        except (ConnectionError, ValueError):
            pass  # an agent that was killed in the middle of asking
        finally:
            writer.close()


@asynccontextmanager
async def acp_model() -> AsyncIterator[AcpModel]:
    """A model on a free port for the length of the block."""
    model = AcpModel()
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0, limit=2**26)
    model.url = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield model
    finally:
        server.close()
        await server.wait_closed()
