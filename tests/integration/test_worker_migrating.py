"""A type whose `update_mode` was changed: refused where memories stand otherwise, and turned."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

import recollect
from recollect.errors import (
    LeaseLostError,
    StoreUnavailableError,
    UpdateModeError,
    UsageError,
    VersionConflictError,
)
from recollect.formation.config import FormationSettings
from recollect.formation.rule_requests import shown_in
from recollect.formation.type_migration import in_other_mode
from recollect.formation.types import MemoryType, UpdateMode, load_types
from recollect.ports import ModelRequest, ToolCall
from recollect.records import DeleteMemory, Evidence, JsonObject, Memory, NewMessage, PutMemory
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from recollect.worker import formation_run as former
from tests.harness.installed_servers import require_empty_database

ADA = ("users", "ada")
STORES = ("memory", "sqlite", "postgres")
(TRIP,) = load_types(
    [
        {
            "name": "Trip",
            "description": "Where the user travels",
            "update_mode": "insert",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string"},
                    "with": {"type": "array", "items": {"type": "string"}},
                },
            },
        }
    ]
)
AS_DOCUMENT = replace(TRIP, update_mode="patch")


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty store, of each kind."""
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        return str(tmp_path / "modes.db")
    return require_empty_database()


def trips(request: ModelRequest) -> ScriptedAnswer:
    """Keep a trip for each new message of the form 'To PLACE with WHOM'."""
    if "Trip" not in {tool.name for tool in request.tools}:
        return ToolCall(name="remember_nothing", arguments="{}")
    calls = []
    for number, _, words in shown_in(request).new:
        _, place, _, whom = words.rstrip(".").split(" ")
        value = {"place": place, "with": [whom]}
        because = [
            {"message": number, "quote": place, "path": "/place"},
            {"message": number, "quote": whom, "path": "/with/0"},
        ]
        arguments = json.dumps({"value": value, "because": because})
        calls.append(ToolCall(name="Trip", arguments=arguments))
    return calls


@asynccontextmanager
async def opened(url: str, clock: FrozenClock) -> AsyncIterator[recollect.Recollect]:
    """Open a memory of trips that forms only when it is told to."""
    async with recollect.open(
        url, embedder="none", model=ScriptedModel(trips), worker=False, clock=clock,
        formation=FormationSettings(types=(TRIP,)), ids=SeededIds(1),
    ) as memory:  # fmt: skip
        yield memory


def configure(memory: recollect.Recollect, type_: MemoryType) -> None:
    """Let the open memory form *type_*, as one that was opened anew would."""
    assert memory.worker is not None
    changed = replace(memory._runtime.assistants, default=FormationSettings(types=(type_,)))
    memory.worker._former._assistants = changed
    assert memory._runtime.consolidator is not None
    memory._runtime.consolidator._assistants = changed


async def say(memory: recollect.Recollect, *texts: str) -> list[str]:
    """Let Ada say *texts*, and return their ids."""
    said = [NewMessage(role="user", text=text) for text in texts]
    return [each.id for each in await memory.append(ADA, "talk", said)]


async def travelled(memory: recollect.Recollect, clock: FrozenClock) -> list[str]:
    """Form two trips, one after the other, and return the ids of their messages."""
    ids = []
    for text in ("To Bergen with Mia.", "To Porto with Leo."):
        ids += await say(memory, text)
        await memory.form(ADA)
        clock.advance(60)
    return ids


async def in_force(memory: recollect.Recollect, clock: FrozenClock) -> list[Memory]:
    """Return Ada's trips that are true now."""
    found = (await memory.memories(ADA, type_="Trip")).rows
    return [each for each in found if each.valid_until is None or each.valid_until > clock.now()]


