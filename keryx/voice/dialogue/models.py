"""Which model an agent shall use, as people say it: "with opus", "use g p t six luna". Pure."""

import re
from dataclasses import dataclass

from keryx.agents.registry import CLAUDE, CODEX
from keryx.voice.dialogue.names import agent_pattern
from keryx.voice.dialogue.normalise import number_in

_SOUNDS: dict[str, tuple[str, ...]] = {
    "opus": ("opuss", "opis", "opas", "oppus", "o pus", "oh pus"),
    "sonnet": ("sonnets", "sonet", "sonnett", "sunnet", "sonnete"),
    "haiku": ("haikus", "haiko", "hi ku", "high ku", "hiku", "high coup", "hi coup"),
    "sol": ("soul", "saul", "sole"),
    "luna": ("lunar",),
    "astra": ("aster",),
    "terra": ("tara", "tera"),
}
"""What a recogniser makes of the words for models, which are the registry's."""
_ONLY_AFTER_USE: dict[str, tuple[str, ...]] = {
    "opus": ("oppose", "opposed"),
    "sonnet": ("sonic", "son it"),
    "haiku": ("hike you",),
}
"""Words of their own, taken for a model only where hardly anything else can be meant."""


def _spellings(models: list[str], *, doubtful: bool) -> dict[str, str]:
    spelt = {sound: model for model in models for sound in (model, *_SOUNDS.get(model, ()))}
    if doubtful:
        spelt |= {sound: model for model in models for sound in _ONLY_AFTER_USE.get(model, ())}
    return spelt


_CLAUDES = [model for model in CLAUDE.models if model.isalpha()]
_GPTS = [model for model in CODEX.models if model.isalpha()]
_SPELT = _spellings(_CLAUDES, doubtful=True) | _spellings(_GPTS, doubtful=False)


def _any_of(spellings: dict[str, str]) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, spellings), key=len, reverse=True)) + ")"


_FIGURE = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine)"
_VERSION = rf"(?:{_FIGURE}(?: (?:(?:point|dot) )?{_FIGURE})?)"
_GPT = r"(?:(?:chat )?(?:gpt|g p t|gbt|g b t|gpd|jpt|g pt|gp t|gee pee tee)|chatgpt)"
_KIND = rf"(?:mini|nano|pro|turbo|max|codex|codecs|{_any_of(_spellings(_GPTS, doubtful=False))})"
_CLEAR = (
    rf"(?:(?P<claude>{_any_of(_spellings(_CLAUDES, doubtful=False))})(?: (?P<claude_version>{_VERSION}))?"
    rf"|{_GPT} ?(?P<gpt_version>{_VERSION}|4o)(?P<gpt_kinds>(?: {_KIND}){{0,2}})"
    rf"|(?P<o_series>(?:o|oh) ?(?:\d|three|four)(?: (?:mini|pro))?)|(?P<bare>{_GPT}))\b"
)
_DOUBTFUL = rf"(?P<doubtful>{_any_of(_SPELT)})(?: (?P<doubtful_version>{_VERSION}))?\b"
_OWNER = rf"(?P<owner>{agent_pattern(())})"
_MODEL_WORD = r"(?:model )?"
_FOR_THIS = r"(?: for (?:this|that|it)(?: one)?)?"
_PLAINLY = r"(?: model| for (?:this|that|it)(?: one)?| (?=and |to )|$)"
"""What stands behind a model that might be another thing: "use luna for this", not "use luna as the font"."""
_LEADING_MODELS = (
    re.compile(
        rf"(?:use|using|with|on|try|take) (?:the )?{_MODEL_WORD}(?:{_OWNER} )?{_CLEAR}(?: model)?{_FOR_THIS}"
        r"(?: (?:and|to))? ?"
    ),
    re.compile(
        rf"(?:use|using) (?:the )?(?:(?:(?P<called>model)|{_OWNER}) )?{_DOUBTFUL}{_PLAINLY}(?: ?(?:and|to)\b)? ?"
    ),
)
_TRAILING_MODELS = (
    re.compile(
        rf" (?:(?:and|please|but) )*(?:use|using|with|on|via) (?:the )?{_MODEL_WORD}(?:{_OWNER} )?{_CLEAR}(?: model)?"
        rf"{_FOR_THIS}$"
    ),
    re.compile(rf" (?:(?:and|please|but) )*(?:use|using) (?:the )?(?:{_OWNER} )?{_DOUBTFUL}(?: model)?{_FOR_THIS}$"),
    re.compile(rf" (?:with|on|via) (?:the )?(?:(?:model|{_OWNER}) )?{_DOUBTFUL} model$"),
    re.compile(rf" (?:with|on|via) (?:the )?(?:model|{_OWNER}) {_DOUBTFUL}$"),
)
_NO_MODEL = re.compile(r"\b(?:audio|codec|encod\w*|ogg|sound|voice|record\w*|transcod\w*|poems?|webm)\b")
"""Opus is an audio codec too, and a haiku a poem."""


