"""Hints for an empty scope: which other scopes hold something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from recollect.cli.output import note
from recollect.records import Scope
from recollect.text.scope_paths import written_scope

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect

SCOPES_SHOWN: Final = 5
EMPTY_STORE: Final = "the store holds nothing yet"


def note_hint(hint: str) -> None:
    """Print a hint to standard error, if there is one."""
    if hint:
        note(hint)


async def read_hint(
    memory: Recollect, scope: Scope, *, below: bool = False, has_below: bool = True
) -> str:
    """
    Return a hint for an empty scope, "" for any other.

    With *below*, the scopes under it count as well, because the caller has searched them.
    *has_below* is False for a command without the option --below.
    """
    from recollect.server.authorization import RESERVED

    found = (await memory.scopes(prefix=scope, limit=SCOPES_SHOWN + 1)).rows
    if scope in found or (below and found):
        return ""
    others = () if found else (await memory.scopes(limit=SCOPES_SHOWN + 2)).rows
    beside = [each for each in others if each[0] != RESERVED]
    return hint_of(scope, found, beside, has_below=has_below)


def hint_of(
    scope: Scope, below: Sequence[Scope], others: Sequence[Scope], *, has_below: bool = True
) -> str:
    """
    Return the hint that names scopes with records: those *below* the scope, else *others*.

    >>> hint_of(("a",), [("a", "b"), ("a", "c")], ())
    "the scope 'a' holds nothing itself; --below finds a/b, a/c"
    >>> hint_of(("a",), [("a", "b")], (), has_below=False)
    "the scope 'a' holds nothing itself; there is something in a/b: name it with --scope"
    >>> hint_of(("a",), (), [("b",)])
    "the scope 'a' holds nothing; there is something in b: name it with --scope"
    >>> hint_of(("a",), (), ())
    'the store holds nothing yet'
    """
    name = written_scope(scope)
    if below and has_below:
        return f"the scope {name!r} holds nothing itself; --below finds {_listed(below)}"
    if found := below or others:
        itself = " itself" if below else ""
        said = f"there is something in {_listed(found)}: name it with --scope"
        return f"the scope {name!r} holds nothing{itself}; {said}"
    return EMPTY_STORE


def _listed(scopes: Sequence[Scope]) -> str:
    shown = ", ".join(map(written_scope, scopes[:SCOPES_SHOWN]))
    return f"{shown} and others" if len(scopes) > SCOPES_SHOWN else shown
