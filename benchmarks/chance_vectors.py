"""Vectors by chance, for measurements in which a real embedder would take most of the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from recollect.ports import Vector

DIMENSIONS: Final = 384


class ChanceVectors:
    """Vectors by chance: a search costs the same, whatever they say."""

    identity = "seeded"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return a vector of length one for each text."""
        drawn = self._random.standard_normal((len(texts), DIMENSIONS)).astype(np.float32)
        return list(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
