"""Where a task's agent starts, and what is said when that place is gone."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from keryx.agents.workplace import Workplaces
from keryx.clock import VirtualClock
from keryx.errors import KeryxError, NotFound, Unavailable
from keryx.tasks.models import Task, TaskStatus

NAMES = ("billing", "my website", "Größe", "日本語")


def task(project: str | None) -> Task:
    return Task(1, "x", TaskStatus.RUNNING, "claude", VirtualClock().now(), project=project)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / "src" / name).mkdir(parents=True)
    return tmp_path / "src"


def workplaces(root: Path | None, *names: str) -> Workplaces:
    return Workplaces(root, lambda: names or NAMES, (root or Path("/nowhere")).parent / "data")


@pytest.mark.parametrize("name", NAMES)
def test_a_project_is_its_folder_whatever_its_letters(root: Path, name: str) -> None:
    assert workplaces(root)(task(name)) == root / name


def test_upper_and_lower_case_are_the_same(root: Path) -> None:
    assert workplaces(root)(task("Billing")) == root / "billing"


def test_without_a_project_it_is_the_projects_root(root: Path) -> None:
    assert workplaces(root)(task(None)) == root


def test_without_a_root_it_is_a_workspace_that_only_the_owner_can_open(tmp_path: Path) -> None:
    place = Workplaces(None, tuple, tmp_path / "data")(task(None))
    assert place == tmp_path / "data" / "workspace"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert Workplaces(None, tuple, tmp_path / "data")(task(None)) == place


@pytest.mark.parametrize("name", ["secret", "../data", "..", ".", "", "/etc", "billing/../secret"])
def test_what_is_not_listed_is_no_project(root: Path, name: str) -> None:
    (root / "secret").mkdir()
    with pytest.raises(NotFound, match="there is billing, my website") as error:
        workplaces(root)(task(name))
    assert error.value.spoken == "I don't know that project. There is billing, my website, Größe, 日本語."


def test_a_project_without_any_root_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as error:
        Workplaces(None, tuple, tmp_path)(task("billing"))
    assert error.value.spoken == "No projects are set up yet."


def test_names_without_a_root_are_a_setting_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"projects\.root, which is not set"):
        Workplaces(None, lambda: NAMES, tmp_path)(task("billing"))


@pytest.mark.parametrize("still_listed", [True, False])
def test_a_folder_that_was_deleted_is_said_to_be_gone(root: Path, still_listed: bool) -> None:
    (root / "billing").rmdir()
    names = NAMES if still_listed else NAMES[1:]
    with pytest.raises(Unavailable) as error:
        workplaces(root, *names)(task("billing"))
    assert error.value.spoken == "The billing folder isn't there any more."


def test_a_root_that_was_deleted_is_said_to_be_gone(root: Path) -> None:
    shutil.rmtree(root)
    with pytest.raises(Unavailable) as error:
        workplaces(root)(task(None))
    assert error.value.spoken == "The projects folder isn't there any more."


def test_a_file_in_a_projects_place_is_no_folder(root: Path) -> None:
    (root / "billing").rmdir()
    (root / "billing").touch()
    with pytest.raises(Unavailable) as error:
        workplaces(root)(task("billing"))
    assert error.value.spoken == "The billing folder isn't a folder any more."


def test_a_listed_link_is_followed_to_where_it_leads(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    assert workplaces(root, "linked")(task("linked")) == tmp_path / "elsewhere"
    with pytest.raises(NotFound):
        workplaces(root, "billing")(task("linked"))


def test_a_link_that_leads_nowhere_or_in_a_circle_is_a_sentence(root: Path) -> None:
    (root / "gone").symlink_to(root / "not-there")
    (root / "circle").symlink_to(root / "circle")
    for name in ("gone", "circle"):
        with pytest.raises(Unavailable) as error:
            workplaces(root, "gone", "circle")(task(name))
        assert name in error.value.spoken


def test_a_read_only_folder_is_opened_all_the_same(root: Path) -> None:
    (root / "billing").chmod(0o555)
    try:
        assert workplaces(root)(task("billing")) == root / "billing"
    finally:
        (root / "billing").chmod(0o755)


@pytest.fixture
def strangers() -> Iterator[Path]:
    """A folder that anybody may look into, while this process is nobody in particular."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    for name in ("billing", "data"):
        (folder / name).mkdir(mode=0o700)
        (folder / name).chmod(0 if os.geteuid() else 0o700)
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(65534)  # nothing is closed to the superuser
    try:
        yield folder
    finally:
        if superuser:
            os.seteuid(0)
        for name in ("billing", "data"):
            (folder / name).chmod(0o700)
        shutil.rmtree(folder)


def test_what_may_not_be_opened_is_a_sentence(strangers: Path) -> None:
    with pytest.raises(Unavailable) as error:
        Workplaces(strangers, lambda: ("billing",), strangers / "data")(task("billing"))
    assert error.value.spoken == "I'm not allowed to open the billing folder."


def test_a_workspace_that_cannot_be_made_is_a_sentence(strangers: Path) -> None:
    with pytest.raises(KeryxError) as error:
        Workplaces(None, tuple, strangers / "data")(task(None))
    assert error.value.spoken == "I can't make a folder to work in. Look at the disk of your machine."
