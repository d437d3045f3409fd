"""Every write of every door is counted once, by what it wrote, and refused beyond the quota."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi.routing import APIRoute

from recollect.formation.rule_model import RuleModel
from recollect.memory.facade import Recollect
from recollect.records import JsonObject, PutMemory, Scope
from recollect.server.authorization import PERMISSIONS, RESERVED
from recollect.server.http import service as opening
from recollect.server.http.authentication import is_guarded
from recollect.server.langgraph.langgraph_routes import LANGGRAPH_ROUTERS
from recollect.server.mcp.recollect_tool_definitions import TOOL_HINTS
from recollect.server.mcp.streamable_http import PATH as MCP_PATH
from recollect.server.mcp.streamable_http import mcp_door
from recollect.server.mem0 import MEM0_ROUTERS
from recollect.server.quotas import DOCUMENTS, UNCOUNTED_KINDS
from recollect.server.routes import ROUTERS
from recollect.server.testing import Served, serving
from recollect.stores.contract.base import MeteredStore, Store
from recollect.stores.plans import side_records
from recollect.stores.rows import SideRow
from recollect.stores.validation import encode_json

pytestmark = pytest.mark.timeout(240)
Fresh = Callable[[str], str]
NewKey = Callable[..., str]
Counts = dict[str, int]

NOTHING: Counts = {"messages": 0, "memories": 0, "bytes": 0}
NOTE = {"context": "drinks", "content": "Likes green tea"}
TRIP = {
    "name": "Trip",
    "description": "A journey.",
    "update_mode": "insert",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
}
SENT = {"accept": "application/json, text/event-stream"}
ADA: Scope = ("acme", "ada")
WEB = httpx.Client(timeout=60)
"""Shared, because a client takes long to be made."""


@pytest.fixture(autouse=True, scope="module")
def _closed_web() -> Iterator[None]:
    yield
    WEB.close()


# What a change has written, by looking at everything that is kept.

SIDE_VALUES: dict[tuple[str, str, int], str] = {}
"""Value of each version of a side record by (kind, key, version): stores keep only the last."""


@pytest.fixture(autouse=True)
def _side_values(monkeypatch: pytest.MonkeyPatch) -> None:
    make = side_records._after

    def noting(*args: Any) -> SideRow | None:
        made = make(*args)
        if made:
            SIDE_VALUES[made.kind, made.key, made.version] = made.value
        return made

    monkeypatch.setattr(side_records, "_after", noting)


async def everything(store: Store, root: Scope = ("acme",)) -> dict[tuple[str, ...], JsonObject]:
    """Return every record of a scope and those below, and of its threads of LangGraph's."""
    found: dict[tuple[str, ...], JsonObject] = {}
    pages = [
        await store.scopes(prefix=each, limit=1_000)
        for each in (root, (RESERVED, DOCUMENTS, *root))
    ]
    for scope in [each for page in pages for each in page.rows]:
        for record in await store.archive(scope):
            parts = ("kind", "thread", "type", "side_kind", "key", "id")
            named = [record.get(each) for each in parts]
            found[(*scope, *map(str, named))] = record
    return found


def written(
    before: Mapping[tuple[str, ...], JsonObject], after: Mapping[tuple[str, ...], JsonObject]
) -> Counts:
    """Return what was written between two looks: new messages, and new versions of memories."""
    counts = dict(NOTHING)
    for place, record in after.items():
        old = before.get(place)
        if record["kind"] == "message" and (old is None or old["digest"] != record["digest"]):
            counts["messages"] += 1
            counts["bytes"] += size_of_message(record)
        is_counted = record["kind"] == "side" and record["side_kind"] not in UNCOUNTED_KINDS
        for value in new_values(old, record) if is_counted else ():
            counts["memories"] += 1
            counts["bytes"] += len(value.encode())
        if record["kind"] == "memory":
            for each in new_versions(old, record):
                counts["memories"] += 1
                counts["bytes"] += len(encode_json(each["value"], "it").encode())
                counts["bytes"] += len(str(each["text"]).encode())
    return counts


