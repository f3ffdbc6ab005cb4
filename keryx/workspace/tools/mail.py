"""The tools about mail."""

from typing import Annotated

from pydantic import Field

from keryx.errors import Refused
from keryx.workspace.features import Feature
from keryx.workspace.mail.headers import people
from keryx.workspace.mail.outgoing import Expected
from keryx.workspace.models import Letter, Person
from keryx.workspace.plain import one_line
from keryx.workspace.tools import mail_shown as shown
from keryx.workspace.tools.base import Arguments, Id, PageToken, Tool
from keryx.workspace.workspace import Workspace

THREAD_CHARS = 12_000
"""How much of a thread is shown at once."""
MOST_IDS = 1_000
MOST_TEXT_CHARS = 200_000

_MessageId = Annotated[Id, Field(description="The message's id, as search_mail gives it.")]
_Text = Annotated[str, Field(min_length=1, max_length=MOST_TEXT_CHARS, description="The letter itself, as plain text.")]
_People = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=400)]],
    Field(max_length=100, description='Addresses, as "anna@example.org" or "Anna Berg <anna@example.org>".'),
]
_Ids = Annotated[list[Id], Field(min_length=1, max_length=MOST_IDS, description="The ids of the messages.")]
_Labels = Annotated[list[Annotated[str, Field(min_length=1, max_length=225)]], Field(max_length=50)]
_Again = Annotated[bool, Field(description="True only when the person wants the same letter sent a second time today.")]


class Search(Arguments):
    query: Annotated[
        str,
        Field(
            max_length=2_000,
            description='In Gmail\'s own search language: "from:anna newer_than:7d", "subject:invoice has:attachment", '
            '"is:unread in:inbox", "after:2026/11/01 before:2026/12/01". Empty: all mail.',
        ),
    ] = ""
    most: Annotated[int, Field(ge=1, le=50, description="How many at once.")] = 20
    page: PageToken = ""


class Read(Arguments):
    message_id: _MessageId
    from_character: Annotated[int, Field(ge=0, description="Where to go on in a long text.")] = 0
    quoted: Annotated[
        bool, Field(description="Show what it quotes from earlier messages, instead of its own text.")
    ] = False


class ReadThread(Arguments):
    thread_id: Annotated[Id, Field(description="The thread's id; of a thread of one, the message's.")]


class Save(Arguments):
    message_id: _MessageId
    number: Annotated[int, Field(ge=1, le=10_000, description="The attachment's number, as read_message gives it.")]
    name: Annotated[
        str, Field(max_length=255, description="What to call the file in the task's directory; empty: as it is called.")
    ] = ""


class Write(Arguments):
    to: Annotated[_People, Field(min_length=1)]
    subject: Annotated[str, Field(max_length=900, description="What it is about, on one line.")]
    text: _Text
    cc: _People = []
    bcc: _People = []
    files: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=4_000)]],
        Field(max_length=50, description="Files of the task's directory to attach, by their paths in it."),
    ] = []

    def letter(self) -> Letter:
        """What is to be written; `Refused` names an address that is none."""
        to, cc, bcc = (people_of(each) for each in (self.to, self.cc, self.bcc))
        return Letter(to, self.subject, self.text, cc, bcc, tuple(self.files))


class Send(Write):
    again: _Again = False


class Answer(Arguments):
    message_id: _MessageId
    text: _Text
    everyone: Annotated[bool, Field(description="Answer everybody who got it, not only who wrote it.")] = False


class SendAnswer(Answer):
    again: _Again = False


class OneDraft(Arguments):
    draft_id: Annotated[Id, Field(description="The draft's id, as draft_mail or draft_reply gave it.")]
    to: Annotated[_People, Field(min_length=1, description="Everybody whom it goes to, copies and blind copies too.")]
    subject: Annotated[str, Field(max_length=900, description="Its subject, as it is.")]


class Named(Arguments):
    named: Annotated[str, Field(max_length=225, description="A part of their names; empty: all of them.")] = ""


class Label(Arguments):
    message_ids: _Ids
    add: Annotated[_Labels, Field(description='Labels to put on: "work/invoices", "starred", "important".')] = []
    remove: Annotated[_Labels, Field(description='Labels to take off: "unread" marks as read.')] = []


class Several(Arguments):
    message_ids: _Ids


def _search(workspace: Workspace, arguments: Search) -> str:
    page = workspace.mailbox.search(arguments.query, most=arguments.most, page=arguments.page or None)
    return shown.found(page, workspace.zone)


def _read(workspace: Workspace, arguments: Read) -> str:
    mail = workspace.mailbox.read(arguments.message_id)
    return shown.message(mail, workspace.zone, start=arguments.from_character, quoted=arguments.quoted)


def _read_thread(workspace: Workspace, arguments: ReadThread) -> str:
    messages = workspace.mailbox.thread(arguments.thread_id)
    return shown.thread(messages, messages.older, workspace.zone, most_chars=THREAD_CHARS)


def _save(workspace: Workspace, arguments: Save) -> str:
    path = workspace.mailbox.save(arguments.message_id, arguments.number, name=arguments.name or None)
    return shown.saved(path, path.stat().st_size)


def _draft(workspace: Workspace, arguments: Write) -> str:
    draft_id = workspace.mailbox.draft(arguments.letter())
    return f"Drafted, not sent: draft {draft_id}. The person finds it among their drafts; send_draft sends it."


