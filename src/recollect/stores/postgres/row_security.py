"""Row-level security: which rows the server shows to a transaction; pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from recollect.records import Scope
from recollect.stores.scope_paths import range_below, range_of


@dataclass(frozen=True, slots=True)
class Wall:
    """
    The rows that row-level security lets through.

    One of: the rows of the scopes with the ids in *scope*; the scopes whose paths lie in a range,
    with *sweep* also their pending threads; or, if *first* is given without *end*, the audit chains
    of these names. Several ids or names have commas between them.
    """

    scope: str = ""
    first: str = ""
    end: str = ""
    sweep: str = ""

    def settings(self) -> tuple[str, str, str, str]:
        """Return the values of the settings, in the order of the statement that sets them."""
        return self.scope, self.first, self.end, self.sweep


CLOSED: Final = Wall()
"""Nothing of any scope is seen."""


def inside(*scope_ids: int) -> Wall:
    """Return the wall that shows the rows of these scopes."""
    return Wall(scope=",".join(map(str, scope_ids)))


def finding(scope: Scope) -> Wall:
    """Return the wall that lets exactly *scope* be found by its path."""
    return _between(range_of(scope))


def around(scope: Scope, scope_id: int) -> Wall:
    """Return the wall that lets *scope* be found, and shows it if it has this id."""
    return replace(finding(scope), scope=str(scope_id))


def finding_below(prefix: Scope) -> Wall:
    """Return the wall that lets *prefix* and all scopes below be found."""
    return _between(range_below(prefix))


def chained(*chains: bytes) -> Wall:
    """Return the wall that shows these audit chains, and no scope."""
    return Wall(first=",".join(each.hex() for each in chains))


def sweeping(first: bytes, end: bytes) -> Wall:
    """Return the wall that shows the pending threads in a range of scope paths."""
    return _between((first, end), sweep="on")


def _between(bounds: tuple[bytes, bytes], sweep: str = "") -> Wall:
    return Wall(first=bounds[0].hex(), end=bounds[1].hex(), sweep=sweep)


SWEEPING: Final = sweeping(*range_below(()))
"""Which scopes and threads of the whole store wait for something."""
