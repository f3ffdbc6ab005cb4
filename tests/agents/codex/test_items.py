"""What is made of Codex's messages, without Codex."""

from pathlib import Path
from typing import Any

import pytest

from keryx.agents.codex.items import TRYING_AGAIN, Items, Meter, failed, title_of, unwrapped
from keryx.agents.codex.steers import Owed, Steers
from keryx.agents.codex.wire import Item, Notification, TurnError, parsed
from keryx.agents.events import (
    AgentEvent,
    Alive,
    Failure,
    FileEdit,
    Notice,
    Question,
    Text,
    TokenUsage,
    ToolCall,
    ToolEnd,
)
from keryx.agents.titles import short_path

INSIDE = Path("/home/ada/projects/parser")


def note(**fields: Any) -> Notification:
    found = parsed(Notification, {"threadId": "t", "turnId": "u", **fields})
    assert found is not None
    return found


def item(kind: str, **fields: Any) -> Item:
    return Item.model_validate({"type": kind, "id": "1", **fields})


def says(items: Items, text: str, phase: str | None = None, **more: Any) -> list[AgentEvent]:
    message = {"type": "agentMessage", "id": text, "text": text, "phase": phase, **more}
    return items.read("item/completed", note(item=message))


@pytest.mark.parametrize(
    ("what", "title"),
    [
        (item("commandExecution", command="/bin/bash -lc 'pytest -q'"), "Running pytest -q"),
        (item("commandExecution", command=f"/bin/bash -lc 'cat {INSIDE}/a/b.py'"), "Running cat a/b.py"),
        (item("commandExecution", command="/bin/zsh -lc 'ls /usr/local/lib/x'"), "Running ls x"),
        (item("commandExecution", command=f"sh -c 'cd {INSIDE} && make'"), "Running cd . && make"),
        (item("commandExecution", command="make\nmake  install"), "Running make make install"),
        (
            item("commandExecution", command="x", commandActions=[{"type": "read", "name": "/etc/hosts", "path": ""}]),
            "Reading hosts",
        ),
        (
            item("commandExecution", command="x", commandActions=[{"type": "search", "query": "tax", "path": "a"}]),
            "Searching for tax",
        ),
        (item("commandExecution", command="x", commandActions=[{"type": "listFiles"}]), "Looking through the files"),
        (item("mcpToolCall", server="mail", tool="send"), "Using send from mail"),
        (item("webSearch", query="leap years"), "Searching the web for leap years"),
        (item("webSearch"), "Searching the web"),
        (item("agentMessage"), None),
        (item("reasoning"), None),
        (item("a kind of tomorrow"), None),
    ],
)
def test_what_it_does_is_told_in_plain_words(what: Item, title: str | None):
    assert title_of(what, INSIDE, {}) == title


def test_a_long_command_is_cut():
    title = title_of(item("commandExecution", command="echo " + "x" * 5000), INSIDE, {})
    assert title is not None
    assert len(title) <= 120
    assert title.endswith("…")


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("/bin/bash -lc 'a b'", "a b"),
        ("bash -c ls", "ls"),
        ("python3 -c 'x'", "python3 -c 'x'"),
        ("it isn't closed", "it isn't closed"),
    ],
)
def test_the_shell_around_a_command_is_taken_off(command: str, line: str):
    assert unwrapped(command) == line


@pytest.mark.parametrize(
    ("path", "short"),
    [(f"{INSIDE}/a/b c.py", "a/b c.py"), ("/etc/passwd", "passwd"), ("a/b.py", "a/b.py"), (str(INSIDE), ".")],
)
def test_a_path_is_seen_from_the_task(path: str, short: str):
    assert short_path(path, INSIDE) == short


def test_a_tool_runs_from_its_beginning_to_its_end():
    items = Items(INSIDE, {})
    command = {"type": "commandExecution", "id": "7", "command": "make", "status": "inProgress"}
    assert items.read("item/started", note(item=command)) == [ToolCall("7", "Running make")]
    assert items.running == {"7"}
    assert items.read("item/completed", note(item={**command, "status": "failed"})) == [ToolEnd("7")]
    assert not items.running


