"""Cost of LangGraph's store over ours, next to LangGraph's own, measured alternately."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from langgraph.store.base import BaseStore, Op, PutOp, Result
from langgraph.store.memory import InMemoryStore

import recollect
from benchmarks.item_texts import text_of
from benchmarks.langgraph_driver import sqlite_store
from recollect.integrations.langgraph import RecollectStore
from recollect.ports import Vector
from recollect.stores.system_clock import timer_s
from recollect.testing import HashedEmbedder

SIZES: Final = (1_000, 10_000)
LARGE: Final = 100_000
NAMESPACES: Final = 100
REPEATS: Final = 40
AT_ONCE: Final = 100
LONG_REPEATS: Final = 10
WARM_UP: Final = 5
FILLED_AT_ONCE: Final = 1_000
OURS: Final = "RecollectStore"
LANGMEM: Final = "LangMem's tools"
PUT: Final = "put"
IN_A_ROW: Final = ", in a row"
"""Calls per store in a row; other operations alternate between the stores."""
SQLITE: Final = "SqliteStore"
WITH_LOG: Final = "SqliteStore, WAL"
SYNCHRONOUS: Final = ("OFF", "NORMAL", "FULL", "EXTRA")
"""Names of the values of SQLite's ``PRAGMA synchronous``."""
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
        """Return the vectors as lists, for LangGraph's stores."""
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
        """Async variant of `batch`."""
        return self.batch(ops)

    def put(
        self, namespace: tuple[str, ...], key: str, value: Mapping[str, Any], *_: Any, **__: Any
    ) -> None:
        """Create a memory with the tool, as an agent would."""
        tool = self._langmem.create_manage_memory_tool(namespace, store=self._store)
        tool.invoke({"content": value["text"], "action": "create"})

    def search(self, namespace_prefix: tuple[str, ...], /, **asked: Any) -> list[Any]:
        """Search with the tool, as an agent would."""
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


def put_of(number: int) -> PutOp:
    """Return the put of an item."""
    value = {"text": text_of(number), "n": number % 50}
    return PutOp(namespace_of(number), f"k{number}", value)


@contextmanager
def stores_in(folder: Path) -> Iterator[dict[str, BaseStore]]:
    """Yield ours on SQLite and LangGraph's own, with the same embedder, if installed."""
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
        for name, journal in ((SQLITE, "DELETE"), (WITH_LOG, "WAL")):
            theirs = sqlite_store(exit_, folder / f"{journal}.db", index, journal)
            if theirs is not None:
                stores[name] = theirs
        yield stores


def _beside(stores: Mapping[str, Any]) -> str:
    """Return the compared stores, with the durability of each."""
    found = [f"langgraph-checkpoint {version('langgraph-checkpoint')}"]
    for name in (SQLITE, WITH_LOG):
        if name in stores:
            (level,) = stores[name].conn.execute("PRAGMA synchronous").fetchone()
            found.append(f"{name}: synchronous {SYNCHRONOUS[level]}")
    if LANGMEM in stores:
        found.append(f"langmem {version('langmem')}")
    return "; ".join([*found, "ours: synchronous FULL, WAL"])


def run(sizes: Sequence[int], progress: Progress) -> StoreReport:
    """Fill the stores to each of *sizes*, ascending, and time each operation in all of them."""
    with TemporaryDirectory(prefix="recollect-bench-") as name, stores_in(Path(name)) as stores:
        report = StoreReport(beside=_beside(stores))
        filled = 0
        for size in sorted(set(sizes)):
            progress(f"{size:,} items")
            timed_from = max(filled, size - LONG_REPEATS * AT_ONCE)
            _fill(stores, filled, timed_from)
            report.rows.append(_filled(stores, timed_from, size))
            filled = size
            report.rows += _measured(stores, size)
    return report


def _fill(stores: dict[str, BaseStore], first: int, end: int) -> None:
    for start in range(first, end, FILLED_AT_ONCE):
        ops = [put_of(each) for each in range(start, min(end, start + FILLED_AT_ONCE))]
        for store in stores.values():
            store.batch(ops)
    _settle(stores[OURS], [()])


def _filled(stores: dict[str, BaseStore], first: int, end: int) -> StoreRow:
    """Put the last items evenly into the namespaces, and return the duration."""
    operation = "put, 100 new at once in all"
    found: dict[str, list[float]] = {name: [] for name in stores}
    for start in range(first, end, AT_ONCE):
        ops = [put_of(each) for each in range(start, min(end, start + AT_ONCE))]
        _take(_Turn(partial(_put_all, ops=ops), frozenset({()})), stores, found)
    among = {name: each for name, each in found.items() if _can(operation, name, stores[name])}
    return StoreRow(items=end, operation=operation, median_ms=_middle(among))


