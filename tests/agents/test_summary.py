"""What is spoken of an agent's last words: every shape agents have been seen to write, and then anything at all."""

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keryx.agents.base import MAX_SUMMARY_CHARS, extract_restart_request, extract_spoken_summary
from keryx.agents.summary import NOTHING_SAID, shorten

FIVE_MEGABYTES_S = 8.0
"""Far above what is needed: a quadratic step would take hours."""


@pytest.mark.parametrize(
    "written",
    [
        "SPOKEN_SUMMARY: The tests pass.",
        "I changed two files.\n\nSPOKEN_SUMMARY: The tests pass.",
        "I changed two files.\nSPOKEN_SUMMARY: The tests pass.\n\n",
        "SPOKEN_SUMMARY:The tests pass.",
        "SPOKEN_SUMMARY : The tests pass.",
        "SPOKEN_SUMMARY:\nThe tests\npass.",
        "SPOKEN_SUMMARY:\n\n   The tests   pass.\n",
        "SPOKEN_SUMMARY：The tests pass.",
        "SPOKEN_SUMMARY:\r\nThe tests pass.\r\n",
        "done\r\rSPOKEN_SUMMARY: The tests pass.\r",
        "**SPOKEN_SUMMARY:** The tests pass.",
        "**SPOKEN_SUMMARY**: The tests pass.",
        "**SPOKEN_SUMMARY: The tests pass.**",
        "***SPOKEN_SUMMARY:*** *The tests pass.*",
        "__SPOKEN_SUMMARY__: The tests pass.",
        "`SPOKEN_SUMMARY:` The tests pass.",
        "`SPOKEN_SUMMARY: The tests pass.`",
        "# SPOKEN_SUMMARY: The tests pass.",
        "## SPOKEN_SUMMARY\n\nThe tests pass.",
        "## **SPOKEN_SUMMARY**\nThe tests pass.\n\n## Files\n\n- invoice.py",
        "### Spoken summary\n\nThe tests pass.",
        "- SPOKEN_SUMMARY: The tests pass.",
        "* **SPOKEN_SUMMARY:** The tests pass.",
        "3. SPOKEN_SUMMARY: The tests pass.",
        "> SPOKEN_SUMMARY: The tests\n> pass.",
        "> **SPOKEN_SUMMARY:** The tests pass.",
        "```\nSPOKEN_SUMMARY: The tests pass.\n```",
        "```text\nSPOKEN_SUMMARY:\nThe tests pass.\n```\n",
        "```\nsome output\nSPOKEN_SUMMARY: The tests pass.```",
        "```SPOKEN_SUMMARY: The tests pass.```",
        "SPOKEN_SUMMARY:\n```\nThe tests pass.\n```",
        "spoken_summary: The tests pass.",
        "Spoken summary: The tests pass.",
        "SPOKEN-SUMMARY: The tests pass.",
        "✅ SPOKEN_SUMMARY: The tests pass.",
        "All done. SPOKEN_SUMMARY: The tests pass.",
        "SPOKEN_SUMMARY: Not this one.\n\nSPOKEN_SUMMARY: The tests pass.",
        "SPOKEN_SUMMARY: Not this one. SPOKEN_SUMMARY: The tests pass.",
        "SPOKEN_SUMMARY: The tests pass.\n```python\nprint('hello')\n```",
        "SPOKEN_SUMMARY: The tests pass.\n\n```diff\n- a\n+ b\n```\n\nMore.",
        'SPOKEN_SUMMARY: The tests pass.\n{"status": "ok"}',
        'SPOKEN_SUMMARY: The tests pass. {"status": "ok"}',
        "SPOKEN_SUMMARY: The tests pass.\nx = compute(1)\nprint(x)",
        "SPOKEN_SUMMARY: The tests pass.\nRESTART_REQUIRED: new driver",
        "SPOKEN_SUMMARY: The tests pass. RESTART_REQUIRED: new driver",
        'SPOKEN_SUMMARY: The tests pass.\n<tool_call>{"name": "bash"}</tool_call>',
        "SPOKEN_SUMMARY: The <b>tests</b> pass.",
        "SPOKEN_SUMMARY: <think>which tests?</think> The tests pass.",
        "SPOKEN_SUMMARY: [The tests](https://ci.example/run/4) pass.",
        "SPOKEN_SUMMARY: The tests ~~pass~~.",
        "SPOKEN_SUMMARY: \x00The tests\u200b pass.\ud800",
        "SPOKEN_SUMMARY: \x9bThe\u202e tests\u202c \u2066pass\u2069.",
        "\ufeffSPOKEN_SUMMARY: The tests pass.",
        "The rules say to end with a `SPOKEN_SUMMARY:` line.\n\nThe tests pass.",
    ],
)
def test_a_marked_summary_is_found_in_whatever_is_around_it(written: str):
    assert extract_spoken_summary(written) == "The tests pass."


