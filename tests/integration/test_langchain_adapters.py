"""Programs written for LangChain's memories run on ours after changing an import."""

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables.history import RunnableWithMessageHistory

import recollect
from recollect import NewMessage, SyncRecollect, UsageError
from recollect.conversation import BaseMemory as OurBaseMemory
from recollect.conversation import ChatHistory
from recollect.integrations.langchain import (
    RecollectChatMessageHistory,
    RecollectRetriever,
    RecollectVectorStore,
    runnable_of,
)
from recollect.integrations.langchain import memory as classic

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import langchain_classic.memory
    from langchain_classic.chains import ConversationChain, LLMChain

ADA = ("users", "ada")
pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")


@pytest.fixture
def memory() -> Iterator[SyncRecollect]:
    with recollect.open_sync(embedder="none", worker=False) as memory:
        yield memory


def model(*answers: str) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter(answers))


@pytest.mark.parametrize("name", sorted(set(langchain_classic.memory.__all__) - set(dir(classic))))
def test_an_import_of_what_is_not_here_says_what_to_take(name: str) -> None:
    """Of every name of the original: where only the import changes, this is the first error."""
    if name.startswith(("Motorhead", "ZepMemory")):  # clients of services of their own
        assert not hasattr(classic, name)
        return
    with pytest.raises(ImportError, match=f"there is no {name} in .*: use "):
        exec(f"from recollect.integrations.langchain.memory import {name}", {})  # noqa: S102


def test_a_conversation_chain_runs_on_ours() -> None:
    """Its prompt holds what was said before, and the turn is kept."""
    kept = classic.ConversationBufferMemory()
    chain = ConversationChain(llm=model("Hello Ada", "You are Ada"), memory=kept)

    chain.predict(input="I am Ada")
    assert "You are Ada" == chain.predict(input="Who am I?")

    said = "Human: I am Ada\nAI: Hello Ada\nHuman: Who am I?\nAI: You are Ada"
    assert {"history": said} == kept.load_memory_variables({})
    assert said == kept.buffer
    kept.return_messages = True
    assert [HumanMessage("I am Ada"), AIMessage("Hello Ada")] == kept.buffer[:2]


async def test_an_llm_chain_runs_on_ours_from_a_loop() -> None:
    """By the awaited face, with a memory of several parts within one budget."""
    prompt = PromptTemplate.from_template("{tone}\n{near}\n{question}")
    parts = [
        classic.ConversationBufferWindowMemory(k=1, memory_key="near", input_key="question"),
        classic.SimpleMemory(memories={"tone": "brief"}),
    ]
    both = classic.CombinedMemory(memories=parts)
    chain = LLMChain(llm=model("one", "two"), prompt=prompt, memory=both)

    await chain.ainvoke({"question": "first"})
    await chain.ainvoke({"question": "second"})

    expected = {"near": "Human: second\nAI: two", "tone": "brief"}
    assert expected == await both.aload_memory_variables({"question": "x"})
    assert expected == classic.ReadOnlySharedMemory(both).load_memory_variables({"question": "x"})


def test_the_memories_that_ask_a_model_have_the_originals_names() -> None:
    """Summary, summary buffer and entity: a program changes nothing but the import."""
    asked = FakeListLLM(responses=["Ada sails.", "Ada", "Ada sails."])
    begun = RecollectChatMessageHistory()
    begun.add_messages([HumanMessage("I sail"), AIMessage("Lovely")])

    summary = classic.ConversationSummaryMemory.from_messages(asked, begun, summarize_step=2)
    entity = classic.ConversationEntityMemory(
        llm=asked, k=1, entity_store=classic.InMemoryEntityStore()
    )
    both = classic.ConversationSummaryBufferMemory(llm=asked, max_token_limit=500)
    entity.load_memory_variables({"input": "Ada sails"})
    for each in (entity, both):
        each.save_context({"input": "Ada sails"}, {"output": "I see"})

    assert isinstance(summary, classic.ConversationSummaryMemory)
    assert {"history": "Ada sails."} == summary.load_memory_variables({})
    assert "Ada sails." == entity.entity_store.get("Ada")
    assert {"history": "Human: Ada sails\nAI: I see"} == both.load_memory_variables({})


@pytest.mark.parametrize(
    "name",
    [
        "ConversationSummaryMemory",
        "ConversationSummaryBufferMemory",
        "ConversationEntityMemory",
        "ConversationKGMemory",
    ],
)
def test_a_memory_that_asks_a_model_runs_in_a_chain(name: str) -> None:
    """Under its own name, over the chain's own inputs."""
    kept = getattr(classic, name)(llm=FakeListLLM(responses=["(Ada, is, here)"]))
    prompt = PromptTemplate.from_template(f"{{{kept.memory_variables[0]}}}{{input}}")
    chain = LLMChain(llm=model("Hello", "Yes"), prompt=prompt, memory=kept)

    assert ["Hello", "Yes"] == [chain.predict(input="I am Ada") for _ in range(2)]
    assert 4 == len(kept.chat_memory.messages)


