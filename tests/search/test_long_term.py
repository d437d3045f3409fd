"""Documents go to the search, everything else to its key."""

from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import UsageError
from recollect.conversation import LongTermMemory, MessageType, chain_inputs, keep_outputs
from recollect.integrations.search import (
    ChromaDBSearch,
    ChromaDoc,
    LanceDBDoc,
    LanceDBSearch,
    RecollectSearch,
)
from recollect.testing.hashed_embedder import HashedEmbedder

OSLO = "Oslo is the capital of Norway."
TEA = "Green tea is brewed at eighty degrees."


@pytest.fixture
def search(tmp_path: Path) -> ChromaDBSearch:
    return ChromaDBSearch(path=str(tmp_path), encoder=HashedEmbedder())


@pytest.fixture
def memory(search: ChromaDBSearch) -> LongTermMemory:
    return LongTermMemory(long_term_memory=search)


def test_documents_are_found_with_the_key_as_the_query(memory: LongTermMemory) -> None:
    memory.save_memory("facts", [ChromaDoc(OSLO, {}), ChromaDoc(TEA, {})])

    assert memory.load_memory("capital of Norway") == f"Doc 0: {OSLO}"
    assert len(memory.load_memory("green tea", top_k=2).splitlines()) == 2


def test_a_value_at_the_key_goes_before_documents(memory: LongTermMemory) -> None:
    """Also one that is empty or null; and documents are no values."""
    memory.save_memory("facts", [ChromaDoc(OSLO, {})])
    memory.save_memory("capital of Norway", None)
    memory.save_memory("Norway", ["a list", "of texts"])

    assert memory.load_memory("capital of Norway", "default") is None
    assert memory.load_memory("Norway") == ["a list", "of texts"]
    assert memory.load_memory() == {"capital of Norway": None, "Norway": ["a list", "of texts"]}


def test_nothing_found_is_the_default(memory: LongTermMemory) -> None:
    assert memory.load_memory("capital", "default") == "default"
    assert memory.load_memory("  ", "default") == "default"


def test_far_documents_are_left_out_if_asked_for(search: ChromaDBSearch) -> None:
    """By default the nearest document is returned, as AutoChain does, however far it is."""
    search.add_docs([ChromaDoc(TEA)])
    near = LongTermMemory(long_term_memory=search, similarity_min=0.3)

    assert LongTermMemory(long_term_memory=search).load_memory("quantum physics", "none") != "none"
    assert near.load_memory("quantum physics", "none") == "none"
    assert near.load_memory("brewed green tea") == f"Doc 0: {TEA}"


def test_the_steps_of_a_chain_are_never_a_document(memory: LongTermMemory) -> None:
    """Nor is the input of a tool that was never used."""
    memory.save_memory("facts", [ChromaDoc("The intermediate_steps of a chain", {})])

    inputs = chain_inputs(memory, "Hello")
    assert inputs["intermediate_steps"] == []
    assert memory.load_memory("intermediate_steps", []) == []
    assert memory.load_value("chain") is None
    keep_outputs(memory, {"message": "Hi", "intermediate_steps": [{"tool": "t"}]})
    assert memory.load_memory("intermediate_steps") == [{"tool": "t"}]


@pytest.mark.parametrize("value", [[ChromaDoc(OSLO), "text"], ["text", ChromaDoc(OSLO)]])
def test_documents_and_something_else_are_refused(
    memory: LongTermMemory, search: ChromaDBSearch, value: list[Any]
) -> None:
    with pytest.raises(UsageError, match="save them separately"):
        memory.save_memory("mixed", value)
    assert search.search("Oslo") == []


def test_an_empty_list_is_a_value(memory: LongTermMemory) -> None:
    memory.save_memory("steps", [])

    assert memory.load_memory("steps", "default") == []


def test_clearing_takes_values_conversation_and_documents(
    memory: LongTermMemory, search: ChromaDBSearch
) -> None:
    memory.save_memory("facts", [ChromaDoc(OSLO, {})])
    memory.save_memory("city", "Oslo")
    memory.save_conversation("Hello", MessageType.UserMessage)

    memory.clear()

    assert search.search("capital of Norway") == []
    assert memory.load_memory() == {}
    assert len(memory.load_conversation()) == 0


async def test_the_awaited_face_does_the_same(tmp_path: Path) -> None:
    """Over one awaited memory, which has values, conversation and documents."""
    path = str(tmp_path / "a.db")
    async with recollect.open(path, embedder=HashedEmbedder(), worker=False) as opened:
        search = RecollectSearch(opened, ("users", "ada"))
        memory = LongTermMemory(opened, ("users", "ada"), "talk", long_term_memory=search)
        await memory.asave_memory("facts", [LanceDBDoc(OSLO), LanceDBDoc(TEA)])
        await memory.asave_memory("city", "Oslo")

        assert await memory.aload_memory("capital of Norway") == f"Doc 0: {OSLO}"
        assert await memory.aload_memory("city") == "Oslo"
        assert await memory.aload_memory() == {"city": "Oslo"}
        assert await memory.aload_value("capital of Norway") is None
        await memory.aclear()
        assert await memory.aload_memory("capital of Norway", "default") == "default"
        assert await memory.aload_memory("  ", "default") == "default"


def test_a_search_over_the_same_memory_does_not_block(tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    with recollect.open_sync(path, embedder="none", worker=False) as opened:
        search = RecollectSearch(opened, ("users", "ada"))
        memory = LongTermMemory(
            opened, ("users", "ada"), "talk", long_term_memory=search, similarity_min=0.5
        )
        memory.save_memory("facts", [LanceDBDoc(OSLO)])

        with pytest.raises(UsageError, match="similarity_min"):
            memory.load_memory("capital of Norway")
        memory.similarity_min = None
        assert memory.load_memory("capital of Norway") == f"Doc 0: {OSLO}"


def test_another_index_does_the_same(tmp_path: Path) -> None:
    search = LanceDBSearch(uri=tmp_path, encoder=HashedEmbedder())
    memory = LongTermMemory(long_term_memory=search, kv_memory={"city": "Oslo"})
    memory.save_memory("facts", [LanceDBDoc(OSLO), LanceDBDoc(TEA)])

    assert memory.load_memory("capital of Norway") == f"Doc 0: {OSLO}"
    assert memory.load_memory("city") == "Oslo"
