"""Tasks for scripts and for the page: hand over, look, add to, cancel."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request

from keryx.errors import NotFound, Refused
from keryx.server.access import house, require_key
from keryx.server.report import report_html, report_text
from keryx.server.wire import (
    FollowUpOut,
    FollowUpText,
    NewTask,
    Problem,
    TaskDetail,
    TaskOut,
    progress_out,
    task_out,
)
from keryx.tasks.models import TaskStatus
from keryx.tasks.projects import known_project

MAX_LISTED = 500
MAX_TASK_NUMBER = 2**63 - 1
"""What the store can hold as a number; a larger one is nobody's task."""


def _problems(*statuses: int) -> dict[int | str, dict]:
    return {status: {"model": Problem} for status in (401, 422, *statuses)}


router = APIRouter(prefix="/api/tasks", tags=["tasks"], dependencies=[Depends(require_key)], responses=_problems())

RequestId = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Your own name for this request. Sent again with the same one, it is done once.",
    ),
]


class Unacceptable(Refused):
    """Refused because of what was sent, not because of how things stand."""


@router.post("", status_code=201, responses=_problems(404, 413, 429))
async def hand_over(request: Request, new: NewTask, request_id: RequestId = None) -> TaskOut:
    """Hand work over. An agent starts on it as soon as one is free."""
    keryx = house(request)
    try:
        task = await keryx.manager.dispatch(
            new.description,
            project=known_project(new.project, await asyncio.to_thread(keryx.projects)),
            agent=new.agent,
            model=new.model,
            mode=new.mode,
            request_id=request_id,
        )
    except NotFound:
        raise
    except Refused as error:
        raise Unacceptable(str(error), spoken=error.spoken) from error
    return task_out(task)


@router.get("")
async def list_tasks(
    request: Request,
    status: Annotated[list[TaskStatus] | None, Query(description="Only tasks in this state; may be repeated.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
) -> list[TaskOut]:
    """Tasks, the newest first."""
    return [task_out(task) for task in await house(request).manager.list(statuses=status, limit=limit)]


@router.get("/{number}", responses=_problems(404))
async def show(request: Request, number: int) -> TaskDetail:
    """One task with its progress, its report, its tokens and its cost."""
    manager = house(request).manager
    task = await manager.status(_known(number))
    report = await manager.report(number)
    return TaskDetail(
        **task_out(task).model_dump(),
        progress_lines=[progress_out(line) for line in await manager.progress(number)],
        report=None if report is None else report_text(report),
        report_html=None if report is None else report_html(report),
    )


@router.post("/{number}/follow-up", responses=_problems(404, 409, 413))
async def follow_up(request: Request, number: int, addition: FollowUpText, request_id: RequestId = None) -> FollowUpOut:
    """Add something to a task: given to the running agent, kept as its next turn, or the task is taken up again."""
    manager = house(request).manager
    done = await manager.follow_up(_known(number), addition.text, mode=addition.mode, request_id=request_id)
    return FollowUpOut(task=task_out(done.task), how=done.how, refused=done.refused)


@router.post("/{number}/cancel", responses=_problems(404, 409))
async def cancel(request: Request, number: int) -> TaskOut:
    """Stop a task that has not ended. A cancelled task is never announced."""
    return task_out(await house(request).manager.cancel(_known(number)))


def _known(number: int) -> int:
    if not 0 < number <= MAX_TASK_NUMBER:
        raise NotFound(f"There is no task {number}. `keryx tasks list` shows those there are.")
    return number
