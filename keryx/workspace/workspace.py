"""The owner's mail and calendar in one, as the MCP server and the voice use them."""

from pathlib import Path
from zoneinfo import ZoneInfo

from keryx.clock import Clock
from keryx.workspace.auth import GoogleAccount
from keryx.workspace.calendar import Calendars
from keryx.workspace.gmail import Mailbox
from keryx.workspace.google import PATIENCE_S, Google


class Workspace:
    """Blocking, thread-safe; asks nothing and imports nothing heavy before it is used.

    `folder` is where the sign-in is kept, `zone` the owner's IANA zone, `save_in` the only folder that files are saved
    to and attached from; `patience_s` bounds how long one question is tried.
    """

    def __init__(
        self,
        folder: Path,
        *,
        zone: str,
        api_url: str | None = None,
        save_in: Path | None = None,
        patience_s: float = PATIENCE_S,
        clock: Clock | None = None,
    ) -> None:
        self.zone = ZoneInfo(zone)
        self.account = GoogleAccount(folder, clock=clock)
        self.google = Google(self.account, api_url=api_url, patience_s=patience_s)
        self.mailbox = Mailbox(self.google, save_in=save_in)
        self.calendars = Calendars(self.google, zone=zone)
