"""Pack a recall: fit ranked entries into a token budget, whole and without repetition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from recollect.ports import TokenCounter

if TYPE_CHECKING:  # it knows the results, which know the reasons below
    from recollect.recall.duplicates import SaidAlready

DropReason = Literal["limit", "budget", "repeats", "score", "empty"]
"""
Why an entry was dropped: over a limit, a repetition of a kept one, or below ``min_score``.

``empty`` is a message without any text, such as a message of tool calls alone. Some callers also
skip messages that tell nothing, such as "Where do I live?".
"""


@dataclass(frozen=True, slots=True)
class Packed:
    """Positions in the ranked list that were kept and dropped, best first."""

    kept: tuple[int, ...]
    dropped: tuple[tuple[int, DropReason], ...]
    tokens: int


def packed(
    texts: Sequence[str],
    *,
    limit: int,
    budget_tokens: int | None,
    count: TokenCounter,
    said: SaidAlready | None = None,
    drops: Callable[[int], DropReason | None] | None = None,
) -> Packed:
    """
    Keep the best of the ranked *texts* within *limit* and *budget_tokens*.

    An entry that does not fit is skipped; a smaller one after it may still fit. The first entry is
    kept even if it alone exceeds the budget. Entries that *said* reports as repetitions are
    dropped, and so are those for which *drops* has a reason.
    """
    kept: list[int] = []
    dropped: list[tuple[int, DropReason]] = []
    tokens = 0
    for place, text in enumerate(texts):
        if len(kept) >= limit:
            dropped.append((place, "limit"))
            continue
        reason = drops(place) if drops is not None else None
        if reason is not None:
            dropped.append((place, reason))
            continue
        if said is not None and said.says(place):
            dropped.append((place, "repeats"))
            continue
        cost = count(text)
        if kept and budget_tokens is not None and tokens + cost > budget_tokens:
            dropped.append((place, "budget"))
            continue
        kept.append(place)
        if said is not None:
            said.keep(place)
        tokens += cost
    return Packed(tuple(kept), tuple(dropped), tokens)
