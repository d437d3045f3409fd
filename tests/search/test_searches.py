"""The searches over documents: what all of them do, each in its own real index."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import pinecone
import pytest

import recollect
from recollect import SyncRecollect, UsageError
from recollect.conversation import DocumentSearch, SearchDocument
from recollect.errors import MissingKeyError
from recollect.integrations.search import (
    ChromaDBSearch,
    ChromaDoc,
    LanceDBDoc,
    LanceDBSearch,
    PineconeSearch,
    RecollectDoc,
    RecollectSearch,
    chroma,
    pinecone_index,
)
from recollect.integrations.search import own_index as own
from recollect.testing.hashed_embedder import HashedEmbedder

OSLO = "Oslo is the capital of Norway."
ROME = "Rome is the capital of Italy."
TEA = "Green tea is brewed at eighty degrees."
DOCS = [
    ChromaDoc(OSLO, {"country": "no"}, "oslo"),
    ChromaDoc(ROME, {"country": "it"}, "rome"),
    ChromaDoc(TEA, {"cups": 2, "hot": True}, "tea"),
]
Open: TypeAlias = Callable[..., DocumentSearch]


@pytest.fixture(params=["recollect", "chroma", "lancedb", "pinecone"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Yield what opens a search, twice the same index if called twice."""
    encoder = HashedEmbedder()
    with ExitStack() as exit_:
        if request.param == "recollect":
            path = str(tmp_path / "m.db")
            memory = exit_.enter_context(recollect.open_sync(path, embedder=encoder, worker=False))
            make: Open = partial(RecollectSearch, memory, ("docs",))
        elif request.param == "chroma":
            make = partial(ChromaDBSearch, path=str(tmp_path / "chroma"), encoder=encoder)
        elif request.param == "lancedb":
            make = partial(LanceDBSearch, uri=tmp_path / "lance", encoder=encoder)
        else:
            host = request.getfixturevalue("pinecone_double").host
            client = exit_.enter_context(pinecone.Pinecone(api_key="made-up-key", host=host))
            make = partial(PineconeSearch, client=client, encoder=encoder)
        yield lambda docs=(): exit_.enter_context(make(docs))


def test_the_most_similar_document_comes_first(opened: Open) -> None:
    search = opened(DOCS)

    found = search.search("What is the capital of Norway?")
    assert [("oslo", OSLO, {"country": "no"}), ("rome", ROME, {"country": "it"})] == [
        (each.id, each.doc, each.metadata) for each in found
    ]
    (tea,) = search.search("tea", top_k=1)
    assert tea.metadata == {"cups": 2, "hot": True}


def test_a_tool_is_asked_with_a_query_and_how_many(opened: Open) -> None:
    """And answers with a line for each document; two where it is not said."""
    search = opened(DOCS)

    assert search.run({"query": "capital of Italy", "top_k": 1}) == f"Doc 0: {ROME}"
    assert search.run("capital of Italy").splitlines()[0] == f"Doc 0: {ROME}"
    assert len(search.run("capital of Italy").splitlines()) == 2


def test_an_index_without_documents_finds_nothing(opened: Open) -> None:
    search = opened()
    search.add_docs([])

    assert search.search("Norway") == []
    assert search.run("Norway") == ""


def test_an_empty_query_finds_nothing(opened: Open) -> None:
    assert opened(DOCS).search("  ") == []


def test_more_may_be_asked_for_than_there_is(opened: Open) -> None:
    assert len(opened(DOCS).search("capital", top_k=50)) <= 3


def test_the_texts_are_in_the_index(opened: Open) -> None:
    """Another object over the same index finds what the first has added."""
    opened(DOCS)

    assert opened().search("capital of Norway", top_k=1)[0].doc == OSLO


def test_a_document_replaces_the_one_of_its_id(opened: Open) -> None:
    search = opened(DOCS)
    search.add_docs([ChromaDoc("Oslo was called Kristiania.", {}, "oslo")])

    texts = {each.id: each.doc for each in search.search("Oslo Kristiania capital", top_k=9)}
    assert texts["oslo"] == "Oslo was called Kristiania."
    assert OSLO not in texts.values()


def test_clearing_removes_all_for_everybody(opened: Open) -> None:
    """Also for another object that has the index open, and both may add again."""
    one, other = opened(DOCS), opened()
    one.clear_index()
    one.clear_index()

    assert one.search("capital of Norway") == other.search("capital of Norway") == []
    other.add_docs(DOCS[:1])
    assert one.search("capital of Norway")[0].doc == OSLO


def test_documents_are_written_in_batches(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than an index takes at once, here ten; the last of one id counts."""
    monkeypatch.setattr(chroma, "_BATCH", 10)
    monkeypatch.setattr(pinecone_index, "_BATCH", 10)
    monkeypatch.setattr(own, "WRITES_MAX", 10)
    monkeypatch.setattr(own, "PAGE_ROWS_MAX", 10)
    docs = [ChromaDoc(f"Number {number} of many", {}, f"n{number}") for number in range(25)]
    search = opened([*docs, ChromaDoc("Quite another one", {}, "n0")])

    assert search.search("Quite another one", top_k=1)[0].id == "n0"
    assert search.search("Number 24 of many", top_k=1)[0].id == "n24"
    search.clear_index()
    assert search.search("Number 7 of many") == []


@pytest.mark.parametrize("top_k", [0, -1, 1_001, "2", True])
def test_a_wrong_top_k_is_refused(opened: Open, top_k: Any) -> None:
    with pytest.raises(UsageError, match="TOP_K_MAX"):
        opened().run({"query": "capital", "top_k": top_k})


def test_a_tool_without_a_query_is_refused(opened: Open) -> None:
    with pytest.raises(MissingKeyError, match="query"):
        opened().run({"top_k": 2})


async def test_the_awaited_face_does_the_same(opened: Open) -> None:
    search = opened()
    await search.aadd_docs(DOCS)

    assert (await search.asearch("capital of Norway", top_k=1))[0].doc == OSLO
    assert await search.arun({"query": "tea", "top_k": 1}) == f"Doc 0: {TEA}"
    await search.aclear_index()
    assert await search.asearch("tea") == []


def test_documents_have_ids_of_their_own(opened: Open) -> None:
    search = opened([LanceDBDoc(OSLO), LanceDBDoc(ROME), SearchDocument(TEA)])

    assert len({each.id for each in search.search("capital tea", top_k=9)}) >= 2
    assert RecollectDoc(OSLO).id != RecollectDoc(OSLO).id


async def test_a_search_over_an_awaited_memory(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    async with recollect.open(path, embedder=HashedEmbedder(), worker=False) as memory:
        search = RecollectSearch(memory, ("docs",))
        await search.aadd_docs(DOCS)

        assert (await search.asearch("capital of Norway", top_k=1))[0].doc == OSLO
        with pytest.raises(UsageError, match="begins with 'a'"):
            search.search("capital")


def test_collections_of_one_scope_are_apart() -> None:
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        memory.put(("docs",), "Item", "own", {"doc": OSLO})
        one = RecollectSearch(memory, ("docs",), DOCS[:1], collection_name="one")
        other = RecollectSearch(memory, ("docs",), DOCS[1:], collection_name=str(uuid4()))
        one.clear_index()

        assert one.search("capital") == []
        assert other.search("capital", top_k=1)[0].doc == ROME
        assert still_there(memory)


def still_there(memory: SyncRecollect) -> bool:
    """Return True if what is none of a search's documents is left."""
    return memory.get(("docs",), "Item", "own") is not None
