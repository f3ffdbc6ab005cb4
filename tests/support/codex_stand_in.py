"""The real Codex with something between it and us: a program that keeps, or loses, single messages."""

import sys
from collections.abc import Sequence
from pathlib import Path

_SCRIPT = """\
#!{python}
import os, re, subprocess, sys, threading

REAL, TO, FROM, KEPT = {real!r}, {to!r}, {from_!r}, {kept!r}
if sys.argv[1:2] == ["sandbox"] and {no_sandbox!r}:
    sys.exit("no permissions to create a new namespace")
if "app-server" not in sys.argv:
    os.execv(REAL, [REAL, *sys.argv[1:]])

codex = subprocess.Popen([REAL, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def pass_on(source, target, lost, name):
    with open(os.path.join(KEPT, name), "ab", buffering=0) as kept:
        for line in iter(source.readline, b""):
            kept.write(line)
            if not any(re.search(each.encode(), line) for each in lost):
                try:
                    target.write(line)
                    target.flush()
                except OSError:
                    break
    target.close()


threading.Thread(target=pass_on, args=(sys.stdin.buffer, codex.stdin, TO, "to-codex"), daemon=True).start()
pass_on(codex.stdout, sys.stdout.buffer, FROM, "from-codex")
sys.exit(codex.wait())
"""


def stand_in(
    folder: Path,
    *,
    loses_to: Sequence[str] = (),
    loses_from: Sequence[str] = (),
    no_sandbox: bool = False,
) -> Path:
    """An executable in `folder` that is Codex, but for the messages to and from it that fit one of the patterns.

    All of them stand in the files `to-codex` and `from-codex` beside it, those that were lost too.
    """
    from codex_cli_bin import bundled_codex_path

    program = folder / "codex-stand-in"
    program.write_text(
        _SCRIPT.format(
            python=sys.executable,
            real=str(bundled_codex_path()),
            to=list(loses_to),
            from_=list(loses_from),
            kept=str(folder),
            no_sandbox=no_sandbox,
        )
    )
    program.chmod(0o755)
    return program
