"""Threads and runs of LangGraph's clients as documents of the service's own, beside the memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, cast

from recollect.errors import NotFoundError
from recollect.memory.facade import Recollect
from recollect.records import (
    DeleteSideRecord,
    Json,
    JsonObject,
    PutSideRecord,
    Scope,
    SideRecord,
)
from recollect.server.authorization import RESERVED
from recollect.server.quotas import DOCUMENTS
from recollect.stores.pages import each_row
from recollect.stores.validation import PAGE_ROWS_MAX, check_position

THREAD: Final = "LangGraphThread"
RUN: Final = "LangGraphRun"
TYPES: Final = "LangGraphType"
RUN_KEPT_DAYS: Final = 30.0
"""So long after it was due a run is known."""
RunStatus: TypeAlias = Literal["pending", "running", "error", "success", "timeout", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptThread:
    """
    A thread as a client made it.

    Its messages are those of our thread of the same id in *scope*, below the key's own;
    ``None`` before its first run has said whose it is. *held* says that its formation was
    cancelled, until another run comes.
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
    A run as a client posted it: the messages of its thread after *since* up to *upto*.

    *status* is what was decided about it; as long as it is ``pending``, how far the thread is
    formed says how it stands.
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


def place_of(root: Scope, thread: str) -> Scope:
    """Return the scope in which the documents of a thread are kept."""
    return (RESERVED, DOCUMENTS, *root, thread)


def put_thread(thread: KeptThread) -> PutSideRecord:
    """Return the write of a thread, at the version that was read."""
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
    expires_at = run.created_at + timedelta(days=RUN_KEPT_DAYS)
    return PutSideRecord(kind=RUN, key=run.id, value=value, expires_at=expires_at)


def delete_run(run: KeptRun) -> DeleteSideRecord:
    """Return the write that removes a run."""
    return DeleteSideRecord(kind=RUN, key=run.id)


async def kept_thread(memory: Recollect, root: Scope, thread: str) -> KeptThread | None:
    """Return a thread that a client made below *root*, ``None`` if there is none."""
    found = await memory.store.side_record(place_of(root, thread), THREAD, THREAD)
    return None if found is None else _thread_of(found, thread)


async def existing(memory: Recollect, root: Scope, thread: str) -> KeptThread:
    """
    Return a thread that a client made below *root*.

    Raises:
        NotFoundError: The id is unknown.
    """
    found = await kept_thread(memory, root, thread)
    if found is None:
        msg = f"Thread with ID {thread} not found"
        raise NotFoundError(msg)
    return found


async def kept_threads(memory: Recollect, root: Scope) -> list[KeptThread]:
    """Return the threads that clients with this key's scope made, the last changed first."""
    found = [each for each in await _all(memory, root) if each[0] == root]
    return sorted(
        (thread for _, thread in found),
        key=lambda each: (each.updated_at, each.id),
        reverse=True,
    )


async def _all(memory: Recollect, root: Scope) -> list[tuple[Scope, KeptThread]]:
    """Return the threads that clients made with keys of *root* or below, each with that scope."""
    prefix = place_of(root, "")[:-1]
    found = each_row(
        lambda cursor: memory.store.side_records_below(
            prefix, THREAD, cursor=cursor, limit=PAGE_ROWS_MAX
        )
    )
    return [(each.scope[2:-1], _thread_of(each, each.scope[-1])) async for each in found]


async def forget_erased(
    memory: Recollect, scope: Scope, *, below: bool = False, thread: str | None = None
) -> None:
    """Remove the documents of the threads of an erased scope, or of one erased thread of it."""
    for bound, each in await _all(memory, scope[:1]):
        whole = (*bound, *(each.scope or ()))
        is_erased = whole == scope or (below and whole[: len(scope)] == scope)
        if is_erased and thread in {None, each.id}:
            await forget_thread(memory, bound, each.id)


async def kept_runs(memory: Recollect, root: Scope, thread: str) -> list[KeptRun]:
    """Return the runs of a thread, the newest first."""
    found = each_row(
        lambda cursor: memory.store.side_records(
            place_of(root, thread), RUN, cursor=cursor, limit=PAGE_ROWS_MAX
        )
    )
    runs = [_run_of(each) async for each in found]
    return sorted(runs, key=lambda each: (each.created_at, each.id), reverse=True)


async def note_types(memory: Recollect, root: Scope, types: Sequence[JsonObject]) -> None:
    """Remember the memory types that runs brought, so that the store shows what they form."""
    place = place_of(root, "")[:-1]
    for each in types:
        name = str(each["name"])
        found = await memory.store.side_record(place, TYPES, name)
        if found is None or found.value != each:
            await memory.store.apply(place, [PutSideRecord(kind=TYPES, key=name, value=each)])


async def noted_types(memory: Recollect, root: Scope) -> list[JsonObject]:
    """Return the memory types that runs brought."""
    place = place_of(root, "")[:-1]
    page = await memory.store.side_records(place, TYPES, limit=PAGE_ROWS_MAX)
    return [each.value for each in page.rows]


async def forget_thread(memory: Recollect, root: Scope, thread: str) -> None:
    """Remove the documents of a thread."""
    runs = await kept_runs(memory, root, thread)
    writes = [delete_run(each) for each in runs]
    writes.append(DeleteSideRecord(kind=THREAD, key=THREAD))
    for start in range(0, len(writes), PAGE_ROWS_MAX):
        await memory.store.apply(place_of(root, thread), writes[start : start + PAGE_ROWS_MAX])


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
