"""An engine for tests of calls and lines: it greets, answers typed words by a script and tells news; no models."""

import asyncio
from collections.abc import Callable, Sequence

from keryx.tasks.models import News
from keryx.voice.engines.base import (
    AudioOut,
    CaptionOut,
    ClearOut,
    EngineEvent,
    HangUpOut,
    MarkOut,
    StateOut,
)
from keryx.voice.engines.outbox import Outbox
from keryx.voice.transports.base import (
    AudioFormat,
    AudioIn,
    Encoding,
    Inbound,
    KeyIn,
    Played,
    StopSpeaking,
    TextIn,
)

FRAME_MS = 20
MS_PER_CHARACTER = 20


class ScriptedEngine:
    """A `VoiceEngine` whose replies are looked up; "goodbye" ends the call once it was heard."""

    def __init__(
        self,
        format: AudioFormat,
        replies: Callable[[str], str] = lambda text: f"You said {text}",
        *,
        greeting: str = "Keryx.",
        on_heard: Callable[[int], None] = lambda news_id: None,
    ) -> None:
        self.taken: list[Inbound] = []
        """Everything but sound that came in."""
        self.sound_taken = 0
        """Bytes of the caller's sound."""
        self._format = format
        self._replies = replies
        self._greeting = greeting
        self._on_heard = on_heard
        self._outbox = Outbox()
        self._awaited: dict[str, int | None] = {}  # mark → the news it closes
        self._in_hand: set[int] = set()
        self._count = 0
        self._finishing = False
        self._reason = "goodbye"
        self._over = asyncio.Event()

    async def run(self) -> None:
        self._say(self._greeting)
        await self._over.wait()
        self._outbox.put(HangUpOut(self._reason))

    def take(self, inbound: Inbound) -> None:
        match inbound:
            case AudioIn(payload):
                self.sound_taken += len(payload)
                return
            case TextIn(text):
                self._outbox.put(CaptionOut("caller", text, final=True, utterance=self._count))
                self._say(self._replies(text))
                if "goodbye" in text.lower():
                    self.finish()
            case Played(name):
                if name in self._awaited and (news_id := self._awaited.pop(name)) is not None:
                    self._on_heard(news_id)
                self._end_if_heard()
            case StopSpeaking():
                self._awaited.clear()
                self._outbox.put(ClearOut())
                self._outbox.put(StateOut("listening"))
                self._end_if_heard()
            case KeyIn():
                pass
        self.taken.append(inbound)

    async def next_event(self) -> EngineEvent:
        return await self._outbox.get()

    def announce(self, news: Sequence[News]) -> None:
        for item in news:
            if item.id not in self._in_hand:
                self._in_hand.add(item.id)
                self._say(item.text, item.id)

    def finish(self, farewell: str = "", reason: str = "goodbye") -> None:
        self._reason = reason
        if farewell:
            self.take(StopSpeaking())
            self._say(farewell)
        self._finishing = True
        self._end_if_heard()

    async def line_lost(self) -> None:
        self._awaited.clear()

    def _say(self, text: str, news_id: int | None = None) -> None:
        if not text:
            return
        self._count += 1
        silence = b"\xff" if self._format.encoding is Encoding.MULAW else b"\0\0"
        frame = silence * (self._format.rate * FRAME_MS // 1000)
        self._outbox.put(StateOut("speaking"))
        self._outbox.put(CaptionOut("keryx", text, final=True, utterance=self._count))
        for _ in range(max(1, len(text) * MS_PER_CHARACTER // FRAME_MS)):
            self._outbox.put(AudioOut(self._count, frame))
        name = f"s{self._count}"
        self._awaited[name] = news_id
        self._outbox.put(MarkOut(name))

    def _end_if_heard(self) -> None:
        if self._finishing and not self._awaited:
            self._over.set()
