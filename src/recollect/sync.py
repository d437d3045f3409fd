"""The same memory without ``await``: one thin face over a portal thread that owns everything."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from functools import partial
from typing import Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from recollect.app import Recollect
from recollect.app import open as open_async
from recollect.embedders import EmbedderChoice
from recollect.errors import StoreClosedError
from recollect.ports import Clock, Ids, TokenCounter
from recollect.recall.budget import estimated_tokens
from recollect.recall.result import Recall
from recollect.recaller import Where
from recollect.records import (
    EvidenceMap,
    JsonObject,
    Memory,
    Message,
    NewMessage,
    Page,
    Revision,
    Scope,
    Thread,
    Write,
)
from recollect.stores.plans.erase import EraseReceipt, EraseTarget
from recollect.stores.plans.formation import Debounce
from recollect.stores.scopes import ScopePattern

T = TypeVar("T")


def open_sync(
    url: str = "memory:",
    *,
    embedder: EmbedderChoice = "auto",
    count_tokens: TokenCounter = estimated_tokens,
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> SyncRecollect:
    """Return a memory to be entered with ``with``; see `recollect.open`."""
    make = partial(
        open_async, url, embedder=embedder, count_tokens=count_tokens, clock=clock, ids=ids
    )
    return SyncRecollect(make)


class SyncRecollect:
    """
    `Recollect`, called without ``await``; see there for what each method does.

    It opens and owns everything on a thread of its own, so it works in notebooks and inside
    a running event loop (which it blocks). Used after a fork it raises `StoreClosedError`; a
    forked child ends by ``os._exit``, as those of `multiprocessing` do.
    """

    def __init__(self, make: Callable[[], Recollect]) -> None:
        self._make = make
        self._memory: Recollect | None = None
        self._portal: BlockingPortal | None = None
        self._process = os.getpid()
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as exit_:
            self._process = os.getpid()
            portal = exit_.enter_context(start_blocking_portal())
            memory = portal.call(self._made)
            opened: AbstractContextManager[Recollect] = portal.wrap_async_context_manager(memory)
            exit_.enter_context(opened)
            self._portal, self._memory = portal, memory
            self._exit = exit_.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._portal = self._memory = None
        self._exit.close()

    async def _made(self) -> Recollect:
        return self._make()

    def _open(self) -> Recollect:
        if self._memory is None or self._process != os.getpid():
            msg = (
                "this memory is not open in this process: use it inside 'with "
                "recollect.open_sync(...)', and open another after a fork"
            )
            raise StoreClosedError(msg)
        return self._memory

    def _run(self, call: Callable[[Recollect], Awaitable[T]]) -> T:
        memory = self._open()
        if self._portal is None:
            msg = "this memory has no portal: enter it with 'with' first"
            raise StoreClosedError(msg)

        async def run() -> T:
            return await call(memory)

        return self._portal.call(run)

    @property
    def embedder(self) -> str | None:
        """See `Recollect.embedder`."""
        return self._open().embedder

    def append(
        self,
        scope: Scope,
        thread: str,
        messages: Sequence[NewMessage],
        *,
        idempotency_key: str | None = None,
        debounce: Debounce | None = None,
    ) -> tuple[Message, ...]:
        """See `Recollect.append`."""
        return self._run(
            lambda memory: memory.append(
                scope, thread, messages, idempotency_key=idempotency_key, debounce=debounce
            )
        )

    def threads(self, scope: Scope, *, cursor: str | None = None, limit: int = 100) -> Page[Thread]:
        """See `Recollect.threads`."""
        return self._run(lambda memory: memory.threads(scope, cursor=cursor, limit=limit))

    def thread(self, scope: Scope, thread: str) -> Thread | None:
        """See `Recollect.thread`."""
        return self._run(lambda memory: memory.thread(scope, thread))

    def messages(
        self, scope: Scope, thread: str, *, after: int = 0, limit: int = 100
    ) -> Page[Message]:
        """See `Recollect.messages`."""
        return self._run(lambda memory: memory.messages(scope, thread, after=after, limit=limit))

    def last_messages(
        self, scope: Scope, thread: str, *, limit: int, before: int | None = None
    ) -> tuple[Message, ...]:
        """See `Recollect.last_messages`."""
        return self._run(
            lambda memory: memory.last_messages(scope, thread, limit=limit, before=before)
        )

    def remove(self, scope: Scope, thread: str, messages: Sequence[str]) -> int:
        """See `Recollect.remove`."""
        return self._run(lambda memory: memory.remove(scope, thread, messages))

    def keep(self, scope: Scope, thread: str, first: int, last: int | None = None) -> int:
        """See `Recollect.keep`."""
        return self._run(lambda memory: memory.keep(scope, thread, first, last))

    def replace(self, scope: Scope, thread: str, message: NewMessage) -> Message:
        """See `Recollect.replace`."""
        return self._run(lambda memory: memory.replace(scope, thread, message))

    def put(
        self,
        scope: Scope,
        type_: str,
        key: str,
        value: JsonObject,
        *,
        expected: int | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        expires_at: datetime | None = None,
        evidence: EvidenceMap | None = None,
    ) -> Memory:
        """See `Recollect.put`."""
        return self._run(
            lambda memory: memory.put(
                scope,
                type_,
                key,
                value,
                expected=expected,
                valid_from=valid_from,
                valid_until=valid_until,
                expires_at=expires_at,
                evidence=evidence,
            )
        )

    def apply(
        self, scope: Scope, writes: Sequence[Write], *, idempotency_key: str | None = None
    ) -> tuple[Memory | None, ...]:
        """See `Recollect.apply`."""
        return self._run(
            lambda memory: memory.apply(scope, writes, idempotency_key=idempotency_key)
        )

    def get(self, scope: Scope, type_: str, key: str) -> Memory | None:
        """See `Recollect.get`."""
        return self._run(lambda memory: memory.get(scope, type_, key))

    def memories(
        self,
        scope: Scope,
        *,
        type_: str | None = None,
        filter_: JsonObject | None = None,
        valid_at: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Memory]:
        """See `Recollect.memories`."""
        return self._run(
            lambda memory: memory.memories(
                scope, type_=type_, filter_=filter_, valid_at=valid_at, cursor=cursor, limit=limit
            )
        )

    def history(self, scope: Scope, type_: str, key: str) -> tuple[Revision, ...]:
        """See `Recollect.history`."""
        return self._run(lambda memory: memory.history(scope, type_, key))

    def scopes(
        self,
        *,
        prefix: ScopePattern = (),
        suffix: ScopePattern = (),
        depth_max: int | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Scope]:
        """See `Recollect.scopes`."""
        return self._run(
            lambda memory: memory.scopes(
                prefix=prefix, suffix=suffix, depth_max=depth_max, cursor=cursor, limit=limit
            )
        )

    def recall(
        self,
        scope: Scope | Sequence[Scope],
        query: str,
        *,
        limit: int = 10,
        budget_tokens: int | None = None,
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
    ) -> Recall:
        """See `Recollect.recall`."""
        return self._run(
            lambda memory: memory.recall(
                scope,
                query,
                limit=limit,
                budget_tokens=budget_tokens,
                below=below,
                where=where,
                asked_at=asked_at,
            )
        )

    def settled(self, scope: Scope, *, below: bool = False) -> None:
        """See `Recollect.settled`."""
        return self._run(lambda memory: memory.settled(scope, below=below))

    def erase(self, scope: Scope, target: EraseTarget) -> EraseReceipt:
        """See `Recollect.erase`."""
        return self._run(lambda memory: memory.erase(scope, target))

    def clean(self) -> list[EraseReceipt]:
        """See `Recollect.clean`."""
        return self._run(lambda memory: memory.clean())

    def receipts(self, *, unclean: bool = False) -> list[EraseReceipt]:
        """See `Recollect.receipts`."""
        return self._run(lambda memory: memory.receipts(unclean=unclean))

    def restore(self, records: Sequence[JsonObject]) -> int:
        """See `Recollect.restore`."""
        return self._run(lambda memory: memory.restore(records))

    def export(self, scope: Scope, *, below: bool = False) -> Iterator[JsonObject]:
        """See `Recollect.export`; each step of the iteration waits for the next record."""
        records = self._open().export(scope, below=below)
        while (record := self._run(lambda _: anext(records, None))) is not None:
            yield record
