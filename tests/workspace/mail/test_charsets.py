"""Bytes become text whatever they claim to be."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.workspace.mail.charsets import from_base64, text_of


@pytest.mark.parametrize(
    ("data", "charset", "read"),
    [
        ("grüße".encode(), "utf-8", "grüße"),
        ("grüße".encode("latin-1"), "utf-8", "grüße"),
        ("grüße".encode(), "iso-8859-1", "grüße"),
        ("“quoted” – 5 €".encode("cp1252"), "iso-8859-1", "“quoted” – 5 €"),
        ("“quoted”".encode("cp1252"), "", "“quoted”"),
        ("grüße".encode("latin-1"), "x-unheard-of", "grüße"),
        ("grüße".encode("latin-1"), '"ISO-8859-1"', "grüße"),
        ("こんにちは".encode("iso2022_jp"), "ISO-2022-JP", "こんにちは"),
        ("①こんにちは".encode("cp932"), "shift_jis", "①こんにちは"),
        ("你好，世界".encode("gb18030"), "gb2312", "你好，世界"),
        ("联通".encode("gb18030"), "gbk", "联通"),
        ("你好".encode(), "gb2312", "你好"),
        ("안녕".encode("cp949"), "ks_c_5601-1987", "안녕"),
        ("привет".encode("koi8_r"), "koi8-r", "привет"),
        ("hello".encode("utf-16"), "utf-16", "hello"),
        (b"+ADw-b+AD4-", "utf-7", "+ADw-b+AD4-"),
        (b"\\u0041", "unicode_escape", "\\u0041"),
        (b"grrx", "rot13", "grrx"),
        (b"aGk=", "base64", "aGk="),
        (b"\x81\x8d caf\xe9", "utf-8", "\x81\x8d café"),
        (b"", "utf-8", ""),
    ],
)
def test_text_is_read_in_whatever_character_set_it_is_in(data: bytes, charset: str, read: str) -> None:
    assert text_of(data, charset) == read


def test_one_lost_byte_costs_one_character() -> None:
    assert text_of("äöü".encode() + b"\xc3 " + "äöü".encode(), "utf-8") == "äöü\ufffd äöü"


def test_a_cut_within_a_character_does_not_change_the_rest() -> None:
    assert text_of("grüßen €".encode()[:-1], "utf-8", cut=True) == "grüßen "


@given(
    st.binary(max_size=60),
    st.text(max_size=12) | st.sampled_from(["utf-7", "idna", "utf-16", "hz", "iso-2022-kr", "zip", "gb18030"]),
)
def test_any_bytes_under_any_label_are_some_text(data: bytes, charset: str) -> None:
    assert isinstance(text_of(data, charset), str)


@given(st.binary(max_size=80), st.booleans(), st.booleans())
def test_base64_is_read_with_and_without_padding_and_line_breaks(data: bytes, padded: bool, broken: bool) -> None:
    text = base64.urlsafe_b64encode(data).decode()
    text = text if padded else text.rstrip("=")
    assert from_base64("\r\n".join(text[at : at + 7] for at in range(0, len(text), 7)) if broken else text) == data


@given(st.text(max_size=40))
def test_what_is_no_base64_is_no_error(text: str) -> None:
    assert isinstance(from_base64(text), bytes)


def test_no_more_is_decoded_than_is_wanted() -> None:
    assert from_base64("QUJD" * 1_000_000, 10) == b"ABCABCABCA"
