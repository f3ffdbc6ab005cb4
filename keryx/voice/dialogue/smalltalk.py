"""The words of the conversation itself: yes and no, goodbye, stop, say again, fillers, a PIN. Pure, in normal form."""

import re

from keryx.voice.dialogue.normalise import digits_in, number_in

NAME = r"(?:keryx|kerix|kericks|kerrix|carex|cerix|kerux|ceryx)"

_LEAD = re.compile(
    rf"(?:(?:hey|hi|hello|yo)(?: there| {NAME})?|good (?:morning|afternoon|evening)|{NAME}|u+m+|u+h+|e+r+m*|a+h+|"
    rf"oh|well(?! (?:known|formed))|so(?! that)|hm+|mm+|"
    r"okay|ok|alright|all right|right(?! (?:align|click|hand|side|to|pad|aligned))|great|perfect|cool|thanks|"
    r"thank you|yeah(?= (?:so|i|id|can|could|please|lets|and))|basically|listen|please|kindly|"
    r"(?:would|do) you mind|you know what|guess what|here goes|"
    r"(?:would|could|can|will) (?:you|it|i|there) (?:please )?(?:be (?:so (?:kind|good|nice) (?:as|and)|kind enough|"
    r"able|willing|possible|any chance)(?: to| for you to| (?:of you|you could)| have)?(?= )|get you to|ask you to|"
    r"have you)|is there any (?:chance|way) (?:you|we|someone) (?:can|could)|(?:i would|id) (?:be grateful|be glad|"
    r"appreciate it|be happy|really appreciate it) if you (?:could|would|can)|it would be (?:great|nice|good|lovely) "
    r"if (?:you|we|someone) (?:could|would|can)|if you (?:dont mind|wouldnt mind|have time|get a chance)|"
    r"excuse me|i was going to (?:ask|say)|"
    r"(?:could|can|would|will) (?:you|we|someone|somebody)(?: please| maybe| perhaps| possibly| quickly| just|"
    r" kindly)*|"
    r"(?:i would|id) (?:really )?(?:like|love|want)(?: (?:you|it|someone|somebody))? to|"
    r"i (?:really )?(?:want|need)(?: (?:you|someone|somebody))? to|i (?:was|am|were) (?:just )?(?:thinking|"
    r"wondering)(?: if you could| whether you could)?|"
    r"im (?:just )?(?:thinking|wondering)(?: if you could| whether you could)?|"
    r"we (?:need|want|have) to|do me a favou?r and|i was hoping you could|is it possible to|"
    r"go ahead and|lets|let us|maybe|perhaps|just|quickly|now|then|you know|i think|i guess|yes please|if you could|"
    r"(?:ive got|i have|heres|here is) (?:a new one|a new task|another one|another task|a task|a job)(?: for you)?)\b ?"
)
_TAIL = re.compile(
    r" (?:please|thanks(?: a lot)?|thank you(?: very much| so much)?|for me|now|right now|at the moment|right away|"
    r"straight away|if you can|"
    r"if you could|if you would|if thats (?:okay|ok|possible)|would you|will you|could you|okay|ok|cheers|mate|"
    r"alright|today|then|"
    rf"real quick|quickly|(?<! in )(?<! on )(?<! for )(?<! the )(?<! to ){NAME})$"
)


def without_fillers(norm: str) -> tuple[int, int]:
    """How many words at the start and at the end of `norm` are politeness or thinking aloud."""
    left = 0
    rest = norm
    while (match := _LEAD.match(rest)) and match.end() < len(rest):
        left += len(match[0].split())
        rest = rest[match.end() :]
    right = 0
    while match := _TAIL.search(rest, max(0, len(rest) - 40)):
        right += len(match[0].split())
        rest = rest[: match.start()]
    return left, right


def _only(core: str, around: str) -> re.Pattern[str]:
    """A whole utterance with at least one `core` phrase in it and nothing else but `around`."""
    return re.compile(rf"(?:(?:{around})(?: |$))*(?:{core})(?: (?:{core}|{around}))*")


_AROUND = (
    r"okay|ok|o k|please|oh|now|just|right|alright|all right|thanks(?: a lot)?|thank you(?: very much| so much)?|"
    r"um+|uh+|erm*|ah|hey|well|so|"
    rf"then|sorry|excuse me|actually|{NAME}|hm+|mm+|for me|if you can|if you could|(?:can|could|would|will) you|"
    rf"you can|you may"
)

