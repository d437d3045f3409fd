"""Precomputed vectors, so that no store is timed for embedding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.item_texts import text_of

VECTORS: Final = "vectors.npy"
QUERIES: Final = 50
"""Number of queries; they are the items -1, -2 and so on."""


def query_text(number: int) -> str:
    """Return the text of a query."""
    return text_of(-1 - number % QUERIES)


class VectorTable:
    """The vectors of items and queries by their text; the file is mapped, not copied."""

    def __init__(self, folder: Path) -> None:
        self._vectors: NDArray[np.float32] = np.load(folder / VECTORS, mmap_mode="r")
        self._row: dict[str, int] = {}
        self._known = 0
        for number in range(QUERIES):
            self._row[query_text(number)] = len(self._vectors) - 1 - number

    @property
    def dimensions(self) -> int:
        """Return the length of each vector."""
        return int(self._vectors.shape[1])

    def learn(self, numbers: Sequence[int]) -> None:
        """Register the texts of items whose vectors are needed next."""
        self._row.update((text_of(number), number) for number in numbers)

    def of(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a registered text."""
        found: NDArray[np.float32] = self._vectors[self._row[text]]
        return found


def write_vectors(folder: Path, items: int) -> None:
    """Write the vectors of the items, followed by those of the queries."""
    from recollect.testing import HashedEmbedder

    texts = [text_of(number) for number in range(items)]
    texts += [query_text(number) for number in reversed(range(QUERIES))]
    embedder = HashedEmbedder(256)
    rows = [embedder.embed([text])[0] for text in texts]
    np.save(folder / VECTORS, np.asarray(rows, dtype=np.float32))
