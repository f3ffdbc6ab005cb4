"""OpenAI's Responses API on loopback, scripted: the model that the real Codex talks to in tests.

Events are whole, as the published types of the `openai` package want them; `sent` keeps them for a test to check.
"""

import asyncio
import itertools
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import Any, assert_never

from tests.support.model_steps import AskUser, Call, Drop, Refuse, Run, Say, Stall, Step, Write
from tests.support.scripted_model import ASKED_S, Request, ScriptedModel, reply, serving

INPUT_TOKENS, CACHED_TOKENS, OUTPUT_TOKENS, REASONING_TOKENS = 1000, 400, 50, 10
_NO_MODELS = b'{"object":"list","data":[],"models":[]}'


class ResponsesServer(ScriptedModel):
    """As `ModelServer`. What a request's headers said of who asks stands in `authorizations`, in the same order."""

    conversation = "input"

    def __init__(self) -> None:
        super().__init__()
        self.authorizations: list[str | None] = []
        self.otherwise: Callable[[dict[str, Any]], Step] = lambda request: Say()
        """What answers a request for which no step is left."""
        self.finished = 0
        """How many responses were streamed to their end."""

    async def answered(self, times: int = 1) -> None:
        """Wait until so many responses were streamed to their end; `TimeoutError` after a bound."""
        async with asyncio.timeout(ASKED_S), self._came:
            await self._came.wait_for(lambda: self.finished >= times)

    async def answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if "upgrade" in request.headers:  # the same API over a WebSocket: not here, ask again by HTTP
            await reply(writer, HTTPStatus.UPGRADE_REQUIRED, b"{}")
            return True
        if request.method != "POST" or not request.path.endswith("/responses"):
            await reply(writer, HTTPStatus.OK, _NO_MODELS)
            return True
        wanted: dict[str, Any] = json.loads(request.body)
        self.authorizations.append(request.headers.get("authorization"))
        await self.note(wanted)
        step = self._steps.popleft() if self._steps else self.otherwise(wanted)
        if isinstance(step, Refuse):
            await _refuse(writer, step)
            return True
        goes_on = await _Response(self, wanted, reader, writer, self.number()).play(step)
        async with self._came:
            self.finished += goes_on
            self._came.notify_all()
        return goes_on


def responses_server() -> AbstractAsyncContextManager[ResponsesServer]:
    """A server on a free port for the length of the block; every connection is closed at its end."""
    return serving(ResponsesServer(), "/v1")


