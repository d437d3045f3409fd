"""Undo of a message: its formation is taken back as a whole, what it ended included."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import pytest

from recollect.errors import ConflictError, StaleReadError, VersionConflictError
from recollect.formation.config import FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.formation.types import FACT, NOTE, USER
from recollect.memory.facade import Recollect
from recollect.memory.message_undo import message_undo_writes
from recollect.ports import Model, ModelRequest, ToolCall
from recollect.records import Evidence, Json, Memory, NewMessage, PutMemory, Write
from recollect.side_records import SideWrite
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.plans.undo import UndoLog
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from tests.harness.store_opener import Opener

ADA: Final = ("users", "ada")
TALK: Final = "talk"
COIMBRA: Final = PutMemory(
    type="Fact",
    key="home",
    value={"subject": "Mira", "predicate": "lives in", "object": "Coimbra"},
)
AT_HOME: Final = PutMemory(type="User", key="User", value={"home": "Coimbra"})
"""The profile tells it as well: a move changes the profile, and ends the fact."""
HOME: Final = replace(FACT, name="Home", single_valued=("object",))


@asynccontextmanager
async def opened(store: Store, model: Model | None = None) -> AsyncIterator[Recollect]:
    """Open a memory that forms by rules, unless another model is given."""
    settings = FormationSettings(types=(USER, NOTE, FACT, HOME))
    async with Recollect(
        store, embedder="none", model=model or RuleModel(), formation=settings, worker=False
    ) as memory:
        yield memory


async def told(memory: Recollect, clock: FrozenClock, *texts: str) -> list[str]:
    """Say and form *texts* in one go; return the ids of the messages."""
    clock.advance(60)
    said = [NewMessage(role="user", text=each) for each in texts]
    kept = await memory.append(ADA, TALK, said)
    clock.advance(60)
    await memory.form(ADA)
    return [each.id for each in kept]


async def undo_of(
    memory: Recollect, message: str, *addresses: tuple[str, str]
) -> list[Write | SideWrite]:
    """Return the undo of a message, naming these memories at their current versions."""
    found = [await memory.get(ADA, *each) for each in addresses]
    versions = {(each.type, each.key): each.version for each in found if each}
    return await message_undo_writes(
        memory.store, ADA, (TALK, message), versions, memory._runtime.assistants
    )


async def taken_back(memory: Recollect, message: str, *addresses: tuple[str, str]) -> None:
    """Undo a message."""
    await memory.apply(ADA, await undo_of(memory, message, *addresses))


async def lasting(memory: Recollect) -> dict[tuple[str, str], object]:
    """Return of each memory what an undo has to restore."""
    return {(each.type, each.key): _content(each) for each in (await memory.memories(ADA)).rows}


def _content(memory: Memory) -> Mapping[str, object]:
    names = ("value", "text", "state", "trust", "valid_from", "valid_until", "evidence")
    return {each: getattr(memory, each) for each in names}


async def test_a_move_is_taken_back_with_the_home_that_it_ended(open_empty: Opener) -> None:
    """The new home goes, the former one holds again; and the undo is itself undone exactly."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await memory.apply(ADA, [COIMBRA, AT_HOME])
        await told(memory, clock, "My name is Mira.")
        before = await lasting(memory)
        (moved,) = await told(memory, clock, "I moved to Braga last week. My sister sings.")
        home = await memory.get(ADA, "Fact", "home")
        assert home is not None
        assert home.valid_until is not None

        assert (await memory.memories(ADA, type_="Note")).rows
        log = UndoLog()
        undoing = await undo_of(memory, moved, ("User", "User"))
        after = await lasting(memory)
        await memory.noting(log).apply(ADA, undoing)

        assert before == await lasting(memory)
        assert log.last is not None
        await memory.undo(ADA, log.last)
        assert after == await lasting(memory)


async def test_a_home_that_is_told_by_facts_alone_is_taken_back(open_empty: Opener) -> None:
    """The one before holds again, until the home after it: only that is left once it goes too."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await memory.apply(ADA, [COIMBRA])
        before = await lasting(memory)
        (braga,) = await told(memory, clock, "I moved to Braga.")
        between = await lasting(memory)
        (in_braga,) = between.keys() - before.keys()
        (lima,) = await told(memory, clock, "I moved to Lima.")
        (in_lima,) = (await lasting(memory)).keys() - between.keys()

        await taken_back(memory, braga, in_braga)

        former, latter = await memory.get(ADA, "Fact", "home"), await memory.get(ADA, *in_lima)
        assert former is not None
        assert latter is not None
        assert former.valid_until == latter.valid_from
        assert latter.valid_until is None
        assert await memory.get(ADA, *in_braga) is None

        await taken_back(memory, lima, in_lima)
        assert before == await lasting(memory)


async def test_what_was_said_later_stays(open_empty: Opener) -> None:
    """A document that was changed since loses the message's fields only."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await memory.apply(ADA, [COIMBRA, AT_HOME])
        await told(memory, clock, "My name is Mira.")
        (moved,) = await told(memory, clock, "I moved to Braga last week.")
        await told(memory, clock, "I am 34 years old.")

        await taken_back(memory, moved, ("User", "User"))

        user, home = await memory.get(ADA, "User", "User"), await memory.get(ADA, "Fact", "home")
        assert user is not None
        assert home is not None
        assert {"user_name": "Mira", "home": "Coimbra", "age": 34} == dict(user.value)
        assert {"/user_name", "/age"} == set(user.evidence)
        assert home.valid_until is None


