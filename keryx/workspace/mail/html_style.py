"""What a style makes of text: whether a person would see it. Pure.

Inline styles, and a style sheet's plain rules for a class or an id: so mail hides text. What needs a browser's whole
cascade is not recognised.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

MAX_STYLE_CHARS = 4_000
MAX_SHEET_CHARS = 200_000
MAX_RULES = 2_000
TINY_PX = 2.0
"""Text of this size or smaller cannot be read."""
CLOSE_COLOURS = 24
"""How far apart, of 255, each of red, green and blue may be for text that is as good as unseen."""
FAR_OUT_PX = 400.0
"""Text moved this far to the left or up has left the page."""

Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)

_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})[ \t\n\f\r]?|\\(.)", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\s{0,4}([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))\s{0,4}(px|pt|em|rem|ex|ch|%|vw|vh|cm|mm|in)?")
_HEX = re.compile(r"#([0-9a-f]{3,8})\b")
_RGB = re.compile(r"rgba?\(([^()]{0,60})\)")
_SELECTOR = re.compile(r"(?:[a-z][a-z0-9]{0,20})?[.#][\w-]{1,100}", re.IGNORECASE)
_IMPORTANT = re.compile(r"\s{0,9}!\s{0,9}important\s{0,9}$")
_NAMED: dict[str, Colour] = {
    "white": WHITE,
    "black": (0, 0, 0),
    "snow": (255, 250, 250),
    "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255),
    "ivory": (255, 255, 240),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
    "silver": (192, 192, 192),
    "yellow": (255, 255, 0),
    "navy": (0, 0, 128),
}
_PX = {
    "px": 1.0,
    "pt": 4 / 3,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "%": 0.16,
    "cm": 37.8,
    "mm": 3.78,
    "in": 96.0,
}


@dataclass(frozen=True)
class Look:
    """How an element's text looks, as far as it matters here; handed down to what is inside of it."""

    gone: bool = False
    """Nothing inside can be seen, whatever its own style says."""
    invisible: bool = False
    tiny: bool = False
    colour: Colour | None = (0, 0, 0)
    """None: one that is not understood."""
    transparent: bool = False
    behind: Colour | None = WHITE
    """The background; None: a picture, or one that is not understood."""
    kept_blanks: bool = False
    """Line breaks and blanks are shown as they are."""

    @property
    def hidden(self) -> bool:
        return self.gone or self.invisible or self.tiny or self.transparent or self._same_colour()

    def _same_colour(self) -> bool:
        if self.colour is None or self.behind is None:
            return False
        return all(abs(one - other) <= CLOSE_COLOURS for one, other in zip(self.colour, self.behind, strict=True))


def look_inside(outer: Look, name: str, attributes: Mapping[str, str], rules: "Rules | None" = None) -> Look:
    """How the text of an element looks that stands in another one."""
    style = attributes.get("style", "")
    of_sheet = rules.of(name, attributes) if rules else ""
    look = outer
    if name == "pre":
        look = replace(look, kept_blanks=True)
    if "bgcolor" in attributes:
        look = replace(look, behind=_colour(attributes["bgcolor"].lower()))
    if "background" in attributes:
        look = replace(look, behind=None)
    if name == "font" and "color" in attributes:
        look = _coloured(look, attributes["color"].lower())
    if "hidden" in attributes:
        look = replace(look, gone=True)
    if style or of_sheet:
        look = _styled(look, dict(declarations(f"{of_sheet};{style[:MAX_STYLE_CHARS]}")))
    return look


def declarations(style: str) -> Iterator[tuple[str, str]]:
    """The properties and values of a style, in small letters."""
    if "\\" in style:
        style = _ESCAPE.sub(_unescaped, style)
    if "/*" in style:
        style = _COMMENT.sub("", style)
    for declaration in style.lower().split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            yield name.strip(), _IMPORTANT.sub("", value).strip()


class Rules:
    """A style sheet's rules for a class or an id, of those that can hide something."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}

    def add(self, sheet: str) -> None:
        """Take in a sheet; what stands inside of an at-rule, as one for small screens, does not count."""
        sheet = _COMMENT.sub("", sheet[:MAX_SHEET_CHARS])
        for selectors, body in _blocks(sheet):
            for selector in selectors.split(","):
                if len(self._rules) >= MAX_RULES:
                    return
                selector = selector.strip()
                if _SELECTOR.fullmatch(selector):
                    before = self._rules.get(selector.lower(), "")
                    self._rules[selector.lower()] = f"{before};{body}"[-MAX_STYLE_CHARS:]

    def of(self, name: str, attributes: Mapping[str, str]) -> str:
        """The declarations that apply to an element, as one style."""
        if not self._rules:
            return ""
        keys = [f".{one}" for one in attributes.get("class", "").lower().split()[:20]]
        if "id" in attributes:
            keys.append(f"#{attributes['id'].strip().lower()}")
        found: Iterable[str] = (self._rules.get(start + key, "") for key in keys for start in ("", name))
        return ";".join(style for style in found if style)


def _blocks(sheet: str) -> Iterator[tuple[str, str]]:
    """Each rule's selectors and its body."""
    at, inside = 0, 0
    for brace in re.finditer(r"[{}]", sheet):
        before = sheet[at : brace.start()]
        at = brace.end()
        if brace[0] == "{":
            if inside or "@" in before:
                inside += 1
            else:
                selectors = before
                stop = sheet.find("}", at, at + MAX_STYLE_CHARS)
                yield (
                    selectors.rpartition(";")[2][-MAX_STYLE_CHARS:],
                    sheet[at : stop if stop >= 0 else at + MAX_STYLE_CHARS],
                )
        elif inside:
            inside -= 1


