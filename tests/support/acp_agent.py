"""A coding agent that speaks ACP and has no mind of its own: it does what a scripted model says. A program.

It is built on the SDK's side for agents, really runs commands and writes files, asks for permission, keeps its
conversations in files, and stops when told. `ACP_AGENT` (JSON, `Traits`) says what kind of agent it is and where its
model (`tests/support/acp_server.py`) listens.
"""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from acp import Client, RequestError, run_agent, text_block, update_agent_message, update_agent_thought
from acp.schema import (
    AgentCapabilities,
    AuthMethodAgent,
    FileEditToolCallContent,
    InitializeResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    Usage,
)

from tests.support.mcp_line import McpLine

INPUT_TOKENS, CACHED_TOKENS, OUTPUT_TOKENS = 60, 40, 7
"""Of each model request; what is read from the cache is not in the first."""


@dataclass
class Traits:
    """What kind of agent it is."""

    model: str = ""
    """host:port of its model."""
    home: str = ""
    """The folder with its conversations."""
    steers: str = "refused"
    """What becomes of a prompt while a turn runs: "refused", "taken", or "lost" (answered at its end, never read)."""
    takes_up: str = "load"
    """How an old conversation is taken up: "load", "resume", or "" for not at all."""
    options: bool = True
    """Whether models and modes are configuration options; else there are modes in the older way, and no models."""
    modes: list[str] = field(default_factory=lambda: ["plan", "ask", "yolo"])
    models: list[str] = field(default_factory=lambda: ["acme/small", "acme/large"])
    permissions: list[str] = field(default_factory=lambda: ["allow_always", "reject_once", "allow_once"])
    """The kinds of the options of a permission request, in their order."""
    version: int = 1
    signed_in: bool = True
    numbers_messages: bool = True
    ignores_cancel: bool = False
    dies: str = ""
    """Set: it writes this to its standard error and ends at once."""
    hangs: bool = False
    """It answers nothing."""


class ModelLine:
    """The connection to the scripted model: a conversation out, a step in."""

    def __init__(self, address: str) -> None:
        self._host, _, self._port = address.rpartition(":")

    async def next(self, history: list[dict[str, Any]]) -> dict[str, Any]:
        reader, writer = await asyncio.open_connection(self._host, int(self._port), limit=2**26)
        writer.write(json.dumps(history).encode() + b"\n")
        step = json.loads(await reader.readline())
        writer.close()
        return step


