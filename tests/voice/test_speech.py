"""Whatever an agent writes can be said, and nothing that matters is lost."""

import re
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.security.redact import REDACTED
from keryx.voice.speech import pronounce, sentences, speakable
from keryx.voice.speech.pieces import LONGEST_FIRST_PIECE, LONGEST_PIECE

SAID = [
    # markdown
    ("**v3.12.1** is out", "version three point twelve point one is out."),
    ("# Result\nAll *fine*, ~~not~~ __done__.", "Result. All fine, not done."),
    ("- first\n- [x] second\n- [ ] third", "first. done: second. to do: third."),
    ("1. build\n2. ship", "one, build. two, ship."),
    ("> quoted words", "quoted words."),
    ("See [PR](https://github.com/acme/billing/pull/42).", "See P R."),
    ("![the chart](x.png) shows it", "the chart shows it."),
    ("| name | status |\n|---|:-:|\n| invoice | ✅ |\n| parser | ❌ |",
     "name invoice, status check mark. name parser, status cross mark."),
    ("| a1 | 3.5 |", "a one, three point five."),
    ("---\nafter the rule\n===", "after the rule."),
    # code
    ("```python\na = 1\nb = 2\n```\nThat is all.", "some python, two lines. That is all."),
    ("```\nx\ny\nz", "some code, three lines."),
    ("```sh\npytest -q\n```", "pie test dash q."),
    ('Result: {"id": 4, "ok": true}, saved.', "Result: some Jason, saved."),
    ('{\n  "id": 4\n}', "some Jason."),
    ("Rename `get_user` to `fetchUserById()`.", "Rename get user to fetch User By I D."),
    ("snake_case, MAX_RETRIES and kebab-case-name", "snake case, MAX RETRIES and kebab case name."),
    ("5 < 10 and a == b && c != d", "five is less than ten and a equals b and c is not d."),
    ("f: a -> b, x += 1, n >= 3", "f: a to b, x plus equals one, n is at least three."),
    ("2 * 3 = 6", "two times three equals six."),
    ("List<int>, *args, **kwargs", "List int, args, keyword arguments."),
    ("git push --force -q", "git push dash dash force dash q."),
    # places
    ("Fixed src/billing/invoice.py:42.", "Fixed invoice dot pie in source billing, line forty two."),
    ("See ./docs/setup.md and ~/code/keryx/", "See setup dot M D in docs and code keryx."),
    (r"C:\Users\anna\notes.txt", "notes dot text in C: Users anna."),
    ("origin/main, and/or, CI/CD", "origin main, and or, C I C D."),
    ("tests/test_x.py::test_foo", "test x dot pie in tests test foo."),
    ("https://example.com/a/b?c=d#e", "a link to example dot com."),
    ("https://github.com/acme/billing/pull/42", "a link to pull request forty two on git hub dot com."),
    ("http://localhost:8080/", "a link to local host port eight thousand and eighty."),
    ("Mail anna@example.com", "Mail anna at example dot com."),
    ("127.0.0.1:8080", "one hundred and twenty seven dot zero dot zero dot one port eight thousand and eighty."),
    # ids
    ("Fixed in commit a1b2c3d.", "Fixed in a commit."),
    ("The commit a1b2c3d broke it", "The commit broke it."),
    ("at 4f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39", "at a commit."),
    ("550e8400-e29b-41d4-a716-446655440000", "an I D."),
    ("issue #42, PR #7, GH-9", "issue number forty two, P R number seven, number nine."),
    # numbers
    ("1,984 tests", "one thousand nine hundred and eighty four tests."),
    ("12/12 passed in 3.21s", "twelve of twelve passed in three point two one seconds."),
    ("50%, 10-15%, -3%", "fifty percent, ten to fifteen percent, minus three percent."),
    ("$4.50, $0.42, $1, €3, £1.2M",
     "four dollars fifty, forty two cents, one dollar, three euros, one point two million pounds."),
    ("1e6 and 2.5e-3", "one million and two point five times ten to the minus three."),
    ("3-5 days, -5 degrees", "three to five days, minus five degrees."),
    ("the 1st, 2nd and 23rd", "the first, second and twenty third."),
    ("007 and 12345678901234",
     "zero zero seven and one two three four five six seven eight nine zero one two three four."),
    ("+15551234567", "plus one five five five one two three four five six seven."),
    ("10 MB, 1.5GiB, 200ms, 1 KB, 100 km/h",
     "ten megabytes, "
     "one point five gibibytes, two hundred milliseconds, one kilobyte, one hundred kilometres an hour."),
    ("20k users, 1.5x faster, the 1990s", "twenty thousand users, one point five times faster, the nineteen nineties."),
    ("0x1F", "hex one F."),
    ("Python 3.12, pi is 3.12", "Python three point twelve, pi is three point one two."),
    ("2.2.0-rc1", "version two point two point zero rc one."),
    ("+120/-45 lines, ~$0.50", "plus one hundred and twenty, minus forty five lines, about fifty cents."),
    ("call +49 151 123456", "call plus four nine, one five one, one two three four five six."),
    ("SELECT * FROM users", "SELECT star FROM users."),
    # time
    ("at 5pm on 3/4/2026", "at five P M on three four twenty twenty six."),
    ("at 14:05, 09:00, 2:30 pm", "at fourteen oh five, nine o'clock, two thirty P M."),
    ("2026-03-01T14:05:00Z", "the first of March twenty twenty six, fourteen oh five U T C."),
    ("took 3m20s, then 1h30m", "took three minutes twenty seconds, then one hour thirty minutes."),
    ("since 2026", "since twenty twenty six."),
    # the rest
    ("e.g. the API, i.e. JSON w/ YAML etc.", "for example the A P I, that is Jason with yammel et cetera."),
    ("<b>5 &lt; 6</b><br>next &amp; last", "five is less than six. next and last."),
    ("\x1b[31mred\x1b[0m\x00 text\u200b", "red text."),
    ("你好，世界。", "你好，世界。"),
    ("Done 🎉🚀", "Done."),
    ("⚠️ two left", "warning, two left."),
    ("It's the user's 'name' — isn't it?", "It's the user's name, isn't it?"),
    ("wait... what?!", "wait. what?"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), SAID)
