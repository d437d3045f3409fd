"""The first step of every route: resolve the scope and check the key's permission."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Annotated, Final, Protocol, TypeVar

from fastapi import Depends, Header, Query, Request

from recollect.memory.facade import Recollect
from recollect.memory.pagination import scopes_of
from recollect.records import Json, Page, Scope
from recollect.server.api_keys import Keys, SecretSource, random_secret
from recollect.server.authorization import Permission, Principal, granted, relative
from recollect.server.http.service import Service
from recollect.server.key_watch import proviso_of
from recollect.stores.validation import ID_CHARACTERS_MAX, SEGMENTS_MAX

LIMIT: Final = 50
LIMIT_MAX: Final = 200
CURSOR_CHARACTERS_MAX: Final = 8_000
CURSOR: Final = "cursor"
IDEMPOTENCY_KEY_CHARACTERS_MAX: Final = 256

RowT = TypeVar("RowT")

Segments = Annotated[
    list[Annotated[str, Query(min_length=1, max_length=ID_CHARACTERS_MAX)]],
    Query(
        max_length=SEGMENTS_MAX,
        description=(
            "The scope, below the key's own, one segment each: `?scope=users&scope=ada`. "
            "By default the key's own scope."
        ),
        examples=[["users", "ada"]],
    ),
]
Below = Annotated[
    bool, Query(description="Include the scopes below; this needs the permission `below`.")
]
Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX, description="Maximum number of rows.")]
CursorParameter = Annotated[
    str | None,
    Query(
        max_length=CURSOR_CHARACTERS_MAX,
        description="The cursor of the previous page.",
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=IDEMPOTENCY_KEY_CHARACTERS_MAX,
        description="A unique name of this request: repeated under it, it is carried out once.",
    ),
]
Name = Annotated[str, Query(min_length=1, max_length=ID_CHARACTERS_MAX)]


class PageReader(Protocol[RowT]):
    """A method of the memory that reads a page of one scope, such as `Recollect.threads`."""

    def __call__(self, scope: Scope, /, *, cursor: str | None, limit: int) -> Awaitable[Page[RowT]]:
        """Return at most *limit* rows after *cursor*."""


THREADS_MAX: Final = 20
"""Maximum threads that the report of an import names, to be linked; the count covers all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """An authorized request: the caller and the requested scope."""

    service: Service
    principal: Principal
    scope: Scope
    stamp: int | None = None
    """The settings stamp under which a cached key was read; see `STAMP`."""

    @property
    def memory(self) -> Recollect:
        """The memory as the caller uses it: changes are audited, and need the key to be valid."""
        return self.acting(self.service.memory)

    def acting(self, memory: Recollect) -> Recollect:
        """Return *memory*, a view of the service's memory, as the caller uses it."""
        actor = self.principal.actor
        if self.stamp is None:
            proviso = proviso_of(self.principal, self.service.now)
            return memory.acting(actor, proviso=proviso)
        # Under a stamp the store itself refuses a write after any change of keys.
        if memory is not self.service.memory:
            return memory.acting(actor, stamp=self.stamp)
        return self.service.view_of(actor, self.stamp)

    @property
    def keys(self) -> Keys:
        """The keys as the caller administers them: each change is audited."""
        return self.keys_in(self.memory)

    def keys_in(self, memory: Recollect, secrets_of: SecretSource = random_secret) -> Keys:
        """Return the keys of a view of the memory, with a source of secrets; see `keys`."""
        return Keys(memory.store, self.service.key_watch.note_change, secrets_of)

    def relative(self, scope: Scope) -> list[Json]:
        """Return a scope relative to the caller's key."""
        return relative(self.principal, scope)

    def first_threads(self, threads: Iterable[tuple[Scope, str]]) -> list[Json]:
        """Return the first ``THREADS_MAX`` threads of an import, their scopes as `relative`."""
        return [
            {"scope": self.relative(scope), "id": thread}
            for scope, thread in islice(threads, THREADS_MAX)
        ]

    def may(self, needs: Permission, *, below: bool = False) -> None:
        """Require one more permission."""
        granted(self.principal, needs, below=below)

    def cursor(self, listing: str, inner: Json) -> str | None:
        """Return a signed cursor that is valid for this listing of this scope only."""
        if inner is None:
            return None
        return self.service.signer.token(inner, CURSOR, listing, self.scope)

    def after(self, listing: str, cursor: str | None) -> Json:
        """Return the content of a cursor of this listing."""
        if cursor is None:
            return None
        return self.service.signer.value(cursor, CURSOR, listing, self.scope)

    async def scopes(self, *, below: bool) -> list[Scope]:
        """Return this scope, or with *below* also the scopes below that hold something."""
        if not below:
            return [self.scope]
        self.may("read", below=True)
        return await scopes_of(self.service.memory, self.scope, below=True)

    async def read_page(
        self,
        listing: str,
        page_of: PageReader[RowT],
        *,
        cursor: str | None,
        limit: int,
        below: bool = False,
        wanted: Callable[[RowT], bool] = lambda _: True,
    ) -> tuple[list[RowT], str | None]:
        """Return a page of rows of this scope, or with *below* of it and all below, in order."""
        held = self.after(listing, cursor)
        at, inner = _place(held)
        found: list[RowT] = []
        # Scopes before the cursor are left out: they are in order.
        left = [each for each in await self.scopes(below=below) if list(each) >= at]
        for scope, following in zip_longest(left, left[1:]):
            position = inner if list(scope) == at else None
            while len(found) < limit:
                page = await page_of(scope, cursor=position, limit=limit - len(found))
                found += [each for each in page.rows if wanted(each)]
                position = page.cursor
                if position is None:
                    break
            if position is not None:
                return found, self.cursor(listing, [list(scope), position])
            if len(found) >= limit and following is not None:
                # A scope that ends with the page would begin anew under its own name.
                return found, self.cursor(listing, [list(following), None])
        return found, None


def _place(held: Json) -> tuple[list[str], str | None]:
    """Return the scope and the inner cursor at which a listing continues."""
    if not isinstance(held, list):
        return [], None
    scope, inner = held
    return list(scope), inner


def reaching(needs: Permission) -> Callable[[Request, list[str]], Awaitable[Reach]]:
    """Return a dependency that provides a route's `Reach` and checks a permission."""

    # A coroutine, because FastAPI runs a plain function in a thread.
    async def reach(request: Request, scope: Segments = []) -> Reach:  # noqa: B006 (it is copied)
        return reach_at(request, needs, scope)

    return reach


def reach_at(request: Request, needs: Permission, segments: Sequence[str] = ()) -> Reach:
    """Return a request's `Reach` at a scope below its key's; raise if the key lacks *needs*."""
    principal: Principal = request.state.principal
    return Reach(
        service=request.app.state.service,
        principal=principal,
        scope=granted(principal, needs, segments),
    )


Reading = Annotated[Reach, Depends(reaching("read"))]
Writing = Annotated[Reach, Depends(reaching("write"))]
Erasing = Annotated[Reach, Depends(reaching("erase"))]
Administering = Annotated[Reach, Depends(reaching("admin"))]
