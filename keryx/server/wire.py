"""What travels over HTTP: bodies as they come in, tasks and news as they go out, secrets removed on the way."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from keryx.security.redact import redact
from keryx.tasks.models import News, NewsKind, ProgressLine, Task, TaskStatus
from keryx.tasks.requests import MAX_REQUEST_CHARS

WrittenText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_REQUEST_CHARS)]
ShortName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewTask(Body):
    """Work to hand over."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"description": "Fix the failing invoice test.", "project": "billing"}}
    )

    description: WrittenText = Field(description="What you want done, in your own words.")
    project: ShortName | None = Field(None, description="The project it is about, if any.")
    agent: ShortName | None = Field(None, description="Which agent; the default one otherwise.")
    mode: ShortName | None = Field(None, description="How freely the agent may act: plan, ask, auto or full.")
    model: ShortName | None = Field(None, description="The agent's model, by the agent's own name for it.")


class FollowUpText(Body):
    """Something to add to a task."""

    model_config = ConfigDict(json_schema_extra={"example": {"text": "It must handle leap years too."}})

    text: WrittenText = Field(description="What to add, in your own words.")
    mode: ShortName | None = Field(
        None, description="The mode the task runs in from its next turn on, such as auto after a plan."
    )


class Tokens(BaseModel):
    """What the task's turns used so far. `input` counts the cached ones too."""

    input: int | None
    output: int | None
    cached: int | None


class TaskOut(BaseModel):
    """A task as it stands. Times are UTC; what is not known is null, which is not zero."""

    id: int
    status: TaskStatus
    description: str
    project: str | None
    agent: str
    model: str | None
    mode: str
    summary: str | None = Field(description="What is said of the last turn.")
    error: str | None
    progress: str | None = Field(description="The last line the agent reported.")
    tokens: Tokens | None
    cost_usd: float | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    told_at: datetime | None = Field(description="When the newest result was heard; null while it was not.")


class ProgressOut(BaseModel):
    """One line an agent reported."""

    task_id: int
    offset: int
    text: str
    at: datetime


class TaskDetail(TaskOut):
    """A task with everything there is to read about it."""

    progress_lines: list[ProgressOut]
    report: str | None = Field(description="The agent's report as markdown.")
    report_html: str | None = Field(description="The same report as safe HTML.")


class FollowUpOut(BaseModel):
    """Where a follow-up went."""

    task: TaskOut
    how: str = Field(
        description="`steered`: the running agent has it. `next`: it comes next. `taken up`: the ended task runs again."
    )
    refused: bool = Field(description="With `next`: the agent is at work and takes nothing in just now.")


class NewsOut(BaseModel):
    """Something to be heard."""

    id: int
    task_id: int
    kind: NewsKind
    text: str
    created_at: datetime
    told_at: datetime | None


class VoiceOut(BaseModel):
    """Whether Keryx can hear and speak."""

    state: str = Field(description="`loading`, `ready` or `typing only`.")
    percent: int
    message: str


class Health(BaseModel):
    """Whether the daemon is well, for anybody who asks."""

    status: str
    voice: str
    calls: int
    version: str


class Problem(BaseModel):
    """What went wrong, as one sentence."""

    error: str


class Snapshot(BaseModel):
    """Everything the page shows, at one moment."""

    tasks: list[TaskOut]
    untold: list[NewsOut]
    voice: VoiceOut
    version: str


def task_out(task: Task) -> TaskOut:
    """`task` for the wire."""
    tokens = Tokens(input=task.input_tokens, output=task.output_tokens, cached=task.cached_input_tokens)
    nothing_known = tokens == Tokens(input=None, output=None, cached=None)
    return TaskOut(
        id=task.id,
        status=task.status,
        description=redact(task.description),
        project=task.project,
        agent=task.agent,
        model=task.model,
        mode=task.mode,
        summary=_redacted(task.summary),
        error=_redacted(task.error),
        progress=_redacted(task.progress),
        tokens=None if nothing_known else tokens,
        cost_usd=task.cost_usd,
        created_at=task.created_at,
        started_at=task.started_at,
        finished_at=task.finished_at,
        told_at=task.told_at,
    )


def progress_out(line: ProgressLine) -> ProgressOut:
    """One progress line for the wire."""
    return ProgressOut(task_id=line.task_id, offset=line.offset, text=redact(line.text), at=line.at)


def news_out(news: News) -> NewsOut:
    """Something to be heard, for the wire."""
    return NewsOut(
        id=news.id,
        task_id=news.task_id,
        kind=news.kind,
        text=redact(news.text),
        created_at=news.created_at,
        told_at=news.told_at,
    )


def _redacted(text: str | None) -> str | None:
    return None if text is None else redact(text)