def size_of_message(record: JsonObject) -> int:
    """Return the bytes of a message as it is documented."""
    parts = [record["content"], record["metadata"] or None]
    written_parts = sum(len(encode_json(each, "it").encode()) for each in parts if each is not None)
    return len(str(record["text"]).encode()) + written_parts


def new_values(old: JsonObject | None, new: JsonObject) -> list[str]:
    """Return the values, as JSON text, of the versions of a side record since *old*."""
    known, last = int(old["version"]) if old else 0, int(new["version"])  # type: ignore[arg-type]
    replaced = [
        SIDE_VALUES[str(new["side_kind"]), str(new["key"]), version]
        for version in range(known + 1, last)
    ]
    return [*replaced, encode_json(new["value"], "it")] if last > known else []


def new_versions(old: JsonObject | None, new: JsonObject) -> list[Any]:
    """Return the versions of a memory that were not there before."""
    versions: list[Any] = [new, *(new.get("revisions") or ())]  # type: ignore[misc]
    known = int(old["version"]) if old else 0  # type: ignore[arg-type]
    return [each for each in versions if each["version"] > known]


# Every door, and what is written through it.


@dataclass(kw_only=True)
class Door:
    """A tenant with a key, at the door of a service."""

    served: Served
    key: str
    name: str

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Make a request that is carried out, and return what it is answered."""
        parts = dict(more)
        if body is not None:
            parts["json"] = body
        headers = {"x-api-key": self.key, **SENT, **parts.pop("headers", {})}
        answer = WEB.request(method, f"{self.served.url}{path}", headers=headers, **parts)
        assert answer.status_code < 400 or answer.status_code == 503, answer.text
        is_json = answer.headers.get("content-type") == "application/json"
        return answer.json() if is_json and answer.content else answer.text

    def call(self, tool: str, arguments: JsonObject) -> Any:
        """Call a tool of MCP, and return its result."""
        params: JsonObject = {"name": tool, "arguments": arguments}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.ask("POST", MCP_PATH, call)["result"]["structuredContent"]

    def do(self, work: Callable[[Recollect], Coroutine[Any, Any, Any]]) -> Any:
        """Let the memory behind the service do something."""
        memory = self.served.service.memory
        assert memory.loop is not None
        return asyncio.run_coroutine_threadsafe(work(memory), memory.loop).result(60)

    def put(self, **more: Any) -> Any:
        """Write a memory."""
        return self.ask("PUT", "/v1/memories/Note/n", {"value": NOTE}, **more)

    def say(self, *texts: str) -> Any:
        """Append messages."""
        messages = [{"role": "user", "text": each, "id": f"m{each}"} for each in texts]
        return self.ask("POST", "/v1/threads/t/messages", {"messages": messages})

    def saved(self) -> str:
        """Save a memory through MCP, and return its id."""
        memory: JsonObject = {"type": "Note", "value": NOTE}
        found = self.call("save_memory", {"memory": memory, "quotes": ["I like green tea"]})
        return str(found["id"])

    def thread(self) -> str:
        """Make a thread of LangGraph's, and return its id."""
        return str(self.ask("POST", "/threads", {"metadata": {"graph": "ü"}})["thread_id"])

    def run(self, thread: str) -> str:
        """Post a run, and return its id."""
        return str(self.ask("POST", f"/threads/{thread}/runs", run_of("A boat."))["run_id"])

    def waiting(self) -> None:
        """Keep a memory that waits for a verdict."""
        scope = ("acme", self.name)
        put = PutMemory(type="Note", key="w", value=NOTE, text="tea", state="quarantined")
        self.do(lambda memory: memory.apply(scope, [put]))

    def erased(self) -> None:
        """Preview an erase, and confirm it."""
        target = {"target": {"memory": {"type": "Note", "key": "n"}}}
        token = self.ask("POST", "/v1/erase/preview", target)["confirm"]
        self.ask("POST", "/v1/erase", {"confirm": token})

    def exported(self) -> str:
        """Return the export of some talk, of which the ids are new."""
        self.say("one", "zwölf")
        self.put()
        self.put()
        lines = str(self.ask("GET", "/v1/export")).splitlines()
        return "\n".join(lines[:-1])

    def imported(self, lines: str, scope: str) -> Any:
        """Import lines below another scope."""
        headers = {"content-type": "application/x-ndjson"}
        return self.ask("POST", f"/v1/import?scope={scope}", content=lines, headers=headers)

    def imported_file(self) -> None:
        """Import a chat as another program wrote it."""
        chat = [{"role": "user", "content": "Zürich?"}, {"role": "assistant", "content": "Ja."}]
        headers = {"content-type": "application/octet-stream"}
        path = "/v1/import/file?name=chat.json"
        told = self.ask("POST", path, content=json.dumps(chat).encode(), headers=headers)
        assert "event: done" in told

    def remembered(self, *, infer: bool = False) -> str:
        """Have a text remembered as mem0's client does, and return its id."""
        body = {"messages": "Grüner Tee", "user_id": "ada", "infer": infer}
        found = self.ask("POST", "/compat/mem0/v3/memories/add/", body)
        return str(found["event_id"] if infer else found["results"][0]["id"])


