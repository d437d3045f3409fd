"""Which scope an agent of smolagents belongs to, and the lock that its runs hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from smolagents import MultiStepAgent

from recollect.errors import UsageError
from recollect.records import Scope
from recollect.text.scope_paths import written_scope


@dataclass(slots=True)
class AgentClaim:
    """The scope that uses an agent, and the lock of its runs."""

    scope: Scope
    lock: Lock = field(default_factory=Lock)


# Outside the agents, since an attribute with a lock would keep them from being copied.
_claims: Final[WeakKeyDictionary[MultiStepAgent, AgentClaim]] = WeakKeyDictionary()
_claiming: Final = Lock()
_held: Final[ContextVar[frozenset[int]]] = ContextVar("recollect_held_agents", default=frozenset())


def claim_agent(agent: MultiStepAgent, scope: Scope) -> None:
    """
    Note that *agent*, with those that it manages, belongs to *scope*.

    Raises:
        UsageError: It belongs to another scope. Its variables and its code's outlive a run, so
            that one user's words would reach another's model.
    """
    family = _family(agent)
    with _claiming:
        for each in family:
            claim = _claims.get(each)
            if claim is not None and claim.scope != scope:
                raise UsageError(
                    f"the agent belongs to the scope {written_scope(claim.scope)} and keeps what "
                    f"was said there: give each conversation of {written_scope(scope)} an agent of "
                    "its own"
                )
        for each in family:
            _claims.setdefault(each, AgentClaim(scope))


@contextmanager
def hold_agent(agent: MultiStepAgent) -> Iterator[None]:
    """
    Wait until no other conversation runs *agent*, or one that it manages, and hold them.

    Raises:
        UsageError: This very run holds one of them, and would wait for itself.
    """
    family = {id(each): each for each in _family(agent)}
    held = _held.get()
    if held & family.keys():
        raise UsageError(
            "the agent is running, and a tool of its run runs it: give it another agent"
        )
    with ExitStack() as locks:
        # In one order, so that two runs that share managed agents never wait for each other.
        for key in sorted(family):
            locks.enter_context(_claims[family[key]].lock)
        token = _held.set(held | family.keys())
        try:
            yield
        finally:
            _held.reset(token)


def _family(agent: MultiStepAgent) -> list[MultiStepAgent]:
    """Return *agent* and all that it manages, each once."""
    found = [agent]
    for each in found:
        managed = getattr(each, "managed_agents", None) or {}
        found += [other for other in managed.values() if all(other is not one for one in found)]
    return found
