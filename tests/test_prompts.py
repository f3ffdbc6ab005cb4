"""The texts are there, are well formed, and are filled in strictly."""

import re
import tomllib
from pathlib import Path

import pytest

from keryx import prompts

FILES = sorted(path.name for path in prompts.folder().iterdir() if path.suffix in (".md", ".toml"))
USED = re.compile(r"""prompts\.(?:text|table)\(\s*["']([\w.-]+)["']""")


def test_there_are_prompts() -> None:
    assert FILES


@pytest.mark.parametrize("name", FILES)
def test_every_prompt_is_text_that_can_be_filled(name: str) -> None:
    text = prompts.text(name)
    assert text.strip()
    assert "\r" not in text
    if name.endswith(".toml"):
        assert prompts.table(name) == tomllib.loads(text)
    else:
        places = prompts.placeholders(text)
        filled = prompts.render(text, **dict.fromkeys(places, "x"))
        assert not prompts.placeholders(filled)


def test_every_prompt_the_code_names_is_there() -> None:
    package = Path(prompts.__file__).parent
    named = {name for path in package.rglob("*.py") for name in USED.findall(path.read_text(encoding="utf-8"))}
    assert named <= set(FILES)


@pytest.mark.parametrize(("template", "values"), [("{name}", {}), ("hello", {"name": "x"}), ("{a}", {"b": 1})])
def test_a_missing_or_an_unknown_name_fails(template: str, values: dict[str, object]) -> None:
    with pytest.raises(KeyError):
        prompts.render(template, **values)


def test_names_are_filled_in() -> None:
    assert prompts.render("Task {number}: {{kept}} {text}", number=4, text="{safe}") == "Task 4: {kept} {safe}"
