"""Chroma and LanceDB, as LangChain knows them, as outside stores that have a say in recall."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import chromadb
import lancedb
import pytest
from chromadb.config import Settings
from langchain_chroma import Chroma
from langchain_community.vectorstores import LanceDB
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

import recollect.recall.outside_vectors
from recollect import (
    DeleteMemory,
    EraseMessages,
    EraseScope,
    NewMessage,
    PutMemory,
    Recollect,
    UsageError,
)
from recollect.errors import EmbedderError, StoreError
from recollect.integrations.langchain import OutsideVectorStore
from recollect.integrations.langchain.outside_vector_store import UID
from recollect.integrations.search import ChromaDBSearch, OutsideSearch
from recollect.ports import Vector
from recollect.recall.outside_vectors import SCOPE_FIELD, scope_name
from recollect.records import Scope
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.locator import open_store
from recollect.stores.plans.outside_removals import OUTSIDE_SCOPE
from recollect.testing.hashed_embedder import HashedEmbedder
from tests.harness.spelling_talk import ASKED, MEANT, TALK

pytestmark = pytest.mark.anyio

ADA: Scope = ("users", "ada")
BOB: Scope = ("users", "bob")
HANGS_S = 0.05
WAIT_S = 20
"""Longer than anything here takes: whoever waits that long hangs."""
Make = Callable[[], VectorStore]


class Spelling(Embeddings):
    """LangChain's face of the embedder without weights."""

    def __init__(self, dimensions: int = 256) -> None:
        self._embedder = HashedEmbedder(dimensions)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text."""
        return [
            [float(n) for n in each] for each in self._embedder.embed(texts) if each is not None
        ]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query."""
        return self.embed_documents([text])[0]


def chroma(folder: Path, dimensions: int = 256) -> Chroma:
    """Return LangChain's Chroma on a folder."""
    settings = Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
    return Chroma("entries", Spelling(dimensions), client=client)


def lance(folder: Path, dimensions: int = 256, mode: str = "append") -> LanceDB:
    """Return LangChain's LanceDB on a folder."""
    connection = lancedb.connect(str(folder / "lance"))
    return LanceDB(connection, Spelling(dimensions), table_name="entries", mode=mode)


Opened = Callable[..., VectorStore]
BOTH = pytest.mark.parametrize("opened", [chroma, lance])


def documents(store: VectorStore) -> dict[str, str]:
    """Return uid and text of all that a vector store has, by its own client."""
    if isinstance(store, Chroma):
        found: Any = store.get()
        pairs = zip(found["metadatas"], found["documents"], strict=True)
        return {metadata[UID]: text for metadata, text in pairs}
    assert isinstance(store, LanceDB)
    table = store.get_table()
    rows = table.to_arrow().to_pylist() if table is not None else []
    return {row["metadata"][UID]: row["text"] for row in rows}


def memory_with(vectors: VectorStore | None, **more: Any) -> Recollect:
    """Return a memory beside a vector store, without an embedder of its own."""
    outside = OutsideVectorStore(vectors, name="entries") if vectors else None
    store = more.pop("store", None) or InProcessStore()
    return Recollect(store, embedder="none", outside=outside, **more)


async def found_ids(memory: Recollect, query: str = ASKED, scope: Scope = ADA) -> list[str]:
    """Return what recall finds, best first."""
    return [each.source for each in (await memory.recall(scope, query)).entries]


@BOTH
async def test_what_is_meant_is_found_by_the_outside_store(opened: Opened, tmp_path: Path) -> None:
    """Its part is one more named signal, and all parts sum to the score."""
    async with memory_with(opened(tmp_path)) as memory:
        await memory.append(ADA, "t", TALK)
        await memory.settled(ADA)

        found = await memory.recall(ADA, ASKED)

    best = found.entries[0]
    assert "entries" == found.outside
    assert MEANT == best.text
    assert best.signals["outside"] > 0
    assert pytest.approx(sum(best.signals.values()), abs=1e-5) == best.score


