"""Secrets and telephone numbers out of any text: speech, messages, logs and the page all pass through here.

Every pattern is linear: it starts at a literal or at the edge of a run of characters, and what follows is possessive or
bounded, so that no input makes it slow. When in doubt a string is hidden; what is known to be public (a commit, a
checksum named as one, a UUID) stays.
"""

import re

REDACTED = "a redacted key"

MAX_PEM_CHARS = 20_000
"""How far the closing line of a PEM block is looked for."""

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{1,40}-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{1,40}-----")
# What still belongs to a block whose end is missing: headers, then words too long to be prose.
_PEM_TORN_BODY = re.compile(
    r"""(?: \s++ | \\[nrt] | [A-Z][A-Za-z-]{2,20}:[ ][^\n]{0,200}+\n )*+
        (?: [A-Za-z0-9+/=]*[A-Z0-9+/=][A-Za-z0-9+/=]*+
            (?: (?:\s|\\[nrt]){1,8}+
                (?: [A-Za-z0-9+/]{16,}+=*+ | [A-Za-z0-9+/]{1,80}+(?:={1,2}|(?=\s*\Z)|(?=\s*-----)) )
            )*+
        )?+ (?:\s?-----END[A-Z0-9 ]{0,40}-*+)?+""",
    re.VERBOSE,
)

_USERINFO = re.compile(r"(?<=://)[^\s/@:\"'<>]{0,256}+:[^\s/\"'<>]{1,512}@")

_AUTHORIZATION = re.compile(
    r"""( \bauthorization ["']? \s{0,3} [:=] \s{0,3} ["']? (?:(?:bearer|basic|token|digest|apikey)\s{1,3})?+
        | \bbearer\s{1,3} (?=[A-Za-z0-9._~+/-]{0,64}[0-9]) (?=[A-Za-z0-9._~+/=-]{12}) )
        [A-Za-z0-9._~+/:-]{6,}+ =*+""",
    re.VERBOSE | re.IGNORECASE,
)
_COOKIE = re.compile(r"(\bcookie:\s{0,3})[^\s=;]{1,64}=[^\r\n]{4,4096}", re.IGNORECASE)
_WEBHOOK = re.compile(
    r"(hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)[A-Za-z0-9_/-]{8,}+", re.IGNORECASE
)

_ASSIGNMENT = re.compile(
    r"""(?P<name> passwd | password | passphrase | (?<![A-Za-z])pwd | secret(?!s) | credential | token(?!s|i[sz])
          | (?<![A-Za-z0-9])pin | (?<!redacted[ ])key(?:[_-]?id)? | signature | (?<=[?&;])sig
        )
        (?P<close> \\{0,2} ["'`*]{0,3}+ )
        (?P<mark> [ \t]{0,8} (?::=|=>|[=:]) [*]{0,2} \s{0,8} | [ \t]{1,3}(?:is|was)(?::|[ ]now)?[ \t]{1,3}
          | [ \t]{1,3}\|[ \t]{1,3} | [ \t]{1,3}(?=\S{0,64}\d) )
        (?P<value> (?P<quote>\\{0,2}["'`]) [^"'`\r\n]{1,512}+
          | (?:[^\s"'`<>,;|)\]}&] | [,;)\]}](?=[^\s,;)\]}"'`])){3,4096}+ )""",
    re.VERBOSE | re.IGNORECASE,
)
# The same names' beginnings without IGNORECASE, which lets the search skip from one to the next: ten times as fast.
_NAME_HINT = re.compile(
    r"[pP](?:[aA][sS][sS][wWpP]|[wW][dD]|[iI][nN])|[sS](?:[eE][cC][rR]|[iI][gG])|[cC][rR][eE][dD]|[tT][oO][kK]|[kK][eE][yY]"
)
_STRONG_KEY = re.compile(
    r"(?:api|access|private|secret|shared|signing|encryption|master|account|auth)[ _-]?\Z", re.IGNORECASE
)
_FLAG = re.compile(
    r"(--?(?:[a-z]{1,20}-)?(?:password|passwd|passphrase|token|secret|api-key|auth-token)[ \t]{1,3}[\"']?)"
    r"([^\s\"'-][^\s\"']{3,512}+)",
    re.IGNORECASE,
)
# What follows a secret's name without being one: the name of a type, a state, an ordinary sentence going on.
_NO_SECRET = frozenset(
    """required optional missing wrong invalid valid expired rotated changed unset string none null nil true false bytes
    empty yes unknown undefined str int bool redacted hidden masked correct incorrect stored read written used needed
    too not the and for with that this from then now never also still your given disabled enabled default""".split()
)
_PASSWORDISH = re.compile(r"pass|pwd|pin|credential", re.IGNORECASE)
_CODE_VALUE = re.compile(
    r"\$[{(]|\$[A-Z_]{2,}\b|%[({A-Z]|\{\{|\{[a-z_.]+|[(\[]|[A-Za-z_][\w.]*[(\[{]"
    r"|(?:os|env|self|settings|config|process|secrets|args|request|response)\.[a-z]|\*{2,}|\.{3}|…|x{4,}"
)

