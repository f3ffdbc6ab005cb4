"""Whole conversations with the cascade under a virtual clock: whose turn it is and what the caller notices."""

from collections.abc import AsyncIterator, Sequence

import pytest

from keryx.clock import VirtualClock
from keryx.tasks.models import News
from keryx.voice.dialogue.base import Say
from keryx.voice.engines.manner import Limits, Manner
from keryx.voice.hearing.fake import FakeActivity, FakeHearing
from keryx.voice.loading import SpeechParts
from keryx.voice.speaking.fake import FakeSpeaking
from keryx.voice.transports.base import KeyIn, Played, StopSpeaking
from keryx.voice.transports.fake import PHONE_LIKE
from tests.voice.engines.conversation import Conversation, ScriptedDialogue, a_piece_of_news


async def test_a_call_begins_with_the_greeting(clock: VirtualClock):
    async with Conversation(clock).held() as talk:
        await talk.quiet(2)
        assert talk.line.said() == ["Keryx."]
        assert talk.ear_ms > 300


async def test_what_is_said_is_answered_within_a_second_of_its_last_word(clock: VirtualClock):
    async with Conversation(clock, hears=["What's running?"]).held() as talk:
        await talk.quiet(2)
        before_s = clock.monotonic()
        await talk.speak(1.0)
        ended_s = clock.monotonic()
        await talk.quiet(1)
        assert talk.dialogue.asked == ["What's running?"]
        first_s = next(at_s for at_s in talk.line.sent_at_s if at_s > before_s)
        assert first_s - ended_s <= 0.4
        assert talk.line.said("caller") == ["What's running?"]
        assert talk.line.said()[-1] == "You said What's running?"


async def test_a_pause_after_the_is_waited_out(clock: VirtualClock):
    async with Conversation(clock, hears=["Fix the", "Fix the parser."]).held() as talk:
        await talk.quiet(2)
        await talk.speak(0.6)
        await talk.quiet(0.6)
        assert talk.dialogue.asked == []
        await talk.speak(0.6)
        await talk.quiet(0.5)
        assert talk.dialogue.asked == ["Fix the parser."]


async def test_speech_silences_it_at_once_and_the_unheard_rest_is_known(clock: VirtualClock):
    talk = Conversation(clock, hears=["Tell me a story.", "No, stop that now."])
    talk.dialogue.answers["Tell me a story."] = ["Once upon a time. " + "There was a very long sentence here. " * 6]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.quiet(3)
        onset_s = clock.monotonic()
        await talk.say(1.0)
        assert talk.line.cleared_at_s
        assert talk.line.cleared_at_s[0] - onset_s <= 0.15
        assert talk.dialogue.asked[-1] == "No, stop that now."
        [unheard] = talk.dialogue.interruptions
        assert unheard.count("very long sentence") in (4, 5)
        assert "Once upon" not in unheard


async def test_mm_hm_does_not_stop_it_and_nothing_is_said_twice(clock: VirtualClock):
    talk = Conversation(clock, hears=["Tell me a story.", "Mm-hm."])
    story = "Once upon a time there lived a parser. It had seventeen bugs and no friends. They all lived on."
    talk.dialogue.answers["Tell me a story."] = [story]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        heard_before = talk.ear_ms
        await talk.quiet(1.5)
        await talk.say(0.4)
        await talk.quiet(12)
        assert talk.dialogue.asked == ["Tell me a story."]
        assert talk.dialogue.interruptions == []
        assert talk.line.said()[-1] == story
        played_ms = talk.ear_ms - heard_before
        assert played_ms == pytest.approx(len(story) * 60, rel=0.12)


async def test_yeah_to_an_open_question_is_an_answer(clock: VirtualClock):
    talk = Conversation(clock, hears=["Cancel task four.", "Yeah."])
    talk.dialogue.answers["Cancel task four."] = ["Cancelling task four, the parser rewrite, are you sure? Yes or no."]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.quiet(3)
        await talk.say(0.4)
        assert talk.dialogue.asked[-1] == "Yeah."


async def test_a_yes_before_the_question_was_played_is_no_answer(clock: VirtualClock):
    talk = Conversation(clock, hears=["Cancel task four.", "Yeah."])
    talk.dialogue.answers["Cancel task four."] = [
        "Task four is the parser rewrite that has been going since this morning. Cancel it?"
    ]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.quiet(0.5)
        await talk.say(0.4)
        assert talk.dialogue.asked == ["Cancel task four."]


