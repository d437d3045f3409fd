"""Store contract: list scopes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import TypeAlias, final

from recollect.errors import UsageError
from recollect.records import Page, Scope
from recollect.stores.contract.backend import Transactor
from recollect.stores.pages import page_of, read_cursor
from recollect.stores.plans.scopes import holds_anything
from recollect.stores.rows import ScopeRow
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import (
    check_id,
    check_list,
    check_page,
    check_position,
    check_scope,
    check_text,
    segment_text,
)

ScopePattern: TypeAlias = "Sequence[str | EllipsisType]"
"""Segments to compare; ``...`` matches any one segment."""


class ScopeStore(Transactor):
    """The non-empty scopes of the store."""

    @final
    async def scopes(
        self,
        *,
        prefix: ScopePattern = (),
        suffix: ScopePattern = (),
        depth_max: int | None = None,
        type_: str | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Scope]:
        """
        Return non-empty scopes, ordered by their segments.

        Args:
            prefix: Leading segments; ``...`` matches any one segment.
            suffix: Trailing segments.
            depth_max: Cut scopes to this many segments, at least 1, without duplicates.
            type_: Only scopes that hold an active memory of this type that has not expired.
        """
        check_page(limit)
        if type_ is not None:
            check_id(type_, "a memory's type")
        now = self.now()
        if depth_max is not None and check_position(depth_max, "depth_max") < 1:
            msg = f"depth_max {depth_max} leaves nothing of a scope: give at least 1, or None"
            raise UsageError(msg)
        prefix, suffix, after = _texts(prefix), _texts(suffix), read_cursor(cursor, _scope_in)
        fixed = prefix[: next((i for i, s in enumerate(prefix) if s is ...), None)]
        base = tuple(segment for segment in fixed if isinstance(segment, str))
        # Every row below a prefix without gaps matches: compare no segments.
        is_range = base == prefix and not suffix

        def query(rows: Rows) -> list[Scope]:
            found: dict[Scope, None] = {}
            for segments, row in _below(rows, type_, now, base, None if depth_max else after):
                cut = segments[:depth_max]
                if cut in found or (after is not None and cut <= after):
                    continue
                fits = is_range or _fits(segments, prefix, suffix)
                # A scope whose last entry was deleted, not erased, still has a row.
                if fits and (row is None or holds_anything(rows, row)):
                    found[cut] = None
                if len(found) > limit:
                    break
            return list(found)

        return page_of(await self._read(query), limit, json.dumps)


def _texts(pattern: ScopePattern) -> tuple[str | EllipsisType, ...]:
    """Return *pattern* with integer segments as their decimal text, as in a scope."""
    if not isinstance(pattern, list | tuple):
        msg = f"a pattern is a tuple of segments, such as ('users', ...); not {pattern!r}"
        raise UsageError(msg)
    return tuple(
        each if each is ... else check_text(segment_text(each), "a pattern's segment")
        for each in pattern
    )


def _scope_in(cursor: object) -> Scope:
    return check_scope(tuple(check_list(cursor, "segment")))


def _below(
    rows: Rows, type_: str | None, now: int, prefix: Scope, after: Scope | None
) -> Iterator[tuple[Scope, ScopeRow | None]]:
    """Yield scopes below *prefix*, each with its row if the scope may turn out to be empty."""
    if type_ is not None:
        return ((scope, None) for scope in rows.scopes_holding(type_, now, prefix, after))
    return ((row.segments, row) for row in rows.scopes_below(prefix, after))


def _fits(segments: Scope, prefix: ScopePattern, suffix: ScopePattern) -> bool:
    if len(segments) < max(len(prefix), len(suffix)):
        return False
    ending = segments[len(segments) - len(suffix) :]
    wanted = [*zip(prefix, segments, strict=False), *zip(suffix, ending, strict=True)]
    return all(pattern is ... or pattern == segment for pattern, segment in wanted)
