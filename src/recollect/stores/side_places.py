"""The range of the places of side records that begin in one way, for the backends with an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.stores.rows import SidePlace

_BEYOND: Final = "\U0010ffff" * 257
"""Comes after every id: it is longer than any."""


def side_bounds(within: Sequence[str], after: SidePlace | None) -> tuple[SidePlace, SidePlace]:
    r"""
    Return two places between which lie those that begin with *within* and come after *after*.

    Neither is among them. No id has a control character, so none lies between ``x`` and
    ``x\x01``.

    >>> side_bounds(("talk", "State"), None)
    (('talk', 'State', ''), ('talk', 'State\x01', ''))
    """
    low = (*within, "", "", "")[:3]
    end = (*within[:-1], f"{within[-1]}\x01") if within else (_BEYOND,)
    high = (*end, "", "", "")[:3]
    beyond = low if after is None else max(low, after)
    return (beyond[0], beyond[1], beyond[2]), (high[0], high[1], high[2])
