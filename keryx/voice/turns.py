"""Whose turn it is: pure functions from what the detector and the recogniser say to what shall happen.

A *stretch* is the caller's sound from its onset to the end of the turn. It is transcribed speculatively at a short
silence, so that the text is there when the silence is long enough to be the end; how long is enough depends on how the
text ends. Speech that goes on throws the speculation away.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import assert_never

from keryx.voice.hearing.base import Transcript
from keryx.voice.wording import is_backchannel, is_greeting, is_unfinished


@dataclass(frozen=True)
class Timing:
    """Lengths in milliseconds of sound; measured on two cores with Whisper base, see the talk bench."""

    frame_ms: int = 32
    threshold: float = 0.35
    """A frame at least this likely to be speech is speech. Noise, hum, clicks and key tones stay under 0.25; words on a
    noisy telephone line hover about 0.5, and a higher threshold cuts them in two."""
    onset_frames: int = 2
    onset_evidence: float = 1.25
    """So many speech frames in a row, whose probabilities add up to so much, begin a stretch: 64 ms when it is plain,
    128 at most, which leaves time for a clear within 150 ms of the first sound."""
    min_speech_ms: int = 190
    """Less speech than that was a click, a key or a knock."""
    speculate_ms: int = 128
    """Shorter pauses are in every stop consonant; what is transcribed needlessly is given up at once."""
    end_ms: int = 320
    unfinished_ms: int = 800
    split_at_pause_ms: int = 24_000
    """A stretch this long is split at the next small pause …"""
    split_ms: int = 28_000
    """… and without one here: a recogniser takes 30 s, of which 2 are kept for what came before the onset."""
    split_pause_ms: int = 96


@dataclass(frozen=True)
class Frame:
    """One frame of the caller's sound, with the probability 0…1 that it holds speech."""

    probability: float


@dataclass(frozen=True)
class LineSilent:
    """The line brought no sound at all for `duration_ms` more: carriers leave silence out."""

    duration_ms: int


@dataclass(frozen=True)
class Transcribed:
    """The text asked for by `Transcribe(attempt)` is there."""

    attempt: int
    text: str


TurnInput = Frame | LineSilent | Transcribed


@dataclass(frozen=True)
class Started:
    """The caller began to speak some frames ago."""


@dataclass(frozen=True)
class Transcribe:
    """Transcribe the stretch so far, in case it ends here."""

    attempt: int


@dataclass(frozen=True)
class WentOn:
    """Speech after all: what was transcribed speculatively is out of date."""


@dataclass(frozen=True)
class Split:
    """The stretch is as long as the recogniser takes: transcribe it as a part for good and begin the next part."""


@dataclass(frozen=True)
class Ended:
    """The turn is over; the last transcription stands."""

    speech_ms: int
    certainty: float
    """Mean probability over the speech frames."""


@dataclass(frozen=True)
class Dismissed:
    """It was no speech: too short."""


TurnAction = Started | Transcribe | WentOn | Split | Ended | Dismissed


@dataclass(frozen=True)
class Turns:
    """The state between two inputs."""

    speaking: bool = False
    """A stretch is open."""
    run: int = 0
    """Speech frames in a row while no stretch is open."""
    run_sum: float = 0.0
    speech_ms: int = 0
    probability_sum: float = 0.0
    silence_ms: int = 0
    part_ms: int = 0
    """Length of the part since the onset or the last split."""
    part_speech_ms: int = 0
    attempt: int = 0
    """Number of the newest transcription asked for, over the whole call."""
    asked: bool = False
    """That transcription still holds: nothing was said since."""
    text: str | None = None
    """Its text, once it is there."""


def step(state: Turns, event: TurnInput, timing: Timing) -> tuple[Turns, tuple[TurnAction, ...]]:
    """What `event` changes and what shall be done about it."""
    match event:
        case Frame(probability):
            if probability >= timing.threshold:
                return _speech(state, probability, timing)
            return _silence(state, timing.frame_ms, timing)
        case LineSilent(duration_ms):
            return _silence(state, duration_ms, timing)
        case Transcribed(attempt, text):
            if not state.speaking or not state.asked or attempt != state.attempt:
                return state, ()
            return _end_if_over(replace(state, text=text), timing)
        case _:
            assert_never(event)


