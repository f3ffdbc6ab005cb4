"""Asking Google: the services, one request or many at once, and trying again when that may help.

The services are built from the descriptions that Google's client library brings along; nothing is fetched for that.
"""

import json
import logging
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from keryx.errors import Refused
from keryx.workspace.asking import faults
from keryx.workspace.asking.faults import Answered, Fault, Lost, NotReached
from keryx.workspace.asking.sentences import Asked
from keryx.workspace.auth import GoogleAccount
from keryx.workspace.features import GRANTS, Feature
from keryx.workspace.signin import oauth

if TYPE_CHECKING:
    from keryx.workspace.asking.line import Line, Lines

T = TypeVar("T")

PATIENCE_S = 40.0
"""How long one question may take in all, tries and pauses together."""
STEP_S = 20.0
"""How long one step of a try may take: to connect, to get the next part of an answer."""
LEAST_STEP_S = 0.5
MOST_TRIES = 5
FIRST_PAUSE_S = 0.4
LONGEST_PAUSE_S = 8.0
MOST_IN_A_BATCH = 50
"""Google takes a hundred, and refuses single ones of many as too fast."""

_VERSIONS = {"gmail": "v1", "calendar": "v3"}


def next_pause_s(tries: int, fault: Fault, left_s: float, luck: float) -> float | None:
    """How long to wait before the next try; None: there is none. Pure.

    `tries` have been made, `left_s` seconds of patience are left, `luck` (0 to 1) keeps many askers from coming back at
    the same moment.
    """
    if not fault.passing or tries >= MOST_TRIES:
        return None
    pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (tries - 1)) * (0.5 + luck / 2)
    if fault.wait_s is not None:
        pause_s = fault.wait_s + luck * 0.1
    return pause_s if pause_s + LEAST_STEP_S <= left_s else None


