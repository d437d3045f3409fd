"""An agent of LangChain is shown the profile of each speaker, under that speaker's name."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

import recollect
from recollect import SyncRecollect
from recollect.integrations.langchain.middleware import RecallMiddleware

ADA = ("users", "ada")
new_agent: Any = create_agent  # its own types are too many to be told apart here


class Requests(BaseCallbackHandler):
    """Keep the messages of each request to a chat model."""

    def __init__(self) -> None:
        self.seen: list[list[BaseMessage]] = []

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any
    ) -> None:
        self.seen.extend(messages)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SyncRecollect]:
    with recollect.open_sync(f"sqlite:///{tmp_path}/store.db", embedder="none") as memory:
        yield memory


def test_each_speakers_profile_is_shown_by_name(memory: SyncRecollect) -> None:
    """Of several people all profiles stand in the block, whatever is asked, each with a name."""
    memory.put(ADA, "User", "User", {"home": "Turku"})
    memory.put(ADA, "User", "@ines", {"home": "Turku"})
    model, requests = GenericFakeChatModel(messages=iter([AIMessage("Hello")])), Requests()
    agent = new_agent(model, tools=[], middleware=[RecallMiddleware(memory, ADA)])

    told = {"messages": [HumanMessage("Good morning")]}
    agent.invoke(told, {"configurable": {"thread_id": "one"}, "callbacks": [requests]})

    block, asked = requests.seen[-1][-1].text.rsplit("\n\n", 1)
    assert "Good morning" == asked
    assert ["# User", "- home: Turku", "# User of ines", "- home: Turku"] == [
        each.partition(" [")[0] for each in block.split("\n")[1:-1]
    ]