_PREFIXED = re.compile(
    r"""(?<![A-Za-z0-9])(?:
          sk-ant-[A-Za-z0-9_-]{4,}+
        | sk-(?=[A-Za-z0-9_-]{0,80}[0-9A-Z])[A-Za-z0-9_-]{16,}+
        | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{6,}+ | whsec_[A-Za-z0-9+/=]{8,}+
        | gh[pousr]_[A-Za-z0-9]{6,}+ | github_pat_[A-Za-z0-9_]{6,}+
        | gl(?:pat|dt|rt|ft|cbt|ptt|soat)-[A-Za-z0-9_.-]{10,}+
        | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}+
        | xox[a-z]-[A-Za-z0-9-]{6,}+ | xapp-[A-Za-z0-9-]{8,}+
        | AIza[A-Za-z0-9_-]{16,}+ | ya29\.[A-Za-z0-9_-]{16,}+ | GOCSPX-[A-Za-z0-9_-]{12,}+
        | SK[0-9a-f]{32}(?![0-9a-f]) | SG\.[A-Za-z0-9_-]{12,}+\.[A-Za-z0-9_-]{12,}+
        | (?:hf|gsk|npm|pypi|dop_v1|shpat|shpss|r8|lin_api|ntn|secret|pat|rnd|sbp|fo1|dckr_pat|figd|xai|tvly|pplx|nvapi)
              [_-](?=[A-Za-z0-9_-]{0,40}[0-9])(?=[A-Za-z0-9_-]{0,40}[A-Z]|[a-f0-9]{32})[A-Za-z0-9_-]{20,}+
        | AGE-SECRET-KEY-1[A-Z0-9]{20,}+
        | (?<![_-])eyJ[A-Za-z0-9_-]{6,}+(?:\.[A-Za-z0-9_-]*+){1,4}+
    )""",
    re.VERBOSE,
)

_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}+={0,2}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PROVIDER_ID = re.compile(r"[A-Z]{2}[0-9a-f]{32}")
_HEX = re.compile(r"[0-9a-f]{32,}|[0-9A-F]{32,}")
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SEGMENTS = re.compile(r"[A-Za-z0-9+]+")
_PUBLIC_BEFORE = re.compile(
    r"(?<![A-Za-z])(?:commit|sha-?\d*|hash|digest|md5|checksum|etag|integrity|revision|rev|ref|parent|tree|blob"
    r"|[ug]uid)[/\w\s:=()\"'`*-]{0,16}\Z",
    re.IGNORECASE,
)
_SECRET_BEFORE = re.compile(r"(?:token|secret|password|key|credential)[\w\s:=()\"'`*-]{0,16}\Z", re.IGNORECASE)
_CONTEXT_CHARS = 40
_SHORTEST_RUN = 20
_JUDGED_CHARS = 512
"""A longer run is judged by its beginning."""
_COMMIT_DIGITS = 40


def redact(text: str) -> str:
    """`text` with every secret in it replaced by "a redacted key". Doing it again changes nothing; linear in time."""
    text = _without_pem(text)
    text = _USERINFO.sub(f"{REDACTED}@", text)
    text = _AUTHORIZATION.sub(rf"\1{REDACTED}", text)
    text = _COOKIE.sub(rf"\1{REDACTED}", text)
    text = _WEBHOOK.sub(rf"\1{REDACTED}", text)
    text = _PREFIXED.sub(REDACTED, text)
    text = _without_assigned(text)
    text = _FLAG.sub(_flagged, text)
    return _RUN.sub(_judged, text)


def _without_pem(text: str) -> str:
    kept: list[str] = []
    at = 0
    while begin := _PEM_BEGIN.search(text, at):
        kept += text[at : begin.start()], REDACTED
        limit = begin.end() + MAX_PEM_CHARS
        following = _PEM_BEGIN.search(text, begin.end(), limit)
        end = _PEM_END.search(text, begin.end(), following.start() if following else limit)
        if end:
            at = end.end()
        else:
            torn = _PEM_TORN_BODY.match(text, begin.end())
            at = torn.end() if torn else begin.end()
            if at < len(text) and text[at - 1].isspace():
                at -= 1  # keeps the words after it apart
    return "".join(kept) + text[at:]


