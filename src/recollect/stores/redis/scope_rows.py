"""The scopes of a Redis store, and what is due or pending in any of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from recollect.records import Scope
from recollect.stores.derived_reads import DerivedReads
from recollect.stores.redis import key_layout as keys
from recollect.stores.redis.codec import THREADS
from recollect.stores.redis.optimistic_reads import OptimisticReads, Value
from recollect.stores.rows import ScopeRow, ThreadRow
from recollect.stores.scope_paths import range_below, stored_path

RowT = TypeVar("RowT")

PAGE: Final = 500
"""Members or rows read in one command, at most."""


class RedisScopeRows(DerivedReads):
    """
    The reads of one unit of work that find scopes.

    Numbers that a unit allocates stay used even if it fails.
    """

    settings_stamp: int | None = None
    moment: None = None

    def __init__(self, reading: OptimisticReads) -> None:
        self.reading: Final = reading

    def new_number(self) -> int:
        return int(self.reading.script("number", [keys.NUMBER, f"{keys.NUMBER}:none"]))

    def scope(self, segments: Scope) -> ScopeRow | None:
        return self.reading.scope(segments)

    def scope_by_id(self, scope_id: int) -> ScopeRow | None:
        (row,) = self.reading.ask(scope_id, ("GET", keys.of_scope(scope_id, "row")))
        return self.reading.row_of(row) if row else None

    def scopes_below(self, prefix: Scope, after: Scope | None) -> Iterator[ScopeRow]:
        first, end = range_below(prefix)
        beyond = b"" if after is None else stored_path(after)
        start = b"(" + beyond if beyond >= first and beyond else b"[" + first
        while True:
            (paths,) = self.reading.ask_guarded(
                keys.LISTING,
                ("ZRANGEBYLEX", keys.PATHS, start, b"(" + end, "LIMIT", 0, PAGE),
            )
            yield from self._scopes_at(paths)
            if len(paths) < PAGE:
                return
            start = b"(" + paths[-1]

    def _scopes_at(self, paths: Sequence[bytes]) -> list[ScopeRow]:
        if not paths:
            return []
        (ids,) = self.reading.ask_guarded(keys.LISTING, ("HMGET", keys.NAMES, *paths))
        named = [int(each) for each in ids if each is not None]
        return list(self._scopes_by_id(named))

    def _scopes_by_id(self, ids: Sequence[int]) -> Iterator[ScopeRow]:
        # Version and row of each in one command, so that they belong together.
        kinds = [keys.of_scope(each, kind) for each in ids for kind in ("v", "row")]
        found = self.reading.client.execute_command("MGET", *kinds) if kinds else []
        for scope_id, version, row in zip(ids, found[::2], found[1::2], strict=True):
            self.reading.saw(scope_id, version or b"")
            if row:
                yield self.reading.row_of(row)

    def due_threads(self, now: int, limit: int) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        end = b"(" + keys.number(now + 1)
        found = self.reading.script("due", [keys.DUE], end, now, limit, keys.PREFIX)
        return self._pairs(found)

    def _pairs(self, found: Sequence[Sequence[bytes]]) -> list[tuple[ScopeRow, ThreadRow]]:
        """Decode (scope id, version, scope, thread) tuples, and record the versions."""
        for scope_id, version, *_ in found:
            self.reading.saw(int(scope_id), version)
        return [(self.reading.row_of(row), THREADS.decode(thread)) for _, _, row, thread in found]

    def waiting_threads(
        self, prefix: Scope, *, below: bool, after: tuple[Scope, str] | None, limit: int
    ) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        first, end = range_below(prefix)
        # Threads of the scope itself come first: a second zero byte follows its path.
        end = end if below else first + b"\1"
        place = stored_path(after[0]) + b"\0" + after[1].encode() if after else b""
        start = b"(" + place if place > first else b"[" + first
        given = (start, b"(" + end, limit, keys.PREFIX)
        return self._pairs(self.reading.script("waiting", [keys.WAITING, keys.NAMES], *given))

    def unembedded_scopes(self, embedder: str, limit: int) -> Sequence[int]:
        (named,) = self.reading.ask_guarded(keys.LISTING, ("HVALS", keys.NAMES))
        behind: list[int] = []
        for page in pages_of(sorted(map(int, named))):
            # Before the scopes' seqs: a scope that is written in between only seems behind, and
            # never seems done.
            asked = [("HGET", keys.of_scope(each, "embedded"), embedder.encode()) for each in page]
            seen = self.reading.ask_guarded(keys.LISTING, *asked)
            looked_at = dict(zip(page, seen, strict=True))
            rows = self._scopes_by_id(page)
            behind += [row.id for row in rows if int(looked_at[row.id] or 0) < row.seq]
            if len(behind) >= limit:
                break
        return behind[:limit]

    def _of(self, scope_id: int, command: str, kind: str, *values: Value) -> list[Any]:
        return self.reading.ask(scope_id, (command, keys.of_scope(scope_id, kind), *values))

    def _fields(self, scope_id: int, kind: str, wanted: Sequence[bytes]) -> Iterator[bytes]:
        """Return the existing fields of a hash, in the order requested."""
        for page in pages_of(wanted):
            (found,) = self._of(scope_id, "HMGET", kind, *page)
            yield from (each for each in found if each is not None)


def pages_of(all_: Sequence[RowT]) -> Iterator[Sequence[RowT]]:
    """Return the parts of *all_* that are read with one command each."""
    return (all_[at : at + PAGE] for at in range(0, len(all_), PAGE))
