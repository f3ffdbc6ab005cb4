"""The directory a task's agent starts in: its project's, the projects' root, or a workspace of its own."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from keryx.errors import NotFound, Unavailable
from keryx.tasks.models import Task

MAX_NAMED = 5
"""A sentence names no more projects than this."""


class Workplaces:
    """Finds the directory of a task; blocks briefly.

    A project is a folder under the root that the owner lists. One that is a symbolic link is followed wherever it
    leads: whoever could put it there has the owner's rights already, and that is how folders from elsewhere are
    usually added. The path given is the real one, so that "inside the directory" means what the agent sees.
    """

    def __init__(self, root: Path | None, listed: Callable[[], Sequence[str]], data_dir: Path) -> None:
        """`root`: the projects' folder, if there is one; `listed`: their names as of now."""
        self._root = root
        self._listed = listed
        self._workspace = data_dir / "workspace"

    def __call__(self, task: Task) -> Path:
        """The real, readable directory; raises `NotFound` (no such project) or `Unavailable` (it is not there)."""
        if task.project is not None:
            return self._project(task.project)
        if self._root is not None:
            return _entered(self._root, "the projects folder")
        try:
            self._workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(
                f"cannot make the folder {self._workspace}: {error.strerror}",
                spoken="I can't make a folder to work in. Look at the disk of your machine.",
            ) from error
        return _entered(self._workspace, "my own workspace")

    def _project(self, name: str) -> Path:
        listed = self._listed()
        known = next((each for each in listed if each.casefold() == name.casefold()), None)
        # A name that is a path would lead past the list.
        plain = name == Path(name).name and name not in ("", ".", "..")
        if self._root is None and known is not None:
            raise Unavailable(
                "projects.names are folders under projects.root, which is not set",
                spoken="I don't know where your projects are. Set the projects folder in my settings.",
            )
        if self._root is None or (known is None and (not plain or os.path.lexists(self._root / name))):
            raise unknown_project(name, listed)
        return _entered(self._root / (known or name), f"the {name} folder")


def _entered(folder: Path, called: str) -> Path:
    """`folder`, real and readable; else raises `Unavailable` with a sentence about it."""
    try:
        real = folder.resolve(strict=True)
        with os.scandir(real):
            return real
    except FileNotFoundError:
        raise Unavailable(f"{folder} is not there any more", spoken=f"{_begun(called)} isn't there any more.") from None
    except NotADirectoryError:
        raise Unavailable(f"{folder} is not a folder", spoken=f"{_begun(called)} isn't a folder any more.") from None
    except PermissionError:
        raise Unavailable(f"{folder} may not be read", spoken=f"I'm not allowed to open {called}.") from None
    except (OSError, RuntimeError) as error:
        # RuntimeError: links that lead in a circle.
        reason = getattr(error, "strerror", None) or str(error)
        raise Unavailable(f"cannot open {folder}: {reason}", spoken=f"I can't open {called}.") from None


def unknown_project(name: str, listed: Sequence[str]) -> NotFound:
    """What is raised for a project that is not among those `listed`; it names them."""
    there = ", ".join(listed) or "none"
    spoken = f"I don't know that project. There is {', '.join(listed[:MAX_NAMED])}."
    return NotFound(
        f'no project "{name}"; there is {there}', spoken=spoken if listed else "No projects are set up yet."
    )


def _begun(called: str) -> str:
    return called[0].upper() + called[1:]
