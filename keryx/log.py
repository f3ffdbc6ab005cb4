"""Logging: standard library, static messages, values in `extra`; which call and which task by context variable."""

import contextlib
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar

call_id: ContextVar[str | None] = ContextVar("call_id", default=None)
task_id: ContextVar[int | None] = ContextVar("task_id", default=None)

_STANDARD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LineFormatter(logging.Formatter):
    """`10:42:07 INFO keryx.tasks.manager: task dispatched task=4 agent=fake`, passed through `mask` as a whole."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", datefmt="%H:%M:%S")
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        values = {"call": call_id.get(), "task": task_id.get()}
        values |= {key: value for key, value in vars(record).items() if key not in _STANDARD_FIELDS}
        tail = " ".join(f"{key}={_short(value)}" for key, value in values.items() if value is not None)
        head, newline, trace = super().format(record).partition("\n")
        return self._mask(f"{head} {tail}".rstrip() + newline + trace)


def configure(level: str = "INFO", *, mask: Callable[[str], str] = str) -> None:
    """Send every record to standard error; `mask` is applied to the finished line (secrets, telephone numbers)."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(mask))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for noisy in ("httpx", "alembic", "faster_whisper", "websockets", "uvicorn.access", "markdown_it", "filelock"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


@contextlib.contextmanager
def during(variable: ContextVar, value: object) -> Iterator[None]:
    """Set a context variable (`call_id` or `task_id`) for the length of a block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if " " not in text else json.dumps(text)
