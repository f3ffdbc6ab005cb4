"""What of a recogniser's text is to be believed: pure rules against its habits with noise and loops."""

import re

NO_SPEECH = 0.6
"""Probability of no speech above which nothing was said. Key tones come down to 0.6; short words stay below 0.15."""

DOUBTFUL_NO_SPEECH = 0.3
DOUBTFUL_CONFIDENCE = 0.35
"""Both together mean nothing was said: words to noise have a confidence of 0.1-0.32, real ones of 0.4 and more."""

STOCK_CONFIDENCE = 0.25
"""A stock word needs at least this, however sure the recogniser is that somebody spoke."""

_ANNOTATION = re.compile(r"\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

_NEVER_SAID = re.compile(
    r"thank(s| you)( so much| very much)? for (watching|listening|viewing)"
    r"|(please )?(like and )?subscribe( to (my|the|our) channel)?"
    r"|see you (in the )?next (time|video)|subtitles? by .*|transcri(bed|ption) by .*|amara org"
)
"""Whole texts that subtitles end with and nobody says to a task daemon."""

_STOCK = frozenset(
    "you,okay,ok,oh,uh,um,hmm,mm,ah,so,the,i,a,and,but,yeah,bye,bye bye,thank you,thanks,thank you very much,"
    "i'm sorry,hello,what,no,yes,right,all right,one,two,beep".split(",")
)
"""Short texts that are said, but that noise and key tones are heard as too."""

_NUMBER_WORDS = frozenset("zero oh one two three four five six seven eight nine ten double triple".split())
_MAX_WORDS_PER_S = 7.0
_LOOP = 3
_SINGLE_WORD_LOOP = 6
_MAX_UNIT = 8


def plausible_text(text: str, sound_s: float, no_speech: float, confidence: float) -> str:
    """`text` without annotations and loops, in one line; "" when it is more likely noise than words."""
    text = " ".join(_ANNOTATION.sub(" ", text).split())
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    said = " ".join(words)
    doubtful = no_speech > DOUBTFUL_NO_SPEECH
    if not words or no_speech > NO_SPEECH or (doubtful and confidence < DOUBTFUL_CONFIDENCE):
        return ""
    if _NEVER_SAID.fullmatch(said) or (said in _STOCK and (doubtful or confidence < STOCK_CONFIDENCE)):
        return ""
    return without_loops(text, sound_s)


def without_loops(text: str, sound_s: float) -> str:
    """`text` with a phrase said over and over reduced to once; digits may repeat at the speed a person can say them."""
    tokens = text.split()
    bare = ["".join(_WORD.findall(token)).lower() for token in tokens]
    too_fast = len(tokens) > _MAX_WORDS_PER_S * max(sound_s, 1.0)
    kept: list[str] = []
    place = 0
    while place < len(tokens):
        unit, times = _repetition(bare, place)
        looping = times >= (_SINGLE_WORD_LOOP if unit == 1 else _LOOP)
        digits = all(word in _NUMBER_WORDS or word.isdigit() for word in bare[place : place + unit])
        if looping and (too_fast or not digits):
            kept += tokens[place : place + unit]
            place += unit * times
        else:
            kept.append(tokens[place])
            place += 1
    return " ".join(kept)


def _repetition(words: list[str], place: int) -> tuple[int, int]:
    """The unit, in words, that repeats most from `place` on, and how often it stands there."""
    best = (1, 1)
    for unit in range(1, min(_MAX_UNIT, (len(words) - place) // 2) + 1):
        phrase = words[place : place + unit]
        times = 1
        while words[place + unit * times : place + unit * (times + 1)] == phrase:
            times += 1
        if times > 1 and unit * times > best[0] * best[1]:
            best = (unit, times)
    return best
