"""The report of a task: everything it was asked and what came of it, as one markdown file without secrets."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from keryx.security.redact import redact
from keryx.tasks.models import ProgressLine, Task
from keryx.tasks.rows import Message, MessageState, Turn

REPORTED_LINES = 500
"""How many progress lines a report keeps, the newest ones."""


def report_file(folder: Path, task_id: int) -> Path:
    return folder / f"task-{task_id}.md"


def render_report(task: Task, messages: Sequence[Message], lines: Sequence[ProgressLine], turns: Sequence[Turn]) -> str:
    """The report as markdown; what was asked is redacted here, what came back was when it was stored. Pure."""
    facts = [f"Agent: {task.agent}", f"Asked: {task.created_at:%Y-%m-%d %H:%M} UTC"]
    if task.project:
        facts.insert(0, f"Project: {task.project}")
    parts = [f"# Task {task.id}", "\n".join(f"- {fact}" for fact in facts), "## Request", redact(task.description)]
    if len(messages) > 1:
        parts += ["## Added later", *(_addition(message) for message in messages[1:])]
    if lines:
        parts.append("## Progress")
        if len(lines) > REPORTED_LINES:
            parts.append(f"The last {REPORTED_LINES} of {len(lines)} lines.")
        parts.append("\n".join(f"- {line.at:%H:%M:%S} {line.text}" for line in lines[-REPORTED_LINES:]))
    for turn in turns:
        parts.append("## Result" if len(turns) == 1 else f"## Result of turn {turn.number}")
        if not turn.ok:
            parts.append(f"It failed: {turn.error or turn.summary}")
        if turn.final_text.strip():
            parts.append(turn.final_text.strip())
        elif turn.ok:
            parts.append(turn.summary)
        if turn.restart_reason is not None:
            parts.append(f"The agent asks for a restart. {turn.restart_reason}".strip())
    parts += ["## Usage", "\n".join(f"- {line}" for line in _usage(turns))]
    return "\n\n".join(parts) + "\n"


def _addition(message: Message) -> str:
    doubt = " (it may not have reached the agent)" if message.state is MessageState.UNCERTAIN else ""
    return redact(message.text) + doubt


def _usage(turns: Sequence[Turn]) -> list[str]:
    said = [
        f"Input tokens: {_total(turn.input_tokens for turn in turns)}"
        f" (of which cached: {_total(turn.cached_input_tokens for turn in turns)})",
        f"Output tokens: {_total(turn.output_tokens for turn in turns)}",
    ]
    return [*said, f"Cost in US dollars: {_total((turn.cost_usd for turn in turns), '.4f')}"]


def _total(values: Iterable[float | None], form: str = ",") -> str:
    """The sum of what is known: "unknown" when nothing is, "at least" when something is missing."""
    known, missing = [], False
    for value in values:
        if value is None:
            missing = True
        else:
            known.append(value)
    if not known:
        return "unknown"
    return ("at least " if missing else "") + format(sum(known), form)
