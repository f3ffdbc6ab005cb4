"""A conversation by rules, no model needed: what was asked and is still open, what was heard, what comes next."""

import dataclasses
import logging
from collections.abc import AsyncIterator, Sequence
from zoneinfo import ZoneInfo

from keryx.agents.registry import spoken_name
from keryx.clock import Clock
from keryx.errors import KeryxError
from keryx.tasks.models import News
from keryx.voice.dialogue.acting import Acting, for_task, in_project, spoken_project
from keryx.voice.dialogue.agent_choice import FULL_MODE, with_agent
from keryx.voice.dialogue.base import DialogueContext, Say, Understanding
from keryx.voice.dialogue.choosing import chosen_agent, chosen_project, chosen_task
from keryx.voice.dialogue.intents import is_acknowledgement, is_greeting, understand
from keryx.voice.dialogue.keypad import Keypad
from keryx.voice.dialogue.lines import Line, Question, Spoken, was_asked, with_wish
from keryx.voice.dialogue.models import spoken_model
from keryx.voice.dialogue.replies import Phrases, counted
from keryx.voice.tools.base import CallControl
from keryx.voice.tools.toolbox import Toolbox

log = logging.getLogger(__name__)

SLOWER_BY = 0.15
SLOWEST = 0.55
_ASIDES = ("repeat", "slower", "stop", "help", "unclear")
"""What may be said while a question is open without closing it."""


_LOOKING = ("list_tasks", "get_task_status", "get_task_result", "list_projects")
"""Needs no PIN, so a PIN that is waited for still is."""


