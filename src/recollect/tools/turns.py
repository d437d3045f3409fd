"""Turns: calls that write in one scope at the same time do so one after the other."""

from __future__ import annotations

from typing import Final
from weakref import WeakValueDictionary

from anyio import Lock

from recollect.app import Recollect
from recollect.records import Scope

_turns: Final[WeakValueDictionary[tuple[int, Scope], Lock]] = WeakValueDictionary()


def turn_in(memory: Recollect, scope: Scope) -> Lock:
    """
    Return the lock of those who write in *scope* by way of *memory*.

    An agent calls several tools at once. Each would find that another had written meanwhile, and
    of many the last would give up.
    """
    return _turns.setdefault((id(memory), scope), Lock())
