"""Review: two values of which one can hold are never both approved, whoever approves and when."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import Any, Final, TypeAlias

import pytest

from recollect.errors import StaleReadError, UsageError
from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.scope_types import settings_write
from recollect.formation.types import FACT, NOTE
from recollect.memory import review
from recollect.memory.facade import Recollect
from recollect.memory.review import verdict_writes
from recollect.records import (
    Evidence,
    JsonObject,
    Memory,
    MemoryState,
    NewMessage,
    PutMemory,
    Scope,
    Write,
)
from recollect.stores.contract.base import Store, StoreView
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.testing import FrozenClock, SeededIds
from tests.harness.store_opener import Opener

ADA: Final = ("users", "ada")
FORMED: Final = FormationSettings(types=(FACT, NOTE))
Approval: TypeAlias = Callable[[], Awaitable[object]]


class Overtaken(StoreView):
    """A store whose first write comes after somebody else's *approval*."""

    def __init__(self, store: Store, approval: Approval) -> None:
        super().__init__(store)
        self._approvals = [approval]

    async def _change(self, action: str, scope: Scope, plan: Any) -> Any:
        if self._approvals:
            await self._approvals.pop()()
        return await self._store._change(action, scope, plan)


def home(city: str, state: MemoryState = "quarantined") -> PutMemory:
    """Return a write that says where Ben lives."""
    value = {"subject": "Ben", "predicate": "lives in", "object": city}
    return PutMemory(type="Fact", key=city, value=value, state=state)


async def in_force(memory: Recollect) -> list[str]:
    """Return where Ben lives now, according to the active facts."""
    rows = (await memory.memories(ADA, type_="Fact", state="active")).rows
    return [each.key for each in rows if each.valid_until is None]


async def opened(stack: AsyncExitStack, store: Store, *waiting: PutMemory) -> Recollect:
    """Open a memory in which facts wait for a review."""
    memory = Recollect(store, embedder="none", formation=FORMED, worker=False)
    await stack.enter_async_context(memory)
    await memory.apply(ADA, waiting)
    return memory


async def overtaken_approval(store: Store) -> list[str]:
    """Approve one value while another person approves the other; return those in force."""
    async with AsyncExitStack() as stack:
        memory = await opened(stack, store, home("Oslo"), home("Rome"))

        async def approve_rome() -> Memory:
            return await memory.approve(ADA, "Fact", "Rome")

        late = memory.over(Overtaken(memory.store, approve_rome))
        await late.approve(ADA, "Fact", "Oslo")
        return await in_force(memory)


async def test_an_approval_sees_one_that_overtakes_it(open_empty: Opener) -> None:
    """It ends the value that was approved while it was being decided."""
    assert ["Oslo"] == await overtaken_approval(open_empty(FrozenClock(), SeededIds(1)))


async def test_approvals_at_once_leave_one_in_force(open_empty: Opener) -> None:
    async with AsyncExitStack() as stack:
        cities = ["Oslo", "Rome", "Bonn"]
        store = open_empty(FrozenClock(), SeededIds(1))
        memory = await opened(stack, store, *map(home, cities))

        await asyncio.gather(*(memory.approve(ADA, "Fact", each) for each in cities))

        assert 1 == len(await in_force(memory))


async def test_of_several_approved_together_the_last_holds(open_empty: Opener) -> None:
    """As if one were approved after the other; the value before them ends as well."""
    async with AsyncExitStack() as stack:
        store = open_empty(FrozenClock(), SeededIds(1))
        memory = await opened(stack, store, home("Lima", "active"), home("Oslo"), home("Rome"))
        versions = {("Fact", "Oslo"): 1, ("Fact", "Rome"): 1}

        writes: Sequence[Write] = await verdict_writes(
            memory.store, ADA, "approve", versions, Assistants(default=FORMED)
        )
        await memory.apply(ADA, writes)

        assert ["Rome"] == await in_force(memory)


SCOPES_OWN: Final = replace(FACT, name="Home")