def _styled(look: Look, style: Mapping[str, str]) -> Look:
    if _takes_away(style):
        return replace(look, gone=True)
    if visibility := style.get("visibility"):
        look = replace(look, invisible=visibility in ("hidden", "collapse"))
    if size := style.get("font-size"):
        look = replace(look, tiny=_is_tiny(size, look.tiny))
    elif font := style.get("font"):
        sizes = [part.partition("/")[0] for part in font.split() if _NUMBER.match(part) and not part.isdigit()]
        look = replace(look, tiny=_is_tiny(sizes[0], look.tiny)) if sizes else look
    if colour := style.get("color"):
        look = _coloured(look, colour)
    background = style.get("background-color") or style.get("background")
    if background:
        look = replace(look, behind=_background(background, look.behind))
    if style.get("background-image", "none") != "none":
        look = replace(look, behind=None)
    if blanks := style.get("white-space"):
        look = replace(look, kept_blanks=blanks.startswith("pre"))
    return look


def _takes_away(style: Mapping[str, str]) -> bool:
    """Whether an element and all that is in it are nowhere to be seen."""
    if style.get("display") == "none":
        return True
    opacity = _number(style.get("opacity", ""))
    if opacity is not None and opacity < 0.1:
        return True
    if "hidden" in style.get("overflow", "") or "hidden" in style.get("overflow-y", ""):
        sides = (_pixels(style.get(side, "")) for side in ("height", "max-height", "width"))
        if any(side is not None and side <= TINY_PX for side in sides):
            return True
    indent = _pixels(style.get("text-indent", ""))
    if indent is not None and indent <= -FAR_OUT_PX:
        return True
    if style.get("position") in ("absolute", "fixed"):
        moves = (_pixels(style.get(side, "")) for side in ("left", "top"))
        if any(move is not None and move <= -FAR_OUT_PX for move in moves):
            return True
        return style.get("clip", "").replace(" ", "").replace(",", "").startswith(("rect(0000", "rect(0px0px0px0px"))
    return False


def _is_tiny(size: str, now: bool) -> bool:
    pixels = _pixels(size)
    if pixels is None:
        return False if size[:1].isalpha() and size != "inherit" else now
    relative = size.rstrip().endswith(("em", "%")) and not size.rstrip().endswith("rem")
    return pixels <= TINY_PX or (now and relative)


def _coloured(look: Look, value: str) -> Look:
    if value in ("inherit", "currentcolor"):
        return look
    colour = _colour(value)
    return replace(look, colour=colour, transparent=colour is None and _see_through(value))


def _background(value: str, now: Colour | None) -> Colour | None:
    if value in ("inherit", "none", "transparent", "initial", "unset") or _see_through(value):
        return now
    if "url(" in value or "gradient" in value:
        return None
    return next((colour for part in (value, *value.split()) if (colour := _colour(part))), None)


def _colour(value: str) -> Colour | None:
    """None when it is none that is understood, or a transparent one."""
    value = value.strip()
    if value in _NAMED:
        return _NAMED[value]
    if found := _HEX.match(value if value.startswith("#") else f"#{value}"):
        digits = found[1]
        if len(digits) in (4, 8) and _see_through(f"#{digits}"):
            return None
        if len(digits) in (3, 4):
            digits = "".join(digit * 2 for digit in digits)
        if len(digits) in (6, 8):
            return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
        return None
    if (found := _RGB.match(value)) and not _see_through(value):
        parts = [_number(part) for part in re.split(r"[\s,/]+", found[1].strip())]
        red, green, blue = (parts + [None] * 3)[:3]
        if red is not None and green is not None and blue is not None:
            return int(red), int(green), int(blue)
    return None


def _see_through(value: str) -> bool:
    """Whether a colour is so nearly transparent that it colours nothing."""
    if value == "transparent":
        return True
    if found := _HEX.fullmatch(value):
        alpha = {4: found[1][3:] * 2, 8: found[1][6:]}.get(len(found[1]))
        return alpha is not None and int(alpha, 16) < 26
    if found := _RGB.fullmatch(value):
        parts = re.split(r"[\s,/]+", found[1].strip())
        alpha = _number(parts[3]) if len(parts) > 3 else None
        return alpha is not None and alpha < (10 if parts[3].endswith("%") else 0.1)
    return False


def _pixels(value: str) -> float | None:
    found = _NUMBER.match(value)
    if not found:
        return None
    unit = found[2]
    return float(found[1]) * _PX.get(unit or "px", 10.0)


def _number(value: str) -> float | None:
    found = _NUMBER.match(value)
    return float(found[1]) if found else None


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        code = int(found[1], 16)
        return chr(code) if 0 < code <= 0x10FFFF else "\ufffd"
    return found[2]
