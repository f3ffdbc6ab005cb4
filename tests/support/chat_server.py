"""OpenAI's chat completions on loopback, scripted: the model that agents of other makers talk to in tests."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from typing import Any

from tests.support.model_steps import AskUser, Call, Drop, Refuse, Run, Say, Stall, Step, Write
from tests.support.scripted_model import Request, ScriptedModel, reply, serving

INPUT_TOKENS, CACHED_TOKENS, OUTPUT_TOKENS = 1000, 400, 50
_USAGE = {
    "prompt_tokens": INPUT_TOKENS,
    "completion_tokens": OUTPUT_TOKENS,
    "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    "prompt_tokens_details": {"cached_tokens": CACHED_TOKENS},
}


class ChatServer(ScriptedModel):
    """As `ModelServer`. `run` and `write` name the agent's tools, and how it wants a command and a file given."""

    conversation = "messages"

    def __init__(self, run: tuple[str, str], write: tuple[str, str, str], extra: dict[str, str]) -> None:
        super().__init__()
        self._run = run
        self._write = write
        self._extra = extra

    async def answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        wanted = json.loads(request.body)
        step: Step = Say("A title")
        if wanted.get("tools"):  # without any it is a side errand, such as naming the conversation
            step = self._steps.popleft() if self._steps else Say()
            await self.note(wanted)
        if isinstance(step, Refuse):
            body = json.dumps({"error": {"message": step.message, "type": "scripted"}}).encode()
            await reply(writer, step.status, body, connection="close")
            return False
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
        return False

    def _call(self, writer: asyncio.StreamWriter, say: str, name: str, arguments: dict[str, Any]) -> None:
        if say:
            self._piece(writer, {"content": say})
        call = {"name": name, "arguments": json.dumps(arguments)}
        self._piece(
            writer, {"tool_calls": [{"index": 0, "id": f"t{self.number()}", "type": "function", "function": call}]}
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


def chat_server(
    run: tuple[str, str], write: tuple[str, str, str], extra: dict[str, str]
) -> AbstractAsyncContextManager[ChatServer]:
    """A model on a free port for the length of the block."""
    return serving(ChatServer(run, write, extra), "/v1")