@pytest.mark.parametrize(
    "written",
    [
        "I looked around.\n\nThe tests pass.",
        "The tests pass.\n\nSPOKEN_SUMMARY:",
        "The tests pass.\n\n**SPOKEN_SUMMARY:**\n",
        'The tests pass.\n\nSPOKEN_SUMMARY: {"status": "ok"}',
        "The tests pass.\n\nSPOKEN_SUMMARY:\n```json\n{}\n```",
        "The tests pass.\n\nSPOKEN_SUMMARY: ---",
        "The tests pass.\n\nSPOKEN_SUMMARY:\nRESTART_REQUIRED: new driver",
        "The tests pass.\n\n```\nRan 5 tests\n\nOK\n```",
        "The tests pass.\n\n```python\nprint(1)",
        "The tests pass.\n\n~~~\nRan 5 tests\n~~~",
        'The tests pass.\n\n{\n  "status": "ok",\n\n  "tests": 5\n}',
        'The tests pass.\n\n[\n  "a",\n  "b"\n]',
        "The tests pass.\n\n    pip install billing\n",
        "The tests pass.\n\n| test | result |\n|---|---|\n| a | ok |",
        'The tests pass.\n\n<tool_call>\n{"name": "bash"}\n</tool_call>',
        "The tests pass.\n\n<function_calls>\n<invoke name='x'>\n\ntext inside\n</invoke>\n</function_calls>",
        "The tests pass.\n\ndef total(lines):\n    return sum(lines)",
        "The tests pass.\n\ndiff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b",
        'The tests pass.\n\nTraceback (most recent call last):\n  File "x.py", line 1, in y',
        "The tests pass.\n\n---\n\n***\n",
        '{"status": "ok"}\nThe tests pass.',
        "## Result\nThe tests pass.",
        "# The tests pass.",
        "- **The tests** `pass`.",
        "<p>The tests pass.</p>",
        "&lt;p&gt;The tests pass.",
    ],
)
def test_without_a_usable_marked_summary_the_last_paragraph_that_can_be_said_is_taken(written: str):
    assert extract_spoken_summary(written) == "The tests pass."


