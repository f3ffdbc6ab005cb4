"""What a mail's headers say, whatever is wrong with them."""

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.workspace.mail.headers import MAX_HEADER_CHARS, MAX_PEOPLE, Headers, decoded, people
from keryx.workspace.models import Person
from keryx.workspace.plain import one_line, plain
from tests.support.steps import steps


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?utf-8?b?R3LDvMOfZQ==?= aus =?iso-8859-1?q?K=F6ln?=", "Grüße aus Köln"),
        # A character split between two words, and the blank between encoded words, which means nothing.
        ("=?utf-8?q?=C3?= =?utf-8?q?=A4?=", "ä"),
        ("=?utf-8?b?4oI=?=\r\n =?utf-8?b?rA==?= each", "€ each"),
        ("=?utf-8*en?q?language?=", "language"),
        ("=?UTF-8?Q?a b?=", "a b"),
        ("=?no-such-charset?q?caf=E9?=", "café"),
        ("=?utf-8?q?caf=E9?=", "café"),
        ("=?utf-8?b?Z3LDvMOf?", "=?utf-8?b?Z3LDvMOf?"),
        ("=?utf-8?b?R3LDvA?=", "Grü"),
        ("=?utf-7?q?+ADw-script+AD4-?=", "+ADw-script+AD4-"),
        ("caf\udce9 raw", "café raw"),
        ("gr\udcc3\udcbc\udcc3\udc9fe", "grüße"),
        ("a lone \ud800 one", "a lone � one"),
        ("folded\r\n\tline", "folded line"),
    ],
)
def test_a_subject_is_read_as_its_sender_meant_it(raw: str, read: str) -> None:
    assert decoded(raw) == read


@pytest.mark.parametrize(
    "raw",
    [
        "hi\r\nBcc: evil@example.net",
        "=?utf-8?q?hi=0D=0ABcc:_evil@example.net?=",
        "hi\x85Bcc: x",
        "hi\u2028Bcc: x",
        "hi\x00\x1b[31m",
    ],
)
def test_a_header_stays_one_line_and_obeys_no_terminal(raw: str) -> None:
    read = decoded(raw)
    assert len(read.splitlines()) == 1
    assert not any(unicodedata.category(character) == "Cc" for character in read)


def test_what_cannot_be_seen_is_not_in_a_name() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")
    assert decoded(f"An\u200bna\u202e grO\u2066{hidden}\ufeff\u00ad") == "Anna grO"


def test_joiners_stay_where_a_script_or_an_emoji_needs_them() -> None:
    assert decoded("می\u200cخواهم ❤\ufe0f\u200d🔥 a\u200db") == "می\u200cخواهم ❤\ufe0f\u200d🔥 ab"


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ('"Berg, Jo" <jo@example.com>, kim@example.net', [("jo@example.com", "Berg, Jo"), ("kim@example.net", "")]),
        (r'"Jo \"JB\" Berg" <jo@example.com>', [("jo@example.com", 'Jo "JB" Berg')]),
        ("anna@example.org (Anna Müller)", [("anna@example.org", "Anna Müller")]),
        ("Anna (at (home)) <anna@example.org>", [("anna@example.org", "Anna")]),
        ("undisclosed-recipients:;", []),
        (
            "Team: a@example.org, B <b@example.org>;, c@example.org",
            [("a@example.org", ""), ("b@example.org", "B"), ("c@example.org", "")],
        ),
        # An encoded name cannot bring an address or another recipient with it.
        ("=?utf-8?q?boss=40example=2Ecom=2C_x?= <evil@example.net>", [("evil@example.net", "boss@example.com, x")]),
        ('"boss@example.com" <evil@example.net>', [("evil@example.net", "boss@example.com")]),
        ("boss@example.com <evil@example.net>", [("evil@example.net", "boss@example.com")]),
        ("Anna anna@example.org", [("anna@example.org", "Anna")]),
        ('"never closed <anna@example.org>', [("anna@example.org", "never closed")]),
        ("<anna@example.org", [("anna@example.org", "")]),
        ("A <anna@example.org> <other@example.org>", [("anna@example.org", "A")]),
        ("<@relay.example.net:anna@example.org>", [("anna@example.org", "")]),
        ("MAILER-DAEMON", [("", "MAILER-DAEMON")]),
        ("Jos\udce9 <jose@example.org>", [("jose@example.org", "José")]),
        ("a@example.org;b@example.org,,;", [("a@example.org", ""), ("b@example.org", "")]),
        ("Anna <anna@example.org\r\nBcc: evil@example.net>", [("anna@example.orgBcc:evil@example.net", "Anna")]),
        ("", []),
    ],
)
def test_who_a_mail_is_from_and_to_is_read(raw: str, read: list[tuple[str, str]]) -> None:
    assert [(person.address, person.name) for person in people(raw)] == read