def _without_assigned(text: str) -> str:
    kept: list[str] = []
    at = 0
    for hint in _NAME_HINT.finditer(text):
        if hint.start() < at or not (found := _ASSIGNMENT.match(text, hint.start())):
            continue
        value, quote = found["value"], found["quote"] or ""
        bare = value[len(quote) :] if quote else value.rstrip(".:!?*_")
        before = text[max(0, found.start() - 12) : found.start()]
        rest = text[found.end() : found.end() + 2]
        if _is_secret(found["name"].lower(), found["mark"], bare, quoted=bool(quote), before=before, rest=rest):
            kept += text[at : found.start("value")], quote, REDACTED, "" if quote else value[len(bare) :]
            at = found.end()
    return "".join(kept) + text[at:]


def _is_secret(name: str, mark: str, value: str, *, quoted: bool, before: str, rest: str) -> bool:
    """Whether what stands after `name` and `mark` is a secret, or code, or a sentence that goes on."""
    if len(value) < 3 or value.lower() in _NO_SECRET or _CODE_VALUE.match(value) or value.startswith("a redacted"):
        return False
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    explicit = "=" in mark or ":" in mark
    passwordish = bool(_PASSWORDISH.search(name))
    if name == "pin":
        return value.isdigit() and 4 <= len(value) <= 12
    if name in ("signature", "sig") or (name.startswith("key") and not _STRONG_KEY.search(before)):
        return explicit and len(value) >= 16 and mixed and " " not in value
    if not explicit:
        return mixed and len(value) >= 6 and " " not in value
    if value.isdigit():
        return passwordish or len(value) >= 6
    if quoted:
        return passwordish or mixed or "=" in mark or (len(value) >= 6 and " " not in value)
    if len(value) < 4 or value.lower() == name:
        return passwordish and "=" in mark
    if mark == "=" or mixed or not re.sub(r"[-_.]", "", value).isalpha():
        return True
    if passwordish and "=" in mark:
        return True
    return (not rest.strip(" ") or rest[0] in "\r\n") and (
        passwordish or (len(value) >= 16 and "_" not in value and "." not in value)
    )


def _flagged(found: re.Match[str]) -> str:
    value = found[2]
    if value.lower() in _NO_SECRET or _CODE_VALUE.match(value):
        return found[0]
    return f"{found[1]}{REDACTED}"


def _judged(found: re.Match[str]) -> str:
    run = found[0]
    before = found.string[max(0, found.start() - _CONTEXT_CHARS) : found.start()]
    if "/" not in run:
        return REDACTED if _looks_random(run, before) else run
    parts = run.split("/")
    names = "/".join(part for part in parts if not (_HEX.fullmatch(part) or _UUID.fullmatch(part)))
    if len(names) >= _SHORTEST_RUN and _mixed_case(names[:_JUDGED_CHARS]) and _looks_random(names, before):
        return REDACTED
    for at, part in enumerate(parts):
        if len(part) >= _SHORTEST_RUN and _looks_random(part, "/".join((before, *parts[max(0, at - 2) : at], ""))):
            parts[at] = REDACTED
    return "/".join(parts)


def _looks_random(run: str, before: str) -> bool:
    """Whether a long run of characters is more likely a key than a name, a path or a public hash."""
    if _UUID.fullmatch(run) or _PROVIDER_ID.fullmatch(run):
        return False
    if _HEX.fullmatch(run):
        if _PUBLIC_BEFORE.search(before) or run.isdigit():
            return False
        return len(run) != _COMMIT_DIGITS or bool(_SECRET_BEFORE.search(before))
    if _PUBLIC_BEFORE.search(before):
        return False
    head = run[:_JUDGED_CHARS]
    if not any(c.isdigit() for c in head) or max(map(len, _SEGMENTS.findall(head)), default=0) < 12:
        return False
    pieces = _PIECES.findall(head)
    mean = sum(map(len, pieces)) / len(pieces)
    if _mixed_case(head):
        return mean <= 3.0
    return len(head) >= 24 and mean <= 2.6 and sum(c.isdigit() for c in head) >= 5


def _mixed_case(run: str) -> bool:
    return not (run.islower() or run.isupper())


_TELEPHONE = re.compile(
    r"(?<![\w.+-])(?:(?:\+|%2B|00)[1-9](?:[ .()-]{0,2}\d){7,14}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?![\w-])",
    re.IGNORECASE,
)


def mask_number(number: str) -> str:
    """A telephone number of which one can tell that it is the usual one: `+15551234567` → `+1555***4567`."""
    digits = "".join(c for c in number if c.isdigit())
    plus = "+" if number.strip().startswith("+") else ""
    if len(digits) < 8:
        return f"{plus}***{digits[-2:] if len(digits) > 4 else ''}"
    return f"{plus}{digits[:4]}***{digits[-4:]}" if len(digits) > 9 else f"{plus}{digits[:2]}***{digits[-2:]}"


def mask_line(line: str) -> str:
    """A finished log line with no secret and no whole telephone number in it."""
    return _TELEPHONE.sub(lambda found: mask_number(found[0].replace("%2B", "+").replace("%2b", "+")), redact(line))
