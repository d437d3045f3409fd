"""Undo: what was changed is exactly what it was before, or a change says that it cannot be."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.chat.corrections import correction_of
from recollect.errors import StaleReadError, UsageError, VersionConflictError
from recollect.formation.config import FormationSettings
from recollect.formation.types import FACT, NOTE, USER
from recollect.formation.value_identity import proposal_key
from recollect.memory.facade import Recollect
from recollect.ports import Clock, Ids, ModelRequest, ToolCall
from recollect.records import (
    DeleteMemory,
    EndMemory,
    Evidence,
    Json,
    JsonObject,
    Memory,
    NewMessage,
    PutMemory,
)
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans import undo_reversal
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.plans.undo import UNDONE, Undo, UndoLog
from recollect.stores.remainder import MEMORY_THREAD, version_name
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from tests.harness.store_opener import Opener

Records: TypeAlias = Mapping[tuple[str, str], Mapping[str, Any]]
ADA: Final = ("users", "ada")
DAY: Final = timedelta(days=1)
LIFE: Final = replace(USER, name="Life", parameters={"type": "object"})
HOME: Final = replace(
    FACT,
    name="Home",
    single_valued=("city",),
    parameters={
        "type": "object",
        "properties": {"who": {"type": "string"}, "city": {"type": "string"}},
        "required": ["who", "city"],
    },
)
_TOLD: Final = ("value", "text", "valid_from", "valid_until", "evidence", "trust", "state")
_SAME: Final = (*_TOLD, "type", "key", "created_at", "expires_at")


def merging(request: ModelRequest) -> ScriptedAnswer:
    """Merge the first two memories of the first group."""
    rows = [line for line in request.turns[0].text.split("\n") if line.startswith("[")]
    (one, first, *_), (other, second, *_) = (json.loads(line) for line in rows[:2])
    content = f"{first['content']} and {second['content']}"
    value: JsonObject = {"context": first["context"], "content": content}
    return [ToolCall(name="merge_memories", arguments={"ids": [one, other], "value": value})]


@asynccontextmanager
async def opened(store: Store) -> AsyncIterator[Recollect]:
    settings_ = FormationSettings(types=(LIFE, NOTE, HOME))
    async with Recollect(
        store, embedder="none", model=ScriptedModel(merging), formation=settings_, worker=False
    ) as memory:
        yield memory


async def records(memory: Recollect) -> Records:
    """Return the memories as an export has them."""
    return {
        (str(each["type"]), str(each["key"])): each
        async for each in memory.export(ADA)
        if each["kind"] == "memory"
    }


def differences(before: Records, after: Records) -> list[str]:
    """Return where *after* differs from *before*, except for versions that record the undo."""
    found = [f"{each} is new" for each in after if each not in before]
    for address, was in before.items():
        now = after.get(address)
        if now is None:
            found.append(f"{address} is gone")
        elif now != was:
            found += [f"{name} of {address}" for name in _SAME if now[name] != was[name]]
            past = len(was["revisions"])
            kept = now["revisions"][: past + 1]
            if kept[:past] != was["revisions"] or now["cause"] != UNDONE:
                found.append(f"history of {address}")
            elif any(kept[past][name] != was[name] for name in (*_TOLD, "version", "cause")):
                found.append(f"the version before of {address}")
    return found


class Life:
    """Random memories of one scope, and what may be done to them and undone."""

    def __init__(self, memory: Recollect, clock: FrozenClock, chance: Random) -> None:
        self.memory = memory
        self._clock = clock
        self._chance = chance

    async def begin(self) -> None:
        """Keep random memories of every kind, with pasts, evidence, ends and expiries."""
        said = [NewMessage(role="user", text=f"words of m{n}", id=f"m{n}") for n in range(4)]
        await self.memory.append(ADA, "talk", said)
        for name in "abcd":
            for _ in range(self._chance.randint(1, 3)):
                self._clock.advance(60)
                value: JsonObject = {
                    "context": "drinks",
                    "content": f"drinks tea {self._word()}",
                }
                await self.memory.apply(ADA, [self._put("Note", f"note {name}", value)])
        for city in ("Oslo", "Rome"):
            value = {"who": "Ada", "city": city}
            state: Any = "active" if city == "Oslo" else "quarantined"
            await self.memory.apply(ADA, [replace(self._put("Home", city, value), state=state)])
        life = self._put("Life", "Life", {"about": self._word(), "likes": [self._word(), "x"]})
        (standing,) = await self.memory.apply(ADA, [life])
        assert standing is not None
        changed = {**standing.value, "about": self._word()}
        key = proposal_key("Life", standing.version, changed)
        await self.memory.apply(ADA, [replace(life, key=key, value=changed, state="quarantined")])
        await self.memory.apply(ADA, await self._derived())
        self._clock.advance(60)

    def _word(self) -> str:
        return "".join(self._chance.choices("bdfgkl", k=6))

    def _put(self, type_: str, key: str, value: JsonObject) -> PutMemory:
        now = self._clock.now()
        evidence = [Evidence(thread="talk", message=f"m{self._chance.randrange(4)}", quote="words")]
        return PutMemory(
            type=type_,
            key=key,
            value=value,
            text=self._chance.choice([None, "a text of its own"]),
            valid_from=self._chance.choice([None, now - DAY]),
            expires_at=self._chance.choice([None, now + DAY]),
            evidence=self._chance.choice([{}, {"": evidence}]),
            trust=self._chance.choice(["user", "assistant", "external"]),
            cause=self._chance.choice(["formed", "put"]),
        )

    async def _derived(self) -> list[PutMemory | EndMemory]:
        """Return writes that merge two notes into one, as a consolidation does."""
        sources = [await self._at("Note", f"note {name}") for name in "cd"]
        names = [version_name(each.type, each.key, each.version) for each in sources]
        made = PutMemory(
            type="Note",
            key="merged",
            value={"context": "drinks", "content": "all"},
            evidence={"": [Evidence(thread=MEMORY_THREAD, message=name) for name in names]},
        )
        now = self._clock.now()
        ends = [
            EndMemory(type=e.type, key=e.key, at=now, cause="merged into Note/merged")
            for e in sources[1:]
        ]
        return [made, *ends]

    async def _at(self, type_: str, key: str) -> Memory:
        found = await self.memory.get(ADA, type_, key)
        assert found is not None
        return found

    @property
    def acts(self) -> dict[str, Callable[[Recollect], Awaitable[object]]]:
        """Everything that can be undone."""
        return {
            "forget": self._forget,
            "reject": self._reject,
            "reject a field": self._reject_field,
            "reject a proposal": self._reject_proposal,
            "approve": lambda memory: memory.approve(ADA, "Home", "Rome"),
            "approve a proposal": self._approve_proposal,
            "correct": self._correct,
            "edit": self._edit,
            "put": lambda memory: memory.put(ADA, "Note", "new", {"context": "x", "content": "y"}),
            "end": self._end,
            "merge": self._merge,
            "several": self._several,
        }

    async def _forget(self, memory: Recollect) -> None:
        key = self._chance.choice(["note a", "note c", "note d", "merged"])
        await memory.apply(ADA, [DeleteMemory(type="Note", key=key)])

    async def _reject(self, memory: Recollect) -> None:
        type_, key = self._chance.choice([("Note", "note a"), ("Note", "note c"), ("Life", "Life")])
        await memory.reject(ADA, type_, key)

    async def _reject_field(self, memory: Recollect) -> None:
        await memory.reject(ADA, "Life", "Life", pointer=self._chance.choice(["/about", "/likes"]))

    async def _proposal(self) -> str:
        page = await self.memory.memories(ADA, type_="Life", state="quarantined")
        return page.rows[0].key

    async def _reject_proposal(self, memory: Recollect) -> None:
        await memory.reject(ADA, "Life", await self._proposal())

    async def _approve_proposal(self, memory: Recollect) -> None:
        await memory.approve(ADA, "Life", await self._proposal())

    async def _correct(self, memory: Recollect) -> None:
        because = Evidence(thread="talk", message="m0", quote="words")
        found = await self._at("Life", "Life")
        await memory.apply(ADA, [correction_of(found, "/about", self._word(), because=because)])

    async def _edit(self, memory: Recollect) -> None:
        value: JsonObject = {"context": self._word(), "content": "drinks tea"}
        await memory.put(ADA, "Note", "note a", value, expires_at=self._clock.now() + 2 * DAY)

    async def _end(self, memory: Recollect) -> None:
        end = EndMemory(type="Note", key="note b", at=self._clock.now())
        await memory.apply(ADA, [end])

    async def _merge(self, memory: Recollect) -> None:
        """Merge as is done by hand: one says both, the other ends."""
        value: JsonObject = {"context": "drinks", "content": self._word()}
        put = PutMemory(type="Note", key="note a", value=value)
        end = EndMemory(
            type="Note", key="note b", at=self._clock.now(), cause="merged into Note/note a"
        )
        await memory.apply(ADA, [put, end])

    async def _several(self, memory: Recollect) -> None:
        """Delete one and make it again, write another twice, and forget what was made."""
        value: JsonObject = {"context": "drinks", "content": self._word()}
        put = PutMemory(type="Note", key="note a", value=value)
        gone = DeleteMemory(type="Note", key="note b")
        made = replace(put, key="note b")
        await memory.apply(
            ADA, [put, gone, replace(put, text="again"), made, replace(put, key="n")]
        )


async def undone(open_empty: Opener, seed: int) -> list[str]:
    """Change random memories and undo it; return the differences."""
    clock, chance = FrozenClock(), Random(seed)  # noqa: S311 (it protects nothing)
    async with opened(open_empty(clock, SeededIds(seed))) as memory:
        life = Life(memory, clock, chance)
        await life.begin()
        name, act = chance.choice(list(life.acts.items()))
        before = await records(memory)
        log = UndoLog()
        await act(memory.noting(log))
        clock.advance(60)
        assert log.last is not None
        assert await records(memory) != before, name
        kept = Undo.of_json(json.loads(json.dumps(log.last.as_json())))
        await memory.undo(ADA, kept)
        left = differences(before, await records(memory))
        with pytest.raises(VersionConflictError):
            await memory.undo(ADA, kept)
    return [f"{name}: {each}" for each in left]


COUNTS: Final = {"memory": 60, "sqlite": 15, "postgres": 4, "redis": 8}
MANY: Final = {"memory": 5_000, "sqlite": 1_000, "postgres": 200, "redis": 500}


def check(open_empty: Opener, count: int) -> None:
    """Undo so many changes on one backend."""

    @settings(settings.get_profile("sample"), max_examples=count)
    @given(seed=st.integers(0, 2**32 - 1))
    def all_is_as_it_was(seed: int) -> None:
        assert [] == asyncio.run(undone(open_empty, seed))

    all_is_as_it_was()


def test_what_was_changed_is_what_it_was(backend: str, open_empty: Opener) -> None:
    """Value, text, history, evidence, validity, trust, state and expiry, of all it touched."""
    check(open_empty, COUNTS[backend])


@pytest.mark.prove
def test_whatever_was_changed_is_what_it_was(backend: str, open_empty: Opener) -> None:
    """The same, at full count."""
    check(open_empty, MANY[backend])


def without(name: str) -> Callable[..., object]:
    """Return a mutant that does not take back what a change *did*."""
    original = undo_reversal._Undoing.take_back

    def forgetful(self: Any, change: Any) -> None:
        if change.text("did") != name:
            original(self, change)

    return forgetful


@pytest.mark.parametrize("name", ["made", "changed", "removed"])
def test_what_is_not_taken_back_is_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The mutants: a refusal stays behind, a value stays changed, what was forgotten stays away."""
    monkeypatch.setattr(undo_reversal._Undoing, "take_back", without(name))

    def leaves_something(seed: int) -> bool:
        try:
            return bool(asyncio.run(undone(open_in_memory, seed)))
        except (VersionConflictError, pytest.fail.Exception):
            return True

    assert any(map(leaves_something, range(40)))


