"""The daemon's HTTP side put together: routes, what guards them, and errors as sentences."""

import asyncio
import logging
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from keryx.clock import Clock, SystemClock
from keryx.errors import BudgetSpent, KeryxError, NotFound, Refused, Unavailable
from keryx.security.redact import redact
from keryx.server.door import Door
from keryx.server.guards import BodyLimit, BrowserRules, HostGuard, Served
from keryx.server.routes import events, health, page, talk, tasks, twilio

if TYPE_CHECKING:
    from keryx.app import Keryx

log = logging.getLogger(__name__)

ABOUT = (
    "Hand work to a coding agent, see what comes of it, and hear it. Every `/api` address wants the page's key as a "
    "bearer token; a problem comes back as one sentence under `error`."
)
BROKEN = "Something went wrong on my side. The daemon's log says what."

_STATUS_OF: tuple[tuple[type[KeryxError], int], ...] = (
    (NotFound, 404),
    (tasks.Unacceptable, 422),
    (Refused, 409),
    (BudgetSpent, 429),
    (Unavailable, 503),
)


def create_app(keryx: "Keryx", *, clock: Clock | None = None) -> FastAPI:
    """Everything that `keryx serve` answers over HTTP and WebSocket, for one open house.

    `app.state.stopping` is set when the daemon stops, so that streams end before the sockets are closed.
    """
    # redirect_slashes off: a redirect would be built from the Host header.
    app = FastAPI(
        title="Keryx", version=keryx.version, description=ABOUT, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    server = keryx.settings.server
    app.state.keryx = keryx
    app.state.clock = clock or SystemClock()
    app.state.stopping = asyncio.Event()
    app.state.door = Door()
    app.state.served = Served.at(server.host, server.public_url)
    for part in (page, health, tasks, events, talk, twilio):
        app.include_router(part.router)
    app.mount("/static", page.PageFiles())
    app.add_exception_handler(KeryxError, _keryx_error)
    app.add_exception_handler(RequestValidationError, _wrong_body)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _broken)
    app.add_middleware(BodyLimit)
    app.add_middleware(HostGuard, served=app.state.served)
    app.add_middleware(BrowserRules)
    return app


def _problem(status: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": redact(sentence)}, status_code=status, headers=headers)


async def _keryx_error(_request: Request, error: Exception) -> JSONResponse:
    status = next((status for kind, status in _STATUS_OF if isinstance(error, kind)), 500)
    return _problem(status, str(error))


async def _wrong_body(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _problem(422, " ".join(_sentence(fault) for fault in error.errors()[:3]))


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    match error.status_code:
        case 404 if error.detail == "Not Found":
            sentence = "There is nothing at this address. The page is at /, what scripts can do is at /docs."
        case 400 if error.detail == "There was an error parsing the body":
            sentence = "The body is not valid JSON."
        case 405:
            sentence = f"This address does not take {request.method}. /docs says what it takes."
        case _:
            sentence = str(error.detail)
    return _problem(error.status_code, sentence, dict(error.headers or {}))


async def _broken(request: Request, error: Exception) -> JSONResponse:
    log.error("a route failed", extra={"path": request.url.path, "kind": type(error).__name__})
    return _problem(500, BROKEN)


def _sentence(fault: dict) -> str:
    """One pydantic complaint as a sentence; what was sent is not repeated."""
    place = " ".join(str(part) for part in fault["loc"] if part not in ("body", "query", "path", "header"))
    match fault["type"]:
        case "json_invalid":
            return "The body is not valid JSON."
        case "missing" if not place:
            return 'The body is missing. Send JSON, for example {"description": "Fix the failing test."}.'
        case "missing":
            return f"{place} is missing."
        case "string_too_short":
            return f"{place} is empty."
        case "string_too_long":
            return f"{place} is too long: at most {fault['ctx']['max_length']:,} characters."
        case "extra_forbidden":
            return f"{place} is not something this address knows."
        case _:
            message = fault["msg"]
            return f"{place or 'The body'}: {message[:1].lower()}{message[1:]}."
