"""Threads and runs of LangGraph's clients, stored as side records in the service's scopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, cast

from recollect.errors import NotFoundError
from recollect.memory.facade import Recollect
from recollect.records import Json, JsonObject, Scope
from recollect.server.authorization import RESERVED
from recollect.server.quotas import DOCUMENTS
from recollect.side_records import DeleteSideRecord, PutSideRecord, SideRecord
from recollect.stores.pages import each_row
from recollect.stores.validation import PAGE_ROWS_MAX, check_position

THREAD: Final = "LangGraphThread"
RUN: Final = "LangGraphRun"
TYPES: Final = "LangGraphType"
RUN_KEPT_DAYS: Final = 30.0
"""Days that a run is kept after it was due."""
RunStatus: TypeAlias = Literal["pending", "running", "error", "success", "timeout", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptThread:
    """
    A thread that a client created.

    Its messages are in our thread of the same id in *scope*, below the key's own; *scope* is
    ``None`` before the first run, which names it. *held* is True if formation was cancelled, until
    the next run.
    """

    id: str
    scope: tuple[str, ...] | None
    metadata: JsonObject
    created_at: datetime
    updated_at: datetime
    held: bool = False
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """
    A run that a client created: the messages of its thread after position *since*, up to *upto*.

    A *status* other than ``pending`` is final. While it is ``pending``, the current status follows
    from the thread's formation; see `current_status`.
    """

    id: str
    thread: str
    assistant: str
    strategy: str
    created_at: datetime
    updated_at: datetime
    since: int
    upto: int
    status: RunStatus = "pending"
    metadata: JsonObject = field(default_factory=dict)
    configurable: JsonObject = field(default_factory=dict)
    reason: str = ""


def documents_scope(root: Scope, thread: str) -> Scope:
    """Return the scope that stores the documents of a thread."""
    return (RESERVED, DOCUMENTS, *root, thread)


def put_thread(thread: KeptThread) -> PutSideRecord:
    """Return the write of a thread, conditional on the version that was read."""
    value: JsonObject = {
        "scope": None if thread.scope is None else list(thread.scope),
        "metadata": thread.metadata,
        "created_at": thread.created_at.isoformat(),
        "updated_at": thread.updated_at.isoformat(),
        "held": thread.held,
    }
    return PutSideRecord(kind=THREAD, key=THREAD, value=value, expected=thread.version)


def put_run(run: KeptRun) -> PutSideRecord:
    """Return the write of a run."""
    value: JsonObject = {
        "thread": run.thread,
        "assistant": run.assistant,
        "strategy": run.strategy,
        "created_at": run.created_at.isoformat(),
        "updated_at": run.updated_at.isoformat(),
        "since": run.since,
        "upto": run.upto,
        "status": run.status,
        "metadata": run.metadata,
        "configurable": run.configurable,
        "reason": run.reason,
    }
    # `created_at` already includes the delay of the run.
    expires_at = run.created_at + timedelta(days=RUN_KEPT_DAYS)
    return PutSideRecord(kind=RUN, key=run.id, value=value, expires_at=expires_at)


def delete_run(run: KeptRun) -> DeleteSideRecord:
    """Return the write that removes a run."""
    return DeleteSideRecord(kind=RUN, key=run.id)


async def read_thread(memory: Recollect, root: Scope, thread: str) -> KeptThread | None:
    """Return a client's thread below *root*, ``None`` if there is none."""
    found = await memory.store.side_record(documents_scope(root, thread), THREAD, THREAD)
    return None if found is None else _thread_of(found, thread)


async def require_thread(memory: Recollect, root: Scope, thread: str) -> KeptThread:
    """Return a client's thread below *root*."""
    found = await read_thread(memory, root, thread)
    if found is None:
        raise NotFoundError(f"Thread with ID {thread} not found")
    return found


async def list_threads(memory: Recollect, root: Scope) -> list[KeptThread]:
    """Return the threads of clients whose key has the scope *root*, last changed first."""
    found = [each for each in await _all(memory, root) if each[0] == root]
    return sorted(
        (thread for _, thread in found),
        key=lambda each: (each.updated_at, each.id),
        reverse=True,
    )


