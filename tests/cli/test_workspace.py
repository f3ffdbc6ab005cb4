"""`keryx workspace-mcp`: the owner's mail and calendar for an MCP client that they start themselves."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the google extra is not installed")

from keryx.config.places import places
from keryx.workspace.signin.oauth import INSTALL
from keryx.workspace.tools.table import TOOLS
from tests.cli.conftest import Keryx
from tests.support.google import GoogleServer, served_google
from tests.support.google.oauth import signed_in
from tests.support.workspace_server import NONE_OF, desk_of

COMMAND = ("-m", "keryx", "workspace-mcp")
WITHOUT_MCP = NONE_OF.format(names=["mcp"]) + "from keryx.cli.main import run; run()"


@pytest.fixture
def google(home: Path) -> Iterator[GoogleServer]:
    """Google, and an owner who lives in Tokyo and is signed in."""
    with served_google() as google:
        signed_in(places().google_dir, google)
        settings = f'[owner]\ntimezone = "Asia/Tokyo"\n[google]\napi_url = "{google.url}"\n'
        (home / "config.toml").write_text(settings)
        yield google


async def test_any_mcp_client_has_the_owners_mail_by_one_command(
    google: GoogleServer, home: Path, tmp_path: Path
) -> None:
    mail = google.mailbox.write(subject="Papers", files=[("paper.pdf", b"%PDF")])
    environment = {"KERYX_HOME": str(home)}
    async with desk_of([], tmp_path, program=COMMAND, environment=environment) as desk:
        assert await desk.names() == TOOLS.keys()
        assert "Asia/Tokyo" in (desk.client.instructions or "")
        assert "Papers" in await desk.call("search_mail", query="")
        await desk.call("save_attachment", message_id=mail.id, number=1)
        assert desk.errors == ""
    assert (tmp_path / "paper.pdf").read_bytes() == b"%PDF"


async def test_files_go_where_the_owner_says(google: GoogleServer, home: Path, tmp_path: Path) -> None:
    mail = google.mailbox.write(files=[("paper.pdf", b"%PDF")])
    (tmp_path / "mine").mkdir()
    environment = {"KERYX_HOME": str(home)}
    async with desk_of(["--files", "mine"], tmp_path, program=COMMAND, environment=environment) as desk:
        await desk.call("save_attachment", message_id=mail.id, number=1)
        assert "outside" in await desk.fails("save_attachment", message_id=mail.id, number=1, name="../paper.pdf")
    assert (tmp_path / "mine" / "paper.pdf").exists()
    assert not (tmp_path / "paper.pdf").exists()


async def test_it_ends_with_its_client(keryx: Keryx) -> None:
    ran = await keryx("workspace-mcp", typed="")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


async def test_a_folder_that_is_not_there_is_said(keryx: Keryx) -> None:
    ran = await keryx("workspace-mcp", "--files", "/nowhere/at/all")
    assert ran.code == 1
    assert ran.err == "keryx: /nowhere/at/all is no folder; name one that exists with --files\n"


def test_without_the_packages_it_is_said_which_command_adds_them(home: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_MCP, "workspace-mcp"], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 1
    assert INSTALL in ran.stderr
    assert ran.stdout == ""
    assert len(ran.stderr.splitlines()) == 1
