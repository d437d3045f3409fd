"""Bounds of an index range of side records, by the beginning of their address; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.stores.rows import SidePlace

_BEYOND: Final = "\U0010ffff" * 257
"""Sorts after every id, because it is longer than any."""


def side_bounds(within: Sequence[str], after: SidePlace | None) -> tuple[SidePlace, SidePlace]:
    r"""
    Return exclusive bounds of the addresses that begin with *within* and come after *after*.

    No id has a control character, so none sorts between ``x`` and ``x\x01``.

    >>> side_bounds(("talk", "State"), None)
    (('talk', 'State', ''), ('talk', 'State\x01', ''))
    """
    low = (*within, "", "", "")[:3]
    end = (*within[:-1], f"{within[-1]}\x01") if within else (_BEYOND,)
    high = (*end, "", "", "")[:3]
    beyond = low if after is None else max(low, after)
    return (beyond[0], beyond[1], beyond[2]), (high[0], high[1], high[2])
