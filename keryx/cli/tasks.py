"""`keryx tasks`: through the running daemon; `list` and `show` also read its database when none is running."""

import json
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import typer

from keryx.cli.api import NO_DAEMON, DaemonApi, require_daemon, running_daemon
from keryx.cli.archive import Archive
from keryx.config.places import places
from keryx.errors import Unavailable
from keryx.tasks.models import TaskStatus

LISTED = (
    "id",
    "status",
    "description",
    "project",
    "agent",
    "summary",
    "error",
    "told_at",
    "created_at",
    "finished_at",
)
"""What `keryx tasks list --json` gives of each task, no more and no less."""

_FOLLOW_UP_WORDS = {
    "steered": "Passed on to task {number}; its agent has it now.",
    "next": "Task {number} does that next.",
    "refused": "Task {number} does that next: its agent takes nothing in just now.",
    "taken up": "Task {number} is taken up again.",
}

_FACTS = (
    ("Project", "project"),
    ("Agent", "agent"),
    ("Model", "model"),
    ("Mode", "mode"),
    ("Asked", "created_at"),
    ("Ended", "finished_at"),
)
DESCRIPTION_CHARS = 60
RECONNECTS = 3

Row = dict[str, Any]


def print_list(*, status: str | None, limit: int, as_json: bool) -> None:
    """The tasks, newest first, on standard output."""
    statuses = _statuses(status)
    rows = _read(
        lambda api: api.get("/api/tasks", limit=limit, **({"status": statuses} if statuses else {})),
        lambda archive: archive.list(statuses, limit),
    )
    if as_json:
        _print_json([_listed(row) for row in rows])
    elif not rows:
        print("No tasks yet." if not statuses else "No such tasks.")
    elif sys.stdout.isatty():
        _print_table(rows)
    else:
        for row in rows:
            print("\t".join((str(row["id"]), row["status"], row["project"] or "-", _one_line(row["description"]))))


def print_task(number: int, *, as_json: bool) -> None:
    """One task in full."""
    row = _read(lambda api: api.get(f"/api/tasks/{number}"), lambda archive: archive.show(number))
    if as_json:
        _print_json(row)
        return
    for name in ("project", "agent", "model", "mode", "created_at", "finished_at", "told_at", "summary", "error"):
        row.setdefault(name, None)
    print(f"Task {row['id']}: {row['status']}")
    print(row["description"])
    for label, name in _FACTS:
        if row[name]:
            print(f"{label}: {_local(row[name]) if name.endswith('_at') else row[name]}")
    for label, name in (("Summary", "summary"), ("Error", "error")):
        if row[name]:
            print(f"{label}: {row[name]}")
    if row["summary"] and not row["told_at"]:
        print("Nobody has heard this yet.")
    for line in row.get("progress_lines") or ():
        print(f"  {_local(line['at'], '%H:%M:%S')}  {line['text']}")
    if row.get("report"):
        print(f"\n{row['report']}")


def cancel(number: int, *, as_json: bool) -> None:
    """Cancel a task."""
    with DaemonApi(require_daemon()) as api:
        row = api.post(f"/api/tasks/{number}/cancel")
    if as_json:
        _print_json(_listed(row))
    else:
        print(f"Task {number} is cancelled.")


def follow_up(number: int, text: str, mode: str | None, *, as_json: bool) -> None:
    """Tell a task's agent something more; an ended task is taken up again. From its next turn on it runs in `mode`."""
    with DaemonApi(require_daemon()) as api:
        done = api.post(f"/api/tasks/{number}/follow-up", {"text": text, "mode": mode})
    if as_json:
        _print_json({"how": done["how"], "refused": done["refused"], "task": _listed(done["task"])})
    else:
        print(_FOLLOW_UP_WORDS["refused" if done["refused"] else done["how"]].format(number=number))


def follow(number: int, *, as_json: bool) -> None:
    """Print a task's progress until it ends; exit code 1 when it did not end well. Ctrl-C ends the following only."""
    try:
        with DaemonApi(require_daemon()) as api:
            row = _Following(api, number, as_json).to_the_end()
    except KeyboardInterrupt:
        return
    if row["status"] != TaskStatus.DONE:
        raise typer.Exit(1)


class _Following:
    """One task's progress, each line once, over as many streams as it takes."""

    def __init__(self, api: DaemonApi, number: int, as_json: bool) -> None:
        self._api = api
        self._number = number
        self._as_json = as_json
        self._offset = -1

    def to_the_end(self) -> Row:
        row = self._catch_up()
        for _ in range(RECONNECTS):
            for name, value in self._api.events():
                if name == "snapshot":
                    # Only now is nothing missed between what was read and what the stream will bring.
                    row = self._catch_up()
                elif name == "progress" and value["task_id"] == self._number:
                    self._progress(value)
                elif name == "task" and value["id"] == self._number:
                    row = value
                if TaskStatus(row["status"]).ended:
                    return self._ended(row)
        raise Unavailable("The daemon ended the stream of events. Follow the task again when it is back.")

    def _catch_up(self) -> Row:
        row = self._api.get(f"/api/tasks/{self._number}")
        for line in row["progress_lines"]:
            self._progress(line)
        return row

    def _progress(self, line: Row) -> None:
        if line["offset"] > self._offset:
            self._offset = line["offset"]
            self._say({"type": "progress", **line}, line["text"])

    def _ended(self, row: Row) -> Row:
        told = row["summary"] or row["error"]
        self._say(
            {"type": "ended", **_listed(row)}, f"Task {row['id']} is {row['status']}." + (f" {told}" if told else "")
        )
        return row

    def _say(self, event: Row, line: str) -> None:
        print(json.dumps(event, ensure_ascii=False) if self._as_json else line, flush=True)


def _read(ask: Callable[[DaemonApi], Any], look_up: Callable[[Archive], Any]) -> Any:
    """Ask the daemon; read its database where none is running."""
    pointer = running_daemon()
    if pointer is not None:
        with DaemonApi(pointer) as api:
            return ask(api)
    database = places().database
    if not database.exists():
        raise Unavailable(NO_DAEMON)
    with Archive(database) as archive:
        return look_up(archive)


def _statuses(text: str | None) -> list[str]:
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    known = [status.value for status in TaskStatus]
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(known)}", param_hint="--status")
    return names


def _listed(row: Row) -> Row:
    return {name: row.get(name) for name in LISTED}


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= DESCRIPTION_CHARS else line[: DESCRIPTION_CHARS - 1] + "…"


def _local(moment: str, form: str = "%Y-%m-%d %H:%M") -> str:
    return datetime.fromisoformat(moment).astimezone().strftime(form)


def _print_table(rows: Iterable[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("Task", "Status", "Project", "Asked", "What"):
        table.add_column(column, no_wrap=column != "What", justify="right" if column == "Task" else "left")
    colours = {"done": "green", "failed": "red", "running": "cyan", "queued": "blue"}
    for row in rows:
        # Text, not markup: what somebody asked for may hold square brackets.
        table.add_row(
            str(row["id"]),
            Text(row["status"], style=colours.get(row["status"], "")),
            Text(row["project"] or ""),
            _local(row["created_at"]),
            Text(_one_line(row["description"])),
        )
    Console().print(table)
