"""
The strength of an embedder: the weight of its vectors in the ranking, 1 for MiniLM.

An embedder declares it as a class, or `Recollect.tune` measures it and stores it under the
embedder's identity. A stored strength takes precedence over a declared one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.errors import UsageError
from recollect.records import Scope
from recollect.side_records import PutSideRecord, SideRecord
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row

STRENGTH: Final = 1.0
"""The strength of MiniLM, with which the weights of the ranking were measured."""
STRENGTHS: Final = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""The strengths that tuning tries; at 0 entries are found by words alone."""
STRENGTH_OF_CLASS: Final[Mapping[str, float]] = {"weak": 0.25, "medium": STRENGTH, "strong": 2.0}
"""The strength of each class that an embedder may declare in its attribute ``strength``."""
EMBEDDERS_SCOPE: Final[Scope] = ("recollect:embedders",)
"""The scope of a store's records about embedders; copies include it, imports never write to it."""
KIND: Final = "EmbedderStrength"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStrength:
    """
    A measured strength of an embedder, as stored, with the figures of its measurement.

    *before* is the sample's recall at the previous strength; *after* is each question's recall at
    the strength that the other questions chose.
    """

    embedder: str
    strength: float
    questions: int
    before: float
    after: float
    at: datetime


def declared_strength(embedder: object) -> float | None:
    """
    Return the strength of the class that *embedder* declares, ``None`` if it declares none.

    >>> from recollect.testing import HashedEmbedder
    >>> declared_strength(HashedEmbedder()) is None
    True

    Raises:
        UsageError: It declares another class than those of ``STRENGTH_OF_CLASS``.
    """
    declared = getattr(embedder, "strength", None)
    if declared is None:
        return None
    if not isinstance(declared, str) or declared not in STRENGTH_OF_CLASS:
        raise UsageError(
            f"the embedder {type(embedder).__qualname__} declares the strength {declared!r:.80}: "
            f"it is one of {', '.join(map(repr, STRENGTH_OF_CLASS))}, or None"
        )
    return STRENGTH_OF_CLASS[declared]


def strength_write(kept: KeptStrength) -> PutSideRecord:
    """Return the write that keeps a strength in ``EMBEDDERS_SCOPE``."""
    return PutSideRecord(
        kind=KIND,
        key=kept.embedder,
        value={
            "strength": kept.strength,
            "questions": kept.questions,
            "before": kept.before,
            "after": kept.after,
        },
    )


async def stored_strength(store: Store, embedder: str) -> KeptStrength | None:
    """Return the stored strength of the embedder with this identity, if any."""
    found = await store.side_record(EMBEDDERS_SCOPE, KIND, embedder)
    return None if found is None else _read(found)


async def stored_strengths(store: Store) -> list[KeptStrength]:
    """Return the stored strengths of all embedders, by identity."""
    records = each_row(lambda cursor: store.side_records(EMBEDDERS_SCOPE, KIND, cursor=cursor))
    found = [_read(each) async for each in records]
    return [each for each in found if each is not None]


def _read(record: SideRecord) -> KeptStrength | None:
    """Return the strength in a record; ``None`` if the record was not written by this module."""
    figures = [record.value.get(each) for each in ("strength", "questions", "before", "after")]
    numbers = [float(each) for each in figures if isinstance(each, int | float)]
    if len(numbers) < len(figures) or numbers[0] not in STRENGTHS:
        return None
    return KeptStrength(
        embedder=record.key,
        strength=numbers[0],
        questions=int(numbers[1]),
        before=numbers[2],
        after=numbers[3],
        at=record.updated_at,
    )
