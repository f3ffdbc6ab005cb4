"""Who is ringing."""

import pytest

from keryx.config.people import owner, person_for_number
from keryx.config.settings import Settings

SETTINGS = Settings.model_validate(
    {"owner": {"name": "Ada", "numbers": "+15551234567", "pin": "001234", "timezone": "Europe/Berlin"}}
)


def test_the_owner_is_known_by_every_number_given() -> None:
    person = person_for_number(SETTINGS, "+15551234567")
    assert person == owner(SETTINGS)
    assert person is not None
    assert (person.name, person.pin, person.timezone) == ("Ada", "001234", "Europe/Berlin")


@pytest.mark.parametrize("number", [None, "", "anonymous", "+15551234568", "15551234567", "+155512345670"])
def test_a_stranger_or_a_withheld_number_is_nobody(number: str | None) -> None:
    assert person_for_number(SETTINGS, number) is None


def test_a_person_printed_shows_neither_pin_nor_number() -> None:
    assert "001234" not in repr(owner(SETTINGS))
    assert "5551234567" not in repr(owner(SETTINGS))
