"""The owner's mail and calendar in the hands of every agent, from the model's call to what stands at Google afterwards.

The agents, the server and Google's own client library are real; what the model says is scripted, and Google is on
loopback.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from keryx.agency.workspace import workspace_servers
from keryx.agents.approver import NobodyToAsk
from keryx.agents.base import Answer, Effect, RunResult
from keryx.approvals.modes import ModeApprover
from keryx.config.settings import Settings
from tests.agents.benches import REAL, Real
from tests.support.google.oauth import signed_in
from tests.support.google.server import GoogleServer, served_google
from tests.support.listener import BOUND_S, Listener
from tests.support.model_steps import Call, Say

DONE = Say("Done.\n\nSPOKEN_SUMMARY: It is done.")
PAPERS = "> Anna Berg <anna@example.com>: The papers for Tuesday"
LETTER = {"to": ["Bo Lind <bo@example.org>"], "subject": "Thursday", "text": "Dear Bo,\n\nThursday it is."}


@dataclass
class Desk:
    """A real agent, and the Google that its owner is signed in at."""

    real: Real
    google: GoogleServer
    folder: Path

    def __post_init__(self) -> None:
        owner, google = {"timezone": "Europe/Berlin"}, {"api_url": self.google.url}
        settings = Settings.model_validate({"owner": owner, "google": google})
        self.servers = workspace_servers(self.folder, settings, {"HOME": str(self.folder.parent)}, secret="secret")
        self.real.equipped(mcp_servers=self.servers, approver=ModeApprover(self.real.approver))

    def call(self, tool: str, **arguments: Any) -> Call:
        """A step in which the model calls a tool of the server."""
        (name,) = self.servers(self.real.workplace)
        return Call(f"mcp__{name}__{tool}", arguments)

    async def turn(self, *steps: Call, mode: str = "auto", listener: Listener | None = None) -> RunResult:
        """One task, in which the model takes `steps` and is done."""
        self.real.server.script(*steps, DONE)
        session = await self.real.runner.open(self.real.task(mode=mode))
        try:
            async with asyncio.timeout(BOUND_S):
                result = await session.run("do it", on_progress=listener or Listener())
        finally:
            await session.close()
        assert result.ok, result.error
        assert result.spoken_summary == "It is done."
        return result

    @property
    def sent(self) -> list[str]:
        """The subjects of what has been sent."""
        return [mail.subject for mail in self.google.mailbox.mails.values() if "SENT" in mail.labels]


@pytest.fixture(params=REAL, ids=lambda factory: factory.__name__)
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    async with request.param(tmp_path) as real:
        with served_google(zone="Europe/Berlin") as google:
            folder = tmp_path / "data" / "google"
            signed_in(folder, google)
            yield Desk(real, google, folder)


async def test_what_was_mailed_reaches_the_model_unasked_and_marked_as_somebody_elses_words(desk: Desk):
    desk.google.mailbox.write("As promised.", subject="The papers for Tuesday")
    listener = Listener()
    await desk.turn(desk.call("search_mail", query="from:anna"), listener=listener)
    assert desk.real.server.heard(PAPERS) == 1
    assert not desk.real.approver.asks
    assert listener.place("Searching the mail") >= 0


async def test_the_model_is_told_that_there_is_mail_and_a_calendar(desk: Desk):
    await desk.turn()
    (name,) = desk.servers(desk.real.workplace)
    assert name in json.dumps(desk.real.server.requests[0])


async def test_a_letter_is_sent_once_and_only_when_that_was_allowed(desk: Desk):
    desk.real.approver.answers.append(Answer(False, "Not yet."))
    await desk.turn(desk.call("send_mail", **LETTER))
    assert desk.sent == []
    await desk.turn(desk.call("send_mail", **LETTER))
    assert desk.sent == ["Thursday"]
    assert [ask.effect for ask in desk.real.approver.asks] == [Effect.SEND, Effect.SEND]
    assert desk.real.approver.asks[0].text == "send a mail to Bo Lind, bo@example.org, subject: Thursday"
    assert "Dear Bo,\n\nThursday it is." in desk.real.approver.asks[0].detail


async def test_a_draft_is_free_and_nobody_gets_it(desk: Desk):
    await desk.turn(desk.call("draft_mail", **LETTER))
    assert [draft.mail.subject for draft in desk.google.mailbox.drafts.values()] == ["Thursday"]
    assert desk.sent == []
    assert not desk.real.approver.asks


async def test_a_plan_reads_and_changes_nothing(desk: Desk):
    desk.google.mailbox.write("As promised.", subject="The papers for Tuesday")
    before = len(desk.google.mailbox.mails)
    calls = [desk.call("send_mail", **LETTER), desk.call("draft_mail", **LETTER), desk.call("search_mail", query="")]
    await desk.turn(*calls, mode="plan")
    assert len(desk.google.mailbox.mails) == before
    assert not desk.google.mailbox.drafts
    assert not desk.real.approver.asks


async def test_an_attachment_lands_in_the_directory_of_the_task(desk: Desk):
    mail = desk.google.mailbox.write("Here.", subject="Papers", files=[("paper.pdf", b"%PDF-1.7 short")])
    await desk.turn(desk.call("save_attachment", message_id=mail.id, number=1))
    assert (desk.real.workplace / "paper.pdf").read_bytes() == b"%PDF-1.7 short"
    assert not desk.real.approver.asks


async def test_when_nobody_can_be_asked_nothing_is_sent_and_the_turn_goes_on(desk: Desk):
    desk.real.equipped(approver=ModeApprover(NobodyToAsk()))
    await desk.turn(desk.call("send_mail", **LETTER))
    assert desk.sent == []
    if desk.real.task().agent == "claude":  # the others' protocols have no room for a reason
        assert desk.real.server.heard("Nobody can be asked just now") == 1


async def test_a_meeting_is_put_in_freely_and_guests_are_asked_about(desk: Desk):
    desk.real.approver.otherwise = Answer(False, "No.")
    when = {"start": "2026-12-03T10:00", "end": "2026-12-03T11:00"}
    await desk.turn(desk.call("create_event", title="Review", **when))
    assert desk.google.count("calendar.events.insert") == 1
    assert not desk.real.approver.asks
    (event,) = desk.google.asked("calendar.events.insert")
    await desk.turn(desk.call("invite_guests", event_id=event.body["id"], guests=["bo@example.org"]))
    assert [ask.effect for ask in desk.real.approver.asks] == [Effect.SEND]
    assert not desk.google.notices


async def test_signing_in_is_seen_by_the_next_task_and_signing_out_too(desk: Desk):
    desk.google.mailbox.write("As promised.", subject="The papers for Tuesday")
    call = desk.call("search_mail", query="")
    kept = (desk.folder / "sign-in.json").read_text()
    (desk.folder / "sign-in.json").unlink()
    assert desk.servers(desk.real.workplace) == {}
    await desk.turn(call)
    assert desk.real.server.heard("The papers for Tuesday") == 0
    (desk.folder / "sign-in.json").write_text(kept)
    await desk.turn(call)
    assert desk.real.server.heard(PAPERS) == 1