async def test_hello_during_the_greeting_brings_no_second_one(clock: VirtualClock):
    news = [a_piece_of_news(1, "Task one is done.")]
    async with Conversation(clock, hears=["Hello?"], news=news, capabilities=PHONE_LIKE).held() as talk:
        await talk.quiet(0.2)
        await talk.say(0.5)
        await talk.quiet(5)
        assert talk.dialogue.asked == []
        assert talk.voice.said == ["Keryx.", "Task one is done."]
        assert talk.told == [1]


@pytest.mark.parametrize("length_s", [0.05, 0.15])
async def test_a_click_is_no_turn_and_speaking_goes_on(clock: VirtualClock, length_s: float):
    talk = Conversation(clock, hears=["Tell me."])
    talk.dialogue.answers["Tell me."] = ["This is a sentence of some length that goes on."]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.quiet(1)
        await talk.say(length_s)
        await talk.quiet(5)
        assert talk.dialogue.asked == ["Tell me."]
        assert talk.dialogue.interruptions == []
        assert talk.line.said()[-1] == "This is a sentence of some length that goes on."


async def test_sound_without_words_is_no_turn_while_it_speaks(clock: VirtualClock):
    talk = Conversation(clock, hears=["Tell me.", ""])
    talk.dialogue.answers["Tell me."] = ["This is a sentence of some length that goes on."]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.quiet(0.5)
        await talk.say(1.5)
        await talk.quiet(5)
        assert talk.dialogue.asked == ["Tell me."]


async def test_speech_nobody_understands_is_asked_about(clock: VirtualClock):
    async with Conversation(clock, hears=[""]).held() as talk:
        await talk.quiet(2)
        await talk.say(1.5)
        assert talk.dialogue.asked == [""]


async def test_a_line_that_leaves_silence_out_still_ends_the_turn(clock: VirtualClock):
    async with Conversation(clock, hears=["Fix it."], capabilities=PHONE_LIKE).held() as talk:
        await talk.quiet(2)
        await talk.speak(1)
        await talk.no_frames(1)
        assert talk.dialogue.asked == ["Fix it."]


async def test_a_stale_reply_is_dropped_and_what_it_did_stays_done(clock: VirtualClock):
    talk = Conversation(clock, hears=["Fix the invoice test.", "And what's running now?"])
    talk.dialogue.slow_s["Fix the invoice test."] = 1.0
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.say(0.8)
        await talk.quiet(4)
        assert talk.dialogue.effects == ["Fix the invoice test.", "And what's running now?"]
        assert talk.line.said() == ["Keryx.", "You said And what's running now?"]
        assert talk.dialogue.interruptions == ["You said Fix the invoice test."]


async def test_a_slow_answer_gets_a_cue_within_two_seconds_then_sparse_ones(clock: VirtualClock):
    talk = Conversation(clock, hears=["Do a long thing."])
    talk.dialogue.slow_s["Do a long thing."] = 40.0
    async with talk.held():
        await talk.quiet(2)
        await talk.speak(1)
        ended_s = clock.monotonic()
        await talk.quiet(2)
        assert talk.dialogue.cues == 1
        assert max(talk.line.sent_at_s) - ended_s <= 2.0
        await talk.quiet(38)
        assert 4 <= talk.dialogue.cues <= 6
        await talk.quiet(5)
        assert talk.line.said()[-1] == "You said Do a long thing."


async def test_no_cue_comes_before_the_greeting_however_slow_it_is(clock: VirtualClock):
    class SlowToGreet(ScriptedDialogue):
        async def open(self, news: Sequence[News]) -> AsyncIterator[Say]:
            await self.clock.sleep(6.0)
            async for say in super().open(news):
                yield say

    talk = Conversation(clock, dialogue=SlowToGreet(clock))
    async with talk.held():
        await talk.quiet(9)
        assert talk.dialogue.cues == 0
        assert talk.line.said() == ["Keryx."]


async def test_a_fast_answer_has_no_cue(clock: VirtualClock):
    talk = Conversation(clock, hears=["Quick."])
    talk.dialogue.slow_s["Quick."] = 0.8
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.quiet(4)
        assert talk.dialogue.cues == 0


