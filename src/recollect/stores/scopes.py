"""The contract, scopes: which there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias, final

from recollect.records import Page, Scope
from recollect.stores.pages import page_of
from recollect.stores.transactor import Transactor
from recollect.stores.unit import Rows
from recollect.stores.validate import check_page

ScopePattern: TypeAlias = "Sequence[str | EllipsisType]"
"""Segments to compare, ``...`` for any one segment."""


class ScopeStore(Transactor):
    """The scopes that hold something."""

    @final
    async def scopes(
        self,
        *,
        prefix: ScopePattern = (),
        suffix: ScopePattern = (),
        depth_max: int | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Scope]:
        """
        Return scopes that hold something, by their segments.

        Args:
            prefix: Segments that a scope begins with, ``...`` for any one segment.
            suffix: Segments that it ends with.
            depth_max: Cut scopes to this many segments, each result once.
        """
        check_page(limit)
        fixed = tuple(prefix)[: next((i for i, s in enumerate(prefix) if s is ...), None)]
        base = tuple(segment for segment in fixed if isinstance(segment, str))
        after = None if cursor is None else tuple(json.loads(cursor))

        def query(rows: Rows) -> list[Scope]:
            found: dict[Scope, None] = {}
            for row in rows.scopes_below(base, None if depth_max else after):
                if _fits(row.segments, prefix, suffix):
                    cut = row.segments[:depth_max]
                    if after is None or cut > after:
                        found[cut] = None
                if len(found) > limit:
                    break
            return list(found)

        return page_of(await self._read(query), limit, json.dumps)


def _fits(segments: Scope, prefix: ScopePattern, suffix: ScopePattern) -> bool:
    if len(segments) < max(len(prefix), len(suffix)):
        return False
    ending = segments[len(segments) - len(suffix) :]
    wanted = [*zip(prefix, segments, strict=False), *zip(suffix, ending, strict=True)]
    return all(pattern is ... or pattern == segment for pattern, segment in wanted)
