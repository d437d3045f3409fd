"""A formation that ends as a person writes the same memory: both stay, the person's in force."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import pytest

from recollect.formation import newer_writes
from recollect.formation.config import FormationSettings
from recollect.formation.rule_requests import shown_in
from recollect.formation.types import FACT, USER
from recollect.memory.facade import Recollect
from recollect.ports import Clock, Ids, ModelRequest, ToolCall
from recollect.records import DeleteMemory, Json, Memory, NewMessage, PutMemory, Write
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.validation import to_datetime
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel

Opener: TypeAlias = Callable[[Clock, Ids], Store]
Act: TypeAlias = Callable[[Recollect], Awaitable[object]]
Answer: TypeAlias = Callable[[ModelRequest], list[ToolCall]]
ADA: Final = ("users", "ada")
HOME: Final = replace(FACT, name="Home")
SAID: Final = "I live in Oslo now. Ada lives in Oslo. I am 40 years old."
BECAUSE: Final[list[Json]] = [{"message": 1, "quote": "I live in Oslo now"}]
OLD: Final[list[Json]] = [{"message": 1, "quote": "I am 40 years old"}]
SUBJECT: Final = {"subject": "Ada", "predicate": "lives in"}
WHEN: Final = ("while the model reads", "before the commit")
LIMA: Final = PutMemory(type="User", key="User", value={"home": "Lima", "user_name": "Ada"})


def home_of(town: str, key: str = "home") -> PutMemory:
    """Return a write that says where Ada lives."""
    return PutMemory(type="Home", key=key, value={**SUBJECT, "object": town})


def writes(*given: Write) -> Act:
    """Return a person's act: these writes."""
    return lambda memory: memory.apply(ADA, given)


def profile(_: ModelRequest) -> list[ToolCall]:
    """Change the home in the profile, or make one."""
    shown = shown_in(_).known
    target = next((id_ for id_, type_, _ in shown if type_ == "User"), None)
    if target is None:
        return [ToolCall(name="User", arguments={"value": {"home": "Oslo"}, "because": BECAUSE})]
    change: dict[str, Json] = {
        "op": "replace", "path": "/home", "value": "Oslo", "because": BECAUSE
    }  # fmt: skip
    return [ToolCall(name="patch_memory", arguments={"id": target, "changes": [change]})]


def fact(_: ModelRequest) -> list[ToolCall]:
    """Keep a single value, which ends the others about the same."""
    value = {**SUBJECT, "object": "Oslo"}
    return [ToolCall(name="Home", arguments={"value": value, "because": BECAUSE})]


def end(request: ModelRequest) -> list[ToolCall]:
    """End the home that is known."""
    target = next(id_ for id_, type_, _ in shown_in(request).known if type_ == "Home")
    return [ToolCall(name="end_memory", arguments={"id": target, "because": BECAUSE})]


async def formed_beside(
    store: Store, before: Sequence[Write], act: Act, answer: Answer, when: str
) -> list[Memory]:
    """Form while a person acts; return the memories afterwards."""
    clock = store._clock
    assert isinstance(clock, FrozenClock)
    waiting = [act]

    async def act_once(moment: str) -> None:
        if moment == when and waiting:
            clock.advance(0.001)
            await waiting.pop()(memory)

    async def answered(request: ModelRequest) -> list[ToolCall]:
        await act_once(WHEN[0])
        return answer(request)

    was = Store.commit

    async def late(self: Store, *given: Any) -> object:
        await act_once(WHEN[1])
        return await was(self, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "commit", late)
        async with Recollect(
            store,
            embedder="none",
            model=ScriptedModel(answered),
            formation=FormationSettings(types=(USER, HOME)),
            worker=False,
        ) as memory:
            await memory.apply(ADA, before)
            clock.advance(60)
            await memory.append(ADA, "talk", [NewMessage(role="user", text=SAID, id="m1")])
            clock.advance(60)
            await memory.form(ADA)
            return list((await memory.memories(ADA)).rows)