async def test_news_waits_for_a_pause_and_is_told_once(clock: VirtualClock):
    talk = Conversation(clock, hears=["Tell me.", "And more?"])
    talk.dialogue.answers["Tell me."] = ["This is a sentence of some length that goes on."]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        talk.engine.announce([a_piece_of_news(1, "Task one is done."), a_piece_of_news(2, "Task two failed.")])
        talk.engine.announce([a_piece_of_news(1, "Task one is done.")])
        await talk.quiet(12)
        assert talk.voice.said[1:] == [
            "This is a sentence of some length that goes on.",
            "Task one is done.",
            "Task two failed.",
        ]
        assert talk.told == [1, 2]


async def test_news_is_not_spoken_over_the_caller(clock: VirtualClock):
    async with Conversation(clock, hears=["A long story."]).held() as talk:
        await talk.quiet(2)
        await talk.speak(1)
        talk.engine.announce([a_piece_of_news(1, "Task one is done.")])
        await talk.speak(2)
        assert talk.voice.said == ["Keryx."]
        await talk.quiet(6)
        assert talk.voice.said == ["Keryx.", "You said A long story.", "Task one is done."]


async def test_news_into_silence_is_spoken_at_once(clock: VirtualClock):
    async with Conversation(clock).held() as talk:
        await talk.quiet(3)
        sent = len(talk.line.sent_at_s)
        at_s = clock.monotonic()
        talk.engine.announce([a_piece_of_news(1, "Task one is done.")])
        await talk.quiet(0.5)
        assert talk.line.sent_at_s[sent] - at_s <= 0.1


async def test_news_cut_off_by_the_end_of_the_call_stays_untold(clock: VirtualClock):
    news = [a_piece_of_news(1, "Task one is done and here is a long report about it.")]
    async with Conversation(clock, news=news).held() as talk:
        await talk.quiet(1.5)
        talk.line.close()
        await talk.quiet(0.5)
        assert talk.over.is_set()
        assert talk.told == []


async def test_news_interrupted_in_the_middle_stays_untold_although_the_line_flushes_its_marks(clock: VirtualClock):
    news = [a_piece_of_news(1, "Task one is done and here is a long report about it.")]
    async with Conversation(clock, hears=["Stop, stop it now."], news=news).held() as talk:
        await talk.quiet(1.5)
        await talk.say(1)
        await talk.quiet(3)
        assert talk.told == []
        assert "long report" in talk.dialogue.interruptions[0]


async def test_the_same_news_in_briefing_and_announcement_is_told_once(clock: VirtualClock):
    news = [a_piece_of_news(1, "Task one is done.")]
    talk = Conversation(clock, news=news)

    async def late_briefing():
        await clock.sleep(0.3)
        return news

    talk.briefing = late_briefing
    async with talk.held():
        talk.engine.announce(news)
        await talk.quiet(6)
        assert talk.voice.said == ["Keryx.", "Task one is done."]


async def test_the_stop_button_silences_it_at_once(clock: VirtualClock):
    talk = Conversation(clock, hears=["Tell me."])
    talk.dialogue.answers["Tell me."] = ["This is a sentence of some length that goes on and on and on."]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.quiet(1)
        talk.line.send(StopSpeaking())
        await talk.quiet(0.1)
        heard_ms = talk.ear_ms
        assert len(talk.line.cleared_at_s) == 1
        await talk.quiet(3)
        assert talk.ear_ms - heard_ms <= 20
        assert talk.dialogue.asked == ["Tell me."]


async def test_typing_interrupts_speech_and_is_answered(clock: VirtualClock):
    async with Conversation(clock).held() as talk:
        await talk.quiet(0.2)
        await talk.type("What's running?")
        await talk.quiet(3)
        assert len(talk.line.cleared_at_s) == 1
        assert talk.line.said()[-1] == "You said What's running?"
        assert talk.line.said("caller") == ["What's running?"]


async def test_six_keys_in_300_ms_arrive_in_order(clock: VirtualClock):
    talk = Conversation(clock, capabilities=PHONE_LIKE)
    talk.dialogue.answers["6"] = ["Thanks."]
    async with talk.held():
        await talk.quiet(0.3)
        for digit in "123456":
            talk.line.send(KeyIn(digit))
            await talk.quiet(0.04)
        await talk.quiet(3)
        assert "".join(talk.dialogue.keys) == "123456"
        assert talk.voice.said[-1] == "Thanks."


