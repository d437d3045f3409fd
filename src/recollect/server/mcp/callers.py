"""The caller and its scope: determined by the transport, never by a tool's arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.formation.config import Assistants
from recollect.formation.scope_types import types_in_force
from recollect.formation.types import MemoryType
from recollect.memory.facade import Recollect
from recollect.records import Scope
from recollect.server.authorization import LOCAL, PERMISSIONS, Permission, Principal, granted
from recollect.server.key_watch import proviso_of
from recollect.stores.validation import check_scope, to_datetime


class CountedWrites(Protocol):
    """Counts a caller's usage other than writes, such as recalls."""

    def __call__(self, scope: Scope, **counts: int) -> None:
        """Add *counts* to the usage of a scope."""


def count_nothing(scope: Scope, **counts: int) -> None:
    """Count nothing: the local user has no quota."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpCaller:
    """The caller: its view of the memory, and its scope."""

    memory: Recollect
    principal: Principal
    assistants: Assistants
    segments: tuple[str, ...] = ()
    """The requested scope, below that of the key."""
    use: CountedWrites = count_nothing

    async def types(self) -> tuple[MemoryType, ...]:
        """
        Return the memory types of the requested scope, as they are set now.

        Raises:
            UsageError: The transport named an invalid scope.
        """
        bound = self.principal.scope
        scope = check_scope((*bound, *self.segments))
        return await types_in_force(self.memory.store, scope, self.assistants, depth=len(bound))

    def reach(self, needs: Permission) -> Scope:
        """
        Return the requested scope, if the key has the permission.

        Raises:
            ForbiddenError: The key lacks the permission.
            UsageError: The transport named an invalid scope.
        """
        return granted(self.principal, needs, self.segments)


CallerOf = Callable[[Any], McpCaller]
"""Function that returns a request's caller, given the transport's attachment to it."""


def local_caller(memory: Recollect, scope: Scope, assistants: Assistants) -> McpCaller:
    """Return the local user, who has all permissions; types set above *scope* apply as well."""
    principal = Principal(
        key_id=LOCAL, name=LOCAL, scope=scope[:1], permissions=frozenset(PERMISSIONS)
    )
    return caller_of(memory, principal, assistants, scope[1:])


def caller_of(
    memory: Recollect,
    principal: Principal,
    assistants: Assistants,
    segments: tuple[str, ...] = (),
    use: CountedWrites = count_nothing,
) -> McpCaller:
    """Return a caller whose changes are audited under the id of its key."""

    def now() -> datetime:
        return to_datetime(memory.store.now())

    acting = memory.acting(principal.actor, proviso=proviso_of(principal, now))
    return McpCaller(
        memory=acting,
        principal=principal,
        assistants=assistants,
        segments=segments,
        use=use,
    )
