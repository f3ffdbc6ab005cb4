"""Everything with digits: dates, times, versions, money, units, ranges, and at last the plain numbers."""

import re
from collections.abc import Callable

from keryx.voice.speech import numbers, words
from keryx.voice.speech.numbers import cardinal, counted, decimal, ordinal, spelled

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_N = r"\d+(?:,\d{3})*(?:\.\d+)?"
_FREE = r"(?<![\w.,])"
_LANGUAGES = (
    "python|node|node\\.js|java|ruby|php|perl|debian|ubuntu|macos|django|postgres|postgresql|go|rust|swift|kotlin"
)
_DURATION_UNITS = {"d": "day", "h": "hour", "m": "minute", "min": "minute", "s": "second", "ms": "millisecond"}
_RATES = {None: "", "s": " a second", "min": " a minute", "h": " an hour"}
_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
}
_SCALES = {"k": "thousand", "m": "million", "b": "billion", "bn": "billion"}


def _moment(found: re.Match[str]) -> str:
    day = numbers.date(found[1], found[2], found[3])
    if day is None:
        return found[0]
    if not found[4]:
        return day
    zone = found["zone"] or ""
    said = f"{day}, {numbers.clock(found[4], found[5], found[6])}"
    if zone in ("Z", "+00:00", "+0000", "-00:00"):
        return f"{said} UTC"
    return f"{said} {_offset(zone)}" if zone else said


def _offset(zone: str) -> str:
    hours, minutes = zone[1:3], zone[-2:]
    said = f"UTC {'plus' if zone[0] == '+' else 'minus'} {cardinal(hours.lstrip('0') or '0')}"
    return said if minutes == "00" else f"{said} {cardinal(minutes)}"


def _clock(found: re.Match[str]) -> str:
    if int(found[1]) > 24 or int(found[2]) > 59 or int(found[3] or 0) > 59:
        return f"{cardinal(found[1])} {cardinal(found[2])}{' ' + cardinal(found[3]) if found[3] else ''}"
    said = numbers.clock(found[1], found[2], found[3])
    if found[4]:
        said = said.removesuffix(" o'clock") + f" {found[4][0].upper()} M"
    return said


def _duration(found: re.Match[str]) -> str:
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|min|[dhms])", found[0])
    return " ".join(counted(n, _DURATION_UNITS[unit], _DURATION_UNITS[unit] + "s") for n, unit in parts)


def _version(found: re.Match[str]) -> str:
    release, extra = found["release"], found["extra"] or ""
    octets = release.split(".")
    before = found.string[max(0, found.start() - 9) : found.start()].lower()
    if not found["v"] and not extra and len(octets) == 4 and all(int(o) < 256 for o in octets):
        said = " dot ".join(cardinal(o) for o in octets)  # an address on the network
        return f"{said} port {found['port']}" if found["port"] else said
    tail = " ".join(re.findall(r"[A-Za-z]+|\d+", extra))
    name = "" if before.rstrip().endswith("version") else "version "
    return f"{name}{numbers.dotted(release)} {tail}".rstrip() + (f" {found['port']}" if found["port"] else "")


def _named_version(found: re.Match[str]) -> str:
    return f"{found[1]} {numbers.dotted(found[2])}"


def _money(found: re.Match[str]) -> str:
    one, many, cent, cents = _CURRENCIES[found["sign"]]
    amount, scale = found["amount"].replace(",", ""), found["scale"]
    if scale:
        return f"{decimal(amount)} {_SCALES[scale.lower()]} {many}"
    whole, _, fraction = amount.partition(".")
    if len(fraction) == 2 and int(fraction) and whole == "0":
        return counted(fraction.lstrip("0"), cent, cents)
    if len(fraction) == 2 and int(fraction):
        return f"{counted(whole, one, many)} {cardinal(fraction.lstrip('0'))}"
    if fraction and int(fraction):
        return f"{decimal(amount)} {many}"
    return counted(whole, one, many)


