"""How an agent shall work: the model ("with opus", "use gpt five mini") and the mode ("plan only"). Pure."""

import re
from dataclasses import dataclass

from keryx.voice.dialogue.names import agent_pattern
from keryx.voice.dialogue.normalise import number_in

MODE = re.compile(
    r"(?: |^)(?:(?:in|using|with|use) (?:the )?(?P<mode>plan|planning|ask|auto|automatic|full) mode"
    r"|(?P<mode2>plan|planning) (?:mode|only))(?= |$) ?(?:for (?:this|that|it)(?: one)? )?(?:and )?"
)
_MODES = {"planning": "plan", "automatic": "auto"}

_MODEL_NAME = (
    r"(?P<model>(?:opus|sonnet|haiku)(?: (?:\d+|one|two|three|four|five|six)(?: (?:point |dot )?(?:\d+|one|two|three|"
    r"four|five|six|seven|eight|nine))?)?|gpt ?(?:\d+|four|five|six)?(?: (?:mini|nano|pro|codex|turbo|o))?|"
    r"o ?(?:\d|one|three|four)(?: (?:mini|pro))?)\b"
)
_WITH_MODEL = rf"(?:(?P<owner>{agent_pattern(())}) )?{_MODEL_NAME}(?: model)?(?: for (?:this|that|it)(?: one)?)?"
_LEADING_MODEL = re.compile(rf"(?:use|using|with|on|try|take) (?:the )?(?:model )?{_WITH_MODEL}(?: (?:and|to))? ?")
_TRAILING_MODEL = re.compile(rf" (?:(?:and|please|but) )*(?:use|using|with|on|via) (?:the )?(?:model )?{_WITH_MODEL}$")
_NO_MODEL = re.compile(r"\b(?:audio|codec|encod\w*|ogg|sound|voice|record\w*|transcod\w*|poems?|webm)\b")
"""Opus is an audio codec too, and a haiku a poem."""


@dataclass(frozen=True)
class ModelSaid:
    """A model as agents write its name, the agent it was called by, and how many words that took."""

    model: str
    owner: str | None
    words: int


def model_said(text: str, *, leading: bool, among: str) -> ModelSaid | None:
    """The model named at the beginning (`leading`) or the end of `text`; `among` is the whole sentence."""
    match = _LEADING_MODEL.match(text) if leading else _TRAILING_MODEL.search(text)
    if match is None or len(match[0]) >= len(text) or _NO_MODEL.search(among):
        return None
    return ModelSaid(_written(match["model"]), match["owner"], len(match[0].split()))


def _written(said: str) -> str:
    """ "gpt five mini" is written "gpt-5-mini", "opus four point five" "opus-4.5"."""
    words = [str(number_in(word)) if number_in(word) is not None else word for word in said.split()]
    return re.sub(r"-(?:point|dot)-", ".", "-".join(words)).replace("o-", "o", 1)


def mode_of(match: re.Match[str]) -> str:
    """The mode as agents write it, of a match of `MODE`."""
    said = match["mode"] or match["mode2"]
    return _MODES.get(said, said)
