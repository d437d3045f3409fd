"""What is particular to the index of each search, in that index."""

import gc
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import chromadb
import lancedb
import pinecone
import pytest
from chromadb.api.types import Space
from chromadb.config import Settings

from recollect import LimitError, UsageError
from recollect.conversation import DocumentSearch, SearchDocument
from recollect.errors import EmbedderError, StoreError
from recollect.integrations.search import (
    ChromaDBSearch,
    ChromaDoc,
    LanceDBDoc,
    LanceDBSearch,
    PineconeDoc,
    PineconeSearch,
)
from recollect.testing.hashed_embedder import HashedEmbedder

ENCODER = HashedEmbedder()
SECRET = "The code of the safe is 4711."
QUERY = "What is the code?"


def cosine(one: str, other: str) -> float:
    """Return what similarity is: the cosine, here by the encoder itself."""
    a, b = ENCODER.embed([one, other])
    assert a is not None
    assert b is not None
    return float(a @ b)


@pytest.fixture
def client(pinecone_double: SimpleNamespace) -> pinecone.Pinecone:
    return pinecone.Pinecone(api_key="made-up-key", host=pinecone_double.host)


@pytest.mark.parametrize("space", ["cosine", "l2", "ip"])
def test_chroma_tells_the_cosine_whatever_it_measures(tmp_path: Path, space: Space) -> None:
    """Also of a collection that somebody else made, with Chroma's own default among others."""
    settings = Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(tmp_path), settings=settings)
    client.create_collection("index", configuration={"hnsw": {"space": space}})
    search = ChromaDBSearch([ChromaDoc(SECRET)], client=client, encoder=ENCODER)

    assert pytest.approx(cosine(QUERY, SECRET), abs=1e-5) == search.search(QUERY)[0].similarity


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dotproduct"])
def test_lancedb_tells_the_cosine_whatever_it_measures(tmp_path: Path, metric: str) -> None:
    search = LanceDBSearch([LanceDBDoc(SECRET)], uri=tmp_path, metric=metric, encoder=ENCODER)

    assert pytest.approx(cosine(QUERY, SECRET), abs=1e-5) == search.search(QUERY)[0].similarity


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dotproduct"])
def test_pinecone_tells_the_cosine_whatever_it_measures(
    client: pinecone.Pinecone, metric: str
) -> None:
    docs = [PineconeDoc(SECRET), PineconeDoc("Tea is brewed at eighty degrees.")]
    with client, PineconeSearch(docs, client=client, metric=metric, encoder=ENCODER) as search:
        found = search.search(QUERY)

    assert found[0].doc == SECRET
    assert pytest.approx(cosine(QUERY, SECRET), abs=1e-5) == found[0].similarity


def test_documents_in_memory_are_the_objects_own() -> None:
    """Chroma's clients in memory share one database; two agents' memories must not."""
    one, other = (
        ChromaDBSearch([ChromaDoc(SECRET)], encoder=ENCODER),
        ChromaDBSearch(encoder=ENCODER),
    )
    settings = Settings(anonymized_telemetry=False)
    names = len(chromadb.EphemeralClient(settings=settings).list_collections())

    assert other.search(QUERY) == []
    assert one.search(QUERY)[0].doc == SECRET
    other.close()
    del one
    gc.collect()
    assert len(chromadb.EphemeralClient(settings=settings).list_collections()) == names - 2


@pytest.mark.parametrize(
    "made",
    [
        "ChromaDBSearch(docs, path=sys.argv[1], encoder=e)",
        "LanceDBSearch(docs, uri=sys.argv[1], encoder=e)",
    ],
    ids=["chroma", "lancedb"],
)
def test_the_texts_outlive_the_process(tmp_path: Path, made: str) -> None:
    """A process that has ended leaves what it added."""
    program = (
        "import sys\n"
        "from recollect.integrations.search import ChromaDBSearch, LanceDBSearch, LanceDBDoc\n"
        "from recollect.testing.hashed_embedder import HashedEmbedder\n"
        f"docs, e = [LanceDBDoc({SECRET!r})], HashedEmbedder()\n{made}\n"
    )
    source = str(Path(__file__).parents[2] / "src")
    command = [sys.executable, "-c", program, str(tmp_path)]
    subprocess.run(command, env={"PYTHONPATH": source}, check=True, timeout=300)

    if made.startswith("Chroma"):
        search: DocumentSearch = ChromaDBSearch(path=str(tmp_path), encoder=ENCODER)
    else:
        search = LanceDBSearch(uri=tmp_path, encoder=ENCODER)
    assert search.search(QUERY)[0].doc == SECRET


def bytes_below(folder: Path) -> bytes:
    """Return what all files below *folder* hold."""
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


