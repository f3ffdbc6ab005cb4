"""The turn-taking state machine, as tables and against every order of inputs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.voice.hearing.base import Transcript
from keryx.voice.turns import (
    Dismissed,
    Ended,
    Frame,
    LineSilent,
    Situation,
    Split,
    Started,
    Timing,
    Transcribe,
    Transcribed,
    TurnAction,
    Turns,
    Verdict,
    WentOn,
    judge,
    step,
)
from keryx.voice.wording import is_backchannel, is_greeting, is_unfinished

TIMING = Timing()


class Machine:
    """Feeds frames; answers every transcription with `text` after `delay_frames` frames."""

    def __init__(self, text: str = "Fix it.", delay_frames: int = 3) -> None:
        self.state = Turns()
        self.actions: list[tuple[int, TurnAction]] = []
        self.frames = 0
        self._text = text
        self._delay = delay_frames
        self._due: list[tuple[int, int]] = []

    def feed(self, probability: float, count: int) -> None:
        for _ in range(count):
            self.frames += 1
            self._step(Frame(probability))
            while self._due and self._due[0][0] <= self.frames:
                self._step(Transcribed(self._due.pop(0)[1], self._text))

    def _step(self, event) -> None:
        self.state, actions = step(self.state, event, TIMING)
        for action in actions:
            self.actions.append((self.frames, action))
            if isinstance(action, Transcribe):
                self._due.append((self.frames + self._delay, action.attempt))

    def kinds(self) -> list[type]:
        return [type(action) for _, action in self.actions]


def test_a_turn_starts_on_the_second_plain_speech_frame_and_ends_320_ms_after_the_last():
    machine = Machine()
    machine.feed(0.9, 30)
    machine.feed(0.0, 10)
    assert machine.kinds() == [Started, Transcribe, Ended]
    started, transcribe, ended = (at for at, _ in machine.actions)
    assert (started, transcribe, ended) == (2, 34, 40)


def test_a_transcription_slower_than_the_silence_ends_the_turn_when_it_comes():
    machine = Machine(delay_frames=10)
    machine.feed(0.9, 30)
    machine.feed(0.0, 40)
    assert machine.actions[-1][0] == 44


def test_an_unfinished_text_is_waited_for_800_ms():
    machine = Machine("Tell it to fix the")
    machine.feed(0.9, 30)
    machine.feed(0.0, 24)
    assert Ended not in machine.kinds()
    machine.feed(0.0, 1)
    assert Ended in machine.kinds()


def test_speech_that_goes_on_throws_the_speculation_away():
    machine = Machine("Tell it to fix the")
    machine.feed(0.9, 30)
    machine.feed(0.0, 12)
    machine.feed(0.9, 10)
    machine.feed(0.0, 7)
    assert machine.kinds() == [Started, Transcribe, WentOn, Transcribe]


def test_a_text_that_comes_too_late_for_its_speculation_is_ignored():
    machine = Machine(delay_frames=8)
    machine.feed(0.9, 30)
    machine.feed(0.0, 7)
    machine.feed(0.9, 5)
    machine.feed(0.0, 10)
    assert Ended not in machine.kinds()
    machine.feed(0.0, 5)
    assert machine.kinds().count(Ended) == 1


@pytest.mark.parametrize("frames", [2, 3, 4, 5])
def test_a_short_sound_is_dismissed(frames: int):
    machine = Machine()
    machine.feed(0.9, frames)
    machine.feed(0.0, 20)
    assert machine.kinds() == [Started, Dismissed]


@pytest.mark.parametrize(("probability", "frames"), [(0.9, 1), (0.6, 2), (0.4, 3), (0.3, 50)])
def test_too_little_evidence_is_not_even_noticed(probability: float, frames: int):
    machine = Machine()
    for _ in range(20):
        machine.feed(probability, frames)
        machine.feed(0.0, 1)
    assert machine.kinds() == []


@pytest.mark.parametrize(("probability", "frames"), [(0.9, 2), (0.63, 2), (0.45, 3), (0.35, 4)])
def test_the_plainer_the_speech_the_sooner_it_is_noticed(probability: float, frames: int):
    machine = Machine()
    machine.feed(probability, frames)
    assert machine.kinds() == [Started]


def test_long_speech_is_split_at_a_small_pause_or_at_the_latest_at_28_s():
    machine = Machine()
    machine.feed(0.9, 760)  # 24.3 s
    machine.feed(0.0, 3)
    assert machine.kinds() == [Started, Split]
    machine.feed(0.9, 900)
    assert machine.kinds() == [Started, Split, Split]
    machine.feed(0.0, 10)
    assert machine.kinds()[-1] is Ended


def test_silence_right_after_a_split_ends_the_turn_with_nothing_more_to_transcribe():
    machine = Machine()
    machine.feed(0.9, 760)
    machine.feed(0.0, 11)
    assert machine.kinds() == [Started, Split, Ended]


def test_a_line_that_goes_dead_counts_as_silence():
    state = Turns()
    for _ in range(20):
        state, _ = step(state, Frame(0.9), TIMING)
    state, actions = step(state, LineSilent(600), TIMING)
    assert actions == (Transcribe(1),)
    state, actions = step(state, Transcribed(1, "Fix it."), TIMING)
    assert [type(action) for action in actions] == [Ended]


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("speech"), st.integers(1, 40)),
        st.tuples(st.just("silence"), st.integers(1, 40)),
        st.tuples(st.just("dead"), st.integers(100, 1500)),
    ),
    max_size=30,
)


@settings(max_examples=200, deadline=None)
@given(EVENTS, st.integers(0, 12), st.sampled_from(["Fix it.", "Fix the", ""]))
def test_every_start_has_one_end_and_nothing_ends_that_did_not_start(events, delay, text):
    machine = Machine(text, delay)
    for kind, amount in events:
        if kind == "dead":
            machine._step(LineSilent(amount))
        else:
            machine.feed(0.9 if kind == "speech" else 0.0, amount)
    machine.feed(0.0, 60)
    open_stretches = 0
    for kind in machine.kinds():
        if kind is Started:
            open_stretches += 1
        elif kind in (Ended, Dismissed):
            open_stretches -= 1
        assert open_stretches in (0, 1)
    assert open_stretches == 0
    assert not machine.state.speaking


@pytest.mark.parametrize(
    ("text", "unfinished"),
    [
        ("Fix the failing test.", False),
        ("Tell it to", True),
        ("Tell it to fix the.", True),
        ("In the billing project,", True),
        ("In the billing project.", True),
        ("In billing, rename get user and", True),
        ("Cancel task", True),
        ("Cancel task four.", False),
        ("What's running in the billing project?", False),
        ("My PIN is one two", True),
        ("My pin is 12", True),
        ("No.", False),
        ("Yes.", False),
        ("Okay.", False),
        ("Do that.", False),
        ("Okay, so", True),
        ("Could you", True),
        ("Can you?", False),
        ("I want you to...", True),
        ("That's all, goodbye.", False),
        ("Turn it off.", False),
        ("", False),
    ],
)
def test_which_texts_are_unfinished(text: str, unfinished: bool):
    assert is_unfinished(text) is unfinished


@pytest.mark.parametrize(
    "text", ["Mm-hm.", "Mhm", "yeah", "Yeah, yeah.", "Okay.", "uh-huh", "Right.", "I see.", "Uh huh"]
)
def test_these_only_say_that_one_listens(text: str):
    assert is_backchannel(text)


@pytest.mark.parametrize("text", ["No.", "Stop.", "Yeah but", "Okay, cancel it.", "Wait.", "", "Right now.", "Help"])
def test_these_say_something(text: str):
    assert not is_backchannel(text)


@pytest.mark.parametrize(("text", "greeting"), [("Hello?", True), ("Yes, hello", True), ("Hello, stop it", False)])
def test_what_a_greeting_is(text: str, greeting: bool):
    assert is_greeting(text) is greeting


def heard(text: str, no_speech: float = 0.0) -> Transcript:
    return Transcript(text, no_speech, 1.0)


@pytest.mark.parametrize(
    ("transcript", "speech_ms", "certainty", "situation", "verdict"),
    [
        (heard("Fix it."), 800, 0.9, Situation(), Verdict.TURN),
        (heard("Okay.", 0.9), 800, 0.9, Situation(), Verdict.NOTHING),
        (heard(""), 1200, 0.95, Situation(), Verdict.UNCLEAR),
        (heard(""), 400, 0.95, Situation(), Verdict.NOTHING),
        (heard(""), 1200, 0.5, Situation(), Verdict.NOTHING),
        (heard("", 0.9), 1200, 0.95, Situation(), Verdict.NOTHING),
        (heard(""), 1200, 0.95, Situation(talked_over=True), Verdict.NOTHING),
        (heard("Mm-hm."), 400, 0.9, Situation(talked_over=True), Verdict.BACKCHANNEL),
        (heard("Yeah."), 400, 0.9, Situation(talked_over=True, question_open=True), Verdict.TURN),
        (heard("Yeah."), 900, 0.9, Situation(talked_over=True), Verdict.TURN),
        (heard("Yeah."), 400, 0.9, Situation(), Verdict.TURN),
        (heard("No."), 300, 0.9, Situation(talked_over=True), Verdict.TURN),
        (heard("Hello?"), 500, 0.9, Situation(talked_over=True, opening=True), Verdict.BACKCHANNEL),
        (heard("Hello?"), 500, 0.9, Situation(talked_over=True), Verdict.TURN),
    ],
)
def test_what_a_stretch_comes_to(transcript, speech_ms, certainty, situation, verdict):
    assert judge(transcript, Ended(speech_ms, certainty), situation) is verdict
