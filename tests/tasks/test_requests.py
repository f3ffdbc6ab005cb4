"""Requests made safe to store and to hand on."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.errors import Refused
from keryx.tasks.requests import MAX_LINE_CHARS, clean, last_part, mode_name, one_line, request_text

ANY_TEXT = st.text(st.characters())
"""Lone halves of surrogate pairs too."""


@given(ANY_TEXT)
def test_whatever_was_said_can_be_stored_and_handed_on(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\0" not in cleaned
    assert "\r" not in cleaned
    assert clean(cleaned) == cleaned


@given(st.text(st.characters(categories=("L", "N", "P")), min_size=1))
def test_ordinary_words_stay_as_they_are(text: str) -> None:
    assert clean(text) == text


def test_an_emoji_torn_in_two_is_put_together() -> None:
    assert clean("\ud83d\ude00") == "😀"


@given(ANY_TEXT)
def test_a_line_is_one_line_and_bounded(text: str) -> None:
    line = one_line(text)
    assert len(line) <= MAX_LINE_CHARS
    assert "\n" not in line


def test_a_huge_line_is_cut_in_no_time() -> None:
    started = time.process_time()
    assert len(one_line("word " * 1_000_000)) <= MAX_LINE_CHARS
    assert time.process_time() - started < 0.1


@pytest.mark.parametrize("wrong", ["", " \n\t", "\x00\x1b", "x" * 20_001])
def test_an_empty_or_endless_request_is_refused_with_a_sentence_for_the_ear(wrong: str) -> None:
    with pytest.raises(Refused) as error:
        request_text(wrong)
    assert error.value.spoken.endswith((".", "?"))


def test_the_longest_request_is_taken() -> None:
    assert request_text("x" * 20_000) == "x" * 20_000


def test_modes_are_known_by_name_and_auto_is_the_usual_one() -> None:
    assert [mode_name(mode) for mode in (None, "", " Plan ", "full")] == ["auto", "auto", "plan", "full"]
    with pytest.raises(Refused, match="plan, ask, auto, full"):
        mode_name("reckless")


def test_a_long_text_keeps_its_end_and_says_so() -> None:
    assert last_part("short", 10) == "short"
    assert last_part("beginning and end", 3) == "(The beginning is left out.)\n\nend"
