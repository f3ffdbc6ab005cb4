"""The account of what was heard, against every order of sending, marks, clears and time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.voice.playback import PlaybackLedger, heard_part, unheard_part
from keryx.voice.transports.base import AudioFormat, Encoding

PHONE = AudioFormat(Encoding.MULAW, 8000)
"""8 bytes a millisecond."""


def ledger_with(text: str, ms: int) -> PlaybackLedger:
    ledger = PlaybackLedger(PHONE)
    span = ledger.lay(1, text)
    ledger.grow(span, ms * 8)
    span.whole = span.closing = True
    return ledger


def send_with_marks(ledger: PlaybackLedger, ms: int, at_s: float) -> list[str]:
    names = []
    for _ in range(ms // 200):
        ledger.send(1600, at_s)
        names.append(ledger.mark())
    return names


def test_fifteen_seconds_sent_in_one_and_interrupted_at_four_were_heard_for_four():
    ledger = ledger_with("word " * 60, 15_000)
    for name in send_with_marks(ledger, 15_000, at_s=0.0)[:20]:
        ledger.answered(name)
    assert ledger.heard_ms(4.0) == 4000
    ledger.clear(4.0)
    assert ledger.sent == 32_000


def test_a_mark_that_a_clear_flushed_counts_for_nothing():
    ledger = ledger_with("word " * 60, 3000)
    names = send_with_marks(ledger, 3000, at_s=0.0)
    ledger.answered(names[0])
    ledger.clear(0.3)
    assert not any(ledger.answered(name) for name in names)
    assert ledger.heard_ms(9.0) <= 300
    assert ledger.take_heard(9.0) == []


def test_marks_that_come_back_at_once_do_not_outrun_the_clock():
    ledger = ledger_with("word " * 60, 3000)
    for name in send_with_marks(ledger, 3000, at_s=0.0):
        ledger.answered(name)
    assert ledger.heard_ms(0.5) == 500


def test_the_clock_does_not_outrun_the_marks():
    ledger = ledger_with("word " * 60, 3000)
    names = send_with_marks(ledger, 3000, at_s=0.0)
    ledger.answered(names[1])
    assert ledger.heard_ms(2.9) == 600


def test_a_pause_in_sending_is_not_counted_as_played():
    ledger = ledger_with("word " * 20, 1000)
    ledger.send(4000, 0.0)
    assert ledger.played(2.0) == 4000
    ledger.send(4000, 2.0)
    assert ledger.played(2.1) == 4800


def test_a_sentence_is_heard_when_its_mark_is_back_and_not_before():
    ledger = ledger_with("All done.", 400)
    span = ledger.spans[0]
    ledger.send(3200, 0.0)
    name = ledger.mark(span)
    assert ledger.take_heard(1.0) == []
    ledger.answered(name)
    assert ledger.take_heard(1.0) == [span]


def test_a_sentence_without_sound_is_heard_when_its_mark_is_back():
    ledger = PlaybackLedger(PHONE)
    first, second = ledger.lay(1, "One."), ledger.lay(2, "Two.")
    names = [ledger.mark(first), ledger.mark(second)]
    first.whole = second.whole = True
    assert ledger.take_heard(0.0) == []
    ledger.answered(names[0])
    assert ledger.take_heard(0.0) == [first]
    ledger.answered(names[1])
    assert ledger.take_heard(0.0) == [second]


def test_interrupted_within_the_last_300_ms_nothing_is_missing():
    ledger = ledger_with("The tests pass and the branch is ready.", 2400)
    ledger.send(19_200, 0.0)
    ledger.clear(2.15)
    assert ledger.drop().unheard == ""


def test_interrupted_in_the_middle_the_words_are_shared_out():
    ledger = ledger_with("one two three four five six seven eight", 4000)
    ledger.send(32_000, 0.0)
    ledger.clear(2.0)
    left = ledger.drop()
    assert left.heard == "one two three four"
    assert left.unheard == "five six seven eight"


def test_what_is_laid_after_a_drop_begins_where_the_ear_was():
    ledger = ledger_with("word " * 60, 3000)
    ledger.send(24_000, 0.0)
    ledger.clear(1.0)
    ledger.drop()
    span = ledger.lay(2, "New.")
    assert span.start == ledger.sent == 8000


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(1, 60)),
        st.tuples(st.just("wait"), st.integers(0, 1500)),
        st.tuples(st.just("mark"), st.just(0)),
        st.tuples(st.just("answer"), st.integers(0, 30)),
        st.tuples(st.just("clear"), st.just(0)),
    ),
    max_size=60,
)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_heard_never_exceeds_what_was_sent_or_the_time_that_passed_and_never_goes_back(steps):
    ledger = PlaybackLedger(PHONE)
    now_s, names, heard_before, first_sent_s = 0.0, [], 0, None
    for kind, amount in steps:
        if kind == "send":
            first_sent_s = now_s if first_sent_s is None else first_sent_s
            ledger.send(amount * 160, now_s)
        elif kind == "wait":
            now_s += amount / 1000
        elif kind == "mark":
            names.append(ledger.mark())
        elif kind == "answer" and names:
            ledger.answered(names[amount % len(names)])
        elif kind == "clear":
            ledger.clear(now_s)
        heard = ledger.heard(now_s)
        assert heard <= ledger.sent
        assert heard <= (now_s - (first_sent_s or 0.0)) * 8000 + 1e-6
        if kind != "mark":
            assert heard >= heard_before
        heard_before = heard
    assert len(set(names)) == len(names)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=20), st.integers(1, 9000), st.data())
def test_heard_and_unheard_words_together_are_the_sentence(words, ms, data):
    ledger = ledger_with(" ".join(words), ms)
    reached = data.draw(st.integers(0, ms * 8))
    span = ledger.spans[0]
    parts = [heard_part(span, reached, PHONE), unheard_part(span, reached, PHONE)]
    assert " ".join(filter(None, parts)).split() == words


@pytest.mark.parametrize("name", ["m1", "never", ""])
def test_an_unknown_mark_changes_nothing(name: str):
    ledger = ledger_with("Hello.", 200)
    assert not ledger.answered(name)
