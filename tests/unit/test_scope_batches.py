"""Batches of an import: of one scope in order, of several at a time, and settings alone."""

import asyncio
from collections.abc import Sequence

import pytest

from recollect.errors import ConflictError, UsageError
from recollect.formation.config import Assistants
from recollect.lifecycle import scope_batches
from recollect.lifecycle.record_import import RecordImport, RecordImportCounts
from recollect.lifecycle.scope_batches import (
    SCOPES_TOGETHER,
    Batch,
    BatchOutcomes,
    take_window,
    windows_of,
)
from recollect.memory.facade import Recollect
from recollect.records import JsonObject, NewMessage, PutMemory, Scope
from recollect.side_records import SCOPE_SETTINGS
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.archive import RESTORE_RECORDS, scope_of


def message(scope: str, number: int = 1) -> JsonObject:
    """Return a record that says which it is, and nothing more."""
    return {"kind": "message", "scope": [scope], "id": f"m{number}"}


def settings(scope: str) -> JsonObject:
    """Return a record of a scope's settings."""
    return {"kind": "side", "side_kind": SCOPE_SETTINGS, "scope": [scope]}


def names_of(windows: Sequence[Sequence[Batch]]) -> list[list[str]]:
    """Return the scopes of the batches of each window."""
    return [[scope_of(batch[0])[0] for batch in window] for window in windows]


def taken(window: Sequence[Batch], *, broken: str = "") -> tuple[BatchOutcomes, list[str]]:
    """Take *window*, whose scope *broken* is refused; return what came of it, and its course."""
    course: list[str] = []

    async def take(batch: Batch) -> RecordImportCounts:
        (scope,) = scope_of(batch[0])
        course.append(f"begin {scope} {batch[0]['id']}")
        await asyncio.sleep(0)
        if scope == broken:
            raise ConflictError(scope)
        course.append(f"end {scope} {batch[0]['id']}")
        return RecordImportCounts(1, 1)

    async def run() -> BatchOutcomes:
        record_import = RecordImport(InProcessStore(), Assistants(), lambda _: None)
        return await take_window(record_import, window, take)

    return asyncio.run(run()), course


def test_a_window_has_so_many_scopes_and_all_batches_of_each() -> None:
    """A scope that is in it already does not count again."""
    many = [str(number) for number in range(SCOPES_TOGETHER)]
    batches = [[message(each)] for each in (*many, many[0], "late", many[1])]

    assert [[*many, many[0]], ["late", many[1]]] == names_of(list(windows_of(batches)))


def test_settings_are_a_window_of_their_own() -> None:
    """What follows may depend on them, and they on what came before."""
    batches = [[message("a")], [message("b"), settings("b")], [message("c")], [message("d")]]

    assert [["a"], ["b"], ["c", "d"]] == names_of(list(windows_of(batches)))


def test_batches_of_one_scope_follow_one_another_and_of_two_go_at_once() -> None:
    """The second batch of a scope begins when its first one has ended."""
    window = [[message("a", 1)], [message("a", 2)], [message("b", 1)]]

    found, course = taken(window)

    assert [1, 1, 1] == [each.new for each in found.counts if each]
    assert course.index("end a m1") < course.index("begin a m2")
    assert course.index("begin b m1") < course.index("end a m1")


def test_an_error_ends_its_scope_and_no_other() -> None:
    """The others are stored and counted; the error is there to be raised."""
    window = [[message("a", 1)], [message("b", 1)], [message("b", 2)], [message("c", 1)]]

    found, course = taken(window, broken="b")

    assert [True, False, False, True] == [each is not None for each in found.counts]
    assert isinstance(found.error, ConflictError)
    assert "begin b m2" not in course


def test_a_batch_without_a_valid_scope_is_refused_by_itself() -> None:
    """It is not looked up ahead; taking it tells what is wrong."""
    window: list[list[JsonObject]] = [[{"kind": "message", "scope": []}], [message("a")]]

    async def run() -> BatchOutcomes:
        record_import = RecordImport(InProcessStore(), Assistants(), lambda _: None)
        return await take_window(record_import, window, record_import.take)

    assert isinstance(asyncio.run(run()).error, UsageError)


async def _records(scopes: Sequence[Scope]) -> list[JsonObject]:
    found: list[JsonObject] = []
    async with InProcessStore() as store:
        for scope in scopes:
            said = [NewMessage(role="user", text=f"{scope} {n}") for n in range(RESTORE_RECORDS)]
            await store.append(scope, "talk", said)
            await store.apply(scope, [PutMemory(type="Note", key="n", value={"content": "tea"})])
            found += await store.archive(scope)
    return found


async def _imported(memory: Recollect, records: Sequence[JsonObject]) -> list[int]:
    """Return how many records were new, then how many each scope has."""
    new = await memory.import_records(records)
    scopes = dict.fromkeys(map(scope_of, records))
    return [new, *[len(await memory.store.archive(scope)) for scope in scopes]]


def test_an_import_of_many_scopes_stores_each_once() -> None:
    """Scopes of more than one batch among them; imported again nothing is new."""
    scopes: list[Scope] = [("users", str(number)) for number in range(SCOPES_TOGETHER + 2)]

    async def run() -> tuple[list[int], list[int], int]:
        records = await _records(scopes)
        async with Recollect(InProcessStore(), embedder="none", worker=False) as memory:
            first = await _imported(memory, records)
            return first, await _imported(memory, records), len(records)

    first, again, count = asyncio.run(run())

    each = count // len(scopes)
    assert [count, *[each] * len(scopes)] == first
    assert [0, *[each] * len(scopes)] == again


def test_what_one_scope_refuses_keeps_no_other_from_being_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error of the first such record is raised; one scope at a time, later ones are left."""
    scopes: list[Scope] = [("a",), ("b",), ("c",)]

    async def run() -> list[bool]:
        records = await _records(scopes)
        async with Recollect(InProcessStore(), embedder="none", worker=False) as memory:
            await memory.apply(("b",), [PutMemory(type="Note", key="n", value={"content": "oil"})])
            with pytest.raises(ConflictError, match="Note/n"):
                await memory.import_records(records)
            whole = RESTORE_RECORDS + 2
            return [len(await memory.store.archive(each)) == whole for each in scopes]

    assert [True, False, True] == asyncio.run(run())
    monkeypatch.setattr(scope_batches, "SCOPES_TOGETHER", 1)
    assert [True, False, False] == asyncio.run(run())