async def test_without_a_voice_everything_is_shown_and_heard_when_shown(clock: VirtualClock):
    news = [a_piece_of_news(1, "Task one is done.")]
    async with Conversation(clock, typing_only=True, news=news).held() as talk:
        await talk.type("What's running?")
        await talk.type("And then?")
        await talk.quiet(0.2)
        assert talk.line.said() == [
            "Keryx.",
            "Task one is done.",
            "You said What's running?",
            "You said And then?",
        ]
        assert talk.told == [1]
        assert talk.ear_ms == 0


@pytest.mark.parametrize("pause_s", [0.5, 3.5, 120.0])
async def test_news_shown_by_typing_alone_is_told_however_long_nothing_was_said(clock: VirtualClock, pause_s: float):
    async with Conversation(clock, typing_only=True).held() as talk:
        await talk.quiet(pause_s)
        talk.engine.announce([a_piece_of_news(1, "Task one is done. It took two attempts.")])
        await talk.quiet(0.5)
        assert talk.line.said()[-1] == "Task one is done. It took two attempts."
        assert talk.told == [1]


async def test_news_shown_on_a_page_that_is_gone_stays_untold(clock: VirtualClock):
    async with Conversation(clock, typing_only=True).held() as talk:
        await talk.quiet(5)
        talk.line.answers_marks = False
        talk.engine.announce([a_piece_of_news(1, "Task one is done.")])
        await talk.quiet(8)
        await talk.type("Still there?")
        assert talk.told == []
        assert talk.dialogue.asked == ["Still there?"]


async def test_a_mark_that_comes_long_after_it_was_given_up_still_says_what_was_heard(clock: VirtualClock):
    async with Conversation(clock).held() as talk:
        await talk.quiet(2)
        talk.line.answers_marks = False
        talk.engine.announce([a_piece_of_news(1, "Task one is done.")])
        await talk.quiet(8)
        assert talk.told == []
        for name in [content for kind, content in talk.line.carried if kind == "mark"]:
            talk.line.send(Played(str(name)))
        await talk.quiet(0.1)
        assert talk.told == [1]


async def test_a_mark_that_was_given_up_and_flushed_by_a_clear_says_nothing(clock: VirtualClock):
    talk = Conversation(clock, hears=["Tell me.", "No, stop that now."])
    talk.dialogue.answers["Tell me."] = ["This is a sentence of some length that goes on and on."]
    async with talk.held():
        await talk.quiet(2)
        talk.line.answers_marks = False
        talk.engine.announce([a_piece_of_news(1, "Task one is done.")])
        await talk.quiet(8)
        await talk.say()
        await talk.quiet(1)
        await talk.say()
        assert talk.line.cleared_at_s
        for name in [content for kind, content in talk.line.carried if kind == "mark"]:
            talk.line.send(Played(str(name)))
        await talk.quiet(3)
        assert talk.told == []


class LateVoice(FakeSpeaking):
    """Takes two seconds to begin any sentence that has `late` in it."""

    def __init__(self, clock: VirtualClock, late: str) -> None:
        super().__init__()
        self._clock = clock
        self._late = late

    async def speak(self, text: str, *, pace: float = 1.0):
        chunks = [chunk async for chunk in super().speak(text, pace=pace)]
        if self._late in text:
            await self._clock.sleep(2.0)
        for chunk in chunks:
            yield chunk


async def test_a_sentence_that_takes_long_to_make_is_not_overtaken_by_a_short_one(clock: VirtualClock):
    talk = Conversation(clock, parts=SpeechParts(FakeHearing(["Tell me."]), LateVoice(clock, "First"), FakeActivity))
    talk.dialogue.answers["Tell me."] = ["First a rather long sentence about the parser.", "Second.", "Third."]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        shown = len(talk.line.captions)
        await talk.quiet(9)
        later = [caption.text for caption in talk.line.captions[shown:] if caption.who == "keryx"]
        assert later == talk.dialogue.answers["Tell me."]


async def test_interrupted_before_its_first_sound_nothing_of_an_answer_was_heard(clock: VirtualClock):
    ears = FakeHearing(["Tell me.", "No, what's running?"])
    talk = Conversation(clock, parts=SpeechParts(ears, LateVoice(clock, "nobody"), FakeActivity))
    talk.dialogue.answers["Tell me."] = ["An answer nobody waits for."]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.say()
        await talk.quiet(5)
        assert talk.dialogue.interruptions == ["An answer nobody waits for."]
        assert talk.line.said() == ["Keryx.", "You said No, what's running?"]


