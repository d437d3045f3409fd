"""What a tenant may do beyond its quota: take back a change, and erase."""

from collections.abc import Callable
from typing import Any

import httpx

from recollect.records import JsonObject
from recollect.server.mcp.streamable_http import PATH as MCP_PATH
from recollect.server.mcp.streamable_http import mcp_door
from recollect.server.testing import Served

Connect = Callable[..., httpx.Client]
Start = Callable[..., Served]
NOTE: JsonObject = {"context": "drinks", "content": "Likes green tea"}
SENT = {"accept": "application/json, text/event-stream"}


def test_an_undo_is_counted_and_never_refused(starting: Start, connect: Connect) -> None:
    """Its token is of an hour, after which what was deleted beyond the quota would be lost."""
    client = connect(starting(memories_a_day=1))
    client.put("/v1/memories/Note/n", json={"value": NOTE}).raise_for_status()
    over = client.put("/v1/memories/Note/m", json={"value": NOTE})
    deleted = client.delete("/v1/memories/Note/n", params={"undo": "true"})

    undone = client.post("/v1/undo", json={"undo": deleted.json()["undo"]})

    assert (429, 200, 204) == (over.status_code, deleted.status_code, undone.status_code)
    assert NOTE == client.get("/v1/memories/Note/n").json()["value"]
    over = client.put("/v1/memories/Note/m", json={"value": NOTE})
    assert "memories today: 2 and 1 more" in over.json()["detail"]


def test_an_agent_erases_also_beyond_the_quota(starting: Start, connect: Connect) -> None:
    """The answer by which the user agreed is not kept then."""
    served = starting(messages_a_day=1, doors=lambda settings: [mcp_door(settings)])
    client = connect(served, **SENT)

    def call(tool: str, arguments: JsonObject) -> Any:
        params: JsonObject = {"name": tool, "arguments": arguments}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return client.post(MCP_PATH, json=asked).json()["result"]["structuredContent"]

    memory: JsonObject = {"type": "Note", "value": NOTE}
    id_ = call("save_memory", {"memory": memory, "quotes": ["I like green tea"]})["id"]
    token = call("erase_memory", {"id": id_})["token"]

    erased = call("erase_memory", {"id": id_, "token": token, "answer": "yes"})

    assert "erased" == erased["status"]
    assert [] == client.get("/v1/memories").json()["memories"]
    assert [] == client.get("/v1/threads/mcp/messages").json()["messages"]
