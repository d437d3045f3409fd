"""What users see, as a type checker sees it: read by mypy, never run."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, assert_type

import recollect
from recollect import (
    DeleteMemory,
    EndMemory,
    EraseMemory,
    EraseMessages,
    EraseReceipt,
    EraseScope,
    EraseSource,
    EraseThread,
    Evidence,
    Memory,
    Message,
    NewMessage,
    Page,
    PutMemory,
    Recall,
    Recalled,
    Recollect,
    RecollectError,
    Revision,
    SyncRecollect,
    Thread,
    UsageError,
    Where,
)
from recollect.errors import StoreError
from recollect.ports import Clock, Embedder, Ids, Vector
from recollect.records import Json, JsonObject, Scope, Write
from recollect.testing import CountingIds, FrozenClock, HashedEmbedder

SCOPE: Scope = ("users", "ada")
MESSAGE = NewMessage(role="user", text="I moved to Porto", name="Ada")
WRITES: list[Write] = [
    PutMemory(type="Item", key="home", value={"city": "Porto", "floors": [1, 2]}),
    EndMemory(type="Item", key="home", at=datetime(2024, 5, 6, tzinfo=UTC)),
    DeleteMemory(type="Item", key="home", expected=2),
]


PET: dict[str, recollect.Json] = {
    "name": "Pet",
    "description": "A pet.",
    "update_mode": "insert",
    "parameters": {"type": "object", "properties": {"kind": {"type": "string"}}},
}
SETTINGS = recollect.FormationSettings(types=[PET])
assert_type(SETTINGS.types, tuple[recollect.MemoryType, ...])


async def keep(memory: Recollect) -> None:
    """Writing and reading of conversations and memories."""
    assert_type(await memory.append(SCOPE, "talk", [MESSAGE]), tuple[Message, ...])
    assert_type(await memory.messages(SCOPE, "talk"), Page[Message])
    assert_type((await memory.messages(SCOPE, "talk")).rows, tuple[Message, ...])
    assert_type((await memory.messages(SCOPE, "talk")).cursor, str | None)
    assert_type(await memory.last_messages(SCOPE, "talk", limit=3), tuple[Message, ...])
    assert_type(await memory.threads(SCOPE), Page[Thread])
    assert_type(await memory.thread(SCOPE, "talk"), Thread | None)
    assert_type(await memory.remove(SCOPE, "talk", ["m1"]), int)
    assert_type(await memory.keep(SCOPE, "talk", 1, 2), int)
    assert_type(await memory.replace(SCOPE, "talk", MESSAGE), Message)
    assert_type(await memory.put(SCOPE, "Item", "pet", {"pet": "cat"}), Memory)
    assert_type(await memory.apply(SCOPE, WRITES), tuple[Memory | None, ...])
    assert_type(await memory.get(SCOPE, "Item", "pet"), Memory | None)
    assert_type(await memory.memories(SCOPE), Page[Memory])
    assert_type(await memory.history(SCOPE, "Item", "pet"), tuple[Revision, ...])
    assert_type(await memory.scopes(prefix=("users", ...)), Page[Scope])


async def recall(memory: Recollect) -> None:
    """Asking, and what the answer holds."""
    found = await memory.recall([SCOPE, ("users", "bob")], "Where?", limit=5, budget_tokens=500)
    assert_type(found, Recall)
    assert_type(found.entries, tuple[Recalled, ...])
    assert_type(found.is_partial, bool)
    assert_type(found.embedder, str | None)
    assert_type(found.render(), str)
    (entry,) = found.entries
    assert_type(entry.content, Message | Memory)
    assert_type(entry.scope, Scope)
    assert_type(entry.score, float)
    assert_type(entry.signals, Mapping[str, float])
    assert_type(entry.text, str)
    assert_type(entry.time, datetime)
    assert_type(found.dropped[0].reason, Literal["limit", "budget", "repeats", "score", "empty"])
    where = Where(types=["Item"], filter={"pet": {"$in": ["cat"]}}, valid_at="ever")
    assert_type(where.valid_at, datetime | Literal["now", "ever"])
    assert_type(memory.embedder, str | None)


async def forget(memory: Recollect) -> None:
    """Erasing, and moving house."""
    for target in (
        EraseScope(below=True),
        EraseThread(thread="talk"),
        EraseMessages(thread="talk", messages=["m1"]),
        EraseMemory(type="Item", key="pet"),
        EraseSource(source="mail"),
    ):
        assert_type(await memory.erase(SCOPE, target), EraseReceipt)
    assert_type((await memory.receipts())[0].clean_at, datetime | None)
    assert_type(await memory.clean(), list[EraseReceipt])
    assert_type(memory.export(SCOPE, below=True), AsyncIterator[JsonObject])
    records = [record async for record in memory.export(SCOPE)]
    assert_type(records, list[JsonObject])
    assert_type(await memory.import_records(records), int)


async def opened() -> None:
    """Both faces, and what they can be opened with."""
    async with recollect.open("memory:", embedder="none") as memory:
        assert_type(memory, Recollect)
    with recollect.open_sync("memory.db", clock=FrozenClock(), ids=CountingIds()) as same:
        assert_type(same, SyncRecollect)
        assert_type(same.recall(SCOPE, "Where?"), Recall)
        assert_type(same.append(SCOPE, "talk", [MESSAGE]), tuple[Message, ...])
        assert_type(same.export(SCOPE), Iterator[JsonObject])
        assert_type(same.put(SCOPE, "Item", "pet", {"pet": "cat"}), Memory)


def shapes(message: Message, memory: Memory, revision: Revision) -> None:
    """The fields of what is read."""
    assert_type(message.role, Literal["user", "assistant", "system", "tool"])
    assert_type(message.time, datetime)
    assert_type(message.name, str | None)
    assert_type(message.metadata, Mapping[str, Json])
    assert_type(memory.value, Mapping[str, Json])
    assert_type(memory.evidence, Mapping[str, Sequence[Evidence]])
    assert_type(memory.state, Literal["active", "quarantined", "rejected"])
    assert_type(memory.trust, Literal["user", "assistant", "external", "agent"])
    assert_type(revision.believed_until, datetime | None)


def ports() -> None:
    """What is shipped for tests fits the ports."""
    clock: Clock = FrozenClock()
    ids: Ids = CountingIds()
    embedder: Embedder = HashedEmbedder()
    assert_type(clock.now(), datetime)
    assert_type(ids.entry_id(), int)
    assert_type(embedder.embed(["a"]), Sequence[Vector | None])


def errors(error: UsageError) -> None:
    """What is raised can be caught by what it is for callers."""
    broad: ValueError = error
    ours: RecollectError = error
    kind: type[RecollectError] = StoreError
    assert_type(error.code, str)
    print(broad, ours, kind)  # noqa: T201 (nothing runs)


def mistakes(memory: SyncRecollect, anything: Any) -> None:
    """What a type checker must refuse: each line would be an unused ignore if it did not."""
    NewMessage("user", "positional")  # type: ignore[call-arg]
    NewMessage(role="robot", text="hello")  # type: ignore[arg-type]
    NewMessage(role="user", text=None)  # type: ignore[arg-type]
    Where(valid_at="yesterday")  # type: ignore[arg-type]
    EraseThread()  # type: ignore[call-arg]
    memory.recall(SCOPE)  # type: ignore[call-arg]
    memory.recall(SCOPE, "Where?", 5)  # type: ignore[call-arg]
    memory.recall(7, "Where?")  # type: ignore[arg-type]
    memory.append(SCOPE, "talk", [7])  # type: ignore[list-item]
    memory.erase(SCOPE, "talk")  # type: ignore[arg-type]
    memory.put(SCOPE, "Item", "pet", {"pet": object()})  # type: ignore[dict-item]
    MESSAGE.text = anything  # type: ignore[misc]
    recollect.open("memory:", count_tokens=len("a"))  # type: ignore[arg-type]
