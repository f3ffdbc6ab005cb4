"""The files in which Claude Code keeps its conversations: is one still there, did a message get into it. Blocking."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from keryx.agents.claude.frames import Spent, spent

_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def settings_folder(environment: Mapping[str, str]) -> Path:
    """Where Claude Code keeps its settings, its login and its conversations."""
    if named := environment.get("CLAUDE_CONFIG_DIR"):
        return Path(named)
    return Path(environment.get("HOME") or Path.home()) / ".claude"


class ConversationFile:
    """One conversation's file, wherever the project was when it began."""

    def __init__(self, environment: Mapping[str, str], session_id: str) -> None:
        self._projects = settings_folder(environment) / "projects"
        self._session_id = session_id

    def exists(self) -> bool:
        return self._path() is not None

    def holding(self, uuids: Collection[str]) -> frozenset[str]:
        """Which of these messages got into the conversation: as a turn's prompt, or folded into a running turn."""
        found: set[str] = set()
        for row in self._rows(uuids):
            attachment = row.get("attachment")
            if row.get("type") == "user":
                found.add(str(row.get("uuid")))
            elif isinstance(attachment, Mapping) and attachment.get("type") == "queued_command":
                found.add(str(attachment.get("source_uuid")))
        return frozenset(found & set(uuids))

    def spent(self) -> Spent:
        """What the conversation had cost when its process last ended in peace; the next one counts on from there."""
        last = Spent()
        for row in self._rows(['"cost-state"']):
            if row.get("type") == "cost-state":
                last = spent(row.get("modelUsage"), row.get("totalCostUSD")) or last
        return last

    def _path(self) -> Path | None:
        # Anything but a plain id would be a pattern, or another folder.
        if not _ID.fullmatch(self._session_id):
            return None
        return next((path for path in self._projects.glob(f"*/{self._session_id}.jsonl") if path.stat().st_size), None)

    def _rows(self, words: Collection[str]) -> Iterator[Mapping[str, Any]]:
        """The rows that hold one of `words`; a torn line, as after a crash, is none."""
        wanted = [word.encode() for word in words]
        path = self._path()
        if path is None:
            return
        with path.open("rb") as lines:
            for line in lines:
                if any(word in line for word in wanted):
                    try:
                        row = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(row, Mapping):
                        yield row