def test_it_is_said_as_somebody_would_say_it(text: str, said: str) -> None:
    assert speakable(text) == said


@pytest.mark.parametrize("text", [text for text, _ in SAID])
def test_what_is_speakable_stays_as_it_is(text: str) -> None:
    assert speakable(speakable(text)) == speakable(text)


@pytest.mark.parametrize(
    "markup",
    [
        '<tool_call>{"name": "x"}</tool_call>',
        '<tool_call>{"name": "x"}',
        '<function_calls><invoke name="a"><parameter name="b">c</parameter></invoke></function_calls>',
        "<think>the caller wants</think>",
        "<|im_start|>",
        "", " \n\t", "***", "---", "🎉", "\x00",
    ],
)  # fmt: skip
def test_markup_for_machines_is_silence(markup: str) -> None:
    assert speakable(markup) == ""


def test_words_around_a_tool_call_are_said() -> None:
    assert speakable('One moment. <tool_call>{"a": 1}</tool_call> Done.') == "One moment. Done."


@pytest.mark.parametrize(
    "secret",
    ["sk-ant-api03-R2D2c3poAbCdEfGhIjKl", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "password=hunter2",
     "https://anna:s3cret@example.com/x", "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAyX9z"],
)  # fmt: skip
def test_a_secret_is_said_as_a_redacted_key(secret: str) -> None:
    said = speakable(f"It found {secret} there")
    assert REDACTED in said
    assert not re.search("hunter|s3cret|MII|R2D2|16C7", said)


_ANYTHING = st.one_of(
    st.text(max_size=200),
    st.text(alphabet=string.printable, max_size=200),
    st.lists(
        st.sampled_from([text for text, _ in SAID] + ["|", "`", "<", "*", "(", "{", "#", "\n", " "]), max_size=6
    ).map("".join),
)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(_ANYTHING)
def test_no_symbol_is_left_that_a_voice_would_spell(text: str) -> None:
    said = speakable(text)
    assert not set(said) & set('_*#|<>{}[]\\`~^=/()"\n\r\t@%&$+\x00\x1b')
    assert not re.search(r"\d", said) or not said.isascii()
    assert not re.search(r"\s\s|\s[.,!?]", said)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(_ANYTHING)
def test_making_it_speakable_twice_changes_nothing(text: str) -> None:
    once = speakable(text)
    assert speakable(once) == once


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.sampled_from(["tests", "in", "line", "and", "about", "of"]), st.integers(0, 10**9)),
        min_size=1,
        max_size=6,
    )
)
def test_every_number_is_said(parts: list[tuple[str, int]]) -> None:
    from num2words import num2words

    said = speakable(" ".join(f"{word} {number}" for word, number in parts))
    for _, number in parts:
        forms = {re.sub(r"\s+", " ", re.sub("[,-]", " ", num2words(number, to=to))) for to in ("cardinal", "year")}
        assert any(re.sub(r"\s+", " ", form).strip() in said for form in forms)


@pytest.mark.parametrize(
    "unit",
    ["word ", "a", "1 ", "12.5,", "[a](", "**a", "`x ", "a/", "<b", "<tool_call>", "{\"a\":", "| a ",
     "- item\n", "a_b", "x.y.",
     "1:2:", "https://a ", "commit ", "(", "#", "&amp;", "a1b2c3d ", "```\n", "-", "3m", "$1", "\x1b["],
)  # fmt: skip
def test_a_long_text_of_anything_takes_time_in_proportion(unit: str) -> None:
    began = time.perf_counter()
    speakable(unit * (50_000 // len(unit)))
    assert time.perf_counter() - began < 15


def test_developers_words_are_respelled_whatever_their_case() -> None:
    assert pronounce("Pytest reads YAML, sudo nginx") == "pie test reads yammel, sue doo engine X"


def test_sentences_end_at_stops_and_not_at_abbreviations() -> None:
    text = "Dr. Smith fixed it. It took 3.5 hours! Really? Yes"
    assert sentences(text) == ["Dr. Smith fixed it.", "It took 3.5 hours!", "Really?", "Yes"]


def test_a_long_sentence_is_cut_at_clauses_and_its_first_piece_is_short() -> None:
    text = (
        "The invoice test is fixed, it was a rounding error in the totals, and the rest of the suite passes too, " * 4
    )
    pieces = sentences(text)
    assert len(pieces[0]) <= LONGEST_FIRST_PIECE
    assert all(len(piece) <= LONGEST_PIECE for piece in pieces)
    assert " ".join(pieces) == text.strip()
    assert pieces[0].endswith(",")


@given(st.text(alphabet="ab ,.!?;—", max_size=600))
def test_no_word_is_lost_in_cutting(text: str) -> None:
    pieces = sentences(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= LONGEST_PIECE for piece in pieces)


def test_other_scripts_are_cut_at_their_own_stops() -> None:
    assert sentences("你好。世界！") == ["你好。", "世界！"]


def test_nothing_to_say_is_no_sentence() -> None:
    assert sentences("") == []
