"""`keryx understand`: the shape of what it prints, and what bad input gets."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from keryx.cli.understand import command, understand

CONTEXT = {
    "projects": ["billing", "website"],
    "agents": ["claude", "codex"],
    "tasks": [
        {"id": 4, "status": "running", "project": None, "description": "the parser rewrite"},
        {"id": 6, "status": "running", "project": "billing", "description": "fix the invoice test"},
    ],
    "focus": 6,
    "pending": None,
}


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(command)
    return app


@pytest.fixture
def context(tmp_path: Path) -> Path:
    file = tmp_path / "context.json"
    file.write_text(json.dumps(CONTEXT))
    return file


def run(app: typer.Typer, *arguments: object, typed: bytes = b""):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=typed)


def test_a_tool_is_printed_with_its_arguments_and_confidence(app: typer.Typer, context: Path) -> None:
    ran = run(app, "Cancel task four.", "--context", context, "--json")

    assert ran.exit_code == 0
    printed = json.loads(ran.stdout)
    assert set(printed) == {"tool", "arguments", "confidence"}
    assert (printed["tool"], printed["arguments"]) == ("cancel_task", {"task_id": 4})
    assert 0 < printed["confidence"] <= 1


def test_an_intent_is_printed_under_its_own_name(app: typer.Typer, context: Path) -> None:
    context.write_text(json.dumps({**CONTEXT, "pending": "cancel 4"}))

    printed = json.loads(run(app, "okay, wait, don't", "--context", context, "--json").stdout)

    assert set(printed) == {"intent", "arguments", "confidence"}
    assert printed["intent"] == "deny"


def test_only_the_fixed_argument_names_are_printed(app: typer.Typer, context: Path) -> None:
    text = "In the building project, use codecs to fix the tests and call me back when it's done"

    printed = json.loads(run(app, text, "--context", context, "--json").stdout)

    assert printed["arguments"] == {"description": "fix the tests", "project": "billing", "agent": "codex"}


def test_a_plan_in_the_context_can_be_let_go(app: typer.Typer, tmp_path: Path) -> None:
    file = tmp_path / "context.json"
    plan = {"id": 4, "status": "done", "mode": "plan", "description": "move to Postgres"}
    asked = {"pending": "answer 4", "question": "Shall I carry it out?"}
    file.write_text(json.dumps({"agents": ["claude"], "tasks": [plan], **asked}))

    printed = json.loads(run(app, "yes", "--context", file, "--json").stdout)

    assert printed["tool"] == "send_followup"
    assert printed["arguments"] == {"task_id": 4, "text": "yes", "mode": "auto"}


def test_a_dash_reads_standard_input_however_it_is_encoded(app: typer.Typer) -> None:
    printed = json.loads(run(app, "-", "--json", typed=b"fix the caf\xe9 page").stdout)

    assert printed["tool"] == "dispatch_task"


def test_without_json_it_is_one_line(app: typer.Typer, context: Path) -> None:
    assert run(app, "stop the third one", "--context", context).stdout.count("\n") == 1
    assert run(app, "Cancel task four.", "--context", context).stdout == "cancel_task task_id=4 (97%)\n"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"tasks": [{"id": "x"}]}',
        '{"tasks": [{"id": 1, "status": "asleep"}]}',
        '{"projects": "billing"}',
    ],
)
def test_a_bad_context_file_is_one_clear_line_and_exit_code_2(app: typer.Typer, tmp_path: Path, content: str) -> None:
    file = tmp_path / "context.json"
    file.write_text(content)

    ran = run(app, "hello", "--context", file, "--json")

    assert ran.exit_code == 2
    assert ran.stdout == ""
    assert "context" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_missing_context_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="No such file"):
        understand("hello", tmp_path / "none.json", as_json=True)


def test_a_question_about_mail_shows_the_tool_and_what_it_is_asked(app: typer.Typer) -> None:
    assert run(app, "any mail from Anna today?").stdout == 'check_mail sender="Anna" when="today" (90%)\n'
    assert run(app, "when am I free tomorrow for an hour?").stdout == (
        'check_calendar when="tomorrow" free_minutes=60 (90%)\n'
    )