def _measured(stores: dict[str, BaseStore], size: int) -> Iterator[StoreRow]:
    """Yield the rows of one size; puts replace items, so that the size stays."""
    for operation in (*_reads(0, size), *_puts(0, size)):
        among = {name: store for name, store in stores.items() if _can(operation, name, store)}
        is_long = size >= LARGE or "at once" in operation
        repeats = LONG_REPEATS if is_long else REPEATS
        turn_of = partial(_turn, operation, size=size)
        yield StoreRow(items=size, operation=operation, median_ms=_medians(among, turn_of, repeats))
        if "query" in operation:
            in_a_row = [_medians({name: each}, turn_of, repeats) for name, each in among.items()]
            yield StoreRow(
                items=size,
                operation=f"{operation}{IN_A_ROW}",
                median_ms={name: ms for each in in_a_row for name, ms in each.items()},
            )


def _can(operation: str, name: str, store: BaseStore) -> bool:
    """Return True if a store supports an operation: LangMem's tools only put and search singly."""
    if "query" in operation:
        return name not in {SQLITE, WITH_LOG} or bool(getattr(store, "index_config", None))
    return name != LANGMEM or operation == PUT


@dataclass(frozen=True, slots=True)
class _Turn:
    """The operations of a round, and the namespaces they write to."""

    act: Callable[[BaseStore], object]
    written: frozenset[tuple[str, ...]] = frozenset()


def _turn(operation: str, number: int, *, size: int) -> _Turn:
    if operation not in (puts := _puts(number, size)):
        return _Turn(_reads(number, size)[operation])
    ops = puts[operation]
    written = frozenset(each.namespace for each in ops)
    if len(ops) > 1:
        return _Turn(partial(_put_all, ops=ops), written)
    (one,) = ops
    return _Turn(lambda store: store.put(one.namespace, one.key, one.value or {}), written)


def _put_all(store: BaseStore, ops: Sequence[PutOp]) -> None:
    store.batch(ops)


def _reads(number: int, size: int) -> dict[str, Callable[[BaseStore], object]]:
    """Return the reading operations of a turn, by name."""
    item, namespace = put_of(number * 7 % size), namespace_of(number)
    query = text_of(-1 - number % 5)
    wanted = {"n": {"$gt": 25}}
    return {
        "get": lambda store: store.get(item.namespace, item.key),
        "search, newest in a namespace": lambda store: store.search(namespace),
        "search, filter in a namespace": lambda store: store.search(namespace, filter=wanted),
        "search, query in a namespace": lambda store: store.search(namespace, query=query),
        "search, query over all": lambda store: store.search((), query=query),
    }


def _puts(number: int, size: int) -> dict[str, list[PutOp]]:
    """Return the puts of a round's writing operations, by name."""
    many = [put_of(-1 - each) for each in range(AT_ONCE)]
    wanted = {
        PUT: [put_of(number * 7 % size)],
        "put, 100 at once in one": [each._replace(namespace=namespace_of(0)) for each in many],
        "put, 100 at once in ten": [
            each._replace(namespace=namespace_of(at % 10)) for at, each in enumerate(many)
        ],
    }
    return {
        name: [each._replace(value={**(each.value or {}), "again": number}) for each in ops]
        for name, ops in wanted.items()
    }


def _medians(
    stores: dict[str, BaseStore], turn_of: Callable[[int], _Turn], repeats: int
) -> dict[str, float]:
    """Return the median time per store in ms; each round asks all stores."""
    found: dict[str, list[float]] = {name: [] for name in stores}
    for number in range(-WARM_UP, repeats):  # the first turns load what is kept in memory
        turn = turn_of(abs(number))
        _take(turn, stores, found if number >= 0 else None)
    return _middle(found)


def _take(
    turn: _Turn, stores: Mapping[str, BaseStore], found: dict[str, list[float]] | None
) -> None:
    """Run one round on every store and record its latency in milliseconds."""
    for name, store in stores.items():
        start = timer_s()
        turn.act(store)
        if found is not None:
            found[name].append((timer_s() - start) * 1_000)
        _settle(store, turn.written)


def _middle(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: statistics.median(times) for name, times in found.items()}


def _settle(store: BaseStore, written: Iterable[tuple[str, ...]]) -> None:
    """Wait for background embedding, which would slow the next operation."""
    if isinstance(store, RecollectStore) and isinstance(store.memory, recollect.SyncRecollect):
        for namespace in written:
            store.memory.settled((*store.root, *namespace), below=True)
