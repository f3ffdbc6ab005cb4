"""How news and the state of tasks are told. Pure but for the turns its phrases take.

What an agent wrote is data: quoted as the agent's claim, with secrets taken out, and never looked at as a command.
"""

from collections.abc import Sequence
from datetime import datetime, tzinfo

from keryx.agents.registry import spoken_name
from keryx.security.redact import redact
from keryx.tasks.models import News, NewsKind, Task, TaskStatus
from keryx.voice.dialogue.base import Understanding
from keryx.voice.dialogue.lines import Line, Question
from keryx.voice.dialogue.normalise import in_words
from keryx.voice.dialogue.replies import (
    Phrases,
    counted,
    duration_words,
    ended,
    in_a_sentence,
    listed,
    listed_names,
    moment_words,
    sentence_case,
    task_name,
    task_number,
)

TOLD_OF_A_LIST = 3
"""A longer list is counted, and so many of it are named."""

STATE_WORDS = {
    TaskStatus.QUEUED: "waiting",
    TaskStatus.RUNNING: "running",
    TaskStatus.DONE: "done",
    TaskStatus.FAILED: "failed",
    TaskStatus.CANCELLED: "cancelled",
}
_WHAT_IT_IS = {
    TaskStatus.QUEUED: ("is waiting", "are waiting", "is waiting"),
    TaskStatus.RUNNING: ("is running", "are running", "is running"),
    TaskStatus.DONE: ("is done", "are done", "is done yet"),
    TaskStatus.FAILED: ("failed", "failed", "has failed"),
    TaskStatus.CANCELLED: ("was cancelled", "were cancelled", "was cancelled"),
}
"""Said of one task, of several, and of none."""
_IMPORTANCE = (TaskStatus.RUNNING, TaskStatus.FAILED, TaskStatus.QUEUED, TaskStatus.DONE, TaskStatus.CANCELLED)


