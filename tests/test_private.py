"""A private file: nobody else's to read, and never half of it."""

import stat
from pathlib import Path

import pytest

from keryx.private import write_private


def test_it_is_private_replaced_whole_and_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.md"
    write_private(path, "first")
    write_private(path, "second – with an é")
    assert path.read_text(encoding="utf-8") == "second – with an é"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_one_that_cannot_be_written_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_private(path, "text")
    assert list(tmp_path.iterdir()) == [path]