def run_of(text: str) -> JsonObject:
    """Return a run of one message."""
    message = {"role": "user", "content": text}
    return {"assistant_id": "memory", "input": {"messages": [message]}, "if_not_exists": "create"}


Prepared = Callable[[], object]
Case = Callable[[Door], Prepared]
_ONE = "/v1/memories/{type}/{key}"
_RUNS = "/threads/{thread_id}/runs"
_MEM0 = "/compat/mem0"
OF_ANYBODY = {"filters": {"user_id": "*"}}


def prepared(*steps: Callable[[], object]) -> Prepared:
    """Take all steps but the last, and return that."""
    *first, last = steps
    for each in first:
        each()
    return last


def of_run(door: Door, path: str, method: str) -> Prepared:
    """Post a run; then ask for something of it."""
    thread = door.thread()
    run = door.run(thread)
    if method == "DELETE":
        door.ask("POST", f"/threads/{thread}/runs/{run}/cancel")
    return lambda: door.ask(method, f"/threads/{thread}/runs/{run}{path}")


def of_mem0(door: Door, method: str, path: str, body: Any = None) -> Prepared:
    """Have something remembered; then make a request of mem0's client."""
    door.remembered()
    return lambda: door.ask(method, f"{_MEM0}{path}", body)


def of_mcp(door: Door, tool: str) -> Prepared:
    """Save a memory; then call a tool for it."""
    id_ = door.saved()
    changes = [{"op": "replace", "path": "/content", "value": "Likes black tea"}]
    arguments: Mapping[str, JsonObject] = {
        "update_memory": {"id": id_, "changes": changes, "quotes": ["I like black tea now"]},
        "search_memory": {"query": "tea"},
        "context": {"query": "tea"},
        "profile": {},
    }
    if tool == "erase_memory":
        token = door.call(tool, {"id": id_})["token"]
        return lambda: door.call(tool, {"id": id_, "token": token, "answer": "yes"})
    return lambda: door.call(tool, arguments[tool])


def prepared_import(door: Door) -> Prepared:
    """Export something; then import it elsewhere."""
    lines = door.exported()
    return lambda: door.imported(lines, "copy")


def edit_to_undo(door: Door) -> Prepared:
    """Write a memory and its next version; then take that back."""
    door.put()
    token = door.put(params={"undo": "true"})["undo"]
    return lambda: door.ask("POST", "/v1/undo", {"undo": token})


def key_to_go(door: Door) -> Prepared:
    """Make a key; then revoke it."""
    made = door.ask("POST", "/v1/keys", {"name": "k", "permissions": ["read"]})["id"]
    return lambda: door.ask("DELETE", f"/v1/keys/{made}")


