"""The loopback Google itself: it holds the real client, and itself, to what Google's documents describe."""

import gzip
import http.client
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from keryx.clock import VirtualClock
from tests.support.google import (
    ANY,
    BATCH,
    Asked,
    Cut,
    Garbage,
    GoogleServer,
    HangUp,
    Incoming,
    Late,
    Status,
    served_google,
    service,
)
from tests.support.google.oauth import Answer
from tests.support.google.refusals import GoogleError
from tests.support.google.routing import Routes
from tests.support.google.schemas import problems

errors = pytest.importorskip("googleapiclient.errors", reason="the google extra is not installed")

BOUND_S = 20.0
LABELS = "/gmail/v1/users/me/labels"
LIST = "gmail.users.messages.list"


@pytest.fixture
def server(clock: VirtualClock) -> Iterator[GoogleServer]:
    with served_google(clock=clock, zone="Europe/Berlin") as server:
        yield server


@pytest.fixture
def gmail(server: GoogleServer) -> Iterator[Any]:
    with service(server, "gmail") as gmail:
        yield gmail


def ask(
    server: GoogleServer, target: str, *, method: str = "GET", body: Any = None, **headers: str
) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Status, body and headers of the answer to a request that no client library has looked at."""
    given = {"Authorization": f"Bearer {server.token()}", "Content-Type": "application/json", **headers}
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    asked = urllib.request.Request(server.url + target, data, given, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=BOUND_S) as answer:
            return answer.status, json.loads(answer.read() or b"{}"), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read()), dict(error.headers)


def reason(answer: dict[str, Any]) -> str:
    return answer["error"]["errors"][0]["reason"]


# -- what may be asked -------------------------------------------------------------------------------------------------


def test_every_method_of_the_documents_has_an_address_of_its_own() -> None:
    routes = Routes()
    for method_id, path, http_method in [
        ("gmail.users.messages.send", "/gmail/v1/users/me/messages/send", "POST"),
        ("gmail.users.messages.get", "/gmail/v1/users/me/messages/18d0", "GET"),
        ("gmail.users.drafts.send", "/gmail/v1/users/me/drafts/send", "POST"),
        ("gmail.users.messages.attachments.get", "/gmail/v1/users/me/messages/1/attachments/2", "GET"),
        ("calendar.events.list", "/calendar/v3/calendars/primary/events", "GET"),
        ("calendar.events.instances", "/calendar/v3/calendars/primary/events/x/instances", "GET"),
        ("calendar.events.move", "/calendar/v3/calendars/a%40b.c/events/x/move", "POST"),
        ("calendar.freebusy.query", "/calendar/v3/freeBusy", "POST"),
    ]:
        assert routes.find(http_method, path).method.id == method_id
    assert routes.find("GET", "/calendar/v3/calendars/a%40b.c/events").in_path == {"calendarId": "a@b.c"}
    assert routes.batch_paths == {"/batch": "gmail", "/batch/calendar/v3": "calendar"}
    for http_method, path, status in [("GET", "/gmail/v1/nothing", 404), ("DELETE", LABELS, 405)]:
        with pytest.raises(GoogleError) as refusal:
            routes.find(http_method, path)
        assert refusal.value.code == status


@pytest.mark.parametrize(
    ("method", "target", "body", "why"),
    [
        ("GET", f"{LABELS}?colour=red", None, 'Unknown name "colour": Cannot bind query parameter.'),
        ("GET", "/gmail/v1/users/me/messages?maxResults=many", None, "Invalid value at 'maxResults' (TYPE_INT32)"),
        ("GET", "/gmail/v1/users/me/messages?maxResults=-1", None, "-1 is not between 0 and"),
        ("GET", "/gmail/v1/users/me/messages?includeSpamTrash=yes", None, "Invalid value at 'includeSpamTrash'"),
        ("GET", "/gmail/v1/users/me/messages?q=a&q=b", None, "'q' is given twice"),
        ("GET", "/gmail/v1/users/me/messages/18d0?format=whole", None, "Invalid value at 'format' (TYPE_ENUM)"),
        ("GET", "/calendar/v3/calendars/primary/events?timeMin=2026-03-02", None, "is no date and time"),
        ("GET", "/calendar/v3/calendars/primary/events?timeMin=2026-03-02T09:00:00", None, "Bad Request"),
        ("GET", "/calendar/v3/calendars/primary/events?maxResults=0", None, "0 is not between 1 and"),
        ("GET", "/calendar/v3/calendars/primary/events?timeZone=Mars/North", None, "Invalid time zone."),
        ("GET", "/calendar/v3/calendars/primary/events?orderBy=startTime", None, "requested ordering is not available"),
        ("POST", "/calendar/v3/calendars/primary/events/x/move", None, "Missing required parameter: destination"),
        ("POST", "/calendar/v3/calendars/primary/events", {"summary": "x"}, "Missing required field: end"),
        ("POST", "/gmail/v1/users/me/messages/send", {"thread": "1"}, 'Unknown name "thread" at'),
        ("POST", "/gmail/v1/users/me/messages/send", {"threadId": "1"}, "Missing required field: raw"),
        ("POST", "/gmail/v1/users/me/messages/send", {"raw": "<not base64>"}, "Base64 decoding failed"),
        ("POST", "/gmail/v1/users/me/messages/1/modify", {"addLabelIds": "INBOX"}, "addLabelIds is no list"),
        ("POST", "/gmail/v1/users/me/messages/1/modify", {"addLabelIds": [1]}, "addLabelIds[0] is no string"),
        ("POST", "/gmail/v1/users/me/messages/1/modify", [], "the body is no object"),
        ("POST", "/gmail/v1/users/me/messages/1/modify", b"{", "Parse error."),
        ("POST", "/gmail/v1/users/me/messages/1/trash", {"why": "old"}, "The method takes no body."),
        ("GET", f"{LABELS}?fields=labels(nothing)", None, "Invalid field selection nothing"),
    ],
)
def test_what_no_document_describes_is_refused_with_googles_own_body(
    server: GoogleServer, method: str, target: str, body: Any, why: str
) -> None:
    status, answer, _ = ask(server, target, method=method, body=body)
    assert status == 400
    assert why in answer["error"]["message"]
    assert answer["error"]["code"] == 400
    assert answer["error"]["status"] == "INVALID_ARGUMENT"
    assert answer["error"]["errors"][0]["domain"] == "global"
    assert server.requests == [] or server.requests[0].method.startswith("calendar")


def answered_profile(clock: VirtualClock, profile: Any) -> int:
    """The status with which a server answers that was made to say `profile`."""
    with served_google(clock=clock) as server:
        server.methods["gmail.users.getProfile"] = lambda asked: profile
        return ask(server, "/gmail/v1/users/me/profile")[0]


def test_an_answer_against_the_documents_fails_the_test_that_it_was_given_in(clock: VirtualClock) -> None:
    assert answered_profile(clock, {"messagesTotal": 3}) == 200
    with pytest.raises(AssertionError, match="messagesTotal is no integer"):
        answered_profile(clock, {"messagesTotal": "three"})
    with pytest.raises(AssertionError, match="Cannot find field"):
        answered_profile(clock, {"messages": 3})


def stopped(clock: VirtualClock) -> None:
    with served_google(clock=clock) as server:
        assert ask(server, "/gmail/v1/users/me/stop", method="POST")[0] == 501


def test_a_method_that_is_not_served_fails_the_test_that_asked_for_it(clock: VirtualClock) -> None:
    with pytest.raises(AssertionError, match=r"gmail.users.stop is not served"):
        stopped(clock)


@pytest.mark.parametrize(
    ("value", "schema", "wrong"),
    [
        ({"a": 1}, {"type": "object", "properties": {"a": {"type": "integer", "format": "int32"}}}, None),
        ({"b": 1}, {"type": "object", "properties": {"a": {"type": "integer"}}}, "Cannot find field"),
        ({"b": "x"}, {"type": "object", "additionalProperties": {"type": "integer"}}, "b is no integer"),
        (2**31, {"type": "integer", "format": "int32"}, "is not between"),
        (True, {"type": "integer"}, "is no integer"),
        ("-1", {"type": "string", "format": "uint64"}, "TYPE_UINT64"),
        ("2026-02-30", {"type": "string", "format": "date"}, "is no date"),
        ("2026-03-02T09:00:00+01:00", {"type": "string", "format": "date-time"}, None),
        ("2026-03-02 09:00", {"type": "string", "format": "date-time"}, "is no date and time"),
        ("x", {"type": "string", "enum": ["a", "b"]}, "TYPE_ENUM"),
        ("_-8", {"type": "string", "format": "byte"}, None),
        ([1, "x"], {"type": "array", "items": {"$ref": "Number"}}, "[1] is no integer"),
    ],
)
def test_a_value_is_held_against_its_schema(value: Any, schema: dict[str, Any], wrong: str | None) -> None:
    found = list(problems(value, schema, {"Number": {"type": "integer"}}))
    assert (wrong in found[0]) if wrong else found == []


# -- who may ask -------------------------------------------------------------------------------------------------------


def test_a_token_that_is_missing_or_unknown_is_refused(server: GoogleServer) -> None:
    for given, why in [("", "required"), ("Bearer ya29.old", "authError"), ("Basic QTpC", "authError")]:
        status, answer, headers = ask(server, LABELS, Authorization=given)
        assert (status, reason(answer), answer["error"]["status"]) == (401, why, "UNAUTHENTICATED")
        assert headers["WWW-Authenticate"].startswith('Bearer realm="https://accounts.google.com/"')


def test_a_scope_that_the_method_does_not_name_is_not_enough(server: GoogleServer) -> None:
    token = server.token("https://www.googleapis.com/auth/gmail.send")
    status, answer, headers = ask(server, LABELS, Authorization=f"Bearer {token}")
    assert (status, reason(answer)) == (403, "insufficientPermissions")
    assert answer["error"]["details"][0]["reason"] == "ACCESS_TOKEN_SCOPE_INSUFFICIENT"
    assert 'error="insufficient_scope"' in headers["WWW-Authenticate"]


def test_an_interface_that_the_project_has_not_enabled_says_so(server: GoogleServer) -> None:
    server.disabled.add("gmail")
    status, answer, _ = ask(server, LABELS)
    assert (status, reason(answer)) == (403, "accessNotConfigured")
    assert ask(server, "/calendar/v3/users/me/calendarList")[0] == 200


def test_the_sign_in_lives_on_the_same_server(server: GoogleServer) -> None:
    refresh_token, access_token = server.oauth.grant(["https://www.googleapis.com/auth/gmail.readonly"])
    assert ask(server, LABELS, Authorization=f"Bearer {access_token}")[0] == 200
    server.oauth.revoke(refresh_token)
    assert ask(server, LABELS, Authorization=f"Bearer {access_token}")[0] == 401


def test_the_library_reaches_it_by_its_own_way_of_naming_another_address(server: GoogleServer) -> None:
    from google.oauth2.credentials import Credentials
    from googleapiclient.discovery import build

    for api, version, base in [("gmail", "v1", "/"), ("calendar", "v3", "/calendar/v3/")]:
        options = {"api_endpoint": server.url + base}
        built = build(
            api, version, credentials=Credentials(server.token()), static_discovery=True, client_options=options
        )
        try:
            if api == "gmail":
                assert built.users().getProfile(userId="me").execute()["emailAddress"] == "ada@example.org"
            else:
                assert built.settings().get(setting="timezone").execute()["value"] == "Europe/Berlin"
        finally:
            built.close()


def test_more_addresses_can_be_added(server: GoogleServer) -> None:
    def hello(incoming: Incoming) -> Answer:
        return Answer(200, json.dumps({"to": dict(incoming.query)}).encode())

    server.routes.append(("GET", "/hello", hello))
    assert ask(server, "/hello?name=Ada")[1] == {"to": {"name": "Ada"}}


# -- how it is served --------------------------------------------------------------------------------------------------


def test_one_connection_serves_many_requests(server: GoogleServer) -> None:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=BOUND_S)
    headers = {"Authorization": f"Bearer {server.token()}"}
    try:
        connection.connect()
        first = connection.sock
        for _ in range(50):
            connection.request("GET", LABELS, headers=headers)
            answer = connection.getresponse()
            assert answer.status == 200
            assert json.loads(answer.read())
            assert connection.sock is first
    finally:
        connection.close()


def test_an_answer_is_compressed_for_those_who_ask_for_it_as_google_wants_it_asked(server: GoogleServer) -> None:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=BOUND_S)
    headers = {"Authorization": f"Bearer {server.token()}", "Accept-Encoding": "gzip, deflate"}
    try:
        for agent, encoding in [("tester (gzip)", "gzip"), ("tester", None)]:
            connection.request("GET", LABELS, headers={**headers, "User-Agent": agent})
            answer = connection.getresponse()
            assert answer.headers["Content-Encoding"] == encoding
            body = answer.read()
            assert json.loads(gzip.decompress(body) if encoding else body)["labels"]
    finally:
        connection.close()


def test_the_date_of_an_answer_is_the_clocks_or_off_by_what_is_said(server: GoogleServer) -> None:
    assert ask(server, LABELS)[2]["Date"] == "Mon, 02 Mar 2026 09:00:00 GMT"
    server.date_off_s = -3600.0
    assert ask(server, LABELS)[2]["Date"] == "Mon, 02 Mar 2026 08:00:00 GMT"


def test_what_was_asked_can_be_looked_at(server: GoogleServer, gmail: Any) -> None:
    gmail.users().messages().list(userId="me", q="from:anna", maxResults=7).execute()
    (asked,) = server.requests
    assert isinstance(asked, Asked)
    assert asked.method == LIST
    assert asked.parameters == {"userId": "me", "q": "from:anna", "maxResults": 7, "alt": "json"}
    assert server.count(LIST) == 1
    assert server.count("gmail.users.messages.send") == 0


def test_an_address_that_is_too_long_comes_as_a_form(server: GoogleServer, gmail: Any) -> None:
    mail = server.mailbox.write(subject="found")
    query = " OR ".join(f"subject:nothing{number}" for number in range(300)) + " OR subject:found"
    answer = gmail.users().messages().list(userId="me", q=query).execute()
    assert [found["id"] for found in answer["messages"]] == [mail.id]
    assert server.requests[0].parameters["q"] == query


def test_only_the_fields_that_were_asked_for_are_answered(server: GoogleServer, gmail: Any) -> None:
    mail = server.mailbox.write(subject="Papers")
    messages = gmail.users().messages()
    assert messages.list(userId="me", fields="messages(id)").execute() == {"messages": [{"id": mail.id}]}
    shown = messages.get(userId="me", id=mail.id, fields="id,payload/headers(value),payload/mimeType").execute()
    assert shown.keys() == {"id", "payload"}
    assert shown["payload"].keys() == {"headers", "mimeType"}
    assert {"value": "Papers"} in shown["payload"]["headers"]
    assert messages.list(userId="me", fields="*").execute()["resultSizeEstimate"] == 1


# -- batches -----------------------------------------------------------------------------------------------------------


def batch(built: Any, *requests: Any) -> list[tuple[Any, Any]]:
    """Each request's answer and error, in order."""
    came: dict[str, tuple[Any, Any]] = {}
    carried = built.new_batch_http_request(callback=lambda key, answer, error: came.update({key: (answer, error)}))
    for number, request in enumerate(requests):
        carried.add(request, request_id=str(number))
    carried.execute()
    return [came[str(number)] for number in range(len(requests))]