def test_clearing_lancedb_leaves_no_file_with_the_texts(tmp_path: Path) -> None:
    """LanceDB keeps earlier versions of a table; deleting rows alone leaves the text on disk."""
    search = LanceDBSearch([LanceDBDoc(SECRET)], uri=tmp_path, encoder=ENCODER)
    search.add_docs([LanceDBDoc("Another text.")])
    assert SECRET.encode() in bytes_below(tmp_path)

    search.clear_index()
    assert SECRET.encode() not in bytes_below(tmp_path)


def test_deleting_rows_alone_would_leave_them(tmp_path: Path) -> None:
    """The check above sees a clearing that is none."""
    LanceDBSearch([LanceDBDoc(SECRET)], uri=tmp_path, encoder=ENCODER)
    lancedb.connect(str(tmp_path)).open_table("table").delete("true")

    assert SECRET.encode() in bytes_below(tmp_path)


def test_clearing_chroma_leaves_nothing_that_a_vacuum_keeps(tmp_path: Path) -> None:
    """Its file keeps the bytes until then; what it would log is gone at once."""
    search = ChromaDBSearch([ChromaDoc(SECRET)], path=str(tmp_path), encoder=ENCODER)
    assert SECRET.encode() in bytes_below(tmp_path)

    search.clear_index()
    vacuum(tmp_path)
    assert SECRET.encode() not in bytes_below(tmp_path)


def test_deleting_documents_alone_would_leave_them_in_its_log(tmp_path: Path) -> None:
    """The check above sees a clearing that is none."""
    search = ChromaDBSearch([ChromaDoc(SECRET, {}, "id")], path=str(tmp_path), encoder=ENCODER)
    search._collection().delete(ids=["id"])
    vacuum(tmp_path)

    assert SECRET.encode() in bytes_below(tmp_path)


def test_clearing_chroma_keeps_how_a_collection_was_made(tmp_path: Path) -> None:
    client = chromadb.PersistentClient(str(tmp_path), settings=Settings(anonymized_telemetry=False))
    client.create_collection(
        "index", metadata={"owner": "ada"}, configuration={"hnsw": {"space": "l2"}}
    )
    search = ChromaDBSearch(client=client, encoder=ENCODER)

    search.clear_index()

    assert client.get_collection("index").metadata == {"owner": "ada"}
    assert ChromaDBSearch(client=client, encoder=ENCODER).metric == "euclidean"


def vacuum(folder: Path) -> None:
    """Rewrite Chroma's file, in a process of its own: its locks are its process's."""
    program = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('VACUUM')"
    command = [sys.executable, "-c", program, str(folder / "chroma.sqlite3")]
    subprocess.run(command, check=True, timeout=300)


def test_a_lancedb_table_made_elsewhere_is_left_alone(tmp_path: Path) -> None:
    rows = [{"doc": SECRET, "vector": [0.1] * ENCODER.dimensions}]
    lancedb.connect(str(tmp_path)).create_table("table", rows)

    with pytest.raises(UsageError, match="another program made it"):
        LanceDBSearch([LanceDBDoc(SECRET)], uri=tmp_path, encoder=ENCODER)
    assert lancedb.connect(str(tmp_path)).open_table("table").count_rows() == 1


def test_another_encoder_is_refused(tmp_path: Path, client: pinecone.Pinecone) -> None:
    """Vectors of two encoders cannot be compared; where lengths tell them apart, it is told."""
    other = HashedEmbedder(64)
    LanceDBSearch([LanceDBDoc(SECRET)], uri=tmp_path / "lance", encoder=ENCODER)
    ChromaDBSearch([ChromaDoc(SECRET)], path=str(tmp_path / "chroma"), encoder=ENCODER)

    with pytest.raises(UsageError, match="256 dimensions"):
        LanceDBSearch(uri=tmp_path / "lance", encoder=other).search(QUERY)
    with pytest.raises(StoreError, match="256"):
        ChromaDBSearch(path=str(tmp_path / "chroma"), encoder=other).search(QUERY)
    with client, PineconeSearch(client=client, encoder=ENCODER):
        with pytest.raises(UsageError, match="256 dimensions"):
            PineconeSearch(client=client, encoder=other)
        with pytest.raises(UsageError, match="8 dimensions"):
            PineconeSearch(client=client, encoder=ENCODER, dimension=8)
        with pytest.raises(UsageError, match="measures euclidean"):
            PineconeSearch(client=client, encoder=ENCODER, metric="cosine")


def test_a_document_keeps_the_vector_that_it_brings(tmp_path: Path) -> None:
    (vector,) = ENCODER.embed([QUERY])
    assert vector is not None
    brought = [float(each) for each in vector]
    docs = [LanceDBDoc("Nothing of the kind.", brought), LanceDBDoc(SECRET)]
    search = LanceDBSearch(docs, uri=tmp_path, encoder=ENCODER)

    assert search.search(QUERY)[0].doc == "Nothing of the kind."
    for wrong in ([0.1] * 8, [float("nan")] * 256):
        with pytest.raises(UsageError, match="256"):
            search.add_docs([LanceDBDoc("Too short", wrong)])


