"""The memory graph: it keeps the messages of a run, and forms memories of those that are new."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph

from memory_service.configuration import Configuration
from memory_service.kept import ROOT, opened
from recollect import NewMessage, SyncRecollect
from recollect.errors import ConflictError
from recollect.integrations.langgraph.storable_messages import keepable
from recollect.messages import record_of
from recollect.records import JsonObject, Scope


def form(state: MessagesState, config: RunnableConfig) -> dict[str, object]:
    """Form memories of the user that the run names; a message that was formed is not again."""
    chosen = Configuration.of(config)
    scope = (*ROOT, *chosen.place)
    thread = str((config.get("configurable") or {}).get("thread_id", "talk"))
    settings: dict[str, Any] = {}
    if chosen.memory_types:
        settings["types"] = [dict(each) for each in chosen.memory_types]
    if chosen.memory_model:
        settings["model"] = chosen.memory_model
    memory = opened()
    records = [record_of(keepable(each)) for each in state["messages"]]
    try:
        memory.append(scope, thread, records, settings=settings or None)
    except ConflictError:  # one of them was edited since
        for each in records:
            keep(memory, scope, thread, each, settings)
    memory.form(scope, thread)
    return {}


def keep(
    memory: SyncRecollect, scope: Scope, thread: str, record: NewMessage, settings: JsonObject
) -> None:
    """Keep a message; one whose id is there with another content takes its place."""
    try:
        memory.append(scope, thread, [record], settings=settings or None)
    except ConflictError:
        memory.replace(scope, thread, record)


_builder = StateGraph(MessagesState)
_builder.add_node("form", form)
_builder.add_edge(START, "form")
_builder.add_edge("form", END)
graph = _builder.compile(name="memory_graph")
