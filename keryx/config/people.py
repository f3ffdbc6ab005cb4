"""Who may use this daemon. A person is a record from the start; one person, the owner, is the ordinary case."""

from dataclasses import dataclass, field

from keryx.config.settings import Settings


@dataclass(frozen=True)
class Person:
    """Somebody known: `numbers` are E.164, `pin` is None when none is set, `timezone` is an IANA name."""

    name: str
    numbers: tuple[str, ...] = field(default=(), repr=False)
    pin: str | None = field(default=None, repr=False)
    timezone: str = "UTC"


def owner(settings: Settings) -> Person:
    """The person whose daemon this is."""
    return Person(
        name=settings.owner.name,
        numbers=settings.owner.numbers,
        pin=settings.owner.pin,
        timezone=settings.owner.timezone,
    )


def everybody(settings: Settings) -> tuple[Person, ...]:
    """All people the daemon knows."""
    return (owner(settings),)


def person_for_number(settings: Settings, number: str | None) -> Person | None:
    """Who rings from `number` (E.164, as the carrier gives it); None for a stranger or a withheld number."""
    if not number:
        return None
    return next((person for person in everybody(settings) if number.strip() in person.numbers), None)
