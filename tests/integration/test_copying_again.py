"""A second copy brings the first up to date, and nothing that is somebody else's goes."""

import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest

from recollect.errors import ConflictError, GoneError
from recollect.lifecycle import store_copy as copying
from recollect.lifecycle.copy_journal import JOURNAL
from recollect.lifecycle.store_copy import content_digest, copy_store
from recollect.memory.facade import Recollect
from recollect.records import JsonObject, NewMessage, PutMemory, Scope
from recollect.side_records import PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.locator import open_store
from recollect.stores.plans import erase_ledger
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope, EraseThread
from recollect.stores.plans.outside_removals import LEFT, MIRROR, OUTSIDE_SCOPE
from recollect.testing.contract_base import feed_from_start
from tests.harness.stopping_store import StoppedError, Stopping

ADA: Scope = ("users", "ada")
BOB: Scope = ("users", "bob")
EVE: Scope = ("users", "eve")
CANARY = "heliotrope-canary"


async def tell(store: Store, scope: Scope, *names: str) -> None:
    """Have messages said in a scope."""
    said = [NewMessage(role="user", text=f"{name} {CANARY}", id=name) for name in names]
    await store.append(scope, "talk", said)


@pytest.fixture
async def source() -> AsyncIterator[Store]:
    """Yield a store in which Ada and Bob said something."""
    async with InProcessStore() as store:
        for scope in (ADA, BOB):
            await tell(store, scope, "m1", "m2")
            await store.apply(scope, [PutMemory(type="Note", key="n", value={"content": "tea"})])
        yield store


@pytest.fixture
async def destination() -> AsyncIterator[Stopping]:
    """Yield an empty store."""
    async with Stopping() as store:
        yield store


def is_in_files(folder: Path) -> bool:
    """Return True if the canary stands in a file of *folder*, also of a store that is open."""
    # Read by another process: closing the file here would drop the store's locks on it.
    command = ["grep", "--quiet", "--text", "--recursive", CANARY, str(folder)]
    return subprocess.run(command, check=False).returncode == 0


async def equal(one: Store, other: Store) -> bool:
    """Return True if two stores hold the same."""
    return str(await content_digest(one)) == str(await content_digest(other))


@pytest.mark.parametrize("replace", [False, True])
async def test_who_was_erased_between_two_copies_is_gone(
    source: Store,
    tmp_path: Path,
    replace: bool,  # noqa: FBT001
) -> None:
    """At the destination too, with the bytes, and somebody else's scope there stays."""
    file = tmp_path / "copy.db"
    async with open_store(file) as destination:
        await destination.append(EVE, "talk", [NewMessage(role="user", text="I stay")])
        await copy_store(source, destination)
        assert is_in_files(tmp_path)
        for scope in (ADA, BOB):
            await source.erase(scope, EraseThread(thread="talk"))
        await source.erase(BOB, EraseScope())

        done = await copy_store(source, destination, replace=replace)

        assert (True, 3) == (done.is_verified, done.erases)
        assert [] == await destination.archive(BOB)
        assert await source.archive(ADA) == await destination.archive(ADA)
        assert 2 == len(await destination.archive(EVE))
        assert [] == await destination.receipts(unclean=True)
        assert not is_in_files(tmp_path)


