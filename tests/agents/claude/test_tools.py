"""Claude Code's tools in plain words."""

from pathlib import Path
from typing import Any

import pytest

from keryx.agents.approver import Effect
from keryx.agents.claude.tools import permission_for, title_of
from keryx.agents.titles import MAX_TITLE_CHARS

PLACE = Path("/home/owner/shop")


@pytest.mark.parametrize(
    ("tool", "arguments", "title"),
    [
        ("Bash", {"command": "pytest -q"}, "Running pytest -q"),
        ("Bash", {"command": "cd /home/owner/shop && pytest -q"}, "Running pytest -q"),
        ("Bash", {"command": "cd '/home/owner/my shop'; ls"}, "Running ls"),
        ("Bash", {"command": "cat /home/owner/shop/src/totals.py"}, "Running cat src/totals.py"),
        ("Bash", {"command": "/usr/local/bin/python3 -m venv /opt/big/venv"}, "Running python3 -m venv venv"),
        ("Bash", {"command": "curl https://example.com/a/b/c"}, "Running curl https://example.com/a/b/c"),
        ("Bash", {"command": "python - <<'X'\nprint(1)\nX"}, "Running python - <<'X'"),
        ("Read", {"file_path": "/home/owner/shop/invoice.py"}, "Reading invoice.py"),
        ("Read", {"file_path": "/etc/ssh/sshd_config"}, "Reading sshd_config"),
        ("Edit", {"file_path": "/home/owner/shop/src/totals.py"}, "Editing src/totals.py"),
        ("Write", {"file_path": "/home/owner/shop/счёт.py"}, "Writing счёт.py"),
        ("NotebookEdit", {"notebook_path": "/home/owner/shop/a.ipynb"}, "Editing a.ipynb"),
        ("Grep", {"pattern": "rounding"}, "Searching for rounding"),
        ("Glob", {"pattern": "**/*.py"}, "Looking for **/*.py"),
        ("WebFetch", {"url": "https://docs.example.com/a?b=c"}, "Fetching docs.example.com"),
        ("WebFetch", {"url": "http://["}, "Fetching the web"),
        ("WebSearch", {"query": "banker's rounding"}, "Searching the web for banker's rounding"),
        ("Agent", {"description": "find the tests", "prompt": "..."}, "Handing on: find the tests"),
        ("mcp__shop__look_up", {}, "Using look up from shop"),
        ("TodoWrite", {"todos": []}, "Planning the work"),
        ("SomethingNew", {}, "Using SomethingNew"),
        ("Read", {"file_path": 7}, "Reading files"),
        ("Bash", {}, "Running"),
    ],
)
def test_what_runs_is_told_in_plain_words(tool: str, arguments: dict[str, Any], title: str):
    assert title_of(tool, arguments, PLACE) == title


def test_a_long_command_is_cut():
    title = title_of("Bash", {"command": "echo " + "x" * 100_000}, PLACE)
    assert len(title) == MAX_TITLE_CHARS


@pytest.mark.parametrize(
    ("tool", "arguments", "effect", "text"),
    [
        ("Read", {"file_path": "/etc/hosts"}, Effect.READ, "read hosts"),
        ("Read", {"file_path": "/home/owner/.local/share/keryx/page.key"}, Effect.OUTSIDE, "read page.key"),
        ("Grep", {"pattern": "x", "path": "/home/owner/.ssh"}, Effect.OUTSIDE, "search for x"),
        (
            "Write",
            {"file_path": "/home/owner/shop/.claude/settings.json"},
            Effect.OUTSIDE,
            "write .claude/settings.json",
        ),
        ("Edit", {"file_path": "/home/owner/shop/a.py"}, Effect.CHANGE, "edit a.py"),
        ("Write", {"file_path": "/home/owner/.bashrc"}, Effect.OUTSIDE, "write .bashrc"),
        ("Write", {"file_path": "/home/owner/shop/../x"}, Effect.OUTSIDE, "write ../x"),
        ("Bash", {"command": "git push"}, Effect.PUSH, "run git push"),
        ("WebSearch", {"query": "rounding"}, Effect.NETWORK, "search the web for rounding"),
        ("WebFetch", {"url": "https://example.com"}, Effect.NETWORK, "fetch a page from example.com"),
        ("Agent", {"description": "find the tests"}, Effect.RUN, "hand on: find the tests"),
        ("TodoWrite", {}, Effect.READ, "plan the work"),
        ("mcp__shop__order", {}, Effect.UNKNOWN, "use order from shop"),
        ("SomethingNew", {}, Effect.UNKNOWN, "use SomethingNew"),
    ],
)
def test_what_is_wanted_is_asked_for_by_its_effect(tool: str, arguments: dict[str, Any], effect: Effect, text: str):
    ask = permission_for(tool, arguments, PLACE)
    assert (ask.effect, ask.text) == (effect, text)


def test_a_tool_that_says_it_only_reads_is_asked_for_as_that():
    assert permission_for("mcp__shop__look_up", {}, PLACE, read_only=True).effect is Effect.READ


def test_the_whole_change_is_there_for_a_screen():
    ask = permission_for("Edit", {"file_path": "/a/b.py", "old_string": "one", "new_string": "two"}, PLACE)
    assert ask.detail == "/a/b.py\n- one\n+ two"
    assert permission_for("Bash", {"command": "cd /x && ls"}, PLACE).detail == "cd /x && ls"