def _unit(found: re.Match[str]) -> str:
    unit, apart = found["unit"], bool(found["gap"])
    if unit not in words.units() or (apart and (unit == "us" or (len(unit) == 1 and not found["n"].count(".")))):
        return found[0]
    one, many = words.units()[unit]
    sign = "minus " if found["sign"] else ""
    low = f"{decimal(found['low'])} to " if found["low"] else ""
    return f"{low}{sign}{counted(found['n'], one, many)}{_RATES[found['rate']]}"


def _telephone(found: re.Match[str]) -> str:
    groups = re.findall(r"\d+", found[0])
    return ("plus " if found[0].startswith("+") else "") + ", ".join(spelled(group) for group in groups)


def _scientific(found: re.Match[str]) -> str:
    sign = "minus " if found[1] else ""
    base, exponent = found[2], int(found[3])
    if 0 <= exponent <= 12:
        return f"{sign}{decimal(f'{float(base) * 10**exponent:.6f}'.rstrip('0').rstrip('.'))}"
    power = f"{'minus ' if exponent < 0 else ''}{cardinal(str(abs(exponent)))}"
    return f"{sign}{decimal(base)} times ten to the {power}"


def _decade(found: re.Match[str]) -> str:
    said = numbers.year(found[1])
    return said[:-1] + "ies" if said.endswith("y") else said + "s"


