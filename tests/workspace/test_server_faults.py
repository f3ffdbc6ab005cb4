"""The workspace server while Google, the line to it or a letter is at its worst: driven as an agent drives it."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the google extra is not installed")

from tests.support.google import BATCH, Cut, Garbage, GoogleServer, HangUp, Status, served_google
from tests.support.google.oauth import signed_in
from tests.support.workspace_server import ZONE, Wire, desk_of, words

LIST = "gmail.users.messages.list"
SEND = "gmail.users.messages.send"
PATCH = "calendar.events.patch"
LETTER = {"to": ["bo@example.org"], "subject": "Thursday", "text": "Thursday it is."}
REVIEW = {"title": "Review", "start": "2026-12-04T15:00"}
FILE_BYTES = 25_000_000
MOST_MORE_KIB = 8 * 1024
"""What saving a file may take besides; the file itself has twice that, and more as it travels."""


@pytest.fixture
def google() -> Iterator[GoogleServer]:
    with served_google(zone=ZONE) as google:
        yield google


@pytest.fixture
def arguments(google: GoogleServer, tmp_path: Path) -> list[str]:
    """Somebody is signed in, and their task has a folder."""
    signed_in(tmp_path / "google", google)
    (tmp_path / "task").mkdir()
    return words(tmp_path / "google", tmp_path / "task", google.url)


# -- faults ------------------------------------------------------------------------------------------------------------


async def test_what_passes_is_not_noticed(google: GoogleServer, arguments: list[str], tmp_path: Path) -> None:
    google.mailbox.write(subject="Papers")
    async with desk_of(arguments, tmp_path) as desk:
        for method, fault in (
            (LIST, Status(401, "authError")),
            (LIST, Status(429, "rateLimitExceeded")),
            (LIST, Status(429, "rateLimitExceeded", headers={"Retry-After": "1"})),
            (LIST, Status(502)),
            (LIST, Cut(3)),
            (LIST, HangUp()),
            (BATCH, Cut(100)),
            (BATCH, Garbage()),
        ):
            google.faults.script(method, fault)
            assert "Papers" in await desk.call("search_mail", query=""), fault
        assert google.faults.left == 0
        assert desk.errors == ""


async def test_what_does_not_pass_says_what_to_do(google: GoogleServer, arguments: list[str], tmp_path: Path) -> None:
    made = google.calendars.insert(google.calendars["primary"], {"summary": "Review", **at_three()})
    async with desk_of(arguments, tmp_path) as desk:
        later = {"Retry-After": "3600"}
        google.faults.script(LIST, Status(429, "rateLimitExceeded", headers=later))
        assert "try again in" in await desk.fails("search_mail", query="")

        google.faults.script(LIST, *[Status(401, "authError")] * 2)
        assert "run keryx auth login google" in await desk.fails("search_mail", query="")

        google.faults.script(PATCH, Status(412, "conditionNotMet"))
        assert "changed" in await desk.fails("change_event", event_id=made["id"], title="Big review")
        assert google.calendars["primary"].events[made["id"]]["summary"] == "Review"

        assert "there is no" in await desk.fails("read_event", event_id="k00000099gone")
        assert desk.errors == ""


def at_three() -> dict[str, dict[str, str]]:
    return {"start": {"dateTime": "2026-12-04T15:00:00+01:00"}, "end": {"dateTime": "2026-12-04T16:00:00+01:00"}}


@pytest.mark.parametrize("fault", [Status(500, after=True), HangUp(after=True), Cut(), Garbage()], ids=str)
async def test_a_letter_whose_answer_is_lost_has_gone_out_once(
    google: GoogleServer, arguments: list[str], tmp_path: Path, fault: Status | HangUp | Cut | Garbage
) -> None:
    google.faults.script(SEND, fault)
    async with desk_of(arguments, tmp_path) as desk:
        assert "is sent" in await desk.call("send_mail", **LETTER)
    assert [mail.subject for mail in google.mailbox.outbox] == ["Thursday"]


async def test_another_server_of_the_same_owner_sends_and_makes_nothing_twice(
    google: GoogleServer, arguments: list[str], tmp_path: Path
) -> None:
    for already in (False, True):
        async with desk_of(arguments, tmp_path) as desk:
            sent, made = await desk.call("send_mail", **LETTER), await desk.call("create_event", **REVIEW)
        assert ("had been sent today already" in sent) is already
        assert ("there already" in made) is already
    assert len(google.mailbox.outbox) == 1
    assert len(google.calendars["primary"].events) == 1


# -- what is large -----------------------------------------------------------------------------------------------------


async def test_a_long_letter_is_read_piece_by_piece_to_its_end(
    google: GoogleServer, arguments: list[str], tmp_path: Path
) -> None:
    letter = "\n".join(f"line {number}: {'word ' * (number % 40)}".rstrip() for number in range(400))
    mail = google.mailbox.write(letter)
    read: list[str] = []
    given = {"message_id": mail.id}
    async with desk_of(arguments, tmp_path) as desk:
        while True:
            shown = await desk.call("read_message", **given)
            assert len(shown) < 10_000
            read += re.findall(r"^> (line \d.*)$", shown, re.MULTILINE)
            pointer = re.search(
                r"\(\d+ more characters: read_message with message_id=(\w+) from_character=(\d+)\)", shown
            )
            if pointer is None:
                break
            given = {"message_id": pointer[1], "from_character": int(pointer[2])}
    assert "\n".join(read) == letter
    assert len(desk.called) > 3


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process tells the most that it ever took")
async def test_a_large_file_never_is_in_the_memory(google: GoogleServer, arguments: list[str], tmp_path: Path) -> None:
    content = bytes(range(256)) * (FILE_BYTES // 256)
    small = google.mailbox.write(files=[("small.bin", b"x" * 10_000)])
    large = google.mailbox.write(files=[("large.bin", content)])
    async with Wire.of(arguments) as wire:
        await wire.hello()

        async def save(mail_id: str) -> int:
            """Saves the file; the most memory the server ever had until then, in KiB."""
            given = {"message_id": mail_id, "number": 1}
            result = await wire.ask(2, "tools/call", {"name": "save_attachment", "arguments": given})
            assert not result["isError"], result
            return peak_kib(wire.process.pid)

        before_kib = await save(small.id)
        assert await save(large.id) - before_kib < MOST_MORE_KIB
    assert (tmp_path / "task" / "large.bin").read_bytes() == content


def peak_kib(pid: int) -> int:
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(peak)
