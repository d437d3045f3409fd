"""The texts behind the vectors by which CrewAI searches."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock
from typing import Final

TEXTS_MAX: Final = 1_000
"""Texts that are remembered; a query is searched right after it was embedded."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """A text that was embedded, and whether the embedder reads its language."""

    text: str
    is_read: bool


@dataclass(frozen=True, slots=True)
class QueryTexts:
    """
    Remembers which text each vector came from.

    CrewAI gives a storage the vector of a query alone, and searches nothing for an empty one.
    Knowing the text, the storage searches by its words as well.
    """

    _texts: OrderedDict[tuple[float, ...], QueryText] = field(default_factory=OrderedDict)
    # CrewAI embeds and searches in several threads.
    _turn: Lock = field(default_factory=Lock)

    def note(self, text: str, vector: Iterable[float] | None) -> list[float]:
        """Return the vector of *text*, or without one a stand-in that is unlike any other."""
        found = _stand_in(text) if vector is None else [float(part) for part in vector]
        with self._turn:
            self._texts[tuple(found)] = QueryText(text, vector is not None)
            while len(self._texts) > TEXTS_MAX:
                self._texts.popitem(last=False)
        return found

    def find(self, vector: Sequence[float]) -> QueryText | None:
        """Return the text of a vector; ``None`` for one that was not embedded here lately."""
        with self._turn:
            return self._texts.get(tuple(vector))


def _stand_in(text: str) -> list[float]:
    # CrewAI drops texts of one batch whose vectors are alike, so that equal vectors lose texts.
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return [each / 127.5 - 1.0 for each in digest]
