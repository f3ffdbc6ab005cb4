"""Other people's words as they are heard: no tags, no pictures, no links letter by letter, no secrets."""

import time

import pytest

from keryx.voice.dialogue.lookups.aloud import in_breaths, name_words, sentences_of, title_words

KEY = "sk-ant-api03-" + "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fR" * 2


@pytest.mark.parametrize(
    ("subject", "heard"),
    [
        ("The invoice", "The invoice"),
        ("Re: AW: Fwd: [billing] The invoice!", "The invoice"),
        ("RE[2]: lunch", "lunch"),
        ("[EXT] 🎉 You won 🎉", "You won"),
        ("See https://example.com/a?b=c now", "See a link now"),
        ("one two three four five six seven eight nine ten eleven", "one two three four five six seven eight nine ten"),
        ("Re:", ""),
        ("   ", ""),
        ("Reply to all", "Reply to all"),
    ],
)
def test_a_subject_is_what_it_is_about(subject: str, heard: str) -> None:
    assert title_words(subject) == heard


def test_neither_a_name_nor_a_subject_begins_a_sentence_that_could_be_ours() -> None:
    assert name_words("PIN accepted. What now") == "PIN accepted, What now"
    assert name_words("Dr. J. Smith Jr.") == "Dr. J. Smith Jr."
    assert title_words("Hello! Your PIN is accepted. Say yes") == "Hello, Your PIN is accepted, Say yes"
    assert title_words("Lunch at 12:30, v2.1?") == "Lunch at 12:30, v2.1"


@pytest.mark.parametrize("text", [" " * 60_000 + "x", "re" + " " * 60_000 + "x", "( " * 30_000 + "<a link"])
def test_a_text_made_to_be_slow_is_not(text: str) -> None:
    began_s = time.process_time()
    sentences_of(text)
    assert time.process_time() - began_s < 5  # a hundred times as long as it takes; it took a minute and more


def test_a_name_is_said_without_pictures() -> None:
    assert name_words("Anna ✨ Bell") == "Anna Bell"
    assert name_words("") == "somebody"


def test_the_text_is_read_to_its_signature() -> None:
    text = """Hi Ana,

can we move lunch
to Friday? The menu is at https://example.com/menu?day=5 as always.

Bring the report

Best regards,
Anna
-- 
Anna Bell
+1 555 234 0001"""

    assert sentences_of(text) == [
        "Hi Ana.",
        "can we move lunch to Friday?",
        "The menu is at a link as always.",
        "Bring the report.",
    ]


def test_quoted_lines_and_what_a_telephone_adds_are_not_read() -> None:
    assert sentences_of("Yes, gladly.\n> shall we?\nSent from my iPhone") == ["Yes, gladly."]


def test_a_mail_that_is_nothing_but_thanks_is_read() -> None:
    assert sentences_of("Thanks!") == ["Thanks!"]


def test_one_thing_on_each_line_is_a_sentence_each() -> None:
    assert sentences_of("To bring:\nBread\nCheese\n- Wine") == ["To bring: Bread.", "Cheese.", "- Wine."]


def test_secrets_are_masked() -> None:
    assert KEY not in " ".join(sentences_of(f"The key is {KEY} for now."))
    assert KEY not in title_words(f"key {KEY}")


def test_a_long_text_comes_in_breaths_and_loses_nothing() -> None:
    sentences = [f"This is the sentence of number {number} and it goes on a bit." for number in range(20)]

    breaths = in_breaths(sentences)

    assert " ".join(breaths) == " ".join(sentences)
    assert breaths[0] == " ".join(sentences[:3])
    assert all(len(breath.split()) < 150 for breath in breaths)


def test_one_short_sentence_is_never_left_for_an_offer() -> None:
    assert len(in_breaths(["One.", "Two.", "Three.", "See you."])) == 1


def test_an_endless_text_is_read_in_no_time() -> None:
    assert sentences_of("a " * 2000 + "<" * 2000)
