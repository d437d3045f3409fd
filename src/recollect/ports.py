"""What the library needs of the world, as protocols: time, chance, embedders, token counts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]


class Clock(Protocol):
    """Where the present moment comes from."""

    def now(self) -> datetime:
        """Return the present moment, with a zone."""
        ...


class Ids(Protocol):
    """Where identity comes from."""

    def entry_id(self) -> int:
        """Return a random integer from 1 to 2**63 - 1 that says nothing about its entry."""
        ...

    def name(self, now: datetime) -> str:
        """Return a new UUIDv7 as text, ordered by *now*."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """
    What turns text into vectors of meaning.

    Two embedders with equal `identity` must return comparable vectors: it names
    the weights, their quantisation and how text is prepared. Vectors of different
    identities are never compared.
    """

    @property
    def identity(self) -> str:
        """Name the weights, quantisation and preparation, e.g. ``minilm-l6-v2/int8/1``."""
        ...

    @property
    def dimensions(self) -> int:
        """Say how long each vector is."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """
        Return one unit-length vector per text, in order.

        Blocking and safe to call from several threads. ``None`` stands for a text
        that this embedder does not understand (its language is unknown to it).

        Raises:
            EmbedderError: It failed; nothing is known about any of the texts.
        """
        ...


class TokenCounter(Protocol):
    """How many tokens a text costs in the prompt it is meant for."""

    def __call__(self, text: str, /) -> int:
        """Return a count of at least 0."""
        ...