def test_autochains_encoders_are_taken(tmp_path: Path) -> None:
    """They have ``encode``, which returns an object with the vectors."""

    class Encoder:
        def encode(self, texts: Sequence[str]) -> SimpleNamespace:
            vectors = [each.tolist() for each in ENCODER.embed(texts) if each is not None]
            return SimpleNamespace(embeddings=vectors)

    search = LanceDBSearch([LanceDBDoc(SECRET)], uri=tmp_path, encoder=Encoder())

    assert search.search(QUERY)[0].doc == SECRET


def test_a_text_that_the_encoder_does_not_understand_is_told(tmp_path: Path) -> None:
    search = ChromaDBSearch(path=str(tmp_path), encoder=ENCODER)

    with pytest.raises(EmbedderError, match="does not support the text"):
        search.add_docs([ChromaDoc(SECRET), ChromaDoc("…", {}, "dots")])
    assert search.search(QUERY) == []
    with pytest.raises(EmbedderError, match="recollect embedder install"):
        ChromaDBSearch(path=str(tmp_path), encoder="none")


def test_metadata_that_an_index_cannot_hold_are_refused(
    tmp_path: Path, client: pinecone.Pinecone
) -> None:
    """Before anything is written; LanceDB holds any."""
    nested = SearchDocument(SECRET, metadata={"where": {"room": [1, None]}})
    chroma = ChromaDBSearch(path=str(tmp_path / "chroma"), encoder=ENCODER)
    lance = LanceDBSearch([nested], uri=tmp_path / "lance", encoder=ENCODER)
    assert lance.search(QUERY)[0].metadata == {"where": {"room": [1, None]}}

    with pytest.raises(UsageError, match="where"):
        chroma.add_docs([nested])
    with client, PineconeSearch(client=client, encoder=ENCODER) as search:
        with pytest.raises(UsageError, match="where"):
            search.add_docs([nested])
        with pytest.raises(UsageError, match="'text'"):
            search.add_docs([SearchDocument(SECRET, metadata={"text": "x"})])
        with pytest.raises(LimitError, match="METADATA_BYTES_MAX"):
            search.add_docs([PineconeDoc(SECRET), PineconeDoc("long " * 8_001)])
        assert search.search(QUERY) == []


def test_long_texts_are_sent_in_requests_that_pinecone_takes(client: pinecone.Pinecone) -> None:
    """A hundred of the longest are more than the 2 MB that it takes at once."""
    vector, text = [0.1] * ENCODER.dimensions, "long " * 7_900
    docs = [PineconeDoc(text, vector, str(number)) for number in range(100)]
    with client, PineconeSearch(docs, client=client, encoder=ENCODER) as search:
        found = search.search("long", top_k=100)

    assert {str(number) for number in range(100)} == {each.id for each in found}


def test_namespaces_of_one_index_are_apart(client: pinecone.Pinecone) -> None:
    with (
        client,
        PineconeSearch([PineconeDoc(SECRET)], client=client, encoder=ENCODER) as one,
        PineconeSearch(client=client, encoder=ENCODER, namespace="other") as other,
    ):
        assert other.search(QUERY) == []
        other.clear_index()
        assert len(one.search(QUERY)) == 1


def test_what_pinecone_refuses_is_told(pinecone_double: SimpleNamespace) -> None:
    with (
        pinecone.Pinecone(api_key="another-key", host=pinecone_double.host) as stranger,
        pytest.raises(StoreError, match="Invalid API key"),
    ):
        PineconeSearch(client=stranger, encoder=ENCODER)


def test_the_double_refuses_what_pinecone_refuses(
    client: pinecone.Pinecone, pinecone_double: SimpleNamespace
) -> None:
    """A check that accepts everything would prove nothing."""
    with client, PineconeSearch([PineconeDoc(SECRET, id="s")], client=client, encoder=ENCODER):
        vector = [0.5] * 256
        with client.Index(host=pinecone_double.indexes["index"]["host"]) as index:
            found = index.query(vector=vector, top_k=1, filter={"text": {"$eq": SECRET}})
            none = index.query(vector=vector, top_k=1, filter={"text": {"$ne": SECRET}})
            assert [["s"], []] == [[each.id for each in answer.matches] for answer in (found, none)]
            for wrong in (
                {"vector": [0.5] * 8},
                {"vector": [0.0] * 256},
                {"vector": vector, "filter": {"text": {"$like": "x"}}},
            ):
                with pytest.raises(pinecone.PineconeException):
                    index.query(top_k=1, **wrong)
            for row in ({"values": [0.5] * 8}, {"values": vector, "metadata": {"a": {"b": 1}}}):
                with pytest.raises(pinecone.PineconeException):
                    index.upsert(vectors=[{"id": "x", **row}], show_progress=False)
            with pytest.raises(pinecone.PineconeException):
                index.delete(delete_all=True, namespace="none")


def test_an_unknown_metric_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cosine, euclidean, dotproduct"):
        LanceDBSearch(uri=tmp_path, metric="manhattan", encoder=ENCODER)
