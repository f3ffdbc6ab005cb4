"""`understand`: one sentence and what it is said against, to a tool call or an intent. Pure and quick.

The order is the policy: a PIN, what the conversation itself needs, then commands that say plainly which task they
mean, and whatever is left is work for an agent. A command is recognised by the whole sentence, never by a word in it,
so that "the cancel button is broken" can only be work.
"""

import dataclasses
from collections.abc import Iterator

from keryx.voice.dialogue import asking, smalltalk
from keryx.voice.dialogue.base import DialogueContext, Understanding
from keryx.voice.dialogue.callbacks import callback_in
from keryx.voice.dialogue.cancelling import cancel_in
from keryx.voice.dialogue.going_ahead import goes_ahead, mode_wanted, plan_in_focus
from keryx.voice.dialogue.lookups.asked import LOOKUPS, lookup_in, lookup_perhaps
from keryx.voice.dialogue.models import only_a_model
from keryx.voice.dialogue.names import NOBODY, Meant, it_meant
from keryx.voice.dialogue.normalise import Heard, as_written
from keryx.voice.dialogue.results import result_in
from keryx.voice.dialogue.slots import Work, without_project, work_in
from keryx.voice.dialogue.standing import list_in, status_in
from keryx.voice.dialogue.steering import steer_in
from keryx.voice.dialogue.targets import number_words, with_numbers_settled, without_asking, without_hesitation
from keryx.voice.dialogue.topics import about_its_topic

CERTAIN, LIKELY, AS_WORK, GUESS = 0.97, 0.9, 0.7, 0.4

_CHOICES = ("pin", "project", "which")
"""What may be pending without being a question to answer with yes or no."""


def understand(text: str, context: DialogueContext) -> Understanding:
    """What `text` comes to; never raises, whatever was said."""
    understood = _understood(text, context)
    if understood.tool != "send_followup":
        return understood
    arguments = understood.arguments
    mode = mode_wanted(str(arguments["text"]), context, arguments.get("task_id"))
    return understood if mode is None else dataclasses.replace(understood, arguments=arguments | {"mode": mode})


def _understood(text: str, context: DialogueContext) -> Understanding:
    heard = Heard(text)
    if not heard.words:
        return Understanding(intent="deny" if _wants_yes_or_no(context) else "unclear", confidence=GUESS)
    if pin := _pin(heard, context):
        return pin
    if heard.is_long:
        return _steer_or_work(heard, heard, context)
    left, right = smalltalk.without_fillers(heard.norm)
    core = Heard(heard.original(left, len(heard.words) - right))
    if _wants_yes_or_no(context):
        return _beside_an_offer(heard, core, context) or _answer(heard, core, context)
    if context.pending and context.pending.startswith("answer "):
        return _reply_to_agent(heard, core, context)
    return next(_recognisers(heard, core, context))


def is_acknowledgement(text: str) -> bool:
    """Whether it only says that all is well ("okay", "thanks")."""
    return bool(smalltalk.ACKNOWLEDGED.fullmatch(Heard(text).norm))


def is_greeting(text: str) -> bool:
    """Whether it only says hello."""
    return bool(smalltalk.HELLO.fullmatch(Heard(text).norm))


def _recognisers(heard: Heard, core: Heard, context: DialogueContext) -> Iterator[Understanding]:
    """Every reading that fits, best first; the last one, work or unclear, always does."""
    norm = heard.norm
    if small := _conversation(norm) or _asked_politely(core):
        yield small
    if smalltalk.DONT_CANCEL.fullmatch(core.norm):
        yield Understanding(intent="deny", confidence=LIKELY)
    if (plan := _plan_let_go(heard, context)) is not None:
        yield plan
    if smalltalk.YES.fullmatch(norm) and not smalltalk.ACKNOWLEDGED.fullmatch(norm):
        yield Understanding(intent="confirm", confidence=LIKELY)
    if smalltalk.NO.fullmatch(norm) or (context.pending in _CHOICES and _refuses(heard)):
        yield Understanding(intent="deny", confidence=LIKELY)
    if lookup := lookup_in(heard, context):
        yield lookup
    if command := _command(core, context) or lookup_perhaps(heard, context):
        yield command
    if _says_nothing(heard) or only_a_model(core.norm):
        yield Understanding(intent="unclear", confidence=GUESS)
    yield _steer_or_work(heard, core, context)


