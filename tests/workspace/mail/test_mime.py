"""A mail is read whatever its sender made of it: its words, what it quotes, and its files."""

import base64
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.errors import NotFound
from keryx.workspace.mail.mime import (
    CUT,
    ELSEWHERE,
    ENCRYPTED,
    MAX_TEXT_CHARS,
    NESTED,
    attachment_part,
    brief_of,
    message_of,
)
from keryx.workspace.mail.parts import MAX_DEPTH, MAX_PARTS
from keryx.workspace.mail.raw import payload_of
from keryx.workspace.models import Attachment, Message, Person
from tests.support.steps import steps

MAILS = Path(__file__).parent.parent.parent / "fixtures" / "mail"


def resource(name: str) -> dict[str, Any]:
    return {"id": "m1", "threadId": "t1", "payload": payload_of((MAILS / f"{name}.eml").read_bytes())}


def mail(name: str) -> Message:
    return message_of(resource(name))


def part(
    kind: str, content: bytes = b"", name: str = "", parts: list[Any] | None = None, **headers: str
) -> dict[str, Any]:
    return {
        "mimeType": kind,
        "filename": name,
        "headers": [{"name": key.replace("_", "-"), "value": value} for key, value in headers.items()],
        "body": {
            "size": len(content),
            **({"data": base64.urlsafe_b64encode(content).decode().rstrip("=")} if content else {}),
        },
        **({"parts": parts} if parts is not None else {}),
    }


def read(*parts: dict[str, Any], kind: str = "multipart/mixed") -> Message:
    return message_of({"payload": part(kind, parts=list(parts))})


# -- whole mails -------------------------------------------------------------------------------------------------------


def test_an_answer_from_gmail_is_its_own_words_and_the_rest_is_folded() -> None:
    read = mail("gmail_reply")
    assert read.text == "I took the second one, it is shorter: here <https://papers.example.org/2.pdf>."
    assert read.quoted.startswith("> On Mon, 2 Mar 2026 at 09:15, Berg, Jo <jo@example.com> wrote:")
    assert "> Which of the two papers shall we read?" in read.quoted
    assert read.brief.sender == Person("anna@example.org", "Anna Müller")
    assert read.brief.to == (Person("jo@example.com", "Berg, Jo"), Person("kim@example.net", "Kim"))
    assert read.cc == (Person("reading-group@example.org"),)
    assert read.brief.subject == "Re: Papers for Thursday 📆"
    assert read.message_id == "<CA+anna2@mail.example.org>"
    assert read.references == ("<CA+first@mail.example.com>", "<CA+jo1@mail.example.com>")
    assert read.attachments == ()


def test_answers_between_the_lines_keep_what_they_answer() -> None:
    assert mail("gmail_interleaved").text == (
        "Answers below.\n\n> …\n> I hope you are well.\n> There are a few things.\n> First, when do we meet?\n\n"
        "On Thursday.\n\n> And where?\n\nIn the library."
    )


def test_an_answer_from_outlook_in_german_is_its_own_words() -> None:
    read = mail("outlook_reply_de")
    assert read.text == "Vier Uhr passt, bis später.\n\nViele Grüße\nJo"
    assert read.quoted.endswith("Geht es auch um vier?")


def test_a_forwarded_message_is_read_whole() -> None:
    read = mail("forward")
    assert read.text.startswith("See below, please confirm.\n\n---------- Forwarded message ---------\nFrom: Rooms")
    assert read.text.endswith("Room 4 is yours on Thursday.\n\n> Can I have room 4?")
    assert read.quoted == ""


def test_a_message_in_a_message_is_read_with_its_headers_and_its_files_are_listed() -> None:
    read = mail("attached_message")
    assert read.text == (
        "This one.\n\n[An attached message:]\nFrom: Rooms <rooms@example.net>\nTo: anna@example.org\n"
        "Date: Mon, 2 Mar 2026 08:00:00 +0100\nSubject: Room booking\n\nRoom 4 is yours.\n\n> Can I have room 4?"
    )
    assert read.attachments == (Attachment(1, "plan.pdf", "application/pdf", 9),)


def test_a_message_in_a_message_that_gmail_did_not_take_apart_is_read_too() -> None:
    inner = (MAILS / "attached_message.eml").read_bytes()
    found = read(part("text/plain", b"outer"), part("message/rfc822", inner, "x.eml"))
    assert "Room 4 is yours." in found.text
    assert [attachment.name for attachment in found.attachments] == ["x.eml"]