_FAREWELL = (
    r"(?:good ?)?bye(?: ?bye)?(?: now| then)?|(?:see|catch) (?:you|ya)(?: later| soon| tomorrow| then| around|"
    r" monday)?|(?:talk|speak) to you (?:later|soon|tomorrow|then)|"
    r"(?:talk|speak) (?:later|soon|tomorrow)|hang up(?: the phone| the call)?|(?:end|finish|close|terminate|stop|"
    r"cancel|quit|drop) (?:the|this|our) call|end call|"
    r"good ?night|cheerio|ciao|so long|farewell|take care|disconnect|over and out|(?:(?:good ?)?bye|see (?:you|ya)|"
    r"(?:talk|speak) to you|catch (?:you|ya))(?: (?:in|on|at|a|an|the|my|"
    r"next|this|few|bit|while|hour|hours|minute|minutes|day|days|week|monday|tuesday|wednesday|thursday|friday|"
    r"saturday|sunday|weekend|morning|afternoon|evening|tonight|tomorrow|later|soon|then|friend|buddy|dear|alligator|"
    r"everyone|everybody|all|guys|love|man|again|around|other|side|lunch|after))+|"
    r"(?:un)?till? (?:next time|then|"
    r"tomorrow|later)|have a (?:good|nice|great|lovely) (?:one|day|evening|night|weekend|afternoon)|"
    r"ill (?:let you go|leave you to it|call (?:back|again) (?:later|tomorrow)|be off)|im (?:off|hanging up|leaving|"
    r"heading off|out)(?: now)?"
)
_THAT_IS_ALL = (
    r"(?:thats|that is|this is|that was|that will be|thatll be|that would be|its) (?:all|it|everything|"
    r"about it)(?: i (?:need(?:ed)?|want(?:ed)?|have|had))?(?: from me)?"
    r"(?: for (?:now|today|tonight|the moment|the day))?|"
    r"(?:nothing|no) (?:else|more|further)(?: for (?:now|today))?|(?:im|i am|were|we are) (?:all )?(?:done|"
    r"finished|good|set)(?: here)?(?: for (?:now|today|tonight))?|"
    r"i (?:have|need|got|want) nothing (?:else|more)|(?:i|ive|id|we|weve|wed) (?:(?:really|better|should|must|need to|"
    r"have to|ve to|got to|gotta|had better|have got to|ought to|really|just))+(?: (?:really|better|be))* (?:go|run|"
    r"leave|dash|get going|head off|jump off|hang up|off|going)|thats me(?: done)?|i dont need anything (?:else|"
    r"more)|you (?:can|may) go(?: now)?"
)
_BYE_AROUND = (
    _AROUND
    + r"|cheers|great|perfect|good|fine|no|nope|nah|and|i think|i guess|i suppose|for (?:now|today)|lovely|cool|"
    r"awesome|wonderful|yeah|yes|yep|for (?:the|your|all the|all your) help|for everything|alrighty|from (?:me|us|"
    r"here|my (?:side|end))|"
    r"much appreciated|excellent|brilliant|mate|later|really|lets|go ahead and|very much|got it|sounds good|"
    r"that sounds good|all|you|that|is|nothing"
)
GOODBYE = _only(f"{_FAREWELL}|{_THAT_IS_ALL}", _BYE_AROUND)
FAREWELL = _only(_FAREWELL, f"{_BYE_AROUND}|{_THAT_IS_ALL}")
"""Goodbye that stays one while a yes or no is waited for ("I'm good" does not)."""
TRAILING_GOODBYE = re.compile(
    rf" (?:(?:and|then|okay|ok|thanks|thank you|cheers|so|{_THAT_IS_ALL.split('|(?:im')[0]}) )*"
    r"(?:(?:good ?)?bye(?: ?bye)?(?: now)?|(?:thats|that is|that will be|thatll be) (?:all|it|"
    r"everything)(?: for (?:now|today))?|talk to you (?:later|soon)|see you(?: later| soon| tomorrow)?|good ?night|"
    r"hang up)$"
)