@BOTH
async def test_without_an_outside_store_every_score_is_as_it_was(
    opened: Opened, tmp_path: Path
) -> None:
    """The parts of the other signals are exactly equal, and nothing is noted in the store."""
    async with memory_with(None) as alone, memory_with(opened(tmp_path)) as both:
        for memory in (alone, both):
            await memory.append(ADA, "t", TALK)
            await memory.settled(ADA)
        without, with_one = await alone.recall(ADA, "owls"), await both.recall(ADA, "owls")
        scopes = (await alone.scopes()).rows

    parts = {each.source: dict(each.signals) for each in with_one.entries}
    assert without.outside is None
    assert (ADA,) == tuple(scopes)
    for entry in without.entries:
        parts[entry.source].pop("outside", None)
        assert parts[entry.source] == dict(entry.signals)


def crowded(vectors: OutsideVectorStore) -> OutsideVectorStore:
    """Fill a store with many near documents of Bob's, and one of Ada's."""
    vectors.add(BOB, [(n, f"{ASKED} {n}") for n in range(1, 60)])
    vectors.add(ADA, [(100, MEANT)])
    return vectors


@BOTH
def test_a_scope_is_searched_alone(opened: Opened, tmp_path: Path) -> None:
    """However many nearer documents another scope has."""
    vectors = crowded(OutsideVectorStore(opened(tmp_path), name="entries"))

    assert [100] == [uid for uid, _ in vectors.search(ADA, ASKED, 10)]


