"""Our searches over Chroma, LanceDB and Pinecone as outside stores of a memory."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pinecone
import pytest

from recollect import EraseMessages, EraseScope, Recollect, UsageError
from recollect.errors import StoreError
from recollect.integrations.search import (
    ChromaDBSearch,
    LanceDBSearch,
    OutsideSearch,
    PineconeSearch,
)
from recollect.integrations.search.embedding_search import VectorSearch
from recollect.records import Scope
from recollect.stores.in_process.store import InProcessStore
from recollect.testing.hashed_embedder import HashedEmbedder
from tests.harness.spelling_talk import ASKED, MEANT, TALK

pytestmark = pytest.mark.anyio

ADA: Scope = ("users", "ada")
BOB: Scope = ("users", "bob")
Opened = Callable[[int], VectorSearch]


@pytest.fixture(params=["chroma", "lance", "pinecone"])
def opened(
    request: pytest.FixtureRequest, tmp_path: Path, pinecone_double: SimpleNamespace
) -> Iterator[Opened]:
    """Yield what opens the same index, by an encoder of so many dimensions."""
    client = pinecone.Pinecone(api_key="made-up-key", host=pinecone_double.host)
    made: list[PineconeSearch] = []

    def of_pinecone(dimensions: int) -> VectorSearch:
        made.append(PineconeSearch(client=client, encoder=HashedEmbedder(dimensions)))
        return made[-1]

    kinds: dict[str, Opened] = {
        "chroma": lambda n: ChromaDBSearch(path=str(tmp_path), encoder=HashedEmbedder(n)),
        "lance": lambda n: LanceDBSearch(uri=tmp_path, encoder=HashedEmbedder(n)),
        "pinecone": of_pinecone,
    }
    with client:
        yield kinds[request.param]
        for each in made:
            each.close()


def outside_of(search: VectorSearch) -> OutsideSearch:
    """Return a search as an external store."""
    return OutsideSearch(search, name="entries")


async def test_what_is_meant_is_found_and_erased(opened: Opened) -> None:
    """The signal is named in the answer; a receipt is clean when the index has nothing of it."""
    outside = outside_of(opened(256))
    async with Recollect(InProcessStore(), embedder="none", outside=outside) as memory:
        await memory.append(ADA, "t", TALK[:2])
        await memory.append(BOB, "t", TALK[:2])
        await memory.settled(ADA)
        await memory.settled(BOB)
        found = await memory.recall(ADA, ASKED)
        part = await memory.erase(ADA, EraseMessages(thread="t", messages=["m2"]))
        left = len(outside.search(ADA, ASKED, 10))
        whole = await memory.erase(ADA, EraseScope())

    assert "entries" == found.outside
    assert MEANT == found.entries[0].text
    assert found.entries[0].signals["outside"] > 0
    assert part.clean_at is not None
    assert whole.clean_at is not None
    assert 1 == left
    assert [] == outside.search(ADA, ASKED, 10)
    assert 2 == len(outside.search(BOB, ASKED, 10))


def crowded(search: VectorSearch) -> OutsideSearch:
    """
    Fill an index with more near documents of Bob's than are asked for, and one of Ada's.

    With more than its graph has links at a node (32), Chroma's misses a far one now and then.
    """
    outside = outside_of(search)
    outside.add(BOB, [(n, f"{ASKED} {n}") for n in range(1, 21)])
    outside.add(ADA, [(100, MEANT)])
    return outside


def test_a_scope_is_searched_alone(opened: Opened) -> None:
    """However many nearer documents another scope has."""
    assert [100] == [uid for uid, _ in crowded(opened(256)).search(ADA, ASKED, 10)]


def test_a_search_without_the_filter_is_caught(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant that leaves the filter out gets foreign documents, and is refused for it."""
    search = opened(256)
    outside = crowded(search)
    nearest = search.nearest
    monkeypatch.setattr(search, "nearest", lambda vector, k, **_: nearest(vector, k))

    with pytest.raises(StoreError, match="documents of another scope"):
        outside.search(ADA, ASKED, 10)


async def test_another_dimension_is_refused(opened: Opened) -> None:
    """Pinecone's is refused where the search is made, the others where the memory is opened."""
    outside_of(opened(256)).add(ADA, [(1, MEANT)])

    with pytest.raises(UsageError, match="dimension"):
        outside_of(opened(32)).check()


def test_nothing_is_removed_of_an_index_that_is_not_there(opened: Opened) -> None:
    """A mirror begins by removing what it adds."""
    outside = outside_of(opened(256))

    outside.remove([1, 2])

    assert [] == outside.search(ADA, ASKED, 10)
