"""What the notifier needs of the rest of the house, in its own words."""

from collections.abc import Sequence
from typing import Protocol

from keryx.tasks.models import News


class LiveCalls(Protocol):
    """Whoever is on the line right now."""

    def announce(self, news: Sequence[News]) -> int:
        """Queue `news` behind what is being said in every call that may hear it; returns how many calls took it.

        A call takes each news once however often it is offered. When one has been heard whole, the call reports it
        to `Notifier.heard`; a call that ends earlier reports nothing, and the news stays untold.
        """
        ...