class Turn:
    """One turn that runs."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.over: asyncio.Future[PromptResponse] = asyncio.get_running_loop().create_future()
        self.requests = 0


class Cancelled(Exception):
    """The turn was cancelled."""


class ScriptedAgent:
    def __init__(self, traits: Traits) -> None:
        self.traits = traits
        self.model = ModelLine(traits.model)
        self.client: Client | None = None
        self.place = Path()
        self.mode = "ask"
        self.chosen_model = traits.models[0] if traits.models else ""
        self.servers: list[str] = []
        self.programs: dict[str, Any] = {}
        """The tool servers that are programs, by their names; started when they are first used."""
        self.lines: dict[str, McpLine] = {}
        self.histories: dict[str, list[dict[str, Any]]] = {}
        self.turns: dict[str, Turn] = {}
        self.calls = 0

    def on_connect(self, conn: Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> InitializeResponse:
        if self.traits.hangs:
            await asyncio.Event().wait()
        resumes = SessionResumeCapabilities() if self.traits.takes_up == "resume" else None
        return InitializeResponse(
            protocol_version=self.traits.version,
            agent_capabilities=AgentCapabilities(
                load_session=self.traits.takes_up == "load",
                session_capabilities=SessionCapabilities(resume=resumes),
                mcp_capabilities=McpCapabilities(http=True),
            ),
            auth_methods=[AuthMethodAgent(id="login", name="Log in", description="Run `acme login` in a terminal")],
        )

    # Conversations.

    def _file(self, session_id: str) -> Path:
        return Path(self.traits.home) / f"{session_id.encode().hex()[:200]}.json"

    def _keep(self, session_id: str) -> None:
        self._file(session_id).write_text(json.dumps(self.histories[session_id]))

    async def new_session(self, cwd: str, mcp_servers: Any = None, **kwargs: Any) -> NewSessionResponse:
        if not self.traits.signed_in:
            raise RequestError.auth_required()
        session_id = f"acme-{uuid4().hex}"
        self.histories[session_id] = []
        self._keep(session_id)
        self._begin(cwd, mcp_servers)
        return NewSessionResponse(session_id=session_id, **self._settings())

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, **kwargs: Any
    ) -> LoadSessionResponse:
        self._old(cwd, session_id, mcp_servers)
        for said in self.histories[session_id]:
            if said["role"] == "agent":
                await self._update(session_id, update_agent_message(text_block(said["text"])))
        return LoadSessionResponse(**self._settings())

    async def resume_session(
        self, session_id: str, cwd: str, mcp_servers: Any = None, **kwargs: Any
    ) -> ResumeSessionResponse:
        self._old(cwd, session_id, mcp_servers)
        return ResumeSessionResponse(**self._settings())

    def _old(self, cwd: str, session_id: str, mcp_servers: Any) -> None:
        if not self._file(session_id).exists():
            raise RequestError.internal_error({"details": "no such session"})
        self.histories[session_id] = json.loads(self._file(session_id).read_text())
        self._begin(cwd, mcp_servers)

    def _begin(self, cwd: str, mcp_servers: Any) -> None:
        self.place = Path(cwd)
        self.servers = [f"{server.name}={getattr(server, 'url', None) or server.command}" for server in mcp_servers]
        self.programs = {server.name: server for server in mcp_servers if getattr(server, "command", None)}

    def _settings(self) -> dict[str, Any]:
        if not self.traits.options:
            modes = [SessionMode(id=mode, name=mode.title()) for mode in self.traits.modes]
            return {"modes": SessionModeState(current_mode_id=self.mode, available_modes=modes)} if modes else {}
        offered = [("model", self.chosen_model, self.traits.models), ("mode", self.mode, self.traits.modes)]
        return {"config_options": [_select(*setting) for setting in offered if setting[2]]}

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **kwargs: Any
    ) -> SetSessionConfigOptionResponse:
        if config_id == "the-mode":
            self.mode = str(value)
        else:
            self.chosen_model = str(value)
        return SetSessionConfigOptionResponse(config_options=self._settings()["config_options"])

    async def set_session_mode(self, session_id: str, mode_id: str, **kwargs: Any) -> SetSessionModeResponse:
        self.mode = mode_id
        return SetSessionModeResponse()

    # Turns.

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> PromptResponse:
        text = "".join(block.text for block in prompt)
        history = self.histories[session_id]
        if (running := self.turns.get(session_id)) is not None:
            if self.traits.steers == "refused":
                raise RequestError.invalid_request({"details": "a prompt is running"})
            if self.traits.steers == "taken":
                history.append({"role": "user", "text": text})
            return await asyncio.shield(running.over)
        turn = self.turns[session_id] = Turn()
        history.append({"role": "user", "text": text})
        self._keep(session_id)
        try:
            stop = "end_turn"
            try:
                stop = await self._work(session_id, turn)
            except Cancelled:
                stop = "cancelled"
            del self.turns[session_id]
            count = turn.requests
            usage = Usage(
                input_tokens=INPUT_TOKENS * count,
                cached_read_tokens=CACHED_TOKENS * count,
                output_tokens=OUTPUT_TOKENS * count,
                total_tokens=(INPUT_TOKENS + CACHED_TOKENS + OUTPUT_TOKENS) * count,
            )
            # Not checked: a reason that does not exist is among those that tests want.
            answer = PromptResponse.model_construct(stop_reason=stop, usage=usage)
            turn.over.set_result(answer)
            return answer
        except RequestError as error:
            turn.over.set_exception(error)
            turn.over.exception()
            raise
        finally:
            self.turns.pop(session_id, None)
            self._keep(session_id)

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        if not self.traits.ignores_cancel and (turn := self.turns.get(session_id)) is not None:
            turn.cancelled.set()

    async def _work(self, session_id: str, turn: Turn) -> str:
        """Take steps until the model has nothing more to do; the stop reason."""
        history = self.histories[session_id]
        while True:
            known = len(history)
            setting = {"role": "setting", "mode": self.mode, "model": self.chosen_model, "servers": self.servers}
            step = await self._unless(turn, self.model.next([*history, setting]))
            turn.requests += 1
            message_id = uuid4().hex if self.traits.numbers_messages else None
            said = step.get("say") or step.get("text") or step.get("question") or ""
            match step["kind"]:
                case "Say" | "AskUser":
                    await self._say(session_id, turn, said, message_id, step.get("pause_s", 0), step.get("piece_chars"))
                    history.append({"role": "agent", "text": said[:10_000]})
                    if len(history) == known + 1:
                        return "end_turn"
                case "Run" | "Write" | "Call":
                    if said:
                        await self._say(session_id, turn, said, message_id)
                    if step["kind"] == "Call" and step["tool"].startswith("acp:"):
                        if (stop := await self._special(session_id, turn, step)) is not None:
                            return stop
                        continue
                    outcome = await self._tool(session_id, turn, step)
                    history.append({"role": "tool", "text": outcome[:10_000]})
                case "Refuse":
                    raise RequestError(-32603, f"model answered {step['status']}", {"details": step["message"]})
                case "Stall":
                    await self._say(session_id, turn, said, message_id)
                    await self._unless(turn, asyncio.Event().wait())
                case "Drop":
                    await self._say(session_id, turn, said, message_id)
                    raise RequestError.internal_error({"details": "the model's connection broke"})

    async def _special(self, session_id: str, turn: Turn, step: dict[str, Any]) -> str | None:
        """What only a protocol test wants of an agent; a stop reason ends the turn."""
        arguments = step["arguments"]
        match step["tool"]:
            case "acp:updates":
                for update in arguments["updates"]:
                    await self._raw("session/update", {"sessionId": session_id, "update": update})
            case "acp:garbage":
                sys.stdout.write(arguments["line"] + "\n")
                sys.stdout.flush()
            case "acp:think":
                await self._update(session_id, update_agent_thought(text_block(arguments["text"])))
            case "acp:stop":
                return arguments["reason"]
            case "acp:die":
                sys.stderr.write(arguments["words"] + "\n")
                sys.stderr.flush()
                os._exit(3)
            case other:
                raise RequestError.invalid_params({"details": other})
        return None

    async def _raw(self, method: str, params: dict[str, Any]) -> None:
        assert self.client is not None
        await self.client._conn.send_notification(method, params)  # pyright: ignore[reportAttributeAccessIssue]

    async def _update(self, session_id: str, update: Any) -> None:
        assert self.client is not None
        await self.client.session_update(session_id=session_id, update=update)

    async def _say(
        self,
        session_id: str,
        turn: Turn,
        text: str,
        message_id: str | None,
        pause_s: float = 0.0,
        piece_chars: int | None = None,
    ) -> None:
        size = piece_chars or 20
        for at in range(0, len(text), size):
            update = update_agent_message(text_block(text[at : at + size]))
            update.message_id = message_id
            await self._update(session_id, update)
            if pause_s:
                await self._unless(turn, asyncio.sleep(pause_s))

    async def _unless(self, turn: Turn, work: Any) -> Any:
        """`work`, or `Cancelled` as soon as the turn is."""
        doing, told = asyncio.ensure_future(work), asyncio.ensure_future(turn.cancelled.wait())
        try:
            await asyncio.wait({doing, told}, return_when=asyncio.FIRST_COMPLETED)
            if turn.cancelled.is_set():
                raise Cancelled
            return doing.result()
        finally:
            for task in (doing, told):
                task.cancel()

    # Tools.

    async def _tool(self, session_id: str, turn: Turn, step: dict[str, Any]) -> str:
        self.calls += 1
        call_id = f"call-{self.calls}-{uuid4().hex[:6]}"
        kind, title, raw, locations, content = self._described(step)
        # As real ones do: first the tool's name alone, then what it is called with.
        await self._update(
            session_id,
            ToolCallStart(
                session_update="tool_call", tool_call_id=call_id, title=kind, kind=kind, status="pending", raw_input={}
            ),
        )
        await self._update(
            session_id,
            ToolCallProgress(
                session_update="tool_call_update",
                tool_call_id=call_id,
                title=title,
                status="in_progress",
                raw_input=raw,
                locations=locations,
            ),
        )
        allowed = await self._allowed(
            session_id,
            turn,
            ToolCallUpdate(
                tool_call_id=call_id, title=title, kind=kind, raw_input=raw, locations=locations, content=content
            ),
        )
        if allowed:
            outcome = await self._done(turn, step)
        else:
            outcome = "This was not allowed."
        shown = {"type": "content", "content": {"type": "text", "text": outcome}}
        update = {
            "sessionUpdate": "tool_call_update",
            "toolCallId": call_id,
            "status": "completed" if allowed else "failed",
            "content": [shown, *([part.model_dump(by_alias=True) for part in content or ()] if allowed else [])],
        }
        await self._raw("session/update", {"sessionId": session_id, "update": update})
        return outcome

    def _described(self, step: dict[str, Any]) -> tuple[Any, str, dict[str, Any], Any, Any]:
        match step["kind"]:
            case "Run":
                return "execute", f"`{step['command']}`", {"command": step["command"]}, None, None
            case "Write":
                path = str(self.place / step["path"])
                diff = FileEditToolCallContent(type="diff", path=path, old_text=None, new_text=step["content"])
                return "edit", f"Write {step['path']}", {"file_path": path}, [ToolCallLocation(path=path)], [diff]
            case _:
                return "other", step["tool"], step["arguments"], None, None

    async def _allowed(self, session_id: str, turn: Turn, call: ToolCallUpdate) -> bool:
        if self.mode == "plan":
            return False
        if self.mode == "yolo":
            return True
        assert self.client is not None
        # The ids and the names mislead on purpose: only the kinds are true.
        options = [
            PermissionOption(option_id=f"o{at}", name="Yes" if "reject" in kind else "No", kind=kind)  # pyright: ignore[reportArgumentType]
            for at, kind in enumerate(self.traits.permissions)
        ]
        answer = await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
        if answer.outcome.outcome == "cancelled":
            raise Cancelled
        chosen = self.traits.permissions[int(answer.outcome.option_id[1:])]
        self.histories[session_id].append({"role": "owner", "text": f"chose {chosen}"})
        return chosen.startswith("allow")

    async def _done(self, turn: Turn, step: dict[str, Any]) -> str:
        match step["kind"]:
            case "Run":
                process = await asyncio.create_subprocess_shell(
                    step["command"],
                    cwd=self.place,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.STDOUT,
                    start_new_session=True,
                )
                try:
                    output, _ = await self._unless(turn, process.communicate())
                except Cancelled:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    await process.wait()
                    raise
                return output.decode("utf-8", "replace")
            case "Write":
                (self.place / step["path"]).write_text(step["content"])
                return "Written."
            case "Call" if step["tool"].startswith("mcp__"):
                server, _, tool = step["tool"].removeprefix("mcp__").partition("__")
                return await self._unless(turn, self._asked_of(server, tool, step["arguments"]))
            case _:
                return "Done."

    async def _asked_of(self, server: str, tool: str, arguments: dict[str, Any]) -> str:
        if server not in self.programs:
            return f"There is no server {server}."
        if server not in self.lines:
            program = self.programs[server]
            variables = {variable.name: variable.value for variable in program.env}
            self.lines[server] = await McpLine.start(program.command, program.args, variables)
        return await self.lines[server].call(tool, arguments)


def _select(name: str, current: str, values: list[str]) -> SessionConfigOptionSelect:
    options = [SessionConfigSelectOption(value=value, name=value.replace("/", " ").title()) for value in values]
    return SessionConfigOptionSelect(
        type="select",
        id=f"the-{name}",
        name=name.title(),
        category=name,  # pyright: ignore[reportArgumentType]
        current_value=current,
        options=options,
    )


def main() -> None:
    traits = Traits(**json.loads(os.environ["ACP_AGENT"]))
    if traits.dies:
        sys.stderr.write(f"{traits.dies}\n")
        raise SystemExit(3)
    agent = ScriptedAgent(traits)
    asyncio.run(run_agent(agent, use_unstable_protocol=True))  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main()
