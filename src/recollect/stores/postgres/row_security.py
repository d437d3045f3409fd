"""Row-level security: the settings that say which rows a transaction sees; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.records import Scope
from recollect.stores.scope_paths import range_below, range_of


@dataclass(frozen=True, slots=True)
class Wall:
    """
    The rows that row-level security shows.

    One of: the rows of the scopes with the ids in *scope*; the scopes with paths from *first* up to
    *end*, with *sweep* also their pending threads; or, if *first* is given without *end*, the audit
    chains of these names. Ids and names are separated by commas.
    """

    scope: str = ""
    first: str = ""
    end: str = ""
    sweep: str = ""

    def settings(self) -> tuple[str, str, str, str]:
        """Return the values in the order of the statement ``enter``."""
        return self.scope, self.first, self.end, self.sweep


CLOSED: Final = Wall()
"""Shows no row of any scope."""


def inside(*scope_ids: int) -> Wall:
    """Show the rows of these scopes."""
    return Wall(scope=",".join(map(str, scope_ids)))


def finding(scope: Scope) -> Wall:
    """Allow finding exactly *scope* by its path."""
    return _between(range_of(scope))


def around(scope: Scope, scope_id: int) -> Wall:
    """Allow finding *scope* by its path, and reading its rows if it has this id."""
    return replace(finding(scope), scope=str(scope_id))


def finding_below(prefix: Scope) -> Wall:
    """Allow finding *prefix* and all scopes below by their paths."""
    return _between(range_below(prefix))


def spanning(scopes: Sequence[Scope]) -> Wall:
    """Allow finding *scopes*, and any scopes between them, by their paths."""
    ranges = [range_of(each) for each in scopes]
    return _between((min(first for first, _ in ranges), max(end for _, end in ranges)))


def chained(*chains: bytes) -> Wall:
    """Show these audit chains, and no scope."""
    return Wall(first=",".join(each.hex() for each in chains))


def sweeping(first: bytes, end: bytes) -> Wall:
    """Show the scopes in a range of paths, and their pending threads."""
    return _between((first, end), sweep="on")


def _between(bounds: tuple[bytes, bytes], sweep: str = "") -> Wall:
    return Wall(first=bounds[0].hex(), end=bounds[1].hex(), sweep=sweep)


SWEEPING: Final = sweeping(*range_below(()))
"""Shows the pending threads of the whole store, for workers."""