class RulesDialogue:
    """One call's conversation (`keryx.voice.dialogue.base.Dialogue`).

    Every answer is worked out and its effects done before its first word, so that talking over it undoes nothing.
    `pin_digits`: a keyed PIN of that length needs no hash.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        *,
        clock: Clock,
        control: CallControl,
        owner_name: str,
        timezone: str,
        pin_digits: int | None = None,
    ) -> None:
        self.ended = False
        self.pace = 1.0
        self._control = control
        self._owner_name = owner_name
        agents = toolbox.registry.names()
        models = (spoken_model(word) for name in agents for word in toolbox.registry.models(name) if word.isalpha())
        self._names = (*toolbox.projects, *map(spoken_name, agents), *models)
        self._phrases = Phrases()
        self._acting = Acting(toolbox, self._phrases, clock=clock, zone=ZoneInfo(timezone))
        self._keypad = Keypad(pin_digits)
        self._focus: int | None = None
        self._asked: Question | None = None
        self._not_heard: Question | None = None
        """A question that was talked over: a yes asks it again."""
        self._rest: list[Line] = []
        """News that was talked over and not yet offered again."""
        self._to_repeat: list[Line] = []
        self._spoken = Spoken()
        self._unclear = 0
        self._silences = 0

    # -- what the voice calls ----------------------------------------------------------------------------------------

    async def open(self, news: Sequence[News]) -> AsyncIterator[Say]:
        """Greet once, with everything not yet heard."""
        if news:
            told = self._acting.telling.news(news)
            if len(news) == 1:
                greeting = Line(self._phrases.say("greeting"))
            else:
                greeting = Line(self._phrases.say("greeting_news", count=counted(len(news), "thing")))
            lines = [greeting, *told]
        elif running := await self._safely_counted():
            count = f"{counted(running, 'task')} {'is' if running == 1 else 'are'}"
            lines = [Line(self._phrases.say("greeting_busy", count=count))]
        else:
            lines = [Line(self._phrases.say("greeting_nothing"))]
        self._to_repeat = [line for line in lines if line.news_id is not None] or lines
        async for say in self._give(lines):
            yield say

    async def respond(self, text: str) -> AsyncIterator[Say]:
        """Answer what was said; "" was a sound that nobody understood."""
        self.ended = False
        self._silences = 0
        async for say in self._give(await self._answer(text)):
            yield say

    async def key(self, digit: str) -> AsyncIterator[Say]:
        """Answer a key: one and two are yes and no, digits a PIN while one is wanted, zero alone is help."""
        self._silences = 0
        question = self._asked
        yes_or_no = question is not None and question.must_be_heard and not question.pending.startswith("answer ")
        if yes_or_no and digit in ("1", "2"):
            intent = "confirm" if digit == "1" else "deny"
            lines = await self._with_errors_said(Understanding(intent=intent), "", await self._context())
        elif digit == "0" and self._control.proven and not self._keypad.collecting:
            lines = [Line(self._phrases.say("help"))]
        elif self._control.proven and not self._pin_wanted:
            return
        elif digits := self._keypad.press(digit):
            lines = await self._keyed(digits)
        else:
            return
        async for say in self._give(lines):
            yield say

    async def announce(self, news: Sequence[News]) -> AsyncIterator[Say]:
        """Tell what came in; an open yes-or-no question is asked again before a yes counts."""
        self._set_question_aside()
        self._to_repeat = self._acting.telling.news(news)
        async for say in self._give(self._to_repeat):
            yield say

    def cue(self) -> Say:
        """A few words while something is slow."""
        return Say(self._phrases.say("cue"))

    async def idle(self) -> AsyncIterator[Say]:
        """Digits without hash are taken as they are; else ask once, and hang up the second time."""
        if digits := self._keypad.take():
            lines = await self._keyed(digits)
        elif self._silences:
            self.ended = True
            lines = [Line(self._phrases.say("idle_goodbye"))]
        else:
            self._silences = 1
            # A yes to "still there?" must never be a yes to what was asked before it.
            self._set_question_aside()
            text = self._phrases.say("still_there")
            lines = [Line(text, asks=None if self._pin_wanted else Question("there", text=text))]
        async for say in self._give(lines):
            yield say

    def interrupted(self, unheard: str) -> None:
        """What was not heard was not asked, and news in it was not told."""
        if unheard and self._asked and not was_asked(self._asked, unheard):
            self._not_heard, self._asked = self._asked, None
        self._rest = [*self._spoken.unheard_news(unheard), *self._rest]
        self._spoken.to_come = []

    def vocabulary(self) -> Sequence[str]:
        """Projects, agents and their models, as they are said."""
        return [spoken_project(name) for name in self._names]

    # -- answering ---------------------------------------------------------------------------------------------------

    async def _give(self, lines: list[Line]) -> AsyncIterator[Say]:
        self._spoken = Spoken(to_come=list(lines))
        spoken = self._spoken
        while spoken.to_come:
            line = spoken.to_come.pop(0)
            spoken.given.append(line)
            self._focus = line.focus if line.focus is not None else self._focus
            self._asked = line.asks or self._asked
            if line.news_id is not None and line.focus is not None:
                self._acting.told = line.focus
            if line.focus is not None:
                self._acting.looked = None
            yield line.say

    async def _answer(self, text: str) -> list[Line]:
        rest, self._rest = self._rest, []
        asked = self._asked
        context = await self._context()
        understood = self._settled(text, context) or understand(text, context)
        log.debug("understood", extra={"tool": understood.tool, "intent": understood.intent})
        lines = await self._with_errors_said(understood, text, context)
        refused_nothing = understood.intent == "deny" and asked is None
        if understood.intent not in _ASIDES and not refused_nothing:
            self._to_repeat = list(lines)
        if rest and understood.intent not in ("repeat", "stop") and not self.ended:
            if any(line.asks for line in lines):
                self._rest = rest  # One question at a time: this one comes after the next answer.
            else:
                lines.append(self._offer(rest))
        return lines

    async def _context(self) -> DialogueContext:
        try:
            return await self._acting.context(self._focus, self._asked)
        except KeryxError:
            # Without the store nothing can be looked up; yes, no and goodbye still work.
            return DialogueContext(pending=self._asked.pending if self._asked else None)

    async def _with_errors_said(self, understood: Understanding, text: str, context: DialogueContext) -> list[Line]:
        try:
            return await self._do(understood, text, context)
        except KeryxError as error:
            return [Line(error.spoken)]

    async def _do(self, understood: Understanding, text: str, context: DialogueContext) -> list[Line]:
        question = self._asked
        if understood.intent not in _ASIDES:
            self._unclear = 0
            if not (self._pin_wanted and understood.tool in _LOOKING):
                self._asked = None
        match understood.intent:
            case "confirm":
                return await self._yes(question)
            case "deny":
                return self._no(question, certain=understood.confidence > 0.5)
            case "repeat":
                return self._again()
            case "slower":
                self.pace = max(SLOWEST, self.pace - SLOWER_BY)
                return [Line(self._phrases.say("slower"))]
            case "stop":
                self._set_question_aside()
                return []
            case "help":
                return [Line(self._phrases.say("help"))]
            case "agents":
                return [self._acting.agents()]
            case "unclear":
                return self._not_understood(text)
            case _:
                self._not_heard = None
                return await self._call_tool(understood, question)

    async def _call_tool(self, understood: Understanding, question: Question | None) -> list[Line]:
        match understood.tool:
            case "submit_pin":
                return await self._pin(understood.arguments["pin"], question)
            case "end_call":
                return await self._hang_up()
            case _ if question and (whole := with_wish(question, understood)):
                return await self._carried_out(whole, question.request)
            case _:
                return await self._carried_out(understood, self._acting.new_request())

    async def _carried_out(self, understood: Understanding, request: str) -> list[Line]:
        lines = await self._acting.carry_out(understood, request)
        if "goodbye" in understood.then and not any(line.asks for line in lines):
            lines += await self._hang_up()
        return lines

    async def _hang_up(self) -> list[Line]:
        self.ended = True
        self._asked = None
        return await self._acting.goodbye()

    # -- yes, no and what was asked ----------------------------------------------------------------------------------

    def _settled(self, text: str, context: DialogueContext) -> Understanding | None:
        """A choice between projects or tasks, made by naming one; None when that is not what was asked or said."""
        question = self._asked
        if question is None or question.held is None:
            return None
        if question.pending == "project" and (chosen := chosen_project(text, question.choices)) is not None:
            return in_project(question.held, chosen or None)
        if question.pending == "which" and (task_id := chosen_task(text, question.choices, context)) is not None:
            return for_task(question.held, task_id)
        if question.pending.startswith("agent ") and (agent := chosen_agent(text, context.agents)) is not None:
            return with_agent(question.held, agent)
        return None

    async def _yes(self, question: Question | None) -> list[Line]:
        self._asked = None
        if question is None:
            unasked, self._not_heard = self._not_heard, None
            if unasked is not None:
                return [Line(unasked.text, asks=unasked)]
            return [Line(self._phrases.say("nothing_asked"))]
        if question.pending == "there":
            return [Line(self._phrases.say("still_here"))]
        if question.pending == "more":
            return list(question.more)
        if question.pending.startswith("cancel ") and question.held:
            return await self._acting.cancel(question.held, question.request)
        if question.held is not None and question.must_be_heard:
            held = question.held
            if question.pending == FULL_MODE:
                held = dataclasses.replace(held, confirmed=True)
            return await self._carried_out(held, question.request or self._acting.new_request())
        return [Line(question.text, asks=question)]

    def _no(self, question: Question | None, *, certain: bool) -> list[Line]:
        self._not_heard = None
        if question is None or question.pending == "there":
            return [Line(self._phrases.say("denied"))]
        if question.pending in ("pin", FULL_MODE):
            return [Line(self._phrases.say("pin_dropped"))]
        if question.pending == "more":
            return [Line(self._phrases.say("more_dropped"))]
        unclear = "" if certain else self._phrases.say("left_unclear") + " "
        kept = self._phrases.say("left_running" if question.pending.startswith("cancel ") else "denied")
        return [Line(unclear + kept)]

    def _set_question_aside(self) -> None:
        if self._asked and self._asked.must_be_heard:
            self._not_heard, self._asked = self._asked, None

    # -- the PIN -----------------------------------------------------------------------------------------------------

    @property
    def _pin_wanted(self) -> bool:
        return self._asked is not None and self._asked.pending == "pin"

    async def _keyed(self, digits: str) -> list[Line]:
        question, self._asked = self._asked, None
        if digits == "0":
            self._asked = question
            return [Line(self._phrases.say("help"))]
        try:
            return await self._pin(digits, question)
        except KeryxError as error:
            return [Line(error.spoken)]

    async def _pin(self, pin: str, question: Question | None) -> list[Line]:
        wanted = question if question and question.pending == "pin" else None
        if self._control.proven:
            return [Line(self._phrases.say("pin_not_needed"))]
        result = await self._acting.submit_pin(pin)
        outcome = result.value.get("outcome")
        if outcome == "accepted":
            if wanted is None or wanted.held is None:
                return [Line(self._phrases.say("pin_accepted_alone"))]
            return [Line(self._phrases.say("pin_accepted")), *await self._after_pin(wanted)]
        if outcome == "locked":
            self.ended = True
            return [Line(self._phrases.say("pin_locked"))]
        if outcome == "resting":
            return [Line(self._phrases.say("pin_resting"))]
        if outcome == "not_set":
            return [Line(self._phrases.say("pin_not_set"))]
        tries = counted(result.value.get("tries_left", 0) or 1, "try", "tries")
        text = self._phrases.say("pin_wrong", tries=tries)
        again = dataclasses.replace(wanted, text=text) if wanted else Question("pin", text=text)
        return [Line(text, asks=again)]

    async def _after_pin(self, wanted: Question) -> list[Line]:
        """Carry out what the PIN was asked for; a cancel had its yes already."""
        assert wanted.held is not None
        if wanted.held.tool == "cancel_task":
            return await self._acting.cancel(wanted.held, wanted.request)
        return await self._carried_out(wanted.held, wanted.request)

    # -- small things ------------------------------------------------------------------------------------------------

    def _again(self) -> list[Line]:
        return self._to_repeat or [Line(self._phrases.say("nothing_said"))]

    def _offer(self, rest: list[Line]) -> Line:
        partly = any(rest[0].news_id == line.news_id for line in self._spoken.given)
        text = self._phrases.say("more_part" if partly else "more_news")
        return Line(text, asks=Question("more", text=text, more=tuple(rest)))

    def _not_understood(self, text: str) -> list[Line]:
        if text and is_greeting(text):
            if self._owner_name in ("", "owner"):
                return [Line(self._phrases.say("hello"))]
            return [Line(self._phrases.say("hello_named", owner=self._owner_name))]
        if text and is_acknowledgement(text):
            return [Line(self._phrases.say("thanks"))] if "thank" in text.lower() else []
        self._unclear += 1
        return [Line(self._phrases.say("unclear" if self._unclear == 1 else "unclear_again"))]

    async def _safely_counted(self) -> int:
        try:
            return await self._acting.unfinished_count()
        except KeryxError:
            return 0
