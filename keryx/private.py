"""Files that only their owner can read."""

import contextlib
import os
import tempfile
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file, 0600, whole or not at all; its folder is made, 0700, when there is none.

    Blocking. Raises `OSError`, and then whatever stood there stands there still.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes the file 0600, before anything is in it.
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
