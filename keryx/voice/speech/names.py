"""Addresses, paths, hashes and identifiers as words."""

import re
from collections.abc import Callable
from urllib.parse import unquote

from keryx.security.redact import REDACTED
from keryx.voice.speech import words

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTER_DIGIT = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_KNOWN_MIXED = re.compile(r"(?:k8s|ipv[46]|amd64|aarch64)\Z", re.IGNORECASE)
_FORGE = re.compile(r"/(pull|issues|merge_requests|commit|releases/tag)/([^/?#]+)")
_FORGE_WORDS = {"pull": "pull request", "issues": "issue", "merge_requests": "merge request"}


def identifier(name: str) -> str:
    """`fetchUserById`, `fetch_user-by_id` → "fetch User By Id": one word each, digits apart."""
    out: list[str] = []
    for part in re.split(r"[_\-\s]+", name):
        if _KNOWN_MIXED.match(part):
            out.append(part)
        elif part:
            part = part if part.lower() in words.pronunciations() else _HUMP.sub(" ", part)
            out.append(_LETTER_DIGIT.sub(" ", part))
    return " ".join(out)


def dotted(name: str) -> str:
    """`invoice.py` → "invoice dot py"."""
    return " dot ".join(identifier(part) for part in name.split(".") if part)


def _link(found: re.Match[str]) -> str:
    address = found[0].rstrip(".,;:!?'\")")
    tail = found[0][len(address) :]
    rest = address.partition("://")[2]
    host_and_port, _, path = rest.partition("/")
    host, _, port = re.split(r"[?#]", host_and_port)[0].rpartition("@")[2].partition(":")
    said = f"a link to {dotted(host.removeprefix('www.')) or 'a page'}"
    if forge := _FORGE.search("/" + path):
        kind, name = forge[1], unquote(forge[2])
        what = (
            f"{_FORGE_WORDS[kind]} {name}" if kind in _FORGE_WORDS else "a commit" if kind == "commit" else "a release"
        )
        said = f"a link to {what} on {dotted(host)}"
    return f" {said}{f' port {port}' if port.isdigit() else ''}{tail} "


def _link_with_key(found: re.Match[str]) -> str:
    host = re.split(r"[/?#:]", found[1])[0]
    return f" a link to {dotted(host)} with {REDACTED} "


def _mail(found: re.Match[str]) -> str:
    return f"{dotted(found[1])} at {dotted(found[2])}"


def _lines_said(lines: str | None, columns: str | None) -> str:
    if not lines:
        return ""
    return f", line {lines}" + (f", column {columns}" if columns else "")


def _path(found: re.Match[str]) -> str:
    path, place = found["path"], _lines_said(found["line"], found["column"])
    trailing = path[len(path.rstrip(".")) :] if not path.endswith("..") else ""
    path = path.rstrip(".")
    parts = [part for part in re.split(r"[/\\]+", path) if part not in ("", ".", "..")]
    if not parts:
        return " " if path in ("/", "//") else f" {'the home folder' if path.startswith('~') else 'the folder above'} "
    if re.fullmatch(r"\d+", parts[-1]) and len(parts) == 2 and parts[0].isdigit():
        return f"{parts[0]} of {parts[1]}{trailing}"  # 12/12
    home = path.startswith("~")
    spoken = [dotted(part.strip("~")) for part in parts if part != "~"]
    rooted = home or path.startswith(("/", ".")) or "\\" in path
    has_ending = "." in path.rsplit("/", 1)[-1]
    if not spoken:
        return f"the home folder{trailing}"
    if len(spoken) == 1 or path.endswith("/") or not (rooted or has_ending or len(spoken) > 2):
        # and/or, CI/CD, origin/main, feature/fix-invoice; a folder on its own
        return f"{' '.join(spoken)}{place}{trailing}"
    *folders, name = spoken
    return f"{name} in {' '.join(folders)}{place}{trailing}"


def _file(found: re.Match[str]) -> str:
    return f"{dotted(found['path'])}{_lines_said(found['line'], found['column'])}"


