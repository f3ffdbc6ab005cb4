"""Looking something up in the owner's mail or calendar: beside the call, and never longer than a caller waits."""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from keryx.clock import Clock
from keryx.errors import ConfigError, KeryxError, Refused, Unavailable
from keryx.voice.dialogue.lookups.spans import Span, span_of
from keryx.voice.engines.waiting import happened_within
from keryx.workspace.auth import INSTALL, LOGIN, NotSignedIn, installed
from keryx.workspace.features import GRANTS, Feature
from keryx.workspace.workspace import Workspace

T = TypeVar("T")

ANSWER_WITHIN_S = 2.5
"""From the question to what is known about it; understanding and the first sound take the rest of three seconds."""
MOST_AT_ONCE = 4
"""So many questions may hang at Google; the next is not asked, so that nothing piles up."""

_SUBJECT = {Feature.READ_MAIL: "mail", Feature.READ_CALENDAR: "calendar"}


class Lookup:
    """What the tools of every call ask `workspace` through."""

    def __init__(self, workspace: Workspace, *, clock: Clock) -> None:
        self._workspace = workspace
        self._clock = clock
        self.zone = workspace.zone
        self._free = threading.Semaphore(MOST_AT_ONCE)

    @property
    def now(self) -> datetime:
        """The moment, in the owner's zone."""
        return self._clock.now().astimezone(self.zone)

    def span(self, when: str, *, past: bool) -> Span | None:
        """The stretch of time that `when` names; None when it names none."""
        return span_of(when, self._clock.now(), self.zone, past=past)

    async def ask(self, feature: Feature, work: Callable[[Workspace], T]) -> T:
        """What `work` finds, in a thread of its own; it needs `feature`.

        Raises what `work` raises; `ConfigError`, `NotSignedIn` or `Refused` when there is nothing to ask, `Unavailable`
        after `ANSWER_WITHIN_S`. The thread of an answer that nobody waits for any more ends by itself.
        """
        subject = _SUBJECT[feature]

        def answer() -> T:
            self._may_be_asked(feature)
            return work(self._workspace)

        if not self._free.acquire(blocking=False):
            raise _slow(subject)
        answered = asyncio.Event()
        found = self._in_thread(answer, answered)
        if not await happened_within(self._clock, ANSWER_WITHIN_S, answered):
            raise _slow(subject)
        return found.result()

    def warm(self) -> None:
        """Load what asking Google takes, if anybody is signed in; blocks for a moment, so that no caller waits."""
        if installed() and self._workspace.account.signed_in:
            with contextlib.suppress(KeryxError):  # whatever it is, it is said to whoever asks
                self._workspace.google.gmail()
                self._workspace.google.calendar()

    def _in_thread(self, answer: Callable[[], T], answered: asyncio.Event) -> concurrent.futures.Future[T]:
        """What `answer` comes to, in a thread that nothing waits for: the loop's own would hold up the daemon's end."""
        found: concurrent.futures.Future[T] = concurrent.futures.Future()
        loop = asyncio.get_running_loop()

        def run() -> None:
            try:
                found.set_result(answer())
            except Exception as error:  # raised again where it is waited for
                found.set_exception(error)
            except BaseException as error:  # a library's panic: it ends this answer, not the loop that waits for it
                found.set_exception(RuntimeError(type(error).__name__))
            finally:
                self._free.release()
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(answered.set)

        threading.Thread(target=contextvars.copy_context().run, args=(run,), name="lookup", daemon=True).start()
        return found

    def _may_be_asked(self, feature: Feature) -> None:
        subject = _SUBJECT[feature]
        if not installed():
            raise ConfigError(
                f"mail and calendar need Google's own packages: run {INSTALL} and start again",
                spoken=f"I can't see your {subject} yet. It takes another package: keryx auth status says which.",
            )
        if not self._workspace.account.signed_in:
            raise NotSignedIn(
                f"not signed in at Google; run {LOGIN}",
                spoken=f"I can't see your {subject} yet. On your machine, run {LOGIN}.",
            )
        if feature not in self._workspace.account.features():
            raise Refused(
                f"the owner has not let Keryx {GRANTS[feature].words}; run {LOGIN} and grant it",
                spoken=f"You haven't let me {GRANTS[feature].words} yet. On your machine, run {LOGIN}.",
            )


def _slow(subject: str) -> Unavailable:
    return Unavailable(
        f"Google did not answer within {ANSWER_WITHIN_S:g} seconds",
        spoken=f"Your {subject} is slow just now. Ask me again in a moment.",
    )
