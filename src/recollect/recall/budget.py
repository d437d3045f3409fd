"""Packing: which of the ranked entries fit a budget of tokens, whole and without repetition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from recollect.ports import TokenCounter
from recollect.recall.analyse import UNSPACED, fold

_WIDE: Final = re.compile(rf"[{UNSPACED}]")
DropReason = Literal["limit", "budget", "repeats"]


def estimated_tokens(text: str) -> int:
    """
    Return about how many tokens *text* costs: one per CJK character, one per four others.

    >>> estimated_tokens("eight ch"), estimated_tokens("我养猫"), estimated_tokens("")
    (2, 3, 0)
    """
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 4)


@dataclass(frozen=True, slots=True)
class Packed:
    """What was kept and left out, as places in the ranked list, best first."""

    kept: tuple[int, ...]
    dropped: tuple[tuple[int, DropReason], ...]
    tokens: int


def packed(
    texts: Sequence[str],
    *,
    limit: int,
    budget_tokens: int | None,
    count: TokenCounter,
    repeated: frozenset[int] = frozenset(),
) -> Packed:
    """
    Keep the best of the ranked *texts* within *limit* and *budget_tokens*.

    An entry that does not fit is passed over, and a smaller one behind it may still fit;
    the first is kept even if it alone exceeds the budget. The places *repeated* are dropped
    and, with a budget, an entry that only repeats words of one already kept.
    """
    kept: list[int] = []
    dropped: list[tuple[int, DropReason]] = []
    said: list[str] = []
    tokens = 0
    for place, text in enumerate(texts):
        if len(kept) >= limit:
            dropped.append((place, "limit"))
            continue
        # Without a budget nobody asks for the words.
        words = "" if budget_tokens is None else _plain(text)
        if place in repeated or _is_said(words, said):
            dropped.append((place, "repeats"))
            continue
        cost = count(text)
        if kept and budget_tokens is not None and tokens + cost > budget_tokens:
            dropped.append((place, "budget"))
            continue
        kept.append(place)
        said.append(words)
        tokens += cost
    return Packed(tuple(kept), tuple(dropped), tokens)


def _plain(text: str) -> str:
    """Return the words of *text* without case, accents, marks and spacing, for comparison."""
    return " " + " ".join(re.findall(r"\w+", fold(text))) + " "


def _is_said(words: str, said: Sequence[str]) -> bool:
    return any(words in each for each in said) if words.strip() else False
