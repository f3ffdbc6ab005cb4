"""What an engine has given out and the call has not carried away yet, in order; a clear overtakes sound."""

import asyncio
from collections import deque

from keryx.voice.engines.base import AudioOut, ClearOut, EngineEvent, MarkOut


class Outbox:
    """A queue of one writer and one reader; what it holds is bounded by the voice's pacing."""

    def __init__(self) -> None:
        self._events: deque[EngineEvent] = deque()
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: EngineEvent) -> None:
        """Add `event`; a `ClearOut` throws away the sound and marks before it and goes to the front."""
        if isinstance(event, ClearOut):
            self._events = deque(kept for kept in self._events if not isinstance(kept, AudioOut | MarkOut))
            self._events.appendleft(event)
        else:
            self._events.append(event)
        self._filled.set()

    async def get(self) -> EngineEvent:
        """The next event. A cancellation loses nothing."""
        while not self._events:
            self._filled.clear()
            await self._filled.wait()
        return self._events.popleft()
