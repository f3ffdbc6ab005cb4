"""What is said of a failed turn: short, sayable, true, and with what to do."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.agents.events import Done, Failure
from keryx.agents.failures import MAX_ERROR_CHARS, spoken_failure
from keryx.agents.summary import MAX_SUMMARY_CHARS
from keryx.tasks.models import is_question


def said(failure: Failure, error: str | None = None, resets: str | None = None) -> str:
    return spoken_failure("Claude", Done(False, failure=failure, error=error, resets=resets))


@pytest.mark.parametrize("failure", Failure)
def test_every_failure_is_one_or_two_short_sentences_that_name_the_agent(failure: Failure) -> None:
    sentence = said(failure, "the disk is full")
    assert "Claude" in sentence
    assert sentence.endswith(".")
    assert len(re.findall(r"[.!?](?:\s|$)", sentence)) <= 2
    assert len(sentence) <= 120


@pytest.mark.parametrize("failure", Failure)
def test_no_failure_sounds_like_a_question(failure: Failure) -> None:
    assert not is_question(said(failure, "what went wrong?", "when?"))


@pytest.mark.parametrize("failure", [f for f in Failure if f is not Failure.OTHER])
def test_a_known_failure_says_nothing_of_the_providers_words(failure: Failure) -> None:
    assert "the disk is full" not in said(failure, "the disk is full")


@pytest.mark.parametrize(
    ("resets", "end"),
    [
        (None, "Ask me again later."),
        ("", "Ask me again later."),
        ("3pm", "Ask me again after 3pm."),
        ("Tuesday at nine.", "Ask me again after Tuesday at nine."),
        ("in two hours", "Ask me again in two hours."),
        ("at 15:00", "Ask me again at 15:00."),
        ("15:00\n", "Ask me again after 15:00."),
        ("tomorrow", "Ask me again tomorrow."),
    ],
)
def test_a_used_up_limit_says_when_it_is_free_again(resets: str | None, end: str) -> None:
    assert said(Failure.QUOTA, resets=resets) == f"Claude has used up its limit. {end}"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("The disk is full.", "Claude failed: The disk is full."),
        ("two\nlines", "Claude failed: two lines."),
        ("", "Claude failed without saying why."),
        (None, "Claude failed without saying why."),
        ('{"type":"error","error":{"type":"api_error"}}', "Claude failed without saying why."),
        ('API Error: 500 {"type":"error"}', "Claude failed: API Error: 500."),
        ("See https://example.com/x?y=z for more", "Claude failed: See for more."),
        ("cannot read /home/me/.config/x.json", "Claude failed: cannot read."),
        ("Bad gateway (request_id req_011CSHoEeqs5C35K2UUqR7Fy)", "Claude failed: Bad gateway."),
        ("Bad gateway, request id: req_011CSHoEeqs5C35K2UUqR7Fy", "Claude failed: Bad gateway."),
        ("what {now} {0}?", "Claude failed: what {now} {0}."),
        ("no {agent} {error}", "Claude failed: no {agent} {error}."),
    ],
)
def test_the_providers_own_words_are_made_sayable(error: str | None, sentence: str) -> None:
    assert said(Failure.OTHER, error) == sentence


def test_a_long_error_is_cut_at_a_sentence_or_a_word() -> None:
    assert said(Failure.OTHER, "It broke. " + "because " * 200) == "Claude failed: It broke."
    sentence = said(Failure.OTHER, "because " * 200)
    assert len(sentence) < MAX_ERROR_CHARS + 20
    assert sentence.endswith("because.")


@given(st.sampled_from(Failure), st.none() | st.text(), st.none() | st.text())
def test_any_words_make_one_line_of_bounded_length(failure: Failure, error: str | None, resets: str | None) -> None:
    sentence = said(failure, error, resets)
    assert 0 < len(sentence) <= MAX_SUMMARY_CHARS
    assert len(sentence.splitlines()) == 1


@pytest.mark.parametrize("error", ["x" * 2_000_000, "a/" * 1_000_000, "9" * 1_000_000, "((((" * 500_000])
def test_a_huge_error_is_no_trouble(error: str) -> None:
    assert len(said(Failure.OTHER, error)) <= MAX_SUMMARY_CHARS