@BOTH
def test_a_search_without_the_filter_is_caught(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant that leaves the filter out gets foreign documents, and is refused for it."""
    vectors = crowded(OutsideVectorStore(opened(tmp_path), name="entries"))
    monkeypatch.setattr(vectors, "_filter_of", lambda _: None)

    with pytest.raises(StoreError, match="documents of another scope"):
        vectors.search(ADA, ASKED, 10)


@BOTH
async def test_whatever_a_store_answers_no_foreign_entry_is_returned(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where neither filter nor check work: only entries of the asked scope have a score."""
    vectors = OutsideVectorStore(opened(tmp_path), name="entries")
    async with Recollect(InProcessStore(), embedder="none", outside=vectors) as memory:
        await memory.append(BOB, "t", TALK)
        await memory.append(ADA, "t", TALK[:1])
        await memory.settled(BOB)
        await memory.settled(ADA)
        bobs = vectors.search(BOB, ASKED, 10)
        monkeypatch.setattr(vectors, "search", lambda *_: [*bobs, (4711, 1.0)])

        found = await memory.recall(ADA, ASKED)

    assert ["t/m1"] == [each.source for each in found.entries]
    assert "outside" not in found.entries[0].signals


def test_the_name_of_a_scope_keeps_its_segments_apart() -> None:
    """No segment looks like two, and none has a quote that would end a filter."""
    names = {scope_name(each) for each in [("a", "b"), ("a/b",), ("a%2Fb",), ("a' OR '1'='1",)]}

    assert 4 == len(names)
    assert not any("'" in each for each in names)


@BOTH
async def test_another_dimension_is_refused_when_opened(opened: Opened, tmp_path: Path) -> None:
    """One sentence says which store, and what to do."""
    OutsideVectorStore(opened(tmp_path), name="entries").add(ADA, [(1, MEANT)])
    wanted = "the vector store 'entries' .* another dimension .* give another collection$"

    with pytest.raises(UsageError, match=wanted):
        await memory_with(opened(tmp_path, 32)).__aenter__()


async def test_a_store_that_replaces_everything_is_refused(tmp_path: Path) -> None:
    """LangChain's LanceDB does so if nothing else is said."""
    with pytest.raises(UsageError, match="open it with mode='append'"):
        await memory_with(lance(tmp_path, mode="overwrite")).__aenter__()


class Unfiltered(InMemoryVectorStore):
    """A store whose search takes no filter by name."""

    def similarity_search_with_score(
        self, query: str, k: int = 4, **_: Any
    ) -> list[tuple[Document, float]]:
        """Search everything."""
        return super().similarity_search_with_score(query, k)


class Unmeasured(InMemoryVectorStore):
    """A store that filters, and does not say what its scores mean."""

    def similarity_search_with_score(
        self,
        query: str,
        k: int = 4,
        *,
        filter: Any = None,  # noqa: A002 (LangChain's name)
        **_: Any,
    ) -> list[tuple[Document, float]]:
        """Search what the filter leaves: there is nothing."""
        return super().similarity_search_with_score(query, k)


@pytest.mark.parametrize(
    ("kind", "said"),
    [(Unfiltered, "no search with filter"), (Unmeasured, "returns no similarities")],
)
async def test_a_store_that_is_not_fit_is_refused(
    kind: type[InMemoryVectorStore], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        await memory_with(kind(Spelling())).__aenter__()


@BOTH
async def test_what_is_written_anew_or_removed_is_so_outside(
    opened: Opened, tmp_path: Path
) -> None:
    """The mirror has each entry once, in its present text."""
    vectors = opened(tmp_path)
    async with memory_with(vectors) as memory:
        await memory.append(ADA, "t", TALK)
        await memory.apply(ADA, [PutMemory(type="Note", key="k", value={"is": "old"})])
        await memory.settled(ADA)
        before = sorted(documents(vectors).values())
        await memory.remove(ADA, "t", ["m1"])
        await memory.replace(ADA, "t", NewMessage(role="user", text="A new boat", id="m3"))
        await memory.apply(ADA, [DeleteMemory(type="Note", key="k")])
        await memory.settled(ADA)

    assert 4 == len(before)
    assert ["A new boat", MEANT] == sorted(documents(vectors).values())


@BOTH
@pytest.mark.parametrize(
    ("target", "left"),
    [
        (EraseMessages(thread="t", messages=["m2"]), [TALK[0].text, TALK[2].text]),
        (EraseScope(), []),
    ],
)
async def test_what_is_erased_is_gone_outside_before_it_is_clean(
    opened: Opened, tmp_path: Path, target: EraseMessages | EraseScope, left: Sequence[str]
) -> None:
    vectors = opened(tmp_path)
    async with memory_with(vectors) as memory:
        await memory.append(ADA, "t", TALK)
        await memory.append(BOB, "t", TALK[:1])
        await memory.settled(ADA)
        await memory.settled(BOB)

        receipt = await memory.erase(ADA, target)

    assert receipt.clean_at is not None
    assert sorted([*left, TALK[0].text]) == sorted(documents(vectors).values())


class Away:
    """Makes a vector store fail, until it is back."""

    def __init__(self, vectors: VectorStore, patch: pytest.MonkeyPatch) -> None:
        self.is_away = False
        for name in ("similarity_search_with_score", "delete", "add_texts"):
            patch.setattr(vectors, name, self._guarded(getattr(vectors, name)))

    def _guarded(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(
            *given: Any,
            filter: Any = None,  # noqa: A002 (LangChain's name)
            **named: Any,
        ) -> Any:
            if self.is_away:
                msg = "connection refused"
                raise OSError(msg)
            return method(*given, **(named | ({"filter": filter} if filter else {})))

        return guarded


@BOTH
@pytest.mark.parametrize("target", [EraseMessages(thread="t", messages=["m2"]), EraseScope()])
async def test_an_erase_stays_unclean_while_the_outside_store_is_away(
    opened: Opened,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: EraseMessages | EraseScope,
) -> None:
    """Also for a process that knows of no external store; the next one that has it cleans."""
    url = str(tmp_path / "memory.db")
    vectors = opened(tmp_path)
    away = Away(vectors, monkeypatch)
    async with memory_with(vectors, store=open_store(url)) as memory:
        await memory.append(ADA, "t", TALK)
        await memory.settled(ADA)
        away.is_away = True
        receipt = await memory.erase(ADA, target)
        found = await found_ids(memory)
        error = memory.outside_error
    async with memory_with(None, store=open_store(url)) as other:
        cleaned_without = await other.clean()
    still = MEANT in documents(vectors).values()
    async with memory_with(opened(tmp_path), store=open_store(url)) as later:
        await later.clean()
        receipts = await later.receipts()

    assert receipt.clean_at is None
    assert "t/m2" not in found
    assert error is not None
    assert "connection refused" in error
    assert [] == cleaned_without
    assert still
    assert all(each.clean_at for each in receipts)
    assert MEANT not in documents(opened(tmp_path)).values()


@BOTH
async def test_recall_goes_on_without_an_outside_store_that_fails(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer names none, and is that of a memory without one."""
    vectors = opened(tmp_path)
    away = Away(vectors, monkeypatch)
    async with memory_with(vectors) as memory, memory_with(None) as alone:
        for each in (memory, alone):
            await each.append(ADA, "t", TALK)
            await each.settled(ADA)
        away.is_away = True
        found, expected = await memory.recall(ADA, "owls"), await alone.recall(ADA, "owls")

    assert found.outside is None
    assert [each.score for each in expected.entries] == [each.score for each in found.entries]


async def test_recall_does_not_wait_for_an_outside_store_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for ``ANSWER_S``, and says which store did not answer."""
    vectors = OutsideVectorStore(chroma(tmp_path), name="entries")
    monkeypatch.setattr(recollect.recall.outside_vectors, "ANSWER_S", HANGS_S)
    async with Recollect(InProcessStore(), embedder="none", outside=vectors) as memory:
        await memory.append(ADA, "t", TALK)
        await memory.settled(ADA)
        back = Event()
        monkeypatch.setattr(vectors, "search", lambda *_: back.wait(WAIT_S))

        found = await memory.recall(ADA, "owls")
        error = memory.outside_error
        was_waited_for = back.is_set()
        back.set()

    assert found.outside is None
    assert not was_waited_for
    assert len(TALK) == len(found.entries)
    assert error is not None
    assert "'entries' did not answer within 0.05 s" in error


async def test_what_a_store_keeps_for_itself_is_not_mirrored(tmp_path: Path) -> None:
    """The notes of what outside stores have to do hold no content, and stay inside."""
    vectors = chroma(tmp_path)
    async with memory_with(vectors) as memory:
        await memory.append(ADA, "t", TALK[:1])
        await memory.settled(ADA)
        await memory.settled(OUTSIDE_SCOPE)

    scopes = {each[SCOPE_FIELD] for each in vectors.get()["metadatas"]}
    assert {scope_name(ADA)} == scopes


async def test_who_gives_an_outside_store_up_says_so_by_an_erase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was noted for it goes, and receipts wait for it no longer."""
    vectors = chroma(tmp_path)
    store_url = str(tmp_path / "memory.db")
    away = Away(vectors, monkeypatch)
    async with memory_with(vectors, store=open_store(store_url)) as memory:
        await memory.append(ADA, "t", TALK)
        away.is_away = True
        receipt = await memory.erase(ADA, EraseScope())
    async with memory_with(None, store=open_store(store_url)) as without:
        await without.erase(OUTSIDE_SCOPE, EraseScope())
        await without.append(ADA, "t", TALK)
        later = await without.erase(ADA, EraseScope())
        receipts = await without.receipts()

    assert receipt.clean_at is None
    assert later.clean_at is not None
    assert all(each.clean_at for each in receipts)


class Deaf(HashedEmbedder):
    """An encoder that fails."""

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Fail."""
        msg = f"{len(texts)} texts were not embedded"
        raise EmbedderError(msg)


async def test_an_encoder_that_fails_is_a_failure_of_the_outside_store(tmp_path: Path) -> None:
    """Recall goes on without it."""
    search = ChromaDBSearch(path=str(tmp_path), encoder=Deaf())
    outside = OutsideSearch(search, name="entries")
    async with Recollect(InProcessStore(), embedder="none", outside=outside) as memory:
        await memory.append(ADA, "t", TALK)
        found = await memory.recall(ADA, "owls")
        error = memory.outside_error

    assert found.outside is None
    assert len(TALK) == len(found.entries)
    assert error is not None
    assert "were not embedded" in error