async def test_a_summary_memory_is_made_of_messages() -> None:
    """The class has the constructor of the original, and what it makes is of the class."""
    history = ChatHistory()
    await history.aadd_messages(["I am Ada.", "I paint."])
    asked = FakeListLLM(responses=["Ada paints."])

    made = await classic.ConversationSummaryMemory.afrom_messages(asked, history)

    assert isinstance(made, classic.ConversationSummaryMemory)
    assert {"history": "Ada paints."} == await made.aload_memory_variables({})
    again = classic.ConversationSummaryMemory.from_messages(asked, history, memory_key="sum")
    assert {"sum": "Ada paints."} == again.load_memory_variables({})


def test_a_memory_of_ones_own_is_adapted() -> None:
    """Any memory that keeps our contract stands where a chain wants one of LangChain's."""

    class Greeting(OurBaseMemory):
        memory_variables = ["history"]  # noqa: RUF012 (short, for a test)

        def load_memory_variables(self, inputs):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            return {"history": "Human: Hello"}

        async def aload_memory_variables(self, inputs):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            return {"history": "Human: Hello"}

        def save_context(self, inputs, outputs):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Keep nothing."""

        async def asave_context(self, inputs, outputs):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            """Keep nothing."""

        def clear(self) -> None:
            """Remove nothing."""

        async def aclear(self) -> None:
            """Remove nothing."""

    chain = ConversationChain(llm=model("Hi"), memory=classic.ClassicMemory(Greeting()))

    assert "Hi" == chain.predict(input="And?")


def test_a_runnable_remembers_by_session(memory: SyncRecollect) -> None:
    """`RunnableWithMessageHistory` keeps each session in a thread of its own."""
    prompt = ChatPromptTemplate.from_messages(
        [MessagesPlaceholder("history"), ("human", "{input}")]
    )
    chain = RunnableWithMessageHistory(
        prompt | model("Hello Ada", "Hello Bob", "You are Ada"),
        lambda session: RecollectChatMessageHistory(memory, ADA, session),
        input_messages_key="input",
        history_messages_key="history",
    )

    for session, said in (("one", "I am Ada"), ("two", "I am Bob"), ("one", "Who am I?")):
        chain.invoke({"input": said}, {"configurable": {"session_id": session}})

    texts = [each.text for each in memory.messages(ADA, "one").rows]
    assert ["I am Ada", "Hello Ada", "Who am I?", "You are Ada"] == texts
    assert ["I am Bob", "Hello Bob"] == [each.text for each in memory.messages(ADA, "two").rows]


async def test_a_retriever_says_where_a_document_is_from(memory: SyncRecollect) -> None:
    """And for a memory, what it is."""
    memory.append(ADA, "talk", [NewMessage(role="user", text="My parrot is called Kiki", id="m1")])
    memory.put(ADA, "Item", "pet", {"pet": "parrot"})
    retriever = RecollectRetriever(memory=memory, scope=ADA)

    found = await retriever.ainvoke("parrot", k=2)

    assert {"talk/m1", "Item/pet"} == {each.metadata["source"] for each in found}
    about = {each.metadata["source"]: each.metadata for each in found}
    assert ("user", "talk") == (about["talk/m1"]["role"], about["talk/m1"]["thread"])
    assert ({"pet": "parrot"}, 1) == (about["Item/pet"]["value"], about["Item/pet"]["version"])
    assert found == retriever.invoke("parrot", k=2)


@pytest.mark.parametrize("scope", ["ada", ["ada"], ("acme", 42)])
def test_a_retriever_and_a_vector_store_take_a_scope_in_every_form(
    memory: SyncRecollect, scope: Any
) -> None:
    """As the histories and memories beside them do, also after a document was added."""
    store = RecollectVectorStore(memory, scope)
    store.add_texts(["Ada keeps a parrot."], ids=["parrot"])

    assert ["parrot"] == [each.id for each in store.similarity_search("parrot")]
    (found,) = RecollectRetriever(memory=memory, scope=scope).invoke("parrot")
    assert "Item/parrot" == found.metadata["source"]


def test_a_retriever_refuses_what_it_does_not_have(memory: SyncRecollect) -> None:
    """A limit in `search_kwargs` would be ignored otherwise, and an empty scope be read."""
    with pytest.raises(ValueError, match=r"search_kwargs\n.*not permitted"):
        RecollectRetriever(memory=memory, scope=ADA, search_kwargs={"k": 1})  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="at least one segment"):
        RecollectRetriever(memory=memory, scope=())


def test_a_retriever_of_a_vector_store_serves_the_vector_memory(memory: SyncRecollect) -> None:
    """The original's way: documents in a store, found through its retriever."""
    store = RecollectVectorStore(memory, ADA)
    kept = classic.VectorStoreRetrieverMemory(retriever=store.as_retriever(search_kwargs={"k": 1}))

    kept.save_context({"input": "I took up rowing"}, {"output": "On the lake?"})
    kept.save_context({"input": "It rains"}, {"output": "Still"})

    text = "input: I took up rowing\noutput: On the lake?"
    assert {"history": text} == kept.load_memory_variables({"prompt": "Do I do any rowing?"})


