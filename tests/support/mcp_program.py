"""An MCP server on the standard streams, with one tool that says of itself that it only reads and one that does not."""

import json
import os
import sys
from typing import Any

TOOLS = [
    {"name": "look_up", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "order", "inputSchema": {"type": "object"}},
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        server = {"name": "shop", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        said = f"{params['name']} with {os.environ.get('SHOP_KEY', 'no key')}"
        return {"content": [{"type": "text", "text": said}]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
