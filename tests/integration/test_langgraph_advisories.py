"""The faults for which stores of this kind were given advisories, tried on ours, and mutants."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect import SyncRecollect
from recollect.integrations.langgraph import RecollectStore
from recollect.records import Scope
from recollect.stores.scope_paths import stored_path
from recollect.stores.sqlite import rows

ROOT = ("app",)
SECRET = {"text": "the neighbour's secret", "owner": "bob"}
HOSTILE = (
    "owner') = 'x' OR 1=1 --",
    "owner') IS NOT NULL UNION SELECT prefix, key, value FROM store --",
    "a' || (SELECT value FROM memories LIMIT 1) || '",
    '"; DROP TABLE memories; --',
    "$.owner",
    "$[0]",
    "owner\\' OR \\'1\\'=\\'1",
    "%",
    "*",
    "_",
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SyncRecollect, Path]]:
    path = tmp_path_factory.mktemp("advisories") / "store.db"
    with recollect.open_sync(f"sqlite:///{path}", embedder="none", worker=False) as memory:
        store = RecollectStore(memory, ROOT)
        store.put(("users", "bob"), "secret", SECRET)
        store.put(("users", "ada"), "note", {"text": "Ada's note", "owner": "ada"})
        yield memory, path


@pytest.fixture(scope="module")
def store(opened: tuple[SyncRecollect, Path]) -> RecollectStore:
    return RecollectStore(opened[0], ROOT)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("query", [None, "secret note"])
def test_a_filter_is_no_statement(store: RecollectStore, hostile: str, query: str | None) -> None:
    """CVE-2025-8709, CVE-2025-67644, CVE-2025-64104: keys and operands are only compared."""
    asked: dict[str, Any] = {"query": query, "limit": 100}

    assert [] == store.search((), filter={hostile: "ada"}, **asked)
    assert [] == store.search((), filter={"owner": hostile}, **asked)
    with pytest.raises(ValueError, match="unknown operator"):
        store.search((), filter={"owner": {f"${hostile}": 1}}, **asked)
    assert 2 == len(store.search(()))


@settings(max_examples=100, deadline=None)
@given(
    key=st.text(min_size=1, max_size=30).filter(lambda key: key != "text"),
    operand=st.text(max_size=30).filter(lambda each: each not in {"ada", "bob"}),
)
def test_no_filter_finds_more_than_it_names(store: RecollectStore, key: str, operand: str) -> None:
    """Whatever its key and operand, it finds nothing where no such field is, or is refused."""
    try:
        found = store.search((), filter={key: operand})
    except ValueError:
        found = []

    assert [] == found


def leaks(store: RecollectStore) -> list[tuple[str, ...]]:
    """Return the namespaces that are found below another one than they lie in."""
    labels = ("u", "ux", "u%", "U", "_", "%", "u/b", "é")
    for label in labels:
        store.put((label, "deep"), "k", {"text": "mine"})
    return [
        each.namespace
        for label in labels
        for query in (None, "mine")
        for each in store.search((label,), query=query, limit=100)
        if each.namespace[0] != label
    ]


def test_no_prefix_leaks(opened: tuple[SyncRecollect, Path]) -> None:
    """A prefix means whole labels, of the namespace and of the root."""
    memory, _ = opened

    assert [] == leaks(RecollectStore(memory, ("prefixes",)))
    assert [] == RecollectStore(memory, ("prefix",)).search((), query="mine")
    assert [] == RecollectStore(memory, ("prefix",)).list_namespaces()


def test_a_leaking_prefix_would_be_seen(
    opened: tuple[SyncRecollect, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant that searches the neighbours of a prefix as well is caught."""
    memory, _ = opened

    def leaking(prefix: Scope) -> tuple[bytes, bytes]:
        first = stored_path(prefix)[:-1]
        return first, first + b"\xff"

    monkeypatch.setattr(rows, "range_below", leaking)

    assert leaks(RecollectStore(memory, ("leaking",)))


DANGEROUS = (
    {"lc": 2, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "exit 1"}},
    {"lc": 1, "type": "constructor", "id": ["subprocess", "Popen"], "kwargs": {"args": ["id"]}},
    {"lc": 2, "type": "constructor", "id": ["builtins", "eval"], "method": ["__call__"]},
    {"__class__": "os.system", "py/object": "os.system", "py/reduce": [{"py/type": "os.system"}]},
    {
        "__type__": "ext",
        "code": 5,
        "data": "gASVIAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU",
    },
)


@pytest.mark.parametrize("value", DANGEROUS)
def test_a_value_stays_data(opened: tuple[SyncRecollect, Path], value: dict[str, Any]) -> None:
    """CVE-2025-64439, GHSA-fjqc-hq36-qh5p: what names a constructor comes back as it was put."""
    memory, path = opened
    store = RecollectStore(memory, ("dangerous",))
    store.put(("values",), "k", {"value": value})

    item = store.get(("values",), "k")
    with closing(apsw.Connection(str(path))) as connection:
        kept = [row[0] for row in connection.execute("SELECT value FROM memory WHERE key = 'k'")]

    assert item is not None
    assert {"value": value} == item.value
    assert {"value": value} in [json.loads(each) for each in kept]


def test_half_a_surrogate_changes_no_codec(store: RecollectStore) -> None:
    """CVE-2025-64439: what cannot be encoded is refused, and not written in another way."""
    with pytest.raises(ValueError, match="surrogate"):
        store.put(("surrogates",), "k", {"text": "\ud800", "lc": 2})

    assert store.get(("surrogates",), "k") is None