def test_a_rejected_document_is_not_found_by_its_id(memory: SyncRecollect) -> None:
    """Nor by a search."""
    store = RecollectVectorStore(memory, ADA)
    store.add_texts(["Ada keeps a parrot.", "Ada rows a boat."], ids=["parrot", "boat"])
    memory.reject(ADA, "Item", "parrot")

    found = store.get_by_ids(["parrot", "boat"])

    assert ["boat"] == [each.id for each in found]
    assert ["boat"] == [each.id for each in store.similarity_search("Ada", k=9)]


def test_an_empty_store_of_its_own_type_finds_nothing(memory: SyncRecollect) -> None:
    """Its name may look like that of a known type: it is the store's choice, and no slip."""
    assert [] == RecollectVectorStore(memory, ADA, type_="Items").similarity_search("red dog")


def test_documents_are_found_within_a_filter(memory: SyncRecollect) -> None:
    """On their metadata; of another type or scope nothing is found."""
    store = RecollectVectorStore(memory, ADA)
    store.add_texts(["red fox", "red hen"], [{"page": 1}, {"page": 2}], ids=["a", "b"])
    RecollectVectorStore(memory, ("users", "bob")).add_texts(["red cat"])
    RecollectVectorStore(memory, ADA, type_="Page").add_texts(["red dog"])

    found = store.similarity_search("red", k=9, filter={"page": {"$gt": 1}})

    assert [Document(id="b", page_content="red hen", metadata={"page": 2})] == found
    assert {"red fox", "red hen"} == {d.page_content for d in store.similarity_search("red", k=9)}
    assert [] == store.similarity_search(" ")
    with pytest.raises(UsageError, match="2 texts have 1 metadatas"):
        store.add_texts(["a", "b"], [{}])
    with pytest.raises(UsageError, match="memory=… and scope=…"):
        RecollectVectorStore.from_texts(["a"], embedding=None)  # type: ignore[arg-type]


def test_functions_over_messages_are_steps_of_a_chain() -> None:
    """With their options; lists in, lists out."""

    def newest(messages: list[object], *, count: int) -> list[object]:
        return messages[-count:]

    step = runnable_of(newest, count=1)

    assert [HumanMessage("two")] == step.invoke([HumanMessage("one"), HumanMessage("two")])


@pytest.fixture
def shelf() -> Iterator[RecollectVectorStore]:
    """Four documents with vectors; two of them say nearly the same."""
    with recollect.open_sync(embedder="minilm") as memory:
        store = RecollectVectorStore(memory, ADA)
        store.add_texts(
            ["Ada keeps a parrot.", "Ada keeps a parrot!", "Ada rows a boat.", "Taxes are due."],
            [{"page": 1}, {"page": 2}, {"page": 3}, {"page": 4}],
            ids=["one", "again", "boat", "taxes"],
        )
        memory.settled(ADA)
        yield store


def test_documents_are_found_by_a_vector(shelf: RecollectVectorStore) -> None:
    with recollect.open_sync(embedder="minilm") as other:
        other.put(ADA, "Item", "q", {"page_content": "Ada keeps a parrot."})
        other.settled(ADA)
        (near,) = other.nearest(ADA, "Ada keeps a parrot.", type_="Item")

    found = shelf.similarity_search_by_vector([float(each) for each in near.vector], k=2)

    assert {"one", "again"} == {each.id for each in found}


def test_different_documents_come_before_repeats(shelf: RecollectVectorStore) -> None:
    asked = "What does Ada keep?"

    alike = shelf.max_marginal_relevance_search(asked, k=2, lambda_mult=1)
    different = shelf.as_retriever(
        search_type="mmr", search_kwargs={"k": 2, "lambda_mult": 0.3}
    ).invoke(asked)

    assert {"one", "again"} == {each.id for each in alike}
    assert not {"one", "again"} <= {each.id for each in different}


def test_a_threshold_leaves_out_what_is_far(shelf: RecollectVectorStore) -> None:
    retriever = shelf.as_retriever(
        search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.6, "k": 4}
    )

    assert {"one", "again"} == {each.id for each in retriever.invoke("Ada keeps parrots")}


async def test_a_function_filters_documents(shelf: RecollectVectorStore) -> None:
    def late(document: Document) -> bool:
        return bool(document.metadata["page"] > 2)

    found = shelf.similarity_search("Ada", k=1, filter=late)
    near = await shelf.amax_marginal_relevance_search("a parrot of Ada's", k=4, filter=late)

    assert ["boat"] == [each.id for each in found]
    assert {"boat", "taxes"} == {each.id for each in near}


def test_without_an_embedder_nothing_is_near(memory: SyncRecollect) -> None:
    with pytest.raises(UsageError, match="open the memory with an embedder"):
        RecollectVectorStore(memory, ADA).similarity_search_by_vector([1.0, 0.0])