def test_a_change_is_told_when_it_was_made_and_only_then():
    items = Items(INSIDE, {})
    changes = [
        {"path": f"{INSIDE}/new.py", "kind": {"type": "add"}, "diff": "x"},
        {"path": f"{INSIDE}/old.py", "kind": {"type": "delete"}, "diff": "x"},
        {"path": f"{INSIDE}/a.py", "kind": {"type": "update", "move_path": None}, "diff": "x"},
    ]
    change = {"type": "fileChange", "id": "7", "changes": changes, "status": "inProgress"}
    assert items.read("item/started", note(item=change)) == [Alive()]
    assert items.read("item/completed", note(item={**change, "status": "declined"})) == [Alive()]
    made = items.read("item/completed", note(item={**change, "status": "completed"}))
    assert made == [FileEdit("new.py", "added"), FileEdit("old.py", "deleted"), FileEdit("a.py", "edited")]


def test_the_final_answer_is_the_one_that_is_called_so_whatever_comes_after():
    items = Items(INSIDE, {})
    assert says(items, "I begin.", "commentary") == [Text("I begin.")]
    says(items, "Done.", "final_answer")
    says(items, "By the way.", "commentary")
    assert items.final == "Done."


def test_without_one_that_is_called_so_it_is_the_last():
    items = Items(INSIDE, {})
    says(items, "One.")
    says(items, "Two.")
    assert items.final == "Two."


def test_a_question_that_comes_as_a_final_answer_is_a_question_and_no_answer():
    items = Items(INSIDE, {})
    says(items, "Done.", "final_answer")
    questions = [{"title": "Which database?", "options": ["sqlite", "postgres"]}, {"title": "And when?"}]
    asked = says(items, "Which database? And when?", "final_answer", questions=questions)
    assert asked == [Question("Which database?", ("sqlite", "postgres")), Question("And when?")]
    assert items.final == "Done."


def test_each_turn_has_a_final_answer_of_its_own():
    items = Items(INSIDE, {})
    says(items, "One.", "final_answer")
    items.read("turn/started", note(turn={"id": "2", "status": "inProgress"}))
    says(items, "Two.", "commentary")
    assert items.final == "Two."


def test_trying_again_is_told():
    error = {"message": "Reconnecting... 1/5", "codexErrorInfo": {"responseStreamDisconnected": {}}}
    assert Items(INSIDE, {}).read("error", note(error=error, willRetry=True)) == [Notice(TRYING_AGAIN)]


@pytest.mark.parametrize("method", ["turn/plan/updated", "item/agentMessage/delta", "something/of/tomorrow"])
def test_anything_else_is_a_sign_of_life(method: str):
    assert Items(INSIDE, {}).read(method, note()) == [Alive()]


@pytest.mark.parametrize("message", [None, 3, {"item": "?"}, {"turn": {}}, {"tokenUsage": {"total": 1}}])
def test_what_cannot_be_read_is_none(message: object):
    assert parsed(Notification, message) is None


@pytest.mark.parametrize(
    ("info", "message", "failure"),
    [
        ("contextWindowExceeded", "too much", Failure.TOO_LONG),
        ("usageLimitExceeded", "limit", Failure.QUOTA),
        ("serverOverloaded", "busy", Failure.OVERLOADED),
        ("unauthorized", "who?", Failure.NOT_SIGNED_IN),
        ("sessionBudgetExceeded", "spent", Failure.LIMIT),
        ("a kind of tomorrow", "hm", Failure.OTHER),
        (None, "hm", Failure.OTHER),
        ({"httpConnectionFailed": {"httpStatusCode": None}}, "no route", Failure.UNREACHABLE),
        ({"httpConnectionFailed": {"httpStatusCode": 401}}, "no", Failure.NOT_SIGNED_IN),
        ({"responseStreamDisconnected": {"httpStatusCode": 502}}, "no", Failure.OVERLOADED),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, "no", Failure.OVERLOADED),
        ({"httpConnectionFailed": {"httpStatusCode": 404}}, "The model `x` does not exist", Failure.NO_SUCH_MODEL),
        ({"httpConnectionFailed": {"httpStatusCode": 404}}, "nothing here", Failure.OTHER),
        ({"httpConnectionFailed": "?"}, "hm", Failure.UNREACHABLE),
        ({}, "hm", Failure.OTHER),
    ],
)
def test_every_kind_of_error_has_its_kind_of_failure(info: Any, message: str, failure: Failure):
    done = failed(TurnError(message=message, codex_error_info=info))
    assert (done.ok, done.failure, done.error) == (False, failure, message)


