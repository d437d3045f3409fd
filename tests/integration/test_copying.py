"""A store is copied into any other, whole, resumed after every stop, while it is written to."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from recollect.errors import ConflictError, GoneError, UsageError
from recollect.lifecycle import store_copy as copying
from recollect.lifecycle.copy_journal import MARK
from recollect.lifecycle.store_copy import Copied, content_digest, copy_store
from recollect.records import Evidence, JsonObject, NewMessage, PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.locator import open_store
from recollect.stores.plans.erase_targets import EraseMemory, EraseScope, EraseThread
from recollect.testing import FrozenClock
from tests.harness.installed_servers import require_empty_database
from tests.harness.stopping_store import StoppedError, Stopping

ADA: Scope = ("users", "ada")
BOB: Scope = ("users", "bob")


async def filled(store: Store, scopes: Sequence[Scope] = (ADA, BOB), rows: int = 600) -> Store:
    """Give *store* messages, and a memory with two versions that rests on one, in each scope."""
    for scope in scopes:
        await store.append(
            scope,
            "talk",
            [NewMessage(role="user", text=f"text {n}", id=f"m{n}") for n in range(rows)],
        )
        for version in (1, 2):
            put = PutMemory(
                type="Note",
                key="n",
                value={"content": f"canary {version} π", "n": 0.1},
                evidence={"": [Evidence(thread="talk", message="m1", quote="text 1")]},
            )
            await store.apply(scope, [put])
    return store


@pytest.fixture
async def source() -> AsyncIterator[Store]:
    """Yield a store of two scopes."""
    async with InProcessStore(clock=FrozenClock()) as store:
        yield await filled(store)


async def copied(source: Store, destination: Store, *, replace: bool = False) -> Copied:
    """Copy, under one name."""
    return await copy_store(source, destination, replace=replace)


async def equal(one: Store, other: Store) -> bool:
    """Return True if two stores hold the same."""
    digests = [await content_digest(each) for each in (one, other)]
    return str(digests[0]) == str(digests[1]) and digests[0].count == digests[1].count


async def test_there_and_back_again_is_the_same(source: Store, tmp_path: Path) -> None:
    """In a file, and from the file in memory: every record, with counts and digests."""
    async with open_store(tmp_path / "copy.db") as file, InProcessStore() as back:
        there = await copied(source, file)
        again = await copied(file, back)

        assert there.is_verified
        assert again.is_verified
        assert (2, 1_204, 1_204) == (there.scopes, there.records, there.written)
        assert there.source == again.destination == str(await content_digest(back))


async def test_a_server_gives_back_what_it_was_given(source: Store) -> None:
    """PostgreSQL, and back from it."""
    url = require_empty_database("recollect_copy")
    async with open_store(url) as server, InProcessStore() as back:
        await copied(source, server)
        done = await copied(server, back)

        assert done.is_verified
        assert await equal(source, back)


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_destination_whose_clock_differs_is_a_copy(tmp_path: Path, hours: int) -> None:
    """Also where it is behind the times in the source, as after a clock was set back."""
    clock, there = FrozenClock(), FrozenClock()
    there.advance(hours * 3_600)
    async with (
        InProcessStore(clock=clock) as source,
        open_store(tmp_path / "copy.db", clock=there) as destination,
    ):
        await filled(source, rows=2)

        done = await copied(source, destination)

        assert done.is_verified
        assert await equal(source, destination)


async def test_copying_again_writes_nothing(source: Store) -> None:
    """One pass that only reads; the destination has no mark left."""
    async with InProcessStore() as destination:
        await copied(source, destination)

        again = await copied(source, destination)

        assert (0, 1, True) == (again.written, again.passes, again.is_verified)
        assert [] == await destination.archive(MARK)


async def test_a_copy_goes_on_after_every_stop(source: Store) -> None:
    """It is stopped at each write in turn, and never writes a record twice."""
    async with Stopping() as destination:
        stops = written = 0
        while True:
            destination.calls = 2
            before = (await content_digest(destination)).count
            try:
                done = await copied(source, destination)
            except StoppedError:
                after = (await content_digest(destination)).count
                assert before <= after
                stops += 1
                written += after - before
                continue
            break

        assert stops >= 2
        assert done.is_verified
        assert await equal(source, destination)


async def test_what_changed_between_stop_and_resumption_is_right(source: Store) -> None:
    """Added, changed, removed and erased: the destination follows, and nothing comes back."""
    async with Stopping() as destination:
        destination.calls = 4
        with pytest.raises(StoppedError):
            await copied(source, destination)
        await source.remove(ADA, "talk", ["m5"])
        await source.append(ADA, "talk", [NewMessage(role="user", text="more", id="more")])
        await source.erase(ADA, EraseMemory(type="Note", key="n"))
        await source.erase(BOB, EraseScope())
        destination.calls = 10**9

        done = await copied(source, destination)

        assert done.is_verified
        assert await equal(source, destination)
        assert [] == await destination.archive(BOB)
        assert 2 == len(await destination.ledger())


async def test_a_source_in_use_is_followed_until_it_is_quiet(
    source: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each pass copies what changed during the one before."""
    async with InProcessStore() as destination:
        left = 2

        async def write() -> None:
            await source.append(ADA, "talk", [NewMessage(role="user", text=f"late {left}")])

        archive = source.archive

        async def read_and_write(scope: Scope) -> list[JsonObject]:
            nonlocal left
            found = await archive(scope)
            if scope == BOB and left:
                left -= 1
                await write()
            return found

        monkeypatch.setattr(source, "archive", read_and_write)
        done = await copied(source, destination)

        assert (True, 4) == (done.is_verified, done.passes)
        assert await equal(source, destination)


