"""Undo of a message whose memory was merged into another: in whichever order their keys sort."""

from typing import Final

import pytest

from recollect.errors import VersionConflictError
from recollect.formation.config import FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.formation.types import load_types
from recollect.memory import message_undo
from recollect.memory.facade import Recollect
from recollect.memory.message_undo import message_undo_writes
from recollect.records import EndMemory, Evidence, NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.remainder import MEMORY_THREAD, merged_into, version_name
from recollect.testing import FrozenClock, SeededIds
from tests.harness.store_opener import Opener

ADA: Final = ("users", "ada")
TRIP: Final = load_types(
    [
        {
            "name": "Trip",
            "description": "Where the user travels",
            "update_mode": "insert",
            "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
        }
    ]
)


def opened(store: Store) -> Recollect:
    """Return a memory of trips over *store*."""
    settings = FormationSettings(types=TRIP)
    return Recollect(store, embedder="none", model=RuleModel(), formation=settings, worker=False)


async def merge(memory: Recollect, clock: FrozenClock, keys: str) -> list[str]:
    """Store two trips and their merge under these *keys*; return the ids of their messages."""
    said = [NewMessage(role="user", text=f"To {place}.") for place in ("Bergen", "Porto")]
    ids = [each.id for each in await memory.append(ADA, "talk", said)]
    cited = [Evidence(thread="talk", message=each, quote="To") for each in ids]
    one, other, both = tuple(keys)
    trips = [
        PutMemory(type="Trip", key=key, value={"place": place}, evidence={"": [found]})
        for key, place, found in zip((one, other), ("Bergen", "Porto"), cited, strict=True)
    ]
    await memory.apply(ADA, trips)
    clock.advance(60)
    sources = [
        Evidence(thread=MEMORY_THREAD, message=version_name("Trip", each, 1))
        for each in (one, other)
    ]
    value = {"place": "Bergen and Porto"}
    put = PutMemory(type="Trip", key=both, value=value, evidence={"": [*sources, *cited]})
    ends = [
        EndMemory(type="Trip", key=each, at=clock.now(), cause=merged_into("Trip", both))
        for each in (one, other)
    ]
    await memory.apply(ADA, [put, *ends])
    clock.advance(60)
    return ids


async def taken_back(memory: Recollect, message: str) -> None:
    """Undo a message with all memories that cite it, as the page asks for it."""
    rows = (await memory.memories(ADA)).rows
    versions = {
        (each.type, each.key): each.version
        for each in rows
        if any(found.message == message for part in each.evidence.values() for found in part)
    }
    assistants = memory._runtime.assistants
    writes = await message_undo_writes(memory.store, ADA, ("talk", message), versions, assistants)
    await memory.apply(ADA, writes)


async def merge_and_take_back(store: Store, clock: FrozenClock, keys: str) -> dict[str, object]:
    """Undo the first of two messages after the merge; return the places in force by key."""
    async with opened(store) as memory:
        ids = await merge(memory, clock, keys)
        await taken_back(memory, ids[0])
        rows = (await memory.memories(ADA)).rows
        return {each.key: each.value["place"] for each in rows if each.valid_until is None}


@pytest.mark.parametrize("keys", ["abz", "bza", "zab", "azb"])
async def test_the_words_of_the_other_stand(
    open_empty: Opener, clock: FrozenClock, keys: str
) -> None:
    """What was merged goes, and the trip that nobody took back is in force again."""
    found = await merge_and_take_back(open_empty(clock, SeededIds(1)), clock, keys)

    assert {keys[1]: "Porto"} == found


async def test_a_source_that_is_deleted_first_is_noticed(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of their keys the undo would be refused, each time that it is tried."""
    monkeypatch.setattr(message_undo, "_derived_first", sorted)

    with pytest.raises(VersionConflictError):
        await merge_and_take_back(InProcessStore(clock=clock, ids=SeededIds(1)), clock, "abz")
