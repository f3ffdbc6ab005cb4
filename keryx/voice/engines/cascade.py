"""The cascade: hear, think, speak, each by a part of its own, and this module says when.

One coroutine holds the conversation: it takes one thing after another from what there is to do, what the caller did
first, news in a pause, and lets the dialogue answer. What the caller does comes in between at any time through `take`:
it silences the mouth at once, and overtakes the answer that is being made once it has turned out to be a turn.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import assert_never

from keryx.clock import Clock
from keryx.tasks.models import News
from keryx.voice.dialogue.base import Dialogue, Say
from keryx.voice.engines.base import EFFECT_GRACE_S, LAST_WORDS_GRACE_S, EngineEvent, HangUpOut, StateOut
from keryx.voice.engines.captions import CallerCaptions
from keryx.voice.engines.jobs import Answer, Farewell, Idle, Job, Key, Open, Tell, says
from keryx.voice.engines.listening import CallerBegan, CallerPartial, CallerSpoke, CallerWasNot, Ears, Heard
from keryx.voice.engines.manner import Manner, NewsDesk, SpeechSource
from keryx.voice.engines.outbox import Outbox
from keryx.voice.engines.speaking import Mouth
from keryx.voice.engines.thinking import Reply
from keryx.voice.hearing.base import Transcript
from keryx.voice.transports.base import AudioIn, Capabilities, Inbound, KeyIn, Played, StopSpeaking, TextIn
from keryx.voice.turns import NO_SPEECH_LIMIT, Situation, Verdict, judge
from keryx.voice.wording import is_backchannel

log = logging.getLogger(__name__)

WATCH_S = 0.1
"""How often the wall clock is looked at."""


ECHO_TAIL_S = 1.0
"""After its last word Keryx may still come back over the line."""


class CascadeEngine:
    """A `VoiceEngine` of separate hearing, dialogue and speaking; without speech parts, by typing alone."""

    def __init__(
        self,
        capabilities: Capabilities,
        dialogue: Dialogue,
        speech: SpeechSource,
        desk: NewsDesk,
        *,
        clock: Clock,
        manner: Manner | None = None,
    ) -> None:
        self._capabilities = capabilities
        self._dialogue = dialogue
        self._speech = speech
        self._desk = desk
        self._clock = clock
        self._manner = manner or Manner()
        self._outbox = Outbox()
        self._mouth = Mouth(capabilities.outgoing, self._outbox, clock, self._was_heard, pacing=self._manner.pacing)
        self._ears: Ears | None = None
        self._jobs: deque[Job] = deque([Open()])
        self._news: deque[News] = deque()
        self._in_hand: set[int] = set()
        self._reply: Reply | None = None
        self._opening = True
        self._fell_quiet_s = clock.monotonic()
        self._echo_possible = False
        self._situation = Situation()
        self._unheard: str | None = None
        self._wake = asyncio.Event()
        self._began_s = self._active_s = clock.monotonic()
        self._state = ""
        self._captions = CallerCaptions(self._outbox)
        self._end_reason: str | None = None
        self._line_lost = False

    # -- the seam ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Hold the conversation to its end."""
        self._equip()
        async with asyncio.TaskGroup() as group:
            helpers = [group.create_task(self._mouth.run()), group.create_task(self._watch())]
            if self._capabilities.audio:
                helpers.append(group.create_task(self._hear()))
            await self._converse()
            for helper in helpers:
                helper.cancel()
        self._outbox.put(HangUpOut(self._end_reason or "goodbye"))

    def take(self, inbound: Inbound) -> None:
        match inbound:
            case AudioIn(payload):
                if self._ears is not None:
                    self._ears.take(payload)
            case Played(name):
                self._mouth.answered(name)
            case TextIn(text):
                self._captions.close(text)
                self._take_turn(Answer(text), overtaking=self._mouth.voice is not None)
            case KeyIn(digit):
                self._take_turn(Key(digit), overtaking=self._mouth.busy)
            case StopSpeaking():
                self._overtake()
            case _:
                assert_never(inbound)

    async def next_event(self) -> EngineEvent:
        return await self._outbox.get()

    def announce(self, news: Sequence[News]) -> None:
        fresh = [item for item in news if item.id not in self._in_hand]
        self._in_hand.update(item.id for item in fresh)
        self._news.extend(fresh)
        self._wake.set()

    def finish(self, farewell: str = "", reason: str = "goodbye") -> None:
        if self._end_reason is not None:
            return
        self._end_reason = reason
        if farewell:
            self._overtake()
            self._jobs.clear()
            self._jobs.append(Farewell(farewell))
        self._wake.set()

    async def line_lost(self) -> None:
        self._line_lost = True
        self._overtake()
        if self._ears is not None:
            self._ears.line_lost()
        deadline_s = self._clock.monotonic() + LAST_WORDS_GRACE_S
        while self._has_last_words and self._clock.monotonic() < deadline_s:
            await self._clock.sleep(WATCH_S)
        if self._reply is not None:
            await self._reply.at_rest(EFFECT_GRACE_S)

    # -- the conversation -------------------------------------------------------------------------------------------

    async def _converse(self) -> None:
        while True:
            job = await self._next_job()
            if job is None:
                return
            await self._carry_out(job)

    async def _next_job(self) -> Job | None:
        """What to do next, once there is something; None when the call is over."""
        while True:
            self._wake.clear()
            if self._jobs:
                return self._jobs.popleft()
            if self._end_reason is not None or self._dialogue.ended:
                return None
            now_s = self._clock.monotonic()
            if self._news and self._is_pause(now_s):
                news = tuple(self._news)
                self._news.clear()
                return Tell(news)
            if self._is_idle(now_s):
                return Idle()
            self._show("listening")
            await self._wake.wait()

    def _is_pause(self, now_s: float) -> bool:
        if self._mouth.busy or self._mouth.held or (self._ears is not None and self._ears.hears_speech):
            return False
        return not self._question_open or now_s - self._active_s >= self._manner.limits.question_s

    def _is_idle(self, now_s: float) -> bool:
        if self._mouth.held or (self._ears is not None and self._ears.hears_speech):
            return False
        limits = self._manner.limits
        return now_s - self._active_s >= (limits.idle_s if self._mouth.voice is not None else limits.typed_idle_s)

    async def _carry_out(self, job: Job) -> None:
        """Let the dialogue answer, say it, and wait until it was heard or overtaken."""
        self._report_interruption()
        if isinstance(job, Answer | Open):
            self._show("thinking")
        cue = None if isinstance(job, Farewell | Open | Tell) or self._line_lost else self._cue
        reply = Reply(says(job, self._dialogue, self._open), cue, clock=self._clock, patience=self._manner.patience)
        self._reply = reply
        if self._line_lost:
            reply.overtake()
        try:
            while (say := await reply.next()) is not None:
                if reply.overtaken or not await self._mouth.say(say, pace=self._dialogue.pace):
                    self._note_unheard(say.text)
                    break
                if not self._mouth.held:
                    self._show("speaking")
            await reply.close()
            await self._until_heard()
        finally:
            self._reply = None
            if isinstance(job, Open):
                self._opening = False
        self._active_s = self._fell_quiet_s = self._clock.monotonic()

    async def _open(self) -> AsyncIterator[Say]:
        news = await self._desk.briefing()
        ids = {item.id for item in news}
        self._in_hand |= ids
        self._news = deque(item for item in self._news if item.id not in ids)
        async for say in self._dialogue.open(news):
            yield say

    async def _until_heard(self) -> None:
        async with asyncio.TaskGroup() as group:
            heard = group.create_task(self._mouth.quiet())
            if self._end_reason is not None or self._dialogue.ended:
                limit = group.create_task(self._clock.sleep(self._manner.limits.goodbye_s))
                await asyncio.wait([heard, limit], return_when=asyncio.FIRST_COMPLETED)
                limit.cancel()
                heard.cancel()

    async def _cue(self) -> None:
        if self._mouth.busy or self._mouth.held:
            return
        await self._mouth.say(self._dialogue.cue(), pace=self._dialogue.pace)
        self._show("speaking")

    # -- what the caller does ---------------------------------------------------------------------------------------

    def _on_heard(self, heard: Heard) -> None:
        match heard:
            case CallerBegan():
                now_s = self._clock.monotonic()
                self._echo_possible = self._mouth.busy or now_s - self._fell_quiet_s <= ECHO_TAIL_S
                self._active_s = now_s
                self._situation = Situation(
                    talked_over=self._mouth.busy or self._reply is not None,
                    question_open=self._question_open,
                    opening=self._opening,
                )
                self._mouth.hold()
                self._show("listening")
            case CallerPartial(transcript):
                self._caption_partial(transcript)
            case CallerSpoke(transcript, ended):
                self._active_s = self._clock.monotonic()
                verdict = judge(transcript, ended, self._situation)
                if verdict is Verdict.TURN and self._echo_possible and self._is_own(transcript.text):
                    verdict = Verdict.NOTHING
                log.debug("the caller spoke", extra={"verdict": verdict.name, "speech_ms": ended.speech_ms})
                if verdict in (Verdict.NOTHING, Verdict.BACKCHANNEL):
                    self._go_on()
                    return
                text = transcript.text.strip() if verdict is Verdict.TURN else ""
                self._captions.close(text)
                self._take_turn(Answer(text), overtaking=True)
            case CallerWasNot():
                self._go_on()
            case _:
                assert_never(heard)

    def _go_on(self) -> None:
        """It was nothing, or "mm-hm"."""
        self._captions.close()
        self._mouth.release()
        if self._mouth.busy:
            self._show("speaking")
        elif self._reply is not None:
            self._show("thinking")
        self._wake.set()

    def _is_own(self, text: str) -> bool:
        from keryx.voice.hearing.echo import is_own_words

        return is_own_words(text, " ".join(self._mouth.recent))

    def _take_turn(self, job: Answer | Key, *, overtaking: bool) -> None:
        self._active_s = self._clock.monotonic()
        if overtaking:
            self._overtake()
        self._mouth.last_text = ""
        self._jobs.append(job)
        self._wake.set()

    def _overtake(self) -> None:
        """Drop what is being said and what is being made to be said."""
        if self._reply is not None:
            self._reply.overtake()
        if self._mouth.busy:
            self._note_unheard(self._mouth.stop())
        elif self._mouth.held:
            self._mouth.release()

    def _note_unheard(self, text: str) -> None:
        self._unheard = f"{self._unheard or ''} {text}".strip()

    def _report_interruption(self) -> None:
        if self._unheard is not None:
            unheard, self._unheard = self._unheard, None
            self._dialogue.interrupted(unheard)

    @property
    def _has_last_words(self) -> bool:
        """The caller said or typed something that nobody has begun to answer."""
        waits = any(isinstance(job, Answer | Key) for job in self._jobs)
        return waits or (self._ears is not None and self._ears.hears_speech)

    @property
    def _question_open(self) -> bool:
        return "?" in self._mouth.last_text

    # -- helpers ----------------------------------------------------------------------------------------------------

    def _equip(self) -> None:
        """Take up hearing and speaking if they are ready and the line carries sound."""
        parts = self._speech.parts
        if parts is None or self._ears is not None or not self._capabilities.audio:
            return
        from keryx.voice.hearing.echo import EchoGuard

        self._ears = Ears(
            self._capabilities.incoming,
            parts.hearing,
            parts.new_activity(),
            self._on_heard,
            clock=self._clock,
            timing=self._manner.timing,
        )
        self._ears.vocabulary = self._dialogue.vocabulary
        self._mouth.voice = parts.speaking
        self._mouth.echo = self._ears.echo = EchoGuard()

    async def _hear(self) -> None:
        while self._ears is None:
            await self._speech.changed()
            self._equip()
        await self._ears.run()

    async def _watch(self) -> None:
        """Look at the wall clock: silent lines, idle callers, endless calls."""
        limits = self._manner.limits
        while True:
            await self._clock.sleep(WATCH_S)
            if self._ears is not None:
                self._ears.tick()
            now_s = self._clock.monotonic()
            if now_s - self._began_s >= limits.call_s:
                self.finish(limits.farewell)
            if self._reply is None and (self._news or self._is_idle(now_s)):
                self._wake.set()

    def _was_heard(self, say: Say) -> None:
        if say.news_id is not None:
            self._desk.heard(say.news_id)

    def _caption_partial(self, transcript: Transcript) -> None:
        talks_over = self._situation.talked_over and is_backchannel(transcript.text)
        if transcript.text and transcript.no_speech <= NO_SPEECH_LIMIT and not talks_over:
            self._captions.show(transcript.text)

    def _show(self, state: str) -> None:
        if state != self._state:
            self._state = state
            self._outbox.put(StateOut(state))  # type: ignore[arg-type]