async def approved_homes(store: Store) -> list[str]:
    """Approve three values of a type that a scope above has set; return those in force."""
    async with AsyncExitStack() as stack:
        homes = [replace(home(each), type="Home") for each in ("Oslo", "Rome", "Bonn")]
        memory = await opened(stack, store, *homes)
        await memory.store.apply(ADA[:1], [settings_write([SCOPES_OWN.as_config()])])

        await memory.approve(ADA, "Home", "Oslo")
        await memory.approve(ADA, "Home", "Rome")
        versions = {("Home", "Bonn"): 1}
        assistants = Assistants(default=FORMED)
        writes = await verdict_writes(memory.store, ADA, "approve", versions, assistants)
        await memory.apply(ADA, writes)

        rows = (await memory.memories(ADA, type_="Home", state="active")).rows
        return [each.key for each in rows if each.valid_until is None]


async def test_the_types_of_a_scope_say_what_can_hold_at_once(open_empty: Opener) -> None:
    """A type that was set for a scope, or above it, is one of a single value as well."""
    assert ["Bonn"] == await approved_homes(open_empty(FrozenClock(), SeededIds(1)))


async def test_a_scope_may_let_several_hold_where_the_configuration_lets_one(
    open_empty: Opener,
) -> None:
    """The types of the scope decide: nothing is ended that they let hold beside a new value."""
    async with AsyncExitStack() as stack:
        store = open_empty(FrozenClock(), SeededIds(1))
        memory = await opened(stack, store, home("Lima", "active"), home("Oslo"))
        several = replace(FACT, single_valued=(), several=None)
        await memory.store.apply(ADA, [settings_write([several.as_config()])])

        await memory.approve(ADA, "Fact", "Oslo")

        assert {"Lima", "Oslo"} == set(await in_force(memory))


async def test_a_talk_in_between_is_no_reason_to_decide_again(open_empty: Opener) -> None:
    """Messages change no memory: an approval in a busy scope is not held up."""
    async with AsyncExitStack() as stack:
        memory = await opened(stack, open_empty(FrozenClock(), SeededIds(1)), home("Oslo"))
        said: list[str] = []

        async def append() -> None:
            said.append("hello")
            await memory.append(ADA, "talk", said[-1:])

        class Talking(StoreView):
            async def _change(self, action: str, scope: Scope, plan: Any) -> Any:
                await append()
                return await self._store._change(action, scope, plan)

        await memory.over(Talking(memory.store)).approve(ADA, "Fact", "Oslo")

        assert (["Oslo"], ["hello"]) == (await in_force(memory), said)


def test_an_approval_that_ignores_other_writers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view that forgets the sequence number at which a decision was read is caught."""
    plain = Store.since
    monkeypatch.setattr(Store, "since", lambda self, scope, epoch, _: plain(self, scope, epoch))
    found = asyncio.run(overtaken_approval(InProcessStore(clock=FrozenClock(), ids=SeededIds(1))))

    assert ["Oslo", "Rome"] == sorted(found)


def test_an_approval_that_ignores_the_types_of_a_scope_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that asks the configuration alone leaves two homes."""

    async def of_the_configuration(_: Store, __: Scope, assistants: Assistants, name: str) -> Any:
        return assistants.type_named(name)

    monkeypatch.setattr(review, "type_in_force", of_the_configuration)
    found = asyncio.run(approved_homes(InProcessStore(clock=FrozenClock(), ids=SeededIds(1))))

    assert len(found) > 1


def profile(**cited: str) -> PutMemory:
    """Return a write of the profile, each of whose fields says what a message said."""
    evidence = {
        f"/{name}": [Evidence(thread="talk", message=id_, quote=id_)] for name, id_ in cited.items()
    }
    return PutMemory(type="User", key="User", value=dict(cited), evidence=evidence)