def _plan_let_go(heard: Heard, context: DialogueContext) -> Understanding | None:
    """ "Go ahead", said after a plan although nothing was asked."""
    plan = plan_in_focus(context)
    if context.pending or plan is None or not goes_ahead(heard.norm) or smalltalk.says_no(heard.words):
        return None
    return Understanding(
        tool="send_followup", arguments={"task_id": plan.id, "text": heard.text.strip()}, confidence=LIKELY
    )


def _conversation(norm: str) -> Understanding | None:
    if smalltalk.GOODBYE.fullmatch(norm):
        return Understanding(tool="end_call", confidence=CERTAIN)
    if smalltalk.SLOWER.fullmatch(norm):
        return Understanding(intent="slower", confidence=CERTAIN)
    if smalltalk.STOP.fullmatch(norm):
        return Understanding(intent="stop", confidence=CERTAIN)
    if smalltalk.HELP.fullmatch(norm):
        return Understanding(intent="help", confidence=CERTAIN)
    if smalltalk.REPEAT.fullmatch(norm):
        return Understanding(intent="repeat", confidence=CERTAIN)
    if smalltalk.LIST_PROJECTS.fullmatch(norm):
        return Understanding(tool="list_projects", confidence=CERTAIN)
    if asking.ABOUT_AGENTS.fullmatch(norm):
        return Understanding(intent="agents", confidence=CERTAIN)
    return None


def _asked_politely(core: Heard) -> Understanding | None:
    """ "May I ask what projects there are": what asks, less the words that lead up to it."""
    plain = without_asking(without_hesitation(core))
    small = _conversation(plain.norm) if plain.norm != core.norm else None
    return small if small and (small.tool == "list_projects" or small.intent == "help") else None


def _command(core: Heard, context: DialogueContext) -> Understanding | None:
    """Commands about a task that the sentence names."""
    core = with_numbers_settled(without_asking(without_hesitation(core)))
    if (named := _named_command(core, context)) is not None:
        return named
    if (asked := about_its_topic(core, context)) is not None:
        found = _named_command(with_numbers_settled(without_asking(asked.said)), asked.context)
        if found is None or found.tool not in ("get_task_status", "get_task_result", "cancel_task"):
            return None
        return found if found.arguments.get("task_id") == asked.context.focus else None
    return None


def _named_command(core: Heard, context: DialogueContext) -> Understanding | None:
    if (cancel := cancel_in(core.norm, context)) is not None:
        return _about("cancel_task", cancel, confidence=CERTAIN if cancel.found else LIKELY)
    if (call := callback_in(core.norm, context)) is not None:
        return _about("request_callback", call, asks_which=False)
    if (result := result_in(core.norm, context)) is not None:
        return _about("get_task_result", result)
    if (statuses := list_in(without_project(core.norm, context.projects))) is not None:
        arguments = {"status": statuses} if statuses else {}
        return Understanding(tool="list_tasks", arguments=arguments, confidence=LIKELY)
    if (status := status_in(core.norm, context)) is not None:
        if not status.meant.found and status.by_it:
            return Understanding(tool="list_tasks", confidence=LIKELY)
        return _about("get_task_status", status.meant, unknown=status.unknown)
    if (listing := asking.list_by_words(core.norm)) is not None:
        return Understanding(tool="list_tasks", arguments={"status": listing} if listing else {}, confidence=LIKELY)
    if asking.ABOUT_HOW.fullmatch(core.norm):
        meant = Meant(context.focus) if context.focus is not None else NOBODY
        return _about("get_task_status", meant) if meant.found else Understanding(tool="list_tasks", confidence=LIKELY)
    if (asked := asking.about_task(core.norm, context) or asking.about_number(core.norm)) is not None:
        return _about("get_task_result" if asked.wants_result else "get_task_status", Meant(asked.task_id))
    return None


def _about(
    tool: str, meant: Meant, *, confidence: float = LIKELY, unknown: str | None = None, asks_which: bool = True
) -> Understanding:
    arguments = {"task_id": meant.task_id} if meant.found else {}
    which = meant.which if asks_which else ()
    return Understanding(tool=tool, arguments=arguments, confidence=confidence, which_tasks=which, unknown_task=unknown)