def _speech(state: Turns, probability: float, timing: Timing) -> tuple[Turns, tuple[TurnAction, ...]]:
    if not state.speaking:
        run, run_sum = state.run + 1, state.run_sum + probability
        if run < timing.onset_frames or run_sum < timing.onset_evidence:
            return replace(state, run=run, run_sum=run_sum), ()
        length = run * timing.frame_ms
        begun = Turns(
            speaking=True,
            speech_ms=length,
            probability_sum=run_sum,
            part_ms=length,
            part_speech_ms=length,
            attempt=state.attempt,
        )
        return begun, (Started(),)
    actions: tuple[TurnAction, ...] = (WentOn(),) if state.asked else ()
    state = replace(
        state,
        speech_ms=state.speech_ms + timing.frame_ms,
        probability_sum=state.probability_sum + probability,
        part_ms=state.part_ms + timing.frame_ms,
        part_speech_ms=state.part_speech_ms + timing.frame_ms,
        silence_ms=0,
        asked=False,
        text=None,
    )
    if state.part_ms >= timing.split_ms:
        return _split(state, actions)
    return state, actions


def _silence(state: Turns, duration_ms: int, timing: Timing) -> tuple[Turns, tuple[TurnAction, ...]]:
    if not state.speaking:
        return (state if not state.run else replace(state, run=0, run_sum=0.0)), ()
    state = replace(state, silence_ms=state.silence_ms + duration_ms, part_ms=state.part_ms + duration_ms)
    if state.speech_ms < timing.min_speech_ms:
        return (_quiet(state), (Dismissed(),)) if state.silence_ms >= timing.end_ms else (state, ())
    if state.part_ms >= timing.split_at_pause_ms and timing.split_pause_ms <= state.silence_ms < timing.speculate_ms:
        return _split(state, ())
    if state.silence_ms >= timing.speculate_ms and not state.asked:
        if not state.part_speech_ms:  # nothing was said since the split: there is nothing left to transcribe
            return _end_if_over(replace(state, asked=True, text=""), timing)
        return replace(state, asked=True, text=None, attempt=state.attempt + 1), (Transcribe(state.attempt + 1),)
    return _end_if_over(state, timing)


def _end_if_over(state: Turns, timing: Timing) -> tuple[Turns, tuple[TurnAction, ...]]:
    if not state.asked or state.text is None:
        return state, ()
    needed_ms = timing.unfinished_ms if is_unfinished(state.text) else timing.end_ms
    if state.silence_ms < needed_ms:
        return state, ()
    certainty = state.probability_sum / max(1, state.speech_ms // timing.frame_ms)
    return _quiet(state), (Ended(state.speech_ms, min(1.0, certainty)),)


def _split(state: Turns, actions: tuple[TurnAction, ...]) -> tuple[Turns, tuple[TurnAction, ...]]:
    return replace(state, part_ms=0, part_speech_ms=0, asked=False, text=None), (*actions, Split())


def _quiet(state: Turns) -> Turns:
    return Turns(attempt=state.attempt)


class Verdict(Enum):
    """What a stretch comes to."""

    TURN = auto()
    """Words: answer them."""
    UNCLEAR = auto()
    """Certainly speech, and not understood: ask again."""
    BACKCHANNEL = auto()
    """ "mm-hm": go on speaking."""
    NOTHING = auto()
    """A noise: go on as if it had not been."""


@dataclass(frozen=True)
class Situation:
    """What was going on when the stretch began."""

    talked_over: bool = False
    """Keryx was speaking, or about to."""
    question_open: bool = False
    """What Keryx said last, or is saying, asks something: a short yes is an answer."""
    opening: bool = False
    """Keryx was saying the first words of the call."""


BACKCHANNEL_MAX_MS = 700
GREETING_MAX_MS = 1600
UNCLEAR_MIN_MS = 600
UNCLEAR_MIN_CERTAINTY = 0.6
"""Understood words reach 0.8 on the page and 0.6 on a telephone."""
NO_SPEECH_LIMIT = 0.6


def judge(heard: Transcript, ended: Ended, situation: Situation) -> Verdict:
    """What to make of a stretch that has ended."""
    text = heard.text.strip() if heard.no_speech <= NO_SPEECH_LIMIT else ""
    if not text:
        certain = ended.speech_ms >= UNCLEAR_MIN_MS and ended.certainty >= UNCLEAR_MIN_CERTAINTY
        understood_as_noise = heard.no_speech > NO_SPEECH_LIMIT
        if certain and not understood_as_noise and not situation.talked_over:
            return Verdict.UNCLEAR
        return Verdict.NOTHING
    if situation.opening and ended.speech_ms <= GREETING_MAX_MS and is_greeting(text):
        return Verdict.BACKCHANNEL
    brief = ended.speech_ms <= BACKCHANNEL_MAX_MS
    if situation.talked_over and not situation.question_open and brief and is_backchannel(text):
        return Verdict.BACKCHANNEL
    return Verdict.TURN
