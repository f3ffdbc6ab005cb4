"""A call's control for tests: a PIN gate, who is proven, and whether the call was ended; and a store to begin with."""

import asyncio
import functools
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from keryx.security.pin import PinGate, PinOutcome
from keryx.store.db import Database


@functools.cache
def empty_store() -> bytes:
    """A migrated database without tasks, made once: migrating takes longer than most tests."""

    async def make() -> None:
        await (await Database.open(file)).close()

    file = Path(mkdtemp()) / "keryx.db"
    asyncio.run(make())
    return file.read_bytes()


@dataclass
class Desk:
    """`keryx.voice.tools.base.CallControl` without a call."""

    call_id: str = "call-1"
    proven: bool = True
    gate: PinGate = field(default_factory=lambda: PinGate("427190"))
    over: bool = False

    def submit_pin(self, pin: str) -> PinOutcome:
        outcome = self.gate.check(pin)
        if outcome is PinOutcome.ACCEPTED:
            self.proven = True
        elif outcome is PinOutcome.LOCKED:
            self.end()
        return outcome

    def end(self) -> None:
        self.over = True