def test_when_the_limit_resets_is_told_as_the_provider_words_it_and_no_address_is_read_out():
    message = "You've hit your usage limit. Visit https://chatgpt.com/settings or try again at Dec 1st, 2026 1:51 AM."
    done = failed(TurnError(message=message, codex_error_info="usageLimitExceeded"))
    assert done.resets == "Dec 1st, 2026 1:51 AM"
    assert "http" not in (done.error or "")


def test_a_turn_that_failed_without_an_error_says_so():
    assert failed(None).failure is Failure.OTHER
    assert failed(TurnError()).error


def usage(total: int, last: int) -> Notification:
    tokens = [{"inputTokens": n, "cachedInputTokens": n // 2, "outputTokens": n // 10} for n in (total, last)]
    return note(tokenUsage={"total": tokens[0], "last": tokens[1]})


def test_tokens_are_those_of_the_run_whatever_the_thread_had_before():
    meter = Meter()
    meter.read(usage(1000, 400), running=False)
    meter.begin()
    assert meter.usage is None
    meter.read(usage(1100, 100), running=True)
    meter.read(usage(1100, 100), running=True)
    meter.read(usage(1300, 200), running=True)
    assert meter.usage == TokenUsage(300, 30, 150)
    meter.begin()
    meter.read(usage(1310, 10), running=True)
    assert meter.usage == TokenUsage(10, 1, 5)


def test_tokens_of_a_thread_whose_past_was_never_told_are_those_of_its_newest_request():
    meter = Meter()
    meter.begin()
    meter.read(usage(1000, 100), running=True)
    assert meter.usage == TokenUsage(100, 10, 50)


def steered(*, accepted: bool = True) -> Steers:
    steers = Steers()
    steers.sent("s", "also this")
    assert steers.in_flight
    if accepted:
        steers.accepted("s")
        steers.promise("s")
        assert not steers.in_flight
    return steers


def test_a_steer_that_the_model_heard_before_it_answered_is_owed_nothing():
    steers = steered()
    steers.taken("s")
    steers.model_began("m")
    steers.model_said("m")
    assert steers.owed() is None
    assert steers.undelivered() == ()


def test_a_steer_that_came_while_the_model_was_speaking_is_owed_an_answer():
    steers = steered()
    steers.model_began("m")
    steers.taken("s")
    steers.model_said("m")
    assert steers.owed() == Owed(())
    assert steers.owed() is None, "owed twice"


def test_a_steer_that_was_accepted_and_never_taken_is_owed_with_its_words():
    steers = steered()
    assert steers.owed() == Owed(("also this",))
    assert steers.undelivered() == ("also this",)
    steers.sent_again("turn")
    steers.taken("turn")
    assert steers.owed() is None
    assert steers.undelivered() == ()


def test_a_steer_that_was_refused_is_forgotten():
    steers = steered(accepted=False)
    steers.forget("s")
    steers.taken("s")
    assert not steers.in_flight
    assert steers.owed() is None
    assert steers.undelivered() == ()


def test_a_steer_nobody_was_told_is_taken_in_is_not_delivered_later():
    steers = steered(accepted=False)
    steers.accepted("s")
    assert steers.undelivered() == ()
    assert not steers.is_taken("s")