async def test_another_message_of_the_same_formation_keeps_its_own(open_empty: Opener) -> None:
    """Each message takes back what it said, not what was said beside it."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await memory.apply(ADA, [COIMBRA, AT_HOME])
        named, _ = await told(memory, clock, "My name is Mira.", "I moved to Braga last week.")

        await taken_back(memory, named, ("User", "User"))

        user, home = await memory.get(ADA, "User", "User"), await memory.get(ADA, "Fact", "home")
        assert user is not None
        assert home is not None
        assert {"home": "Braga"} == dict(user.value)
        assert home.valid_until is not None


async def test_a_withdrawal_is_taken_back_where_nothing_else_was_learnt(
    open_empty: Opener,
) -> None:
    """The memory that a message ended is all that it did, and is named by its own address."""

    def ending(request: ModelRequest) -> ScriptedAnswer:
        id_ = next(each.split(" ")[0] for each in request.turns[0].text.split("\n") if "{" in each)
        because: list[Json] = [{"message": 1, "quote": "I never lived in Coimbra"}]
        return [ToolCall(name="end_memory", arguments={"id": id_, "because": because})]

    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1)), ScriptedModel(ending)) as memory:
        await memory.apply(ADA, [COIMBRA])
        before = await lasting(memory)
        (message,) = await told(memory, clock, "I never lived in Coimbra, you are mistaken.")
        assert before != await lasting(memory)

        await taken_back(memory, message, ("Fact", "home"))

        assert before == await lasting(memory)


async def test_a_value_that_succeeds_another_is_taken_back_with_its_end(
    open_empty: Opener,
) -> None:
    """The older value of a single-valued type holds again, without an end."""

    def succeeding(_: ModelRequest) -> ScriptedAnswer:
        value = {**COIMBRA.value, "object": "Braga"}
        because: list[Json] = [{"message": 1, "quote": "Mira lives in Braga"}]
        return [ToolCall(name="Home", arguments={"value": value, "because": because})]

    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1)), ScriptedModel(succeeding)) as memory:
        await memory.apply(ADA, [replace(COIMBRA, type="Home")])
        before = await lasting(memory)
        (message,) = await told(memory, clock, "Mira lives in Braga now.")
        braga = next(each for each in await lasting(memory) if each not in before)
        former = await memory.get(ADA, "Home", "home")
        assert former is not None
        assert former.valid_until is not None

        await taken_back(memory, message, braga)

        assert before == await lasting(memory)


async def test_a_memory_at_another_version_is_not_taken_back(open_empty: Opener) -> None:
    """Nothing is reverted that the caller has not seen."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        (message,) = await told(memory, clock, "I live in Braga.")

        with pytest.raises(VersionConflictError):
            await message_undo_writes(
                memory.store,
                ADA,
                (TALK, message),
                {("User", "User"): 7},
                memory._runtime.assistants,
            )


async def test_a_memory_that_the_message_did_not_touch_stays(open_empty: Opener) -> None:
    """Not even its newest version is reverted, whoever names it; and an undo is made once."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        work = replace(COIMBRA, key="work", value={**COIMBRA.value, "predicate": "works in"})
        await memory.apply(ADA, [COIMBRA, AT_HOME, work])
        await memory.apply(ADA, [replace(work, text="works in Coimbra")])
        (message,) = await told(memory, clock, "I moved to Braga last week.")

        other = await undo_of(memory, message, ("Fact", "work"))
        clock.advance(60)
        await taken_back(memory, message, ("User", "User"))

        assert [] == other
        assert [] == await undo_of(memory, message, ("Fact", "home"), ("Fact", "work"))


async def test_a_value_that_was_replaced_since_stays(open_empty: Opener) -> None:
    """It is a later message's: the earlier one takes back only what still is its own."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await told(memory, clock, "I live in Porto.")
        (first,) = await told(memory, clock, "My name is Mira. I am 34 years old.")
        await told(memory, clock, "I am 35 years old.")

        await taken_back(memory, first, ("User", "User"))

        user = await memory.get(ADA, "User", "User")
        assert user is not None
        assert {"home": "Porto", "age": 35} == dict(user.value)
        assert {"/home", "/age"} == set(user.evidence)


