"""One conversation with Claude Code: its turns, the messages steered into them, and what it wants to be allowed.

A steered message is safe because nothing is taken on trust: it carries a name of ours, the agent says what becomes of
it, and the turn goes on until the agent has said so of every message. That check and the closing of the turn are one
step, under the lock that sending holds too.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any

from keryx.agents.adapter import AskOwner
from keryx.agents.approver import Answer, Ask
from keryx.agents.base import SteerUnavailable
from keryx.agents.claude.frames import Frame, FrameReader, Meter, covered, outcome_of, unasked
from keryx.agents.claude.launch import Launch, Link
from keryx.agents.claude.line import ENDED, OVER, Mail
from keryx.agents.claude.log import ConversationFile
from keryx.agents.claude.tools import known_of, permission_for
from keryx.agents.events import AgentEvent, Alive, Done, Failure, ToolCall
from keryx.errors import KeryxError

ACKNOWLEDGE_S = 3.0
"""How long the agent may take to say that it has a message; 1 to 25 ms when all is well."""
CANCEL_S = 2.0
INTERRUPT_S = 1.0
RESULT_S = 5.0
"""How long a result may take once every message of the turn is done with; it comes before that when all is well."""

HANDED_OVER = "The plan has been handed over to the user."

log = logging.getLogger(__name__)


class _Turn:
    """One turn, as far as its messages go."""

    def __init__(self, prompt: str, ask: AskOwner) -> None:
        self.prompt = Mail(prompt)
        self.mails = [self.prompt]
        self.ask = ask
        self.worked = False
        """The agent ran a tool in it: doing the whole turn once more could do that twice."""
        self.closed = False
        self.interrupted = False
        self.rebuilt = False
        self.plan: str | None = None
        self.last_result: Frame | None = None
        self.started: set[str] = set()
        """The messages that the agent took up, in the order of the frames."""
        self.settled: set[str] = set()
        """The messages that are done with: a result answers them, the agent said so, or they are in the conversation
        of a process that died. In the order of the frames: `Mail.state` is ahead of what has been read here."""

    @property
    def begun(self) -> bool:
        """The agent took up the prompt: what it writes from now on belongs to this turn."""
        return self.prompt.uuid in self.started

    @property
    def outstanding(self) -> list[Mail]:
        return [mail for mail in self.mails if mail.uuid not in self.settled]


class ClaudeAdapter:
    """As `keryx.agents.session.Adapter`."""

    called = "Claude"

    def __init__(self, launch: Launch, session_id: str) -> None:
        self.session_id: str | None = session_id
        self._conversation = session_id
        self._launch = launch
        self._file = ConversationFile(launch.environment, session_id)
        self._reader = FrameReader(launch.place, launch.servers)
        self._meter = Meter()
        self._link: Link | None = None
        self._turn: _Turn | None = None
        self._lock = asyncio.Lock()
        self._busy = False
        """The agent may be working on a turn, even when nobody waits for it any more."""
        self._acknowledges = False
        """It says what becomes of a message; a very old one does not."""

    async def connect(self, *, resume: bool) -> None:
        """Start the agent; raises as `Launch.connect`."""
        self._meter = Meter(await asyncio.to_thread(self._file.spent)) if resume else Meter()
        self._reader = FrameReader(self._launch.place, self._launch.servers)
        self._link = await self._launch.connect(self._conversation, self._may_use, resume=resume)

    async def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
        turn = self._turn = _Turn(prompt, ask)
        try:
            done = await self._begin(turn)
            while done is None:
                frame = await self._next(turn)
                match frame.get("type"):
                    case None:
                        done = Done(False, failure=Failure.OTHER, error="it ended its turn without a result")
                        if turn.last_result is not None:
                            done = self._judged(turn, turn.last_result)
                    case kind if kind == ENDED:
                        done = await self._rebuilt(turn)
                    case "result":
                        done = None if unasked(frame) else await self._closing(turn, frame)
                    case "command_lifecycle":
                        yield Alive()
                        done = self._heard(turn, frame)
                    case _ if turn.begun:
                        for event in self._reader.events(frame):
                            turn.worked = turn.worked or isinstance(event, ToolCall)
                            yield event
                    case _:
                        yield Alive()
            turn.closed = True
            yield done
        finally:
            turn.closed = True
            self._turn = None

    async def steer(self, text: str) -> None:
        async with self._lock:
            turn, link = self._turn, self._link
            if turn is None or turn.closed or turn.interrupted or link is None or not link.line.is_ready():
                raise SteerUnavailable("no turn is running")
            if not self._acknowledges:
                raise SteerUnavailable("this version of Claude Code does not say whether it took something in")
            mail = Mail(text)
            # From here on the turn waits to hear what becomes of it, even if whoever sends it stops waiting.
            turn.mails.append(mail)
            try:
                taken = await self._delivered(link, mail)
            except ConnectionError:
                taken = await self._landed(link, mail)
            if not taken:
                turn.mails.remove(mail)
                raise SteerUnavailable("Claude Code did not take it in")

    async def interrupt(self) -> None:
        if self._turn is not None:
            self._turn.interrupted = True
        if self._busy and self._link is not None:
            # What was queued would run next, as a turn of its own.
            await self._link.line.request({"subtype": "interrupt", "cancel_queued": True}, INTERRUPT_S)

    async def close(self) -> None:
        if self._link is not None:
            await self._link.close()

    async def _begin(self, turn: _Turn) -> Done | None:
        """Send the prompt, to a new process if the old one is gone; a `Done` when the turn ends here."""
        async with self._lock:
            try:
                if self._link is None or not self._link.line.is_ready():
                    await self._connect_again()
                link = self._link
                assert link
                while not link.line.frames.empty():
                    link.line.frames.get_nowait()  # of an earlier turn that nobody waited for
                if turn.interrupted:
                    return Done(False, failure=Failure.INTERRUPTED, error="interrupted")
                await self._send(link, turn.prompt)
            except ConnectionError:
                return None  # the frames end in a moment, which is where that is decided
            except KeryxError as error:
                return Done(False, failure=Failure.DIED, error=str(error))
            self._acknowledges = self._acknowledges or turn.prompt.state is not None
            if not self._acknowledges:
                turn.started.add(turn.prompt.uuid)
        return None

    async def _send(self, link: Link, mail: Mail) -> None:
        """Send a message that must be answered for by a result; waits a moment for its acknowledgement."""
        self._busy = True
        await link.line.post(mail)
        await _answered(mail, ACKNOWLEDGE_S)

    async def _connect_again(self) -> None:
        """A new process for the same conversation; raises as `Launch.connect`."""
        if self._link is not None:
            await self._link.close()
        # Killed before it wrote anything down, there is nothing to take up: the name is still free.
        await self.connect(resume=await asyncio.to_thread(self._file.exists))

    async def _next(self, turn: _Turn) -> Frame:
        """The next frame; an empty one when every message is done with and still no result comes."""
        assert self._link
        frames = self._link.line.frames
        if turn.outstanding or not frames.empty():
            return await frames.get()
        try:
            async with asyncio.timeout(RESULT_S):
                return await frames.get()
        except TimeoutError:
            return {}

    def _heard(self, turn: _Turn, frame: Frame) -> Done | None:
        """Something was heard of a message."""
        self._acknowledges = True
        uuid, state = str(frame.get("command_uuid")), frame.get("state")
        if state == "started":
            turn.started.add(uuid)
        elif state in OVER:
            turn.settled.add(uuid)
        if uuid == turn.prompt.uuid and state in OVER and not turn.begun and turn.interrupted:
            self._busy = False
            return Done(False, failure=Failure.INTERRUPTED, error="interrupted")
        return None

    async def _closing(self, turn: _Turn, result: Frame) -> Done | None:
        """The turn's end, if this result answers the last of its messages; then no more are taken."""
        async with self._lock:
            uuids = covered(result)
            if uuids is None:
                uuids = frozenset(turn.started)  # all that one can know of an older version
            if uuids.isdisjoint(mail.uuid for mail in turn.mails):
                return None  # of an earlier turn, that nobody waits for any more
            turn.settled |= uuids
            turn.last_result = result
            aborted = turn.interrupted and bool(result.get("is_error"))
            if turn.outstanding and not aborted:
                return None
            turn.closed = True
            return self._judged(turn, result)

    def _judged(self, turn: _Turn, result: Frame) -> Done:
        self._busy = False
        usage, cost_usd = self._meter.take(result)
        done = outcome_of(result, usage, cost_usd, self._reader.resets_at)
        if turn.plan is not None and done.failure is Failure.INTERRUPTED and not turn.interrupted:
            return Done(True, turn.plan, usage, cost_usd)
        return done

    async def _delivered(self, link: Link, mail: Mail) -> bool:
        """Send a steered message; whether it is in. Raises `ConnectionError` when only the conversation can tell."""
        await link.line.post(mail)
        if not await _answered(mail, ACKNOWLEDGE_S):
            request = {"subtype": "cancel_async_message", "message_uuid": mail.uuid}
            answer = await link.line.request(request, CANCEL_S)
            if answer is not None and answer.get("cancelled"):
                return False
            if mail.state is None:
                log.warning("the agent does not answer and is stopped")
                await link.line.kill()
        if mail.state is None:
            raise ConnectionError("the agent's process is gone")
        return not mail.turned_away

    async def _landed(self, link: Link, mail: Mail) -> bool:
        """Whether a message got into the conversation of a process that is gone, or is about to be."""
        await link.line.kill()
        return mail.uuid in await asyncio.to_thread(self._file.holding, [mail.uuid])

    async def _rebuilt(self, turn: _Turn) -> Done | None:
        """The process is gone: go on with a new one if that repeats nothing, else the turn ends here.

        Whatever got into the conversation is there when it is taken up, and is not sent again; what did not is. When
        all of it is there, or a tool was run that the conversation does not know of, nobody knows what was done by
        then: so that is a failure, and the next turn takes the conversation up.
        """
        async with self._lock:
            assert self._link
            died = Done(False, failure=Failure.DIED, error=_epitaph(self._link))
            await self._link.line.kill()
            self._busy = False
            if turn.interrupted or turn.rebuilt:
                return died
            turn.rebuilt = True
            turn.settled |= await asyncio.to_thread(self._file.holding, [mail.uuid for mail in turn.mails])
            lost = turn.outstanding
            if not lost or (turn.prompt in lost and turn.worked):
                return died
            log.warning("the agent's process ended in the middle of a turn", extra={"sent_again": len(lost)})
            try:
                await self._connect_again()
                for mail in lost:
                    mail.state = None
                    mail.answered.clear()
                    await self._send(self._link, mail)
            except ConnectionError:
                return None  # the new one's frames end, too
            except KeryxError:
                return died
            if turn.prompt in lost:
                turn.started.discard(turn.prompt.uuid)
            else:
                turn.started.add(turn.prompt.uuid)
        return None

    async def _may_use(self, tool: str, arguments: dict[str, Any], context: Any) -> Any:
        """Decide on one tool call; for the SDK, which cancels it when the agent no longer wants to know."""
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        turn = self._turn
        if turn is None:
            return PermissionResultDeny(message="Nobody is waiting for this turn any more. Stop here.")
        if tool == "AskUserQuestion":
            answers = await _asked(arguments, turn.ask)
            if isinstance(answers, Answer):
                return PermissionResultDeny(message=answers.text)
            return PermissionResultAllow(updated_input={**arguments, "answers": answers})
        if tool == "ExitPlanMode" and self._launch.task.mode == "plan":
            turn.plan = str(arguments.get("plan") or "")
            return PermissionResultDeny(message=HANDED_OVER, interrupt=True)
        answer = await turn.ask(await self._permission(tool, arguments))
        if answer.allowed:
            return PermissionResultAllow()
        return PermissionResultDeny(message=answer.text or "This was not allowed.")

    async def _permission(self, tool: str, arguments: dict[str, Any]) -> Ask:
        if (known := known_of(tool, self._launch.servers)) is not None:
            return known.judge(arguments)
        read_only = tool.startswith("mcp__") and self._link is not None and await self._link.reads_only(tool)
        return permission_for(tool, arguments, self._launch.place, read_only=read_only)


async def _asked(arguments: dict[str, Any], ask: AskOwner) -> dict[str, str] | Answer:
    """The answers by question, or the first answer that was none."""
    answers: dict[str, str] = {}
    for question in arguments.get("questions") or ():
        text = str(question.get("question") or question.get("header") or "")
        choices = tuple(str(option.get("label")) for option in question.get("options") or ())
        detail = "\n".join(
            f"{option.get('label')}: {option.get('description')}" for option in question.get("options") or ()
        )
        answer = await ask(Ask(text, choices=choices, detail=detail))
        if not answer.allowed:
            return answer
        answers[text] = answer.text
    return answers


async def _answered(mail: Mail, limit_s: float) -> bool:
    """Wait until something is heard of it; False when nothing is, in time or any more."""
    try:
        async with asyncio.timeout(limit_s):
            await mail.answered.wait()
    except TimeoutError:
        pass
    return mail.state is not None


def _epitaph(link: Link) -> str:
    line = link.line
    code = "" if line.exit_code is None else f" (exit code {line.exit_code})"
    last = f": {line.complaints[-1]}" if line.complaints else ""
    return f"Claude Code ended unexpectedly{code}{last}"
