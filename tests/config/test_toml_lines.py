"""Finding a key's line, however it is written."""

import pytest

from keryx.config.toml_lines import line_of

TEXT = """
owner.pin = "1"     # dotted
tasks = { daily_cap = 3, max_concurrent = 2 }

[ server ] # where
"host" = "::1"
port=8080
note = "port = 5"

[projects]
names = [
  "a",
]
root = "~"
"""


@pytest.mark.parametrize(
    ("section", "key", "line"),
    [
        ("owner", "pin", 2),
        ("tasks", "daily_cap", 3),
        ("server", None, 5),
        ("server", "host", 6),
        ("server", "port", 7),
        ("projects", "names", 11),
        ("projects", "root", 14),
        ("server", "missing", None),
        ("voice", None, None),
    ],
)
def test_the_line_of_a_key_is_found(section: str, key: str | None, line: int | None) -> None:
    assert line_of(TEXT, section, key) == line