def changed_thread(door: Door, method: str, body: Any) -> Prepared:
    """Make a thread; then change it."""
    thread = door.thread()
    return lambda: door.ask(method, f"/threads/{thread}", body)


def posted_run(door: Door, path: str) -> Prepared:
    """Make a thread; then post a run to it."""
    thread = door.thread()
    return lambda: door.ask("POST", f"/threads/{thread}/runs{path}", run_of("A boat."))


COSTS: Mapping[tuple[str, str], tuple[Case, int, int]] = {
    # What is asked for, how many messages and memories that writes.
    ("POST", "/v1/threads/{thread}/messages"): (lambda it: lambda: it.say("one", "zwölf"), 2, 0),
    ("PUT", "/v1/threads/{thread}/messages/{message}"): (
        lambda it: prepared(
            lambda: it.say("a"),
            lambda: it.ask("PUT", "/v1/threads/t/messages/ma", {"role": "user", "text": "b"}),
        ),
        1,
        0,
    ),
    ("DELETE", "/v1/threads/{thread}/messages/{message}"): (
        lambda it: prepared(
            lambda: it.say("a"), lambda: it.ask("DELETE", "/v1/threads/t/messages/ma")
        ),
        0,
        0,
    ),
    ("PUT", _ONE): (lambda it: it.put, 0, 1),
    ("DELETE", _ONE): (
        lambda it: prepared(it.put, lambda: it.ask("DELETE", "/v1/memories/Note/n")),
        0,
        0,
    ),
    ("POST", f"{_ONE}/reject"): (
        lambda it: prepared(it.put, lambda: it.ask("POST", "/v1/memories/Note/n/reject")),
        0,
        2,  # the memory, and that it is refused
    ),
    ("POST", f"{_ONE}/restore"): (
        lambda it: prepared(
            it.put,
            it.put,
            lambda: it.ask("POST", "/v1/memories/Note/n/restore", {"version": 1}),
        ),
        0,
        1,
    ),
    ("POST", "/v1/remember"): (
        lambda it: lambda: it.ask("POST", "/v1/remember", {"text": "Ada likes owls."}),
        0,
        1,
    ),
    ("POST", f"{_ONE}/end"): (
        lambda it: prepared(
            it.put,
            lambda: it.ask("POST", "/v1/memories/Note/n/end", {"at": "2030-01-01T00:00:00Z"}),
        ),
        0,
        1,
    ),
    ("POST", "/v1/undo"): (edit_to_undo, 0, 1),
    ("POST", f"{_ONE}/approve"): (
        lambda it: prepared(it.waiting, lambda: it.ask("POST", "/v1/memories/Note/w/approve")),
        0,
        1,
    ),
    ("PUT", "/v1/types"): (
        lambda it: (
            lambda: it.ask(
                "PUT",
                "/v1/types",
                {"types": [TRIP]},
            )
        ),
        0,
        1,
    ),
    ("POST", "/v1/types/check"): (
        lambda it: lambda: it.ask("POST", "/v1/types/check", {"types": []}),
        0,
        0,
    ),
    ("POST", "/v1/recall"): (lambda it: lambda: it.ask("POST", "/v1/recall", {"query": "x"}), 0, 0),
    ("DELETE", "/v1/recalls"): (lambda it: lambda: it.ask("DELETE", "/v1/recalls"), 0, 0),
    ("POST", "/v1/context"): (
        lambda it: lambda: it.ask("POST", "/v1/context", {"query": "x"}),
        0,
        0,
    ),
    ("POST", "/v1/form"): (lambda it: lambda: it.ask("POST", "/v1/form"), 0, 0),
    ("POST", "/v1/formation/pause"): (
        lambda it: prepared(lambda: it.say("a"), lambda: it.ask("POST", "/v1/formation/pause")),
        0,
        0,
    ),
    ("POST", "/v1/formation/resume"): (
        lambda it: prepared(lambda: it.say("a"), lambda: it.ask("POST", "/v1/formation/resume")),
        0,
        0,
    ),
    ("POST", "/v1/formation/retry"): (
        lambda it: prepared(
            lambda: it.say("a"), lambda: it.ask("POST", "/v1/formation/retry", {"thread": "t"})
        ),
        0,
        0,
    ),
    ("POST", "/v1/erase/preview"): (
        lambda it: prepared(
            it.put, lambda: it.ask("POST", "/v1/erase/preview", {"target": {"scope": True}})
        ),
        0,
        0,
    ),
    ("POST", "/v1/erase"): (lambda it: prepared(it.put, it.erased), 0, 0),
    ("POST", "/v1/memories/change"): (
        lambda it: prepared(
            it.put,
            lambda: it.ask(
                "POST",
                "/v1/memories/change",
                {"act": "end", "memories": [{"type": "Note", "key": "n", "version": 1}]},
            ),
        ),
        0,
        1,
    ),
    ("POST", "/v1/import/file"): (lambda it: it.imported_file, 2, 0),
    ("POST", "/v1/import"): (
        prepared_import,
        2,
        2,
    ),
    ("POST", "/v1/keys"): (
        lambda it: lambda: it.ask("POST", "/v1/keys", {"name": "k", "permissions": ["read"]}),
        0,
        0,
    ),
    ("POST", "/v1/keys/{id}/rotate"): (
        lambda it: (
            lambda: it.ask("POST", f"/v1/keys/{it.key.split('_')[1]}/rotate", {"overlap_s": 60})
        ),
        0,
        0,
    ),
    ("DELETE", "/v1/keys/{id}"): (key_to_go, 0, 0),
    ("POST", "/v1/chat"): (
        lambda it: lambda: it.ask("POST", "/v1/chat", {"thread": "c", "text": "Grüezi"}),
        2,
        0,
    ),
    # LangGraph's.
    ("PUT", "/store/items"): (
        lambda it: (
            lambda: it.ask(
                "PUT",
                "/store/items",
                {"namespace": ["a"], "key": "k", "value": {"ü": 1}, "ttl": 60},
            )
        ),
        0,
        1,
    ),
    ("DELETE", "/store/items"): (
        lambda it: lambda: it.ask("DELETE", "/store/items", {"namespace": ["a"], "key": "k"}),
        0,
        0,
    ),
    ("POST", "/store/items/search"): (
        lambda it: lambda: it.ask("POST", "/store/items/search", {"namespace_prefix": ["a"]}),
        0,
        0,
    ),
    ("POST", "/store/namespaces"): (
        lambda it: lambda: it.ask("POST", "/store/namespaces", {}),
        0,
        0,
    ),
    ("POST", "/assistants/search"): (
        lambda it: lambda: it.ask("POST", "/assistants/search", {}),
        0,
        0,
    ),
    ("POST", "/threads"): (lambda it: it.thread, 0, 1),
    ("POST", "/threads/search"): (lambda it: lambda: it.ask("POST", "/threads/search", {}), 0, 0),
    ("PATCH", "/threads/{thread_id}"): (
        lambda it: changed_thread(it, "PATCH", {"metadata": {"a": "ü"}}),
        0,
        1,
    ),
    ("DELETE", "/threads/{thread_id}"): (lambda it: changed_thread(it, "DELETE", None), 0, 0),
    # A run is a document, and notes itself in that of its thread, which is made with it.
    ("POST", "/runs"): (lambda it: lambda: it.ask("POST", "/runs", run_of("A boat.")), 1, 3),
    ("POST", "/runs/wait"): (
        lambda it: lambda: it.ask("POST", "/runs/wait", run_of("A boat.")),
        1,
        3,
    ),
    ("POST", _RUNS): (lambda it: posted_run(it, ""), 1, 2),
    ("POST", f"{_RUNS}/wait"): (lambda it: posted_run(it, "/wait"), 1, 2),
    ("POST", f"{_RUNS}/{{run_id}}/cancel"): (lambda it: of_run(it, "/cancel", "POST"), 0, 2),
    ("DELETE", f"{_RUNS}/{{run_id}}"): (lambda it: of_run(it, "", "DELETE"), 0, 0),
    # Those of mem0's client.
    ("POST", f"{_MEM0}/v3/memories/add/"): (lambda it: lambda: it.remembered(infer=True), 1, 0),
    ("POST", f"{_MEM0}/v3/memories/search/"): (
        lambda it: of_mem0(it, "POST", "/v3/memories/search/", {"query": "tea", **OF_ANYBODY}),
        0,
        0,
    ),
    ("POST", f"{_MEM0}/v3/memories/"): (
        lambda it: of_mem0(it, "POST", "/v3/memories/", OF_ANYBODY),
        0,
        0,
    ),
    ("POST", f"{_MEM0}/v1/memories/"): (
        lambda it: of_mem0(it, "POST", "/v1/memories/", {"messages": "Käse", "user_id": "ada"}),
        1,
        0,
    ),
    ("POST", f"{_MEM0}/v1/memories/search/"): (
        lambda it: of_mem0(it, "POST", "/v1/memories/search/", {"query": "tea", **OF_ANYBODY}),
        0,
        0,
    ),
    ("POST", f"{_MEM0}/v2/memories/search/"): (
        lambda it: of_mem0(it, "POST", "/v2/memories/search/", {"query": "tea", **OF_ANYBODY}),
        0,
        0,
    ),
    ("POST", f"{_MEM0}/v2/memories/"): (
        lambda it: of_mem0(it, "POST", "/v2/memories/", OF_ANYBODY),
        0,
        0,
    ),
    ("PUT", f"{_MEM0}/v1/memories/{{memory_id}}/"): (
        lambda it: of_mem0(it, "PUT", f"/v1/memories/{it.remembered()}/", {"text": "Käse"}),
        0,
        1,
    ),
    ("DELETE", f"{_MEM0}/v1/memories/{{memory_id}}/"): (
        lambda it: of_mem0(it, "DELETE", f"/v1/memories/{it.remembered()}/"),
        0,
        0,
    ),
    ("DELETE", f"{_MEM0}/v1/memories/"): (
        lambda it: of_mem0(it, "DELETE", "/v1/memories/?user_id=ada"),
        0,
        0,
    ),
    ("PUT", f"{_MEM0}/v1/batch/"): (
        lambda it: of_mem0(
            it, "PUT", "/v1/batch/", {"memories": [{"memory_id": it.remembered(), "text": "ü"}]}
        ),
        0,
        1,
    ),
    ("DELETE", f"{_MEM0}/v1/batch/"): (
        lambda it: of_mem0(
            it, "DELETE", "/v1/batch/", {"memories": [{"memory_id": it.remembered()}]}
        ),
        0,
        0,
    ),
    ("DELETE", f"{_MEM0}/v2/entities/{{kind}}/{{name}}/"): (
        # Of somebody of whom nothing is kept: with an erased scope its counts go.
        lambda it: of_mem0(it, "DELETE", "/v2/entities/user/nobody/"),
        0,
        0,
    ),
    # MCP's.
    ("MCP", "save_memory"): (lambda it: it.saved, 1, 1),
    ("MCP", "update_memory"): (lambda it: of_mcp(it, "update_memory"), 1, 1),
    # In which words the user agreed is kept.
    ("MCP", "erase_memory"): (lambda it: of_mcp(it, "erase_memory"), 1, 0),
    ("MCP", "search_memory"): (lambda it: of_mcp(it, "search_memory"), 0, 0),
    ("MCP", "context"): (lambda it: of_mcp(it, "context"), 0, 0),
    ("MCP", "profile"): (lambda it: of_mcp(it, "profile"), 0, 0),
}


