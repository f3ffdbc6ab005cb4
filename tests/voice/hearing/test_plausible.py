"""What of a recogniser's text is believed."""

import pytest

from keryx.voice.hearing.plausible import plausible_text, without_loops


@pytest.mark.parametrize(
    "text",
    ["Yes.", "No.", "Okay.", "Cancel task four.", "Thank you.", "Stop!", "My PIN is 427190.", "Watch for changes."],
)
def test_what_was_clearly_said_is_kept(text: str) -> None:
    assert plausible_text(text, 1.5, no_speech=0.14, confidence=0.4) == text


@pytest.mark.parametrize("text", ["you", "Okay.", "PIN.", "Coding tasks,", "www.coding.com", "Cancel task four."])
def test_what_is_heard_where_nobody_spoke_is_dropped(text: str) -> None:
    assert plausible_text(text, 3.0, no_speech=0.61, confidence=0.9) == ""
    assert plausible_text(text, 3.0, no_speech=0.45, confidence=0.3) == ""


@pytest.mark.parametrize("text", ["you", " Okay.", "Bye-bye.", "Thank you."])
def test_stock_words_need_more_certainty_than_others(text: str) -> None:
    assert plausible_text(text, 1.0, no_speech=0.4, confidence=0.8) == ""
    assert plausible_text(text, 1.0, no_speech=0.1, confidence=0.2) == ""
    assert plausible_text("Fix the parser.", 1.0, no_speech=0.4, confidence=0.8) == "Fix the parser."


@pytest.mark.parametrize(
    "text",
    [
        "Thank you for watching!",
        "Thanks for watching.",
        "Please like and subscribe.",
        "See you in the next video.",
        "Subtitles by somebody",
        "[BLANK_AUDIO]",
        "(music)",
        "♪ ♪",
        "*sighs*",
        ". . . .",
        "",
    ],
)
def test_what_subtitles_say_and_people_do_not_is_never_believed(text: str) -> None:
    assert plausible_text(text, 3.0, no_speech=0.0, confidence=0.9) == ""


def test_annotations_are_taken_out_of_what_was_said() -> None:
    assert plausible_text(" [BLANK_AUDIO] Run the  tests (music). ", 2.0, 0.0, 0.9) == "Run the tests ."


@pytest.mark.parametrize(
    ("text", "sound_s", "kept"),
    [
        ("task 4 task 4 task 4 task 4", 1.0, "task 4"),
        ("Run it. " + "the tests are green " * 6, 4.0, "Run it. the tests are green"),
        ("no no no", 1.5, "no no no"),
        ("four two four two four two", 3.0, "four two four two four two"),
        ("1 1 1 1 1 1", 3.0, "1 1 1 1 1 1"),
        ("1 " * 60, 2.0, "1"),
        ("really " * 40, 3.0, "really"),
        ("Fix it and run it and push it.", 2.0, "Fix it and run it and push it."),
        ("", 1.0, ""),
    ],
)
def test_a_loop_is_said_once_and_repeated_digits_stay(text: str, sound_s: float, kept: str) -> None:
    assert without_loops(text.strip(), sound_s) == kept


def test_a_very_long_loop_is_found_quickly() -> None:
    assert without_loops("and then " * 5000, 30.0) == "and then"
