"""What became of each text that was steered into a running turn of Codex. Pure.

That a steer was accepted does not mean that it was delivered. A delivered one comes back as an item of the
conversation, with the id it was sent under; only a message of the model's that began after that has heard it. At a
turn's end the item may be there without an answer (then another turn is needed, and no new words), or not be there
(then the words are needed again).
"""

from dataclasses import dataclass


@dataclass
class _Steer:
    text: str
    accepted: bool | None = None
    """None while the app-server has not answered; whoever sent it waits for that."""
    taken: bool = False
    """It stands in the conversation."""
    answered: bool = False
    promised: bool = False
    """Whoever sent it was told that it was taken in."""
    again: bool = False
    """It has a turn of its own already."""
    turn_id: str | None = None
    """What began that turn, where its words were needed again."""


@dataclass(frozen=True)
class Owed:
    """What is still to be done for the steers of a turn that has ended: a turn of its own, with these words, if any."""

    words: tuple[str, ...]


class Steers:
    """The steers of one run."""

    def __init__(self) -> None:
        self._steers: dict[str, _Steer] = {}
        self._heard: dict[str, frozenset[str]] = {}

    def sent(self, steer_id: str, text: str) -> None:
        self._steers[steer_id] = _Steer(text)

    def accepted(self, steer_id: str) -> None:
        self._steers[steer_id].accepted = True

    def forget(self, steer_id: str) -> None:
        """It was refused, or nobody knows what became of it: nothing is owed for it."""
        self._steers.pop(steer_id, None)

    def promise(self, steer_id: str) -> None:
        """Whoever sent it is told that it was taken in."""
        self._steers[steer_id].promised = True

    @property
    def in_flight(self) -> bool:
        return any(steer.accepted is None for steer in self._steers.values())

    def taken(self, steer_id: str | None) -> None:
        """A message of the user's stands in the conversation."""
        for sent_under, steer in self._steers.items():
            if steer_id is not None and steer_id in (sent_under, steer.turn_id):
                steer.taken = True

    def is_taken(self, steer_id: str) -> bool:
        return steer_id in self._steers and self._steers[steer_id].taken

    def model_began(self, message_id: str) -> None:
        """The model begins to say something: it has heard what stands in the conversation."""
        self._heard[message_id] = frozenset(steer_id for steer_id, steer in self._steers.items() if steer.taken)

    def model_said(self, message_id: str) -> None:
        """The model has said it to the end."""
        for steer_id in self._heard.pop(message_id, frozenset()):
            self._steers[steer_id].answered = True

    def owed(self) -> Owed | None:
        """What a completed turn has left to do, which the caller then does: nothing is owed a second time."""
        owed = [steer for steer in self._steers.values() if steer.accepted and not (steer.answered or steer.again)]
        for steer in owed:
            steer.again = True
        return Owed(tuple(steer.text for steer in owed if not steer.taken)) if owed else None

    def sent_again(self, turn_id: str) -> None:
        """The words that were owed begin a turn under this id: they are delivered when that is taken."""
        for steer in self._steers.values():
            if steer.again and not steer.taken:
                steer.turn_id = turn_id

    def undelivered(self) -> tuple[str, ...]:
        """The words that were promised to be taken in, of a turn that broke off before it took them."""
        return tuple(steer.text for steer in self._steers.values() if steer.promised and not steer.taken)