@pytest.mark.parametrize(
    "written",
    [
        "",
        " \r\n\t ",
        "SPOKEN_SUMMARY:",
        "**SPOKEN_SUMMARY:** ``` ```",
        "```python\nprint('only code')\n```",
        '{"result": "only JSON"}',
        '[{"a": 1}, {"b": 2}]',
        "[1, 2, 3]",
        '<tool_call>{"name": "bash", "arguments": {}}',
        '<tool_call>{"name": "bash"}</tool_call>',
        "<|im_start|>assistant",
        "SPOKEN_SUMMARY: def total():\n    return 1",
        "SPOKEN_SUMMARY: print(total)",
        "| a | b |\n|---|---|",
        "🎉",
        "\x00\x00\ud800",
        "RESTART_REQUIRED: new driver",
    ],
)
def test_when_there_is_nothing_to_say_that_is_said(written: str):
    assert extract_spoken_summary(written) == NOTHING_SAID


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Use snake_case in `get_user`.", "Use snake_case in get_user."),
        ("Now at **v3.12.1**, see [PR 4](https://x.example/(4)).", "Now at v3.12.1, see PR 4."),
        ("2 * 3 * 4 is 24, and 2**3 is 8; 2*3*4 too.", "2 * 3 * 4 is 24, and 2**3 is 8; 2*3*4 too."),
        ("It holds while 5 < 10 and x > 3.", "It holds while 5 < 10 and x > 3."),
        ("A Vec<String> and all *.py files.", "A Vec String and all *.py files."),
        ("- Fixed the total\n- Tests pass", "Fixed the total. Tests pass"),
        ("1. Fixed the total.\n2. Tests pass.", "Fixed the total. Tests pass."),
        ("Is it {name} or {}?", "Is it {name} or {}?"),
        ("Q&amp;A is **_done_**.", "Q&A is done."),
        ("Les tests échouent, 测试失败了。", "Les tests échouent, 测试失败了。"),
        ("The key is " + "A1b2" * 40 + " now.", "The key is now."),
    ],
)
def test_markdown_goes_and_meaning_stays(written: str, spoken: str):
    assert extract_spoken_summary(written) == spoken
    assert extract_spoken_summary(f"SPOKEN_SUMMARY: {written}") == spoken


def test_a_long_summary_is_cut_at_a_word():
    words = " ".join(f"word{number}" for number in range(2000))
    spoken = extract_spoken_summary(f"SPOKEN_SUMMARY: {words}")
    assert len(spoken) <= MAX_SUMMARY_CHARS
    assert spoken.endswith("…")
    assert words.startswith(spoken[:-1] + " ")


def test_a_summary_of_just_the_longest_length_is_left_whole():
    exact = ("word " * 100)[: MAX_SUMMARY_CHARS - 1] + "."
    assert extract_spoken_summary(f"SPOKEN_SUMMARY: {exact}") == exact
    assert shorten(exact + "x") == ("word " * 100)[:394] + "…"


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("RESTART_REQUIRED: the new driver is loaded at start", "the new driver is loaded at start"),
        ("SPOKEN_SUMMARY: Done.\nRESTART_REQUIRED: new driver\n", "new driver"),
        ("**RESTART_REQUIRED:** new `driver`", "new driver"),
        ("> - **RESTART_REQUIRED**: new driver", "new driver"),
        ("## RESTART_REQUIRED: new driver", "new driver"),
        ("`RESTART_REQUIRED: new driver`", "new driver"),
        ("```\nRESTART_REQUIRED: new driver\n```", "new driver"),
        ("done\r\nRESTART_REQUIRED：new driver\r\nmore", "new driver"),
        ("RESTART_REQUIRED: old one\nRESTART_REQUIRED: new driver", "new driver"),
        ("RESTART_REQUIRED:", ""),
        ("RESTART_REQUIRED:\nSPOKEN_SUMMARY: Done.", ""),
        ("**RESTART_REQUIRED:**", ""),
        ('RESTART_REQUIRED: {"reason": "x"}', ""),
        ("", None),
        ("A restart is required.", None),
        ("Restart required: yes", None),
        ("RESTART_REQUIRED", None),
        ("I would write RESTART_REQUIRED: but nothing needs it.", None),
        ("RESTART_REQUIRED: no", None),
        ("RESTART_REQUIRED: None.", None),
    ],
)
def test_only_an_explicit_line_asks_for_a_restart(written: str, reason: str | None):
    assert extract_restart_request(written) == reason


