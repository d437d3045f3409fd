"""A story over HTTP that makes every request: what it asked and was told are the API's examples."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

import recollect
from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.records import PutMemory
from recollect.server.http.openapi import operations
from recollect.server.testing import Served, serving

EXAMPLES: Final = Path(recollect.__file__).parent / "server" / "http" / "api_examples.json"
ADA: Final = {"scope": ["users", "ada"]}
HOLIDAYS: Final = "holidays"
THREAD: Final = "7f3c2a56-58d5-4d4a-9f64-5a37d3c0a001"
FACT: Final = {"subject": "Ada", "predicate": "lives in", "object": "Oslo"}
NOTE: Final = {"context": "travel", "content": "Ada likes trains."}
TRIP: Final = {
    "name": "Trip", "description": "A journey that the user plans.", "update_mode": "insert",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
}  # fmt: skip
TEXT_CHARACTERS: Final = 160
LIST_ROWS: Final = 2
STREAM_CHARACTERS: Final = 600
_SECRET: Final = re.compile(r"rk_[\w-]{20,}")
_READ_BYTES: Final = 2_000


class Recorder:
    """Makes requests, and keeps of each operation the first that went well."""

    def __init__(self, client: httpx.Client, document: Mapping[str, Any]) -> None:
        self.examples: dict[str, dict[str, Any]] = {}
        self._client = client
        self._operations = list(operations(document))

    def ask(self, method: str, path: str, *, is_example: bool = True, **more: Any) -> Any:
        """Make a request to a route, in whose *path* names stand as ``{name:value}``."""
        names = dict(re.findall(r"\{(\w+):([^}]*)\}", path))
        route = re.sub(r"\{(\w+):[^}]*\}", r"{\1}", path)
        given = more.pop("params", {})
        query = {**ADA, **given} if path.startswith("/v1") else given
        address = re.sub(r"\{\w+:([^}]*)\}", r"\1", path)
        with self._client.stream(method, address, params=query, **more) as answer:
            text = self._told(answer)
        assert answer.is_success, (method, address, answer.status_code, text)
        id_ = next(
            each["operationId"]
            for way, at, each in self._operations
            if (way, at) == (method.lower(), route)
        )
        kind = answer.headers.get("content-type", "").partition(";")[0]
        told = json.loads(text) if kind == "application/json" and text else text or None
        if is_example:
            self.examples.setdefault(
                id_,
                {
                    "path": names,
                    "query": query,
                    "body": more.get("json"),
                    "status": answer.status_code,
                    "answer": shortened(told, STREAM_CHARACTERS),
                },
            )
        return told

    @staticmethod
    def _told(answer: httpx.Response) -> str:
        """Return an answer; of a stream without an end, what comes first."""
        if not answer.url.path.endswith("/changes"):
            return answer.read().decode()
        for part in answer.iter_text():
            if "id:" in part:
                return part
        return ""


def shortened(told: Any, characters: int = TEXT_CHARACTERS) -> Any:
    """Return an answer that is short enough to be read, without secrets."""
    if isinstance(told, str):
        shown = _SECRET.sub("rk_0123456789abcdef_EXAMPLE", told)
        return shown if len(shown) <= characters else f"{shown[:characters]}…"
    if isinstance(told, list):
        return [shortened(each) for each in told[:LIST_ROWS]]
    if isinstance(told, dict):
        return {name: shortened(each) for name, each in told.items()}
    return told


def play(recorder: Recorder, quarantine: Callable[[str], None]) -> None:
    """Make every request of the service once at least."""
    for chapter in (_talk, _remember, _decide, _form, _look, _administer, _follow_langgraph, _end):
        chapter(recorder.ask, quarantine)


Ask = Callable[..., Any]
Quarantine = Callable[[str], None]


def _talk(ask: Ask, _: Quarantine) -> None:
    said = [
        {"role": "user", "text": "I moved to Oslo.", "name": "Ada", "id": "m1"},
        {"role": "assistant", "text": "How is it there?", "id": "m2"},
    ]
    ask("POST", "/v1/threads/{thread:holidays}/messages", json={"messages": said})
    better = {"role": "assistant", "text": "How do you like it there?"}
    ask("PUT", "/v1/threads/{thread:holidays}/messages/{message:m2}", json=better)
    ask("GET", "/v1/threads")
    ask("GET", "/v1/threads/{thread:holidays}")
    ask("GET", "/v1/threads/{thread:holidays}/messages", params={"limit": 2})
    ask("DELETE", "/v1/threads/{thread:holidays}/messages/{message:m2}")


def _remember(ask: Ask, _: Quarantine) -> None:
    value = {"value": FACT, "valid_from": "2026-05-01T00:00:00Z"}
    ask("PUT", "/v1/memories/{type:Fact}/{key:home}", json=value)
    ask("PUT", "/v1/memories/{type:Note}/{key:trains}", is_example=False, json={"value": NOTE})
    ask("POST", "/v1/remember", json={"text": "Ada drinks tea.", "context": "breakfast"})
    ask("GET", "/v1/memories", params={"order": "newest", "limit": 2})
    ask("GET", "/v1/memories/{type:Fact}/{key:home}")
    ask("GET", "/v1/memories/{type:Fact}/{key:home}/history")
    ask("POST", "/v1/recall", json={"query": "Where does Ada live?", "limit": 2})
    context = {"query": "Where does Ada live?", "thread": HOLIDAYS, "budget_tokens": 400}
    ask("POST", "/v1/context", json=context)
    ask("GET", "/v1/memories/{type:Fact}/{key:home}/recalls")
    ask("GET", "/v1/overview")
    ask("DELETE", "/v1/recalls")
    ask("GET", "/v1/graph", params={"entity": "Ada"})


def _decide(ask: Ask, quarantine: Quarantine) -> None:
    quarantine("first")
    later = {"value": {**NOTE, "content": "Ada likes night trains."}}
    ask("PUT", "/v1/memories/{type:Note}/{key:later}", is_example=False, json=later)
    ask("GET", "/v1/review")
    ask("DELETE", "/v1/memories/{type:Note}/{key:later}", is_example=False)
    ask("POST", "/v1/memories/{type:Note}/{key:first}/approve")
    ask("POST", "/v1/memories/{type:Note}/{key:first}/reject", json={"pointer": ""})
    ask("POST", "/v1/memories/{type:Note}/{key:first}/restore", json={"version": 1})
    end = {"at": "2026-06-01T00:00:00Z"}
    ask("POST", "/v1/memories/{type:Note}/{key:trains}/end", json=end)
    change = {"act": "delete", "memories": [{"type": "Note", "key": "trains", "version": 2}]}
    made = ask("POST", "/v1/memories/change", params={"undo": True}, json=change)
    ask("POST", "/v1/undo", json={"undo": made["undo"]})
    ask("DELETE", "/v1/memories/{type:Note}/{key:trains}")


def _form(ask: Ask, _: Quarantine) -> None:
    ask("GET", "/v1/formation/pending")
    ask("POST", "/v1/formation/pause", json={"thread": HOLIDAYS})
    ask("POST", "/v1/formation/resume", json={"thread": HOLIDAYS})
    found = ask("POST", "/v1/form", json={"thread": HOLIDAYS})
    ask("GET", "/v1/formations", params={"limit": 1})
    ask("GET", f"/v1/formations/{{formation:{found['formations'][0]['id']}}}")
    ask("POST", "/v1/formation/retry", json={"thread": HOLIDAYS})
    ask("POST", "/v1/types/check", json={"types": [TRIP]})
    ask("PUT", "/v1/types", json={"types": [TRIP]})
    ask("GET", "/v1/types")
    ask("POST", "/v1/chat", json={"thread": HOLIDAYS, "text": "Where do I live?"})


def _look(ask: Ask, _: Quarantine) -> None:
    for path in ("me", "scopes", "usage", "audit", "audit/verify", "health", "changes"):
        ask("GET", f"/v1/{path}")
    for path in ("/health/live", "/health/ready", "/metrics", "/ok", "/info"):
        ask("GET", path)


def _administer(ask: Ask, _: Quarantine) -> None:
    kept = ask("GET", "/v1/export")
    lines = {"content-type": "application/x-ndjson"}
    ask("POST", "/v1/import", params={"scope": ["copy"]}, content=kept, headers=lines)
    chat = json.dumps([{"role": "user", "content": "I moved to Oslo."}])
    file = {"content-type": "application/octet-stream"}
    name = {"name": "chat.json"}
    ask("POST", "/v1/import/file", params=name, content=chat, headers=file)
    key = {"name": "chat", "permissions": ["read", "write"]}
    made = ask("POST", "/v1/keys", json=key)
    ask("GET", "/v1/keys")
    ask("POST", f"/v1/keys/{{id:{made['id']}}}/rotate", json={"overlap_s": 60})
    ask("DELETE", f"/v1/keys/{{id:{made['id']}}}")


def _follow_langgraph(ask: Ask, _: Quarantine) -> None:
    place = {"namespace": ["users", "ada"], "key": "tea"}
    ask("PUT", "/store/items", json={**place, "value": {"text": "Ada drinks tea."}})
    ask("GET", "/store/items", params={"namespace": "users.ada", "key": "tea"})
    ask("POST", "/store/items/search", json={"namespace_prefix": ["users"], "limit": 2})
    ask("POST", "/store/namespaces", json={"max_depth": 2, "limit": 2})
    ask("DELETE", "/store/items", json=place)
    (assistant, *_) = ask("POST", "/assistants/search", json={"limit": 1})
    assistant_id = assistant["assistant_id"]
    ask("GET", f"/assistants/{{assistant_id:{assistant_id}}}")
    thread = f"/threads/{{thread_id:{THREAD}}}"
    ask("POST", "/threads", json={"thread_id": THREAD, "metadata": {"user": "ada"}})
    ask("POST", "/threads/search", json={"limit": 1})
    ask("GET", thread)
    ask("PATCH", thread, json={"metadata": {"user": "ada", "plan": "Oslo"}})
    messages = [{"role": "user", "content": "I moved to Oslo."}]
    run = {"assistant_id": assistant_id, "input": {"messages": messages}}
    later = ask("POST", f"{thread}/runs", json={**run, "after_seconds": 600})
    one = f"{thread}/runs/{{run_id:{later['run_id']}}}"
    ask("GET", f"{thread}/runs")
    ask("GET", one)
    ask("POST", f"{one}/cancel")
    # At once, so that there is nothing to wait for but the formation.
    now = {**run, "after_seconds": 0}
    ask("POST", f"{thread}/runs/wait", json=now)
    alone = {**now, "config": {"configurable": {"user_id": "ada"}}}
    ask("POST", "/runs/wait", json=alone)
    ask("POST", "/runs", json=alone)
    ask("GET", f"{one}/join")
    ask("GET", f"{thread}/state")
    ask("DELETE", one)
    ask("DELETE", thread)


def _end(ask: Ask, _: Quarantine) -> None:
    shown = ask("POST", "/v1/erase/preview", json={"target": {"thread": HOLIDAYS}})
    ask("POST", "/v1/erase", json={"confirm": shown["confirm"]})
    ask("GET", "/v1/erase/receipts")


@contextmanager
def story_service() -> Iterator[Served]:
    """Run the service of the story, with the model of rules."""
    model = RuleModel()

    def opened() -> Any:
        # With a worker: a run that is waited for is formed by it.
        return recollect.open("memory:", embedder="none", model=model)

    with serving(opened, model=model, assistants=Assistants(default=FormationSettings())) as served:
        yield served


def recorded() -> dict[str, dict[str, Any]]:
    """Return the example of each operation, by its id."""
    with story_service() as served:
        memory = served.service.memory

        def quarantine(key: str) -> None:
            put = PutMemory(type="Note", key=key, value=NOTE, state="quarantined")
            assert memory.loop is not None
            write = memory.apply(("acme", "users", "ada"), [put])
            asyncio.run_coroutine_threadsafe(write, memory.loop).result()

        headers = {"x-api-key": served.key}
        with httpx.Client(base_url=served.url, headers=headers, timeout=30.0) as client:
            recorder = Recorder(client, served.app.openapi())
            play(recorder, quarantine)
        return recorder.examples


def main() -> None:
    """Write the examples of the API."""
    found = dict(sorted(recorded().items()))
    EXAMPLES.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
