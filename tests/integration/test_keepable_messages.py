"""No message stops an agent, and no query: what no store takes is kept and asked as it can be."""

from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import recollect
from recollect import NewMessage, SyncRecollect
from recollect.agents.examples import Examples
from recollect.integrations.langchain import (
    RecollectExampleSelector,
    RecollectRetriever,
    RecollectVectorStore,
)
from recollect.integrations.langchain.middleware import (
    ExamplesMiddleware,
    FormationMiddleware,
    RecallMiddleware,
)
from recollect.integrations.langgraph.storable_messages import keepable
from recollect.messages import text_of
from recollect.stores.validation import TEXT_CHARACTERS_MAX

new_agent: Any = create_agent  # its own types are too many to be told apart here
ADA = ("users", "ada")
RUN: Any = {"configurable": {"thread_id": "talk"}}
PHOTO = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_200_000}}
CUT = ("Hi " * 400_000)[:TEXT_CHARACTERS_MAX]


class Reader(GenericFakeChatModel):
    """Answers what it was given, and keeps its requests."""

    requests: list[list[BaseMessage]]

    def bind_tools(
        self, tools: Sequence[Any], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.requests.append(messages)
        return super()._generate(messages, *args, **kwargs)


def reader(*answers: AIMessage) -> Reader:
    return Reader(messages=iter(answers), requests=[])


@pytest.fixture
def memory() -> Iterator[SyncRecollect]:
    with recollect.open_sync(embedder="none", worker=False) as memory:
        yield memory


def kept_in(memory: SyncRecollect) -> list[tuple[str, str]]:
    return [(each.role, each.text) for each in memory.messages(ADA, "talk").rows]


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (HumanMessage("Hi\0"), "Hi\ufffd"),
        (HumanMessage("Hi\ud83d"), "Hi\ufffd"),
        (HumanMessage([{"type": "text", "text": "Hi\0"}]), "Hi\ufffd"),
        (HumanMessage([{"type": "text", "text": "Hi"}, PHOTO]), "Hi"),
        (HumanMessage("Hi", id="i" * 300), "Hi"),
        (HumanMessage("Hi", id="i\n"), "Hi"),
        (HumanMessage("Hi", additional_kwargs={"at": {"\0": nan}}), "Hi"),
        (HumanMessage("Hi " * 400_000), CUT),
    ],
)
def test_no_message_stops_an_agent(memory: SyncRecollect, message: HumanMessage, kept: str) -> None:
    """It is kept once, asked with, and not shown again where it stands."""
    model = reader(AIMessage("Hello"), AIMessage("Hello again"))
    shown = [RecallMiddleware(memory, ADA), ExamplesMiddleware(Examples(memory, ADA))]
    middleware = [*shown, FormationMiddleware(memory, ADA)]
    agent = new_agent(model, tools=[], middleware=middleware, checkpointer=InMemorySaver())

    agent.invoke({"messages": [message]}, RUN)
    agent.invoke({"messages": [HumanMessage("So?")]}, RUN)

    said = [("user", kept), ("assistant", "Hello"), ("user", "So?"), ("assistant", "Hello again")]
    assert said == kept_in(memory)
    assert message.content == model.requests[0][-1].content


@pytest.mark.parametrize(
    ("given", "kept"), [("y" * 1_200_000, "y" * TEXT_CHARACTERS_MAX), ("y\0", "y\ufffd")]
)
def test_no_result_of_a_tool_stops_an_agent(memory: SyncRecollect, given: str, kept: str) -> None:
    @tool
    def look(at: str) -> str:  # noqa: ARG001 (what a model says)
        """Look."""
        return given

    call = {"name": "look", "args": {"at": "\0"}, "id": "1"}
    model = reader(AIMessage("", tool_calls=[call]), AIMessage("So it is."))
    agent = new_agent(model, tools=[look], middleware=[FormationMiddleware(memory, ADA)])

    agent.invoke({"messages": [HumanMessage("Look")]}, RUN)

    said = [("user", "Look"), ("assistant", ""), ("tool", kept), ("assistant", "So it is.")]
    assert said == kept_in(memory)


def test_what_is_nested_too_deeply_is_left_out() -> None:
    """Whatever of a message it is in."""
    deep: dict[str, Any] = {}
    for _ in range(2_000):
        deep = {"in": deep}
    for message in (
        HumanMessage("Hi", additional_kwargs=deep),
        HumanMessage([{"type": "text", "text": "Hi"}, {"type": "other", "of": deep}]),
        AIMessage("Hi", tool_calls=[{"name": "look", "args": deep, "id": "1"}]),
    ):
        kept = keepable(message)

        assert (message.type, "Hi") == (kept.type, text_of(kept))


@pytest.mark.parametrize("query", ["tea " * 10_000, "tea\0", "tea\ud83d"])
def test_any_text_may_be_a_query(memory: SyncRecollect, query: str) -> None:
    """A chain asks with what a person said, whatever that is."""
    memory.append(ADA, "talk", [NewMessage(role="user", text="green tea")])
    store = RecollectVectorStore(memory, scope=("docs",))
    store.add_texts(["green tea"])
    examples = RecollectExampleSelector(Examples(memory, ("examples",)))
    examples.add_example({"input": "green tea", "output": "a drink"})

    assert ["green tea"] == shown(RecollectRetriever(memory=memory, scope=ADA).invoke(query))
    assert ["green tea"] == shown(store.similarity_search(query))
    assert ["a drink"] == [each["output"] for each in examples.select_examples({"input": query})]


def test_a_query_of_nothing_finds_nothing(memory: SyncRecollect) -> None:
    """As the vector store does, so that a tool that a model calls with nothing is no error."""
    memory.append(ADA, "talk", [NewMessage(role="user", text="green tea")])

    assert [] == RecollectRetriever(memory=memory, scope=ADA).invoke(" ")


def shown(documents: Sequence[Document]) -> list[str]:
    return [each.page_content for each in documents]
