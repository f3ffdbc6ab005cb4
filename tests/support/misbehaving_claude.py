"""Stands in for Claude Code where the real one cannot be made to misbehave on demand: old, chatty, forgetful, deaf.

Started with the name of what is wrong with it, and then with whatever Claude Code is started with. Each of these was
seen in the wild, or is what an older version does.
"""

import json
import sys
from typing import Any

STALE = "00000000-0000-4000-8000-000000000000"
OVERLONG_BYTES = 17 << 20


def write(kind: str, **fields: Any) -> None:
    print(json.dumps({"type": kind, **fields}), flush=True)


def state(uuid: str, *states: str) -> None:
    for name in states:
        write("command_lifecycle", command_uuid=uuid, state=name)


def say(text: str) -> None:
    content = [{"type": "text", "text": text}]
    write("assistant", message={"role": "assistant", "content": content}, parent_tool_use_id=None)


def work() -> None:
    tool = {"type": "tool_use", "id": "t0", "name": "Bash", "input": {"command": "make"}}
    write("assistant", message={"role": "assistant", "content": [tool]}, parent_tool_use_id=None)


def end(text: str, *uuids: str, **fields: Any) -> None:
    write("result", subtype="success", is_error=False, result=text, user_message_uuids=list(uuids), **fields)


def old(uuids: list[str]) -> None:
    """Knows nothing of acknowledgements, nor says which messages a result is for."""
    work()
    if len(uuids) == 2:
        write("result", subtype="success", is_error=False, result="both at once, by luck")


def chatty(uuids: list[str]) -> None:
    """Ends turns first that nobody began: one of long ago, one that does not say whose, one of its own."""
    state(uuids[0], "queued")
    say("of the background")
    write("result", subtype="success", is_error=False, result="of nobody knows whom")
    say("of long ago")
    end("of long ago", STALE)
    state(uuids[0], "started")
    write("result", subtype="success", is_error=False, result="of it", origin={"kind": "task-notification"})
    say("of now")
    end("of now", uuids[0])
    state(uuids[0], "completed")


def forgetful(uuids: list[str]) -> None:
    """Never sends a result."""
    state(uuids[0], "queued", "started")
    say("all done")
    state(uuids[0], "completed")


def refusing(uuids: list[str]) -> None:
    """Takes no second message."""
    if len(uuids) == 1:
        state(uuids[0], "queued", "started")
        work()
        return
    state(uuids[1], "refused")
    end("done", uuids[0])


def deaf(uuids: list[str]) -> None:
    """Says nothing of a second message, and gives it back."""
    if len(uuids) == 1:
        state(uuids[0], "queued", "started")
        work()


def overlong(uuids: list[str]) -> None:
    """Writes a line that nobody can want to read."""
    state(uuids[0], "queued", "started")
    tool = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "big.png"}}
    write("assistant", message={"role": "assistant", "content": [tool]}, parent_tool_use_id=None)
    write("user", message={"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x" * OVERLONG_BYTES}]})
    say("It is a big picture.")
    end("It is a big picture.", uuids[0])


def main() -> None:
    behave = {made.__name__: made for made in (old, chatty, forgetful, refusing, deaf, overlong)}[sys.argv[1]]
    uuids: list[str] = []
    for line in sys.stdin:
        frame = json.loads(line)
        match frame["type"]:
            case "user":
                uuids.append(frame["uuid"])
                behave(uuids)
            case "control_request":
                given = {"cancelled": True} if frame["request"]["subtype"] == "cancel_async_message" else {}
                answer = {"subtype": "success", "request_id": frame["request_id"], "response": given}
                write("control_response", response=answer)
                if given:
                    end("done", uuids[0])
                if frame["request"]["subtype"] == "interrupt":
                    write("result", subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools")


if __name__ == "__main__":
    main()
