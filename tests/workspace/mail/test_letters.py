"""A letter leaves as it was meant, to whom it was meant, and only once."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from email import message_from_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.errors import Refused
from keryx.workspace.mail.letters import (
    MAX_LETTER_BYTES,
    MAX_RECIPIENTS,
    MAX_REFERENCES,
    answer_to,
    message_id_for,
    reply_subject,
    written,
)
from keryx.workspace.mail.mime import attachment_part, message_of
from keryx.workspace.mail.raw import payload_of
from keryx.workspace.models import Letter, Message, MessageBrief, Person
from keryx.workspace.plain import one_line, plain

ME = Person("jo@example.com", "Jo Berg")
ANNA, KIM, LEE = Person("anna@example.org", "Anna"), Person("kim@example.net"), Person("lee@example.net", "Lee")
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DAY = date(2026, 3, 2)
LETTER = Letter(to=(ANNA,), subject="Thursday", text="Does four suit you?\n")


def sent(
    letter: Letter = LETTER,
    *,
    sender: Person = ME,
    message_id: str = "<1@example.com>",
    answering: Message | None = None,
    files: Sequence[tuple[str, bytes]] = (),
) -> bytes:
    return written(letter, sender=sender, message_id=message_id, at=AT, answering=answering, files=files)


def received(raw: bytes) -> Message:
    return message_of({"payload": payload_of(raw)})


def message(
    sender: Person = ANNA, to: tuple[Person, ...] = (ME,), cc: tuple[Person, ...] = (), **more: object
) -> Message:
    brief = MessageBrief("m", "t", sender, to, "Thursday", "", AT, unread=False)
    return replace(Message(brief, cc, "text", "", message_id="<a@example.org>"), **more)  # type: ignore[arg-type]


# -- what arrives is what was written ----------------------------------------------------------------------------------

SEEN = st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co", "Zl", "Zp"))
LINE = st.text(SEEN, max_size=120).map(one_line)
ADDRESS = st.from_regex(r"[a-z][a-z0-9.+_-]{0,20}[a-z0-9]@[a-z][a-z0-9]{0,9}\.example", fullmatch=True)
PEOPLE = st.lists(st.builds(Person, ADDRESS, st.text(SEEN, max_size=40).map(one_line)), min_size=1, max_size=5).map(
    tuple
)
# Lines that begin with ">" or end in ":" are told apart as quotations, see test_quoting.
TEXT = st.lists(st.text(SEEN, max_size=300).map(plain), max_size=8).map("\n".join)
FILES = st.lists(
    st.tuples(st.text(SEEN, min_size=1, max_size=60).map(one_line).filter(bool), st.binary(max_size=200)), max_size=3
)


@settings(max_examples=150, deadline=None)
@given(PEOPLE, st.just(()) | PEOPLE, LINE, TEXT, FILES)
def test_what_is_written_is_read_the_same(
    to: tuple[Person, ...], cc: tuple[Person, ...], subject: str, text: str, files: list[tuple[str, bytes]]
) -> None:
    raw = sent(Letter(to=to, cc=cc, subject=subject, text=text), sender=to[0], files=files)
    read = received(raw)
    assert (read.brief.sender, read.brief.to, read.cc, read.brief.subject) == (to[0], to, cc, subject)
    if not re.search(r"^(>|-|_|=)|:\s*$", text, re.MULTILINE):
        assert read.text == re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip("\n")
    assert [attachment.name for attachment in read.attachments] == [name for name, _ in files]
    contents = [attachment_part({"payload": payload_of(raw)}, number).data for number in range(1, len(files) + 1)]
    assert contents == [content for _, content in files]


@settings(max_examples=100, deadline=None)
@given(PEOPLE, LINE, TEXT)
def test_what_goes_out_keeps_the_rules_of_the_wire(to: tuple[Person, ...], subject: str, text: str) -> None:
    raw = sent(Letter(to=to, subject=subject, text=text))
    assert b"\n" not in raw.replace(b"\r\n", b"")
    assert b"\r" not in raw.replace(b"\r\n", b"")
    assert all(len(line) <= 998 for line in raw.split(b"\r\n"))
    head = raw.partition(b"\r\n\r\n")[0]
    assert head.isascii()
    assert len(message_from_bytes(raw).items()) == len({name.lower() for name, _ in message_from_bytes(raw).items()})


def test_a_long_paragraph_stays_one_line() -> None:
    text = "word " * 400 + "end"
    raw = sent(replace(LETTER, text=text))
    assert received(raw).text == text
    assert all(len(line) <= 998 for line in raw.split(b"\r\n"))


def test_a_letter_names_everybody_and_itself() -> None:
    mail = message_from_bytes(
        sent(Letter(to=(ANNA, KIM), cc=(LEE,), bcc=(Person("b@example.net"),), subject="S", text="T"))
    )
    assert mail["From"] == "Jo Berg <jo@example.com>"
    assert mail["To"] == "Anna <anna@example.org>, kim@example.net"
    assert (mail["Cc"], mail["Bcc"]) == ("Lee <lee@example.net>", "b@example.net")
    assert mail["Message-ID"] == "<1@example.com>"
    assert mail["Date"] == "Mon, 02 Mar 2026 09:00:00 +0000"
    assert "In-Reply-To" not in mail


def test_files_get_the_kind_that_their_name_says_and_mails_stay_whole() -> None:
    files = [("plan.pdf", b"%PDF"), ("old.eml", b"Subject: x\n\n>From me\n"), ("notes", b"\x00")]
    read = received(sent(files=files))
    kinds = [attachment.kind for attachment in read.attachments]
    assert kinds == ["application/pdf", "application/octet-stream", "application/octet-stream"]


def test_a_domain_in_other_letters_is_kept_in_the_form_that_mail_servers_take() -> None:
    mail = message_from_bytes(sent(replace(LETTER, to=(Person("anna@bücher.example", "Anna"),))))
    assert mail["To"] == "Anna <anna@xn--bcher-kva.example>"


def test_a_name_before_the_at_in_other_letters_is_kept() -> None:
    who = Person("änna@example.org", "Änna")
    assert received(sent(replace(LETTER, to=(who,)))).brief.to == (who,)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad", ["a\r\nBcc: evil@example.net", "a\nb", "a\rb", "a\x00b", "a\x1bb", "a\x85b", "a\u2028b", "a\ud800b"]
)
@pytest.mark.parametrize("field", ["To", "Cc", "Bcc", "From", "subject", "attachment"])
def test_no_header_can_be_smuggled_in_through_any_field(bad: str, field: str) -> None:
    with pytest.raises(Refused, match=field):
        send_with(field, bad)


def send_with(field: str, bad: str) -> None:
    person = Person("anna@example.org", bad)
    match field:
        case "From":
            sent(sender=person)
        case "subject":
            sent(replace(LETTER, subject=bad))
        case "attachment":
            sent(files=[(bad, b"")])
        case _:
            sent(replace(LETTER, **{field.lower(): (person,)}))


@pytest.mark.parametrize("bad", ["a\x00b", "a\x1b[31m", "a\ud800"])
def test_a_text_holds_no_control_characters_but_line_breaks_and_tabs(bad: str) -> None:
    with pytest.raises(Refused, match="the text has"):
        sent(replace(LETTER, text=bad))
    assert received(sent(replace(LETTER, text="a\tb\r\nc\rd"))).text == "a\tb\nc\nd"


@pytest.mark.parametrize(
    "address",
    [
        *("", "anna", "anna@", "@example.org", "anna@example", "anna@localhost", "a@b@example.org", "a b@example.org"),
        *("a@example.org, b@example.org", "a@example.org;b@example.org", "Anna <a@example.org>", "<a@example.org>"),
        *(
            "a@exa mple.org",
            "a@example..org",
            "a@.example.org",
            "a@example.org.",
            "a@-x.org",
            "a@[127.0.0.1]",
            '"a b"@example.org',
        ),
        *("a@example.org\r\nBcc: b@example.org", "a\x00@example.org", "a@exam\u200bple.org", "a(b)@example.org"),
        *(f"{'a' * 65}@example.org", f"a@{'x.' * 130}org", f"a@{'x' * 64}.org", "a@\ud800.org"),
    ],
)
def test_what_is_not_one_address_is_refused(address: str) -> None:
    with pytest.raises(Refused, match="^To: ") as refusal:
        sent(replace(LETTER, to=(Person(address),)))
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_a_letter_to_nobody_is_refused_with_a_question() -> None:
    with pytest.raises(Refused) as refusal:
        sent(replace(LETTER, to=()))
    assert refusal.value.spoken == "Who should it go to?"


def test_a_letter_that_gmail_would_not_take_is_refused_before_it_is_sent() -> None:
    with pytest.raises(Refused, match="25 MB"):
        sent(files=[("big.bin", bytes(MAX_LETTER_BYTES))])
    many = tuple(Person(f"a{number}@example.org") for number in range(MAX_RECIPIENTS + 1))
    with pytest.raises(Refused, match="500"):
        sent(replace(LETTER, to=many))
    with pytest.raises(Refused, match="subject"):
        sent(replace(LETTER, subject="x" * 501))


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "answered"),
    [
        ("Thursday", "Re: Thursday"),
        ("Re: Thursday", "Re: Thursday"),
        ("RE: Thursday", "RE: Thursday"),
        ("AW: Donnerstag", "AW: Donnerstag"),
        ("SV: Torsdag", "SV: Torsdag"),
        ("RE : Jeudi", "RE : Jeudi"),
        ("Antw: Donderdag", "Antw: Donderdag"),
        ("Re[2]: Thursday", "Re[2]: Thursday"),
        ("Fwd: Thursday", "Re: Fwd: Thursday"),
        ("Ready: set", "Re: Ready: set"),
        ("", "Re:"),
    ],
)
def test_an_answer_says_re_once(subject: str, answered: str) -> None:
    assert reply_subject(subject) == answered


def test_an_answer_continues_its_thread() -> None:
    references = tuple(f"<{number}@example.org>" for number in range(40))
    answered = message(message_id="<a@example.org>", references=references)
    mail = message_from_bytes(sent(replace(LETTER, subject=""), answering=answered))
    chain = mail["References"].split()
    assert mail["Subject"] == "Re: Thursday"
    assert mail["In-Reply-To"] == "<a@example.org>"
    assert (len(chain), chain[0], chain[-2:]) == (
        MAX_REFERENCES,
        "<0@example.org>",
        ["<39@example.org>", "<a@example.org>"],
    )


def test_an_answer_to_a_message_without_an_id_or_with_a_broken_one_starts_a_thread() -> None:
    for broken in ("", "no brackets", "<a\r\nBcc: b@c>"):
        assert "References" not in message_from_bytes(sent(answering=message(message_id=broken)))


@pytest.mark.parametrize(
    ("answered", "everyone", "to", "cc"),
    [
        (message(), False, (ANNA,), ()),
        (message(to=(ME, KIM), cc=(LEE,)), False, (ANNA,), ()),
        (message(to=(ME, KIM), cc=(LEE,)), True, (ANNA, KIM), (LEE,)),
        (message(reply_to=(KIM,)), False, (KIM,), ()),
        (message(to=(ME, KIM), cc=(KIM, ME, LEE), reply_to=(KIM, LEE)), True, (KIM, LEE), ()),
        (message(reply_to=(ME,)), False, (ANNA,), ()),
        (message(to=(Person("JO@Example.com"), KIM)), True, (ANNA, KIM), ()),
        (message(sender=ME, to=(ANNA, KIM), cc=(LEE,)), False, (ANNA, KIM), ()),
        (message(sender=ME, to=(ANNA, ME), cc=(LEE, ANNA)), True, (ANNA,), (LEE,)),
        (message(sender=ME, to=(ME,)), True, (ME,), ()),
        (message(to=(Person("", "a list"), ME)), True, (ANNA,), ()),
    ],
)
def test_an_answer_goes_to_whom_a_person_would_send_it(
    answered: Message, everyone: bool, to: tuple[Person, ...], cc: tuple[Person, ...]
) -> None:
    assert answer_to(answered, ME.address, everyone) == (to, cc)


def test_gmails_dots_and_plus_do_not_make_the_owner_somebody_else() -> None:
    answered = message(to=(Person("j.berg+lists@googlemail.com"), KIM))
    assert answer_to(answered, "jberg@gmail.com", True) == ((ANNA, KIM), ())


def test_a_message_from_nobody_is_not_answered() -> None:
    with pytest.raises(Refused, match="who sent it"):
        answer_to(message(sender=Person("", "Mailer")), ME.address, False)


# -- sent once ---------------------------------------------------------------------------------------------------------


def ident(letter: Letter = LETTER, thread: str | None = "t", day: date = DAY, salt: str = "", **more: object) -> str:
    return message_id_for(letter, ME, thread, day, salt, **more)  # type: ignore[arg-type]


def test_the_same_letter_has_the_same_id_however_it_is_laid_out() -> None:
    one = Letter(to=(ANNA, KIM), cc=(LEE, ME), subject="Thursday", text="Does four suit you?\nJo")
    other = Letter(
        to=(Person("KIM@example.net", "Kim"), Person("Anna@Example.org"), KIM),
        cc=(ME, LEE),
        subject=" Thursday ",
        text="Does four suit you?  \r\nJo\n\n",
    )
    assert ident(one) == ident(other)
    assert re.fullmatch(r"<keryx\.[0-9a-f]{40}@example\.com>", ident(one))


@pytest.mark.parametrize(
    "other",
    [
        ident(replace(LETTER, text="Does five suit you?")),
        ident(replace(LETTER, text="Does four\nsuit you?")),
        ident(replace(LETTER, subject="Friday")),
        ident(replace(LETTER, to=(KIM,))),
        ident(replace(LETTER, to=(), cc=(ANNA,))),
        ident(replace(LETTER, cc=(KIM,))),
        ident(replace(LETTER, files=("a.pdf",))),
        ident(thread=None),
        ident(day=date(2026, 3, 3)),
        ident(salt="again"),
        ident(files=[("a.pdf", b"1")]),
        message_id_for(LETTER, ANNA, "t", DAY),
    ],
)
def test_another_letter_has_another_id(other: str) -> None:
    assert other != ident()


def test_what_a_file_holds_makes_another_letter_of_it() -> None:
    assert ident(files=[("a.pdf", b"1")]) != ident(files=[("a.pdf", b"2")])
