"""The caller's words on the screen: as they are understood, then as they stand."""

from keryx.security.redact import redact
from keryx.voice.engines.base import CaptionOut
from keryx.voice.engines.outbox import Outbox


class CallerCaptions:
    """One call's captions of the caller, a number for each turn. A key that was read out or typed is hidden."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._turn = 0
        self._partial = ""

    def show(self, text: str) -> None:
        """Words that may still change."""
        self._partial = text
        self._put(text, final=False)

    def close(self, text: str | None = None) -> None:
        """The turn is over: `text` stands, None what was shown of it; a turn without any words is not shown."""
        text = self._partial if text is None else text
        if text or self._partial:
            self._partial = ""
            self._put(text, final=True)
            self._turn += 1

    def _put(self, text: str, *, final: bool) -> None:
        self._outbox.put(CaptionOut("caller", redact(text), final=final, utterance=self._turn))