STOP = _only(
    r"stop(?: (?:it|that|there|now|talking|speaking|reading|please))?|(?:be|keep|stay) (?:quiet|silent)|quiet|"
    r"shut up|shut it|shush|hush|shh+|silence|"
    r"(?:thats )?enough(?: of that)?|(?:thats|thank you thats|that is) enough|pipe down|mute|zip it|quit talking|"
    r"not now|skip(?: it| that| this| the rest)?|"
    r"stop stop|whoa|hold on(?: a (?:second|sec|moment|minute))?|hang on(?: a (?:second|sec|moment|minute))?|"
    r"wait(?: a (?:second|sec|moment|minute))?|one (?:moment|second|sec)|"
    r"no more|i (?:get|got) it|(?:you can )?stop reading(?: that| it)?|dont read(?: (?:that|it|the rest))?(?: out)?",
    _AROUND + r"|yeah|yes|will you|would you|and|for (?:a|one) (?:moment|second|sec|minute|bit|while)|for now",
)
SLOWER = _only(
    r"(?:(?:speak|talk|go|say (?:it|that)|read(?: it| that)?|repeat (?:it|that)|do it|be|a|and|it|"
    r"again) )*(?:(?:a )?(?:little|bit|lot|little bit|much|far) )?(?:more )?(?:slower|slowly)|"
    r"slow(?: it)? down(?: a (?:bit|little|little bit))?|"
    r"(?:(?:youre|you are|that was|thats|its|that is)(?: (?:talking|speaking|going|reading))? )?(?:way |much |"
    r"a bit |a little |far )*too (?:fast|quick|quickly)(?: for me)?|not so (?:fast|quick|quickly)|less (?:fast|quick|"
    r"quickly)|"
    r"(?:take|bring|turn) (?:it|the (?:speed|pace)) down(?: a (?:notch|bit|little))?|i (?:cant|cannot|can not) keep up",
    _AROUND + r"|a bit|a little|bit|could you|i (?:cant|cannot|couldnt|didnt) (?:follow|understand|keep up|catch that)"
    r"(?: you)?|you|are|for me|and",
)
_AGAIN = r"(?: again| once more| one more time| another time)"
REPEAT = _only(
    rf"(?:say|repeat)(?: (?:that|it|this|what you (?:just )?said|yourself|the last (?:bit|part|thing|"
    rf"sentence)))?{_AGAIN}?(?: to me)?|sorry|come again|once more|one more time|again|"
    r"pardon(?: me)?|i beg your pardon|beg pardon|excuse me|"
    r"what|huh|what was that(?: again)?|what did you (?:just )?say(?: again)?|whatd you say|you what|what do you mean|"
    r"(?:i )?(?:didnt|did not|couldnt|could not|cant|cannot) (?:quite )?(?:hear|catch|get|understand|"
    r"follow)(?: (?:you|that|it|what you said|a word))?(?: clearly| properly)?|"
    r"i (?:just )?missed (?:that|it|you|what you said)?(?: ?(?:the )?(?:last|first|end|beginning)"
    r"(?: (?:bit|part|thing|sentence|word|of (?:that|it)))*)?|(?:read|tell)(?: me)? (?:that|it)(?: to me)?(?: again|"
    r" once more)|"
    r"what was the last (?:bit|part|thing)|what was (?:the|your) question|what did you (?:just )?ask(?: me)?|"
    r"ask (?:me )?again|run that by me again",
    _AROUND + r"|i|and|to me|wait|one more|again",
)
HELP = _only(
    r"help(?: me)?(?: out)?|i need (?:some )?help|(?:i )?(?:dont|do not) know (?:what|how) (?:to (?:say|do|ask)|i can "
    r"(?:say|do|ask))|what (?:else )?(?:can|could|do|would|should) (?:you|i)(?: actually| all| even)? (?:do|say|ask|"
    r"tell)(?: you| here| to you| for me| with this| about)*|"
    r"what (?:things|kinds? of things?|sorts? of things?) can (?:you|i) (?:do|say|ask)(?: you)?|"
    r"what (?:are|could) (?:my|the|your) (?:options|choices|commands|abilities|capabilities)|what do i (?:say|do)"
    r"(?: now| here)?|how (?:does|do|should|would|can) (?:this|it|that|you|i)(?: all| thing)? (?:work|use (?:this|it|"
    r"you)|talk to you)|how is this supposed to work|what are you (?:good at|able to do|capable of)|"
    r"who are you|who is this|whos this|whos there|who am i (?:talking|speaking) (?:to|with)|im lost|what now|"
    r"now what|what next|"
    r"(?:give|get|offer) me (?:some|a bit of|a little) help|(?:i could|i can) (?:use|do with) (?:some|a little|"
    r"a bit of) help|"
    r"what are you(?: for)?|what is this|whats this|which commands (?:are there|can i use|do you know|"
    r"do you understand)|what commands (?:are there|can i use|do you know|do you understand)|"
    r"(?:how|what) can you help(?: me)?(?: with)?|instructions|options|what can i ask(?: you)?(?: for| to do)?",
    _AROUND + r"|exactly|for me|here|tell me|remind me|again|actually|with you|and|a bit|i forgot|on the phone",
)
LIST_PROJECTS = _only(
    r"(?:(?:list|show|name|read|tell|give)(?: me)?(?: out)? )(?:a list of )?(?:all )?(?:of )?(?:my |the |your |"
    r"our )?(?:projects|repos|repositories|codebases)(?: names?)?(?: (?:that )?(?:you (?:know|have)|there are|"
    r"available))?|"
    r"(?:(?:tell me|remind me|do you know|show me|say|and) )?(?:what|which|whatre)(?: are)?(?: all)?(?: the| my| your|"
    r" our)? (?:projects|repos|repositories)(?: (?:(?:do|can|are|have|could|is)(?: (?:you|we|i|there))?|there are|"
    r"exist|"
    r"(?:you|we|"
    r"i)(?: can| do| could| have)?)(?: (?:know|have|see|got|use|work on|work with|work in|available|set up|"
    r"configured|there|access|choose from|handle|ask for))*(?: about| of| to)?)?|"
    r"(?:do you have|is there|have you got|can i (?:have|get|hear)) (?:a|the) list of (?:the |my |all |your )*"
    r"(?:projects|repos|repositories)|"
    r"(?:my |the )?(?:projects|repos|repositories)|how many projects (?:are there|do you (?:know|have)|do (?:i|"
    r"we) have)|(?:whats|"
    r"what is) the list of projects",
    _AROUND,
)
HELLO = _only(
    r"hello|hi|hey|good (?:morning|afternoon|evening)|anybody there|are you (?:still )?there|can you hear me",
    _AROUND + r"|there|today",
)
ACKNOWLEDGED = _only(
    r"okay|ok|thanks(?: a lot)?|thank you(?: very much| so much)?|cheers|great|good|nice|perfect|cool|lovely|fine|"
    r"excellent|brilliant|wonderful|awesome|"
    r"got it|i see|understood|alright|all right|well done|good job|sounds good|no problem|mm ?hm+|uh ?huh|right",
    _AROUND + r"|very|that is|thats|its|and|good to know|very good",
)
"""Heard and content: needs no answer beyond a word."""

