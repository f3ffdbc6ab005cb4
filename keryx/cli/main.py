"""The `keryx` command: its subcommands, and the edge where every error becomes one line and an exit code.

Each subcommand's module is imported when it is called, so that `keryx --help` stays quick.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from keryx.cli import understand
from keryx.cli.version import version
from keryx.errors import KeryxError
from keryx.workspace.features import Feature

# Click's own class for wrong use is in a private module of typer; its public child shows the way.
WrongUse: type[Exception] = typer.BadParameter.__bases__[0]

FAILED = 1
WRONG_USE = 2

app = typer.Typer(
    name="keryx",
    help="A herald for your coding agents: say what you want done, hear what came of it.",
    no_args_is_help=True,
    add_completion=False,
    # Plain help: the boxes cost as much time again as everything else, and a pipe gets the same text.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
tasks_app = typer.Typer(help="What was asked for, and what became of it.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(tasks_app, name="tasks")
auth_app = typer.Typer(help="Signing in at Google, for mail and calendar.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(auth_app, name="auth")
agents_app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
app.add_typer(agents_app, name="agents")

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Service = Annotated[Literal["google"], typer.Argument(metavar="SERVICE", help="Where: google.")]
TaskId = Annotated[int, typer.Argument(min=1, metavar="N", help="The task's number.")]


@dataclass
class Invocation:
    """What was asked of this run as a whole."""

    debug: bool = False


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"keryx {version()}")
        raise typer.Exit


@app.callback()
def _keryx(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Log everything, and show where an error came from.")] = False,
) -> None:
    context.obj.debug = debug


@app.command()
def serve(
    context: typer.Context,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Try it: a demo agent that needs no account, and data thrown away at the end."),
    ] = False,
    host: Annotated[str | None, typer.Option(help="The address to listen on; 127.0.0.1 when not set.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port to listen on; 8080 when not set, 0 for any free one.")
    ] = None,
) -> None:
    """Run the daemon, and print the address of its page."""
    from keryx.cli.serve import run_daemon

    run_daemon(demo=demo, host=host, port=port, debug=context.obj.debug)


@app.command()
def call(
    say: Annotated[str | None, typer.Option(metavar="TEXT", help="Say this, spoken where there is a voice.")] = None,
    wav: Annotated[str | None, typer.Option(metavar="FILE", help="Play this WAV into the call.")] = None,
    typing: Annotated[bool, typer.Option("--type", help="Type, line by line; the default.")] = False,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Save what Keryx says as a WAV.")] = None,
    wait: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="Stay on the line after the last reply.")
    ] = None,
    until_done: Annotated[
        bool, typer.Option("--until-done", help="Stay until the tasks of this call have ended and were told.")
    ] = False,
    json: Json = False,
) -> None:
    """Call the running daemon from this terminal."""
    if sum((say is not None, wav is not None, typing)) > 1:
        raise WrongUse("take one of --say, --wav and --type")
    from keryx.cli.call import place_call

    place_call(say=say, wav=wav, out=out, wait_s=wait, until_done=until_done, as_json=json)


app.command("understand")(understand.command)


@tasks_app.command("list")
def tasks_list(
    status: Annotated[
        str | None, typer.Option(metavar="STATUS", help="Only these: queued, running, done, failed or cancelled.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most this many, the newest first.")] = 50,
    json: Json = False,
) -> None:
    """The tasks, newest first."""
    from keryx.cli.tasks import print_list

    print_list(status=status, limit=limit, as_json=json)


@tasks_app.command("show")
def tasks_show(number: TaskId, json: Json = False) -> None:
    """One task, its progress and its report."""
    from keryx.cli.tasks import print_task

    print_task(number, as_json=json)


@tasks_app.command("follow")
def tasks_follow(
    number: TaskId,
    text: Annotated[list[str] | None, typer.Argument(help="What to add; without it the progress is printed.")] = None,
    mode: Annotated[
        str | None, typer.Option(metavar="MODE", help="With a text: plan, ask, auto or full from its next turn on.")
    ] = None,
    json: Json = False,
) -> None:
    """Add to a task, or follow its progress until it ends."""
    from keryx.cli.tasks import follow, follow_up

    if text:
        follow_up(number, " ".join(text), mode, as_json=json)
    elif mode:
        raise typer.BadParameter("say what to add, too, such as: go ahead", param_hint="--mode")
    else:
        follow(number, as_json=json)


@tasks_app.command("cancel")
def tasks_cancel(number: TaskId, json: Json = False) -> None:
    """Cancel a task."""
    from keryx.cli.tasks import cancel

    cancel(number, as_json=json)


@agents_app.callback()
def agents(context: typer.Context, json: Json = False) -> None:
    """The agents: installed, signed in, and what to do when not."""
    if context.invoked_subcommand is None:
        from keryx.cli.agents import print_agents

        print_agents(as_json=json)


@agents_app.command("try")
def agents_try(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The agent's name, as claude.")],
    model: Annotated[str | None, typer.Option(help="One of its models; its usual one when not set.")] = None,
    mode: Annotated[str | None, typer.Option(help="plan, ask, auto or full; auto when not set.")] = None,
    json: Json = False,
) -> None:
    """Give an agent one real task in a throw-away repository; it may cost what a small task costs."""
    from keryx.cli.agents import try_out

    try_out(name, model=model, mode=mode, as_json=json)


@auth_app.command("login")
def auth_login(
    service: Service,
    client: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Your OAuth client, as Google offers it for download; kept for later logins."
        ),
    ] = None,
    only: Annotated[
        list[Feature] | None,
        typer.Option(
            metavar="FEATURE", help=f"Ask for this only, of {', '.join(Feature)}; may be given several times."
        ),
    ] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Open no browser here: print the link, and read the pasted address.")
    ] = False,
    json: Json = False,
) -> None:
    """Sign in, once: the link to Google's consent, then everything by itself."""
    from keryx.cli.auth import log_in

    log_in(only=only or (), client=client, headless=headless, as_json=json)


