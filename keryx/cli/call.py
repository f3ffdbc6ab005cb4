"""`keryx call`: a caller at the terminal, on the same line as the page."""

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keryx.cli import sound
from keryx.cli.api import DaemonApi, require_daemon
from keryx.cli.caller import AFTER_SPEECH_S, CLOSE_GRACE_S, INCOMING_RATE, OUTGOING_RATE, CallerLine, CallOver, ring
from keryx.clock import SystemClock
from keryx.config.daemon import DaemonPointer
from keryx.errors import ConfigError, KeryxError, Unavailable
from keryx.tasks.models import TaskStatus

VOICE_WAIT_S = 180.0
"""How long a spoken call waits for the daemon's speech parts to load."""
POLL_S = 0.5
UNTIL_DONE_LIMIT_S = 3600.0
READ_BYTES = 65_536


@dataclass(frozen=True)
class Plan:
    """What this call is to do. Without words to say or play, it takes lines from standard input."""

    text: str | None = None
    recording: bytes | None = None
    out: Path | None = None
    wait_s: float | None = None
    until_done: bool = False
    as_json: bool = False


def place_call(
    *, say: str | None, wav: str | None, out: str | None, wait_s: float | None, until_done: bool, as_json: bool
) -> None:
    """Call the running daemon and stay to the end of its reply; raises `KeryxError` when that is not to be had."""
    recording = sound.read_wav(Path(wav), INCOMING_RATE) if wav else None
    if out:
        sound.check_writable(Path(out))
    if say is not None and not say.strip():
        raise ConfigError("there is nothing to say; give --say some words")
    pointer = require_daemon()
    plan = Plan(say, recording, Path(out) if out else None, wait_s, until_done, as_json)
    asyncio.run(_Conversation(pointer, plan).run())


class Transcript:
    """Both sides on standard output: one line for each thing said, or every message as JSON."""

    def __init__(self, *, as_json: bool, echo_typing: bool) -> None:
        """`echo_typing` False leaves the caller's own words out: a terminal shows them already."""
        self._as_json = as_json
        self._echo_typing = echo_typing

    def show(self, event: dict[str, Any]) -> None:
        if self._as_json:
            print(json.dumps(event, ensure_ascii=False), flush=True)
            return
        match event:
            case {"type": "caption", "who": "caller", "text": str(text), "final": True}:
                if self._echo_typing:
                    print(f"you: {text}", flush=True)
            case {"type": "caption", "who": "keryx", "text": str(text), "final": True}:
                print(f"keryx: {text}", flush=True)
            case {"type": "error", "message": str(message)}:
                note(message)


def note(line: str) -> None:
    """Say something about the call that nobody said in it."""
    print(f"keryx: {line}", file=sys.stderr, flush=True)