SCRAPS = frozenset(
    "a an the and but or so then um umm uh uhh er erm ah oh eh hm hmm hmmm mm mmm mhm okay ok you i me my it its"
    " this that these those is are was "
    "be to of in on for with at by from well like yeah just now please if when as what which who there here thing"
    " bye thanks thank we they he she "
    "do does did have has had not no one also right alright let lets because maybe".split()
)
"""Words that carry no request by themselves."""

_YES = (
    r"yes|yeah|yea|yep|yup|ya|yah|aye|sure(?: thing)?|certainly|definitely|absolutely|affirmative|of course|"
    r"correct|exactly|indeed|right|thats right|that is right|"
    r"go ahead|go on(?: then)?|go for it|do it|do that|do so|please do|make it so|okay|ok|o k|okey dokey|fine|"
    r"alright|all right|"
    r"sounds good|sounds great|good|perfect|great|confirm(?:ed)?|"
    r"i(?:m| am) (?:sure|certain|positive)|im sure|id like that|i would|i do|im in|i (?:guess|think|suppose|"
    r"believe|reckon) so|i said yes|uh ?huh|mm ?hm+|mhm|proceed|why yes|it is|thats (?:it|fine|the one|correct|"
    r"okay|ok|good)|that is (?:it|fine|the one|correct)|that one|"
    r"you (?:can|may|should)|if you (?:like|want|can|would|must)|approved?|permission granted|allow(?: it)?|let it|"
    r"accept(?:ed)?"
)
YES = _only(
    _YES,
    r"please|thanks|thank you|now|oh|um+|uh+|ah|and|then|well|so|just|very|much|really|by all means|for me|keryx|"
    r"cheers|mate|it|that|this|one|the|i|think|with",
)
_NO_WORDS = frozenset(
    "no nope nah naw not dont never wait stop cant cannot isnt wasnt wont shouldnt wouldnt nevermind negative"
    " neither leave keep abort "
    "forget wrong nothing hold hang halt undo refuse deny reject decline against doubt unsure pause later forgot"
    " forgotten".split()
)
_NO_PHRASES = re.compile(
    r"\b(?:never mind|no thanks|no way|not yet|do not|hold on|hang on|leave it|keep it|rather not|"
    r"on second thought|change[d]? my mind|i take that back)\b"
)