def test_a_bounce_says_who_did_not_get_it_and_why() -> None:
    read = mail("bounce")
    assert read.text == (
        "Your message could not be delivered.\n\nFinal-recipient: rfc822; nobody@example.org\nAction: failed\n"
        "Status: 5.1.1\nDiagnostic-code: smtp; 550 5.1.1 no such user"
    )
    assert "What I had written." in read.quoted
    assert read.attachments == ()


def test_an_invitation_is_said_in_two_lines_and_listed_once() -> None:
    read = mail("invitation")
    assert read.text == (
        "You have been invited.\n\n[Invitation: Planning, part two, 5 March 2026 14:00–15:30 (Europe/Berlin)\n"
        "at Room 4; from Müller, Anna <anna@example.org>; repeated]"
    )
    assert [attachment.name for attachment in read.attachments] == ["invite.ics"]


def test_a_newsletter_is_what_a_person_sees_of_it() -> None:
    read = mail("newsletter")
    assert read.text == (
        "Spring is here\n\n[Our logo]\n\nAll shoes half price <https://shop.example.net/shoes?from=mail>.\n\n"
        "Shoe | Price\nRed | 20"
    )
    assert "ASSISTANT" not in read.text + read.quoted
    names = [(attachment.number, attachment.name) for attachment in read.attachments]
    assert names == [(1, "attachment-1.png"), (2, "Preise ü.pdf")], "the logo that the page shows is no attachment"


def test_a_signed_message_is_its_words_and_no_signature_file() -> None:
    read = mail("signed")
    assert read.text == (
        "This line was broken by the sender's program and goes on here.\n\n> Is it you? I wonder.\n\nYes.\n\n--\nAnna"
    )
    assert read.attachments == ()


def test_a_label_that_is_wrong_does_not_spoil_the_words() -> None:
    read = mail("latin1_as_utf8")
    assert (read.text, read.brief.subject) == ("El café está frío – ven.", "Café mañana")
    assert (read.brief.sender.name, read.brief.to) == ("José", ())


def test_japanese_as_mail_has_written_it_for_decades_is_read() -> None:
    read = mail("iso2022jp")
    assert (read.text, read.brief.subject, read.brief.sender.name) == ("こんにちは", "会議", "山田")


OLD = "<div>Which day?</div>"
WROTE = "On Mon, Mar 2, 2026 at 9:15 AM, Jo &lt;jo@example.com&gt; wrote:"
PAGES = {
    "Gmail, as it used to be": f'<div>Fine</div><div class="gmail_extra"><br><div class="gmail_quote">{WROTE}<br>'
    f'<blockquote class="gmail_quote">{OLD}</blockquote></div></div>',
    "Outlook": "<p class=MsoNormal>Fine<o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p><div style='border:none;"
    "border-top:solid #E1E1E1 1.0pt'><p class=MsoNormal><b>From:</b> Jo <br><b>Sent:</b> Monday<br><b>To:</b> Anna<br>"
    f"<b>Subject:</b> Day</p></div>{OLD}",
    "an iPhone": f'<div dir="ltr">Fine</div><div><br><blockquote type="cite">{WROTE}<br><br></blockquote></div>'
    f'<blockquote type="cite">{OLD}</blockquote>',
    "Thunderbird": '<p>Fine</p><div class="moz-cite-prefix">Am 02.03.26 um 09:15 schrieb Jo:<br></div>'
    f'<blockquote type="cite" cite="mid:x">{OLD}</blockquote>',
    "Yahoo": f'<div>Fine</div><div id="yahoo_quoted_1" class="yahoo_quoted"><div>{WROTE}</div><br>{OLD}</div>',
    "Proton": f'<div>Fine</div><div class="protonmail_quote">{WROTE}<br>'
    f'<blockquote class="protonmail_quote" type="cite">{OLD}</blockquote></div>',
    "Web.de": '<div>Fine</div><div name="quote"><div><b>Gesendet:</b> Montag<br><b>Von:</b> Jo<br><b>An:</b> Anna<br>'
    f"<b>Betreff:</b> Tag</div>{OLD}</div>",
}


@pytest.mark.parametrize("program", PAGES)
def test_an_answer_is_its_own_words_whatever_program_wrote_it(program: str) -> None:
    found = read(part("text/html", PAGES[program].encode(), Content_Type="text/html; charset=utf-8"))
    assert found.text == "Fine"
    assert "Which day?" in found.quoted


# -- single shapes -----------------------------------------------------------------------------------------------------


