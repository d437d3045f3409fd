"""Benefit of an external vector store for recall, by the weight of its signal."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Final

from benchmarks.datasets import Dataset
from benchmarks.reembed_under_load import DEPTH, QuestionSet, counting_questions, filled
from recollect.embedders import EmbedderChoice
from recollect.integrations.search import ChromaDBSearch, OutsideSearch
from recollect.memory.facade import Recollect
from recollect.ports import Embedder, OutsideVectors
from recollect.recall.fusion import WEIGHTS, WEIGHTS_WITHOUT_VECTOR
from recollect.records import Scope
from recollect.stores.locator import open_store

TRIED: Final = (0.0, 0.05, 0.1, 0.2, 0.3, 0.6)
_SIGNAL: Final = "outside"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideRow:
    """Mean recall by weight, with an embedder of our own or none beside an external store."""

    own: str
    outside: str
    found: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideReport:
    """All pairs of our embedder and the external one; a weight of 0 is the control."""

    questions: int
    depth: int = DEPTH
    rows: list[OutsideRow] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


class CachedOutsideVectors:
    """An external store whose answers are cached, so that all weights use the same ones."""

    def __init__(self, vectors: OutsideVectors) -> None:
        self.name: Final = vectors.name
        self._vectors = vectors
        self._found: dict[tuple[Scope, str, int], Sequence[tuple[int, float]]] = {}

    def check(self) -> None:
        """Check the store."""
        self._vectors.check()

    def add(self, scope: Scope, entries: Sequence[tuple[int, str]]) -> None:
        """Add to the store."""
        self._vectors.add(scope, entries)

    def remove(self, uids: Sequence[int]) -> None:
        """Remove from the store."""
        self._vectors.remove(uids)

    def search(self, scope: Scope, query: str, limit: int) -> Sequence[tuple[int, float]]:
        """Search the store, or return its cached result."""
        asked = scope, query, limit
        if asked not in self._found:
            self._found[asked] = self._vectors.search(scope, query, limit)
        return self._found[asked]


async def run(
    dataset: Dataset, data: Path, embedders: dict[str, Embedder], progress: Progress
) -> OutsideReport:
    """Fill Chroma with each of *embedders*; recall at each weight, with each embedder and none."""
    asked = QuestionSet(counting_questions(dataset, data))
    report = OutsideReport(questions=len(asked.questions))
    owns: dict[str, EmbedderChoice] = {"none": "none", **embedders}
    for there, encoder in embedders.items():
        for here, own in owns.items():
            found = {}
            with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
                search = ChromaDBSearch(path=str(Path(folder, "chroma")), encoder=encoder)
                outside = CachedOutsideVectors(OutsideSearch(search, name="entries"))
                store = open_store(Path(folder, "memory.db"))
                async with Recollect(store, embedder=own, outside=outside) as memory:
                    progress(f"filling, {here} here and {there} outside")
                    await filled(memory, dataset, data)
                    for weight in TRIED:
                        progress(f"{here} here, {there} outside, weight {weight}")
                        with weighing(weight):
                            shares = await asked.all(memory)
                        found[f"{weight:g}"] = fmean(shares.values())
            report.rows.append(OutsideRow(own=here, outside=there, found=found))
    return report


@contextmanager
def weighing(weight: float) -> Iterator[None]:
    """Change the weight of external stores during the block."""
    before = [(weights, weights[_SIGNAL]) for weights in (WEIGHTS, WEIGHTS_WITHOUT_VECTOR)]
    for weights, _ in before:
        weights[_SIGNAL] = weight
    try:
        yield
    finally:
        for weights, was in before:
            weights[_SIGNAL] = was