def _steer_or_work(heard: Heard, core: Heard, context: DialogueContext) -> Understanding:
    work = work_in(heard, context)
    steer = steer_in(core, context, in_place=work.in_place)
    if steer is None:
        return _dispatch(work)
    arguments: dict[str, object] = {"task_id": steer.meant.task_id} if steer.meant.found else {}
    arguments["text"] = as_written(steer.text)
    return Understanding(
        tool="send_followup",
        arguments=arguments,
        confidence=LIKELY,
        which_tasks=steer.meant.which,
        unknown_task=steer.unknown,
    )


def _dispatch(work: Work) -> Understanding:
    slots = {
        "description": work.description,
        "project": work.project,
        "agent": work.agent,
        "model": work.model,
        "mode": work.mode,
    }
    return Understanding(
        tool="dispatch_task",
        arguments={name: value for name, value in slots.items() if value is not None},
        confidence=LIKELY if work.in_place else AS_WORK,
        then=tuple(work.then),
        which_projects=work.which_projects,
        unknown_project=work.unknown_project,
    )


def _refuses(heard: Heard) -> bool:
    """A short answer with a no in it ("I don't have one")."""
    return len(heard.words) <= 6 and smalltalk.says_no(heard.words)


def _says_nothing(heard: Heard) -> bool:
    """A scrap: nothing in it that could be a request."""
    words = [word for word in heard.words if word not in smalltalk.SCRAPS]
    if not words or (smalltalk.ACKNOWLEDGED.fullmatch(heard.norm) or smalltalk.HELLO.fullmatch(heard.norm)):
        return True
    # One word is a name or a noise; scripts that write no spaces are one "word" too, so length decides there.
    if len(heard.words) == 1:
        return heard.norm.isascii() or len(heard.norm) < 4
    if smalltalk.digits_in(heard.words):
        return True
    hangs = heard.words[-1] in ("the", "a", "an", "and", "my", "or", "to")
    return len(words) == 1 and (heard.words[0] in ("the", "a", "an", "and", "my", "this", "that", "to", "in") or hangs)


# --- while something is pending ---------------------------------------------------------------------------------------


def _wants_yes_or_no(context: DialogueContext) -> bool:
    pending = context.pending
    return bool(pending) and pending not in _CHOICES and not pending.startswith("answer ")


def _pin(heard: Heard, context: DialogueContext) -> Understanding | None:
    if heard.is_long:
        return None
    if digits := smalltalk.pin_in(heard.norm, asked=context.pending == "pin"):
        return Understanding(tool="submit_pin", arguments={"pin": digits}, confidence=CERTAIN)
    return None


def _beside_an_offer(heard: Heard, core: Heard, context: DialogueContext) -> Understanding | None:
    """What is said in place of an answer to "want the others?": nothing depends on that one, so a new wish is none.

    None when it is an answer, or too little to be anything else.
    """
    if context.pending != "more" or smalltalk.YES.fullmatch(heard.norm) or _refuses(heard):
        return None
    if (the_others := lookup_in(heard, context)) is not None and the_others.intent:
        return the_others
    fresh = dataclasses.replace(context, pending=None, question="")
    meant = next(_recognisers(heard, core, fresh))
    said_little = len([word for word in heard.words if word not in smalltalk.SCRAPS]) < 2
    return None if meant.tool is None or (meant.tool == "dispatch_task" and said_little) else meant


