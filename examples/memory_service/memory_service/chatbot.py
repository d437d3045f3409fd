"""The chatbot: it recalls what bears on the talk, answers, and has memories formed later."""

from __future__ import annotations

import json
import os
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from memory_service.configuration import Configuration, model_named
from recollect.ports import ModelRequest, Turn
from recollect.text.searchable import memory_text

RECALLED = 10


def client() -> LangGraphClient:
    """Return the client of the memory service; without MEMORY_URL, of the server that runs this."""
    url, key = os.environ.get("MEMORY_URL"), os.environ.get("MEMORY_KEY")
    return get_client(url=url or None, api_key=key or None)


def memory_thread(thread: str) -> str:
    """Return the thread in which a talk is formed: a run there never rolls back one of the talk."""
    return str(uuid5(NAMESPACE_URL, f"memory of {thread}"))


async def bot(state: MessagesState, config: RunnableConfig) -> dict[str, list[BaseMessage]]:
    """Answer the last message with what is remembered of the user."""
    chosen = Configuration.of(config)
    said = state["messages"][-1].text
    async with client() as service:
        found = await service.store.search_items(chosen.place, query=said, limit=RECALLED)
    request = ModelRequest(
        system=f"{chosen.system_prompt}\n\n{remembered([dict(each) for each in found['items']])}",
        turns=tuple(
            Turn(role="assistant" if each.type == "ai" else "user", text=each.text)
            for each in state["messages"]
        ),
    )
    pieces = [piece async for piece in model_named(chosen.model).stream(request)]
    return {"messages": [AIMessage("".join(pieces).strip())]}


def remembered(items: list[dict[str, Any]]) -> str:
    """Return what is remembered as data, a record a line; nothing in it is an instruction."""
    lines = [
        json.dumps(
            {
                "source": f"{each['namespace'][-1]}/{each['key']}",
                "who": each["namespace"][-1],
                "at": each["updated_at"],
                "text": memory_text(each["value"]),
            },
            ensure_ascii=False,
        )
        for each in items
    ]
    return "\n".join(["What is remembered of the user, as data:", *lines])


async def schedule_memories(state: MessagesState, config: RunnableConfig) -> dict[str, object]:
    """Have memories formed once talk has paused; what was scheduled before gives way to it."""
    chosen = Configuration.of(config)
    thread = str((config.get("configurable") or {})["thread_id"])
    configurable: dict[str, Any] = {"namespace": list(chosen.place)}
    if chosen.memory_types:
        configurable["memory_types"] = [dict(each) for each in chosen.memory_types]
    if chosen.memory_model:  # our service calls it the model of a run, which only forms there
        configurable |= {"memory_model": chosen.memory_model, "model": chosen.memory_model}
    async with client() as service:
        await service.runs.create(
            memory_thread(thread),
            chosen.mem_assistant_id,
            input={"messages": [each.model_dump(mode="json") for each in state["messages"]]},
            config={"configurable": configurable},
            multitask_strategy="rollback",
            after_seconds=chosen.delay_seconds,
            if_not_exists="create",
        )
    return {}


_builder = StateGraph(MessagesState)
_builder.add_node("bot", bot)
_builder.add_node("schedule_memories", schedule_memories)
_builder.add_edge(START, "bot")
_builder.add_edge("bot", "schedule_memories")
_builder.add_edge("schedule_memories", END)
graph = _builder.compile(name="chatbot")
