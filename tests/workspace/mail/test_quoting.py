"""What somebody wrote is told apart from what they quote, in many programs' and languages' ways of quoting."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.workspace.mail.quoting import begins_forwarded, is_forward, split
from tests.support.steps import steps

ANNOUNCED = [
    "On Mon, 2 Mar 2026 at 09:15, Jo Berg <jo@example.com> wrote:",
    "On 2 Mar 2026, at 09:15, Jo Berg <jo@example.com> wrote:",
    "On 3/2/26 9:15 AM, Jo Berg wrote:",
    "Am Mo., 2. März 2026 um 09:15 Uhr schrieb Jo Berg <jo@example.com>:",
    "Am 02.03.26 um 09:15 schrieb Jo Berg:",
    "Le lun. 2 mars 2026 à 09:15, Jo Berg <jo@example.com> a écrit :",
    "Le 02/03/2026 à 09:15, Jo Berg a écrit\u00a0:",
    "El lun, 2 mar 2026 a las 9:15, Jo Berg (<jo@example.com>) escribió:",
    "El 2/3/26 a las 9:15, Jo Berg escribió:",
    "Il giorno lun 2 mar 2026 alle ore 09:15 Jo Berg <jo@example.com> ha scritto:",
    "Il 02/03/26 09:15, Jo Berg ha scritto:",
    "Op ma 2 mrt 2026 om 09:15 schreef Jo Berg <jo@example.com>:",
    "Op 02-03-2026 om 09:15 schreef Jo Berg:",
    "Op 2 mrt 2026, om 09:15 heeft Jo Berg <jo@example.com> het volgende geschreven:",
    "Em seg., 2 de mar. de 2026 às 09:15, Jo Berg <jo@example.com> escreveu:",
    "Den mån 2 mars 2026 kl 09:15 skrev Jo Berg <jo@example.com>:",
    "pon., 2 mar 2026 o 09:15 Jo Berg <jo@example.com> napisał(a):",
    "2026年3月2日(月) 9:15 Jo Berg <jo@example.com>:",
    "2 Mart 2026 Pzt 09:15 tarihinde Jo Berg <jo@example.com> şunu yazdı:",
]


@pytest.mark.parametrize("line", ANNOUNCED)
def test_an_answer_above_the_quotation_is_all_that_is_left(line: str) -> None:
    parted = split(f"Thursday is fine.\n\n{line}\n\n> Which day?\n>\n> Jo\n")
    assert parted.own == "Thursday is fine."
    assert parted.quoted == f"{line}\n> Which day?\n>\n> Jo"


@pytest.mark.parametrize("line", [line for line in ANNOUNCED if "<" in line])
def test_an_announcement_that_was_wrapped_is_still_one(line: str) -> None:
    for at in (line.index("<"), line.index("2026" if line.startswith("On") else "Jo")):
        parted = split(f"Fine.\n\n{line[:at].rstrip()}\n{line[at:]}\n> Which day?")
        assert parted.own == "Fine."


@pytest.mark.parametrize("line", ANNOUNCED)
def test_a_line_right_above_the_announcement_is_the_writers_own(line: str) -> None:
    assert split(f"See you at 09:15\n{line}\n> Which day?").own == "See you at 09:15"


@pytest.mark.parametrize("line", ANNOUNCED[:13])
def test_a_quotation_without_marks_is_folded_to_its_end(line: str) -> None:
    parted = split(f"Fine.\n\n{line}\n\nWhich day?\n\nJo")
    assert (parted.own, parted.quoted) == ("Fine.", f"{line}\n\nWhich day?\n\nJo")


BLOCKS = [
    "From: Jo <jo@example.com>\nSent: Monday, March 2, 2026 9:15 AM\nTo: Anna\nSubject: Day",
    "Von: Jo <jo@example.com>\nGesendet: Montag, 2. März 2026 09:15\nAn: Anna\nBetreff: Tag",
    "De : Jo <jo@example.com>\nEnvoyé : lundi 2 mars 2026 09:15\nÀ : Anna\nObjet : Jour",
    "De: Jo <jo@example.com>\nEnviado el: lunes, 2 de marzo de 2026 9:15\nPara: Anna\nAsunto: Día",
    "Da: Jo <jo@example.com>\nInviato: lunedì 2 marzo 2026 09:15\nA: Anna\nOggetto: Giorno",
    "Van: Jo <jo@example.com>\nVerzonden: maandag 2 maart 2026 09:15\nAan: Anna\nOnderwerp: Dag",
    "*From:* Jo <jo@example.com>\n*Date:* Monday\n*To:* Anna\n*Subject:* Day",
    "-----Original Message-----\nFrom: Jo\nwhatever",
    "-----Ursprüngliche Nachricht-----\nVon: Jo",
    "-----Message d'origine-----\nDe : Jo",
    "-----Mensaje original-----\nDe: Jo",
    "-----Messaggio originale-----\nDa: Jo",
    "-----Oorspronkelijk bericht-----\nVan: Jo",
]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("rule", ["", "________________________________\n"])
def test_an_earlier_message_with_its_headers_is_folded(block: str, rule: str) -> None:
    parted = split(f"Fine.\n\n{rule}{block}\n\nWhich day?")
    assert (parted.own, parted.quoted) == ("Fine.", f"{rule}{block}\n\nWhich day?")


@pytest.mark.parametrize("block", BLOCKS)
def test_a_message_that_is_passed_on_is_not_folded(block: str) -> None:
    text = f"For you.\n\n{block}\n\nWhich day?"
    assert split(text, forwarded=True).own == text
    assert split(f"{block}\n\nWhich day?").own == f"{block}\n\nWhich day?"


@pytest.mark.parametrize(
    "line",
    [
        "---------- Forwarded message ---------",
        "-------- Forwarded Message --------",
        "Begin forwarded message:",
        "-------- Weitergeleitete Nachricht --------",
        "Anfang der weitergeleiteten Nachricht:",
        "---------- Message transféré ---------",
        "Début du message réexpédié :",
        "---------- Mensaje reenviado ----------",
        "---------- Messaggio inoltrato ----------",
        "Inizio messaggio inoltrato:",
        "---------- Doorgestuurd bericht ----------",
        "Begin doorgestuurd bericht:",
    ],
)
def test_what_stands_below_a_forwarding_line_is_what_is_sent(line: str) -> None:
    passed_on = "From: Jo\nDate: Monday\nSubject: Day\n\nWhich day?\n\nOn 1 Mar 2026 at 08:00, Kim wrote:\n\n> Hm?"
    text = f"For you.\n\n{line}\n{passed_on}"
    assert begins_forwarded(line)
    assert split(text).own == text


def test_a_message_that_is_passed_on_in_the_shape_of_a_quotation_is_what_is_sent() -> None:
    text = "For you.\n\n> Begin forwarded message:\n>\n> From: Jo\n>\n> Which day?"
    assert split(text).own == text
    assert split("Fine.\n\n> For you.\n>\n> Begin forwarded message:\n> From: Jo").own == "Fine."


@pytest.mark.parametrize(
    ("subject", "forward"),
    [("Fwd: x", True), ("FW: x", True), ("WG: x", True), ("TR : x", True), ("RV: x", True), ("I: x", True)]
    + [("Doorst: x", True), ("Re: Fwd: x", False), ("Forward planning", False), ("", False), ("AW: x", False)],
)
def test_a_subject_tells_whether_a_message_is_passed_on(subject: str, forward: bool) -> None:
    assert is_forward(subject) is forward


def test_an_answer_between_keeps_the_lines_that_it_answers() -> None:
    question = "On 2 Mar 2026 at 09:15, Jo wrote:\n> Hello,\n> long story\n> one\n> two\n> When?"
    parted = split(f"Hi Jo,\n\n{question}\n\nAt four.\n\n> Where?\nHere.\n\n> Bye")
    assert parted.own == "Hi Jo,\n\n> …\n> one\n> two\n> When?\n\nAt four.\n\n> Where?\nHere."
    assert "> Hello," in parted.quoted
    assert "> Bye" in parted.quoted


def test_a_signature_is_not_part_of_the_quotation() -> None:
    above = split("Fine.\n\n-- \nAnna\nExample Ltd\n\nOn 2 Mar 2026 at 09:15, Jo wrote:\n> Which day?\n")
    below = split("On 2 Mar 2026 at 09:15, Jo wrote:\n> Which day?\n\nFine.\n\n> Bye\n\n-- \nAnna\n")
    assert above.own == "Fine.\n\n--\nAnna\nExample Ltd"
    assert below.own == "> Which day?\n\nFine.\n\n--\nAnna"
    assert "Anna" not in above.quoted + below.quoted


@pytest.mark.parametrize(
    "text",
    [
        "He wrote:\n\nthat he comes.",
        "On Monday she wrote: yes.",
        "Am Montag schrieb er:\nIch komme.",
        "From: here\nto there it is a mile.",
        "Please note:\n- one\n- two",
        "The list:\n\n1 > 0",
        "-----\nsection\n-----",
        "I read the original message.",
        "A forwarded message",
        "Forwarded message",
    ],
)
def test_what_only_looks_like_a_quotation_is_kept(text: str) -> None:
    parted = split(f"Dear Jo,\n\n{text}")
    assert (parted.own, parted.quoted) == (f"Dear Jo,\n\n{text}", "")


def test_nothing_but_a_quotation_leaves_nothing() -> None:
    assert split("> a\n> b").own == ""
    assert split("").own == ""


@given(
    st.lists(
        st.sampled_from(["> a", "", "b", *ANNOUNCED[:3], "-- ", "From: x", "Sent: y", "To: z", "____________", ">> c"]),
        max_size=14,
    )
)
def test_no_line_is_lost(lines: list[str]) -> None:
    parted = split("\n".join(lines))
    kept = (parted.own + "\n" + parted.quoted).split("\n")
    assert {line.rstrip() for line in lines} - {""} <= set(kept)


@settings(max_examples=60)
@given(st.text(alphabet="On wrote:\n>-_ <a@b.c>12/.écrit*From", max_size=300), st.booleans())
def test_any_text_at_all_is_parted_without_an_error(text: str, forwarded: bool) -> None:
    assert isinstance(split(text, forwarded=forwarded).own, str)


@pytest.mark.parametrize(
    "piece",
    [
        "> x\n",
        "\n",
        "-",
        "On 1 wrote\n",
        "On x\n",
        "wrote:\n",
        "From: a\n",
        "From: a\nSent: b\n",
        "------\n",
        "a@b.c 12:00:\n",
        "*_",
    ]
    + ["On ", "Le 12:00 ", "--\n> x\ny\n", "x: \n", "> x\n\n", "wrote ", "<", "----------Original Message", "-- \n"],
)
def test_twice_the_text_is_no_more_than_twice_the_work(piece: str) -> None:
    half, whole = piece * (5_000 // len(piece)), piece * (10_000 // len(piece))
    work = steps(lambda: split(whole))
    assert work <= 2.2 * steps(lambda: split(half)) + 1_000
    assert work <= 60 * len(whole)


def test_a_line_of_a_million_characters_is_looked_at_only_at_its_beginning() -> None:
    assert steps(lambda: split("On 1 " * 200_000 + "wrote:")) < 200
    assert steps(lambda: split("-" * 1_000_000)) < 200