def _answer(heard: Heard, core: Heard, context: DialogueContext) -> Understanding:
    """The answer to a question: a refusal anywhere wins, a yes is nothing but a yes, the rest is no or a command."""
    norm = heard.norm
    deny = Understanding(intent="deny", confidence=CERTAIN)
    if smalltalk.DONT_CANCEL.fullmatch(core.norm) or smalltalk.NO.fullmatch(norm):
        return deny
    if smalltalk.FAREWELL.fullmatch(norm):
        return Understanding(tool="end_call", confidence=CERTAIN)
    asked_of = _asked_task(context)
    command = lookup_in(heard, context) or _command(core, context)
    if command is not None and command.tool == "cancel_task":
        if command.arguments.get("task_id") not in (asked_of, None):
            return command
        if not smalltalk.says_no(heard.words) and norm not in ("cancel", "abort", "stop"):
            return Understanding(intent="confirm", confidence=LIKELY)
        return deny
    if smalltalk.says_no(heard.words):
        return _refused_or_other(heard, core, context, command)
    if smalltalk.YES.fullmatch(norm) or _yes_with_its_object(heard, context, asked_of):
        return Understanding(intent="confirm", confidence=CERTAIN)
    if (small := _conversation(norm)) and small.intent != "stop":
        return small
    if command is not None:
        return command
    if (context.pending or "").startswith("retry ") and _begins_with_yes(heard):
        # "Yes, but leave the tests alone": asked whether an agent shall try again, the rest is for the agent.
        return Understanding(
            tool="send_followup", arguments={"task_id": asked_of, "text": heard.text.strip()}, confidence=LIKELY
        )
    if len([word for word in heard.words if word not in smalltalk.SCRAPS]) >= 3 and not _begins_with_yes(heard):
        return _steer_or_work(heard, core, context)
    return Understanding(intent="deny", confidence=GUESS)


def _refused_or_other(
    heard: Heard, core: Heard, context: DialogueContext, command: Understanding | None
) -> Understanding:
    """A no, unless the sentence is plainly about something else ("add a test for the case where nothing is found")."""
    if small := _conversation(heard.norm):
        return small if small.intent != "stop" else Understanding(intent="deny", confidence=CERTAIN)
    if command is not None and command.tool in ("list_tasks", "get_task_status", "get_task_result", *LOOKUPS):
        return command
    work = work_in(heard, context)
    begins_so = smalltalk.says_no(heard.words[:3]) or _begins_with_yes(heard)
    if work.in_place and not begins_so:
        return _dispatch(work)
    return Understanding(intent="deny", confidence=CERTAIN if begins_so else LIKELY)


def _begins_with_yes(heard: Heard) -> bool:
    return bool(smalltalk.YES.fullmatch(heard.words[0]))


def _asked_task(context: DialogueContext) -> int | None:
    _, _, number = (context.pending or "").rpartition(" ")
    return int(number) if number.isdigit() else None


_OBJECT_WORDS = frozenset(
    "cancel kill abort stop drop scrap end it that this one task job number the please now and thats yes".split()
)


def _yes_with_its_object(heard: Heard, context: DialogueContext, asked_of: int | None) -> bool:
    """ "Yes, cancel the parser rewrite": a yes and nothing else but what was asked about."""
    if not _begins_with_yes(heard):
        return False
    task = next((task for task in context.tasks if task.id == asked_of), None)
    own = set(Heard(f"{task.description} {task.project or ''}").words) if task else set()
    own |= {str(asked_of)} | set(number_words(asked_of))
    rest = [word for word in heard.words if word not in _OBJECT_WORDS and word not in own]
    return bool(smalltalk.YES.fullmatch(" ".join(rest))) if rest else True


def _reply_to_agent(heard: Heard, core: Heard, context: DialogueContext) -> Understanding:
    """An agent asked something: the next sentence that is not a command goes to it."""
    norm = heard.norm
    if smalltalk.FAREWELL.fullmatch(norm):
        return Understanding(tool="end_call", confidence=CERTAIN)
    if (small := _conversation(norm)) and not smalltalk.YES.fullmatch(norm) and not smalltalk.NO.fullmatch(norm):
        return small
    if lookup := lookup_in(heard, context):
        return lookup
    if (command := _command(core, context)) and (command.arguments.get("task_id") or command.tool == "list_tasks"):
        return command
    answers = smalltalk.YES.fullmatch(norm) or smalltalk.NO.fullmatch(norm)
    if not answers and not [word for word in heard.words if word not in smalltalk.SCRAPS]:
        return Understanding(intent="unclear", confidence=GUESS)
    other = _steer_or_work(heard, core, context)
    if other.tool == "send_followup" and other.arguments.get("task_id"):
        return other
    if other.tool == "dispatch_task" and other.confidence > AS_WORK:
        return other
    asked = _asked_task(context)
    meant = Meant(asked) if asked is not None else it_meant(context, context.tasks)
    return Understanding(
        tool="send_followup", arguments={"task_id": meant.task_id, "text": heard.text.strip()}, confidence=LIKELY
    )
