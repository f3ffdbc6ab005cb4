"""Anthropic's Messages API on loopback, scripted: the model that the real Claude Code talks to in tests.

Events are whole, as the published types of the `anthropic` package want them; `sent` keeps them for a test to check.
"""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from pathlib import Path
from typing import Any, assert_never

from tests.support.model_steps import AskUser, Call, Drop, Refuse, Run, Say, Stall, Write
from tests.support.scripted_model import Request, ScriptedModel, reply, serving

UNCACHED_TOKENS, CACHE_MADE_TOKENS, CACHE_READ_TOKENS, OUTPUT_TOKENS = 100, 2000, 3000, 42
INPUT_TOKENS = UNCACHED_TOKENS + CACHE_MADE_TOKENS + CACHE_READ_TOKENS

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicServer(ScriptedModel):
    """As `ModelServer`. A path that a step names is one below `directory`, because the agent's tools want it whole."""

    conversation = "messages"

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path("/")
        self.headers: list[dict[str, str]] = []
        """What came with each of `requests`."""
        self.errands: list[str] = []
        """Whatever else was asked for: method and path, and "errand" for a model request without tools."""

    async def answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if request.method != "POST" or request.path.partition("?")[0] != "/v1/messages":
            self.errands.append(f"{request.method} {request.path}")
            await reply(writer, HTTPStatus.OK, b"" if request.method == "HEAD" else b"{}")
            return True
        wanted = json.loads(request.body)
        # A conversation always has tools; naming it, or a first look whether the key is good, has none.
        if not wanted.get("tools") or "format" in wanted.get("output_config", {}):
            self.errands.append("errand")
            return await _Message(self, wanted, reader, writer).play(Say('{"title": "A task"}'))
        self.headers.append(request.headers)
        await self.note(wanted)
        step = self._steps.popleft() if self._steps else Say()
        if isinstance(step, Refuse):
            await _refuse(writer, step)
            return True
        return await _Message(self, wanted, reader, writer).play(step)


def anthropic_server() -> AbstractAsyncContextManager[AnthropicServer]:
    """A server on a free port for the length of the block; every connection is closed at its end."""
    return serving(AnthropicServer())


class _Message:
    """One answer of the model, streamed or whole as the request wants it."""

    def __init__(
        self,
        server: AnthropicServer,
        request: dict[str, Any],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._server = server
        self._request = request
        self._reader = reader
        self._writer = writer
        self._streamed = bool(request.get("stream"))
        self._content: list[dict[str, Any]] = []

    async def play(self, step: Say | Run | Write | AskUser | Call | Stall | Drop) -> bool:
        """Answer with `step`; whether the connection stays open."""
        if self._streamed:
            head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            self._writer.write(head)
        await self._event("message_start", message=self._whole(None))
        match step:
            case Say(text, pause_s, piece_chars):
                await self._say(text, pause_s, piece_chars)
            case Run(command, say):
                await self._say(say)
                await self._use("Bash", {"command": command, "description": "A scripted command"})
            case Write(path, content, say):
                await self._say(say)
                await self._use("Write", {"file_path": str(self._server.directory / path), "content": content})
            case AskUser(question, choices):
                # The tool takes two to four answers, so a free question offers two that stand for any.
                offered = choices or ("Yes", "No")
                options = [{"label": choice, "description": choice} for choice in offered]
                asked = {"question": question, "header": "Question", "options": options, "multiSelect": False}
                await self._use("AskUserQuestion", {"questions": [asked]})
            case Call(tool, arguments):
                await self._use(tool, arguments)
            case Stall(text) | Drop(text):
                await self._begin({"type": "text", "text": "", "citations": None})
                await self._delta({"type": "text_delta", "text": text})
                if isinstance(step, Stall):
                    await self._reader.read()
                self._writer.transport.abort()
                return False
            case never:
                assert_never(never)
        uses = any(block["type"] == "tool_use" for block in self._content)
        await self._end("tool_use" if uses else "end_turn")
        return True

    async def _say(self, text: str, pause_s: float = 0.0, piece_chars: int = 20) -> None:
        if not text:
            return
        await self._begin({"type": "text", "text": "", "citations": None})
        for at in range(0, len(text), piece_chars):
            await self._delta({"type": "text_delta", "text": text[at : at + piece_chars]})
            if pause_s:
                await asyncio.sleep(pause_s)
        await self._finish({"type": "text", "text": text, "citations": None})

    async def _use(self, tool: str, arguments: dict[str, Any]) -> None:
        block = {"type": "tool_use", "id": f"toolu_{self._server.number():020}", "name": tool}
        await self._begin({**block, "input": {}})
        await self._delta({"type": "input_json_delta", "partial_json": json.dumps(arguments)})
        await self._finish({**block, "input": arguments})

    async def _begin(self, block: dict[str, Any]) -> None:
        await self._event("content_block_start", index=len(self._content), content_block=block)

    async def _delta(self, delta: dict[str, Any]) -> None:
        await self._event("content_block_delta", index=len(self._content), delta=delta)

    async def _finish(self, block: dict[str, Any]) -> None:
        await self._event("content_block_stop", index=len(self._content))
        self._content.append(block)

    async def _end(self, reason: str) -> None:
        usage = {"output_tokens": OUTPUT_TOKENS}
        await self._event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
        await self._event("message_stop")
        if self._streamed:
            self._writer.write(b"0\r\n\r\n")
            await self._writer.drain()
        else:
            message = self._whole(reason)
            self._server.sent.append(message)
            await reply(self._writer, HTTPStatus.OK, json.dumps(message).encode())

    def _whole(self, reason: str | None) -> dict[str, Any]:
        return {
            "id": f"msg_{self._server.number():020}",
            "type": "message",
            "role": "assistant",
            "model": self._request["model"],
            "content": list(self._content),
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": UNCACHED_TOKENS,
                "cache_creation_input_tokens": CACHE_MADE_TOKENS,
                "cache_read_input_tokens": CACHE_READ_TOKENS,
                "output_tokens": OUTPUT_TOKENS if reason else 1,
            },
        }

    async def _event(self, kind: str, **fields: Any) -> None:
        if not self._streamed:
            return
        event = {"type": kind, **fields}
        self._server.sent.append(json.loads(json.dumps(event)))
        line = f"event: {kind}\ndata: {json.dumps(event)}\n\n".encode()
        self._writer.write(b"%x\r\n%s\r\n" % (len(line), line))
        await self._writer.drain()


async def _refuse(writer: asyncio.StreamWriter, step: Refuse) -> None:
    error = {"type": _KINDS.get(step.status, "api_error"), "message": step.message}
    later = {} if step.retry_after_s is None else {"retry-after": f"{step.retry_after_s:g}"}
    body = json.dumps({"type": "error", "error": error, "request_id": "req_scripted"}).encode()
    await reply(writer, step.status, body, **later)
