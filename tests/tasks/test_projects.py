"""Projects by the names people give them."""

import pytest

from keryx.errors import NotFound
from keryx.tasks.projects import known_project


@pytest.mark.parametrize(
    ("name", "found"),
    [(None, None), ("  ", None), ("Billing", "billing"), (" my  WEBSITE ", "My Website"), ("GRÖSSE", "Größe")],
)
def test_a_project_is_found_in_its_own_spelling(name: str | None, found: str | None) -> None:
    assert known_project(name, ["billing", "My Website", "Größe"]) == found


def test_an_unknown_one_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(NotFound, match='no project "kitchen"; there is a, b, c, d, e, f') as error:
        known_project("kitchen", list("abcdef"))
    assert error.value.spoken == "I don't know that project. There is a, b, c, d, e."


def test_without_any_project_that_is_said() -> None:
    with pytest.raises(NotFound) as error:
        known_project("kitchen", [])
    assert error.value.spoken == "No projects are set up yet."
