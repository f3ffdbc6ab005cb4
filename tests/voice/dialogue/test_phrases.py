"""Every wording fits the code that says it and the manners of the house."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import keryx
import keryx.voice.dialogue
from keryx.prompts import placeholders, table
from keryx.voice.dialogue.replies import PHRASES, Phrases

MAX_CHARS = 200
MAX_SENTENCES = 3
NOT_SPOKEN = {"ask_to_try_again"}
SOURCES = sorted(Path(keryx.voice.dialogue.__path__[0]).glob("*.py"))
WORDINGS = [(name, wording) for name, wordings in table(PHRASES).items() for wording in wordings]


def said_in_code() -> Iterator[tuple[str, set[str], bool]]:
    """Every `….say("name", place=…)`: the names it may say, the places it fills, and whether it fills others too."""
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "say"
                and node.args
            ):
                filled = {keyword.arg for keyword in node.keywords if keyword.arg}
                more = any(keyword.arg is None for keyword in node.keywords)
                for name in constants(node.args[0]):
                    yield name, filled, more


def constants(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(str() as name):
            return [name]
        case ast.IfExp(_, yes, no):
            return constants(yes) + constants(no)
        case _:
            return []


def test_every_place_in_a_wording_is_filled_by_the_code_and_none_other() -> None:
    for name, filled, more in said_in_code():
        for wording in table(PHRASES)[name]:
            assert filled <= placeholders(wording) if more else filled == placeholders(wording), (name, wording)


def test_every_phrase_is_said_somewhere() -> None:
    house = Path(keryx.__path__[0])
    code = " ".join(source.read_text(encoding="utf-8") for source in house.rglob("*.py"))
    unused = {
        name for name in table(PHRASES) if f'"{name}"' not in code and f'"{name.removesuffix("_open")}"' not in code
    }

    assert unused == set()


def test_all_wordings_of_a_phrase_have_the_same_places() -> None:
    for name, wordings in table(PHRASES).items():
        assert len({placeholders(wording) for wording in wordings}) == 1, name


@pytest.mark.parametrize(("name", "wording"), WORDINGS, ids=lambda value: value[:30])
def test_a_wording_is_short_plain_and_to_the_point(name: str, wording: str) -> None:
    assert len(wording) <= MAX_CHARS
    assert len(re.findall(r"[.?!]+(?:\s|$)", wording)) <= MAX_SENTENCES
    assert not re.search(r"[*_`#<>\[\]|]|https?:", re.sub(r"\{\w+\}", "", wording))
    assert not re.search(
        r"(?i)\b(?:happy to|i'm going to go ahead|certainly|great question|dispatch|task id|apolog)", wording
    )
    if name not in NOT_SPOKEN:
        assert len(re.sub(r"\{\w+\}", "x", wording).split()) <= 22


def test_a_wording_is_never_said_twice_running() -> None:
    phrases = Phrases()
    for name, wordings in table(PHRASES).items():
        values = dict.fromkeys(placeholders(wordings[0]), "x")
        said = [phrases.say(name, **values) for _ in range(2 * len(wordings))]
        if len(wordings) > 1:
            assert all(one != other for one, other in zip(said, said[1:], strict=False)), name


def test_every_sentence_begins_with_a_capital_whatever_is_filled_in() -> None:
    phrases = Phrases()
    for name, wordings in table(PHRASES).items():
        for _ in wordings:
            said = phrases.say(name, **dict.fromkeys(placeholders(wordings[0]), "x"))
            assert not re.search(r"(?:^|[.!?] )[a-z]", said), (name, said)


def test_a_wrong_name_or_place_fails_at_once() -> None:
    with pytest.raises(KeyError):
        Phrases().say("no_such_phrase")
    with pytest.raises(KeyError):
        Phrases().say("cancelled", number="four")