def test_every_door_is_in_the_table() -> None:
    """A new route, or tool, that may write fails this test until its cost is said."""
    routes = {
        (method, route.path)
        for router in (*ROUTERS, *LANGGRAPH_ROUTERS, *MEM0_ROUTERS)
        for route in router.routes
        if isinstance(route, APIRoute) and is_guarded(route.path)
        for method in (route.methods or set()) - {"GET"}
    }

    assert routes | {("MCP", each) for each in TOOL_HINTS} == set(COSTS)


def service_over(store: str, **settings: Any) -> Any:
    """
    Run a service with all its doors, whose waits are short.

    Two doors wait for a run that nobody takes, as long as a request may; others need seconds on a
    busy machine.
    """
    return serving(
        store=store,
        model=RuleModel(),
        doors=lambda each: [mcp_door(each)],
        request_timeout_s=8,
        **settings,
    )


@pytest.fixture
def served(store: Fresh) -> Iterator[Served]:
    """Run a service without quotas."""
    with service_over(store("served")) as found:
        yield found


def used(served: Served, scope: Scope) -> Counts:
    """Return what was counted of a scope and those below."""
    memory = served.service.memory
    assert memory.loop is not None
    days = asyncio.run_coroutine_threadsafe(
        served.service.usage.days(scope[0]), memory.loop
    ).result(60)
    found = [counts for _, of, counts in days if of[: len(scope)] == scope]
    return {name: sum(each.get(name, 0) for each in found) for name in NOTHING}


