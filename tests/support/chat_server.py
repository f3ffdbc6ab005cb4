"""OpenAI's chat completions on loopback, scripted: the model that agents of other makers talk to in tests."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any

from tests.support.model_steps import AskUser, Call, Drop, Refuse, Run, Say, Stall, Step, Write

ASKED_S = 30.0
INPUT_TOKENS, CACHED_TOKENS, OUTPUT_TOKENS = 1000, 400, 50
_USAGE = {
    "prompt_tokens": INPUT_TOKENS,
    "completion_tokens": OUTPUT_TOKENS,
    "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    "prompt_tokens_details": {"cached_tokens": CACHED_TOKENS},
}


class ChatServer:
    """As `ModelServer`. `run` and `write` name the agent's tools, and how it wants a command and a file given."""

    def __init__(self, run: tuple[str, str], write: tuple[str, str, str], extra: dict[str, str]) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self._run = run
        self._write = write
        self._extra = extra
        self._steps: deque[Step] = deque()
        self._came = asyncio.Condition()
        self._number = 0

    def script(self, *steps: Step) -> None:
        self._steps.extend(steps)

    async def asked(self, times: int = 1) -> None:
        async with asyncio.timeout(ASKED_S), self._came:
            await self._came.wait_for(lambda: len(self.requests) >= times)

    def heard(self, text: str) -> int:
        messages = self.requests[-1]["messages"] if self.requests else []
        return sum(json.dumps(message["content"]).count(text) for message in messages)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").casefold()
            length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:"))
            await self._answer(json.loads(await reader.readexactly(length)), reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # an agent that went away
        finally:
            with suppress(ConnectionError):
                writer.close()

    async def _answer(
        self, request: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        step: Step = Say("A title")
        if request.get("tools"):  # without any it is a side errand, such as naming the conversation
            step = self._steps.popleft() if self._steps else Say()
            async with self._came:
                self.requests.append(request)
                self._came.notify_all()
        if isinstance(step, Refuse):
            body = json.dumps({"error": {"message": step.message, "type": "scripted"}}).encode()
            head = f"HTTP/1.1 {step.status} {HTTPStatus(step.status).phrase}\r\ncontent-type: application/json\r\n"
            writer.write(f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
            await writer.drain()
            return
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        match step:
            case Say(text, pause_s, size):
                for at in range(0, len(text), size):
                    self._piece(writer, {"content": text[at : at + size]})
                    await writer.drain()
                    if pause_s:
                        await asyncio.sleep(pause_s)
                self._end(writer, "stop")
            case Run(command, say):
                name, argument = self._run
                self._call(writer, say, name, {argument: command, **self._extra})
            case Write(path, content, say):
                name, path_argument, content_argument = self._write
                self._call(writer, say, name, {path_argument: path, content_argument: content})
            case Call(tool, arguments):
                self._call(writer, "", tool, arguments)
            case AskUser(question):
                self._piece(writer, {"content": question})
                self._end(writer, "stop")
            case Stall(text):
                self._piece(writer, {"content": text})
                await writer.drain()
                await reader.read()
            case Drop(text):
                self._piece(writer, {"content": text})
        await writer.drain()

    def _call(self, writer: asyncio.StreamWriter, say: str, name: str, arguments: dict[str, Any]) -> None:
        self._number += 1
        if say:
            self._piece(writer, {"content": say})
        call = {"name": name, "arguments": json.dumps(arguments)}
        self._piece(
            writer, {"tool_calls": [{"index": 0, "id": f"t{self._number}", "type": "function", "function": call}]}
        )
        self._end(writer, "tool_calls")

    def _end(self, writer: asyncio.StreamWriter, reason: str) -> None:
        self._piece(writer, {}, reason)
        writer.write(b"data: [DONE]\n\n")

    def _piece(self, writer: asyncio.StreamWriter, delta: dict[str, Any], reason: str | None = None) -> None:
        choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
        piece = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        if reason:
            piece["usage"] = _USAGE
        writer.write(f"data: {json.dumps(piece)}\n\n".encode())


@asynccontextmanager
async def chat_server(
    run: tuple[str, str], write: tuple[str, str, str], extra: dict[str, str]
) -> AsyncIterator[ChatServer]:
    """A model on a free port for the length of the block."""
    model = ChatServer(run, write, extra)
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0, limit=2**26)
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield model
    finally:
        server.close()
        await server.wait_closed()
