"""A stopped daemon's database, read only, with nothing loaded but the standard library."""

import sqlite3
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keryx.errors import NotFound, Unavailable

# The summary of the newest news is what is told or untold; the store keeps it there, not with the task.
_TASKS = """
    SELECT id, status, description, project, agent, summary, error,
           (SELECT told_at FROM news WHERE news.task_id = tasks.id ORDER BY news.id DESC LIMIT 1) AS told_at,
           created_at, finished_at
    FROM tasks
"""
_TIMES = ("told_at", "created_at", "finished_at")
_TEXTS = ("description", "summary", "error")

Row = dict[str, Any]


class Archive:
    """The tasks in a database file, in the shape the daemon's API gives them."""

    def __init__(self, path: Path) -> None:
        try:
            # mode=ro: looking must never make, migrate or lock anything.
            self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise Unavailable(f"cannot read {path}: {error}") from None
        self._path = path
        self._connection.row_factory = sqlite3.Row

    def list(self, statuses: Collection[str], limit: int) -> list[Row]:
        """The newest `limit` tasks, of these `statuses` if any are given."""
        where = f"WHERE status IN ({', '.join('?' * len(statuses))})" if statuses else ""
        return self._rows(f"{_TASKS} {where} ORDER BY id DESC LIMIT ?", (*statuses, limit))

    def show(self, number: int) -> Row:
        """One task with its progress lines; raises `NotFound`."""
        found = self._rows(f"{_TASKS} WHERE id = ?", (number,)) if number < 2**63 else []
        if not found:
            raise NotFound(f"There is no task {number}. `keryx tasks list` shows those there are.")
        lines = self._rows(
            'SELECT task_id, line_offset AS "offset", line AS text, at FROM progress WHERE task_id = ? ORDER BY 2',
            (number,),
        )
        return found[0] | {"progress_lines": lines}

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _rows(self, query: str, values: tuple) -> "list[Row]":
        try:
            return [_row(dict(row)) for row in self._connection.execute(query, values)]
        except sqlite3.Error as error:
            raise Unavailable(
                f"cannot read {self._path}: {error}; start the daemon, which mends its database"
            ) from None


def _row(row: Row) -> Row:
    from keryx.security.redact import redact

    for name, value in row.items():
        if value is None:
            continue
        if name in (*_TIMES, "at"):
            row[name] = datetime.fromisoformat(value).replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
        elif name in (*_TEXTS, "text"):
            row[name] = redact(value)
    return row