async def test_a_changed_mode_is_refused_when_it_is_met_and_nothing_is_lost(
    url: str, clock: FrozenClock
) -> None:
    """Type, modes, count and remedy are said; what was said waits, and is formed afterwards."""
    async with opened(url, clock) as memory:
        await travelled(memory, clock)
        configure(memory, AS_DOCUMENT)
        await say(memory, "To Lima with Ann.")
        before = await in_force(memory, clock)

        (result,) = await memory.form(ADA)
        thread = await memory.thread(ADA, "talk")

        assert thread is not None
        assert ("postponed", True, 0) == (result.end, thread.pending, thread.attempts)
        for said in (
            "'Trip'",
            "'patch'",
            "'insert'",
            "2 memories",
            "migrate_type",
            "migrate-type Trip",
        ):
            assert said in result.reason
        assert before == await in_force(memory, clock)
        assert not (await memory.formations(ADA, status="failed")).rows
        configure(memory, TRIP)
        clock.advance(400)
        assert ["formed"] == [each.end for each in await memory.form(ADA)]
        assert 3 == len(await in_force(memory, clock))


async def test_a_document_is_met_by_its_collection(url: str, clock: FrozenClock) -> None:
    """The other way round; consolidation refuses it as well."""
    async with opened(url, clock) as memory:
        configure(memory, AS_DOCUMENT)
        await say(memory, "To Bergen with Mia.")
        await memory.form(ADA)
        configure(memory, TRIP)
        await say(memory, "To Porto with Leo.")

        (result,) = await memory.form(ADA)

        assert "1 memory in force of it in this scope were written as 'patch'" in result.reason
        with pytest.raises(UpdateModeError) as raised:
            await memory.consolidate(ADA)
        error = raised.value
        assert ("Trip", "patch", "insert", 1) == (error.type, error.old, error.new, error.documents)


async def test_a_collection_becomes_a_document(url: str, clock: FrozenClock) -> None:
    """Later values win, lists are joined, each part names its source and its message."""
    async with opened(url, clock) as memory:
        first, second = await travelled(memory, clock)
        entries = {str(each.value["place"]): each for each in await in_force(memory, clock)}

        done = await memory.migrate_type(ADA, "Trip", "patch")

        (document,) = await in_force(memory, clock)
        assert ("Trip", {"place": "Porto", "with": ["Mia", "Leo"]}) == (
            document.key, document.value,
        )  # fmt: skip
        cited = {
            pointer: {each.message for each in found if each.thread == "talk"}
            for pointer, found in document.evidence.items()
        }
        assert {"/place": {second}, "/with/0": {first}, "/with/1": {second}} == cited
        assert Evidence(
            thread="memory:", message=f"Trip/{entries['Bergen'].key}@1"
        ) in document.evidence["/with/0"]  # fmt: skip
        for each in entries.values():
            history = await memory.history(ADA, "Trip", each.key)
            assert (each.value, each.value) == (history[0].value, history[-1].value)
        assert (2, "patch") == (len(done.changes[0].ended), done.update_mode)
        (receipt,) = [each.receipt for each in (await memory.formations(ADA, limit=1)).rows]
        assert {"stored": 1, "ended": 2} == receipt["counts"]
        assert 3 == len(cast("list[object]", receipt["outcomes"]))
        configure(memory, AS_DOCUMENT)
        await say(memory, "To Lima with Ann.")
        assert ["formed"] == [each.end for each in await memory.form(ADA)]


@pytest.mark.parametrize("days", [(1, 2), (2, 1), (1, None)])
async def test_a_document_expires_with_the_last_of_its_entries(
    url: str, clock: FrozenClock, days: tuple[int, int | None]
) -> None:
    """What was to be forgotten does not stay for ever, and nothing goes before its time."""
    async with opened(url, clock) as memory:
        ends = [None if each is None else clock.now() + timedelta(days=each) for each in days]
        for key, place, end in zip("ab", ("Bergen", "Porto"), ends, strict=True):
            await memory.put(ADA, "Trip", key, {"place": place, "with": ["Mia"]}, expires_at=end)

        await memory.migrate_type(ADA, "Trip", "patch")

        (document,) = await in_force(memory, clock)
        last = None if None in ends else max(each for each in ends if each)
        assert last == document.expires_at