_EARLY: tuple[Rule, ...] = (
    (re.compile(r"(?<![\w.])[~≈]\s?(?=[$€£]?\d)"), lambda _: "about "),
    (
        re.compile(r"(?<![\w.])\+(\d{1,9})\s?[/,]?\s?[-−](\d{1,9})(?!\w)"),
        lambda f: f"plus {cardinal(f[1])}, minus {cardinal(f[2])}",
    ),
    (
        re.compile(r"(?<![\w./])(\d{1,2})/(\d{1,2})/(\d{4})(?![\w/])"),
        lambda f: f"{cardinal(f[1])} {cardinal(f[2])} {numbers.year(f[3])}",
    ),
    (re.compile(r"(?<![\w.:])(\d{1,2})\s?([aApP])\.?[mM]\b"), lambda f: f"{cardinal(f[1])} {f[2].upper()} M"),
    (
        re.compile(
            r"(?<![\w.-])(\d{4})-(\d{2})-(\d{2})"
            r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?(?![\w-])"
        ),
        _moment,
    ),
    (
        re.compile(
            r"(?<![\w:.])([0-2]?\d):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)?(?:\s?([ap])\.?m\b\.?)?(?![\w:])", re.I
        ),
        _clock,
    ),
    (
        re.compile(
            r"(?<![\w+.])\+[1-9]\d{6,14}(?!\w)|(?<![\w.-])(?:\+?1[ .-])?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-])"
        ),
        _telephone,
    ),
    (
        re.compile(
            r"(?<![\w.])(?=\+(?:[ ()-]{0,2}\d){8,15}(?!\d))\+[1-9]\d{0,2}(?:[ -]{1,2}\(?\d{2,9}\)?){1,5}(?![\w-])"
        ),
        _telephone,
    ),
    (re.compile(rf"(?<![\w.])({_LANGUAGES})[ /](\d+(?:\.\d+)+)(?![\w])", re.I), _named_version),
    (
        re.compile(
            r"(?<![\w.$€£])(?:(?P<v>[vV])(?=\d+)|(?=\d+\.\d+\.\d))(?P<release>\d{1,9}(?:\.\d{1,9}){0,5})"
            r"(?P<extra>(?:[-+.]?(?:alpha|beta|rc|dev|post|pre|a|b)[.-]?\d{0,9})(?:[.+-][A-Za-z0-9]{1,20}){0,3}|(?:-[A-Za-z]{1,12}(?:\.\d+)?))?"
            r"(?::(?P<port>\d{2,5}))?(?!\w)"
        ),
        _version,
    ),
    (re.compile(rf"(?P<sign>[$€£])\s?(?P<amount>{_N})(?P<scale>bn|[kKmMbB])?(?![\w])"), _money),
    (re.compile(rf"(?<![\w.])({_N})\s?[-–]\s?({_N})\s?%"), lambda f: f"{decimal(f[1])} to {decimal(f[2])} percent"),
    (re.compile(rf"(?<![\w.])([-−+]?)({_N})\s?%"), lambda f: f"{_signed(f[1])}{decimal(f[2])} percent"),
    (
        re.compile(
            r"(?<![\w.])(?:(?:\d{1,6}d ?)?\d{1,6}h ?(?:\d{1,6}(?:min|m) ?)?(?:\d{1,6}(?:\.\d{1,6})?s)?"
            r"|\d{1,6}d(?= ?\d)|\d{1,6}(?:min|m) ?\d{1,6}(?:\.\d{1,6})?s)(?!\w)"
        ),
        _duration,
    ),
    (re.compile(r"(?<![\w.])(\d{3}0)s(?!\w)"), _decade),
    (
        re.compile(
            rf"(?<![\w.])(?:(?P<low>{_N})\s?[-–]\s?|(?P<sign>[-−]))?(?P<n>{_N})"
            r"(?P<gap>\s?)(?P<unit>°?[A-Za-zµμ]{1,4})(?:/(?P<rate>s|h|min))?(?!\w)"
        ),
        _unit,
    ),
)
_MIDDLE: tuple[Rule, ...] = (
    (re.compile(r"(?<![\w&])(?:GH-|#)(\d{1,12})\b"), lambda f: f"number {cardinal(f[1])}"),
    (re.compile(r"\b0x([0-9a-fA-F]{1,16})\b"), lambda f: "hex " + " ".join(f[1].upper())),
    (re.compile(r"(?<![\w.])([-−]?)(\d+(?:\.\d+)?)[eE]([-+]?\d{1,3})(?!\w|\.\d)"), _scientific),
    (re.compile(rf"(?<![\w.-])({_N})\s?[-–]\s?({_N})(?![\w-])"), lambda f: f"{decimal(f[1])} to {decimal(f[2])}"),
    (re.compile(r"(?<=\d)\s?\.\.\.?\s?(?=\d)"), lambda _: " to "),
    (re.compile(r"(?<![\w.)])[-−](?=\d)"), lambda _: "minus "),
    (re.compile(r"(?<![\w.)])\+(?=\d)"), lambda _: "plus "),
    (re.compile(r"(?<=\w)\s?\^\s?(?=\w)"), lambda _: " to the power of "),
    (re.compile(r"(?<![\w.])(\d+)(?:st|nd|rd|th)\b"), lambda f: ordinal(f[1])),
    (
        re.compile(
            r"\b(in|since|until|of|by|before|after|year|copyright|january|february|march|april|may|june|july|august"
            r"|september|october|november|december),? ((?:19|20)\d\d)(?![\w.,:]\d|\w)",
            re.I,
        ),
        lambda f: f"{f[1]} {numbers.year(f[2])}",
    ),
)
_LATE: tuple[Rule, ...] = (
    (re.compile(r"(?<![^\W\d])\d{1,3}(?:,\d{3})+(?:\.\d+)?"), lambda f: f" {decimal(f[0])} "),
    (re.compile(r"\d+\.\d+(?!\.\d)"), lambda f: f" {decimal(f[0])} "),
    (re.compile(r"\d+"), lambda f: f" {cardinal(f[0])} "),
)
AMOUNT_RULES = (_EARLY, _MIDDLE, _LATE)
"""Before paths and operators, after them, and what is left at the end."""


def _signed(sign: str) -> str:
    return {"": "", "+": "plus "}.get(sign, "minus ")
