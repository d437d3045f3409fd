"""Authorization: the caller, its permissions, and the check of every request's scope."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from recollect.errors import ForbiddenError, UsageError
from recollect.records import Json, Scope
from recollect.stores.validation import check_scope
from recollect.text.coded_text import with_code

Permission: TypeAlias = Literal["read", "write", "erase", "below", "admin"]
PERMISSIONS: Final[tuple[Permission, ...]] = get_args(Permission)

RESERVED: Final = "recollect:service"
"""First segment of the scopes in which the service stores its own records."""
LOCAL: Final = "local"
"""The audit actor of callers without a key, when authentication is off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller: its key, the scope that it is bound to, and its permissions."""

    key_id: str
    name: str
    scope: Scope
    permissions: frozenset[Permission]
    credential: str = field(default="", repr=False)
    """Digest of the secret as it was presented, to check it again during the request."""

    @property
    def tenant(self) -> str:
        """The tenant whose limits apply: the first segment of the key's scope."""
        return self.scope[0]

    @property
    def actor(self) -> str:
        """The audit actor: the id of the key, or ``LOCAL`` without one."""
        return self.key_id or LOCAL


def granted(
    principal: Principal,
    needs: Permission,
    segments: Sequence[str] = (),
    *,
    below: bool = False,
) -> Scope:
    """
    Return the absolute scope of a request, or raise if its key does not allow it.

    Every transport calls this first, and authorizes by nothing else. A request can only append
    segments to the scope of its key, so it cannot leave that scope.

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
            raise ForbiddenError(
                with_code(
                    "lacks_permission",
                    f"this needs the permission {each!r}, and the key {principal.key_id!r} has "
                    f"{has}: ask an administrator of the service for a key with that permission",
                    permission=each,
                )
            )
    return check_scope((*principal.scope, *segments))


def relative(principal: Principal, scope: Scope) -> list[Json]:
    """
    Return *scope* relative to the scope of the caller's key.

    Raises:
        ForbiddenError: It lies outside the key's scope. The error does not name it.
    """
    depth = len(principal.scope)
    if scope[:depth] != principal.scope:
        raise ForbiddenError(
            with_code(
                "outside_scope", "the result lies in a scope outside the key's own: it is withheld"
            )
        )
    return list(scope[depth:])


def check_bound(scope: Sequence[str]) -> Scope:
    """
    Return *scope* if a key may be bound to it.

    Raises:
        UsageError: The scope is invalid, or reserved for the service.
    """
    bound = check_scope(tuple(scope))
    if bound[0] == RESERVED:
        msg = with_code(
            "scope_reserved",
            f"the scope {RESERVED!r} is reserved for the service: bind the key to another",
            name=RESERVED,
        )
        raise UsageError(msg)
    return bound


def check_giving(principal: Principal, permissions: Collection[str]) -> frozenset[Permission]:
    """
    Return *permissions* if the caller may grant them to another key.

    Raises:
        ForbiddenError: The caller lacks one of them.
        UsageError: A permission is unknown, or none is given.
    """
    given = check_permissions(permissions)
    missing = sorted(given - principal.permissions)
    if missing:
        raise ForbiddenError(
            with_code(
                "cannot_grant",
                f"the key {principal.key_id!r} cannot grant permissions that it lacks: "
                f"{', '.join(missing)}",
                permissions=", ".join(missing),
            )
        )
    return given


def check_permissions(permissions: Collection[str]) -> frozenset[Permission]:
    """Return *permissions* if all are known and there is at least one."""
    unknown = sorted(set(permissions) - set(PERMISSIONS))
    if unknown or not permissions:
        msg = with_code(
            "unknown_permissions",
            f"permissions are one or more of {', '.join(PERMISSIONS)}; not {sorted(permissions)!r}",
            permissions=", ".join(PERMISSIONS),
        )
        raise UsageError(msg)
    return frozenset(each for each in PERMISSIONS if each in permissions)
