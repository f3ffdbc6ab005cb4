"""The demonstration's projects are what they are said to be."""

import subprocess
import sys
from pathlib import Path

import pytest

from keryx.agents.demo.projects import GIT, MENDS, PROJECTS, git_environment, prepare_demo_projects


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [*GIT, *arguments], cwd=folder, env=git_environment(folder.parent), capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def failing(folder: Path) -> tuple[int, list[str]]:
    """The exit code and the failing tests."""
    done = subprocess.run(
        [sys.executable, "-B", "-m", "unittest"], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, [line.split()[1] for line in done.stderr.splitlines() if line.startswith("FAIL:")]


def test_three_projects_with_a_history_each(tmp_path: Path):
    assert prepare_demo_projects(tmp_path) == ("billing", "website", "parser")
    assert git(tmp_path / "billing", "log", "--format=%s").splitlines() == [
        "Round totals per line",
        "Add due dates",
        "Add invoices",
    ]
    for name in PROJECTS:
        assert git(tmp_path / name, "status", "--porcelain") == ""
        assert git(tmp_path / name, "branch", "--show-current") == "main"


@pytest.mark.parametrize("name", PROJECTS)
def test_what_fails_is_what_is_said_to_fail_and_the_mend_mends_it(tmp_path: Path, name: str):
    prepare_demo_projects(tmp_path)
    if name not in MENDS:
        assert failing(tmp_path / name) == (0, [])
        return
    assert failing(tmp_path / name) == (1, [MENDS[name].test])
    MENDS[name].edit(tmp_path / name)
    assert failing(tmp_path / name) == (0, [])


def test_before_the_last_commit_of_billing_its_tests_passed(tmp_path: Path):
    prepare_demo_projects(tmp_path)
    git(tmp_path / "billing", "checkout", "--quiet", "main~1")
    assert failing(tmp_path / "billing") == (0, [])


def test_what_is_there_is_left_alone_and_what_was_cut_off_is_made_anew(tmp_path: Path):
    prepare_demo_projects(tmp_path)
    (tmp_path / "billing" / "mine.txt").write_text("kept")
    (tmp_path / ".parser-unfinished").mkdir()
    (tmp_path / "parser").rename(tmp_path / "elsewhere")
    prepare_demo_projects(tmp_path)
    assert (tmp_path / "billing" / "mine.txt").read_text() == "kept"
    assert failing(tmp_path / "parser") == (0, [])
    assert not (tmp_path / ".parser-unfinished").exists()


def test_no_setting_of_this_machine_gets_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    (tmp_path / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {hooks}\n[commit]\n\tgpgsign = true\n[init]\n\tdefaultBranch = trunk\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    prepare_demo_projects(tmp_path / "projects")
    assert git(tmp_path / "projects" / "parser", "log", "-1", "--format=%an %s") == "Keryx demo Test tokens and values"


def test_without_git_the_files_are_there_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    prepare_demo_projects(tmp_path / "projects")
    assert failing(tmp_path / "projects" / "billing") == (1, ["test_invoice_rounding"])
    assert not (tmp_path / "projects" / "billing" / ".git").exists()