def open_in_memory(clock: Clock, ids: Ids) -> Store:
    return open_store("memory:", clock=clock, ids=ids)


async def test_a_consolidation_is_taken_back_exactly(open_empty: Opener) -> None:
    """Of what its receipt says; and once."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await Life(memory, clock, Random(1)).begin()  # noqa: S311 (it protects nothing)
        before = await records(memory)

        done = await memory.consolidate(ADA)
        assert done.id is not None
        changed = await records(memory)
        await memory.undo(ADA, done.id)

        assert changed != before
        assert [] == differences(before, await records(memory))
        with pytest.raises(VersionConflictError):
            await memory.undo(ADA, done.id)


async def test_what_was_forgotten_need_not_fit_the_types_of_today(open_empty: Opener) -> None:
    """It was there; that nobody could write it now does not lose it."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        odd = PutMemory(type="Home", key="old", value={"town": 7}, trust="external", cause="formed")
        await memory.apply(ADA, [odd, replace(odd, value={"town": 8})])
        before = await records(memory)
        log = UndoLog()

        await memory.noting(log).apply(ADA, [DeleteMemory(type="Home", key="old")])
        assert log.last is not None
        await memory.undo(ADA, log.last)

        assert before == await records(memory)


async def changed(memory: Recollect) -> Undo:
    """Overwrite a note that has evidence, and return its undo record."""
    await memory.append(ADA, "talk", [NewMessage(role="user", text="tea", id="m1")])
    said = {"": [Evidence(thread="talk", message="m1", quote="tea")]}
    note = PutMemory(type="Note", key="a", value={"content": "tea"}, evidence=said)
    await memory.apply(ADA, [note, PutMemory(type="Note", key="b", value={"content": "x"})])
    log = UndoLog()
    await memory.noting(log).apply(ADA, [DeleteMemory(type="Note", key="a")])
    assert log.last is not None
    return log.last