def says_no(words: list[str]) -> bool:
    """Whether a refusal stands anywhere in it; one is enough, whatever else was said."""
    return not _NO_WORDS.isdisjoint(words) or bool(_NO_PHRASES.search(" ".join(words)))


NO = _only(
    r"no(?: no)*|nope|nah|naw|never ?mind|no thanks|no thank you|no way|dont(?: do (?:it|that))?|"
    r"do not(?: do (?:it|that))?|not (?:now|yet|really|at all)|leave (?:it|that|them)(?: (?:running|alone|be|"
    r"as it is|on))?|"
    r"keep (?:it|that)(?: (?:running|going))?|forget (?:it|that|about it|about that)|wait|hold on|hang on|stop|"
    r"negative|id rather not|rather not|absolutely not|of course not|"
    r"certainly not|definitely not|i changed my mind|changed my mind|i take that back|scratch that|i said (?:no|"
    r"dont)|please dont|let it (?:run|finish)",
    _AROUND + r"|a (?:second|moment|minute)|i|it|that|yes|yeah|thats|mean|but",
)
DONT_CANCEL = re.compile(
    r"(?:(?:no|wait|please|hey|stop|oh) )*(?:dont|do not|never|you shouldnt|you should not|i dont want (?:you )?to|"
    r"i didnt (?:say|mean|want)(?: you)?(?: to)?|(?:i )?(?:didnt|did not|never) (?:say|said|mean|meant|want|wanted|"
    r"ask|asked)(?: (?:for )?you)?(?: to)?|not) (?:you )?(?:please )?"
    r"(?:cancel|stop|abort|kill|halt|terminate|drop|scrap|end|quit|call (?:me )?back|call me|ring me)(?: (?:it|"
    r"that|this|them|anything|me|back|(?:the )?(?:\w+ ){0,3}(?:one|task|job)|task \w+(?: \w+)?|"
    r"number \w+))*(?: yet| now| please| back)?"
)

_PIN_LEAD = re.compile(
    r"(?:(?:okay|ok|so|um+|uh+|well|sure|yes|yeah|right|hi|hello|hey|here|heres|and|sorry|no) )*"
    r"(?:(?:my|the|its|heres|here is|here comes|use|with|is|this is) )*(?:pins?|pen|p i n|pin code|pin number|"
    r"pincode|passcodes?|pass code|codes?|secret code|secret number|personal identification number)"
    r"(?: (?:code|number|is|its|would be|for you|s)\b)*"
)
_PIN_ANSWER_LEAD = re.compile(
    r"(?:(?:okay|ok|so|um+|uh+|er+m*|hm+|well|sure|yes|yeah|right|here|its|it is|that is|thats|my|is|sorry|no|try|and|"
    r"i think|the|i said|this is|heres|it should be|i believe|let me (?:see|think|check)|lets see|wait|maybe|"
    r"should be) )*"
)
_PIN_TAIL = re.compile(
    r"(?: (?:please|thanks|thank you|okay|ok|now|i (?:think|believe|guess)|thats (?:it|the one|my pin|the pin)|"
    r"is (?:my|the) (?:pin|code)|is it|right|correct))+$"
)
LEAST_PIN_DIGITS = 3
LEAST_BARE_DIGITS = 4
"""So many digits and nothing else are a PIN even when none was asked for; a task's number is shorter."""


def pin_in(norm: str, *, asked: bool) -> str | None:
    """The digits of a spoken PIN, or None. Few bare digits count only when a PIN was `asked` for."""
    said = _PIN_TAIL.sub("", norm)
    match = _PIN_LEAD.match(said + " ")
    if match and (rest := said[match.end() :].split()):
        digits = digits_in(rest)
        if digits and len(digits) >= LEAST_PIN_DIGITS:
            return digits
        if (number := number_in(" ".join(rest))) and number >= 10 ** (LEAST_PIN_DIGITS - 1):
            return str(number)
    if asked and (match := _PIN_ANSWER_LEAD.match(said)):
        # "oh" and "o" are digits here, never fillers, so they are not in the words that may come before.
        digits = digits_in(said[match.end() :].split())
        if digits and len(digits) >= LEAST_PIN_DIGITS:
            return digits
    digits = digits_in(said.split())
    return digits if digits and len(digits) >= LEAST_BARE_DIGITS else None
