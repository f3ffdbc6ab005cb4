"""Somebody signed in at the loopback Google, and a clock that nobody waits for."""

from datetime import datetime, timedelta
from pathlib import Path

from keryx.clock import SystemClock
from keryx.workspace.features import Feature
from keryx.workspace.gmail import Mailbox
from keryx.workspace.google import Google
from tests.support.google.oauth import signed_in
from tests.support.google.server import GoogleServer


class Waits(SystemClock):
    """Stands still at `moment`, if that is given, but for the pauses, each of which moves it on at once."""

    def __init__(self, moment: datetime | None = None) -> None:
        self.moment = moment
        self.pauses: list[float] = []

    def pause(self, duration_s: float) -> None:
        self.pauses.append(duration_s)

    def now(self) -> datetime:
        return (self.moment or super().now()) + timedelta(seconds=sum(self.pauses))

    def monotonic(self) -> float:
        return super().monotonic() + sum(self.pauses)


def asking(server: GoogleServer, waits: Waits, folder: Path, *features: Feature, patience_s: float = 40.0) -> Google:
    """A fresh process' way to ask, for somebody who granted `features`, or all of them."""
    account = signed_in(folder / "google", server, features or tuple(Feature), clock=waits)
    return Google(account, api_url=server.url, pause=waits.pause, patience_s=patience_s)


def mailbox(server: GoogleServer, waits: Waits, folder: Path, *features: Feature, patience_s: float = 40.0) -> Mailbox:
    """The same, with the mail; files are saved to and attached from "task", which is made."""
    (folder / "task").mkdir(exist_ok=True)
    return Mailbox(asking(server, waits, folder, *features, patience_s=patience_s), save_in=folder / "task")
