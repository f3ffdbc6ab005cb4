"""Every error can be read on a screen and said aloud."""

import pytest

from keryx.errors import BudgetSpent, ConfigError, KeryxError, NotFound, Refused, Unavailable

KINDS = [KeryxError, ConfigError, Refused, NotFound, Unavailable, BudgetSpent]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_has_a_line_to_read_and_a_sentence_to_say(kind: type[KeryxError]) -> None:
    error = kind("port 8080 is in use; try --port 8081")
    assert str(error) == "port 8080 is in use; try --port 8081"
    assert error.spoken.endswith(".")
    assert not any(character.isdigit() for character in error.spoken)


def test_an_error_may_be_said_in_its_own_words() -> None:
    assert NotFound("no task 9", spoken="I don't know task nine.").spoken == "I don't know task nine."


def test_what_is_not_found_counts_as_refused() -> None:
    with pytest.raises(Refused):
        raise NotFound("no task 9")
