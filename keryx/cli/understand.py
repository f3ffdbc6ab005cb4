"""`keryx understand`: what the rules make of a sentence, without a daemon."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from keryx.voice.dialogue.base import DialogueContext, Understanding

MAX_CONTEXT_BYTES = 10_000_000


def command(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The sentence; - reads it from standard input.")],
    context: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Projects, agents, tasks, focus and pending, as JSON."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Print what Keryx makes of a sentence."""
    understand(text, context, as_json=json)


def understand(text: str, context_file: Path | None, as_json: bool) -> None:
    """Print which tool or intent `text` comes to, with its arguments and how certain that is (0…1).

    Raises `typer.BadParameter`, one line, when `context_file` cannot be read as a context.
    """
    from keryx.voice.dialogue.intents import understand as understood_as

    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    understood = understood_as(text, _context(context_file))
    print(json.dumps(_shown(understood)) if as_json else _line(understood))


def _context(file: Path | None) -> "DialogueContext":
    from pydantic import BaseModel, Field, ValidationError

    from keryx.tasks.models import TaskStatus
    from keryx.voice.dialogue.base import DialogueContext, TaskBrief

    class TaskRow(BaseModel):
        id: int
        status: TaskStatus
        project: str | None = None
        description: str = ""
        mode: str = "auto"

    class ContextFile(BaseModel):
        projects: list[str] = Field(default_factory=list)
        agents: list[str] = Field(default_factory=list)
        tasks: list[TaskRow] = Field(default_factory=list)
        focus: int | None = None
        pending: str | None = None
        question: str = ""

    if file is None:
        return DialogueContext()
    try:
        content = file.read_bytes()
        if len(content) > MAX_CONTEXT_BYTES:
            raise typer.BadParameter(f"the context file {file} is larger than {MAX_CONTEXT_BYTES // 1_000_000} MB")
        read = ContextFile.model_validate_json(content)
    except OSError as error:
        raise typer.BadParameter(f"cannot read the context file {file}: {error.strerror}") from error
    except ValidationError as error:
        fault = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in fault["loc"]) or "the file as a whole"
        raise typer.BadParameter(f"the context file {file} is wrong at {place}: {fault['msg']}") from error
    tasks = [TaskBrief(row.id, row.status, row.project, row.description, row.mode) for row in read.tasks]
    return DialogueContext(read.projects, read.agents, tasks, read.focus, read.pending, read.question)


def _shown(understood: "Understanding") -> dict[str, object]:
    route = {"tool": understood.tool} if understood.tool else {"intent": understood.intent}
    return {**route, "arguments": understood.arguments, "confidence": understood.confidence}


def _line(understood: "Understanding") -> str:
    arguments = " ".join(f"{name}={json.dumps(value)}" for name, value in understood.arguments.items())
    return f"{understood.tool or understood.intent} {arguments}".rstrip() + f" ({understood.confidence:.0%})"