async def test_a_message_of_the_same_version_keeps_its_own(open_empty: Opener) -> None:
    """One formation writes one version of a document, whatever number of messages it reads."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await told(memory, clock, "My name is Mira. I live in Porto.")
        moved, _ = await told(memory, clock, "I moved to Braga.", "I am 34 years old.")

        await taken_back(memory, moved, ("User", "User"))

        user = await memory.get(ADA, "User", "User")
        assert user is not None
        assert {"user_name": "Mira", "home": "Porto", "age": 34} == dict(user.value)
        assert {"/user_name", "/home", "/age"} == set(user.evidence)


async def test_an_element_of_a_list_goes_alone(open_empty: Opener) -> None:
    """What others added to the list, in the same formation and since, stays with its evidence."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        rowing, chess = await told(memory, clock, "I like rowing.", "I like chess.")
        (tea,) = await told(memory, clock, "I like tea.")

        await taken_back(memory, rowing, ("User", "User"))

        user = await memory.get(ADA, "User", "User")
        assert user is not None
        assert {"interests": ["chess", "tea"]} == user.value
        cited = {at: [each.message for each in found] for at, found in user.evidence.items()}
        assert {"/interests/0": [chess], "/interests/1": [tea]} == cited


async def test_a_list_that_was_emptied_since_goes_with_what_it_held(open_empty: Opener) -> None:
    """Nothing is left to be empty of."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        (liked,) = await told(memory, clock, "I like rowing.")
        await told(memory, clock, "I no longer like rowing.")
        emptied = await memory.get(ADA, "User", "User")

        await taken_back(memory, liked, ("User", "User"))

        assert emptied is not None
        assert {"interests": []} == dict(emptied.value)
        assert await memory.get(ADA, "User", "User") is None


async def test_a_note_without_its_content_is_gone(open_empty: Opener) -> None:
    """When it matters says nothing alone: neither an undo nor an erase leaves it."""
    for act in ("undo", "erase"):
        clock = FrozenClock()
        scripted = ScriptedModel([[noted("I whistle", "at home")], [at_work()]])
        async with opened(open_empty(clock, SeededIds(1)), scripted) as memory:
            (content,) = await told(memory, clock, "I whistle at home.")
            await told(memory, clock, "And at work.")
            (note,) = (await memory.memories(ADA)).rows
            assert {"content": "I whistle", "context": "at work"} == dict(note.value)

            if act == "undo":
                await taken_back(memory, content, ("Note", note.key))
            else:
                await memory.erase(ADA, EraseMessages(thread=TALK, messages=[content]))

            assert [] == list((await memory.memories(ADA)).rows)


def noted(content: str, context: str) -> ToolCall:
    """Return the call that keeps a note of the first message."""
    because = [{"message": 1, "quote": f"{content} {context}"}]
    arguments = {"value": {"content": content, "context": context}, "because": because}
    return ToolCall(name="Note", arguments=json.dumps(arguments))


def at_work() -> ToolCall:
    """Return the call by which the second message changes when the note matters."""
    because = [{"message": 2, "quote": "And at work"}]
    change = {"op": "replace", "path": "/context", "value": "at work", "because": because}
    return ToolCall(name="patch_memory", arguments=json.dumps({"id": "m1", "changes": [change]}))


async def test_what_a_person_wrote_since_stays(open_empty: Opener) -> None:
    """A field that was typed into a document which the message alone supported."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        (named,) = await told(memory, clock, "My name is Mira.")
        await memory.put(ADA, "User", "User", {"user_name": "Mira", "home": "Porto"})

        await taken_back(memory, named, ("User", "User"))

        user = await memory.get(ADA, "User", "User")
        assert user is not None
        assert {"home": "Porto"} == user.value


