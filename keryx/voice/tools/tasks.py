"""Tools about tasks: start one, tell it more, ask after it, hear its result, cancel it, be called about it."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from keryx.tasks.manager import TaskManager
from keryx.tasks.models import Task, TaskStatus
from keryx.tasks.requests import MAX_REQUEST_CHARS
from keryx.voice.tools.base import Arguments, TaskId, Tool, ToolResult
from keryx.voice.tools.projects import known_project

MAX_LISTED = 50
"""A list holds the newest so many; the counts cover the same ones."""

_Text = Annotated[str, Field(min_length=1, max_length=MAX_REQUEST_CHARS)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Mode = Literal["plan", "ask", "auto", "full"]
_FULL = (
    'Full only after you asked "Full mode lets it do anything on your machine without asking. Shall I?" and heard yes.'
)


class Dispatch(Arguments):
    description: Annotated[_Text, Field(description="The work, in the caller's own words.")]
    project: Annotated[_Name | None, Field(description="A configured project; leave out when none was named.")] = None
    agent: Annotated[_Name | None, Field(description="An installed agent; leave out for the usual one.")] = None
    model: Annotated[
        _Name | None, Field(description="A model of that agent, when the caller asked for one; it picks the agent.")
    ] = None
    mode: Annotated[
        _Mode | None,
        Field(
            description="How freely it works, when the caller said: plan changes nothing, ask asks before each effect, "
            f"auto is the usual one. {_FULL}"
        ),
    ] = None


class FollowUpTask(Arguments):
    task_id: TaskId
    text: Annotated[_Text, Field(description="What to tell the agent, in the caller's own words.")]
    mode: Annotated[
        _Mode | None,
        Field(
            description="A mode for the task from now on: auto when the caller plainly lets a plan be carried out "
            f'("go ahead"), or the one they name; else leave it out. {_FULL}'
        ),
    ] = None


class ListTasks(Arguments):
    status: Annotated[
        Literal["queued", "running", "done", "failed", "cancelled"] | None, Field(description="Only these; else all.")
    ] = None


class OneTask(Arguments):
    task_id: TaskId


class CallBack(Arguments):
    task_id: Annotated[TaskId | None, Field(description="The task to call about; else the newest unfinished.")] = None


def task_tools(manager: TaskManager, projects: Sequence[str], call_id: str) -> list[Tool]:
    """The task tools of the call `call_id`."""

    async def dispatch(arguments: Dispatch, request: str) -> ToolResult:
        project = known_project(arguments.project, projects)
        task = await manager.dispatch(
            arguments.description,
            project=project,
            agent=arguments.agent,
            model=arguments.model,
            mode=arguments.mode,
            request_id=f"{call_id}:{request}",
        )
        shown = ("task_id", "status", "project", "agent", "model", "mode")
        told = {name: value for name, value in described(task).items() if name in shown}
        return ToolResult(True, told | {"behind": await _behind(manager, task)})

    async def follow_up(arguments: FollowUpTask, request: str) -> ToolResult:
        done = await manager.follow_up(
            arguments.task_id, arguments.text, mode=arguments.mode, request_id=f"{call_id}:{request}"
        )
        receipt = {"how": done.how.value, "refused": done.refused, "mode": done.new_mode}
        return ToolResult(True, {"task_id": done.task.id, "agent": done.task.agent, **receipt})

    async def list_tasks(arguments: ListTasks, request: str) -> ToolResult:
        statuses = None if arguments.status is None else [TaskStatus(arguments.status)]
        tasks = await manager.list(statuses=statuses, limit=MAX_LISTED)
        counts = {status.value: sum(task.status is status for task in tasks) for status in TaskStatus}
        kept = {status: count for status, count in counts.items() if count}
        return ToolResult(True, {"count": len(tasks), "counts": kept, "tasks": [described(task) for task in tasks]})

    async def status(arguments: OneTask, request: str) -> ToolResult:
        return ToolResult(True, described(await manager.status(arguments.task_id)))

    async def result(arguments: OneTask, request: str) -> ToolResult:
        task = await manager.status(arguments.task_id)
        news = await manager.latest_news(arguments.task_id)
        told = {"kind": news.kind.value, "news_id": news.id, "text": news.text} if news else {"text": task.summary}
        return ToolResult(True, described(task) | told)

    async def cancel(arguments: OneTask, request: str) -> ToolResult:
        return ToolResult(True, described(await manager.cancel(arguments.task_id)))

    async def call_back(arguments: CallBack, request: str) -> ToolResult:
        task = await manager.request_callback(arguments.task_id)
        # Nothing can ring anybody yet; the wish is kept for when something can.
        return ToolResult(True, {"task_id": task.id if task else None, "will_ring": False})

    return [
        Tool("dispatch_task", "Give work to a coding agent as a new task.", Dispatch, dispatch, needs_proof=True),
        Tool("send_followup", "Tell the agent of a task something more.", FollowUpTask, follow_up, needs_proof=True),
        Tool("list_tasks", "The newest tasks and how many stand where.", ListTasks, list_tasks),
        Tool("get_task_status", "How one task stands.", OneTask, status),
        Tool("get_task_result", "What came of one task.", OneTask, result),
        Tool(
            "cancel_task", "End a task. Read it back and hear a yes before you do.", OneTask, cancel, needs_proof=True
        ),
        Tool(
            "request_callback",
            "Note that the caller wants a call when a task has news. Nobody can be rung yet: say so.",
            CallBack,
            call_back,
            needs_proof=True,
        ),
    ]


async def _behind(manager: TaskManager, task: Task) -> int | None:
    """The unfinished task that `task` has to wait for, because both are about the same project."""
    if task.project is None:
        return None
    unfinished = await manager.list(statuses=[TaskStatus.RUNNING, TaskStatus.QUEUED], limit=MAX_LISTED)
    return max((each.id for each in unfinished if each.project == task.project and each.id < task.id), default=None)


def described(task: Task) -> dict[str, Any]:
    """A task as a tool's answer shows it; times are ISO 8601 in UTC."""
    times = {"created_at": task.created_at, "started_at": task.started_at, "finished_at": task.finished_at}
    return {
        "task_id": task.id,
        "status": task.status.value,
        "description": task.description,
        "project": task.project,
        "agent": task.agent,
        "model": task.model,
        "mode": task.mode,
        "progress": task.progress,
        "summary": task.summary,
        "error": task.error,
        **{name: moment.isoformat() if moment else None for name, moment in times.items()},
    }