def test_a_batch_answers_each_part_and_may_fail_singly(server: GoogleServer, gmail: Any) -> None:
    mails = [server.mailbox.write(subject=f"Über {number}") for number in range(3)]
    messages = gmail.users().messages()
    server.faults.script("gmail.users.messages.get", None, None, Status(429, "rateLimitExceeded"))
    answers = batch(
        gmail,
        messages.get(userId="me", id=mails[0].id),
        messages.get(userId="me", id="ffffffffffffffff"),
        messages.get(userId="me", id=mails[1].id),
        messages.modify(userId="me", id=mails[2].id, body={"addLabelIds": ["STARRED"]}),
    )
    assert answers[0][0]["id"] == mails[0].id
    assert [header["value"] for header in answers[0][0]["payload"]["headers"] if header["name"] == "Subject"] == [
        "Über 0"
    ]
    assert answers[1][1].resp["status"] == "404"
    assert answers[2][1].resp["status"] == "429"
    assert answers[3][1] is None
    assert "STARRED" in mails[2].labels
    assert server.batches == 1


def test_the_calendar_has_a_batch_address_of_its_own(server: GoogleServer) -> None:
    with service(server, "calendar") as calendar:
        start, end = ({"dateTime": f"2026-03-02T{hour}:00:00+01:00"} for hour in ("10", "11"))
        events = calendar.events()
        answers = batch(
            calendar,
            *(
                events.insert(calendarId="primary", body={"summary": name, "start": start, "end": end})
                for name in ("a", "b")
            ),
            events.get(calendarId="primary", eventId="nothing"),
        )
    assert [answer["summary"] for answer, _ in answers[:2]] == ["a", "b"]
    assert answers[2][1].resp["status"] == "404"