def test_the_plain_twin_is_read_only_where_the_page_says_nothing() -> None:
    plain, page = part("text/plain", b"plain"), part("text/html", b"<p>page")
    assert read(plain, page, kind="multipart/alternative").text == "page"
    assert read(plain, part("text/html", b"<img src=x>"), kind="multipart/alternative").text == "plain"
    assert read(plain, part("multipart/related", parts=[page]), kind="multipart/alternative").text == "page"
    assert read(part("text/plain", b" \n"), kind="multipart/alternative").text == ""
    assert read(plain, page, kind="multipart/alternative").attachments == ()


def test_text_in_several_parts_is_read_in_order_and_text_files_are_files() -> None:
    notes = part("text/plain", b"not read", "notes.txt")
    unnamed = part("text/plain", b"nor this", Content_Disposition="attachment")
    found = read(part("text/plain", b"one"), part("image/png", b"x"), part("text/plain", b"two"), notes, unnamed)
    assert found.text == "one\n\ntwo"
    assert [attachment.name for attachment in found.attachments] == [
        "attachment-1.png",
        "notes.txt",
        "attachment-3.txt",
    ]


def test_a_text_that_gmail_keeps_apart_is_listed_as_a_file() -> None:
    page = part("text/html")
    page["body"] = {"size": 9_000_000, "attachmentId": "A1"}
    found = read(part("text/plain", b"plain"), page, kind="multipart/alternative")
    assert found.text == ELSEWHERE
    assert found.attachments == (Attachment(1, "attachment-1.html", "text/html", 9_000_000),)


def test_an_encrypted_message_says_that_it_is() -> None:
    assert read(part("application/octet-stream", b"x"), kind="multipart/encrypted").text == ENCRYPTED
    assert message_of({"payload": part("application/pkcs7-mime", b"x")}).text == ENCRYPTED


@pytest.mark.parametrize(
    ("calendar", "said"),
    [
        (
            "METHOD:CANCEL\nBEGIN:VEVENT\nSUMMARY:Lunch\nDTSTART;VALUE=DATE:20260305\nEND:VEVENT",
            "[Cancelled: Lunch, 5 March 2026, all day]",
        ),
        (
            "METHOD:REPLY\nBEGIN:VEVENT\nSUMMARY:Lunch\nDTSTART:20260305T110000Z\n"
            "ATTENDEE;PARTSTAT=DECLINED;CN=Kim:mailto:kim@example.net\nEND:VEVENT",
            "[Answer to an invitation: Lunch, 5 March 2026 11:00 (UTC)\nKim <kim@example.net>: declined]",
        ),
        ("BEGIN:VEVENT\nDTSTART:garbage\nEND:VEVENT", "[Event: without a title]"),
        ("BEGIN:VEVENT\nSUMMARY:a\\nb\u202e\\, c\n", "[Event: a b, c]"),
        ("hello", ""),
        ("", ""),
    ],
)
def test_what_a_calendar_file_is_about_is_said(calendar: str, said: str) -> None:
    assert read(part("text/calendar", calendar.encode())).text == said


def test_an_unnamed_calendar_file_gets_a_name() -> None:
    assert [attachment.name for attachment in read(part("text/calendar", b"x")).attachments] == ["invitation.ics"]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("=?utf-8?q?r=C3=A9sum=C3=A9.pdf?=", "résumé.pdf"),
        ("../../etc/pass\r\nwd", "../../etc/pass wd"),
        ("fdp\u202e.exe", "fdp.exe"),
    ],
)
def test_a_file_name_is_one_line_without_tricks(raw: str, shown: str) -> None:
    assert read(part("application/pdf", b"x", raw)).attachments[0].name == shown


def test_a_file_is_found_again_by_its_number() -> None:
    found = resource("newsletter")
    assert attachment_part(found, 2).data == b"%PDF-1.4\n"
    far = {"payload": {"parts": [{"mimeType": "a/b", "filename": "big", "body": {"size": 9, "attachmentId": "A1"}}]}}
    assert attachment_part(far, 1).attachment_id == "A1"
    assert attachment_part(far, 1).data is None
    for number in (0, -1, 3):
        with pytest.raises(NotFound, match="numbered 1 to 2"):
            attachment_part(found, number)
    with pytest.raises(NotFound, match="has none"):
        attachment_part(resource("signed"), 1)


