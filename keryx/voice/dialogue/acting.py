"""What is done about an understood sentence: call the tools, and put what came of it into lines."""

import dataclasses
from collections.abc import Sequence
from datetime import tzinfo

from keryx.agents.registry import spoken_name
from keryx.clock import Clock
from keryx.security.redact import redact
from keryx.tasks.manager import FollowUpHow
from keryx.tasks.models import Task, TaskStatus
from keryx.voice.dialogue.agent_choice import AgentChoice, how_words, names_no_work
from keryx.voice.dialogue.base import DialogueContext, Looked, TaskBrief, Understanding
from keryx.voice.dialogue.lines import Line, Question
from keryx.voice.dialogue.lookups.diary_told import DiaryTold
from keryx.voice.dialogue.lookups.mail_told import MailTold, told_of
from keryx.voice.dialogue.normalise import in_words
from keryx.voice.dialogue.replies import Phrases, counted, in_a_sentence, listed, listed_names, task_name, task_number
from keryx.voice.dialogue.telling import STATE_WORDS, Telling
from keryx.voice.tools.base import ToolResult
from keryx.voice.tools.toolbox import Toolbox

KNOWN_TASKS = 50
"""A sentence is understood against the newest so many tasks."""
NAMED_CHOICES = 3
"""A question names no more choices than this."""
NAMED_PROJECTS = 5