def _draft_reply(workspace: Workspace, arguments: Answer) -> str:
    draft_id = workspace.mailbox.draft_reply(arguments.message_id, arguments.text, everyone=arguments.everyone)
    return f"The answer is drafted in its thread, not sent: draft {draft_id}. send_draft sends it."


def _send(workspace: Workspace, arguments: Send) -> str:
    return shown.sent(workspace.mailbox.send(arguments.letter(), again=arguments.again), "The letter")


def _reply(workspace: Workspace, arguments: SendAnswer) -> str:
    done = workspace.mailbox.reply(
        arguments.message_id, arguments.text, everyone=arguments.everyone, again=arguments.again
    )
    return shown.sent(done, "The answer")


def _send_draft(workspace: Workspace, arguments: OneDraft) -> str:
    # The owner allows what they are told, so the draft has to be that.
    receivers = frozenset(person.address.casefold() for person in people_of(arguments.to))
    expected = Expected(receivers, arguments.subject)
    return shown.sent(workspace.mailbox.send_draft(arguments.draft_id, expected), "The draft")


def _labels(workspace: Workspace, arguments: Named) -> str:
    part = arguments.named.casefold()
    return shown.labels([label for label in workspace.mailbox.labels() if part in label.casefold()])


def _label(workspace: Workspace, arguments: Label) -> str:
    workspace.mailbox.label(arguments.message_ids, arguments.add, arguments.remove)
    done = [*(f"+ {label}" for label in arguments.add), *(f"- {label}" for label in arguments.remove)]
    return f"{_count(arguments.message_ids)}: {', '.join(done)}."


def _archive(workspace: Workspace, arguments: Several) -> str:
    workspace.mailbox.archive(arguments.message_ids)
    return f"{_count(arguments.message_ids)} archived: out of the inbox, still in the mailbox."


def _bin(workspace: Workspace, arguments: Several) -> str:
    workspace.mailbox.bin(arguments.message_ids)
    return f"{_count(arguments.message_ids)} put into the bin; Gmail deletes them after thirty days."


def people_of(written: list[str]) -> tuple[Person, ...]:
    """The people that are written so; `Refused` names one that is no single address."""
    return tuple(_person(each) for each in written)


def _person(written: str) -> Person:
    found = people(written) if written.isprintable() else ()
    if len(found) != 1 or not found[0].address:
        raise Refused(f'"{one_line(written, 80)}" is not one address; give each as "anna@example.org"')
    return found[0]


def _count(ids: list[str]) -> str:
    if not ids:
        raise Refused("no message was named; give the ids of some")
    return "1 message" if len(ids) == 1 else f"{len(ids)} messages"


_READ, _WRITE, _SORT = Feature.READ_MAIL, Feature.WRITE_MAIL, Feature.SORT_MAIL

MAIL_TOOLS = (
    Tool(
        *("search_mail", "Search mail", "Searching the mail"),
        "Find messages by Gmail's search language: who wrote, about what, when; newest first, a page at a time.",
        *(Search, _READ, _search),
        read_only=True,
    ),
    Tool(
        *("read_message", "Read a message", "Reading a message"),
        "Read one message as text: what it quotes folded away, its attachments listed.",
        *(Read, _READ, _read),
        read_only=True,
    ),
    Tool(
        *("read_thread", "Read a thread", "Reading a mail thread"),
        "Read the newest messages of a thread, oldest first.",
        *(ReadThread, _READ, _read_thread),
        read_only=True,
    ),
    Tool(
        *("save_attachment", "Save an attachment", "Saving an attachment"),
        "Save one attachment of a message as a file in the task's directory; another file of its name stays.",
        *(Save, _READ, _save),
        idempotent=False,
    ),
    Tool(
        *("draft_mail", "Draft a mail", "Drafting a mail"),
        "Write a new mail and keep it as a draft. Use this unless the person said to send it.",
        *(Write, _WRITE, _draft),
    ),
    Tool(
        *("draft_reply", "Draft a reply", "Drafting a reply"),
        "Write an answer to a message, in its thread, and keep it as a draft. Use this unless they said to send it.",
        *(Answer, _WRITE, _draft_reply),
    ),
    Tool(
        *("send_mail", "Send a mail", "Sending a mail"),
        "Send a new mail, only when the person said to send it. The same letter goes once a day, however often asked.",
        *(Send, _WRITE, _send),
        open_world=True,
    ),
    Tool(
        *("reply", "Reply to a mail", "Replying to a mail"),
        "Send an answer to a message in its thread, only when the person said to send it. The same goes once a day.",
        *(SendAnswer, _WRITE, _reply),
        open_world=True,
    ),
    Tool(
        *("send_draft", "Send a draft", "Sending a draft"),
        "Send a draft that was written before, only when the person said to send it.",
        *(OneDraft, _WRITE, _send_draft),
        open_world=True,
    ),
    Tool(
        *("list_labels", "List labels", "Looking at the mail's labels"),
        "The names of the labels that messages can have.",
        *(Named, _READ, _labels),
        read_only=True,
    ),
    Tool(
        *("label_messages", "Label messages", "Labelling mail"),
        "Put labels on messages, or take some off.",
        *(Label, _SORT, _label),
        destructive=True,
    ),
    Tool(
        *("archive_messages", "Archive messages", "Archiving mail"),
        "Take messages out of the inbox; they stay in the mailbox.",
        *(Several, _SORT, _archive),
        destructive=True,
    ),
    Tool(
        *("bin_messages", "Bin messages", "Binning mail"),
        "Put messages into the bin.",
        *(Several, _SORT, _bin),
        destructive=True,
    ),
)