async def test_markup_of_a_tool_call_is_silence_and_holds_nothing_up(clock: VirtualClock):
    talk = Conversation(clock, hears=["Tell me.", "And now?"])
    talk.dialogue.answers["Tell me."] = ['<tool_call>{"name": "dispatch_task", "arguments": {}}</tool_call>']
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        await talk.quiet(2)
        assert talk.voice.said == ["Keryx."]
        await talk.say()
        await talk.quiet(3)
        assert talk.voice.said[-1] == "You said And now?"


async def test_slower_is_slower_to_the_ear(clock: VirtualClock):
    talk = Conversation(clock, hears=["Tell me.", "Tell me."])
    talk.dialogue.answers["Tell me."] = ["This is a sentence of some length."]
    lengths_ms = []
    async with talk.held():
        await talk.quiet(2)
        for pace in (1.0, 0.5):
            talk.dialogue.pace = pace
            before_ms = talk.ear_ms
            await talk.say()
            await talk.quiet(6)
            lengths_ms.append(talk.ear_ms - before_ms)
    assert lengths_ms[1] == pytest.approx(2 * lengths_ms[0], rel=0.1)


async def test_a_voice_that_gets_ready_during_the_call_is_used(clock: VirtualClock):
    async with Conversation(clock, hears=["What's running?"], typing_only=True).held() as talk:
        await talk.quiet(1)
        talk.speech.become_ready(talk.parts)
        await talk.quiet(0.1)
        await talk.say()
        await talk.quiet(2)
        assert talk.dialogue.asked == ["What's running?"]
        assert talk.ear_ms > 1000


async def test_silence_is_asked_about_once_and_then_ends_the_call(clock: VirtualClock):
    async with Conversation(clock).held() as talk:
        await talk.quiet(44)
        assert talk.dialogue.idles == 0
        await talk.quiet(5)
        assert talk.dialogue.idles == 1
        await talk.quiet(50)
        assert talk.over.is_set()
        assert talk.line.hung_up == ["goodbye"]


async def test_an_idle_line_without_any_frames_ends_too(clock: VirtualClock):
    async with Conversation(clock, capabilities=PHONE_LIKE).held() as talk:
        await talk.no_frames(100)
        assert talk.over.is_set()


async def test_goodbye_is_heard_before_the_line_goes(clock: VirtualClock):
    talk = Conversation(clock, hears=["That's all, goodbye."])
    talk.dialogue.answers["That's all, goodbye."] = ["Bye for now."]
    async with talk.held():
        await talk.quiet(2)
        heard_before = talk.ear_ms
        await talk.say()
        await talk.quiet(3)
        assert talk.over.is_set()
        assert talk.ear_ms - heard_before == pytest.approx(len("Bye for now.") * 60, abs=25)
        assert len(talk.line.hung_up) == 1


async def test_a_call_has_a_longest_length(clock: VirtualClock):
    manner = Manner(limits=Limits(call_s=5.0, farewell="Time is up."))
    async with Conversation(clock, manner=manner).held() as talk:
        await talk.quiet(8)
        assert talk.voice.said[-1] == "Time is up."
        assert talk.over.is_set()


async def test_a_line_that_never_answers_marks_does_not_wedge_the_call(clock: VirtualClock):
    talk = Conversation(clock, hears=["One.", "Two."])
    talk.line.answers_marks = False
    async with talk.held():
        await talk.quiet(5)
        await talk.say()
        await talk.quiet(6)
        await talk.say()
        await talk.quiet(1)
        assert talk.dialogue.asked == ["One.", "Two."]
        assert talk.line.said()[-1] == "You said Two."


async def test_half_a_minute_of_speech_is_heard_whole(clock: VirtualClock):
    async with Conversation(clock, hears=["first part", "second part."]).held() as talk:
        await talk.quiet(2)
        await talk.speak(35)
        await talk.quiet(1)
        assert talk.dialogue.asked == ["first part second part."]
        assert max(talk.hearing.heard) <= 30
        assert sum(talk.hearing.heard) >= 35


async def test_sound_is_sent_hardly_more_than_a_second_ahead(clock: VirtualClock):
    talk = Conversation(clock, hears=["Tell me."])
    talk.dialogue.answers["Tell me."] = ["A sentence of some length. " * 12]
    async with talk.held():
        await talk.quiet(2)
        await talk.say()
        for _ in range(40):
            await talk.quiet(0.1)
            sent_ms = len(talk.line.sent_at_s) * 20
            assert sent_ms - talk.ear_ms <= 1300