async def _all(memory: Recollect, root: Scope) -> list[tuple[Scope, KeptThread]]:
    """Return the threads of clients with keys of *root* or below, each with its key's scope."""
    prefix = documents_scope(root, "")[:-1]
    found = each_row(
        lambda cursor: memory.store.side_records_below(
            prefix, THREAD, cursor=cursor, limit=PAGE_ROWS_MAX
        )
    )
    return [(each.scope[2:-1], _thread_of(each, each.scope[-1])) async for each in found]


async def delete_erased(
    memory: Recollect, scope: Scope, *, below: bool = False, thread: str | None = None
) -> None:
    """Delete the documents of an erased scope's threads, or of one erased thread."""
    for bound, each in await _all(memory, scope[:1]):
        whole = (*bound, *(each.scope or ()))
        is_erased = whole == scope or (below and whole[: len(scope)] == scope)
        if is_erased and thread in {None, each.id}:
            await delete_thread(memory, bound, each.id)


async def list_runs(memory: Recollect, root: Scope, thread: str) -> list[KeptRun]:
    """Return the runs of a thread, newest first."""
    found = each_row(
        lambda cursor: memory.store.side_records(
            documents_scope(root, thread), RUN, cursor=cursor, limit=PAGE_ROWS_MAX
        )
    )
    runs = [_run_of(each) async for each in found]
    return sorted(runs, key=lambda each: (each.created_at, each.id), reverse=True)


async def store_types(memory: Recollect, root: Scope, types: Sequence[JsonObject]) -> None:
    """Store the memory types of a run, so that LangGraph's store shows what it forms."""
    place = documents_scope(root, "")[:-1]
    for each in types:
        name = str(each["name"])
        found = await memory.store.side_record(place, TYPES, name)
        if found is None or found.value != each:
            await memory.store.apply(place, [PutSideRecord(kind=TYPES, key=name, value=each)])


async def read_types(memory: Recollect, root: Scope) -> list[JsonObject]:
    """Return the memory types of all runs."""
    place = documents_scope(root, "")[:-1]
    page = await memory.store.side_records(place, TYPES, limit=PAGE_ROWS_MAX)
    return [each.value for each in page.rows]


async def delete_thread(memory: Recollect, root: Scope, thread: str) -> None:
    """Delete the documents of a thread and its runs."""
    runs = await list_runs(memory, root, thread)
    writes = [delete_run(each) for each in runs]
    writes.append(DeleteSideRecord(kind=THREAD, key=THREAD))
    for start in range(0, len(writes), PAGE_ROWS_MAX):
        await memory.store.apply(
            documents_scope(root, thread), writes[start : start + PAGE_ROWS_MAX]
        )


def _thread_of(found: SideRecord, id_: str) -> KeptThread:
    value = found.value
    scope = value.get("scope")
    return KeptThread(
        id=id_,
        scope=tuple(str(each) for each in scope) if isinstance(scope, list | tuple) else None,
        metadata=_object(value.get("metadata")),
        created_at=datetime.fromisoformat(str(value["created_at"])),
        updated_at=datetime.fromisoformat(str(value["updated_at"])),
        held=value.get("held") is True,
        version=found.version,
    )


def _run_of(found: SideRecord) -> KeptRun:
    value = found.value
    return KeptRun(
        id=found.key,
        thread=str(value["thread"]),
        assistant=str(value["assistant"]),
        strategy=str(value["strategy"]),
        created_at=datetime.fromisoformat(str(value["created_at"])),
        updated_at=datetime.fromisoformat(str(value["updated_at"])),
        since=check_position(value["since"], "the start of a run"),
        upto=check_position(value["upto"], "the end of a run"),
        status=cast("RunStatus", value["status"]),
        metadata=_object(value.get("metadata")),
        configurable=_object(value.get("configurable")),
        reason=str(value.get("reason", "")),
    )


def _object(value: Json) -> JsonObject:
    return dict(value) if isinstance(value, Mapping) else {}
