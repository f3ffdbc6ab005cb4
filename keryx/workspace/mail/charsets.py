"""Bytes of a mail as text, whatever character set they claim to be in. Pure; never raises."""

import base64
import binascii
import codecs
import re

_REFUSED = {"utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"}
"""Codecs that Python has, but that mail has no business with: each turns innocent bytes into something else."""

_WIDER = {
    # What is labelled with the smaller set is written in the larger one; browsers read these so too.
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "hz",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
}
_ALIASES = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ks_c_5601-1987": "cp949",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
    "cp-850": "cp850",
    "unicode": "utf-16",
    "iso-8859-8-i": "iso8859-8",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-2022-jp-ms": "iso2022_jp_ext",
    "cp50220": "iso2022_jp_ext",
}
_ESCAPED = ("iso2022", "hz")
"""Sets that are written in ASCII with shifts between: as UTF-8 they are valid and wrong."""
_EAST_ASIAN = ("gb18030", "cp949", "cp932", "big5hkscs", "euc_jp", "euc_jis", "johab")
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]+")


def text_of(data: bytes, charset: str = "", *, cut: bool = False) -> str:
    """`data` as text. `cut`: it is the beginning of something longer, and may end within a character.

    Valid UTF-8 is UTF-8, whatever is claimed: Gmail itself has turned some parts into it and left their label.
    """
    codec = _codec(charset)
    if codec and codec.startswith(("utf-16", "utf-32")) and b"\x00" in data[:64]:
        return _decode(data, codec, cut) or data.decode(codec, "replace")
    if codec and codec.startswith(_ESCAPED):
        return _decode(data, codec, cut) or data.decode(codec, "replace")
    as_utf8 = _decode(data, "utf-8", cut)
    if as_utf8 is not None:
        # Two short East Asian characters can be valid UTF-8 by chance, but then they read as Greek or Hebrew letters.
        if codec and codec.startswith(_EAST_ASIAN) and not as_utf8.isascii() and max(as_utf8) < "\u0800":
            return _decode(data, codec, cut) or as_utf8
        return as_utf8
    if codec and codec not in ("utf-8", "utf-8-sig", "utf_8"):
        text = _decode(data, codec, cut)
        return data.decode(codec, "replace") if text is None else text
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    beyond_ascii = sum(1 for character in text if character > "\x7f")
    if broken * 2 <= beyond_ascii:
        return text  # mostly right: a byte was lost on the way
    return _western(data)


def from_base64(data: str, most: int | None = None) -> bytes:
    """What is in base64, URL-safe or not, with or without padding, with line breaks or worse; at most `most` bytes."""
    if most is not None:
        data = data[: most // 3 * 4 + 4]
    clean = _NOT_BASE64.sub("", data.translate({0x2D: "+", 0x5F: "/"}))
    if len(clean) % 4 == 1:
        clean = clean[:-1]  # six bits of nothing
    try:
        return base64.b64decode(clean + "=" * (-len(clean) % 4))[:most]
    except binascii.Error:
        return b""


def _codec(charset: str) -> str | None:
    """Python's name of it; None when there is none or it is refused."""
    name = charset.strip(" '\"\t").lower()[:40]
    name = _ALIASES.get(name, name)
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError, UnicodeError):
        return None
    refused = found.name in _REFUSED or not getattr(found, "_is_text_encoding", True)
    return None if refused else _WIDER.get(found.name, found.name)


def _decode(data: bytes, codec: str, cut: bool) -> str | None:
    """None when it is not valid."""
    try:
        decoder = codecs.getincrementaldecoder(codec)()
        return decoder.decode(data, final=not cut)
    except (UnicodeError, LookupError, ValueError):
        return None


def _western(data: bytes) -> str:
    """Windows' Western European set, which is what unlabelled 8-bit mail is; its five gaps are filled from Latin-1."""
    return (
        "".join(
            piece.decode("cp1252", "ignore") or piece.decode("latin-1") for piece in (bytes((byte,)) for byte in data)
        )
        if _has_gap(data)
        else data.decode("cp1252")
    )


def _has_gap(data: bytes) -> bool:
    return any(gap in data for gap in (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"))