def test_a_batch_as_a_whole_can_meet_a_fault(server: GoogleServer, gmail: Any) -> None:
    server.faults.script(BATCH, Status(503))
    with pytest.raises(errors.HttpError) as refusal:
        batch(gmail, gmail.users().labels().list(userId="me"))
    assert refusal.value.resp.status == 503


def test_a_batch_has_an_end(server: GoogleServer, gmail: Any) -> None:
    with pytest.raises(errors.HttpError) as refusal:
        batch(gmail, *[gmail.users().labels().list(userId="me") for _ in range(101)])
    assert "more than 100 calls" in str(refusal.value)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "why", "words"),
    [
        (403, "rateLimitExceeded", "PERMISSION_DENIED"),
        (404, "notFound", "NOT_FOUND"),
        (429, "userRateLimitExceeded", "RESOURCE_EXHAUSTED"),
        (500, "backendError", "INTERNAL"),
        (503, "backendError", "UNAVAILABLE"),
    ],
)
def test_a_scripted_error_comes_once_and_has_googles_body(
    server: GoogleServer, status: int, why: str, words: str
) -> None:
    server.faults.script("gmail.users.labels.list", Status(status, why, headers={"Retry-After": "3"}))
    given, answer, headers = ask(server, LABELS)
    assert (given, reason(answer), answer["error"]["status"]) == (status, why, words)
    assert headers["Retry-After"] == "3"
    assert ask(server, LABELS)[0] == 200
    assert server.faults.left == 0