class _Conversation:
    """One run of `keryx call`."""

    def __init__(self, pointer: DaemonPointer, plan: Plan) -> None:
        self._pointer = pointer
        self._plan = plan
        self._clock = SystemClock()
        self._heard = b""

    async def run(self) -> None:
        plan = self._plan
        speech = await self._speech()
        typed = speech is None and plan.text is None
        transcript = Transcript(as_json=plan.as_json, echo_typing=not (typed and sys.stdin.isatty()))
        newest = await asyncio.to_thread(self._newest_task) if plan.until_done else 0
        audio = speech is not None or plan.out is not None
        try:
            async with ring(self._pointer, self._clock, transcript.show, audio=audio) as line:
                try:
                    await self._talk(line, speech, newest)
                finally:
                    self._heard = line.playout.heard
        finally:
            if plan.out:
                sound.write_wav(plan.out, self._heard, OUTGOING_RATE)

    async def _talk(self, line: CallerLine, speech: bytes | None, newest: int) -> None:
        failure: KeryxError | None = None
        over: CallOver | None = None
        hung_up = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, hung_up.set)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(line.run())
                said = group.create_task(self._say_all(line, speech, newest))
                stop = group.create_task(hung_up.wait())
                await asyncio.wait((said, stop), return_when=asyncio.FIRST_COMPLETED)
                said.cancel()
                hung_up.set()
                await line.hang_up()
                # The daemon answers with the call's end, which ends the group; a silent one is not waited for.
                await self._clock.sleep(CLOSE_GRACE_S)
                raise CallOver("hung up")
        except* CallOver as ended:
            over = next(error for error in _leaves(ended) if isinstance(error, CallOver))
        except* KeryxError as failed:
            failure = next(error for error in _leaves(failed) if isinstance(error, KeryxError))
        finally:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        if failure is not None:
            raise failure
        if over is not None and over.reason is None and not hung_up.is_set():
            raise Unavailable("The call was cut off: the daemon is gone. Start it again with: keryx serve --demo")

    async def _say_all(self, line: CallerLine, speech: bytes | None, newest: int) -> None:
        await line.answered()  # the opening words
        heard = True
        if speech is not None:
            await line.play_into(speech)
            heard = await line.answered(quiet_s=AFTER_SPEECH_S)
        elif self._plan.text is not None:
            await line.type(self._plan.text)
            heard = await line.answered()
        else:
            interactive = sys.stdin.isatty()
            if interactive:
                note("type what you want done; Enter sends, Ctrl-D hangs up")
            async for words in _typed_lines():
                await line.type(words)
                if not interactive:  # the next line of a script would cut the answer short
                    heard = await line.answered()
            if interactive:
                await line.answered()
        if not heard and not self._plan.as_json:
            note("no reply came")
        if self._plan.until_done:
            await self._until_done(line, newest)
        elif self._plan.wait_s:
            await self._clock.sleep(self._plan.wait_s)
            await line.quiet()

    async def _until_done(self, line: CallerLine, newest: int) -> None:
        limit_s = UNTIL_DONE_LIMIT_S if self._plan.wait_s is None else self._plan.wait_s
        deadline_s = self._clock.monotonic() + limit_s
        while (
            open_tasks := await asyncio.to_thread(self._open_tasks, newest)
        ) and self._clock.monotonic() < deadline_s:
            await self._clock.sleep(POLL_S)
        await line.quiet()
        if open_tasks:
            raise Unavailable(f"Task {open_tasks[-1]} had not ended and been told after {limit_s:.0f} s.")

    def _newest_task(self) -> int:
        with DaemonApi(self._pointer) as api:
            return max((row["id"] for row in api.get("/api/tasks", limit=1)), default=0)

    def _open_tasks(self, newest: int) -> list[int]:
        """This call's tasks that still run, or whose result nobody has heard."""
        with DaemonApi(self._pointer) as api:
            rows = [row for row in api.get("/api/tasks", limit=50) if row["id"] > newest]
        return [
            row["id"]
            for row in rows
            if not TaskStatus(row["status"]).ended or (row["status"] != TaskStatus.CANCELLED and row["told_at"] is None)
        ]

    async def _speech(self) -> bytes | None:
        """The sound to play into the call; None when it is typed, because that was asked or is all there is."""
        plan = self._plan
        if plan.text is None and plan.recording is None:
            return None
        voice = await asyncio.to_thread(self._wait_for_voice)
        if plan.recording is not None:
            if voice != "ready":
                raise Unavailable(
                    "The daemon cannot hear: it is typing only. Use --type, or pip install 'keryx[speech]'"
                )
            return plan.recording
        assert plan.text is not None
        if voice != "ready" or not sound.can_speak():
            note("there is no voice here, so this is sent as text; pip install 'keryx[speech]' adds one")
            return None
        return await sound.spoken(plan.text, INCOMING_RATE)

    def _wait_for_voice(self) -> str:
        deadline_s = time.monotonic() + VOICE_WAIT_S
        told = False
        with DaemonApi(self._pointer) as api:
            while (voice := api.get("/health")["voice"]) == "loading" and time.monotonic() < deadline_s:
                if not told:
                    note("waiting for the daemon's speech parts to load")
                    told = True
                time.sleep(POLL_S)
        return voice


async def _typed_lines() -> AsyncIterator[str]:
    """The lines of standard input as they come, without the empty ones."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        # A daemon thread on the bare descriptor: a read that never returns must not keep the process alive, and a
        # thread inside sys.stdin would hold its lock while the interpreter ends.
        rest = b""
        try:
            while block := os.read(0, READ_BYTES):
                *whole, rest = (rest + block).split(b"\n")
                for line in whole:
                    loop.call_soon_threadsafe(lines.put_nowait, line.decode("utf-8", "replace"))
            loop.call_soon_threadsafe(lines.put_nowait, rest.decode("utf-8", "replace"))
            loop.call_soon_threadsafe(lines.put_nowait, None)
        except RuntimeError:
            pass  # the call ended and its loop is closed; nobody waits for these words

    threading.Thread(target=read, name="typing", daemon=True).start()
    while (line := await lines.get()) is not None:
        if line.strip():
            yield line.strip()


def _leaves(group: BaseExceptionGroup) -> list[BaseException]:
    return [
        leaf
        for error in group.exceptions
        for leaf in (_leaves(error) if isinstance(error, BaseExceptionGroup) else [error])
    ]
