"""Time and memory of the first recall of a large scope in a new process, by part."""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time, thread_time
from typing import Any, Final

from benchmarks.chance_vectors import ChanceVectors
from benchmarks.library_speed import ZipfTalk
from recollect.memory.facade import Recollect
from recollect.memory.formation_control import require_open
from recollect.ports import Embedder
from recollect.records import Scope
from recollect.stores.locator import open_store
from recollect.stores.sqlite.index_files import size_beside

SCOPE: Final[Scope] = ("large",)
THREAD_MESSAGES: Final = 500
WARM: Final = 20
WAYS: Final = ("file", "blocks", "rows")
NEVER: Final = 1 << 62
_PAGE_BYTES: Final = resource.getpagesize()


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRecall:
    """
    Processor time in ms of a first recall, its parts and a warm one; bytes per entry.

    *private_bytes* are those of *resident_bytes* that are no pages of a file.
    """

    first_ms: float
    mapping_ms: float
    reading_ms: float
    building_ms: float
    ranking_ms: float
    warm_ms: float
    index_bytes: float
    resident_bytes: float
    private_bytes: float
    peak_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """Processor time in ms of writing an index file, and its bytes per entry."""

    writing_ms: float
    file_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeScopeReport:
    """Medians of alternating first recalls: from a file, in blocks, and row by row."""

    entries: int
    has_vectors: bool
    written: WrittenFile
    file: FirstRecall
    blocks: FirstRecall
    rows: FirstRecall

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


def _embedder(*, has_vectors: bool) -> Embedder | str:
    return ChanceVectors() if has_vectors else "none"


def measure(
    entries: int,
    turns: int,
    *,
    has_vectors: bool,
    progress: Callable[[str], None] = lambda _: None,
) -> LargeScopeReport:
    """Fill a store, then recall in new processes, in turn with and without its index file."""
    kind = "vectors" if has_vectors else "words"
    found: dict[str, list[FirstRecall]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="recollect-large-") as folder:
        path = Path(folder, "large.db")
        progress(f"writing {entries:,} messages")
        asyncio.run(_fill(path, entries, has_vectors=has_vectors))
        progress("writing the index file")
        written = WrittenFile(**_in_new_process(path, kind, "write"))
        for turn in range(turns):
            progress(f"first recall {turn + 1} of {turns}")
            for way, each in found.items():
                each.append(FirstRecall(**_in_new_process(path, kind, way)))
    return LargeScopeReport(
        entries=entries,
        has_vectors=has_vectors,
        written=written,
        **{way: _median(each) for way, each in found.items()},
    )


async def _fill(path: Path, entries: int, *, has_vectors: bool) -> None:
    messages = ZipfTalk().messages(entries)
    store = open_store(path, durability="relaxed")
    async with Recollect(store, embedder=_embedder(has_vectors=has_vectors)) as memory:
        for start in range(0, entries, THREAD_MESSAGES):
            said = messages[start : start + THREAD_MESSAGES]
            await memory.append(SCOPE, f"thread {start}", said)
        await memory.settled(SCOPE)