def measured(served: Served, new_key: NewKey, case: tuple[str, str]) -> tuple[Counts, Counts]:
    """Return what one entry of the table wrote, and what was counted of it."""
    name = f"c{uuid4().hex[:8]}"
    door = Door(served=served, key=new_key(served, *PERMISSIONS, scope=(name,)), name=name)
    act = COSTS[case][0](door)
    root = ("acme", name)
    before, counted = door.do(lambda memory: everything(memory.store, root)), used(served, root)
    act()
    after, more = door.do(lambda memory: everything(memory.store, root)), used(served, root)
    return written(before, after), {each: more[each] - counted[each] for each in NOTHING}


@pytest.mark.parametrize("store", ["memory", "sqlite", "postgres", "redis"], indirect=True)
def test_every_door_is_counted_by_what_it_writes(served: Served, new_key: NewKey) -> None:
    """Messages, memories and bytes are those of what is kept afterwards, and was not before."""
    for case, (_, messages, memories) in COSTS.items():
        wrote, counted = measured(served, new_key, case)

        assert wrote == counted, case
        assert (messages, memories) == (wrote["messages"], wrote["memories"]), (case, wrote)
        assert bool(messages or memories) == bool(wrote["bytes"]), case


# Retries, refusals, and what is counted in between.


def test_a_retry_is_not_counted_twice(served: Served, new_key: NewKey) -> None:
    """Neither under its idempotency key, nor by the ids of what it holds."""
    door = Door(served=served, key=new_key(served, *PERMISSIONS, scope=("retry",)), name="retry")
    lines = door.exported()
    once, said_once = ({"headers": {"idempotency-key": each}} for each in ("once", "said"))
    body = {"messages": [{"role": "user", "text": "hello"}]}
    for _ in range(3):
        door.say("one", "zwölf")
        door.ask("POST", "/v1/threads/u/messages", body, **once)
        door.imported(lines, "copy")
        door.ask("POST", "/v1/chat", {"thread": "c", "text": "Hi"}, **said_once)

    found = used(served, ("acme", "retry"))

    # Said twice, once elsewhere; "hello"; two memories and their copies; a word and its answer.
    assert (2 + 2 + 1 + 2, 2 + 2) == (found["messages"], found["memories"])


