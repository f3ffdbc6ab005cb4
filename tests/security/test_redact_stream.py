"""Redaction in pieces gives what redaction of the whole gives."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.security.redact import REDACTED, redact
from keryx.security.redact_stream import StreamRedactor
from tests.security.test_redact import ORDINARY, SECRETS


@settings(deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([*SECRETS, *ORDINARY]), max_size=4), st.data())
def test_a_stream_gives_the_same_text_however_it_is_split(pieces: list[str], data: st.DataObject) -> None:
    text = " and then ".join(pieces)
    redactor, out, at = StreamRedactor(), "", 0
    while at < len(text):
        size = data.draw(st.integers(1, 40))
        out += redactor.feed(text[at : at + size])
        at += size
    assert out + redactor.flush() == redact(text)


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_split_into_single_characters_never_comes_out(text: str) -> None:
    redactor = StreamRedactor()
    out = "".join(redactor.feed(char) for char in f"see {text} there") + redactor.flush()
    assert (SECRETS[text] or text) not in out
    assert REDACTED in out


def test_a_stream_of_ordinary_words_is_held_back_by_one_word_only() -> None:
    redactor = StreamRedactor()
    assert redactor.feed("All tests are green and the bra") == "All tests are green and the "
    assert redactor.feed("nch is merged. ") == "branch is merged. "


def test_an_endless_run_is_not_held_for_ever() -> None:
    redactor = StreamRedactor()
    out = "".join(redactor.feed("aB3" * 1000) for _ in range(40)) + redactor.feed(" done ") + redactor.flush()
    assert out.split() == [*REDACTED.split(), "done"]