@pytest.mark.parametrize("days", [(5, 9), (5, None)])
async def test_what_was_to_end_ends_in_the_other_mode(
    url: str, clock: FrozenClock, days: tuple[int, int | None]
) -> None:
    """A document ends with the last of its entries, and an entry with its document."""
    async with opened(url, clock) as memory:
        ends = [None if each is None else clock.now() + timedelta(days=each) for each in days]
        for key, place, end in zip("ab", ("Bergen", "Porto"), ends, strict=True):
            trip = PutMemory(type="Trip", key=key, value={"place": place}, valid_until=end)
            await memory.apply(ADA, [trip])

        await memory.migrate_type(ADA, "Trip", "patch")
        (document,) = await in_force(memory, clock)
        clock.advance(60)
        await memory.migrate_type(ADA, "Trip", "insert")
        (entry,) = await in_force(memory, clock)

        assert [ends[-1]] * 2 == [document.valid_until, entry.valid_until]


async def test_a_document_becomes_an_entry_and_back(url: str, clock: FrozenClock) -> None:
    """And what comes next is formed in the new mode."""
    async with opened(url, clock) as memory:
        configure(memory, AS_DOCUMENT)
        (first,) = await say(memory, "To Bergen with Mia.")
        await memory.form(ADA)
        await memory.migrate_type(ADA, "Trip", "insert")
        configure(memory, TRIP)
        (entry,) = await in_force(memory, clock)
        clock.advance(60)
        await say(memory, "To Porto with Leo.")
        await memory.form(ADA)
        both = [each.value["place"] for each in await in_force(memory, clock)]
        clock.advance(60)

        await memory.migrate_type(ADA, "Trip", "patch")

        assert entry.key != "Trip"
        assert {first} == {e.message for e in entry.evidence["/place"] if e.thread == "talk"}
        assert ["Bergen", "Porto"] == sorted(map(str, both))
        (document,) = await in_force(memory, clock)
        assert ("Trip", 3) == (document.key, document.version)
        assert {"place": "Porto", "with": ["Mia", "Leo"]} == document.value


@pytest.mark.parametrize("to", ["patch", "insert"])
async def test_a_migration_is_undone(url: str, clock: FrozenClock, to: UpdateMode) -> None:
    """Everything is as it was; what changed meanwhile is not undone over."""
    async with opened(url, clock) as memory:
        if to == "insert":
            configure(memory, AS_DOCUMENT)
            await say(memory, "To Bergen with Mia.")
            await memory.form(ADA)
        else:
            await travelled(memory, clock)
        before = [(each.key, each.value, each.evidence) for each in await in_force(memory, clock)]
        done = await memory.migrate_type(ADA, "Trip", to)
        assert done.id is not None

        await memory.undo(ADA, done.id)

        after = [(each.key, each.value, each.evidence) for each in await in_force(memory, clock)]
        assert before == after
        with pytest.raises(VersionConflictError):
            await memory.undo(ADA, done.id)
        assert (await memory.migrate_type(ADA, "Trip", to)).id not in (None, done.id)


async def test_what_is_erased_goes_from_what_was_made_of_it(url: str, clock: FrozenClock) -> None:
    """A message takes its part along, and a source its own; the rest stays."""
    async with opened(url, clock) as memory:
        first, _ = await travelled(memory, clock)
        await memory.migrate_type(ADA, "Trip", "patch")

        await memory.erase(ADA, EraseMessages(thread="talk", messages=[first]))

        (document,) = await in_force(memory, clock)
        assert {"place": "Porto", "with": ["Leo"]} == document.value
        (source,) = {
            each.message.partition("@")[0].partition("/")[2]
            for each in document.evidence["/place"]
            if each.thread == "memory:"
        }
        await memory.erase(ADA, EraseMemory(type="Trip", key=source))
        left = json.dumps([each.value for each in (await memory.memories(ADA)).rows])
        assert "Porto" not in left