async def test_a_refusal_by_a_person_stays(open_empty: Opener) -> None:
    """What was rejected for good is not formed again after the undo of its message."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        (told_once,) = await told(memory, clock, "My name is Mira. My sister sings.")
        (note,) = (await memory.memories(ADA, type_="Note")).rows
        await memory.reject(ADA, note.type, note.key)

        await taken_back(memory, told_once, ("User", "User"))
        await told(memory, clock, "My sister sings.")

        left = (await memory.memories(ADA)).rows
        assert [("Note", "rejected")] == [(each.type, each.state) for each in left]


async def test_what_was_undone_does_not_come_back(open_empty: Opener) -> None:
    """The undo of a message restores what stood before it without what was undone meanwhile."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await memory.put(ADA, "User", "User", {"home": "Oslo"})
        (madrid,) = await told(memory, clock, "I live in Madrid now.")
        (lima,) = await told(memory, clock, "I live in Lima now.")

        await taken_back(memory, madrid, ("User", "User"))
        under_lima = await memory.get(ADA, "User", "User")
        await taken_back(memory, lima, ("User", "User"))

        user = await memory.get(ADA, "User", "User")
        assert under_lima is not None
        assert {"home": "Lima"} == dict(under_lima.value)
        assert user is not None
        assert ({"home": "Oslo"}, {}) == (dict(user.value), dict(user.evidence))


async def test_what_holds_again_stays_when_the_message_is_erased(open_empty: Opener) -> None:
    """It has the evidence that it had: none here, though the message says the field's name."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await memory.put(ADA, "User", "User", {"user_name": "Zoe"})
        (renamed,) = await told(memory, clock, "My name is Ada.")
        await told(memory, clock, "I am 34 years old.")

        await taken_back(memory, renamed, ("User", "User"))
        await memory.erase(ADA, EraseMessages(thread=TALK, messages=[renamed]))

        user = await memory.get(ADA, "User", "User")
        assert user is not None
        assert {"user_name": "Zoe", "age": 34} == dict(user.value)
        assert ["/age"] == list(user.evidence)


async def test_a_value_stays_that_a_later_message_says(open_empty: Opener) -> None:
    """Although it took the place of one that a person wrote over the words that are undone."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        (edda,) = await told(memory, clock, "My name is Edda.")
        await memory.put(ADA, "User", "User", {"user_name": "Hana"})
        (bea,) = await told(memory, clock, "My name is Bea.")

        await taken_back(memory, edda, ("User", "User"))
        under_bea = await memory.get(ADA, "User", "User")
        await taken_back(memory, bea, ("User", "User"))

        user = await memory.get(ADA, "User", "User")
        assert under_bea is not None
        assert {"user_name": "Bea"} == dict(under_bea.value)
        assert user is not None
        assert {"user_name": "Hana"} == dict(user.value)


async def test_what_was_said_again_after_its_undo_counts(open_empty: Opener) -> None:
    """A message that is formed anew is not taken for undone by the undo of another one."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        (madrid,) = await told(memory, clock, "I live in Madrid now.")
        await told(memory, clock, "My name is Mira.")
        await taken_back(memory, madrid, ("User", "User"))
        clock.advance(60)
        said = {"/home": [Evidence(thread=TALK, message=madrid, quote="I live in Madrid now.")]}
        value = {"user_name": "Mira", "home": "Madrid"}
        await memory.put(ADA, "User", "User", value, evidence=said)
        (lima,) = await told(memory, clock, "I live in Lima now.")

        await taken_back(memory, lima, ("User", "User"))

        user = await memory.get(ADA, "User", "User")
        assert user is not None
        assert value == dict(user.value)


async def test_an_end_under_a_later_message_is_not_taken_back(open_empty: Opener) -> None:
    """The later one would have ended it as well: it is undone first, then all of it is."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await memory.apply(ADA, [COIMBRA, AT_HOME])
        before = await lasting(memory)
        (braga,) = await told(memory, clock, "I moved to Braga.")
        (lima,) = await told(memory, clock, "I moved to Lima.")
        after = await lasting(memory)

        with pytest.raises(ConflictError, match="Fact/home") as refused:
            await undo_of(memory, braga, ("User", "User"))
        assert lima in str(refused.value)
        assert after == await lasting(memory)

        await taken_back(memory, lima, ("User", "User"))
        await taken_back(memory, braga, ("User", "User"))
        assert before == await lasting(memory)


async def test_an_undo_whose_ends_are_not_recorded_is_refused(open_empty: Opener) -> None:
    """It would say that all is taken back, and leave the former home ended."""
    clock = FrozenClock()
    async with opened(open_empty(clock, SeededIds(1))) as memory:
        await memory.apply(ADA, [COIMBRA, AT_HOME])
        (braga,) = await told(memory, clock, "I moved to Braga.")
        records = [
            {**each, "receipt": {"counts": {"ended": 1}}} if each["kind"] == "formation" else each
            for each in await memory.store.archive(ADA)
        ]
        async with opened(open_store("memory:", clock=clock, ids=SeededIds(2))) as other:
            await other.store.restore(ADA, records)

            with pytest.raises(StaleReadError, match="no longer recorded"):
                await undo_of(other, braga, ("User", "User"))
