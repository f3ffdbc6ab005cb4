"""One conversation with an agent over ACP: prompts, permissions, steering, stopping.

Steering. ACP says nothing of a second prompt while one runs; an agent that is known to take it into the running turn
answers both when that turn ends. So the turn here ends only when every prompt has been answered, and a steer is
acknowledged once it is in the agent's pipe: whatever becomes of it happens in this run. One that the agent refused, or
answered without having begun a message since (it came just as the turn ended), is put again as a prompt of its own.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from keryx.agents.acp.events import Telling, usage_of
from keryx.agents.acp.process import AcpProcess
from keryx.agents.acp.tools import Surroundings, option_for
from keryx.agents.adapter import AskOwner
from keryx.agents.base import Leash, SteerUnavailable, TurnStopped
from keryx.agents.events import AgentEvent, Done, Failure, SessionId

if TYPE_CHECKING:
    from acp import RequestError
    from acp.client.connection import ClientSideConnection
    from acp.schema import PermissionOption, PromptResponse, RequestPermissionResponse, ToolCallUpdate

CANCEL_S = 0.7
"""How long a cancelled turn may take to end by itself; then its process is ended."""
AUTH_REQUIRED = -32000
MAX_ERROR_CHARS = 400


@dataclass
class _Prompt:
    """One prompt that the agent was given in a turn."""

    text: str
    steer: bool
    messages_before: int
    """How many messages the agent had begun when it was given."""
    answer: "PromptResponse | Exception | None" = None


@dataclass
class _Turn:
    """One turn that runs."""

    ask: AskOwner
    telling: Telling
    incoming: "asyncio.Queue[list[AgentEvent]]" = field(default_factory=asyncio.Queue)
    """What each update and each answered prompt came to, in the order of the wire."""
    prompts: list[_Prompt] = field(default_factory=list)
    answered: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Every prompt has been answered."""
    stopped: bool = False
    messages: set[str] = field(default_factory=set)
    """The ids of the agent's messages, for agents that give them any."""
    asking: set[Leash] = field(default_factory=set)
    denied: str = ""
    """What was last not allowed."""
    cost_usd: float | None = None
    """Of the whole conversation, as far as the agent said."""


