"""A report's markdown as HTML that may stand in the page: no script, no picture, no secret."""

import functools
from typing import TYPE_CHECKING

from keryx.security.redact import redact

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_SHOWN_CHARS = 200_000
"""How much of a report is shown; the file keeps all of it."""

CUT_NOTE = "\n\n*The rest of this report is left out here; the report file has all of it.*\n"

_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "em", "strong", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}


def report_text(markdown: str) -> str:
    """The report as markdown, secrets removed, cut at `MAX_SHOWN_CHARS`."""
    if len(markdown) > MAX_SHOWN_CHARS:
        markdown = markdown[:MAX_SHOWN_CHARS] + CUT_NOTE
    return redact(markdown)


def report_html(markdown: str) -> str:
    """The report rendered and sanitised. What an agent wrote is never trusted: raw HTML in it is shown as text."""
    import nh3

    rendered = _renderer().render(report_text(markdown))
    return nh3.clean(
        rendered,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}, "th": {"scope"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}, "pre": {"tabindex": "0"}},
    )


@functools.cache
def _renderer() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # The page has headings of its own above the report.
    renderer.core.ruler.push("lower_headings", _lower_headings)
    renderer.add_render_rule("image", _picture_as_words)
    return renderer


def _lower_headings(state) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"


def _picture_as_words(renderer, tokens, index, options, env) -> str:
    from markdown_it.common.utils import escapeHtml

    return escapeHtml(f"[picture: {tokens[index].content or 'without a name'}]")