class Acting:
    """Carries out what was understood, for one call."""

    def __init__(self, toolbox: Toolbox, phrases: Phrases, *, clock: Clock, zone: tzinfo) -> None:
        self._toolbox = toolbox
        self._manager = toolbox.manager
        self._phrases = phrases
        self._clock = clock
        self._zone = zone
        self.telling = Telling(phrases, zone)
        self._mail = MailTold(phrases)
        self._diary = DiaryTold(phrases)
        self._choosing = AgentChoice(toolbox.registry, phrases)
        self.told_order: list[int] = []
        """The tasks last listed aloud: what "the third one" counts."""
        self.told: int | None = None
        """The task whose result was spoken last in this call."""
        self.looked: Looked | None = None
        """The question about mail or the calendar that was answered last, until a task is spoken of."""
        self._requests = 0

    async def context(self, focus: int | None, asked: Question | None) -> DialogueContext:
        """What the next sentence is understood against."""
        tasks = await self._manager.list(limit=KNOWN_TASKS)
        place = {task_id: index for index, task_id in enumerate(self.told_order)}
        tasks.sort(key=lambda task: place.get(task.id, len(place)))
        briefs = [TaskBrief(task.id, task.status, task.project, task.description, task.mode) for task in tasks]
        return DialogueContext(
            self._toolbox.projects,
            self._toolbox.registry.names(),
            briefs,
            focus,
            asked.pending if asked else None,
            asked.text if asked else "",
            self.told,
            self.looked,
        )

    def new_request(self) -> str:
        """An id for one thing asked for: whatever is tried under it again is done once."""
        self._requests += 1
        return f"said-{self._requests}"

    async def carry_out(self, understood: Understanding, request: str) -> list[Line]:
        """Do what a sentence that names a tool asks for."""
        match understood.tool:
            case "dispatch_task":
                return await self._dispatch(understood, request)
            case "send_followup":
                return await self._follow_up(understood, request)
            case "cancel_task":
                return await self._ask_before_cancelling(understood, request)
            case "get_task_status":
                return await self._status(understood)
            case "get_task_result":
                return await self._result(understood)
            case "list_tasks":
                return await self._list(understood)
            case "request_callback":
                return await self._call_back(understood, request)
            case "list_projects":
                return self._projects()
            case "check_mail" | "check_calendar":
                return await self._look_up(understood.tool, understood, request)
            case _:
                return [Line(self._phrases.say("failed_here"))]

    # -- new work ----------------------------------------------------------------------------------------------------

    async def _dispatch(self, understood: Understanding, request: str) -> list[Line]:
        if names_no_work(understood.arguments["description"]):
            return [Line(self._phrases.say("what_work"))]
        if ask := self._ask_for_project(understood, request):
            return [ask]
        if ask := self._choosing.ask(understood, request):
            return [ask]
        result = await self._toolbox.call("dispatch_task", understood.arguments, call_id=request)
        if not result.ok:
            return self._refused(result, understood, request)
        task_id = result.value["task_id"]
        values = {"agent": spoken_name(result.value["agent"]), "task": task_number(task_id)}
        how = how_words(result.value["model"], result.value["mode"])
        if project := result.value["project"]:
            values["project"] = spoken_project(project)
        if behind := result.value["behind"]:
            values["agent"] = f"{values['agent']} {how}".strip()
            text = self._phrases.say("dispatched_behind", behind=task_number(behind), **values)
        elif how:
            text = self._phrases.say("dispatched_in_how" if project else "dispatched_how", how=how, **values)
        else:
            text = self._phrases.say("dispatched_in" if project else "dispatched", **values)
        lines = [Line(text, focus=task_id)]
        if "callback" in understood.then:
            wish = Understanding(tool="request_callback", arguments={"task_id": task_id})
            lines += await self._call_back(wish, f"{request}-callback")
        return lines

    def _ask_for_project(self, understood: Understanding, request: str) -> Line | None:
        projects = self._toolbox.projects
        if understood.which_projects:
            choices, key, values = tuple(understood.which_projects), "which_project", {}
        elif understood.unknown_project and projects:
            choices, key, values = projects, "unknown_project", {"said": understood.unknown_project}
        else:
            return None
        if len(choices) <= NAMED_CHOICES:
            values["choices"] = listed([spoken_project(choice) for choice in choices], "or")
        else:
            key += "_open"
        text = self._phrases.say(key, **values)
        return Line(text, asks=Question("project", text=text, held=understood, choices=choices, request=request))

    # -- a task there is ---------------------------------------------------------------------------------------------

    async def _follow_up(self, understood: Understanding, request: str) -> list[Line]:
        if "task_id" not in understood.arguments:
            if understood.which_tasks:
                return [await self._ask_which(understood, request)]
            if understood.unknown_task:
                return [Line(self._phrases.say("unknown_task"))]
            text = self._phrases.say("no_receiver")
            arguments = {"description": understood.arguments["text"]}
            if mode := understood.arguments.get("mode"):
                arguments["mode"] = mode
            held = Understanding(tool="dispatch_task", arguments=arguments)
            return [Line(text, asks=Question("new task", text=text, held=held, request=request))]
        if ask := self._choosing.ask_about_mode(understood, request):
            return [ask]
        result = await self._toolbox.call("send_followup", understood.arguments, call_id=request)
        if not result.ok:
            return self._refused(result, understood, request)
        task_id, how = result.value["task_id"], FollowUpHow(result.value["how"])
        number, agent, mode = task_number(task_id), spoken_name(result.value["agent"]), result.value["mode"]
        match how:
            case FollowUpHow.STEERED if mode:
                text = self._phrases.say("passed_on_mode", task=number, agent=agent, mode=mode)
            case FollowUpHow.STEERED:
                text = self._phrases.say("passed_on", task=number, agent=agent)
            case FollowUpHow.NEXT if mode:
                text = self._phrases.say("passed_next_mode", task=number, mode=mode)
            case FollowUpHow.NEXT if result.value["refused"]:
                text = self._phrases.say("passed_refused", task=number, agent=agent)
            case FollowUpHow.NEXT:
                text = self._phrases.say("passed_next", task=number)
            case FollowUpHow.TAKEN_UP if mode:
                text = self._phrases.say("passed_up_mode", task=number, agent=agent, mode=mode)
            case FollowUpHow.TAKEN_UP:
                text = self._phrases.say("passed_up", task=number, agent=agent)
        return [Line(text, focus=task_id)]

    async def _ask_before_cancelling(self, understood: Understanding, request: str) -> list[Line]:
        if "task_id" not in understood.arguments:
            if understood.which_tasks:
                return [await self._ask_which(understood, request)]
            return [Line(self._phrases.say("unknown_task" if await self._unfinished() else "cancel_nothing"))]
        result = await self._toolbox.call("get_task_status", understood.arguments, call_id=self.new_request())
        if not result.ok:
            return self._refused(result, understood, request)
        task_id, status = result.value["task_id"], TaskStatus(result.value["status"])
        if status.ended:
            text = self._phrases.say("already_ended", task=task_number(task_id), state=STATE_WORDS[status])
            return [Line(text, focus=task_id)]
        name = in_a_sentence(task_name(task_id, redact(result.value["description"])))
        text = self._phrases.say("cancel_check", name=name)
        held = Understanding(tool="cancel_task", arguments={"task_id": task_id})
        question = Question(f"cancel {task_id}", text=text, held=held, task_id=task_id, request=request)
        return [Line(text, asks=question, focus=task_id)]

    async def cancel(self, understood: Understanding, request: str) -> list[Line]:
        """Cancel for good, after the yes."""
        result = await self._toolbox.call("cancel_task", understood.arguments, call_id=request)
        if not result.ok:
            return self._refused(result, understood, request)
        task_id = result.value["task_id"]
        return [Line(self._phrases.say("cancelled", task=task_number(task_id)), focus=task_id)]

    async def _status(self, understood: Understanding) -> list[Line]:
        task = await self._task(understood)
        if isinstance(task, list):
            return task
        return [Line(self.telling.status(task, self._clock.now()), focus=task.id)]

    async def _result(self, understood: Understanding) -> list[Line]:
        if "task_id" not in understood.arguments and not understood.which_tasks:
            return [Line(self._phrases.say("no_results"))]
        task = await self._task(understood)
        if isinstance(task, list):
            return task
        news = await self._manager.latest_news(task.id)
        if news is None and not (task.status.ended and (task.summary or task.error)):
            nothing = self._phrases.say("no_result_yet")
            return [Line(f"{nothing} {self.telling.status(task, self._clock.now())}", focus=task.id)]
        again, self.told = task.id == self.told, task.id
        return [self.telling.result(task, news, again=again)]

    async def _task(self, understood: Understanding) -> Task | list[Line]:
        """The task asked after, or what to say when it is not one task."""
        if "task_id" not in understood.arguments:
            if understood.which_tasks:
                return [await self._ask_which(understood, self.new_request())]
            return [Line(self._phrases.say("unknown_task"))]
        tool = understood.tool or "get_task_status"
        result = await self._toolbox.call(tool, understood.arguments, call_id=self.new_request())
        if not result.ok:
            return self._refused(result, understood, self.new_request())
        return await self._manager.status(result.value["task_id"])

    async def _ask_which(self, understood: Understanding, request: str) -> Line:
        ids = set(understood.which_tasks)
        tasks = [task for task in await self._manager.list(limit=KNOWN_TASKS) if task.id in ids]
        if 0 < len(tasks) <= NAMED_CHOICES:
            names = [in_a_sentence(task_name(task.id, redact(task.description))) for task in reversed(tasks)]
            choices = listed_names(names, "or")
            text = self._phrases.say("which_task", choices=choices)
            self.told_order = [task.id for task in reversed(tasks)]
        else:
            text = self._phrases.say("which_of_many", count=in_words(len(ids)))
        choices = tuple(str(task_id) for task_id in understood.which_tasks)
        return Line(text, asks=Question("which", text=text, held=understood, choices=choices, request=request))

    async def _list(self, understood: Understanding) -> list[Line]:
        result = await self._toolbox.call("list_tasks", understood.arguments, call_id=self.new_request())
        if not result.ok:
            return self._refused(result, understood, self.new_request())
        status = TaskStatus(understood.arguments["status"]) if "status" in understood.arguments else None
        tasks = await self._manager.list(statuses=None if status is None else [status], limit=KNOWN_TASKS)
        if not tasks and status is TaskStatus.RUNNING and (others := await self._manager.list(limit=KNOWN_TASKS)):
            waiting = sum(task.status is TaskStatus.QUEUED for task in others)
            done = sum(task.status is TaskStatus.DONE for task in others)
            if waiting or done:
                return [Line(self.telling.idle(waiting, done))]
        if len(tasks) == 1 and not tasks[0].status.ended:
            # Of one task, how it stands is worth as much as its name.
            text, named = self.telling.status(tasks[0], self._clock.now(), with_name=True), tasks
        else:
            text, named = self.telling.tasks(tasks, status)
        self.told_order = [task.id for task in named]
        return [Line(text, focus=named[0].id if len(named) == 1 else None)]

    async def _call_back(self, understood: Understanding, request: str) -> list[Line]:
        result = await self._toolbox.call("request_callback", understood.arguments, call_id=request)
        if not result.ok:
            return self._refused(result, understood, request)
        task_id = result.value["task_id"]
        return [Line(self._phrases.say("callback" if task_id is not None else "callback_none"), focus=task_id)]

    def agents(self) -> Line:
        """Who can be asked to work."""
        names = [spoken_name(name) for name in self._toolbox.registry.names()]
        if len(names) == 1:
            return Line(self._phrases.say("agent_alone", agent=names[0]))
        return Line(self._phrases.say("agents", agents=listed(names), default=names[0], other=names[1]))

    def _projects(self) -> list[Line]:
        projects = [spoken_project(project) for project in self._toolbox.projects]
        if not projects:
            return [Line(self._phrases.say("projects_none"))]
        if len(projects) <= NAMED_PROJECTS:
            return [Line(self._phrases.say("projects", projects=listed(projects)))]
        named = listed(projects[:NAMED_CHOICES])
        return [Line(self._phrases.say("projects_many", count=in_words(len(projects)), projects=named))]

    async def _look_up(self, tool: str, understood: Understanding, request: str) -> list[Line]:
        result = await self._toolbox.call(tool, understood.arguments, call_id=request)
        if not result.ok:
            return self._refused(result, understood, request)
        now = self._clock.now().astimezone(self._zone)
        asked = understood.arguments
        if tool == "check_calendar":
            self.looked = Looked(tool, asked)
            return self._diary.lines(asked, result.value, now)
        before = self.looked
        if before and before.tool == tool and set(asked) == {"read"}:
            # One of the list was read: what is asked next narrows the list's own question.
            self.looked = dataclasses.replace(before, arguments={**before.arguments, **asked})
        else:
            self.looked = Looked(tool, asked, told_of(result.value) or int("text" in result.value))
        return self._mail.lines(asked, result.value, now)

    # -- the line ----------------------------------------------------------------------------------------------------

    async def submit_pin(self, pin: str) -> ToolResult:
        """Try a PIN."""
        return await self._toolbox.call("submit_pin", {"pin": pin}, call_id=self.new_request())

    async def goodbye(self) -> list[Line]:
        """The last words: what is still running, honestly, and goodbye."""
        running = await self._unfinished()
        if not running:
            return [Line(self._phrases.say("goodbye"))]
        if len(running) == 1:
            return [Line(self._phrases.say("goodbye_running", task=task_number(running[0].id)))]
        return [Line(self._phrases.say("goodbye_running_many", count=counted(len(running), "task")))]

    async def _unfinished(self) -> Sequence[Task]:
        return await self._manager.list(statuses=[TaskStatus.QUEUED, TaskStatus.RUNNING], limit=KNOWN_TASKS)

    async def unfinished_count(self) -> int:
        """How many tasks are queued or running."""
        return len(await self._unfinished())

    # -- when it did not work ----------------------------------------------------------------------------------------

    def _refused(self, result: ToolResult, understood: Understanding, request: str) -> list[Line]:
        match result.code:
            case "pin_needed":
                text = self._phrases.say("pin_needed")
                return [Line(text, asks=Question("pin", text=text, held=understood, request=request))]
            case "not_found" if "task_id" in understood.arguments:
                return [Line(self._phrases.say("unknown_task"))]
            case "bad_arguments":
                return [Line(self._phrases.say("too_long" if understood.tool == "dispatch_task" else "unclear"))]
            case _:
                return [Line(result.spoken or self._phrases.say("failed_here"))]


def spoken_project(project: str) -> str:
    """A project's name as it is said."""
    return " ".join(project.replace("-", " ").replace("_", " ").split())


def in_project(understood: Understanding, project: str | None) -> Understanding:
    """The same request with its project settled."""
    settled = {"project": project} if project else {}
    arguments = {key: value for key, value in understood.arguments.items() if key != "project"} | settled
    return dataclasses.replace(understood, arguments=arguments, which_projects=(), unknown_project=None)


def for_task(understood: Understanding, task_id: int) -> Understanding:
    """The same request with its task settled."""
    return dataclasses.replace(
        understood, arguments={"task_id": task_id, **understood.arguments}, which_tasks=(), unknown_task=None
    )