def test_a_list_shows_what_gmail_says_of_a_message() -> None:
    found = brief_of(
        {
            "id": "m1",
            "threadId": "t1",
            "labelIds": ["INBOX", "UNREAD"],
            "snippet": "Tom &amp; I\u200b said &#39;yes&#39;",
            "internalDate": "1772442000000",
            "payload": {
                "headers": [
                    {"name": "Subject", "value": "Hi"},
                    {"name": "DATE", "value": "Mon, 1 Jan 2001 00:00:00 +0000"},
                ]
            },
        }
    )
    assert (found.id, found.thread_id, found.unread, found.labels) == ("m1", "t1", True, ("INBOX", "UNREAD"))
    assert (found.snippet, found.subject, found.sender) == ("Tom & I said 'yes'", "Hi", Person(""))
    assert found.at == datetime(2026, 3, 2, 9, 0, tzinfo=UTC), "what the sender's clock says does not count"


# -- what is broken, deep or without end -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "payload",
    [None, {}, [], "x", 5, {"parts": "x"}, {"parts": [None, 3]}, {"headers": [None, {}, {"name": 1}]}, {"body": []}],
)
def test_a_message_without_a_shape_is_an_empty_one(payload: Any) -> None:
    found = message_of({"payload": payload})
    assert (found.text, found.quoted, found.attachments, found.brief.sender) == ("", "", (), Person(""))
    assert found.brief.at == datetime(1970, 1, 1, tzinfo=UTC)


def nested(depth: int) -> dict[str, Any]:
    inner = part("text/plain", b"inside")
    for _ in range(depth):
        inner = part("multipart/mixed", parts=[inner])
    return inner


def test_parts_within_parts_are_read_to_a_depth_and_it_is_said_where_that_ends() -> None:
    assert message_of({"payload": nested(MAX_DEPTH)}).text == "inside"
    assert message_of({"payload": nested(MAX_DEPTH + 1)}).text == NESTED
    assert message_of({"payload": nested(700)}).text == NESTED


def test_of_thousands_of_parts_a_bounded_number_is_read() -> None:
    found = read(*[part("text/plain", b"x")] * 5_000)
    assert found.text.count("x") == MAX_PARTS - 1
    assert NESTED in found.text


def test_raw_mail_nested_without_end_is_no_error() -> None:
    head = b"".join(
        b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (level, level) for level in range(3_000)
    )
    assert isinstance(message_of({"payload": payload_of(head + b"\nx")}), Message)


@pytest.mark.parametrize("kind", ["text/plain", "text/html"])
def test_a_body_of_ten_megabytes_is_cut_and_says_so(kind: str) -> None:
    found = read(part(kind, b"words and\n" * 1_000_000))
    assert len(found.text) <= MAX_TEXT_CHARS + len(CUT) + 2
    assert found.text.endswith(CUT)


def test_a_long_quotation_is_cut_and_says_so() -> None:
    found = read(part("text/plain", b"Fine.\n\n" + b"> and so on\n" * 20_000))
    assert found.text == "Fine."
    assert found.quoted.endswith(CUT)


def test_a_thousand_pages_are_no_more_work_than_a_large_one() -> None:
    page = part("text/html", b"<i></i>" * 3_000)
    assert steps(lambda: read(*[page] * 40)) < 5_000_000


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "mimeType",
                        "filename",
                        "headers",
                        "body",
                        "parts",
                        "data",
                        "size",
                        "attachmentId",
                        "name",
                        "value",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_json_comes_it_is_some_message(payload: Any) -> None:
    assert isinstance(message_of({"payload": payload, "internalDate": payload}), Message)


KINDS = st.sampled_from(
    "text/plain text/html text/calendar multipart/mixed multipart/alternative multipart/report multipart/signed"
    " message/rfc822 message/delivery-status application/pdf image/png".split()
)
PARTS = st.recursive(
    st.builds(
        part,
        KINDS,
        st.sampled_from([b"", b"words", b"<p>page", b"\xff\xfe", b"BEGIN:VEVENT\nSUMMARY:s"]),
        st.sampled_from(["", "f"]),
    ),
    lambda inner: st.builds(part, KINDS, st.just(b""), st.just(""), st.lists(inner, max_size=4)),
    max_leaves=12,
)


@given(PARTS)
def test_the_numbers_of_attachments_hold_whatever_the_parts(payload: dict[str, Any]) -> None:
    found = {"payload": payload}
    listed = message_of(found).attachments
    assert [attachment.number for attachment in listed] == list(range(1, len(listed) + 1))
    assert [attachment_part(found, attachment.number).attachment for attachment in listed] == list(listed)
    assert all(attachment.name for attachment in listed)
