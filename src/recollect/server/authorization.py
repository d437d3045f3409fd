"""Authorization: the caller, its permissions, and the decision what a request may do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from recollect.errors import ForbiddenError, UsageError
from recollect.records import Json, Scope
from recollect.stores.validation import check_scope

Permission: TypeAlias = Literal["read", "write", "erase", "below", "admin"]
PERMISSIONS: Final[tuple[Permission, ...]] = get_args(Permission)

RESERVED: Final = "recollect:service"
"""The first segment of the scopes in which the service keeps what is its own."""
LOCAL: Final = "local"
"""As whom is audited who needs no key: the user of this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller: its key, the scope that it is bound to, and its permissions."""

    key_id: str
    name: str
    scope: Scope
    permissions: frozenset[Permission]
    credential: str = field(default="", repr=False)
    """Digest of the key as it was presented, by which it is known again."""

    @property
    def tenant(self) -> str:
        """Name whose limits count: the first segment of the key's scope."""
        return self.scope[0]

    @property
    def actor(self) -> str:
        """The actor under which its changes are audited: the id of its key, or ``LOCAL``."""
        return self.key_id or LOCAL


def granted(
    principal: Principal,
    needs: Permission,
    segments: Sequence[str] = (),
    *,
    below: bool = False,
) -> Scope:
    """
    Return the absolute scope of a request, if the caller may do what it asks.

    Every transport calls this, and nothing else, before it does anything. A request can only add
    segments to the scope of its key, so none can leave it.

    Args:
        principal: The caller.
        needs: The permission that the request needs; ``admin`` does not contain the others.
        segments: The requested scope, relative to that of the key.
        below: Whether scopes below are included, which is a separate permission.

    Raises:
        ForbiddenError: The key lacks a permission.
        UsageError: The scope is invalid.
        LimitError: The scope has too many segments.
    """
    for each in (needs, *(("below",) if below else ())):
        if each not in principal.permissions:
            has = ", ".join(sorted(principal.permissions)) or "nothing"
            msg = (
                f"this needs the permission {each!r}, and the key {principal.key_id!r} has {has}: "
                "ask who administers the service for a key that may do it"
            )
            raise ForbiddenError(msg)
    return check_scope((*principal.scope, *segments))


def relative(principal: Principal, scope: Scope) -> list[Json]:
    """
    Return *scope* as its key's holder names it: without the segments that the key is bound to.

    Raises:
        ForbiddenError: It lies outside the key's scope, which must not be told.
    """
    depth = len(principal.scope)
    if scope[:depth] != principal.scope:
        msg = "a scope outside the key's own was reached: nothing of it is told"
        raise ForbiddenError(msg)
    return list(scope[depth:])


def check_bound(scope: Sequence[str]) -> Scope:
    """Return *scope* if a key may be bound to it."""
    bound = check_scope(tuple(scope))
    if bound[0] == RESERVED:
        msg = f"the scope {RESERVED!r} is the service's own: bind the key to another"
        raise UsageError(msg)
    return bound


def check_giving(principal: Principal, permissions: Collection[str]) -> frozenset[Permission]:
    """
    Return *permissions* if a key may give them to another.

    Raises:
        ForbiddenError: It lacks one of them itself.
        UsageError: There is no such permission.
    """
    given = check_permissions(permissions)
    missing = sorted(given - principal.permissions)
    if missing:
        msg = f"the key {principal.key_id!r} cannot give what it has not: {', '.join(missing)}"
        raise ForbiddenError(msg)
    return given


def check_permissions(permissions: Collection[str]) -> frozenset[Permission]:
    """Return *permissions* if there are such, and at least one."""
    unknown = sorted(set(permissions) - set(PERMISSIONS))
    if unknown or not permissions:
        msg = f"a key has permissions among {', '.join(PERMISSIONS)}; not {sorted(permissions)!r}"
        raise UsageError(msg)
    return frozenset(each for each in PERMISSIONS if each in permissions)
