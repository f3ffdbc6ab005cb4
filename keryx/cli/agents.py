"""`keryx agents`: how each agent stands on this machine, and one real task for one of them. Needs no daemon."""

import asyncio
import json
import signal
import sys
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

import typer

from keryx.agency.agency import Agency
from keryx.agency.standing import Standing, versions
from keryx.config.files import load
from keryx.errors import ConfigError

if TYPE_CHECKING:
    from keryx.agency.trial import Trial

COLUMNS = ("Agent", "Version", "Signed in", "Model", "Program", "To do")

Row = dict[str, Any]


def print_agents(*, as_json: bool) -> None:
    """Every known agent, on standard output: the one a task goes to first has a star."""
    settings, _ = load()
    agency = Agency(settings)
    standings = agency.standings()
    found = asyncio.run(versions(standings, agency.environment))
    default = _default(agency, standings)
    rows = [_row(standing, version, default) for standing, version in zip(standings, found, strict=True)]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif sys.stdout.isatty():
        _print_table(rows)
    else:
        for row in rows:
            print("\t".join(_cells(row)))


def try_out(name: str, *, model: str | None, mode: str | None, as_json: bool) -> None:
    """One real task for the agent called `name`; exit code 1 when it did not end well."""
    from keryx.agency.trial import REQUEST, try_agent

    settings, _ = load()
    agency = Agency(settings)
    standing = agency.standing(agency.backend(name))

    def say(event: Row, line: str) -> None:
        print(json.dumps(event, ensure_ascii=False) if as_json else line, flush=True)

    say({"type": "asked", "agent": standing.backend.name, "text": REQUEST}, f"{standing.backend.called}: {REQUEST}")
    trying = try_agent(
        agency,
        standing,
        model=model,
        mode=mode,
        owner=settings.owner.name,
        saw=lambda line: say({"type": "progress", "text": line}, f"  {line}"),
    )
    try:
        trial = asyncio.run(_until_told(trying))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("keryx: stopped; nothing of it is left", file=sys.stderr)
        raise typer.Exit(1) from None
    say(_ended(trial, standing), "\n".join(_told(trial, standing)))
    if not trial.result.ok:
        raise typer.Exit(1)


async def _until_told(work: Awaitable["Trial"]) -> "Trial":
    """`work`, cancelled by SIGTERM and by a terminal that closes, as Ctrl-C does it: what it made is removed."""
    this = asyncio.current_task()
    assert this is not None
    for name in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(name) is not signal.SIG_IGN:  # started by nohup, it is to outlive its terminal
            asyncio.get_running_loop().add_signal_handler(name, this.cancel)
    return await work


def _default(agency: Agency, standings: list[Standing]) -> str | None:
    try:
        return agency.default([standing for standing in standings if standing.installed])
    except ConfigError:
        return None


def _row(standing: Standing, version: str | None, default: str | None) -> Row:
    backend = standing.backend
    return {
        "name": backend.name,
        "default": backend.name == default,
        "installed": standing.installed,
        "signed_in": standing.signed_in,
        "how": standing.login.how,
        "version": version,
        "model": standing.model,
        "models": list(backend.models),
        "program": standing.program,
        "follow_ups": backend.follow_ups,
        "ready": standing.ready,
        "to_do": standing.advice,
    }


def _cells(row: Row) -> tuple[str, ...]:
    if row["signed_in"] is None:
        signed_in = "by itself"
    else:
        signed_in = row["how"] or "no"
    return (
        row["name"] + ("*" if row["default"] else ""),
        (row["version"] or "unknown") if row["installed"] else "not installed",
        signed_in,
        row["model"] or "its own",
        row["program"] or "none",
        row["to_do"] or "-",
    )


def _print_table(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, no_wrap=column == "Agent")
    for row in rows:
        # Text, not markup: an install command holds square brackets.
        *seen, to_do = _cells(row)
        table.add_row(*(Text(cell, style="" if row["ready"] else "dim") for cell in seen), Text(to_do))
    console = Console()
    console.print(table)
    console.print(Text("* gets a task when you name none", style="dim"))


def _ended(trial: "Trial", standing: Standing) -> Row:
    result, usage = trial.result, trial.result.usage
    return {
        "type": "ended",
        "ok": result.ok,
        "spoken": result.spoken_summary,
        "error": result.error,
        "to_do": None if result.ok else standing.advice,
        "changed": list(trial.changed),
        "input_tokens": usage.input_tokens if usage else None,
        "cached_input_tokens": usage.cached_input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "cost_usd": result.cost_usd,
        "seconds": round(trial.seconds, 2),
    }


def _told(trial: "Trial", standing: Standing) -> list[str]:
    result, usage = trial.result, trial.result.usage
    tokens = "unknown"
    if usage:
        tokens = f"{usage.input_tokens:,} in, {usage.cached_input_tokens:,} of them cached; {usage.output_tokens:,} out"
    lines = [
        f"Spoken: {result.spoken_summary}",
        f"Changed: {', '.join(trial.changed) or 'nothing'}",
        f"Tokens: {tokens}",
        f"Cost: {'unknown' if result.cost_usd is None else f'${result.cost_usd:.4f}'}",
        f"Time: {trial.seconds:.1f} s",
    ]
    if not result.ok:
        lines.append(f"Error: {result.error}")
        lines += [f"To do: {standing.advice}"] if standing.advice else []
    return lines