def _hash(found: re.Match[str]) -> str:
    digits = found[0]
    if not (any(c.isdigit() for c in digits) and any(c.isalpha() for c in digits)):
        return digits
    return words.described("commit" if len(digits) <= 40 and len(digits) != 32 else "checksum")


def _commit(found: re.Match[str]) -> str:
    """ "in commit a1b2c3d" → "in a commit"; "the commit a1b2c3d" → "the commit"."""
    article = found["article"] or ""
    return f"{article} commit".strip() if article else words.described("commit")


def _identifier(found: re.Match[str]) -> str:
    return identifier(found[0])


_HEX = r"(?=[0-9a-f]*\d)[0-9a-f]{7,64}"
_TLD = "com|org|net|io|dev|ai|app|co|uk|de|eu|edu|gov|info|me|sh|xyz|cloud|local|internal|test|example"
_PLACE = r"(?::(?P<line>\d{1,7})(?::(?P<column>\d{1,5}))?)?"

_ADDRESSES: tuple[Rule, ...] = (
    (re.compile(rf"<?\b\w{{1,12}}://{REDACTED}@([^\s<>\"']{{1,2000}})>?"), _link_with_key),
    (
        re.compile(
            r"<?\b(?:https?|wss?|ftp|ssh|git|postgres(?:ql)?|redis|file|sqlite\S{0,12})://[^\s<>\"'`|]{1,4000}>?", re.I
        ),
        _link,
    ),
    (re.compile(r"<?(?:mailto:)?\b([\w.+-]{1,64})@((?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24})\b>?"), _mail),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), lambda _: words.described("identifier")),
    (re.compile(r"\b[A-Z]{2}[0-9a-f]{32}\b"), lambda _: words.described("identifier")),
    (re.compile(r"\bsha(?:-?\d+)?[:=-][A-Za-z0-9+/=]{16,200}", re.I), lambda _: words.described("checksum")),
    (
        re.compile(
            rf"\b(?:(?P<article>the|this|that|a) )?(?:commit|revision|rev|sha|hash)(?:\s+hash)?:?\s+{_HEX}\b",
            re.I,
        ),
        _commit,
    ),
    (
        re.compile(rf"(?<![\w.]){_HEX}(?=\.\.\.?[0-9a-f]{{7}})\.{{2,3}}"),
        lambda found: f"{words.described('commit')} to ",
    ),
    (re.compile(rf"(?<![\w.-]){_HEX}(?![\w-])"), _hash),
)
_PATHS: tuple[Rule, ...] = (
    (
        re.compile(
            rf"(?<![\w/\\.~])(?P<path>(?:[A-Za-z]:\\|~|\.{{1,2}}(?=/)|/)?(?:[\w.@+~%-]{{0,255}}[/\\])+[\w.@+~%-]{{0,255}})(?<![:]){_PLACE}"
        ),
        _path,
    ),
    (re.compile(rf"(?<![\w.])(?P<path>\.?[A-Za-z_][\w-]{{0,100}}(?:\.[A-Za-z_]\w{{0,60}})+){_PLACE}(?:\(\))?"), _file),
    (re.compile(r"(?<![\w.])\.[A-Za-z]\w{1,60}\b"), lambda found: "dot " + identifier(found[0][1:])),
    (re.compile(r"(?<!\S)--?(?=[A-Za-z])"), lambda found: "dash " * len(found[0])),
)
_IDENTIFIERS: tuple[Rule, ...] = (
    (re.compile(r"(?<=\w)::?(?=\w)"), lambda _: " "),
    (re.compile(r"[^\W\d_]\w{0,20}(?=\()|\(\)"), lambda found: "" if found[0] == "()" else found[0]),
    (re.compile(r"(?<![A-Za-z0-9_])(?![a-z]++(?![A-Za-z0-9_])|[A-Z]{2,}s\b)[A-Za-z0-9_]{2,}+"), _identifier),
    (re.compile(r"(?<![\w])#(?=[A-Za-z])"), lambda _: ""),
)
NAME_RULES = (_ADDRESSES, _PATHS, _IDENTIFIERS)
"""Before the amounts, between them, and after the symbols."""