LIMITS: Mapping[str, dict[str, int]] = {
    "messages": {"messages_a_day": 3},
    "memories": {"memories_a_day": 3},
    "bytes": {"bytes_a_day": 250},
}


@pytest.mark.parametrize("name", sorted(LIMITS))
def test_what_is_refused_counts_nothing(store: Fresh, name: str) -> None:
    """429 that says which quota and when the next day begins; nothing of it is kept."""
    with service_over(store("starting"), **LIMITS[name]) as served:
        door = Door(served=served, key=served.key, name="")
        headers = {"x-api-key": served.key}
        statuses: list[int] = []
        for number in range(12):
            before = door.do(lambda memory: everything(memory.store)), used(served, ("acme",))
            answers = [
                httpx.put(
                    f"{served.url}/v1/memories/Note/n{number}",
                    json={"value": NOTE},
                    headers=headers,
                ),
                httpx.post(
                    f"{served.url}/v1/threads/t/messages",
                    json={"messages": [{"role": "user", "text": "hello there"}]},
                    headers=headers,
                ),
            ]
            statuses += [each.status_code for each in answers]
            after = door.do(lambda memory: everything(memory.store)), used(served, ("acme",))
            wrote = written(before[0], after[0])
            assert wrote == {each: after[1][each] - before[1][each] for each in NOTHING}
            for each in answers:
                if each.status_code == 429:
                    problem = each.json()
                    assert f"{name}_a_day" in problem["detail"]
                    assert 1 < int(each.headers["retry-after"]) <= 86_400
        removed = httpx.delete(f"{served.url}/v1/memories/Note/n0", headers=headers)
        limit = next(iter(LIMITS[name].values()))

        assert 204 == removed.status_code
        assert 429 in statuses
        assert used(served, ("acme",))[name] <= limit


