"""Spoken or typed words as the rules look at them: lower case, one space between, and the way back to the original."""

import re
from dataclasses import dataclass
from functools import cached_property

MAX_COMMAND_WORDS = 60
"""Nobody says a command in more words; a longer text is work, and only its ends are looked at."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# A recogniser writes "task four" or "task 4", "don't" or "do n't": apostrophes are dropped, so each form is one word.
_APOSTROPHES = re.compile(r"['’]")

UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_UNIT_VALUES = {word: value for value, word in enumerate(UNITS)}
_TEN_VALUES = {word: value for value, word in zip(range(20, 100, 10), TENS, strict=True)} | {"fourty": 40}
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_ORDINAL_VALUES = {word: value for value, word in enumerate(_ORDINALS) if value}
_ORDINAL_VALUES |= {"thirtieth": 30, "fortieth": 40, "fiftieth": 50}

NUMBER = (
    rf"(?:\d{{1,9}}|(?:(?:{'|'.join(UNITS[1:])}|a) hundred(?: and)?(?: (?:{'|'.join([*TENS, *UNITS])}))?(?:"
    rf" (?:{'|'.join(UNITS[1:10])}))?)"
    rf"|(?:{'|'.join(TENS)}|fourty)(?: (?:{'|'.join(UNITS[1:10])})\b)?|"
    rf"(?:{'|'.join(sorted(UNITS, key=len, reverse=True))}))\b"
)
"""A cardinal number in normal form, as a regular expression: digits, or words up to 999."""
ORDINAL = (
    rf"(?:(?:(?:{'|'.join(TENS)}) )?(?:{'|'.join(_ORDINALS[1:10])})|{'|'.join(_ORDINALS[10:])}|thirtieth|fortieth|"
    r"fiftieth|\d{1,3}(?:st|nd|rd|th))\b"
)
"""An ordinal number in normal form, as a regular expression."""

# What a recogniser writes for a digit when nothing around it says that a number is meant.
DIGIT_SOUNDS = {"oh": 0, "o": 0, "nought": 0, "nil": 0, "null": 0, "won": 1, "to": 2, "too": 2, "for": 4, "fore": 4}
DIGIT_SOUNDS |= {"ate": 8, "nein": 9, "niner": 9, "sex": 6, "sics": 6, "free": 3, "tree": 3}
_REPEATS = {"double": 2, "twice": 2, "triple": 3, "treble": 3}


@dataclass(frozen=True)
class Heard:
    """One utterance: the text as it came and `norm`, its words in lower case without punctuation."""

    text: str

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return [match.span() for match in _WORD.finditer(self.text)]

    @cached_property
    def words(self) -> list[str]:
        return [_APOSTROPHES.sub("", self.text[start:end]).lower() for start, end in self._spans]

    @cached_property
    def norm(self) -> str:
        return " ".join(self.words)

    @property
    def is_long(self) -> bool:
        return len(self.words) > MAX_COMMAND_WORDS

    def original(self, start_word: int, end_word: int | None = None) -> str:
        """The text from one word up to another as it was said, with the punctuation between and closing after it."""
        end_word = len(self.words) if end_word is None else end_word
        if start_word >= end_word:
            return ""
        end = self._spans[end_word][0] if end_word < len(self.words) else len(self.text)
        begin = self._spans[start_word - 1][1] if start_word else 0
        # Opening marks such as "--" or a backquote belong to the word they stand before.
        lead = re.search(r"[^\s,;:.!?]*$", self.text[begin : self._spans[start_word][0]])
        begin = self._spans[start_word][0] - (len(lead[0]) if lead else 0)
        return self.text[begin:end].strip()

    def after(self, norm_position: int) -> str:
        """The original text from the word at `norm_position` (an index into `norm`) on."""
        return self.original(self.word_at(norm_position))

    def word_at(self, norm_position: int) -> int:
        """Which word `norm` has at this position; the number of words when it is past the end."""
        head = self.norm[:norm_position].strip()
        return head.count(" ") + 1 if head else 0


def number_in(phrase: str) -> int | None:
    """The value of a phrase that matches `NUMBER` or `ORDINAL`; None when it is not one."""
    phrase = phrase.strip()
    if digits := re.match(r"\d+", phrase):
        return int(digits[0])
    if phrase in _ORDINAL_VALUES:
        return _ORDINAL_VALUES[phrase]
    total = 0
    for word in phrase.split():
        if word == "hundred":
            total = max(total, 1) * 100
        elif word in _TEN_VALUES:
            total += _TEN_VALUES[word]
        elif word in _UNIT_VALUES:
            total += _UNIT_VALUES[word]
        elif total in _TEN_VALUES.values() and word in _ORDINALS[1:10]:
            total += _ORDINAL_VALUES[word]
        elif word not in ("a", "and"):
            return None
    return total


def digits_in(words: list[str]) -> str | None:
    """The digits that `words` spell one after the other ("double four oh", "forty two", "0123"); None otherwise."""
    digits = ""
    times = 1
    tens: int | None = None
    for word in words:
        if word in _REPEATS and tens is None:
            times = _REPEATS[word]
            continue
        value = _UNIT_VALUES.get(word, DIGIT_SOUNDS.get(word))
        if tens is not None:
            if value is not None and 1 <= value <= 9 and word in _UNIT_VALUES:
                digits += str(tens + value)
                tens = None
                continue
            digits += str(tens)
            tens = None
        if word.isascii() and word.isdigit():
            digits += word * times
        elif word in _TEN_VALUES:
            tens = _TEN_VALUES[word]
            continue
        elif value is not None:
            digits += str(value) * times
        else:
            return None
        times = 1
    if tens is not None:
        digits += str(tens)
    return digits or None


def in_words(number: int) -> str:
    """A whole number below a thousand as it is said ("forty-two"); larger ones stay figures for the voice to read."""
    if not 0 <= number < 1000:
        return str(number)
    if number < 20:
        return UNITS[number]
    if number < 100:
        tens, units = divmod(number, 10)
        return TENS[tens - 2] + (f"-{UNITS[units]}" if units else "")
    hundreds, rest = divmod(number, 100)
    return f"{UNITS[hundreds]} hundred" + (f" and {in_words(rest)}" if rest else "")


_PATH_JOIN = re.compile(
    r"\b(?!(?:to|the|a|and|or|we|will|should|then)\b)(\w{1,40}) (?:forward )?slash (?=\w)", re.IGNORECASE
)
_UNDERSCORE = re.compile(r"(?<=\w) underscore (?=\w)", re.IGNORECASE)
_SUFFIXES = (
    "py|js|ts|tsx|jsx|json|toml|md|yml|yaml|go|rs|txt|html|css|sh|sql|csv|xml|env|lock|cfg|ini|java|rb|cpp|com|org"
)
_DOT_SUFFIX = re.compile(rf"(?<=\w) dot (?=(?:{_SUFFIXES})\b)", re.IGNORECASE)
_LONG_OPTION = re.compile(r"\b(?:dash dash|minus minus) (?=\w)", re.IGNORECASE)


def as_written(text: str) -> str:
    """Spoken names of things in code put the way they are written: "feature slash login" becomes "feature/login"."""
    text = _PATH_JOIN.sub(r"\1/", text)
    text = _UNDERSCORE.sub("_", text)
    text = _DOT_SUFFIX.sub(".", text)
    return _LONG_OPTION.sub("--", text)
