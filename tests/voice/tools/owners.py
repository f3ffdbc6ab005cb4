"""An owner who is signed in at a loopback Google, and what the tools of a call ask it through."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from keryx.clock import Clock
from keryx.voice.tools.lookup import Lookup
from keryx.workspace.features import Feature
from keryx.workspace.workspace import Workspace
from tests.support.google.oauth import signed_in
from tests.support.google.server import GoogleServer, served_google


@dataclass
class Owner:
    """`google` holds their mail and calendar."""

    google: GoogleServer
    lookup: Lookup

    def mail(
        self,
        subject: str,
        at: datetime,
        *,
        sender: str = "Anna Berg <anna@example.com>",
        text: str = "Hello.",
        read: bool = False,
    ) -> None:
        labels = ("INBOX",) if read else ("INBOX", "UNREAD")
        self.google.mailbox.write(text, sender=sender, subject=subject, received=at, labels=labels)

    def event(self, title: str, start: datetime, end: datetime, **fields: object) -> None:
        self.google.calendars.add_event(title, start, end, **fields)  # pyright: ignore[reportArgumentType]  the API's own fields


@contextlib.contextmanager
def owner(
    folder: Path,
    clock: Clock,
    *,
    zone: str = "UTC",
    features: Iterable[Feature] | None = tuple(Feature),
    kind: type[Lookup] = Lookup,
) -> Iterator[Owner]:
    """`features` None: nobody is signed in."""
    with served_google(clock=clock, zone=zone) as google:
        if features is not None:
            signed_in(folder, google, features, clock=clock)
        workspace = Workspace(folder, zone=zone, api_url=google.url, clock=clock)
        yield Owner(google, kind(workspace, clock=clock))
