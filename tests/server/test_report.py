"""Reports as HTML: readable, and harmless whatever an agent wrote."""

from html.parser import HTMLParser

import pytest

from keryx.server.report import MAX_SHOWN_CHARS, report_html, report_text

HARMLESS = {"p", "a", "pre", "code", "h3", "em", "strong"}


def elements(html: str) -> list[tuple[str, dict[str, str]]]:
    """Every element a browser would make of `html`, with its attributes."""
    found: list[tuple[str, dict[str, str]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.append((tag, {name: value or "" for name, value in attrs}))
    parser.feed(html)
    return found


def test_markdown_becomes_html() -> None:
    html = report_html("# Done\n\n- **one**\n- `two`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n")
    for part in ("<h3>Done</h3>", "<strong>one</strong>", "<code>two</code>", "<td>1</td>", "<pre"):
        assert part in html


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![x](http://evil.example/pixel.png)",
        "[click](javascript:alert(1))",
        "[click](data:text/html,<script>alert(1)</script>)",
        '<a href="http://ok.example" onclick="alert(1)">x</a>',
        "<svg/onload=alert(1)>",
        "<iframe src=//evil.example></iframe>",
        '<style>body{background:url("//evil.example")}</style>',
        "[x](http://a.example 'title\" onmouseover=\"alert(1)')",
        "```html\n<script>alert(1)</script>\n```",
        "<form action=//evil.example><input name=key></form>",
    ],
)
def test_nothing_an_agent_writes_runs_or_calls_home(attack: str) -> None:
    for tag, attributes in elements(report_html(attack)):
        assert tag in HARMLESS
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "src")]
        assert attributes.get("href", "http://").startswith("http://")


def test_a_picture_is_named_and_not_loaded() -> None:
    assert "[picture: the chart]" in report_html("![the chart](chart.png)")


def test_a_link_opens_elsewhere_and_tells_nothing() -> None:
    html = report_html("[the pull request](https://forge.example/1)")
    assert 'href="https://forge.example/1"' in html
    assert "noreferrer" in html


def test_secrets_are_taken_out_before_rendering() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    assert secret not in report_html(f"`{secret}`")
    assert secret not in report_text(secret)


def test_an_endless_report_is_cut_and_says_so() -> None:
    text = report_text("word " * MAX_SHOWN_CHARS)
    assert len(text) < MAX_SHOWN_CHARS + 200
    assert "left out" in text