async def test_what_was_erased_since_does_not_come_back(open_empty: Opener) -> None:
    """No undo of before an erase is good after it."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        undo = await changed(memory)
        await memory.erase(ADA, EraseMessages(thread="talk", messages=["m1"]))

        with pytest.raises(StaleReadError, match="erased"):
            await memory.undo(ADA, undo)

        assert [("Note", "b")] == list(await records(memory))


@pytest.mark.parametrize(
    "record",
    [
        None,
        {},
        {"scope": ["a"], "epoch": 1, "changes": 7},
        {"scope": ["a"], "epoch": "x", "changes": []},
        {"scope": "a", "epoch": 1, "changes": []},
    ],
)
def test_what_is_no_undo_is_refused(record: Json) -> None:
    with pytest.raises(UsageError):
        Undo.of_json(record)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"did": "made", "type": "Note", "key": "a"},
        {"did": "other", "type": "Note", "key": "a"},
        {"did": "removed", "type": "Note", "key": "c", "memory": {}},
        {"did": "removed", "type": "Note", "key": "c", "memory": 7},
    ],
)
async def test_a_distorted_undo_changes_nothing(open_empty: Opener, change: JsonObject) -> None:
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        undo = await changed(memory)
        before = await records(memory)

        with pytest.raises(UsageError):
            await memory.undo(ADA, replace(undo, changes=(change,)))

        assert before == await records(memory)


async def test_an_erase_is_not_to_be_undone(open_empty: Opener) -> None:
    """It says so beforehand: there is nothing that would undo it."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await changed(memory)
        log = UndoLog()

        await memory.noting(log).erase(ADA, EraseMessages(thread="talk", messages=["m1"]))

        assert log.last is None