def _in_new_process(path: Path, kind: str, way: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.large_scopes", str(path), kind, way]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 (ours)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _median(found: Sequence[FirstRecall]) -> FirstRecall:
    every = [asdict(each) for each in found]
    return FirstRecall(
        **{name: statistics.median(each[name] for each in every) for name in every[0]}
    )


@contextmanager
def _timed(spent: dict[str, float], owner: Any, name: str, part: str) -> Iterator[None]:
    """Add the processor time in ms of a function's calls by one thread to *spent*."""
    plain = getattr(owner, name)

    def timed(*values: Any, **named: Any) -> Any:
        began = thread_time()
        try:
            return plain(*values, **named)
        finally:
            spent[part] = spent.get(part, 0.0) + (thread_time() - began) * 1_000

    setattr(owner, name, timed)
    try:
        yield
    finally:
        setattr(owner, name, plain)


async def _written_file(path: str, *, has_vectors: bool) -> WrittenFile:
    from recollect.memory import runtime
    from recollect.recall.index_file_upkeep import IndexPersistence

    vars(runtime)["MERGE_EVERY_S"] = NEVER  # it is written here, not in the background
    async with Recollect(open_store(path), embedder=_embedder(has_vectors=has_vectors)) as memory:
        await memory.recall(SCOPE, ZipfTalk().text(8))
        recaller = require_open(memory._runtime.recaller)  # noqa: SLF001 (what is measured)
        filing, embedder = IndexPersistence(memory.store), require_open(recaller.vectors_by)
        began = process_time()
        written = await filing.write_due(recaller.indexes, embedder)
        spent_ms = (process_time() - began) * 1_000
        live = recaller.indexes.take([SCOPE]).indexes[0].live
        count, size = size_beside(path)
        if (written, count) != (1, 1):
            msg = f"{written} files were written, and {count} are there, where 1 is measured"
            raise RuntimeError(msg)
        return WrittenFile(writing_ms=spent_ms, file_bytes=size / live)


async def _first_recall(path: str, *, has_vectors: bool, has_file: bool) -> FirstRecall:
    from recollect.recall import snapshot_search
    from recollect.stores.plans.snapshot import StoreSnapshot

    talk, spent = ZipfTalk(), dict[str, float]()
    store = open_store(path, index_files=has_file)
    async with Recollect(store, embedder=_embedder(has_vectors=has_vectors)) as memory:
        await memory.recall(("another",), "wake the reader")
        before, private_before = _resident_bytes(), _private_bytes()
        began = process_time()
        with (
            _timed(spent, snapshot_search, "from_file", "mapping"),
            _timed(spent, StoreSnapshot, "feeds", "reading"),
            _timed(spent, snapshot_search, "refreshed", "building"),
            _timed(spent, snapshot_search, "rank_entries", "ranking"),
        ):
            await memory.recall(SCOPE, talk.text(8))
        first_ms, resident = (process_time() - began) * 1_000, _resident_bytes()
        private = _private_bytes()
        # Measured here: later searches take no more than the first.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024
        indexes = require_open(memory._runtime.recaller).indexes  # noqa: SLF001 (what is measured)
        live = indexes.take([SCOPE]).indexes[0].live
        warm_ms = [await _recall_ms(memory, each) for each in talk.questions(WARM)]
        return FirstRecall(
            first_ms=first_ms,
            mapping_ms=spent["mapping"],
            reading_ms=spent["reading"],
            building_ms=spent["building"],
            ranking_ms=spent["ranking"],
            warm_ms=statistics.median(warm_ms),
            index_bytes=indexes.size_bytes / live,
            resident_bytes=(resident - before) / live,
            private_bytes=(private - private_before) / live,
            peak_bytes=(peak - before) / live,
        )


async def _recall_ms(memory: Recollect, question: str) -> float:
    began = process_time()
    await memory.recall(SCOPE, question)
    return (process_time() - began) * 1_000


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * _PAGE_BYTES


def _private_bytes() -> int:
    """Return the resident memory in bytes without file pages."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    (kib,) = (line.split()[1] for line in lines if line.startswith("RssAnon:"))
    return int(kib) * 1_024


def main(path: str, kind: str, way: str) -> None:
    """Child process: print a first recall, or the writing of a file, as JSON."""
    from recollect.stores.sqlite import rows

    has_vectors = kind == "vectors"
    if way == "rows":
        vars(rows)["BLOCKS_FROM"] = NEVER
    if way == "write":
        found: object = asyncio.run(_written_file(path, has_vectors=has_vectors))
    else:
        found = asyncio.run(_first_recall(path, has_vectors=has_vectors, has_file=way == "file"))
    print(json.dumps(asdict(found)))  # type: ignore[call-overload]


if __name__ == "__main__":
    main(*sys.argv[1:])