class _Response:
    """One streamed response."""

    def __init__(
        self,
        server: ResponsesServer,
        request: dict[str, Any],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        number: int,
    ) -> None:
        self._server = server
        self._request = request
        self._reader = reader
        self._writer = writer
        self._id = f"resp_{number}"
        self._output: list[dict[str, Any]] = []
        self._sequence = itertools.count()

    async def play(self, step: Say | Run | Write | AskUser | Call | Stall | Drop) -> bool:
        """Stream `step`; whether the connection stays open."""
        self._writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        )
        await self._event("response.created", response=self._whole("in_progress"))
        match step:
            case Say(text, pause_s, piece_chars):
                await self._say(text, "final_answer", pause_s, piece_chars)
            case Run(command, say):
                await self._say_first(say)
                await self._run(command)
            case Write(path, content, say):
                await self._say_first(say)
                await self._write(path, content)
            case AskUser(question, choices):
                # The tool wants some answers to choose from; another is possible all the same.
                options = [{"label": choice, "description": choice} for choice in choices or ("Yes", "No")]
                asked = {"id": "q1", "header": "Question", "question": question, "options": options}
                await self._call("request_user_input", {"questions": [asked]})
            case Call(tool, arguments):
                await self._call(tool, arguments)
            case Stall(text) | Drop(text):
                await self._begin_saying(text, "final_answer")
                if isinstance(step, Stall):
                    await self._reader.read()
                self._writer.transport.abort()
                return False
            case never:
                assert_never(never)
        await self._event("response.completed", response=self._whole("completed"))
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()
        return True

    async def _say_first(self, text: str) -> None:
        if text:
            await self._say(text, "commentary")

    async def _say(self, text: str, phase: str, pause_s: float = 0.0, piece_chars: int = 20) -> None:
        item = await self._begin_saying("", phase)
        for at in range(0, len(text), piece_chars):
            await self._delta(item, text[at : at + piece_chars])
            if pause_s:
                await asyncio.sleep(pause_s)
        content = [{"type": "output_text", "text": text, "annotations": []}]
        await self._end_item({**item, "status": "completed", "content": content})

    async def _begin_saying(self, text: str, phase: str) -> dict[str, Any]:
        item = {
            "type": "message",
            "id": f"msg_{self._server.number()}",
            "role": "assistant",
            "status": "in_progress",
            "content": [],
            "phase": phase,
        }
        await self._event("response.output_item.added", output_index=len(self._output), item=item)
        if text:
            await self._delta(item, text)
        return item

    async def _delta(self, item: dict[str, Any], text: str) -> None:
        await self._event(
            "response.output_text.delta",
            item_id=item["id"],
            output_index=len(self._output),
            content_index=0,
            delta=text,
            logprobs=[],
        )

    async def _run(self, command: str) -> None:
        if self._in_code_mode:
            await self._custom("exec", f"text(await tools.exec_command({json.dumps({'cmd': command})}));")
        else:
            await self._call("exec_command", {"cmd": command})

    async def _write(self, path: str, content: str) -> None:
        lines = "".join(f"+{line}\n" for line in content.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"
        if self._in_code_mode:
            await self._custom("exec", f"text(await tools.apply_patch({json.dumps(patch)}));")
        else:
            await self._custom("apply_patch", patch)

    @property
    def _in_code_mode(self) -> bool:
        """Newer models are given one tool, which runs JavaScript that calls the others."""
        return not any(tool.get("name") == "exec_command" for tool in self._request.get("tools", []))

    async def _call(self, name: str, arguments: dict[str, Any]) -> None:
        number = self._server.number()
        call = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "arguments": json.dumps(arguments),
            "status": "completed",
            **self._named(name),
        }
        await self._end_item(call)

    def _named(self, name: str) -> dict[str, str]:
        """A tool's name as the model must give it: the tools of a server, `mcp__SERVER__TOOL`, have a namespace."""
        if not name.startswith("mcp__"):
            return {"name": name}
        namespace, _, tool = name.rpartition("__")
        return {"namespace": namespace, "name": tool}

    async def _custom(self, name: str, written: str) -> None:
        number = self._server.number()
        call = {"type": "custom_tool_call", "id": f"ctc_{number}", "call_id": f"call_{number}"}
        await self._end_item({**call, "name": name, "input": written})

    async def _end_item(self, item: dict[str, Any]) -> None:
        await self._event("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)

    def _whole(self, status: str) -> dict[str, Any]:
        whole = {
            "id": self._id,
            "object": "response",
            "created_at": 0,
            "status": status,
            "model": self._request["model"],
            "output": self._output,
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": None,
        }
        if status == "completed":
            whole["usage"] = {
                "input_tokens": INPUT_TOKENS,
                "input_tokens_details": {"cached_tokens": CACHED_TOKENS, "cache_write_tokens": 0},
                "output_tokens": OUTPUT_TOKENS,
                "output_tokens_details": {"reasoning_tokens": REASONING_TOKENS},
                "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
            }
        return whole

    async def _event(self, kind: str, **fields: Any) -> None:
        event = {"type": kind, "sequence_number": next(self._sequence), **fields}
        self._server.sent.append(json.loads(json.dumps(event)))
        line = f"event: {kind}\ndata: {json.dumps(event)}\n\n".encode()
        self._writer.write(b"%x\r\n%s\r\n" % (len(line), line))
        await self._writer.drain()


async def _refuse(writer: asyncio.StreamWriter, step: Refuse) -> None:
    error = {"message": step.message, "type": "scripted", "code": "scripted", "param": None}
    if step.message.startswith("{"):  # the whole error, where its kind matters
        error |= json.loads(step.message)
    later = {} if step.retry_after_s is None else {"retry-after": f"{step.retry_after_s:g}"}
    await reply(writer, HTTPStatus(step.status), json.dumps({"error": error}).encode(), **later)