async def test_a_source_that_never_rests_is_told(
    source: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last pass it says how much had changed, and goes on when it is called again."""
    async with InProcessStore() as destination:
        archive, count = source.archive, 0

        async def read_and_write(scope: Scope) -> list[JsonObject]:
            nonlocal count
            found = await archive(scope)
            if scope == ADA:
                count += 1
                await source.append(ADA, "talk", [NewMessage(role="user", text=f"late {count}")])
            return found

        with monkeypatch.context() as patched:
            patched.setattr(source, "archive", read_and_write)
            restless = await copied(source, destination)
        done = await copied(source, destination)

        assert (False, 1) == (restless.is_verified, restless.behind)
        assert done.is_verified


async def test_other_records_at_the_destination_are_not_replaced_unasked(source: Store) -> None:
    """The error names the scope and what to do."""
    async with InProcessStore() as destination:
        await destination.append(ADA, "mine", [NewMessage(role="user", text="mine", id="m1")])
        await destination.append(("eve",), "hers", [NewMessage(role="user", text="hers")])

        with pytest.raises(ConflictError, match=r"users/ada has 2 records .*--replace"):
            await copied(source, destination)
        assert 2 == len(await destination.archive(ADA))


async def test_what_is_no_destination_is_no_source(source: Store) -> None:
    """A store that is half filled is not copied on."""
    async with Stopping() as destination, InProcessStore() as another:
        destination.calls = 3
        with pytest.raises(StoppedError):
            await copied(source, destination)

        with pytest.raises(UsageError, match="an unfinished copy"):
            await copied(destination, source)
        with pytest.raises(ConflictError, match="from another source"):
            await copied(another, destination)


async def test_a_copy_knows_the_keys_of_its_source(source: Store) -> None:
    """What was kept under a key is not kept twice, and what was erased is gone, there as here."""
    pay = [NewMessage(role="user", text="pay 10")]
    await source.append(ADA, "bills", pay, idempotency_key="pay")
    await source.append(ADA, "mail", pay, idempotency_key="mail")
    await source.append(("eve",), "mail", pay, idempotency_key="mail")
    await source.erase(ADA, EraseThread(thread="mail"))
    await source.erase(("eve",), EraseScope())
    async with InProcessStore(clock=FrozenClock()) as destination:
        await copied(source, destination)

        await destination.append(ADA, "bills", pay, idempotency_key="pay")
        assert 1 == len((await destination.messages(ADA, "bills")).rows)
        with pytest.raises(GoneError):
            await destination.append(ADA, "mail", pay, idempotency_key="mail")
        with pytest.raises(GoneError):
            await destination.append(("eve",), "mail", pay, idempotency_key="mail")
        assert await equal(source, destination)


async def test_a_copy_into_a_store_in_use_leaves_its_keys(source: Store) -> None:
    """A store with a secret of its own recognises its own requests, and none of the source."""
    pay = [NewMessage(role="user", text="pay 10")]
    await source.append(ADA, "bills", pay, idempotency_key="pay")
    async with InProcessStore() as destination:
        await destination.append(("eve",), "bills", pay, idempotency_key="pay")
        await copied(source, destination)

        await destination.append(("eve",), "bills", pay, idempotency_key="pay")
        assert 1 == len((await destination.messages(("eve",), "bills")).rows)
        assert [] == await destination.requests(ADA)


async def test_what_was_erased_at_the_source_is_known_to_the_copy(source: Store) -> None:
    """The ledger goes along."""
    await source.erase(ADA, EraseThread(thread="talk"))
    async with InProcessStore() as destination:
        done = await copied(source, destination)

        assert 1 == done.erases
        assert [each.id for each in await source.ledger()] == [
            each.id for each in await destination.ledger()
        ]


async def test_replacing_is_asked_for(source: Store) -> None:
    """It replaces scopes that the source has; others are left as they are."""
    async with InProcessStore() as destination:
        await destination.append(ADA, "mine", [NewMessage(role="user", text="mine", id="m1")])
        await destination.append(("eve",), "hers", [NewMessage(role="user", text="hers")])

        done = await copied(source, destination, replace=True)

        assert done.is_verified
        assert await source.archive(ADA) == await destination.archive(ADA)
        assert 2 == len(await destination.archive(("eve",)))


async def test_a_copy_that_takes_a_begun_scope_for_done_is_seen(
    source: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: whoever compares only whether there is something loses the rest of it."""
    async with Stopping() as destination:
        destination.calls = 3
        with pytest.raises(StoppedError):
            await copied(source, destination)
        destination.calls = 10**9

        with monkeypatch.context() as patched:
            patched.setattr(copying, "digests_of", lambda records: Counter({1: bool(records)}))
            await copied(source, destination)

        assert not await equal(source, destination)
