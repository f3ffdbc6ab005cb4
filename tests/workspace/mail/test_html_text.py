"""An HTML mail is read as a person sees it, and no page takes long."""

import html
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.workspace.mail.html_text import MAX_HTML_CHARS, MAX_TAGS, shown_text
from keryx.workspace.mail.html_tokens import Start, Text, tokens
from tests.support.steps import steps


def seen(page: str, *, forwarded: bool = False) -> str:
    return shown_text(page, most=10_000, forwarded=forwarded).text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>Hello <b>you</b>,</p><p>how\n are&nbsp;you?</p>", "Hello you,\n\nhow are you?"),
        ("<div>one</div><div>two</div><div><br></div><div>three<br>four</div>", "one\ntwo\n\nthree\nfour"),
        ("<ul><li>one<li>two<ul><li>inner</ul></ul>after", "- one\n- two\n  - inner\n\nafter"),
        ("<ol start=3><li><p>three</p><li>four</ol>", "3. three\n4. four"),
        ("<h1>Title</h1>text<hr>more", "Title\n\ntext\n\nmore"),
        ("<pre>a  b\n  c</pre>", "a  b\n  c"),
        ("a &lt;b&gt; &amp; &eacute;&#8364;", "a <b> & é€"),
        ("one<script>two</script><style>p{}</style><!-- three --><title>four</title>!", "one!"),
        ("<![if !mso]>kept<![endif]><!--[if mso]>not<![endif]-->", "kept"),
        ("1 < 2 and <3", "1 < 2 and <3"),
    ],
)
def test_a_page_is_read_in_lines_and_paragraphs(page: str, text: str) -> None:
    assert seen(page) == text


def test_a_table_is_read_row_by_row_however_its_cells_are_made() -> None:
    rows = "<tr><th>Name</th><th>Sum</th></tr><tr><td><p>A</p></td><td><p>12</p></td></tr><tr><td>B<td>13"
    assert seen(f"<p>Costs:</p><table>{rows}</table>Bye") == "Costs:\n\nName | Sum\nA | 12\nB | 13\n\nBye"


def test_a_table_that_only_places_things_does_not_hold_paragraphs_together() -> None:
    page = "<table><tr><td><p>one</p><p>two</p></td><td>three</td></tr></table>"
    assert seen(page) == "one\n\ntwo\n\nthree"


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ('<a href="https://example.org/a?b=1">our page</a>', "our page <https://example.org/a?b=1>"),
        ('<a href="https://www.example.org/">example.org</a>', "example.org"),
        ('<a href="http://example.org/x">https://example.org/x</a>', "https://example.org/x"),
        (
            '<a href="https://evil.example.net">https://bank.example.com</a>',
            "https://bank.example.com <https://evil.example.net>",
        ),
        ('<a href="mailto:a@example.org?subject=x">a@example.org</a>', "a@example.org"),
        ('<a href="mailto:a@example.org">write</a>', "write <a@example.org>"),
        ('<a href="javascript:alert(1)">click</a>', "click"),
        ('<a href="#top">up</a>', "up"),
        ('<a href="https://example.org/"><img src=x alt="Shop"></a>', "[Shop] <https://example.org/>"),
        ('<a href="https://example.org/"></a>nothing', "nothing"),
        (f'<a href="https://t.example.net/{"x" * 400}">offer</a>', "offer <https://t.example.net/…>"),
        ('<a href="https://example.org/a\n\u200bb">x</a>', "x <https://example.org/a%20b>"),
    ],
)
def test_a_link_says_where_it_leads_when_its_words_do_not(link: str, text: str) -> None:
    assert seen(link) == text


HIDDEN = [
    '<div style="display:none">@</div>',
    '<div style="DISPLAY : none !important">@</div>',
    r'<div style="d\69splay:none">@</div>',
    '<div style="display:/**/none">@</div>',
    "<p hidden>@</p>",
    '<span style="visibility:hidden">@</span>',
    '<span style="font-size:0">@</span>',
    '<span style="font-size:1px;line-height:1px">@</span>',
    '<span style="font:0/0 a">@</span>',
    '<span style="opacity:0">@</span>',
    '<div style="max-height:0px;overflow:hidden">@</div>',
    '<div style="position:absolute;left:-9999px">@</div>',
    '<div style="text-indent:-9999px">@</div>',
    '<span style="color:#fff">@</span>',
    '<span style="color:rgb(255, 255, 254)">@</span>',
    '<font color="white">@</font>',
    '<span style="color:transparent">@</span>',
    '<span style="color:rgba(0,0,0,0)">@</span>',
    '<table bgcolor="#000000"><tr><td style="color:#010101">@</td></tr></table>',
    '<div style="background:#003366"><b style="color:#003366">@</b></div>',
    '<style>.x, td.y { display:none }</style><div class="a x">@</div>',
    "<style>#z{font-size:0px}</style><div id=z>@</div>",
    '<b><div style="display:none"></b>@</div>',
    '<div style="display:none"><b></div></b>',
    '<span><div style="display:none"></span>@</div>',
    '<div style="display:none"><table></div>@</table></div>',
    '<div style="display:none"></body></html>@</div>',
    '<div style="display:none"></p>@</div>',
    '<div style="display:none"><br/>@<img alt="@"><a href="https://example.org/@">@</a></div>',
    "<template>@</template>",
    "<noembed>@</noembed>",
    "<svg><text>@</text></svg>",
    "<!--><!-- @ -->",
    '<p title="@">',
    '<img width="1" height="1" alt="@">',
    "<select><option>@</select>",
]


