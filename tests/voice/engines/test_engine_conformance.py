"""What a call may rely on, whichever engine holds the conversation."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from keryx.clock import VirtualClock
from keryx.security.pin import PinGate
from keryx.voice.call import Call, Desk
from keryx.voice.engines.base import VoiceEngine
from keryx.voice.engines.cascade import CascadeEngine
from keryx.voice.engines.manner import NewsDesk
from keryx.voice.engines.scripted import ScriptedEngine
from keryx.voice.hearing.fake import FakeActivity, FakeHearing
from keryx.voice.loading import SpeechParts
from keryx.voice.speaking.fake import FakeSpeaking
from keryx.voice.transports.base import AudioIn, Caller, StopSpeaking, TextIn
from keryx.voice.transports.fake import PAGE_LIKE, PHONE_LIKE, FakeTransport
from tests.voice.engines.conversation import ScriptedDialogue, Speech, a_piece_of_news

MakeEngine = Callable[[FakeTransport, Callable[[int], None]], VoiceEngine]


def scripted(line: FakeTransport, on_heard: Callable[[int], None]) -> VoiceEngine:
    return ScriptedEngine(line.capabilities.outgoing, on_heard=on_heard)


def cascade(line: FakeTransport, on_heard: Callable[[int], None]) -> VoiceEngine:
    async def briefing():
        return ()

    clock = line.clock
    assert isinstance(clock, VirtualClock)
    parts = SpeechParts(FakeHearing(), FakeSpeaking(ms_per_character=20), FakeActivity)
    return CascadeEngine(
        line.capabilities, ScriptedDialogue(clock), Speech(parts), NewsDesk(briefing, on_heard), clock=clock
    )


@pytest.fixture(params=[scripted, cascade], ids=["scripted", "cascade"])
def make_engine(request: pytest.FixtureRequest) -> MakeEngine:
    return request.param


@pytest.fixture(params=[PAGE_LIKE, PHONE_LIKE], ids=["page", "phone"])
def line(request: pytest.FixtureRequest, clock: VirtualClock) -> FakeTransport:
    return FakeTransport(clock, request.param)


class Held:
    def __init__(self, line: FakeTransport, make_engine: MakeEngine) -> None:
        self.told: list[int] = []
        self.engine = make_engine(line, self.told.append)
        self.call = Call(line, self.engine, Desk(Caller("page", "owner", proven=True), PinGate(None)))
        self.line = line
        self.over = asyncio.Event()

    @contextlib.asynccontextmanager
    async def held(self, clock: VirtualClock) -> "AsyncIterator[Held]":
        async with asyncio.TaskGroup() as group:
            loudspeaker = group.create_task(self.line.play_out())
            call = group.create_task(self._run())
            await clock.advance(0)
            yield self
            call.cancel()
            loudspeaker.cancel()

    async def _run(self) -> None:
        await self.call.run()
        self.over.set()


async def test_it_greets_with_sound(make_engine: MakeEngine, line: FakeTransport, clock: VirtualClock):
    async with Held(line, make_engine).held(clock):
        await clock.advance(2)
        assert len(line.heard) > 0


async def test_typed_words_are_answered(make_engine: MakeEngine, line: FakeTransport, clock: VirtualClock):
    async with Held(line, make_engine).held(clock):
        await clock.advance(2)
        before = len(line.heard)
        line.send(TextIn("hello there"))
        await clock.advance(3)
        assert len(line.heard) > before
        if line.capabilities.shows_text:
            assert line.said("caller") == ["hello there"]
            assert line.said()[-1] == "You said hello there"


async def test_news_is_told_once_and_reported_when_it_was_heard(
    make_engine: MakeEngine, line: FakeTransport, clock: VirtualClock
):
    async with Held(line, make_engine).held(clock) as held:
        await clock.advance(2)
        news = a_piece_of_news(7, "Task seven is done.")
        held.engine.announce([news])
        held.engine.announce([news])
        await clock.advance(0.1)
        assert held.told == []
        await clock.advance(4)
        assert held.told == [7]


async def test_news_thrown_away_by_a_clear_is_not_reported(
    make_engine: MakeEngine, line: FakeTransport, clock: VirtualClock
):
    async with Held(line, make_engine).held(clock) as held:
        await clock.advance(2)
        held.engine.announce([a_piece_of_news(7, "Task seven is done, and it took quite some time to do.")])
        await clock.advance(0.2)
        line.send(StopSpeaking())
        await clock.advance(4)
        assert held.told == []
        assert line.cleared_at_s


async def test_finish_lets_the_last_words_be_heard_and_hangs_up_once(
    make_engine: MakeEngine, line: FakeTransport, clock: VirtualClock
):
    async with Held(line, make_engine).held(clock) as held:
        await clock.advance(2)
        before = len(line.heard)
        held.engine.finish("Back in a minute.")
        await clock.advance(4)
        assert held.over.is_set()
        assert len(line.heard) - before >= line.capabilities.outgoing.bytes_of(300)
        assert len(line.hung_up) == 1


async def test_the_caller_may_hang_up_at_any_time(make_engine: MakeEngine, line: FakeTransport, clock: VirtualClock):
    async with Held(line, make_engine).held(clock) as held:
        line.send(TextIn("hello"))
        line.close()
        await clock.advance(1)
        assert held.over.is_set()
        assert len(line.hung_up) == 1


@pytest.mark.parametrize("size", [1, 159, 161, 4000])
async def test_sound_may_come_in_pieces_of_any_size(
    make_engine: MakeEngine, line: FakeTransport, clock: VirtualClock, size: int
):
    async with Held(line, make_engine).held(clock) as held:
        for _ in range(30):
            line.send(AudioIn(b"\x7f" * size))
            await clock.advance(0.01)
        assert not held.over.is_set()


async def test_waiting_for_an_event_can_be_given_up_without_loss(
    make_engine: MakeEngine, line: FakeTransport, clock: VirtualClock
):
    engine = make_engine(line, lambda news_id: None)
    async with asyncio.TaskGroup() as group:
        impatient = group.create_task(engine.next_event())
        await clock.advance(0)
        impatient.cancel()
        running = group.create_task(engine.run())
        await clock.advance(0.1)
        assert await engine.next_event() is not None
        running.cancel()
