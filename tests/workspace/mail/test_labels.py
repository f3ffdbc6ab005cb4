"""Labels go by the names that people use."""

import pytest

from keryx.errors import NotFound, Refused
from keryx.workspace.mail.labels import Labels

LABELS = Labels.of(
    {
        "labels": [
            {"id": "Label_2", "name": "Work/Invoices"},
            {"id": "UNREAD", "name": "UNREAD"},
            {"id": "INBOX", "name": "INBOX"},
            {"id": "TRASH", "name": "TRASH"},
            {"id": "Label_1", "name": "Work"},
            {"id": "Label_3", "name": "Spe\u200bcial\x1b"},
            {"id": "CATEGORY_PROMOTIONS", "name": "CATEGORY_PROMOTIONS"},
            {"id": "", "name": "nothing"},
        ]
    }
)


def test_gmails_own_come_first_and_under_their_usual_names() -> None:
    assert [*LABELS.names.values()] == ["inbox", "unread", "bin", "promotions", "Special", "Work", "Work/Invoices"]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Work", "Label_1"),
        ("WORK", "Label_1"),
        (" work / invoices ", "Label_2"),
        ("inbox", "INBOX"),
        ("Inbox", "INBOX"),
        ("starred", "STARRED"),
        ("STARRED", "STARRED"),
        ("trash", "TRASH"),
        ("bin", "TRASH"),
        ("junk", "SPAM"),
        ("promotions", "CATEGORY_PROMOTIONS"),
        ("Label_1", "Label_1"),
    ],
)
def test_a_label_is_found_however_it_is_written(name: str, label: str) -> None:
    assert LABELS.ids_of([name]) == [label]


def test_one_that_is_named_twice_counts_once() -> None:
    assert LABELS.ids_of(["work", "Work", "inbox"]) == ["Label_1", "INBOX"]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Wrok", "the nearest: “Work”"), ("invoices", "“Work/Invoices”"), ("zzz", "list the labels")],
)
def test_one_that_is_not_there_names_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(NotFound, match=f"there is no label “{name}”; ") as caught:
        LABELS.ids_of([name])
    assert nearest in str(caught.value)
    assert name not in caught.value.spoken


@pytest.mark.parametrize("name", ["sent", "drafts", "DRAFT"])
def test_nobody_but_gmail_says_what_was_sent(name: str) -> None:
    with pytest.raises(Refused, match="only Gmail itself"):
        LABELS.ids_of([name])


def test_ids_are_told_by_name_and_unknown_ones_as_they_are() -> None:
    assert LABELS.named(["INBOX", "Label_2", "STARRED", "Label_9"]) == ("inbox", "Work/Invoices", "starred", "Label_9")