class Google:
    """Google's interfaces for one account. Blocking, thread-safe; builds nothing before it is asked.

    `api_url`: another address than Google's own for everything, also batches and uploads. `pause` waits so many
    seconds. `patience_s` bounds how long one question is tried; a transfer that makes progress is not cut off by it.
    """

    def __init__(
        self,
        account: GoogleAccount,
        *,
        api_url: str | None = None,
        pause: Callable[[float], None] = time.sleep,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.account = account
        self.pause = pause
        self._api_url = api_url
        self._patience_s = patience_s
        self._lock = threading.RLock()
        self._services: dict[str, Any] = {}
        self._scopes: dict[str, Mapping[str, frozenset[str]]] = {}
        self._lines: Lines | None = None

    def gmail(self) -> Any:
        """The Gmail service (a `googleapiclient.discovery.Resource`); `ConfigError` when it is not installed."""
        return self._service("gmail")

    def calendar(self) -> Any:
        """The Calendar service; `ConfigError` when it is not installed."""
        return self._service("calendar")

    def ask(self, request: Any, *, doing: str, once: bool = False) -> Any:
        """What Google answers to one request. `doing` completes "Google did not …": "search the mail".

        `once`: the request must not be done twice, so it is not tried again once it may have arrived; `MaybeDone` is
        raised when that is unclear. Raises `NotSignedIn`, `ConfigError`, `NotFound` (`Gone`), `Refused`
        (`AlreadyThere`, `Changed`), `BudgetSpent`, `Unavailable`.
        """

        def step(line: "Line") -> Any:
            return _sensible(request.execute(http=line, num_retries=0))

        return self._try(step, self._asked(request, doing=doing), once=once)

    def ask_all(self, requests: Sequence[Any], *, doing: str) -> list[Any]:
        """The answers to many requests of one service that only read, asked together; the order is kept.

        Where Google refused a single one (`Refused`, also `NotFound`), that error stands in its place: one message that
        is gone spoils nothing. Single ones that Google had no time for are asked again. Any other fault is raised.
        """
        answers: list[Any] = [None] * len(requests)
        for start in range(0, len(requests), MOST_IN_A_BATCH):
            places = range(start, min(start + MOST_IN_A_BATCH, len(requests)))
            self._ask_batch({place: requests[place] for place in places}, answers, doing=doing)
        return answers

    def fetch(self, request: Any, take: Callable[[Iterator[bytes]], T], *, doing: str) -> T:
        """What `take` makes of the answer to one request that only reads, piece by piece: it need not fit into memory.

        A try that breaks off is made anew, and `take` with it, which may itself raise `Lost` for an answer that is not
        whole. Raises what `ask` raises.
        """

        def step(line: "Line") -> T:
            with line.stream(request.uri) as pieces:
                return take(pieces)

        return self._try(step, self._asked(request, doing=doing), once=False)

    def close(self) -> None:
        """End the connections that rest; they are made anew when something is asked again."""
        if self._lines is not None:
            self._lines.close()

    # -- trying ----------------------------------------------------------------------------------------------------

    def _try(self, step: "Callable[[Line], T]", asked: Asked, *, once: bool = False) -> T:
        clock = self.account.clock
        start_s, tries = clock.monotonic(), 0
        while True:
            left_s = self._patience_s - (clock.monotonic() - start_s)
            try:
                with self._all_lines().line(max(LEAST_STEP_S, min(STEP_S, left_s)), fresh=once) as line:
                    return step(line)
            except self._troubles as trouble:
                fault = self._fault(trouble, asked)
            tries += 1
            if once and fault.unclear:
                raise faults.maybe_done(fault, asked)
            left_s = self._patience_s - (clock.monotonic() - start_s)
            pause_s = next_pause_s(tries, fault, left_s, random.random())
            if pause_s is None:
                raise faults.too_long(fault)
            self.pause(pause_s)

    @property
    def _troubles(self) -> tuple[type[Exception], ...]:
        """What executing a request raises; the library trips over answers that make no sense in as many ways."""
        from googleapiclient.errors import Error

        # A RecursionError comes of JSON that is nested without end.
        return (Answered, NotReached, Lost, Error, ValueError, LookupError, TypeError, AttributeError, RecursionError)

    def _ask_batch(self, waiting: dict[int, Any], answers: list[Any], *, doing: str) -> None:
        if not waiting:
            return
        from googleapiclient.errors import HttpError

        first = next(iter(waiting.values()))
        asked = self._asked(first, doing=doing)
        service = self._service(asked.api)

        def step(line: "Line") -> None:
            passing: list[Exception] = []

            def took(place: str, answer: Any, error: HttpError | None) -> None:
                if error is not None:
                    trouble = Answered(error.resp.status, error.resp, error.content)
                    answer = self._fault(trouble, asked).error
                    if not isinstance(answer, Refused):
                        passing.append(trouble)
                        return
                answers[int(place)] = answer if error else _sensible(answer)
                del waiting[int(place)]

            batch = service.new_batch_http_request(callback=took)
            for place, request in waiting.items():
                batch.add(request, request_id=str(place))
            batch.execute(http=line)
            if passing:
                raise passing[0]

        self._try(step, asked)

    def _fault(self, trouble: Exception, asked: Asked) -> Fault:
        return faults.fault_of(trouble, asked, self.account.clock.now())

    def _asked(self, request: Any, *, doing: str) -> Asked:
        method = str(request.methodId or "")
        api = method.partition(".")[0]
        scopes = self._scopes.get(api, {}).get(method, frozenset())
        # The features stand in order: the first whose scopes allow the method is the least.
        return Asked(doing, api, next((feature for feature in Feature if scopes & {*GRANTS[feature].scopes}), None))

    # -- building --------------------------------------------------------------------------------------------------

    def _all_lines(self) -> "Lines":
        with self._lock:
            if self._lines is None:
                from keryx.workspace.asking.line import Lines

                self._lines = Lines(self.account.credentials)
                weakref.finalize(self, self._lines.close)
            return self._lines

    def _service(self, api: str) -> Any:
        with self._lock:
            if api not in self._services:
                self._services[api] = self._built(api)
            return self._services[api]

    def _built(self, api: str) -> Any:
        try:
            from googleapiclient.discovery import build_from_document
            from googleapiclient.discovery_cache import get_static_doc
        except ImportError:
            raise oauth.not_installed() from None
        # The library logs each address, what was searched for included.
        logging.getLogger("googleapiclient.discovery").setLevel(logging.INFO)
        document = json.loads(get_static_doc(api, _VERSIONS[api]) or "{}")
        if self._api_url:
            # Not by `api_endpoint`: batches and uploads would go to Google all the same.
            document["rootUrl"] = self._api_url.rstrip("/") + "/"
            document.pop("mtlsRootUrl", None)
        self._scopes[api] = dict(_scopes(document))
        return build_from_document(document, http=_Unused())


def _sensible(answer: Any) -> Any:
    """An answer that is an object, or nothing; `ValueError` for other JSON, which no method answers with."""
    if isinstance(answer, dict) or answer in ("", b""):
        return answer
    raise ValueError("no object")


class _Unused:
    """In place of a connection: each request is given one when it is asked."""

    def request(self, *_: object, **__: object) -> None:
        raise AssertionError("a request is executed by Google.ask")

    def close(self) -> None:
        pass


def _scopes(description: Mapping[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    """Each method's id, with the scopes any of which allows it."""
    for method in description.get("methods", {}).values():
        yield method["id"], frozenset(method.get("scopes", ()))
    for resource in description.get("resources", {}).values():
        yield from _scopes(resource)