async def test_what_other_words_say_of_a_source_is_formed_again(
    url: str, clock: FrozenClock
) -> None:
    """A document loses all that came of a reduced source; the messages that are left say it."""
    async with opened(url, clock) as memory:
        ids = await travelled(memory, clock)
        for each in await in_force(memory, clock):
            await memory.apply(ADA, [DeleteMemory(type="Trip", key=each.key)])
        place, whom = ([Evidence(thread="talk", message=each, quote="To")] for each in ids)
        value: JsonObject = {"place": "Bergen", "with": ["Leo"]}
        found = {"/place": place, "/with/0": whom}
        await memory.apply(ADA, [PutMemory(type="Trip", key="a", value=value, evidence=found)])
        clock.advance(60)
        await memory.migrate_type(ADA, "Trip", "patch")
        configure(memory, AS_DOCUMENT)
        clock.advance(60)

        await memory.erase(ADA, EraseMessages(thread="talk", messages=ids[:1]))

        (document,) = await in_force(memory, clock)
        thread = await memory.thread(ADA, "talk")
        assert {"with": []} == document.value
        assert thread is not None
        assert (True, (2,)) == (thread.pending, thread.again)
        await memory.form(ADA)
        (receipt,) = [each.receipt for each in (await memory.formations(ADA, limit=1)).rows]
        assert "To Porto with Leo." in json.dumps(receipt)


async def test_a_migration_is_whole_or_not_at_all(
    url: str, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash leaves everything in the old mode, and the lease to nobody for long."""
    async with opened(url, clock) as memory:
        await travelled(memory, clock)
        before = await in_force(memory, clock)
        honest = memory.store.commit

        async def crash(*_: Any, **__: Any) -> None:
            raise StoreUnavailableError("the process died here")

        monkeypatch.setattr(memory.store, "commit", crash)
        with pytest.raises(StoreUnavailableError):
            await memory.migrate_type(ADA, "Trip", "patch")
        monkeypatch.setattr(memory.store, "commit", honest)

        assert before == await in_force(memory, clock)
        lease = await memory.store.claim("other", scope=ADA, idle=True)
        assert lease is not None
        with pytest.raises(LeaseLostError, match="being formed"):
            await memory.migrate_type(ADA, "Trip", "patch")


async def test_nothing_to_migrate_is_nothing_done(clock: FrozenClock) -> None:
    """No lease, no receipt; a mode that is none is refused."""
    async with opened("memory:", clock) as memory:
        await travelled(memory, clock)

        assert (await memory.migrate_type(ADA, "Trip", "insert")).id is None
        assert (await memory.migrate_type(ADA, "Other", "patch")).id is None
        assert not (await memory.formations(ADA, status="consolidated")).rows
        with pytest.raises(UsageError, match="update_mode 'merge'"):
            await memory.migrate_type(ADA, "Trip", "merge")  # type: ignore[arg-type]


async def test_what_is_ended_or_refused_stands_for_no_mode(clock: FrozenClock) -> None:
    """History, quarantine and rejections stand at keys of their own."""
    async with opened("memory:", clock) as memory:
        await travelled(memory, clock)
        first, second = await in_force(memory, clock)
        await memory.reject(ADA, "Trip", first.key)
        later = clock.now() + timedelta(hours=1)

        found = in_other_mode((await memory.memories(ADA)).rows, "patch", later)

        assert [second.key] == [each.key for each in found]
        ended = replace(second, valid_until=clock.now())
        assert [] == in_other_mode([ended], "patch", later)


async def test_without_the_check_a_second_form_would_begin(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the refusal is for: a mutant without it writes a document beside the entries."""

    async def nothing(*_: object) -> None:
        return None

    monkeypatch.setattr(former, "check_modes", nothing)
    async with opened("memory:", clock) as memory:
        await travelled(memory, clock)
        configure(memory, AS_DOCUMENT)
        await say(memory, "To Lima with Ann.")
        await memory.form(ADA)

        keys = {each.key == "Trip" for each in await in_force(memory, clock)}

    assert {True, False} == keys