def test_of_doubled_headers_the_first_counts_but_everybody_gets_the_mail() -> None:
    headers = Headers([("Subject", "one"), ("SUBJECT", "two"), ("Cc", "a@example.org"), ("cc", "b@example.org")])
    assert headers.line("subject") == "one"
    assert headers.people("Cc") == (Person("a@example.org"), Person("b@example.org"))


def test_missing_headers_are_empty_and_no_error() -> None:
    headers = Headers([])
    assert (headers.line("subject"), headers.person("from"), headers.people("to")) == ("", Person(""), ())
    assert (headers.ids("references"), headers.moment("date")) == ((), None)


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("Tue, 3 Mar 2026 14:02:11 +0100", datetime(2026, 3, 3, 13, 2, 11, tzinfo=UTC)),
        ("Tue, 3 Mar 2026 14:02:11", datetime(2026, 3, 3, 14, 2, 11, tzinfo=UTC)),
        ("yesterday", None),
        ("Tue, 99 Mar 2026 99:99:99 +9999", None),
        ("Fri, 31 Dec 9999 23:59:59 -2300", None),
    ],
)
def test_a_date_is_read_or_left_alone(raw: str, read: datetime | None) -> None:
    assert Headers([("Date", raw)]).moment("date") == read


def test_message_ids_hold_nothing_but_what_an_id_may() -> None:
    headers = Headers([("References", "<a@b> junk <c d@e>\r\n <f@g> <a@b>")])
    assert headers.ids("references") == ("<a@b>", "<f@g>")


def test_a_list_of_recipients_has_an_end() -> None:
    assert len(people("a@example.org," * 4_000)) == MAX_PEOPLE


@given(st.text(alphabet='ab@.<>(),;:"\\ =?qQ\r\n\ud800\udce9é\u202e', max_size=200))
def test_any_header_at_all_is_read_without_an_error(raw: str) -> None:
    for person in people(raw):
        assert person.address == "".join(person.address.split())
        assert person.name == one_line(person.name)
    assert decoded(raw) == one_line(decoded(raw))


@pytest.mark.parametrize(
    "piece", ['"', '\\"', "(", "<", "a@b,", "=?utf-8?q?a?= ", "=?a?b?", "a:", '"a" ', "\udce9", ";"]
)
def test_twice_the_header_is_no_more_than_twice_the_work(piece: str) -> None:
    half, whole = piece * (MAX_HEADER_CHARS // len(piece) // 8), piece * (MAX_HEADER_CHARS // len(piece) // 4)
    assert steps(lambda: (people(whole), decoded(whole))) <= 2.5 * steps(lambda: (people(half), decoded(half))) + 500


def test_text_keeps_its_lines_and_loses_what_moves_the_cursor() -> None:
    assert plain("one\r\ntwo\rthree\u2028four\tfive\x0b\x07\x9b31m") == "one\ntwo\nthree\nfour\tfive31m"
