"""What the wording of a few words tells about a turn: is it finished, is it only "mm-hm", is it a bare hello. Pure."""

import re

_HANGING = frozenset(
    """a an the and or but because if when while which who whose whether than then to for of in on at with without
    from into onto about between inside using via is are was were be been can could should would will shall must may
    might my your our their his its every each um uh er erm it's that's let's i'm i'd i'll we'll they're""".split()
)
"""Words after which an English sentence hardly ever ends."""

_AWAITS_NUMBER = frozenset({"task", "tasks", "number", "pin", "code", "line", "version", "port"})

_ENDING = re.compile(
    r"""(?: \b(?:can|could|would|will|should)\ you
          | \bi\ (?:want|need|would\ like|think|mean|was\ wondering)
          | ^(?:(?:okay|ok|and|well|yes|no)\ )?so
          | ^(?:hey|hi|hello|okay|ok)\ keryx
          | \b(?:sure|so|such|says|said|think|check|know)\ that
          | ^(?:and\ |also\ |okay\ |so\ )?(?:in|on|for|inside|with)\ (?:the\ |my\ |our\ )?(?:[\w'-]+\ ){0,3}
            (?:project|repo|repository)
          | \b(?:pin|code)\ (?:is\ )?(?:[\d]+|zero|oh|one|two|three|four|five|six|seven|eight|nine)
            (?:\ (?:[\d]+|zero|oh|one|two|three|four|five|six|seven|eight|nine))*
        )$""",
    re.VERBOSE,
)

_BACKCHANNELS = frozenset(
    """mm mhm mmhm mmhmm mm-hm mm-hmm hm hmm hmmm uh-huh uhhuh huh aha ah oh uh um yeah yep yup yes ya ok okay k right
    sure good great nice cool fine alright""".split()
)
_BACKCHANNEL_PHRASES = frozenset(
    {"i see", "got it", "all right", "oh okay", "oh ok", "mm hm", "mm hmm", "uh huh", "of course", "go on", "oh nice"}
)
_GREETINGS = frozenset("hello hi hey yes yeah yep hallo ola hiya speaking ok okay".split())
_GREETING_FILLERS = frozenset("there keryx oh um uh good morning afternoon evening".split())


def words_of(text: str) -> list[str]:
    """The words of `text` in small letters, without punctuation; dashes and apostrophes inside a word stay."""
    return re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower().replace("’", "'"))


def is_unfinished(text: str) -> bool:
    """Whether somebody who stops here is more likely to go on than to wait for an answer."""
    stripped = text.strip()
    if not stripped:
        return False
    if stripped.endswith((",", "-", "–", "—", "...", "…", ":")):
        return True
    words = words_of(stripped)
    if not words or stripped.endswith("?"):
        return False
    if words[-1] in _HANGING or words[-1] in _AWAITS_NUMBER:
        return True
    return bool(_ENDING.search(" ".join(words)))


def is_backchannel(text: str) -> bool:
    """Whether `text` only says "I am listening": "mm-hm", "yeah, yeah", "okay, right"."""
    words = words_of(text)
    if not words or len(words) > 3:
        return False
    return " ".join(words) in _BACKCHANNEL_PHRASES or all(word in _BACKCHANNELS for word in words)


def is_greeting(text: str) -> bool:
    """Whether `text` is what one says on picking up: "hello?", "yes, hello", "hi there"."""
    words = words_of(text)
    if not words or len(words) > 4:
        return False
    return all(word in _GREETINGS or word in _GREETING_FILLERS for word in words)