def told(memories: Sequence[Memory]) -> set[tuple[object, str, bool]]:
    """Return of each memory its home, its state, and whether it holds."""
    return {
        (each.value.get("home", each.value.get("object")), each.state, each.valid_until is None)
        for each in memories
    }


PERSON: Final = ("Rome", "active", True)
WAITS: Final = ("Oslo", "quarantined", True)
FORMED: Final = ("Oslo", "active", True)
CASES: Final[dict[str, tuple[list[Write], Act, Answer, set[tuple[object, str, bool]]]]] = {
    "a field is corrected": (
        [LIMA], writes(replace(LIMA, value={"home": "Rome"})), profile, {PERSON, WAITS},
    ),
    "another field is corrected": (
        [LIMA], writes(replace(LIMA, value={**LIMA.value, "age": 40})), profile, {FORMED},
    ),
    "a document is made": (
        [], writes(replace(LIMA, value={"home": "Rome"})), profile, {PERSON, WAITS},
    ),
    "a document is deleted": (
        [LIMA], writes(DeleteMemory(type="User", key="User")), profile, {FORMED},
    ),
    "a proposal is approved": (
        [home_of("Lima"), replace(home_of("Rome", "rome"), state="quarantined")],
        lambda memory: memory.approve(ADA, "Home", "rome"),
        fact,
        {("Lima", "active", False), PERSON, WAITS},
    ),
    "a value is corrected": (
        [home_of("Lima")], writes(home_of("Rome")), fact, {PERSON, WAITS},
    ),
    "what would end is corrected": (
        [home_of("Lima")], writes(home_of("Rome")), end, {PERSON},
    ),
    "nothing is written": (
        [home_of("Lima")], writes(), fact, {("Lima", "active", False), FORMED},
    ),
}  # fmt: skip


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("name", CASES)
async def test_what_a_person_writes_during_a_formation_stands(
    open_empty: Opener, name: str, when: str
) -> None:
    """The older words that are formed wait beside it for a person, or change something else."""
    before, act, answer, expected = CASES[name]

    found = await formed_beside(open_empty(FrozenClock(), SeededIds(1)), before, act, answer, when)

    assert expected == told(found)


async def test_only_what_a_person_corrected_waits(open_empty: Opener) -> None:
    """Other fields of the same answer are formed at once."""

    def with_age(request: ModelRequest) -> list[ToolCall]:
        (call,) = profile(request)
        arguments: Any = call.arguments
        age: Json = {"op": "add", "path": "/age", "value": 40, "because": OLD}
        changes = [*arguments["changes"], age]
        return [replace(call, arguments={**arguments, "changes": changes})]

    act = writes(replace(LIMA, value={"home": "Rome"}))
    store = open_empty(FrozenClock(), SeededIds(1))
    found = await formed_beside(store, [LIMA], act, with_age, WHEN[0])

    values = {each.state: dict(each.value) for each in found}
    assert {"home": "Rome", "age": 40} == values["active"]
    assert {"home": "Oslo", "age": 40} == values["quarantined"]


async def test_an_end_by_a_person_is_not_moved(open_empty: Opener) -> None:
    """A formation that would have ended it as well, at another time, leaves it."""
    store = open_empty(FrozenClock(), SeededIds(1))

    def ended(memory: Recollect) -> Awaitable[object]:
        return memory.end(ADA, "Home", "home", at=to_datetime(memory.store.now()))

    (found,) = await formed_beside(store, [home_of("Lima")], ended, end, WHEN[1])

    assert found.valid_until is not None
    assert found.valid_until > found.created_at
    assert (2, True) == (found.version, found.updated_at >= found.valid_until)


@pytest.mark.parametrize("when", WHEN)
def test_a_formation_that_overwrites_a_correction_is_found(
    monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """The mutant: no write counts as newer than the words that are formed."""
    monkeypatch.setattr(newer_writes._NewerWrites, "_doubt", lambda *_: None)
    before, act, answer, expected = CASES["a field is corrected"]
    store = InProcessStore(clock=FrozenClock(), ids=SeededIds(1))

    found = asyncio.run(formed_beside(store, before, act, answer, when))

    assert expected != told(found)