@auth_app.command("status")
def auth_status(json: Json = False) -> None:
    """Who is signed in, what Keryx may do, until when, and what is wrong."""
    from keryx.cli.auth import print_status

    print_status(as_json=json)


@auth_app.command("logout")
def auth_logout(service: Service, json: Json = False) -> None:
    """Take the sign-in back at Google, and forget it here."""
    from keryx.cli.auth import log_out

    log_out(as_json=json)


@app.command("workspace-mcp")
def workspace_mcp(
    context: typer.Context,
    files: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where files are saved and taken from; this folder if not set.")
    ] = None,
) -> None:
    """Serve your mail and calendar to any MCP client, on the standard streams."""
    from keryx.cli.workspace import serve_tools

    serve_tools(files, debug=context.obj.debug)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0, 1 (failed), 2 (wrong use)."""
    sys.exit(execute(arguments))


def execute(arguments: Sequence[str] | None = None) -> int:
    """The command line's exit code; errors are printed as one line on standard error."""
    invocation = Invocation()
    try:
        outcome = app(args=arguments, prog_name="keryx", standalone_mode=False, obj=invocation)
    except WrongUse as error:
        return _wrong_use(error)
    except KeryxError as error:
        if invocation.debug:
            raise
        return _complain(str(error), FAILED)
    except (KeyboardInterrupt, typer.Abort):
        return FAILED
    except BrokenPipeError:
        # Whoever read our output has gone ("keryx tasks list | head"); the interpreter must not flush into it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        # A full disk, a file that may not be read: nothing is broken, and the owner can mend it.
        if invocation.debug:
            raise
        where = f" ({error.filename})" if error.filename else ""
        return _complain(f"{error.strerror or type(error).__name__}{where}; check the disk and try again", FAILED)
    except Exception as error:
        # The edge of the process: anything else is a defect, shown whole only to whoever asks.
        if invocation.debug:
            raise
        return _complain(f"something broke ({type(error).__name__}); run `keryx --debug …` to see where", FAILED)
    return outcome if isinstance(outcome, int) else 0


def _wrong_use(error: Exception) -> int:
    context: typer.Context | None = getattr(error, "ctx", None)
    if context is not None and type(error).__name__ == "NoArgsIsHelpError":
        print(context.get_help(), file=sys.stderr)
        return WRONG_USE
    message = getattr(error, "format_message", lambda: str(error))()
    return _complain(f"{message.rstrip('.')}; see {context.command_path if context else 'keryx'} --help", WRONG_USE)


def _complain(message: str, code: int) -> int:
    print(f"keryx: {' '.join(message.split())}", file=sys.stderr)
    return code