def test_those_who_write_at_once_share_what_is_left(store: Fresh) -> None:
    """Of forty that come together as many are let in as the quota has room for."""
    with service_over(store("starting"), memories_a_day=10) as served:

        def put(number: int) -> int:
            return httpx.put(
                f"{served.url}/v1/memories/Note/n{number}",
                json={"value": NOTE},
                headers={"x-api-key": served.key},
                timeout=60,
            ).status_code

        with ThreadPoolExecutor(20) as pool:
            statuses = list(pool.map(put, range(40)))

        assert 10 == statuses.count(201)
        assert 30 == statuses.count(429)


def test_an_erased_scope_is_forgotten_and_the_quota_is_not_given_back(store: Fresh) -> None:
    """The counts of a scope go with it; who erases cannot write the more for it."""
    with service_over(store("starting"), memories_a_day=2) as served:
        door = Door(served=served, key=served.key, name="")
        for key in ("a", "b"):
            door.ask("PUT", f"/v1/memories/Note/{key}?scope=ada", {"value": NOTE})
        assert 2 == used(served, ADA)["memories"]
        target = {"target": {"scope": True}}
        token = door.ask("POST", "/v1/erase/preview?scope=ada", target)["confirm"]
        door.ask("POST", "/v1/erase?scope=ada", {"confirm": token})

        over = httpx.put(
            f"{served.url}/v1/memories/Note/c?scope=ada",
            json={"value": NOTE},
            headers={"x-api-key": served.key},
        )

        assert 0 == used(served, ADA)["memories"]
        assert 429 == over.status_code


# Mutants: each is a fault that a test above must report.


def test_a_door_that_bypasses_the_meter_is_caught(
    store: Fresh, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a route is given the memory as it was opened, the table does not add up."""
    monkeypatch.setattr(opening, "metered", lambda memory, _: memory)

    with service_over(store("starting")) as served:
        wrote, counted = measured(served, new_key, ("PUT", "/store/items"))

    assert wrote != counted == NOTHING


def test_a_meter_that_counts_requests_is_caught(
    served: Served, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a retry brings is not what it writes."""

    async def change(self: MeteredStore, action: str, scope: Scope, plan: Any) -> Any:
        served.service.usage.add(scope, messages=1)
        return await self._store._change(action, scope, plan)

    monkeypatch.setattr(MeteredStore, "_change", change)

    with pytest.raises(AssertionError):
        test_a_retry_is_not_counted_twice(served, new_key)
