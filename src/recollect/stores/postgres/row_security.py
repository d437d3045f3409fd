"""The wall that a transaction puts around itself: which rows the server shows it at all; pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from recollect.records import Scope
from recollect.stores.scope_paths import range_below, range_of


@dataclass(frozen=True, slots=True)
class Wall:
    """
    What row-level security lets through.

    It is the rows of the scope with one id; or the rows of the scopes whose paths lie in
    one range, to find them, and with *sweep* what waits in them; or, if *first* stands
    without an *end*, the chain of the audit of that name.
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


def inside(scope_id: int) -> Wall:
    """Return the wall around one scope."""
    return Wall(scope=str(scope_id))


def finding(scope: Scope) -> Wall:
    """Return the wall behind which exactly *scope* can be found by its path."""
    return _between(range_of(scope))


def around(scope: Scope, scope_id: int) -> Wall:
    """Return the wall behind which *scope* can be found, and is seen if it has this id."""
    return replace(finding(scope), scope=str(scope_id))


def finding_below(prefix: Scope) -> Wall:
    """Return the wall behind which *prefix* and all below it can be found."""
    return _between(range_below(prefix))


def chained(chain: bytes) -> Wall:
    """Return the wall behind which one chain of the audit is seen, and no scope."""
    return Wall(first=chain.hex())


def sweeping(first: bytes, end: bytes) -> Wall:
    """Return the wall behind which is seen what waits in the scopes of a range of paths."""
    return _between((first, end), sweep="on")


def _between(bounds: tuple[bytes, bytes], sweep: str = "") -> Wall:
    return Wall(first=bounds[0].hex(), end=bounds[1].hex(), sweep=sweep)


SWEEPING: Final = sweeping(*range_below(()))
"""Which scopes and threads of the whole store wait for something."""