async def test_a_copy_that_skips_what_the_source_has_no_more_is_seen(
    source: Store, destination: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: it says that it is verified, and Bob is alive."""

    async def skip(*_: object) -> None:
        pass

    await copy_store(source, destination)
    await source.erase(BOB, EraseScope())
    monkeypatch.setattr(copying._Copying, "_follow", skip)

    done = await copy_store(source, destination)

    assert done.is_verified
    assert [] != await destination.archive(BOB)


async def test_who_came_there_otherwise_and_was_erased_here_is_asked_about(
    source: Store, destination: Store
) -> None:
    """A ledger is not adopted while what it names is there; replacing erases just that."""
    await tell(destination, BOB, "m1")
    await destination.append(BOB, "other", [NewMessage(role="user", text="I stay")])
    await source.erase(BOB, EraseThread(thread="talk"))
    await source.erase(BOB, EraseMessages(thread="gone", messages=["m1"]))
    await source.vacate(BOB)

    with pytest.raises(ConflictError, match=r"users/bob holds .* was erased .*--replace"):
        await copy_store(source, destination)
    assert [] == await destination.ledger()
    done = await copy_store(source, destination, replace=True)

    assert (True, 2) == (done.is_verified, done.erases)
    assert ("other",) == tuple(each.id for each in (await destination.threads(BOB)).rows)


async def test_a_second_copy_brings_all_up_to_date(source: Store, destination: Store) -> None:
    """Added, changed, removed, erased, a scope that is new, one that left and one that is back."""
    await copy_store(source, destination)
    for erase in (BOB, None):
        await tell(source, ADA, f"more {erase}")
        await source.remove(ADA, "talk", ["m1"])
        put = PutMemory(type="Note", key="n", value={"content": f"coffee {erase}"})
        await source.apply(ADA, [put])
        await source.erase(ADA, EraseMessages(thread="talk", messages=["m2"]))
        await tell(source, (*EVE, str(erase)), "m1")
        if erase:
            await source.erase(erase, EraseScope())
        else:
            await tell(source, BOB, "m1")

        done = await copy_store(source, destination)
        again = await copy_store(source, destination)

        assert (True, True) == (done.is_verified, again.is_verified)
        assert (0, 1) == (again.written, again.passes)
        assert await equal(source, destination)


@pytest.mark.parametrize("used", ["written", "erased"])
async def test_a_destination_that_was_used_since_is_refused(
    source: Store, destination: Store, used: str
) -> None:
    """Nothing of that scope is changed, until it is asked for."""
    await copy_store(source, destination)
    if used == "written":
        await tell(destination, ADA, "mine")
    else:
        await destination.erase(ADA, EraseMessages(thread="talk", messages=["m1"]))
    there = await destination.archive(ADA)

    with pytest.raises(
        ConflictError, match=r"users/ada was written or erased .* since .*--replace"
    ):
        await copy_store(source, destination)
    assert there == await destination.archive(ADA)

    if used == "erased":
        with pytest.raises(ConflictError, match=r"erased at the destination.*--restore-erased"):
            await copy_store(source, destination, replace=True)
        assert there == await destination.archive(ADA)
    copied = await copy_store(source, destination, replace=True, restore_erased=used == "erased")
    assert copied.is_verified
    assert await equal(source, destination)


async def test_what_was_erased_at_the_destination_does_not_come_back(
    source: Store, destination: Store
) -> None:
    """Also of a scope that no copy had brought there; at the source it may be erased as well."""
    await tell(destination, ADA, "m1")
    await destination.erase(ADA, EraseScope())
    with pytest.raises(ConflictError, match="erased at the destination"):
        await copy_store(source, destination)
    assert [] == await destination.archive(ADA)

    await source.erase(ADA, EraseScope())

    assert (await copy_store(source, destination)).is_verified


async def test_what_a_refused_copy_brought_is_not_its_own_for_ever(
    source: Store, destination: Store
) -> None:
    """Whoever writes there after the refusal does not lose it to the next run."""
    last = ("users", "zoe")
    await tell(source, last, "m1")
    await tell(destination, last, "mine")
    with pytest.raises(ConflictError, match="users/zoe"):
        await copy_store(source, destination)
    assert await source.archive(ADA) == await destination.archive(ADA)
    await tell(destination, ADA, "mine")
    await destination.erase(last, EraseScope())

    with pytest.raises(ConflictError, match=r"users/ada was written or erased"):
        await copy_store(source, destination)

    assert "mine" in json.dumps(await destination.archive(ADA))


async def test_what_was_used_there_is_not_dropped_with_its_source(
    source: Store, destination: Store
) -> None:
    """Who was copied, spoke on at the destination, and went at the source, is asked about."""
    await copy_store(source, destination)
    await tell(destination, BOB, "mine")
    await source.vacate(BOB)

    with pytest.raises(ConflictError, match=r"users/bob was written or erased"):
        await copy_store(source, destination)

    assert "mine" in json.dumps(await destination.archive(BOB))


async def test_a_source_in_use_is_followed_into_a_store_that_held_something(
    source: Store, destination: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a pass has written itself does not stand in the way of the next one."""
    await tell(destination, EVE, "hers")
    archive, left = source.archive, 2

    async def read_and_erase(scope: Scope) -> list[JsonObject]:
        nonlocal left
        found = await archive(scope)
        if scope == BOB and left:
            await source.remove(ADA, "talk", [f"m{left}"])
            left -= 1
        return found

    monkeypatch.setattr(source, "archive", read_and_erase)
    done = await copy_store(source, destination)

    assert (True, 4) == (done.is_verified, done.passes)
    assert await source.archive(ADA) == await destination.archive(ADA)


@pytest.mark.parametrize("calls", range(1, 9))
async def test_a_second_copy_that_was_killed_is_finished(
    source: Store, destination: Stopping, calls: int
) -> None:
    """Whatever it had begun is known to be its own, also when the source goes on meanwhile."""
    await tell(destination, EVE, "hers")
    await copy_store(source, destination)
    for scope in (ADA, BOB):
        await source.remove(scope, "talk", ["m1"])
        await tell(source, scope, "more")
    destination.calls = calls
    with pytest.raises(StoppedError):
        await copy_store(source, destination)
    destination.calls = 10**9
    await source.remove(ADA, "talk", ["m2"])
    await source.erase(BOB, EraseScope())

    done = await copy_store(source, destination)

    assert done.is_verified
    assert await source.archive(ADA) == await destination.archive(ADA)
    assert [] == await destination.archive(BOB)
    assert 2 == len(await destination.archive(EVE))


async def test_two_sources_are_told_apart(source: Store, destination: Store) -> None:
    """What came from one does not go because the other has it not."""
    async with InProcessStore() as other:
        await tell(other, EVE, "hers")
        for each in (source, other, source):
            assert (await copy_store(each, destination)).is_verified
        await tell(other, ADA, "m3")

        with pytest.raises(ConflictError, match="has 4 records at the destination"):
            await copy_store(other, destination)

    assert await source.archive(ADA) == await destination.archive(ADA)
    assert 2 == len(await destination.archive(EVE))


async def test_what_was_replaced_there_is_removed_from_its_outside_stores(
    source: Store, destination: Store
) -> None:
    """Of both sides' own outside stores nothing is copied."""
    for name, store in (("chroma", source), ("lance", destination)):
        mirror = PutSideRecord(kind=MIRROR, key=name, value={})
        await store.apply(OUTSIDE_SCOPE, [mirror])
    await copy_store(source, destination)
    uids = {str(each.uid) for each in (await feed_from_start(destination, BOB)).entries}
    await source.erase(BOB, EraseScope())

    done = await copy_store(source, destination)
    again = await copy_store(source, destination)

    left = (await destination.side_records(OUTSIDE_SCOPE, LEFT)).rows
    assert (True, 0) == (done.is_verified, again.written)
    assert {"lance"} == {each.value["store"] for each in left}
    assert uids <= {uid for each in left for uid in cast("list[str]", each.value["uids"])}
    for name, store in (("chroma", source), ("lance", destination)):
        kept = await store.side_records(OUTSIDE_SCOPE, MIRROR)
        assert [name] == [each.key for each in kept.rows]


async def test_what_is_noted_names_nobody_and_is_not_copied_on(
    source: Store, destination: Store
) -> None:
    """A memory for each scope, gone with it; a chain of copies is equal at its ends."""
    await copy_store(source, destination)
    notes = await destination.archive(JOURNAL)
    async with InProcessStore() as last:
        await copy_store(destination, last)
        assert await equal(source, last)
    await source.erase(BOB, EraseScope())
    await copy_store(source, destination)

    assert [2, 1] == [len(notes), len(await destination.archive(JOURNAL))]
    told = re.sub("[0-9a-f]{16,}", "", json.dumps(notes))  # a digest may spell a name by chance
    assert not any(word in told for word in ("ada", "bob", CANARY))


async def scopes_of(store: Store) -> list[Scope]:
    """Return the scopes of people in a store."""
    return list((await store.scopes(prefix=("users",))).rows)


async def test_one_scope_is_copied_beside_others(source: Store, destination: Stopping) -> None:
    """Only it is brought over and up to date; who lives at the destination stays."""
    await tell(destination, EVE, "m1")

    first = await copy_store(source, destination, scope=ADA)
    await tell(source, ADA, "m3")
    again = await copy_store(source, destination, scope=ADA)

    assert (True, 1, True, 1) == (
        first.is_verified,
        first.scopes,
        again.is_verified,
        again.scopes,
    )
    assert [ADA, EVE] == await scopes_of(destination)
    assert await source.archive(ADA) == await destination.archive(ADA)


async def test_each_scope_that_was_copied_alone_is_still_known(
    source: Store, destination: Stopping
) -> None:
    """The copy of another one does not make the first a stranger."""
    await copy_store(source, destination, scope=ADA)
    await copy_store(source, destination, scope=BOB)
    await source.erase(ADA, EraseMessages(thread="talk", messages=["m1"]))

    done = await copy_store(source, destination, scope=ADA)

    assert done.is_verified
    assert await source.archive(ADA) == await destination.archive(ADA)
    assert 2 == len((await destination.messages(BOB, "talk")).rows)


async def test_what_a_source_erased_after_a_move_lives_on(
    source: Store, destination: Stopping
) -> None:
    """Its ledger is not taken over with another scope: Ada moved, and was erased where she was."""
    await copy_store(source, destination, scope=ADA)
    await source.erase(ADA, EraseScope())

    await copy_store(source, destination, scope=BOB)

    assert [] == list(await destination.ledger())
    assert [ADA, BOB] == await scopes_of(destination)


async def test_a_scope_that_the_source_has_no_more_goes_and_is_forgotten(
    source: Store, destination: Stopping
) -> None:
    """It was copied alone, erased at the source, copied again, and may then be somebody else's."""
    await copy_store(source, destination, scope=ADA)
    await source.erase(ADA, EraseScope())

    done = await copy_store(source, destination, scope=ADA)
    await tell(destination, ADA, "of another source")
    later = await copy_store(source, destination, scope=ADA)

    assert done.is_verified
    assert later.is_verified
    assert 1 == len((await destination.messages(ADA, "talk")).rows)


@pytest.mark.parametrize("calls", range(5))
async def test_a_copy_of_one_scope_that_was_killed_is_continued(
    source: Store, destination: Stopping, calls: int
) -> None:
    """At whichever write it stops, the next run ends it, and nothing is there twice."""
    await tell(destination, EVE, "m1")
    destination.calls = calls
    with suppress(StoppedError):
        await copy_store(source, destination, scope=ADA)
    destination.calls = 10**9

    assert (await copy_store(source, destination, scope=ADA)).is_verified
    assert await source.archive(ADA) == await destination.archive(ADA)
    assert 1 == len((await destination.messages(EVE, "talk")).rows)


async def test_one_scope_is_not_copied_into_a_store_that_is_being_filled(
    source: Store, destination: Stopping
) -> None:
    """A copy of a whole store takes all that is there for its own."""
    destination.calls = 2
    with pytest.raises(StoppedError):
        await copy_store(source, destination)
    destination.calls = 10**9
    async with InProcessStore() as other:
        await tell(other, EVE, "m1")

        with pytest.raises(ConflictError, match="being filled from another source"):
            await copy_store(other, destination, scope=EVE)


async def test_one_scope_is_copied_while_it_is_used(
    source: Store, destination: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages arrive during the first pass; the copy ends with all of them."""
    archive, late = source.archive, iter(("m3", "m4"))

    async def used(scope: Scope) -> list[JsonObject]:
        found = await archive(scope)
        if name := next(late, None):
            await tell(source, ADA, name)
        return list(found)

    monkeypatch.setattr(source, "archive", used)

    done = await copy_store(source, destination, scope=ADA)

    assert done.is_verified
    assert done.passes > 1
    assert 4 == len((await destination.messages(ADA, "talk")).rows)


# The ledger of one scope


async def brought_back(destination: Store, before: dict[Scope, list[JsonObject]]) -> list[str]:
    """Import what was exported before the erases; return the messages of each scope after it."""
    async with Recollect(destination, embedder="none", worker=False) as memory:
        for records in before.values():
            await memory.import_records(records)
        pages = {scope: await memory.messages(scope, "talk") for scope in before}
    return [f"{scope[-1]} {each.id}" for scope, page in pages.items() for each in page.rows]


async def moved_and_imported(source: Store, destination: Store) -> list[str]:
    """Erase a message of Ada's and one of Bob's, move Ada, and import what both had before."""
    await tell(destination, EVE, "m1")
    before = {scope: await source.archive(scope) for scope in (ADA, BOB)}
    for scope in (ADA, BOB):
        await source.erase(scope, EraseMessages(thread="talk", messages=["m1"]))
    assert (await copy_store(source, destination, scope=ADA)).is_verified
    return await brought_back(destination, before)


async def test_an_erase_in_a_scope_goes_along_with_it(source: Store, destination: Stopping) -> None:
    """What was erased before the move does not come back after it; Bob was erased elsewhere."""
    assert ["ada m2", "bob m1", "bob m2"] == await moved_and_imported(source, destination)


async def test_an_erase_that_stays_behind_is_noticed(
    source: Store, destination: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a scope is copied without its ledger."""
    monkeypatch.setattr(copying, "erases_below", lambda *_: [])

    assert "ada m1" in await moved_and_imported(source, destination)


async def test_a_retry_after_a_copy_of_the_scopes_above_brings_nothing_back(
    source: Store, destination: Stopping
) -> None:
    """Who was erased whole has no scope to hold the key; who moved before keeps their own."""
    pay = [NewMessage(role="user", text=f"pay 10 {CANARY}")]
    await source.append(EVE, "bills", pay, idempotency_key="pay")
    await source.append(BOB, "bills", pay, idempotency_key="pay")
    await copy_store(source, destination, scope=BOB)
    await source.erase(EVE, EraseScope())
    await source.erase(BOB, EraseScope())

    await copy_store(source, destination, scope=ADA)

    with pytest.raises(GoneError):
        await destination.append(EVE, "bills", pay, idempotency_key="pay")
    (kept,) = await destination.append(BOB, "bills", pay, idempotency_key="pay")
    assert [kept] == list((await destination.messages(BOB, "bills")).rows)


async def test_of_an_erase_of_many_only_the_part_of_the_scope_goes_along(
    source: Store, destination: Stopping
) -> None:
    """All users were erased at the source, and Ada came back; Eve lives at the destination."""
    assert ["ada m9", "eve m1"] == await imported_after_an_erase_of_all(source, destination)


async def test_an_erase_of_many_that_goes_along_whole_is_noticed(
    source: Store, destination: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: Eve, whom nobody erased, is taken for erased."""
    monkeypatch.setattr(erase_ledger, "_narrowed", lambda entry, _: entry)

    assert ["ada m9"] == await imported_after_an_erase_of_all(source, destination)


async def imported_after_an_erase_of_all(source: Store, destination: Store) -> list[str]:
    """Copy Ada after an erase of all users, and restore Ada and Eve from before it."""
    await tell(destination, EVE, "m1")
    before = {ADA: await source.archive(ADA), EVE: await destination.archive(EVE)}
    await source.erase(("users",), EraseScope(below=True))
    await tell(source, ADA, "m9")
    assert (await copy_store(source, destination, scope=ADA)).is_verified
    again = await copy_store(source, destination, scope=ADA)
    assert (0, 0) == (again.written, again.erases)
    await destination.vacate(EVE)
    return await brought_back(destination, before)


async def test_a_scope_that_is_gone_leaves_its_erase_to_the_one_above(
    source: Store, destination: Stopping
) -> None:
    """Nobody names it any more; a copy of all users still takes the erase along."""
    await tell(destination, ("staff", "eve"), "m1")
    before = {ADA: await source.archive(ADA)}
    await source.erase(ADA, EraseScope())

    done = await copy_store(source, destination, scope=("users",))

    assert (True, 1) == (done.is_verified, done.erases)
    assert [] == await brought_back(destination, before)
