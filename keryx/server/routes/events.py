"""What changes, as it changes."""

from fastapi import APIRouter, Depends, Request

from keryx.server.access import house, require_key
from keryx.server.stream import EventStream
from keryx.server.wire import Problem

router = APIRouter(tags=["events"], dependencies=[Depends(require_key)], responses={401: {"model": Problem}})


@router.get("/api/events", status_code=200, response_class=EventStream)
async def events(request: Request) -> EventStream:
    """Server-sent events: first a `snapshot` (tasks, untold news, voice), then `task`, `progress`, `news`, `told` and
    `voice` as they happen, each with the JSON shown above as its data. A comment line every 15 seconds keeps the
    connection open.
    """
    state = request.app.state
    return EventStream(house(request), state.clock, state.stopping)