class Telling:
    """Says tasks and news to one person."""

    def __init__(self, phrases: Phrases, zone: tzinfo) -> None:
        self._phrases = phrases
        self._zone = zone

    # -- news --------------------------------------------------------------------------------------------------------

    def news(self, items: Sequence[News]) -> list[Line]:
        """Each of `items` as one line, in order; a last one that failed offers another try."""
        lines = [self._one(item, last=len(items) > 1 and item is items[-1]) for item in items]
        if items and items[-1].kind is NewsKind.FAILED:
            lines.append(self._another_try(items[-1]))
        return lines

    def _one(self, item: News, *, last: bool) -> Line:
        name = task_name(item.task_id, redact(item.description))
        text = ended(redact(item.text))
        agent = spoken_name(item.agent)
        asks = None
        match item.kind:
            case NewsKind.DONE:
                said = self._phrases.say("news_done", name=name, agent=agent, text=text)
            case NewsKind.FAILED:
                said = self._phrases.say("news_failed_last" if last else "news_failed", name=name, text=text)
            case NewsKind.QUESTION:
                said = self._phrases.say("news_question", name=name, agent=agent, text=text)
                asks = Question(f"answer {item.task_id}", text=said, task_id=item.task_id)
        return Line(said, item.id, asks, focus=item.task_id)

    def _another_try(self, item: News) -> Line:
        text = self._phrases.say("try_again")
        again = Understanding(
            tool="send_followup",
            arguments={"task_id": item.task_id, "text": self._phrases.say("ask_to_try_again")},
        )
        return Line(text, asks=Question(f"retry {item.task_id}", text=text, held=again, task_id=item.task_id))

    # -- one task ----------------------------------------------------------------------------------------------------

    def status(self, task: Task, now: datetime, *, with_name: bool = False) -> str:
        """How one task stands. `with_name`: the caller did not say which."""
        number = _short(task) if with_name else task_number(task.id)
        agent = spoken_name(task.agent)
        match task.status:
            case TaskStatus.QUEUED:
                return self._phrases.say("status_queued", task=number)
            case TaskStatus.RUNNING:
                duration = duration_words((now - (task.started_at or task.created_at)).total_seconds())
                if task.progress:
                    progress = ended(redact(task.progress))
                    return self._phrases.say(
                        "status_running_at", task=number, duration=duration, agent=agent, progress=progress
                    )
                return self._phrases.say("status_running", task=number, duration=duration)
            case TaskStatus.DONE:
                if task.summary:
                    text = ended(redact(task.summary))
                    return self._phrases.say(
                        "status_done", task=number, when=self._when(task, now), agent=agent, text=text
                    )
                return self._phrases.say("status_done_silent", task=number, when=self._when(task, now))
            case TaskStatus.FAILED:
                text = ended(redact(task.summary or task.error or "it did not say why"))
                return self._phrases.say("status_failed", task=number, when=self._when(task, now), text=text)
            case TaskStatus.CANCELLED:
                return self._phrases.say("status_cancelled", task=number, when=self._when(task, now))

    def result(self, task: Task, news: News | None, *, again: bool = False) -> Line:
        """What came of a task that has a result; hearing it tells the news. `again`: this call has heard it."""
        failed = news.kind is NewsKind.FAILED if news else task.status is TaskStatus.FAILED
        text = ended(redact(news.text if news else task.summary or task.error or ""))
        name = task_name(task.id, redact(task.description))
        agent = spoken_name(task.agent)
        if again:
            said = self._phrases.say("result_failed", text=text) if failed else ""
            said = said or self._phrases.say("result_again", agent=agent, text=text)
        elif failed:
            said = self._phrases.say("news_failed", name=name, text=text)
        else:
            said = self._phrases.say("news_done", name=name, agent=agent, text=text)
        return Line(said, news.id if news else None, focus=task.id)

    def _when(self, task: Task, now: datetime) -> str:
        return moment_words(task.finished_at or task.created_at, now, self._zone)

    # -- lists -------------------------------------------------------------------------------------------------------

    def tasks(self, tasks: Sequence[Task], status: TaskStatus | None) -> tuple[str, list[Task]]:
        """A list of tasks as a sentence, and those it names in the order they are named."""
        if not tasks:
            return self._nothing(status), []
        ordered = sorted(tasks, key=lambda task: (_IMPORTANCE.index(task.status), -task.id))
        named = ordered[:TOLD_OF_A_LIST]
        names = listed_names([in_a_sentence(_short(task)) for task in named])
        if len({task.status for task in tasks}) == 1 and len(tasks) > 1:
            count = f"{in_words(len(tasks))} {_WHAT_IT_IS[tasks[0].status][1]}"
            few = "list_few" if len(tasks) <= TOLD_OF_A_LIST else "list_many_alike"
            return self._phrases.say(few, count=count, tasks=names), named
        if len(tasks) <= TOLD_OF_A_LIST:
            each = [f"{_short(task)} {_WHAT_IT_IS[task.status][0]}." for task in named]
            return " ".join(sentence_case(sentence) for sentence in each), named
        states = listed([f"{in_words(count)} {STATE_WORDS[state]}" for state, count in _counts(tasks)])
        return self._phrases.say("list_many", count=counted(len(tasks), "task"), states=states, newest=names), named

    def idle(self, waiting: int, done: int) -> str:
        """Nothing is running: what there is instead."""
        rest = []
        if waiting:
            rest.append(f"{counted(waiting, 'task')} {_WHAT_IT_IS[TaskStatus.QUEUED][waiting > 1]}")
        if done:
            of_them = in_words(done) if waiting else counted(done, "task")
            rest.append(f"{of_them} {_WHAT_IT_IS[TaskStatus.DONE][done > 1]}")
        return self._phrases.say("list_idle", rest=listed(rest))

    def _nothing(self, status: TaskStatus | None) -> str:
        if status is None:
            return self._phrases.say("list_none")
        return self._phrases.say("list_none_in", state=_WHAT_IT_IS[status][2])


def _counts(tasks: Sequence[Task]) -> list[tuple[TaskStatus, int]]:
    counts = [(status, sum(task.status is status for task in tasks)) for status in _IMPORTANCE]
    return [(status, count) for status, count in counts if count]


def _short(task: Task) -> str:
    return task_name(task.id, redact(task.description))
