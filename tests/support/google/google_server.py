"""What the loopback Google is to a test, and how a request finds its answer; it knows no socket."""

import contextlib
import itertools
import json
import threading
from collections.abc import Callable
from typing import Any, assert_never

from keryx.clock import Clock, SystemClock
from tests.support.google import faults as wrong
from tests.support.google import masks
from tests.support.google.calendar_methods import CalendarMethods
from tests.support.google.calendars import Calendars
from tests.support.google.diary import Notice
from tests.support.google.faults import Cut, Fault, Faults, Garbage, HangUp, Late, Status
from tests.support.google.mail_methods import MailMethods
from tests.support.google.mailbox import Mailbox
from tests.support.google.multipart import Incoming, Uploads, batched
from tests.support.google.oauth import ADDRESS, DROPPED, Answer, OAuth
from tests.support.google.refusals import GoogleError, not_enabled, scope_missing, unknown_token
from tests.support.google.routing import Asked, Found, Method, Routes

Handler = Callable[[Incoming], Answer]


class GoogleServer:
    """What a test fills, looks at and lets go wrong."""

    def __init__(self, url: str, *, clock: Clock | None = None, address: str = ADDRESS, zone: str = "UTC") -> None:
        self.url = url
        self.clock = clock or SystemClock()
        self.tokens: dict[str, set[str]] = {}
        """The access tokens that work now, and the scopes of each."""
        self.oauth = OAuth(self.tokens)
        self.mailbox = Mailbox(address, self.clock)
        self.calendars = Calendars(address, zone, self.clock)
        self.faults = Faults()
        self.requests: list[Asked] = []
        """What was asked and understood, in order; a batch's parts, and those that then met a fault, too."""
        self.batches = 0
        """How many batches came."""
        self.disabled: set[str] = set()
        """Interfaces that the owner's project has not enabled: "gmail", "calendar"."""
        self.date_off_s = 0.0
        """How far the Date of the answers is ahead of the clock."""
        self.routes: list[tuple[str, str, Handler]] = []
        """More addresses: the HTTP method, the path, what answers it."""
        self.broken: list[str] = []
        """What this server did wrong."""
        self._documents = Routes()
        self._uploads = Uploads(url)
        self.methods = {**MailMethods(self.mailbox).table, **CalendarMethods(self.calendars).table}
        """What answers each method, by its id; a test may put something else in its place."""
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()

    @property
    def notices(self) -> list[Notice]:
        """The mail that Google would have sent to guests and organisers."""
        return self.calendars.notices

    def asked(self, method: str) -> list[Asked]:
        """The requests of one method, by its id."""
        return [asked for asked in self.requests if asked.method == method]

    def count(self, method: str) -> int:
        return len(self.asked(method))

    def token(self, *scopes: str) -> str:
        """An access token that works; with no scopes given, one that may do everything."""
        token = f"ya29.given-{next(self._numbers)}"
        everything = {"https://mail.google.com/", "https://www.googleapis.com/auth/calendar"}
        self.tokens[token] = set(scopes) or everything
        return token

    def answer(self, incoming: Incoming) -> tuple[Answer, Fault | None]:
        """What goes back, and the fault that befalls it on its way."""
        for http_method, path, handler in self.routes:
            if (http_method, path) == (incoming.method, incoming.path):
                return handler(incoming), None
        said = self.oauth.answer(incoming.method, incoming.target, incoming.body)
        if said is not None:
            return said, None
        try:
            if (api := self._documents.batch_paths.get(incoming.path)) and incoming.method == "POST":
                return self._batch(api, incoming)
            return self._one(incoming)
        except GoogleError as error:
            return error.answer(), None

    def _batch(self, api: str, incoming: Incoming) -> tuple[Answer, Fault | None]:
        fault = self.faults.take(wrong.BATCH)
        self.batches += 1
        return self._met(fault, lambda: batched(api, incoming, self._part))

    def _part(self, incoming: Incoming) -> Answer:
        try:
            answer, fault = self._one(incoming)
        except GoogleError as error:
            return error.answer()
        if fault is not None:
            self.broken.append(f"a part of a batch cannot meet {fault}: script it for the batch")
        return answer

    def _one(self, incoming: Incoming) -> tuple[Answer, Fault | None]:
        override = incoming.headers.get("x-http-method-override")
        if override and incoming.method == "POST":
            # The library turns an address that is too long into a form.
            target = f"{incoming.path}?{incoming.body.decode()}"
            incoming = Incoming(override, target, incoming.headers)
        # Google takes what continues an upload as PUT, whatever the method's own is.
        continues = incoming.method == "PUT" and dict(incoming.query).get("upload_id")
        found = self._found(incoming, any_method=bool(continues))
        self._check_token(found.method, incoming)
        if found.uploading:
            return self._uploads.take(
                incoming, found.method.http_method, lambda body, media: self._ask(found, incoming, body, media)
            )
        return self._ask(found, incoming, incoming.json(), None)

    def _found(self, incoming: Incoming, *, any_method: bool) -> Found:
        for http_method in ("POST", "PUT") if any_method else (incoming.method,):
            with contextlib.suppress(GoogleError):
                return self._documents.find(http_method, incoming.path)
        return self._documents.find(incoming.method, incoming.path)

    def _check_token(self, method: Method, incoming: Incoming) -> None:
        given = incoming.headers.get("authorization", "")
        scopes = self.tokens.get(given.removeprefix("Bearer ")) if given.startswith("Bearer ") else None
        if scopes is None:
            raise unknown_token(bool(given))
        if method.api in self.disabled:
            raise not_enabled(method.api)
        if not scopes & method.scopes:
            raise scope_missing(f"{method.api}.googleapis.com", method.id, method.scopes)

    def _ask(self, found: Found, incoming: Incoming, body: Any, media: bytes | None) -> tuple[Answer, Fault | None]:
        method = found.method
        asked = method.understood(found.in_path, incoming.query, body, incoming.headers, media)
        if "fields" in asked.parameters:
            masks.check(masks.mask(asked.parameters["fields"]), method.response, method.schemas)
        with self._lock:
            self.requests.append(asked)
        return self._met(self.faults.take(method.id), lambda: self._perform(method, asked))

    def _met(self, fault: Fault | None, perform: Callable[[], Answer]) -> tuple[Answer, Fault | None]:
        match fault:
            case Status(after=after):
                if after:
                    perform()
                return _error(fault).answer(), None
            case HangUp(after=after):
                if after:
                    perform()
                return DROPPED, None
            case Garbage():
                perform()
                return Answer(fault.status, fault.body, {"Content-Type": fault.content_type}), None
            case Cut() | Late() | None:
                return perform(), fault
            case _:
                assert_never(fault)

    def _perform(self, method: Method, asked: Asked) -> Answer:
        do = self.methods.get(method.id)
        if do is None:
            self.broken.append(f"{method.id} is not served")
            raise GoogleError(501, "notImplemented", f"{method.id} is not served")
        try:
            with self._lock:
                answer = do(asked)
        except GoogleError as error:
            return error.answer()
        if problems := method.problems(answer):
            self.broken += problems
            raise GoogleError(501, "notImplemented", problems[0])
        if answer is None:
            return Answer(204)
        headers = {"Content-Type": "application/json; charset=UTF-8"}
        if isinstance(answer.get("etag"), str):
            headers["ETag"] = answer["etag"]
        if "fields" in asked.parameters:
            answer = masks.masked(answer, masks.mask(asked.parameters["fields"]))
        return Answer(200, json.dumps(answer).encode(), headers)


def _error(fault: Status) -> GoogleError:
    if (fault.code, fault.reason, fault.message) == (401, "authError", ""):
        return unknown_token(True)
    return GoogleError(fault.code, fault.reason, fault.message, headers=fault.headers)
