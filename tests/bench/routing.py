"""How many written requests the rules route right: `python -m tests.bench.routing [--wrong] [--held]`."""

import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keryx.tasks.models import TaskStatus
from keryx.voice.dialogue.base import DialogueContext, TaskBrief, Understanding
from keryx.voice.dialogue.intents import understand

REQUESTS = Path(__file__).parent.parent / "fixtures" / "requests.toml"


@dataclass(frozen=True)
class Request:
    """One written request and what it must come to."""

    group: str
    text: str
    context: DialogueContext
    route: str
    args: dict[str, Any] | None
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    then: tuple[str, ...]
    held: bool

    def faults(self) -> list[str]:
        """What is wrong with how it is routed now; nothing when it is right."""
        got = understand(self.text, self.context)
        if route(got) != self.route:
            return [f"went to {route(got)} {got.arguments}"]
        faults = []
        words = str(got.arguments.get("description") or got.arguments.get("text") or "").lower()
        if self.args is not None:
            wrong = {key: got.arguments.get(key) for key in self.args if got.arguments.get(key) != self.args[key]}
            if self.args == {}:
                wrong = {key: value for key, value in got.arguments.items() if key != "text"}
            faults += [f"{key} is {value!r}" for key, value in wrong.items()]
        faults += [f"lost {part!r} in {words!r}" for part in self.has if part.lower() not in words]
        faults += [f"kept {part!r} in {words!r}" for part in self.lacks if part.lower() in words]
        if self.then and tuple(got.then) != self.then:
            faults.append(f"then {got.then}")
        return faults


@dataclass(frozen=True)
class Figures:
    """Shares 0…1 routed right, how often a cancel came of something else, and the slowest sentence."""

    tuned: float
    held: float
    total: int
    false_cancels: int
    slowest_ms: float


def route(understood: Understanding) -> str:
    return understood.tool or understood.intent or ""


def requests() -> Iterator[Request]:
    """Every written request."""
    file = tomllib.loads(REQUESTS.read_text(encoding="utf-8"))
    contexts = {name: context_from(table) for name, table in file["contexts"].items()}
    for group, rows in file["tests"].items():
        for row in rows:
            parts = {name: tuple(row.get(name, ())) for name in ("has", "lacks", "then")}
            yield Request(
                group,
                row["text"],
                contexts[row["context"]],
                row["route"],
                row.get("args"),
                **parts,
                held=row.get("held", False),
            )


def context_from(table: dict[str, Any]) -> DialogueContext:
    tasks = [
        TaskBrief(row["id"], TaskStatus(row["status"]), row["project"], row["description"])
        for row in table.get("tasks", ())
    ]
    return DialogueContext(
        table.get("projects", ()), table.get("agents", ()), tasks, table.get("focus"), table.get("pending")
    )


def measure() -> Figures:
    """Route every request and count."""
    right: dict[bool, list[bool]] = {True: [], False: []}
    false_cancels, slowest = 0, 0.0
    for request in requests():
        began = time.process_time()
        understood = understand(request.text, request.context)
        slowest = max(slowest, time.process_time() - began)
        right[request.held].append(not request.faults())
        false_cancels += request.route != "cancel_task" and understood.tool == "cancel_task"
    shares = {held: sum(rights) / len(rights) for held, rights in right.items()}
    total = sum(len(rights) for rights in right.values())
    return Figures(shares[False], shares[True], total, false_cancels, slowest * 1000)


def main() -> None:
    figures = measure()
    print(
        f"{figures.total} written requests: tuned on {figures.tuned:.1%}, held out {figures.held:.1%}, "
        f"false cancels {figures.false_cancels}, slowest {figures.slowest_ms:.1f} ms"
    )
    if "--wrong" in sys.argv:
        for request in requests():
            if request.held == ("--held" in sys.argv) and (faults := request.faults()):
                print(
                    f"  {request.text!r} [{request.group}]: {'; '.join(faults)} (wanted {request.route} {request.args})"
                )


if __name__ == "__main__":
    main()
