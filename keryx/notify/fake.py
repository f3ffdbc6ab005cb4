"""Live calls as a test needs them."""

from collections.abc import Sequence

from keryx.tasks.models import News


class FakeLiveCalls:
    """So many calls that may hear news. What each was to say, once each, stands in `said`, in order."""

    def __init__(self, calls: int = 0) -> None:
        self._said: list[list[News]] = [[] for _ in range(calls)]
        self.offers = 0
        """How often anything was offered."""

    def answer(self) -> None:
        """One more call is on the line."""
        self._said.append([])

    def hang_up(self) -> None:
        """The oldest call ends."""
        self._said.pop(0)

    @property
    def said(self) -> list[list[str]]:
        """The texts that each call was given to say."""
        return [[news.text for news in call] for call in self._said]

    def announce(self, news: Sequence[News]) -> int:
        self.offers += 1
        for call in self._said:
            known = {item.id for item in call}
            call.extend(item for item in news if item.id not in known)
        return len(self._said)