@dataclass(frozen=True)
class ModelSaid:
    """A model as agents write its name (None: only whose it is), the agent it belongs to, and how many words it took.

    `owner` is the agent it was said with ("claude opus"), as it was heard; None when it was said alone.
    """

    model: str | None
    agent: str
    owner: str | None
    words: int


def model_said(text: str, *, leading: bool, among: str) -> ModelSaid | None:
    """The model named at the beginning (`leading`) or the end of `text`; `among` is the whole sentence."""
    for pattern in _LEADING_MODELS if leading else _TRAILING_MODELS:
        match = pattern.match(text) if leading else pattern.search(text)
        if match and len(match[0]) < len(text) and not _NO_MODEL.search(among):
            model, agent = _written(match.groupdict())
            return ModelSaid(model, agent, match["owner"], len(match[0].split()))
    return None


def only_a_model(norm: str) -> bool:
    """Whether nothing but a model is named: "use opus"."""
    return any(pattern.fullmatch(norm) for pattern in _LEADING_MODELS)


def spoken_model(model: str) -> str:
    """What a model is called aloud: "Opus 4.5" for claude-opus-4-5, "GPT 6.1 Sol" for gpt-6.1-sol."""
    name = re.sub(r"-\d{8}$", "", model.strip())
    name = re.sub(r"(?<=-\d)-(?=\d{1,2}(?:-|$))", ".", name).removeprefix("claude-")
    words = re.sub(r"[-_\s]+", " ", name).split()
    return " ".join("GPT" if word.casefold() == "gpt" else word[:1].upper() + word[1:] for word in words)


def _written(said: dict[str, str | None]) -> tuple[str | None, str]:
    """ "opus four point five" is written claude-opus-4-5, "gpt six luna" gpt-6-luna; with whose it is."""
    if spelt := said.get("claude") or said.get("doubtful"):
        model, version = _SPELT[spelt], said.get("claude_version") or said.get("doubtful_version")
        if model in _GPTS:
            return model, CODEX.name
        return ("-".join(["claude", model, *_figures(version)]) if version else model), CLAUDE.name
    if version := said.get("gpt_version"):
        kinds = [_SPELT.get(kind, kind.replace("codecs", "codex")) for kind in (said.get("gpt_kinds") or "").split()]
        return "-".join(["gpt", ".".join(_figures(version)), *kinds]), CODEX.name
    if series := said.get("o_series"):
        head, *kinds = re.sub(r"^oh? ?", "", series).split()
        return "-".join([f"o{''.join(_figures(head))}", *kinds]), CODEX.name
    return None, CODEX.name


def _figures(version: str) -> list[str]:
    words = [word for word in version.split() if word not in ("point", "dot")]
    return [word if word == "4o" else str(number_in(word)) for word in words]
