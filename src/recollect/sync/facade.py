"""The same memory without ``await``: one thin face over a portal thread that owns everything."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Self, TypeVar

from recollect.embedders import EmbedderChoice
from recollect.errors import UsageError
from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.types import UpdateMode
from recollect.lifecycle.record_intake import RecordCallback
from recollect.memory.facade import Recollect
from recollect.memory.facade import open as open_async
from recollect.memory.restoration import tell_nothing
from recollect.memory.thread_state import AttachmentInfo
from recollect.messages.new_message import NewMessageLike
from recollect.models import ModelChoice
from recollect.observability.health import BackgroundTasks, Health
from recollect.ports import Clock, Ids, OutsideVectors, TokenCounter
from recollect.recall.neighbours import Neighbour
from recollect.recall.query import Where
from recollect.recall.results import Recall
from recollect.records import (
    Attachment,
    EvidenceMap,
    Formation,
    FormationStatus,
    Json,
    JsonObject,
    Memory,
    MemoryState,
    Message,
    Page,
    Revision,
    Scope,
    ScopeLike,
    Thread,
    Trust,
    Write,
)
from recollect.stores.contract.durability import Durability
from recollect.stores.contract.scopes import ScopePattern
from recollect.stores.plans.audit import AuditEntry, AuditVerdict
from recollect.stores.plans.erasure import EraseReceipt, EraseTarget
from recollect.stores.plans.formation import Debounce
from recollect.stores.plans.undo import Undo, UndoLog
from recollect.stores.unit_of_work import Proviso
from recollect.sync.bridge import MemoryBridge
from recollect.text.token_estimate import estimated_tokens
from recollect.worker.consolidation_run import ConsolidationResult
from recollect.worker.formation_run import FormationResult
from recollect.worker.loop import CONCURRENCY, FormationCallback, tell_nobody
from recollect.worker.type_migration_run import TypeMigration

T = TypeVar("T")


def open_sync(  # noqa: PLR0913 (what `open` takes)
    url: str = "memory:",
    *,
    embedder: EmbedderChoice = "auto",
    model: ModelChoice | None = None,
    formation: Assistants | FormationSettings | None = None,
    worker: bool = True,
    concurrency: int = CONCURRENCY,
    notice: FormationCallback = tell_nobody,
    count_tokens: TokenCounter = estimated_tokens,
    outside: OutsideVectors | None = None,
    durability: Durability = "full",
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> SyncRecollect:
    """
    Return a memory to be entered with ``with``; see `recollect.open`.

    *notice* is called on the memory's own thread.
    """
    make = partial(
        open_async,
        url,
        embedder=embedder,
        model=model,
        formation=formation,
        worker=worker,
        concurrency=concurrency,
        notice=notice,
        count_tokens=count_tokens,
        outside=outside,
        durability=durability,
        clock=clock,
        ids=ids,
    )
    return SyncRecollect(make)


class SyncRecollect:
    """
    `Recollect`, called without ``await``; see there for what each method does.

    It opens and owns everything on a thread of its own, so it works in notebooks and inside
    a running event loop (which it blocks). Used after a fork it raises `StoreClosedError`; a
    forked child that leaves the block leaves everything to its parent.
    """

    def __init__(self, make: Callable[[], Recollect]) -> None:
        self._bridge = MemoryBridge(make)
        self._view: Callable[[Recollect], Recollect] | None = None

    def __enter__(self) -> Self:
        if self._view is not None:
            msg = "a view of a memory is open as long as the memory: enter that with 'with'"
            raise UsageError(msg)
        self._bridge.open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def open(self) -> Self:
        """See `Recollect.open`."""
        return self.__enter__()

    def close(self) -> None:
        """See `Recollect.close`; any thread may call it."""
        self._bridge.close()

    def _open(self) -> Recollect:
        memory = self._bridge.memory
        return memory if self._view is None else self._view(memory)

    def _viewed(self, view: Callable[[Recollect], Recollect]) -> Self:
        """Return this face over a *view* of its memory, which is made anew for each call."""
        face = object.__new__(type(self))
        within = self._view
        seen = view if within is None else lambda memory: view(within(memory))
        face.__dict__.update(self.__dict__, _view=seen)
        _ = face._open()  # what is wrong with the view is raised here, not at its first call
        return face

    def call(self, function: Callable[[Recollect], Awaitable[T]]) -> T:
        """
        Run an async *function* of the memory where the memory lives, and return its result.

        What it does there is one visit: several steps cost one change of threads.
        """
        return self._bridge.call(function, self._open())

    def here(self, function: Callable[[Recollect], Awaitable[T]]) -> T:
        """
        Run an async *function* of the memory on this thread, and return its result.

        It reads as much as it likes, or writes once, at its end. Where the store needs a loop,
        one runs on this thread, or the function waits for anything but the store, it is run
        from its beginning as `call` does; a change of threads costs more than most reads.
        """
        return self._bridge.here(function, self._open())

    async def acall(self, function: Callable[[Recollect], Awaitable[T]]) -> T:
        """
        Await an async *function* of the memory, from any event loop; it runs where that lives.

        The caller's loop goes on meanwhile, however busy the memory's is. A cancelled wait
        cancels the function. A function that is there already may call it.
        """
        return await self._bridge.visit(function, self._open())

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """See `Recollect.loop`; here it is that of the memory's own thread."""
        return self._open().loop

    @property
    def embedder(self) -> str | None:
        """See `Recollect.embedder`."""
        return self._open().embedder

    @property
    def tasks(self) -> BackgroundTasks:
        """See `Recollect.tasks`."""
        return self._open().tasks

    @property
    def outside_error(self) -> str | None:
        """See `Recollect.outside_error`."""
        return self._open().outside_error

    def append(
        self,
        scope: ScopeLike,
        thread: str,
        messages: NewMessageLike | Sequence[NewMessageLike],
        *,
        idempotency_key: str | None = None,
        debounce: Debounce | None = None,
        settings: JsonObject | None = None,
        state: Mapping[str, Json] | None = None,
        attachments: Sequence[Attachment] = (),
        writes: Sequence[Write] = (),
    ) -> tuple[Message, ...]:
        """See `Recollect.append`."""
        return self.call(
            lambda memory: memory.append(
                scope,
                thread,
                messages,
                idempotency_key=idempotency_key,
                debounce=debounce,
                settings=settings,
                state=state,
                attachments=attachments,
                writes=writes,
            )
        )

    def state(self, scope: ScopeLike, thread: str) -> dict[str, Json]:
        """See `Recollect.state`."""
        return self.here(lambda memory: memory.state(scope, thread))

    def set_state(self, scope: ScopeLike, thread: str, state: Mapping[str, Json]) -> None:
        """See `Recollect.set_state`."""
        self.call(lambda memory: memory.set_state(scope, thread, state))

    def attach(self, scope: ScopeLike, thread: str, attachments: Sequence[Attachment]) -> None:
        """See `Recollect.attach`."""
        self.call(lambda memory: memory.attach(scope, thread, attachments))

    def attachments(self, scope: ScopeLike, thread: str) -> tuple[AttachmentInfo, ...]:
        """See `Recollect.attachments`."""
        return self.here(lambda memory: memory.attachments(scope, thread))

    def attachment(self, scope: ScopeLike, thread: str, name: str) -> Attachment | None:
        """See `Recollect.attachment`."""
        return self.here(lambda memory: memory.attachment(scope, thread, name))

    def detach(self, scope: ScopeLike, thread: str, name: str) -> bool:
        """See `Recollect.detach`."""
        return self.call(lambda memory: memory.detach(scope, thread, name))

    def threads(
        self, scope: ScopeLike, *, cursor: str | None = None, limit: int = 100
    ) -> Page[Thread]:
        """See `Recollect.threads`."""
        return self.here(lambda memory: memory.threads(scope, cursor=cursor, limit=limit))

    def thread(self, scope: ScopeLike, thread: str) -> Thread | None:
        """See `Recollect.thread`."""
        return self.here(lambda memory: memory.thread(scope, thread))

    def messages(
        self, scope: ScopeLike, thread: str, *, after: int = 0, limit: int = 100
    ) -> Page[Message]:
        """See `Recollect.messages`."""
        return self.here(lambda memory: memory.messages(scope, thread, after=after, limit=limit))

    def last_messages(
        self, scope: ScopeLike, thread: str, *, limit: int, before: int | None = None
    ) -> tuple[Message, ...]:
        """See `Recollect.last_messages`."""
        return self.here(
            lambda memory: memory.last_messages(scope, thread, limit=limit, before=before)
        )

    def remove(self, scope: ScopeLike, thread: str, messages: Sequence[str]) -> int:
        """See `Recollect.remove`."""
        return self.call(lambda memory: memory.remove(scope, thread, messages))

    def keep(self, scope: ScopeLike, thread: str, first: int, last: int | None = None) -> int:
        """See `Recollect.keep`."""
        return self.call(lambda memory: memory.keep(scope, thread, first, last))

    def replace(
        self,
        scope: ScopeLike,
        thread: str,
        message: NewMessageLike,
        *,
        idempotency_key: str | None = None,
    ) -> Message:
        """See `Recollect.replace`."""
        return self.call(
            lambda memory: memory.replace(scope, thread, message, idempotency_key=idempotency_key)
        )

    def put(
        self,
        scope: ScopeLike,
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
        return self.here(
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

    def remember(
        self, scope: ScopeLike, text: str, *, context: str = "", trust: Trust = "user"
    ) -> Memory:
        """See `Recollect.remember`."""
        return self.here(lambda memory: memory.remember(scope, text, context=context, trust=trust))

    def end(
        self,
        scope: ScopeLike,
        type_: str,
        key: str,
        at: datetime,
        *,
        expected: int | None = None,
    ) -> Memory:
        """See `Recollect.end`."""
        return self.here(lambda memory: memory.end(scope, type_, key, at, expected=expected))

    def delete(
        self, scope: ScopeLike, type_: str, key: str, *, expected: int | None = None
    ) -> bool:
        """See `Recollect.delete`."""
        return self.here(lambda memory: memory.delete(scope, type_, key, expected=expected))

    def apply(
        self, scope: ScopeLike, writes: Sequence[Write], *, idempotency_key: str | None = None
    ) -> tuple[Memory | None, ...]:
        """See `Recollect.apply`."""
        return self.here(
            lambda memory: memory.apply(scope, writes, idempotency_key=idempotency_key)
        )

    def apply_each(self, writes: Mapping[Scope, Sequence[Write]]) -> None:
        """See `Recollect.apply_each`."""
        return self.here(lambda memory: memory.apply_each(writes))

    def get(self, scope: ScopeLike, type_: str, key: str) -> Memory | None:
        """See `Recollect.get`."""
        return self.here(lambda memory: memory.get(scope, type_, key))

    def memories(
        self,
        scope: ScopeLike,
        *,
        type_: str | None = None,
        state: MemoryState | None = None,
        filter_: JsonObject | None = None,
        valid_at: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Memory]:
        """See `Recollect.memories`."""
        return self.here(
            lambda memory: memory.memories(
                scope,
                type_=type_,
                state=state,
                filter_=filter_,
                valid_at=valid_at,
                cursor=cursor,
                limit=limit,
            )
        )

    def history(self, scope: ScopeLike, type_: str, key: str) -> tuple[Revision, ...]:
        """See `Recollect.history`."""
        return self.here(lambda memory: memory.history(scope, type_, key))

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
        return self.here(
            lambda memory: memory.scopes(
                prefix=prefix, suffix=suffix, depth_max=depth_max, cursor=cursor, limit=limit
            )
        )

    def form(self, scope: ScopeLike, thread: str | None = None) -> list[FormationResult]:
        """See `Recollect.form`."""
        return self.call(lambda memory: memory.form(scope, thread))

    def consolidate(self, scope: ScopeLike, *, assistant: str | None = None) -> ConsolidationResult:
        """See `Recollect.consolidate`."""
        return self.call(lambda memory: memory.consolidate(scope, assistant=assistant))

    def migrate_type(self, scope: ScopeLike, type_: str, update_mode: UpdateMode) -> TypeMigration:
        """See `Recollect.migrate_type`."""
        return self.call(lambda memory: memory.migrate_type(scope, type_, update_mode))

    def undo(self, scope: ScopeLike, change: str | Undo) -> None:
        """See `Recollect.undo`."""
        return self.call(lambda memory: memory.undo(scope, change))

    def reject(
        self,
        scope: ScopeLike,
        type_: str,
        key: str,
        *,
        pointer: str = "",
        expected: int | None = None,
    ) -> Memory:
        """See `Recollect.reject`."""
        return self.call(
            lambda memory: memory.reject(scope, type_, key, pointer=pointer, expected=expected)
        )

    def approve(
        self, scope: ScopeLike, type_: str, key: str, *, expected: int | None = None
    ) -> Memory:
        """See `Recollect.approve`."""
        return self.call(lambda memory: memory.approve(scope, type_, key, expected=expected))

    def pending(
        self,
        scope: ScopeLike | None = None,
        *,
        below: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Thread]:
        """See `Recollect.pending`."""
        return self.here(
            lambda memory: memory.pending(scope, below=below, cursor=cursor, limit=limit)
        )

    def signal(self, scope: ScopeLike, thread: str) -> bool:
        """See `Recollect.signal`."""
        return self.call(lambda memory: memory.signal(scope, thread))

    def pause(self, scope: ScopeLike, thread: str | None = None) -> int:
        """See `Recollect.pause`."""
        return self.call(lambda memory: memory.pause(scope, thread))

    def resume(self, scope: ScopeLike, thread: str | None = None) -> int:
        """See `Recollect.resume`."""
        return self.call(lambda memory: memory.resume(scope, thread))

    def formations(
        self,
        scope: ScopeLike,
        *,
        status: FormationStatus | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Formation]:
        """See `Recollect.formations`."""
        return self.here(
            lambda memory: memory.formations(scope, status=status, cursor=cursor, limit=limit)
        )

    def formation(self, scope: ScopeLike, formation_id: str) -> Formation | None:
        """See `Recollect.formation`."""
        return self.here(lambda memory: memory.formation(scope, formation_id))

    def retry(
        self, scope: ScopeLike, thread: str | None = None, *, formation_id: str | None = None
    ) -> int:
        """See `Recollect.retry`."""
        return self.call(lambda memory: memory.retry(scope, thread, formation_id=formation_id))

    def acting(
        self, actor: str, *, stamp: int | None = None, proviso: Proviso | None = None
    ) -> Self:
        """See `Recollect.acting`."""
        return self._viewed(lambda memory: memory.acting(actor, stamp=stamp, proviso=proviso))

    def noting(self, log: UndoLog) -> Self:
        """See `Recollect.noting`."""
        return self._viewed(lambda memory: memory.noting(log))

    def audit(
        self, scope: ScopeLike, *, cursor: str | None = None, limit: int = 100
    ) -> Page[AuditEntry]:
        """See `Recollect.audit`."""
        return self.here(lambda memory: memory.audit(scope, cursor=cursor, limit=limit))

    def verify_audit(
        self, scope: ScopeLike, *, noted: tuple[int, str] | None = None
    ) -> AuditVerdict:
        """See `Recollect.verify_audit`."""
        return self.call(lambda memory: memory.verify_audit(scope, noted=noted))

    def recall(
        self,
        scope: ScopeLike | Sequence[Scope],
        query: str,
        *,
        limit: int = 10,
        budget_tokens: int | None = None,
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
    ) -> Recall:
        """See `Recollect.recall`."""
        return self.here(
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

    def nearest(
        self,
        scope: ScopeLike,
        query: str | Sequence[float],
        *,
        type_: str,
        limit: int = 10,
        filter_: JsonObject | None = None,
    ) -> list[Neighbour]:
        """See `Recollect.nearest`."""
        return self.call(
            lambda memory: memory.nearest(scope, query, type_=type_, limit=limit, filter_=filter_)
        )

    def settled(self, scope: ScopeLike, *, below: bool = False) -> None:
        """See `Recollect.settled`."""
        return self.call(lambda memory: memory.settled(scope, below=below))

    def reembed(self, embedder: EmbedderChoice) -> str:
        """See `Recollect.reembed`."""
        return self.call(lambda memory: memory.reembed(embedder))

    def undo_reembed(self) -> str:
        """See `Recollect.undo_reembed`."""
        return self.call(lambda memory: memory.undo_reembed())

    def erase(self, scope: ScopeLike, target: EraseTarget) -> EraseReceipt:
        """See `Recollect.erase`."""
        return self.call(lambda memory: memory.erase(scope, target))

    def clean(self) -> list[EraseReceipt]:
        """See `Recollect.clean`."""
        return self.call(lambda memory: memory.clean())

    def health(self) -> Health:
        """See `Recollect.health`."""
        return self.call(lambda memory: memory.health())

    def receipts(self, *, unclean: bool = False) -> list[EraseReceipt]:
        """See `Recollect.receipts`."""
        return self.here(lambda memory: memory.receipts(unclean=unclean))

    def import_records(
        self,
        records: Sequence[JsonObject],
        *,
        restore_erased: bool = False,
        told: RecordCallback = tell_nothing,
    ) -> int:
        """See `Recollect.import_records`."""
        return self.call(
            lambda memory: memory.import_records(records, restore_erased=restore_erased, told=told)
        )

    def export(self, scope: ScopeLike, *, below: bool = False) -> Iterator[JsonObject]:
        """See `Recollect.export`; each step of the iteration waits for the next record."""
        records = self._open().export(scope, below=below)
        while (record := self.call(lambda _: anext(records, None))) is not None:
            yield record