def send(server: GoogleServer) -> tuple[int, dict[str, Any], dict[str, str]]:
    body = {"raw": "VG86IGJvYkBleGFtcGxlLm9yZw0KU3ViamVjdDogSGkNCg0KSGkuDQo="}  # to bob@example.org
    return ask(server, "/gmail/v1/users/me/messages/send", method="POST", body=body)


@pytest.mark.parametrize(("fault", "sent"), [(HangUp(), 0), (HangUp(after=True), 1), (Cut(5), 1)])
def test_a_connection_that_breaks_says_nothing_of_what_was_done(
    server: GoogleServer, fault: HangUp | Cut, sent: int
) -> None:
    server.faults.script("gmail.users.messages.send", fault)
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        send(server)
    assert len(server.mailbox.outbox) == sent
    assert send(server)[0] == 200


def test_an_error_may_come_after_the_effect(server: GoogleServer) -> None:
    server.faults.script("gmail.users.messages.send", Status(503), Status(503, after=True))
    assert send(server)[0] == send(server)[0] == 503
    assert len(server.mailbox.outbox) == 1


def test_an_answer_that_is_late_comes_when_it_is_let_go(server: GoogleServer) -> None:
    late = Late()
    server.faults.script("gmail.users.messages.send", late)
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(send(server)[0]))
    asking.start()
    assert late.done.wait(BOUND_S)
    assert len(server.mailbox.outbox) == 1
    assert ask(server, LABELS)[0] == 200  # nobody else waits
    assert answers == []
    late.release.set()
    asking.join(BOUND_S)
    assert answers == [200]


def test_an_answer_that_is_never_let_go_does_not_outlive_the_server(clock: VirtualClock) -> None:
    late = Late()
    with served_google(clock=clock) as server:
        server.faults.script(ANY, late)
        with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), BOUND_S) as line:
            line.sendall(f"GET {LABELS} HTTP/1.1\r\nAuthorization: Bearer {server.token()}\r\n\r\n".encode())
            assert late.done.wait(BOUND_S)
    assert late.release.is_set()


def test_an_answer_may_be_something_else_altogether(server: GoogleServer, gmail: Any) -> None:
    server.faults.script(ANY, Garbage())
    assert "Welcome to the hotel" in gmail.users().labels().list(userId="me").execute()


def test_a_fault_of_any_method_waits_for_whichever_comes(server: GoogleServer) -> None:
    server.faults.script(ANY, Status(500))
    server.faults.script("gmail.users.labels.list", Status(503))
    assert ask(server, LABELS)[0] == 503
    assert ask(server, "/calendar/v3/users/me/calendarList")[0] == 500
    assert ask(server, LABELS)[0] == 200
