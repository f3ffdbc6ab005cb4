"""Gmail's labels by the names that people use. Pure."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keryx.errors import NotFound, Refused
from keryx.workspace.plain import one_line

SYSTEM = {
    "INBOX": "inbox",
    "UNREAD": "unread",
    "STARRED": "starred",
    "IMPORTANT": "important",
    "SENT": "sent",
    "DRAFT": "drafts",
    "SPAM": "spam",
    "TRASH": "bin",
    "CATEGORY_PERSONAL": "primary",
    "CATEGORY_SOCIAL": "social",
    "CATEGORY_PROMOTIONS": "promotions",
    "CATEGORY_UPDATES": "updates",
    "CATEGORY_FORUMS": "forums",
}
"""Gmail's own, by their ids, as people call them."""
_ALSO = {"draft": "DRAFT", "trash": "TRASH", "star": "STARRED", "junk": "SPAM", "personal": "CATEGORY_PERSONAL"}
_BY_ITSELF = {"SENT", "DRAFT"}
"""Labels that only Gmail puts on and takes off."""
NEAREST = 3


@dataclass(frozen=True)
class Labels:
    """The labels of one mailbox."""

    names: Mapping[str, str]
    """By id; Gmail's own under the names that people use. A nested one is "a/b"."""

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Labels":
        """From what `labels.list` answers."""
        listed = [label for label in answer.get("labels", ()) if label.get("id") and label.get("name")]
        place = {id_: number for number, id_ in enumerate(SYSTEM)}
        listed.sort(key=lambda label: (place.get(label["id"], len(place)), str(label["name"]).casefold()))
        return cls({label["id"]: SYSTEM.get(label["id"]) or one_line(str(label["name"])) for label in listed})

    def named(self, ids: Iterable[str]) -> tuple[str, ...]:
        """What labels are called; one that is not known keeps its id."""
        return tuple(self.names.get(id_) or SYSTEM.get(id_, id_) for id_ in ids)

    def ids_of(self, wanted: Sequence[str]) -> list[str]:
        """The ids of labels by name, whatever case they are in; `NotFound` names the nearest, `Refused`."""
        found = [self._id_of(name) for name in wanted]
        for id_ in found:
            if id_ in _BY_ITSELF:
                raise Refused(
                    f"only Gmail itself puts “{SYSTEM[id_]}” on a message or takes it off; choose another label"
                )
        return list(dict.fromkeys(found))

    def _id_of(self, wanted: str) -> str:
        by_name = {_folded(name): id_ for id_, name in reversed([*self.names.items()])}
        name = _folded(wanted)
        known = by_name.get(name) or _ALSO.get(name) or (wanted if wanted in self.names else None)
        known = known or next((id_ for id_, called in SYSTEM.items() if called == name or id_.lower() == name), None)
        if known:
            return known
        near = difflib.get_close_matches(name, by_name, NEAREST, cutoff=0.5)
        # "invoices" is near to "work/invoices", whatever the length of what stands before it.
        near += [other for other in by_name if other.rpartition("/")[2] == name and other not in near]
        called = ", ".join(f"“{self.names[by_name[other]]}”" for other in near[:NEAREST])
        raise NotFound(
            f"there is no label “{one_line(wanted, 60)}”; {f'the nearest: {called}' if called else 'list the labels'}",
            spoken="There's no label of that name.",
        )


def _folded(name: str) -> str:
    return "/".join(" ".join(part.split()) for part in name.casefold().split("/"))
