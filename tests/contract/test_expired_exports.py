"""What has expired is in no export, on every backend."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

import recollect
from recollect.memory.facade import Recollect
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.side_records import PutSideRecord
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.remainder import MEMORY_THREAD, version_name
from recollect.testing import FrozenClock, SeededIds
from tests.harness.store_opener import Opener

ADA: Final[Scope] = ("acme", "ada")
CODE: Final = PutMemory(
    type="Code",
    key="gate",
    value={"code": "Xanadu"},
    evidence={"": [Evidence(thread="talk", message="m1")]},
)


@pytest.fixture
async def memory(open_empty: Opener, clock: FrozenClock) -> AsyncIterator[Recollect]:
    """Yield a memory with a message, and a code of it that expires in an hour."""
    async with Recollect(open_empty(clock, SeededIds(1)), embedder="none", worker=False) as memory:
        said = NewMessage(role="user", id="m1", text="The code of today")
        in_an_hour = clock.now() + timedelta(hours=1)
        beside = PutSideRecord(kind="State", key="k", value={"value": 1}, expires_at=in_an_hour)
        await memory.append(ADA, "talk", [said], writes=[replace(CODE, expires_at=in_an_hour)])
        await memory.store.apply(ADA, [beside])
        yield memory


async def kinds(memory: Recollect) -> list[str]:
    return [str(each["kind"]) async for each in memory.export(ADA)]


async def test_what_has_expired_is_not_exported(memory: Recollect, clock: FrozenClock) -> None:
    """Swept or not: neither a memory nor a record beside."""
    before = await kinds(memory)
    clock.advance(3_600)

    assert ["thread", "message", "memory", "side"] == before
    assert ["thread", "message"] == await kinds(memory)


async def test_what_rests_on_something_expired_is_erased_elsewhere_too(
    memory: Recollect, clock: FrozenClock
) -> None:
    """The store that imports it knows of which message it was made."""
    derived = Evidence(thread=MEMORY_THREAD, message=version_name("Code", "gate", 1))
    await memory.apply(ADA, [replace(CODE, key="copy", evidence={"": [derived]})])
    clock.advance(3_600)

    async with recollect.open("memory:", embedder="none", worker=False, clock=clock) as other:
        await other.import_records([each async for each in memory.export(ADA)])
        there = [each.key for each in (await other.memories(ADA)).rows]
        await other.erase(ADA, EraseMessages(thread="talk", messages=["m1"]))
        left = [each async for each in other.export(ADA)]

    assert ["copy"] == there
    assert "Xanadu" not in repr(left)
