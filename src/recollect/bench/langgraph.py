"""What LangGraph's store costs over ours, beside LangGraph's own, in turn in one run."""

from __future__ import annotations

import random
import sqlite3
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from langgraph.store.base import BaseStore, Op, PutOp, Result
from langgraph.store.memory import InMemoryStore

import recollect
from recollect.integrations.langgraph import RecollectStore
from recollect.ports import Vector
from recollect.stores.world import timer_s
from recollect.testing import HashedEmbedder

SIZES: Final = (1_000, 10_000)
LARGE: Final = 100_000
NAMESPACES: Final = 100
REPEATS: Final = 40
FILLED_AT_ONCE: Final = 1_000
OURS: Final = "RecollectStore"
LANGMEM: Final = "LangMem's tools"
WORDS: Final = tuple(
    """
morning evening garden kitchen school office station bicycle bridge river lake mountain forest
beach island village market restaurant coffee bread cheese apple dinner breakfast recipe birthday
wedding holiday journey ticket hotel camera photo guitar piano concert library letter poem computer
project meeting manager dentist hospital sister brother daughter cousin neighbour teacher flower
""".split()
)
Progress = Callable[[str], None]


class KnownVectors:
    """A hashing embedder that remembers each text, so that no store is timed for embedding."""

    identity = "hashed-characters/256/1"
    dimensions = 256

    def __init__(self) -> None:
        self._embedder = HashedEmbedder(self.dimensions)
        self._known: dict[str, Vector | None] = {}

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector per text; a new one is embedded once."""
        new = [text for text in texts if text not in self._known]
        self._known.update(zip(new, self._embedder.embed(new), strict=True))
        return [self._known[text] for text in texts]

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the same as lists, as LangGraph's stores want them."""
        found = self.embed(texts)
        return [[0.0] * self.dimensions if each is None else each.tolist() for each in found]


class LangMemTools(BaseStore):
    """The tools that LangMem gives an agent, over LangGraph's store in memory."""

    def __init__(self, index: Any) -> None:
        self._langmem = import_module("langmem")
        content: Any = {**index, "fields": ["content"]}
        self._store = InMemoryStore(index=content)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Fill the store."""
        return self._store.batch(map(_as_content, ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same as `batch`."""
        return self.batch(ops)

    def put(
        self, namespace: tuple[str, ...], key: str, value: Mapping[str, Any], *_: Any, **__: Any
    ) -> None:
        """Have the tool create a memory, as an agent would."""
        tool = self._langmem.create_manage_memory_tool(namespace, store=self._store)
        tool.invoke({"content": value["text"], "action": "create"})

    def search(self, namespace_prefix: tuple[str, ...], /, **asked: Any) -> list[Any]:
        """Have the tool search, as an agent would."""
        tool = self._langmem.create_search_memory_tool(namespace_prefix, store=self._store)
        return [tool.invoke({"query": asked["query"]})]


def _as_content(op: Op) -> Op:
    if isinstance(op, PutOp) and op.value is not None:
        return op._replace(value={"content": op.value["text"]})
    return op


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRow:
    """The medians of one operation over a store of this many items, in ms by store."""

    items: int
    operation: str
    median_ms: dict[str, float]


@dataclass(slots=True)
class StoreReport:
    """All figures of one run."""

    beside: str
    rows: list[StoreRow] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return {"beside": self.beside, "rows": [asdict(row) for row in self.rows]}


def namespace_of(number: int) -> tuple[str, ...]:
    """Return the namespace of an item: one of a hundred users'."""
    return "users", f"u{number % NAMESPACES:03}"


def text_of(number: int) -> str:
    """Return an item's text of twelve everyday words, the same in every run."""
    return " ".join(random.Random(number).choices(WORDS, k=12))  # noqa: S311 (no secret)


def put_of(number: int) -> PutOp:
    """Return what puts an item."""
    value = {"text": text_of(number), "n": number % 50}
    return PutOp(namespace_of(number), f"k{number}", value)


