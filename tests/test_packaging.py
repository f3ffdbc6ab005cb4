"""What is shipped is whole, a base install works without the voice, and the files in deploy/ are what they claim."""

import configparser
import os
import plistlib
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

WITHOUT_SPEECH = """
import sys

class Blocker:
    blocked = {"numpy", "onnxruntime", "faster_whisper", "ctranslate2", "tokenizers", "hibari", "twilio"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the working tree without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def shipped(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def run(script: str, *, path: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"PYTHONPATH": str(path)}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=path,
        env=environ,
        check=False,
    )


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no git checkout, so there is no list of files to compare with")
    return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def test_every_file_of_the_package_is_shipped(shipped: set[str]) -> None:
    assert tracked("keryx") <= shipped


def test_every_prompt_is_shipped(shipped: set[str]) -> None:
    assert {f"keryx/_prompts/{Path(name).name}" for name in tracked("prompts")} <= shipped


def test_nothing_else_is_shipped(shipped: set[str]) -> None:
    assert not [name for name in shipped if not name.startswith(("keryx/", "keryx-"))]
    assert not [name for name in shipped if "__pycache__" in name or "/tests/" in name]


def test_the_shipped_package_finds_its_texts(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    outcome = run(
        "from keryx import prompts; print(prompts.folder(), len(prompts.text('subagent_suffix.md')) > 0)", path=tmp_path
    )
    assert outcome.stderr == ""
    assert outcome.stdout.split() == [str(tmp_path / "keryx" / "_prompts"), "True"]


def test_the_command_is_installed(shipped: set[str], wheel: Path) -> None:
    entry_points = configparser.ConfigParser()
    (name,) = [name for name in shipped if name.endswith("entry_points.txt")]
    with zipfile.ZipFile(wheel) as archive:
        entry_points.read_string(archive.read(name).decode())
    assert entry_points["console_scripts"]["keryx"] == "keryx.cli.main:run"


@pytest.mark.parametrize(
    "module", ["keryx.app", "keryx.server.http", "keryx.cli.main", "keryx.cli.serve", "keryx.cli.call"]
)
def test_a_base_install_needs_none_of_the_voice(module: str) -> None:
    outcome = run(f"{WITHOUT_SPEECH}\nimport {module}")
    assert outcome.returncode == 0, outcome.stderr


def test_the_demo_brings_the_voice_and_the_base_install_does_not() -> None:
    base = " ".join(PROJECT["dependencies"])
    assert not any(name in base for name in ("numpy", "onnxruntime", "whisper", "hibari", "twilio"))
    assert "keryx[speech]" in PROJECT["optional-dependencies"]["demo"]


def test_the_makefile_names_what_there_is_to_type() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("there is no make here")
    # As a person types it, also when these tests were started by make.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    listed = subprocess.run(
        [make, "help"], cwd=ROOT, env=environ, capture_output=True, text=True, check=True, timeout=20
    ).stdout
    assert {line.split()[1] for line in listed.splitlines()} == {"help", "demo", "test", "check", "bench", "clean"}


def fake_python(folder: Path, name: str, *, new_enough: bool, has_venv: bool) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(
        f"""#!/bin/sh
        case "$2" in
            *version_info*) exit {0 if new_enough else 1} ;;
            *ensurepip*) exit {0 if has_venv else 1} ;;
        esac
        mkdir -p "$3/bin"; echo {name} > "$3/bin/made-by"
        """,
        encoding="utf-8",
    )
    path.chmod(0o755)


def make_venv(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    tools = tmp_path / "bin"
    tools.mkdir(exist_ok=True)
    for name in ("uname", "rm", "mkdir", "sh"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    return subprocess.run(
        [str(tools / "sh"), str(ROOT / "deploy" / "venv.sh"), str(tmp_path / "venv")],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


def test_an_old_python_is_passed_over_for_a_new_one(tmp_path: Path) -> None:
    fake_python(tmp_path / "bin", "python3", new_enough=False, has_venv=True)
    fake_python(tmp_path / "bin", "python3.12", new_enough=True, has_venv=True)
    assert make_venv(tmp_path).returncode == 0
    assert (tmp_path / "venv" / "bin" / "made-by").read_text().strip() == "python3.12"


def test_without_a_new_enough_python_it_says_what_to_install(tmp_path: Path) -> None:
    fake_python(tmp_path / "bin", "python3", new_enough=False, has_venv=True)
    outcome = make_venv(tmp_path)
    assert outcome.returncode == 1
    assert "Keryx needs Python 3.11 or newer" in outcome.stderr
    assert "install" in outcome.stderr


def test_without_the_venv_module_it_says_what_to_install(tmp_path: Path) -> None:
    fake_python(tmp_path / "bin", "python3", new_enough=True, has_venv=False)
    outcome = make_venv(tmp_path)
    assert outcome.returncode == 1
    assert "sudo apt install python3-venv" in outcome.stderr


def test_the_launchd_file_starts_the_daemon_and_restarts_it_after_a_crash() -> None:
    agent = plistlib.loads((ROOT / "deploy" / "launchd" / "org.keryx.daemon.plist").read_bytes())
    assert agent["ProgramArguments"][-2:] == ["/Users/YOU/.local/bin/keryx", "serve"]
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["Umask"] == 0o077


def test_the_systemd_unit_holds(tmp_path: Path) -> None:
    text = (ROOT / "deploy" / "systemd" / "keryx.service").read_text(encoding="utf-8")
    assert "ExecStart=%h/.local/bin/keryx serve\n" in text
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze here")
    unit = tmp_path / "keryx.service"
    # The program itself is not installed where the tests run.
    unit.write_text(text.replace("%h/.local/bin/keryx", "/bin/true"), encoding="utf-8")
    environ = os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)}
    outcome = subprocess.run(
        [analyze, "verify", "--user", "--man=no", str(unit)], capture_output=True, text=True, env=environ, check=False
    )
    assert "keryx.service" not in outcome.stderr, outcome.stderr
    assert outcome.returncode == 0, outcome.stderr


def test_the_container_copies_what_it_builds_from() -> None:
    lines = (ROOT / "deploy" / "container" / "Containerfile").read_text(encoding="utf-8").splitlines()
    sources = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert {"pyproject.toml", "keryx", "prompts", PROJECT["readme"], *PROJECT["license-files"]} <= set(sources)
    assert not [name for name in sources if not (ROOT / name).exists()]


@pytest.mark.parametrize("name", ["CHANGELOG.md", "SECURITY.md", "LICENSE", "README.md"])
def test_the_project_says_what_it_is(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8").strip()


def test_the_changelog_knows_this_version() -> None:
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
