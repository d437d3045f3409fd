"""An embedder without weights, for tests: it compares spelling, not meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final

import numpy as np

from recollect.ports import Vector

GRAM_LENGTHS: Final = (3, 4, 5)


class HashedEmbedder:
    """
    Embeds text as hashed runs of its characters (feature hashing, Weinberger et al. 2009).

    Texts that share words, or forms of a word, have similar vectors; texts that share none
    have nearly orthogonal ones. The same text has the same vector everywhere. A text
    without a letter or digit has no vector.

    >>> import numpy as np
    >>> question, answer, other = HashedEmbedder().embed(
    ...     ["Where does Ada live?", "Ada lives in Oslo", "The invoice is overdue"])
    >>> bool(question @ answer > 0.2 > abs(question @ other))
    True
    """

    def __init__(self, dimensions: int = 256) -> None:
        self._dimensions = dimensions

    @property
    def identity(self) -> str:
        """Name of the hashing scheme and its dimensions."""
        return f"hashed-characters/{self._dimensions}/1"

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return one unit-length vector per text, in order; ``None`` for one without words."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector | None:
        vector = np.zeros(self._dimensions, dtype=np.float32)
        for gram in _grams(text):
            digest = int.from_bytes(blake2b(gram.encode(), digest_size=8).digest(), "little")
            vector[(digest >> 1) % self._dimensions] += 1.0 if digest & 1 else -1.0
        length = float(np.linalg.norm(vector))
        return vector / np.float32(length) if length else None


def _grams(text: str) -> Iterator[str]:
    """Yield every run of 3 to 5 characters within the words of *text*, edges marked."""
    letters = "".join(each if each.isalnum() else " " for each in text.lower())
    for word in letters.split():
        marked = f"<{word}>"
        for length in GRAM_LENGTHS:
            yield from (marked[at : at + length] for at in range(len(marked) - length + 1))
