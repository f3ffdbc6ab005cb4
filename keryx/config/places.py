"""Where Keryx keeps its files. Imports nothing heavy: every command asks this, most ask no more."""

import errno
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from keryx.errors import ConfigError

APP = "keryx"


@dataclass(frozen=True)
class Places:
    """Every file and folder of one daemon. Nothing is made before `prepare()`."""

    config_dir: Path
    data_dir: Path
    state_dir: Path
    """Holds the pointers to running daemons, where another shell finds them."""
    cache_dir: Path
    """What can be made again, such as the recogniser's joined weights; kept between demos too."""
    demo: bool = False
    throw_away: bool = False
    """Whether `data_dir` was made for this run only; whoever started the run calls `discard()`."""

    @property
    def config_file(self) -> Path:
        return self.config_dir / "config.toml"

    @property
    def secrets_file(self) -> Path:
        return self.config_dir / "secrets.toml"

    @property
    def database(self) -> Path:
        return self.data_dir / "keryx.db"

    @property
    def reports_dir(self) -> Path:
        return self.data_dir / "reports"

    @property
    def google_dir(self) -> Path:
        """How the owner is signed in at Google; there once they are."""
        return self.data_dir / "google"

    @property
    def lock_file(self) -> Path:
        return self.data_dir / "keryx.lock"

    @property
    def page_key_file(self) -> Path:
        return self.data_dir / "page.key"

    @property
    def daemon_file(self) -> Path:
        # Two names, so that a demo beside the ordinary daemon does not hide it when it ends.
        return self.state_dir / ("demo.json" if self.demo else "daemon.json")

    def prepare(self) -> None:
        """Make the folders, 0700; `ConfigError` naming the one that cannot be made."""
        for folder in (self.data_dir, self.reports_dir, self.state_dir):
            make_private(folder)

    def discard(self) -> None:
        """Remove the data of a throw-away run; does nothing for any other. May be called twice."""
        if self.throw_away:
            shutil.rmtree(self.data_dir, ignore_errors=True)


def make_private(folder: Path) -> None:
    """Make `folder` and its missing parents, 0700; an existing folder keeps its mode."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        for path in reversed(missing):
            path.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "it is not a folder")
    except OSError as error:
        raise ConfigError(f"cannot make the folder {folder}: {error.strerror}; set KERYX_HOME to one you own") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"cannot write in the folder {folder}; set KERYX_HOME to one you own")


def places(*, demo: bool = False, environ: Mapping[str, str] = os.environ) -> Places:
    """The places for this environment; a demo without `KERYX_HOME` gets a new throw-away folder for its data."""
    if home := environ.get("KERYX_HOME"):
        folder = Path(home).expanduser().absolute()
        return Places(config_dir=folder, data_dir=folder, state_dir=folder, cache_dir=folder / "cache", demo=demo)
    from platformdirs import PlatformDirs

    dirs = PlatformDirs(APP, appauthor=False)
    return Places(
        config_dir=dirs.user_config_path,
        data_dir=Path(tempfile.mkdtemp(prefix="keryx-demo-")) if demo else dirs.user_data_path,
        state_dir=dirs.user_state_path,
        cache_dir=dirs.user_cache_path,
        demo=demo,
        throw_away=demo,
    )