class AcpAdapter:
    """One conversation in ACP; `opened` makes it ready."""

    def __init__(self, called: str, around: Surroundings, *, steers: bool) -> None:
        """`called`: the agent's name aloud; `steers`: takes a second prompt in."""
        self.called = called
        self.session_id: str | None = None
        self._around = around
        self._steers = steers
        self._agent: AcpProcess | None = None
        self._connection: ClientSideConnection | None = None
        self._refused: Done | None = None
        self._turn: _Turn | None = None
        self._cost_usd: float | None = 0.0

    def opened(
        self, agent: AcpProcess, connection: "ClientSideConnection", session_id: str | None, *, resumed: bool
    ) -> None:
        """The agent is there, and its conversation has an id; None only when it is to refuse."""
        self._agent, self._connection, self.session_id = agent, connection, session_id
        if resumed:
            self._cost_usd = None  # what it has cost before is told only with what the next turn costs

    def refuse(self, failure: Failure, error: str) -> None:
        """The agent is there, but cannot be asked anything: that is what every turn comes to."""
        self._refused = Done(False, failure=failure, error=error)

    # The turn.

    async def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
        if self._refused is not None:
            yield self._refused
            return
        assert self.session_id is not None
        turn = self._turn = _Turn(ask, Telling(self._around))
        try:
            self._give(turn, prompt, steer=False)
            yield SessionId(self.session_id)
            while True:
                for event in await turn.incoming.get():
                    yield event
                if turn.answered == len(turn.prompts) and turn.incoming.empty() and not self._again(turn):
                    break
            self._turn = None
            for event in turn.telling.rest():
                yield event
            yield self._done(turn)
        finally:
            self._turn = None
            self._withdraw_asks(turn)

    def _again(self, turn: _Turn) -> bool:
        """Put what was steered in and not answered as a prompt of its own; whether there is any."""
        if turn.stopped or isinstance(turn.prompts[0].answer, Exception):
            return False
        lost = [prompt for prompt in turn.prompts if prompt.steer and _lost(prompt, turn)]
        if not lost:
            return False
        for prompt in lost:
            turn.prompts.remove(prompt)
            turn.answered -= 1
        self._give(turn, "\n\n".join(prompt.text for prompt in lost), steer=False)
        return True

    def _give(self, turn: _Turn, text: str, *, steer: bool) -> "asyncio.Future[None]":
        assert self._agent is not None
        prompt = _Prompt(text, steer, len(turn.messages))
        turn.prompts.append(prompt)
        turn.over.clear()
        written = self._agent.prompt_written()
        self._agent.begin(self._prompted(turn, prompt, written))
        return written

    async def _prompted(self, turn: _Turn, prompt: _Prompt, written: "asyncio.Future[None]") -> None:
        """Send one prompt and wait for its answer, however long that is."""
        from acp import RequestError, text_block

        assert self._connection is not None
        assert self.session_id is not None
        prompt.answer = ConnectionError("its process has ended")
        try:
            # Half a character would have the SDK refuse the whole.
            text = prompt.text.encode("utf-8", "replace").decode()
            prompt.answer = await self._connection.prompt(session_id=self.session_id, prompt=[text_block(text)])
        except (RequestError, ConnectionError, ValueError) as error:  # ValueError: an answer that is none in ACP
            prompt.answer = error
        finally:
            if not written.done():
                written.set_exception(ConnectionError("its process has ended"))
            written.exception()  # taken note of: nobody has to wait for it
            turn.answered += 1
            turn.incoming.put_nowait([*turn.telling.rest()])
            if turn.answered == len(turn.prompts):
                turn.over.set()

    def _done(self, turn: _Turn) -> Done:
        answers = [prompt.answer for prompt in turn.prompts]
        answer = next((answer for answer in answers if isinstance(answer, Exception)), answers[-1])
        cost = turn.cost_usd
        if cost is not None:
            # Nothing at all is what agents say that do not know what their model costs.
            before, self._cost_usd = self._cost_usd, cost
            cost = cost - before if before is not None and cost > before else None
        if isinstance(answer, Exception) or answer is None:
            return self._failed(answer, turn)
        usage = usage_of(answer.usage)
        match answer.stop_reason:
            case "cancelled" if turn.denied and not turn.stopped:
                error = f"it ended its turn because this was not allowed: {turn.denied}"
                return Done(False, usage=usage, cost_usd=cost, failure=Failure.OTHER, error=error)
            case "cancelled":
                return Done(False, usage=usage, cost_usd=cost, failure=Failure.INTERRUPTED, error="interrupted")
            case "refusal":
                error = "it refused to go on with this"
                return Done(False, usage=usage, cost_usd=cost, failure=Failure.OTHER, error=error)
            case "max_tokens" | "max_turn_requests" as limit:
                error = f"it stopped at a limit of its own ({limit.replace('_', ' ')})"
                return Done(False, usage=usage, cost_usd=cost, failure=Failure.LIMIT, error=error)
            case _:
                return Done(True, usage=usage, cost_usd=cost)

    def _failed(self, error: Exception | None, turn: _Turn) -> Done:
        if turn.stopped:
            return Done(False, failure=Failure.INTERRUPTED, error="interrupted")
        if error is None or isinstance(error, ConnectionError):
            words = self._agent.last_words if self._agent else ""
            return Done(False, failure=Failure.DIED, error=words or "its process has ended")
        if isinstance(error, ValueError):
            return Done(False, failure=Failure.OTHER, error="it answered in a way that the protocol does not know")
        failure = Failure.NOT_SIGNED_IN if is_auth_required(error) else Failure.OTHER
        return Done(False, failure=failure, error=words_of(error))

    # From outside, while it runs.

    async def steer(self, text: str) -> None:
        turn = self._turn
        if not self._steers:
            raise SteerUnavailable(f"{self.called} takes nothing in while it works")
        if turn is None or turn.stopped or turn.over.is_set():
            raise SteerUnavailable("no turn is running")
        await asyncio.shield(self._give(turn, text, steer=True))

    async def interrupt(self) -> None:
        turn = self._turn
        if turn is None or self._connection is None or self.session_id is None:
            return
        turn.stopped = True
        self._withdraw_asks(turn)
        try:
            async with asyncio.timeout(CANCEL_S):
                with suppress(ConnectionError):
                    await self._connection.cancel(session_id=self.session_id)
                await turn.over.wait()
        except TimeoutError:
            # It does not listen. Its conversation is taken up again by another process, if there is another turn.
            if self._agent is not None:
                await self._agent.kill()

    async def close(self) -> None:
        if self._agent is not None:
            await self._agent.close(gently=self._turn is None)

    # What the agent calls.

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        """Part of a turn. What comes outside of one is the past of a conversation that is taken up again."""
        turn = self._turn
        if session_id != self.session_id:
            return
        if update.session_update == "usage_update" and update.cost is not None and update.cost.currency == "USD":
            if turn is None:
                self._cost_usd = update.cost.amount
            else:
                turn.cost_usd = update.cost.amount
        if turn is None:
            return
        if update.session_update == "agent_message_chunk" and update.message_id:
            turn.messages.add(update.message_id)
        # Read as it comes, not when the turn gets to it: a request for permission that comes next builds on it.
        turn.incoming.put_nowait([*turn.telling.take(update)])

    async def request_permission(
        self, session_id: str, tool_call: "ToolCallUpdate", options: "Sequence[PermissionOption]", **kwargs: Any
    ) -> "RequestPermissionResponse":
        """Whether a tool may run; "cancelled" when there is no turn, or no option that says what was answered."""
        from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

        chosen = await self._permitted(session_id, tool_call, options)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def _permitted(
        self, session_id: str, tool_call: "ToolCallUpdate", options: "Sequence[PermissionOption]"
    ) -> str | None:
        turn = self._turn
        if turn is None or turn.stopped or session_id != self.session_id:
            return None
        ask, leash = turn.telling.known(tool_call).ask(), Leash()
        turn.asking.add(leash)
        try:
            async with leash.held():
                answer = await turn.ask(ask)
        except TurnStopped:
            return None
        finally:
            turn.asking.discard(leash)
        option = option_for(answer.allowed, options)
        if option is None or not answer.allowed:
            turn.denied = ask.text
        return option

    def _withdraw_asks(self, turn: _Turn) -> None:
        for leash in turn.asking:
            leash.pull()


def _lost(prompt: _Prompt, turn: _Turn) -> bool:
    """Whether a steer cannot have been answered, by what its agent returned and has said since."""
    if isinstance(prompt.answer, Exception):
        return not isinstance(prompt.answer, ConnectionError)
    # Agents that give their messages no ids are believed.
    return bool(turn.messages) and len(turn.messages) == prompt.messages_before


def is_auth_required(error: Exception) -> bool:
    """Whether the agent answered that nobody is signed in."""
    return getattr(error, "code", None) == AUTH_REQUIRED


def words_of(error: "RequestError | Exception") -> str:
    """What an agent's error says, in one line: its message and, where there is one, its own explanation."""
    explained = getattr(error, "data", None)
    if isinstance(explained, dict):
        explained = next((explained[name] for name in ("details", "message", "error") if name in explained), None)
    words = [str(error), explained if isinstance(explained, str) else ""]
    return " ".join(": ".join(filter(None, dict.fromkeys(words))).split())[:MAX_ERROR_CHARS]