async def approved_profile(
    store: Store, clock: FrozenClock, before: PutMemory, *later: PutMemory
) -> JsonObject:
    """Approve a job that waited while *later* was written, and what says Oslo was erased."""
    async with AsyncExitStack() as stack:
        said = [NewMessage(role="user", text=each, id=each) for each in ("Oslo", "nurse", "cook")]
        change = replace(profile(home="Oslo", occupation="cook"), key="User~1~cook")
        memory = await opened(stack, store, before, replace(change, state="quarantined"))
        await memory.append(ADA, "talk", said)
        clock.advance(60)
        await memory.apply(ADA, later)

        await memory.erase(ADA, EraseMessages(thread="talk", messages=["Oslo"]))
        await memory.approve(ADA, "User", "User~1~cook")

        found = await memory.get(ADA, "User", "User")
        return found.value if found else {}


async def test_a_change_can_be_approved_after_a_part_of_its_document_was_erased(
    open_empty: Opener,
) -> None:
    """Nothing newer says otherwise of it: it is made beside what the erase left."""
    clock = FrozenClock()
    store = open_empty(clock, SeededIds(1))
    before = profile(home="Oslo", occupation="nurse")
    assert {"occupation": "cook"} == await approved_profile(store, clock, before)


async def test_an_erase_makes_no_later_value_one_that_was_to_change(open_empty: Opener) -> None:
    """A later version that lost a part as well is no base: what it says newly would be dropped."""
    clock = FrozenClock()
    store = open_empty(clock, SeededIds(1))
    later = profile(home="Rome", user_name="Oslo")
    with pytest.raises(StaleReadError):
        await approved_profile(store, clock, profile(home="Oslo"), replace(later, expected=1))


@pytest.mark.parametrize("later", [[], [{"home": "Bonn"}]], ids=["at its version", "later"])
async def test_a_change_is_not_made_of_a_memory_that_took_anothers_place(
    open_empty: Opener, later: list[JsonObject]
) -> None:
    """Its version may be the same, as versions begin anew; what it says would be written over."""
    async with AsyncExitStack() as stack:
        clock = FrozenClock()
        memory = await opened(stack, open_empty(clock, SeededIds(1)), profile(home="Oslo"))
        change = PutMemory(
            type="User", key="User~1~abc", value={"home": "Rome"}, state="quarantined"
        )
        await memory.apply(ADA, [change])
        clock.advance(60)
        await memory.delete(ADA, "User", "User")
        others: list[JsonObject] = [{"home": "Lima", "user_name": "Bo"}, *later]
        for each in others:
            await memory.put(ADA, "User", "User", each)

        with pytest.raises(StaleReadError, match="another memory"):
            await memory.approve(ADA, "User", change.key)

        found = await memory.get(ADA, "User", "User")
        assert found is not None
        assert others[-1] == found.value
        await memory.reject(ADA, "User", change.key)
        assert () == (await memory.review(ADA)).rows


def note(content: str) -> JsonObject:
    return {"context": "in passing", "content": content}


async def approved_after_migration(store: Store) -> str:
    """Approve a note that waits since before notes became one document; return how it forms."""
    async with AsyncExitStack() as stack:
        before = await opened(
            stack, store, PutMemory(type="Note", key="boat", value=note("I own a boat"))
        )
        waiting = PutMemory(
            type="Note", key="waits", value=note("I own a ship"), state="quarantined"
        )
        await before.apply(ADA, [waiting])
        await before.migrate_type(ADA, "Note", "patch")
        patched = FormationSettings(types=(FACT, replace(NOTE, update_mode="patch")))
        memory = Recollect(
            before.store, embedder="none", model="rules", formation=patched, worker=False
        )
        await stack.enter_async_context(memory)
        with suppress(UsageError):
            await memory.approve(ADA, "Note", "waits")
        await memory.append(ADA, "talk", "My sister sings.")
        return "".join(each.end for each in await memory.form(ADA))


async def test_what_waits_since_before_a_migration_does_not_stop_the_formation(
    open_empty: Opener,
) -> None:
    """In force, an entry of what is one document by now would keep all messages waiting."""
    assert "formed" == await approved_after_migration(open_empty(FrozenClock(), SeededIds(1)))


def test_an_approval_in_another_mode_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "check_key", lambda *_: None)
    store = InProcessStore(clock=FrozenClock(), ids=SeededIds(1))

    assert "formed" != asyncio.run(approved_after_migration(store))