@pytest.mark.parametrize(
    "huge",
    [
        "x" * 5_000_000,
        " " * 5_000_000,
        "\n" * 5_000_000,
        "\r" * 5_000_000,
        "\n>" * 2_500_000,
        "```\n" * 1_250_000,
        "SPOKEN_SUMMARY:" * 330_000,
        "spoken summary " * 330_000,
        "<a>" * 1_600_000,
        "<think>\n" * 600_000,
        "[" * 5_000_000,
        "*a " * 1_600_000,
        '{"a":1}' * 700_000,
        "\0\ud800" * 2_500_000,
        "&amp;" * 1_000_000,
        "{\n\n" * 1_600_000,
    ],
    ids=lambda huge: repr(huge[:8]),
)
def test_five_megabytes_of_anything_take_no_time_worth_naming(huge: str):
    started_s = time.process_time()
    assert_plain(extract_spoken_summary(huge))
    extract_restart_request(huge)
    assert time.process_time() - started_s < FIVE_MEGABYTES_S


def test_the_marker_is_found_before_and_after_a_line_of_five_megabytes():
    blob = "x" * 5_000_000
    assert extract_spoken_summary(f"{blob}\nSPOKEN_SUMMARY: The tests pass.") == "The tests pass."
    assert extract_spoken_summary(f"SPOKEN_SUMMARY: The tests pass.\n\n{blob}") == "The tests pass."


PIECES = st.sampled_from(
    [
        *(
            "SPOKEN_SUMMARY:",
            "**SPOKEN_SUMMARY:**",
            "RESTART_REQUIRED:",
            "Spoken summary",
            "```",
            "~~~",
            "`",
            "**",
            "_",
        ),
        *(
            "# ",
            "> ",
            "- ",
            "1. ",
            "\n",
            "\n\n",
            "\r\n",
            "    ",
            " ",
            "{",
            "}",
            '{"a": 1}',
            "[",
            "](",
            ")",
            "[x](y)",
            "|",
        ),
        *(
            "<tool_call>",
            "</tool_call>",
            "<b>",
            "</b>",
            "<br>",
            "<!--",
            "-->",
            "<",
            ">",
            "&lt;",
            "&#0;",
            "&",
            "\\",
            "\0",
        ),
        *(
            "All done.",
            "word",
            "x = 1",
            "print(x)",
            "def f():",
            "é",
            "测试",
            "🎉",
            "\ud800",
            "\u2028",
            "“",
            "*",
            "~~",
            "1",
        ),
    ]
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300) | st.lists(PIECES, max_size=40).map("".join)


def assert_plain(spoken: str) -> None:
    assert 0 < len(spoken) <= MAX_SUMMARY_CHARS
    assert spoken == " ".join(spoken.split())
    assert any(char.isalnum() for char in spoken)
    assert "`" not in spoken
    assert not re.search(
        r"\{\s*\"|<\||[\x00-\x1f\ud800-\udfff]|</?[a-zA-Z][\w-]*>|SPOKEN_SUMMARY:|RESTART_REQUIRED:", spoken
    )
    assert not re.match(r"(?:#{1,6}|>|[-*+]) ", spoken)
    spoken.encode("utf-8")


@given(ANY_TEXT)
@settings(max_examples=600, deadline=None)
@example("SPOKEN_SUMMARY: a\nSPOKEN_SUMMARY")
def test_whatever_is_written_one_plain_line_is_spoken_and_saying_it_again_changes_nothing(written: str):
    spoken = extract_spoken_summary(written)
    assert_plain(spoken)
    assert extract_spoken_summary(spoken) == spoken


@given(ANY_TEXT)
@settings(max_examples=300, deadline=None)
def test_a_restart_reason_is_one_plain_line_or_nothing(written: str):
    reason = extract_restart_request(f"{written}\nRESTART_REQUIRED: {written}")
    if reason:
        assert reason == " ".join(reason.split())
        assert len(reason) <= MAX_SUMMARY_CHARS


@given(ANY_TEXT)
@settings(max_examples=300, deadline=None)
def test_a_marked_last_line_is_what_is_spoken_whatever_comes_before_it(before: str):
    assert extract_spoken_summary(f"{before}\nSPOKEN_SUMMARY: The tests pass.") == "The tests pass."