@pytest.mark.parametrize("page", HIDDEN)
def test_what_a_person_cannot_see_is_not_read_to_a_model(page: str) -> None:
    assert seen(f"before {page} after".replace("@", "SECRET")).split() == ["before", "after"]


@pytest.mark.parametrize(
    "page",
    [
        '<td style="font-size:0px"><span style="font-size:14px">shown</span></td>',
        '<div style="background:#000"><span style="color:#fff">shown</span></div>',
        '<div style="background:url(x.png)"><span style="color:#fff">shown</span></div>',
        '<p style="display:none">x<div>shown</div>',
        '<div style="display:none">x</div>shown',
        "<style>@media (max-width:600px) { .x { display:none } }</style><p class=x>shown</p>",
        "<style>.x:hover { display:none }</style><p class=x>shown</p>",
        '<div style="max-height:0">shown</div>',
        '<span style="color:#777">shown</span>',
        '<div style="opacity:0.8">shown</div>',
        "<noscript>shown</noscript>",
        '<div style="visibility:hidden"><b style="visibility:visible">shown</b></div>',
    ],
)
def test_what_a_person_can_see_is_read(page: str) -> None:
    assert "shown" in seen(page)


def test_pictures_that_the_page_shows_are_known_and_hidden_ones_are_not() -> None:
    page = (
        '<img src="cid:a@x" alt="A"><img src="CID:b%40x"><div hidden><img src="cid:c@x"></div><img src="https://x/y">'
    )
    assert shown_text(page, most=100).pictures == {"a@x", "b@x"}


def test_quoted_mail_in_a_page_is_marked_line_by_line() -> None:
    page = "<p>new</p><blockquote type=cite><p>old</p><blockquote type=cite>older</blockquote></blockquote><p>end</p>"
    assert seen(page) == "new\n\n> old\n>\n> > older\n\nend"


def test_indented_text_is_no_quoted_mail() -> None:
    assert seen("<blockquote>indented</blockquote>") == "indented"


OUTLOOK = "<p>Fine.</p><div id=appendonsend></div><hr><div id=divRplyFwdMsg><b>Odesílatel:</b> A</div><div>old</div>"


def test_outlooks_earlier_message_is_quoted_in_any_language_unless_it_is_passed_on() -> None:
    assert seen(OUTLOOK) == "Fine.\n\n> Odesílatel: A\n> old"
    assert seen(OUTLOOK, forwarded=True) == "Fine.\n\nOdesílatel: A\nold"
    assert seen(OUTLOOK.removeprefix("<p>Fine.</p>")) == "Odesílatel: A\nold"


@pytest.mark.parametrize(
    "piece",
    [
        "<div>",
        "</div>",
        "<b>",
        "<div></b>",
        "<i a=1><i a=2>",
        "<p>",
        "<!--",
        "<![CDATA[",
        '<a b="',
        "<a ",
        "</",
        "<td><b></td>",
    ]
    + [
        "&#",
        "&#9",
        "&amp",
        "<blockquote type=cite>x",
        "<ul><li>x",
        "<style>.a{.b{",
        "<script>",
        "x ",
        "<table><tr><td>x",
        "<a href=x>y",
    ]
    + ["<span><div></span>", '<p style="/*', '<p style="\\', "<pre>\n", "<br>", "<title>"],
)
def test_twice_the_page_is_no_more_than_twice_the_work(piece: str) -> None:
    half, whole = piece * (5_000 // len(piece)), piece * (10_000 // len(piece))
    work = steps(lambda: shown_text(whole, most=1_000_000))
    assert work <= 2.2 * steps(lambda: shown_text(half, most=1_000_000)) + 2_000
    assert work <= 40 * len(whole)


def test_a_huge_page_is_cut_and_says_so() -> None:
    assert shown_text("<p>x" * 50_000, most=1_000).cut
    assert len(shown_text("<p>x" * 50_000, most=1_000).text) < 2_000
    assert shown_text(" " * MAX_HTML_CHARS + "<p>x", most=1_000).cut
    tags = shown_text("<i></i>" * MAX_TAGS, most=1_000)
    assert (tags.cut, tags.tags) == (True, MAX_TAGS)
    assert not shown_text("<p>x", most=1_000).cut


def test_a_number_of_five_thousand_digits_names_no_character() -> None:
    assert seen(f"a&#{'9' * 5_000};b&#x{'f' * 5_000};c") == "a\ufffdb\ufffdc"


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [
                "<",
                ">",
                "</",
                "div",
                "p",
                " ",
                "style=",
                '"',
                "'",
                "display:none",
                "!--",
                "-->",
                "=",
                "x",
                "&",
                "table",
                "td",
                "b",
                "/",
                "script",
                "\x00",
                "a href=http://x",
            ]
        ),
        max_size=60,
    )
)
def test_any_page_at_all_is_read_without_an_error(pieces: list[str]) -> None:
    assert isinstance(seen("".join(pieces)), str)


@given(st.text(alphabet=string.ascii_letters + "<>&\"' \n", max_size=80))
def test_text_that_was_escaped_comes_back_as_it_was(text: str) -> None:
    assert seen(f"<p>{html.escape(text)}</p>").split() == text.split()


def test_attributes_are_read_as_a_browser_reads_them() -> None:
    page = '<A HREF=\'x>y\' b=1 b=2 C =\n"d"/ e>text<p unfinished="…'
    assert list(tokens(page)) == [Start("a", {"href": "x>y", "b": "1", "c": "d", "e": ""}), Text("text")]
