"""One call's beginning and end, whatever goes wrong between them."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from keryx.clock import VirtualClock, settle
from keryx.security.pin import PinGate, PinOutcome
from keryx.tasks.models import News
from keryx.voice.call import Call, Desk
from keryx.voice.dialogue.base import Say
from keryx.voice.engines.base import EngineEvent, HangUpOut
from keryx.voice.engines.scripted import ScriptedEngine
from keryx.voice.hearing.fake import FakeActivity, FakeHearing
from keryx.voice.loading import SpeechParts
from keryx.voice.speaking.fake import FakeSpeaking
from keryx.voice.transports.base import Caller, Inbound, TextIn
from keryx.voice.transports.fake import PAGE_LIKE, FakeTransport
from tests.voice.engines.conversation import Conversation, ScriptedDialogue, a_piece_of_news

OWNER = Caller("page", "owner", proven=True)


def scripted_call(line: FakeTransport) -> tuple[Call, ScriptedEngine]:
    engine = ScriptedEngine(line.capabilities.outgoing)
    return Call(line, engine, Desk(OWNER, PinGate(None))), engine


async def running(call: Call, line: FakeTransport, clock: VirtualClock, *, for_s: float = 5.0) -> None:
    """Let a call run with a loudspeaker beside it, so long at most."""
    async with asyncio.TaskGroup() as group:
        loudspeaker = group.create_task(line.play_out())
        held = group.create_task(call.run())
        await clock.advance(for_s)
        assert held.done()
        loudspeaker.cancel()


async def test_the_caller_hanging_up_ends_the_call(clock: VirtualClock):
    line = FakeTransport(clock)
    call, _ = scripted_call(line)
    line.close()
    await running(call, line, clock)
    assert line.hung_up == ["caller hung up"]


async def test_both_sides_hanging_up_in_one_tick_is_one_hang_up(clock: VirtualClock):
    line = FakeTransport(clock)
    call, engine = scripted_call(line)
    engine.finish()
    line.send(TextIn("goodbye"))
    line.close()
    await running(call, line, clock)
    assert len(line.hung_up) == 1


async def test_the_engine_hanging_up_says_why(clock: VirtualClock):
    line = FakeTransport(clock)
    call, _ = scripted_call(line)
    line.send(TextIn("goodbye"))
    await running(call, line, clock)
    assert line.hung_up == ["goodbye"]


class BrokenEngine(ScriptedEngine):
    async def run(self) -> None:
        raise RuntimeError("broken")


async def test_a_broken_engine_ends_its_call_and_nothing_else(clock: VirtualClock):
    line = FakeTransport(clock)
    await running(Call(line, BrokenEngine(PAGE_LIKE.outgoing), Desk(OWNER, PinGate(None))), line, clock)
    assert line.hung_up == ["error"]


class StubbornLine(FakeTransport):
    """A peer that never closes."""

    async def hang_up(self, reason: str) -> None:
        await super().hang_up(reason)
        await asyncio.Event().wait()


async def test_a_peer_that_never_closes_does_not_hold_the_call_up():
    clock = VirtualClock()
    line = StubbornLine(clock)
    call, _ = scripted_call(line)
    line.close()
    async with asyncio.timeout(1.0):
        await call.run()


async def test_a_cancelled_call_hangs_up_too(clock: VirtualClock):
    line = FakeTransport(clock)
    call, _ = scripted_call(line)
    async with asyncio.TaskGroup() as group:
        held = group.create_task(call.run())
        await settle()
        held.cancel()
    assert held.cancelled()
    assert line.hung_up == ["interrupted"]


class EndlessEngine:
    """An engine whose `run` is still busy when it has said its last."""

    def __init__(self) -> None:
        self.lost = 0

    async def run(self) -> None:
        await asyncio.Event().wait()

    def take(self, inbound: Inbound) -> None: ...

    async def next_event(self) -> EngineEvent:
        return HangUpOut("done")

    def announce(self, news: Sequence[News]) -> None: ...

    def finish(self, farewell: str = "", reason: str = "goodbye") -> None: ...

    async def line_lost(self) -> None:
        self.lost += 1


async def test_the_last_event_ends_a_call_whose_engine_is_still_busy(clock: VirtualClock):
    line = FakeTransport(clock)
    await running(Call(line, EndlessEngine(), Desk(OWNER, PinGate(None))), line, clock)
    assert line.hung_up == ["done"]


async def test_a_request_in_the_making_is_done_although_the_caller_has_hung_up(clock: VirtualClock):
    talk = Conversation(clock)
    talk.dialogue.slow_s["Fix it."] = 0.3
    async with talk.held():
        await talk.quiet(1)
        await talk.type("Fix it.")
        talk.line.close()
        await clock.advance(1)
        assert talk.over.is_set()
        assert talk.dialogue.effects == ["Fix it."]


async def test_work_that_takes_too_long_after_the_hang_up_does_not_hold_the_line(clock: VirtualClock):
    talk = Conversation(clock)
    talk.dialogue.slow_s["Fix it."] = 30.0
    async with talk.held():
        await talk.quiet(1)
        await talk.type("Fix it.")
        talk.line.close()
        await clock.advance(0.9)
        assert talk.over.is_set()


@pytest.mark.parametrize("proven", [True, False])
def test_a_caller_is_proven_from_the_start_or_by_the_pin(proven: bool):
    desk = Desk(Caller("phone", "owner", proven=proven), PinGate("001234"))
    assert desk.proven is proven
    assert desk.submit_pin("1234") is PinOutcome.WRONG
    assert desk.proven is proven
    assert desk.submit_pin("001234") is PinOutcome.ACCEPTED
    assert desk.proven


def test_three_wrong_pins_end_the_call():
    ends: list[str] = []
    desk = Desk(Caller("phone", "owner", proven=False), PinGate("001234"))
    desk.on_end = lambda: ends.append("end")
    for _ in range(3):
        assert ends == []
        desk.submit_pin("9")
    assert ends == ["end"]


def test_calls_without_an_id_are_given_different_ones():
    first, second = Desk(OWNER, PinGate(None)), Desk(OWNER, PinGate(None))
    assert first.call_id
    assert first.call_id != second.call_id


async def test_words_typed_in_the_moment_of_the_hang_up_are_not_lost(clock: VirtualClock):
    talk = Conversation(clock, typing_only=True)
    async with talk.held():
        await clock.advance(1)
        talk.line.send(TextIn("Fix it."))
        talk.line.close()
        await clock.advance(1)
        assert talk.over.is_set()
        assert talk.dialogue.effects == ["Fix it."]


async def test_what_was_said_to_its_end_before_the_hang_up_is_done(clock: VirtualClock):
    talk = Conversation(clock, hears=["Fix the parser."])
    async with talk.held():
        await talk.quiet(2)
        talk.hearing.waits = lambda: clock.sleep(0.5)
        await talk.speak(1.0)
        await talk.quiet(0.3)
        said = len(talk.voice.said)
        talk.line.close()
        await clock.advance(3)
        assert talk.over.is_set()
        assert talk.dialogue.effects == ["Fix the parser."]
        assert talk.voice.said[said:] == [], "nobody is there to hear an answer"


async def test_a_sentence_that_the_hang_up_cut_off_is_not_done(clock: VirtualClock):
    talk = Conversation(clock, hears=["Delete the"])
    async with talk.held():
        await talk.quiet(2)
        await talk.speak(1.0)
        talk.line.close()
        await clock.advance(0.5)
        assert talk.over.is_set()
        assert talk.dialogue.asked == []


async def test_a_sentence_without_its_end_is_not_done_either(clock: VirtualClock):
    talk = Conversation(clock, hears=["Delete the"])
    async with talk.held():
        await talk.quiet(2)
        await talk.speak(1.0)
        await talk.quiet(0.4)
        talk.line.close()
        await clock.advance(1.5)
        assert talk.over.is_set()
        assert talk.dialogue.asked == []


async def test_last_words_that_take_too_long_to_understand_do_not_hold_the_line(clock: VirtualClock):
    talk = Conversation(clock, hears=["Fix the parser."])
    talk.hearing.waits = lambda: clock.sleep(60)
    async with talk.held():
        await talk.quiet(2)
        await talk.speak(1.0)
        await talk.quiet(0.3)
        talk.line.close()
        await clock.advance(4)
        assert talk.over.is_set()


class BrokenDialogue(ScriptedDialogue):
    """One answer of it has a defect."""

    async def respond(self, text: str) -> AsyncIterator[Say]:
        if text == "Break.":
            raise RuntimeError("broken")
        async for say in super().respond(text):
            yield say


async def test_an_answer_that_breaks_off_is_owned_up_to_and_the_call_goes_on(clock: VirtualClock):
    talk = Conversation(clock, typing_only=True, dialogue=BrokenDialogue(clock))
    async with talk.held():
        await talk.quiet(1)
        await talk.type("Break.")
        await clock.advance(1)
        assert talk.line.said()[-1] == "Something went wrong on my side."
        await talk.type("What's running?")
        await clock.advance(1)
        assert talk.line.said()[-1] == "You said What's running?"


async def test_a_key_that_the_caller_types_is_not_shown(clock: VirtualClock):
    talk = Conversation(clock, typing_only=True)
    async with talk.held():
        await talk.quiet(1)
        await talk.type("Use sk-ant-api03-abcdefghijklmnop for it.")
        shown = [caption.text for caption in talk.line.captions if caption.who == "caller"]
        assert shown == ["Use a redacted key for it."]
        assert talk.dialogue.asked == ["Use sk-ant-api03-abcdefghijklmnop for it."]


async def test_news_that_no_voice_can_say_does_not_end_the_call(clock: VirtualClock):
    class Choking(FakeSpeaking):
        async def speak(self, text: str, *, pace: float = 1.0):
            if "choke" in text:
                raise RuntimeError("no such sound")
            async for chunk in super().speak(text, pace=pace):
                yield chunk

    parts = SpeechParts(FakeHearing(["What's running?"]), Choking(), FakeActivity)
    talk = Conversation(clock, news=[a_piece_of_news(1, "It will choke on this.")], parts=parts)
    async with talk.held():
        await talk.quiet(5)
        assert talk.told == [], "nobody heard it"
        await talk.say()
        await talk.quiet(2)
        assert talk.dialogue.asked == ["What's running?"]


async def test_ears_that_fail_on_a_stretch_ask_again(clock: VirtualClock):
    async def fail() -> None:
        raise RuntimeError("out of memory")

    talk = Conversation(clock, hears=["What's running?"])
    async with talk.held():
        await talk.quiet(2)
        talk.hearing.waits = fail
        await talk.say()
        await talk.quiet(2)
        talk.hearing.waits = None
        await talk.say()
        await talk.quiet(2)
        assert talk.dialogue.asked == ["", "What's running?"]
