"""One root, few branches: what went wrong, sorted by what the person or the caller can do about it."""


class KeryxError(Exception):
    """Anything Keryx itself raises on purpose.

    `str(error)` is one line for a screen or a log and says what to do next; `.spoken` is one sentence for the ear,
    with no path, id or number in it that cannot be said aloud.
    """

    default_spoken = "Something went wrong on my side."

    def __init__(self, message: str, *, spoken: str | None = None) -> None:
        super().__init__(message)
        self.spoken = spoken or self.default_spoken


class ConfigError(KeryxError):
    """A setting, a file or an installed part is wrong or missing: the owner mends it and starts again."""

    default_spoken = "My settings need a correction before I can do that."


class Refused(KeryxError):
    """Asked for something that is not allowed or makes no sense; asking again the same way changes nothing."""

    default_spoken = "I can't do that."


class NotFound(Refused):
    """Refused because there is no such task, project or agent."""

    default_spoken = "I don't know that one."


class Unavailable(KeryxError):
    """Something needed is not there right now; the same request may work later."""

    default_spoken = "That isn't available right now. Try again in a moment."


class BudgetSpent(KeryxError):
    """A limit the owner set is used up; the message says which and when it frees."""

    default_spoken = "Today's limit is used up."
