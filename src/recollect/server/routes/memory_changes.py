"""Change several memories at once, atomically, with one undo token."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from recollect.deferred_imports import load_modules
from recollect.errors import ConflictError, RepeatedRequestError, UsageError
from recollect.memory.conflict_retries import decided_alone, decided_unerased
from recollect.memory.facade import Recollect
from recollect.records import DeleteMemory, EndMemory, Write
from recollect.server.http.query_params import strict_router
from recollect.server.http.repeatable_requests import RepeatableRequest
from recollect.server.http.scope_access import IdempotencyKey, Reach, Writing
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import ChangeMemoriesRequest
from recollect.server.undo import Changing
from recollect.side_records import PutSideRecord, SideWrite
from recollect.stores.contract.base import Store
from recollect.text.coded_text import with_code

router: Final = strict_router(prefix="/v1", tags=["memories"])


@router.post("/memories/change", summary="Change several memories")
async def change_memories(
    reach: Writing,
    change: Changing,
    asked: ChangeMemoriesRequest,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """
    Delete, end, approve or reject several memories, each at the given version.

    `undo` reverts what the message in `because` did to them, and to all other memories that the
    same formation changed because of it: what the messages said that were not undone stands then,
    in whatever order they are undone. It is refused (409) if that is not known: if nothing is left
    of the message, if its receipt does not tell what it ended, or if it ended a memory and a later
    message that stands replaced what it said.

    If one of them has changed (412) or is missing (404), nothing is changed.
    """

    async def act(memory: Recollect) -> JsonAnswer:
        noted = change.noting(memory)

        async def decide(store: Store) -> int:
            writes = await _writes_of(reach, asked, store)
            await noted.over(store).apply(reach.scope, writes)
            return sum(not isinstance(each, PutSideRecord) for each in writes)

        # What an approval ends depends on all memories of the scope, beside those that are named.
        decided = decided_alone if asked.act == "approve" else decided_unerased
        count = await decided(noted.store, reach.scope, decide)
        return change.with_token({"changed": count if asked.because else len(asked.memories)})

    async def again(_: RepeatedRequestError) -> JsonAnswer:
        return change.with_token({"changed": len(asked.memories)})

    request = RepeatableRequest(reach, idempotency_key, "change", asked.model_dump_json())
    return await request.answer(act, again)


async def _writes_of(
    reach: Reach, asked: ChangeMemoriesRequest, store: Store
) -> list[Write | SideWrite]:
    """
    Return the writes of a change to each of its memories, in order.

    Raises:
        UsageError: A memory is named twice, a time is given with another change than `end`, or a
            message with another one than `undo`.
        ConflictError: There is nothing left to undo of the message.
    """
    versions = {(each.type, each.key): each.version for each in asked.memories}
    if len(versions) < len(asked.memories):
        raise UsageError("a memory is named twice: name each once")
    if asked.at is not None and asked.act != "end":
        raise UsageError(f"at is the time at which memories end: leave it out with {asked.act}")
    if (asked.act == "undo") != (asked.because is not None):
        raise UsageError("because is the message to undo: give it with undo, and only then")
    if asked.because is not None:
        await load_modules("recollect.memory.message_undo")
        from recollect.memory.message_undo import message_undo_writes

        said = asked.because.thread, asked.because.message
        assistants = reach.service.assistants
        found = await message_undo_writes(store, reach.scope, said, versions, assistants)
        if not found:
            raise ConflictError(_told_nothing(said))
        return found
    if asked.act in {"delete", "end"}:
        return [*_removals(asked, asked.at or reach.service.now())]
    await load_modules("recollect.memory.review")
    from recollect.memory.review import verdict_writes

    verdict: Final = "approve" if asked.act == "approve" else "reject"
    return [*await verdict_writes(store, reach.scope, verdict, versions, reach.service.assistants)]


def _told_nothing(said: tuple[str, str]) -> str:
    return with_code(
        "undo_nothing",
        f"nothing of what the message {said[1]!r} of the thread {said[0]!r} brought is left to be "
        "undone: read the memories again",
    )


def _removals(asked: ChangeMemoriesRequest, at: datetime) -> list[Write]:
    """Return the writes that delete the memories, or end them at a time."""
    if asked.act == "end":
        return [
            EndMemory(type=each.type, key=each.key, at=at, expected=each.version)
            for each in asked.memories
        ]
    return [
        DeleteMemory(type=each.type, key=each.key, expected=each.version) for each in asked.memories
    ]