@contextmanager
def stores_in(folder: Path) -> Iterator[dict[str, BaseStore]]:
    """Give ours on SQLite and LangGraph's own, all with the same embedder, those installed."""
    embedder = KnownVectors()
    index: Any = {"dims": embedder.dimensions, "embed": embedder, "fields": ["text"]}
    with ExitStack() as exit_:
        url = f"sqlite:///{folder}/ours.db"
        memory = exit_.enter_context(recollect.open_sync(url, embedder=embedder, worker=False))
        stores: dict[str, BaseStore] = {
            OURS: RecollectStore(memory, ("bench",), index={"fields": ["text"]}),
            "InMemoryStore": InMemoryStore(index=index),
        }
        if find_spec("langmem"):
            stores[LANGMEM] = LangMemTools(index)
        theirs = _sqlite_store(exit_, folder / "theirs.db", index)
        if theirs is not None:
            stores["SqliteStore"] = theirs
        yield stores


def _sqlite_store(exit_: ExitStack, path: Path, index: Any) -> BaseStore | None:
    """Return SqliteStore, without vectors where this Python's sqlite3 loads no extensions."""
    try:
        from langgraph.store.sqlite import SqliteStore  # noqa: PLC0415 (optional)
    except ModuleNotFoundError:
        return None
    loads = hasattr(sqlite3.Connection, "enable_load_extension")
    store = exit_.enter_context(
        SqliteStore.from_conn_string(str(path), index=index if loads else None)
    )
    store.setup()
    return store


def run(sizes: Sequence[int], progress: Progress) -> StoreReport:
    """Fill the stores to each of *sizes*, ascending, and time each operation in all of them."""
    report = StoreReport(beside=f"langgraph-checkpoint {version('langgraph-checkpoint')}")
    with TemporaryDirectory(prefix="recollect-bench-") as name, stores_in(Path(name)) as stores:
        filled = 0
        for size in sorted(set(sizes)):
            progress(f"{size:,} items")
            _fill(stores, filled, size)
            filled = size
            report.rows += _measured(stores, size)
    return report


def _fill(stores: dict[str, BaseStore], first: int, end: int) -> None:
    for start in range(first, end, FILLED_AT_ONCE):
        ops: list[Op] = [put_of(each) for each in range(start, min(end, start + FILLED_AT_ONCE))]
        for store in stores.values():
            store.batch(ops)
    ours = stores[OURS]
    if isinstance(ours, RecollectStore) and isinstance(ours.memory, recollect.SyncRecollect):
        ours.memory.settled(("bench",), below=True)


def _measured(stores: dict[str, BaseStore], size: int) -> Iterator[StoreRow]:
    """Yield the rows of one size; items are put over existing ones, so that it stays."""
    by_vector = {
        name: store
        for name, store in stores.items()
        if name != "SqliteStore" or getattr(store, "index_config", None)
    }

    def put(store: BaseStore, number: int) -> None:
        op = put_of(number * 7 % size)
        store.put(op.namespace, op.key, {**(op.value or {}), "again": number})

    def get(store: BaseStore, number: int) -> None:
        op = put_of(number * 7 % size)
        store.get(op.namespace, op.key)

    def search(store: BaseStore, number: int) -> None:
        store.search(namespace_of(number), query=text_of(-1 - number % 5))

    def search_all(store: BaseStore, number: int) -> None:
        store.search((), query=text_of(-1 - number % 5))

    def newest(store: BaseStore, number: int) -> None:
        store.search(namespace_of(number))

    def filtered(store: BaseStore, number: int) -> None:
        store.search(namespace_of(number), filter={"n": {"$gt": 25}})

    plain = {name: store for name, store in stores.items() if name != LANGMEM}
    timed: list[tuple[str, Callable[[BaseStore, int], None], dict[str, BaseStore]]] = [
        ("get", get, plain),
        ("search, newest in a namespace", newest, plain),
        ("search, filter in a namespace", filtered, plain),
        ("search, query in a namespace", search, by_vector),
        ("search, query over all", search_all, by_vector),
        ("put", put, stores),
    ]
    for operation, function, among in timed:
        medians = _medians(among, function)
        yield StoreRow(items=size, operation=operation, median_ms=medians)


def _medians(
    stores: dict[str, BaseStore], function: Callable[[BaseStore, int], None]
) -> dict[str, float]:
    """Return the median time of *function* by store, in ms; each turn asks all of them."""
    found: dict[str, list[float]] = {name: [] for name in stores}
    for number in range(-5, REPEATS):  # the first turns load what is kept in memory
        for name, store in stores.items():
            start = timer_s()
            function(store, abs(number))
            if number >= 0:
                found[name].append((timer_s() - start) * 1_000)
    return {name: statistics.median(times) for name, times in found.items()}
