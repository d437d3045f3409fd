"""Contract tests for the audit: what is recorded, and how tampering is detected."""

from __future__ import annotations

import json
from typing import Final

import pytest
from anyio import create_task_group

from recollect.errors import UsageError, VersionConflictError
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.erase_targets import EraseMemory, EraseScope, EraseThread
from recollect.stores.plans.formation import Formed
from recollect.testing.contract_base import (
    ADA,
    BOB,
    SOON,
    TALK,
    Contract,
    claimed,
    fact,
    keep_facts,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock

KEY: Final = "key-1"
FIRST, SECOND = "first-message", "second-message"
"""Long enough that no random digest spells one by chance."""
_BELOW: Final = (*ADA, "work")


async def four_changes(store: Store) -> Store:
    """Make four audited changes in Ada's scope, and return the acting store."""
    acting = store.acting(KEY)
    await tell(acting, FIRST, SECOND)
    await keep_facts(acting, "Oslo")
    await keep_facts(acting, "Rome")
    await acting.remove(ADA, TALK, [FIRST])
    return acting


async def actions(store: Store, scope: tuple[str, ...] = ADA) -> list[tuple[str | None, str]]:
    """Return actor and action of a scope's audited changes, the oldest first."""
    found = (await store.audit(scope)).rows
    return [(each.actor, each.action) for each in reversed(found)]


class AuditContract(Contract):
    """Auditing the changes of an actor."""

    async def test_what_an_actor_does_is_audited(self, store: Store, clock: FrozenClock) -> None:
        """Return a view of this store that audits every change as *actor*, in its transaction."""
        acting = await four_changes(store)
        await acting.replace(ADA, TALK, said(SECOND, "other words"))
        await acting.keep(ADA, TALK, 3)
        await tell(acting, "m3")
        lease = await claimed(acting, clock)
        await acting.commit(lease, [fact("work")], Formed(watermarks={TALK: 3}))
        await acting.pause(ADA)
        await acting.resume(ADA)
        await acting.erase(ADA, EraseMemory(type="Fact", key="home"))
        await acting.restore(BOB, [{**each, "scope": BOB} for each in await store.archive(ADA)])

        done = [action for _, action in await actions(store)]

        expected = ["append", "apply", "apply", "remove", "replace", "keep", "append", "form"]
        assert [*expected, "pause", "resume", "erase"] == done
        assert [(KEY, "restore")] == await actions(store, BOB)

    async def test_what_was_erased_comes_back_under_a_name(self, store: Store) -> None:
        """erased: Restore data that was erased here as well; the audit names that as the action."""
        await tell(store, "m1")
        records = await store.archive(ADA)
        await store.erase(ADA, EraseScope())

        await store.acting(KEY).restore(ADA, records, erased=True)

        assert records == await store.archive(ADA)
        assert [(KEY, "restore erased")] == await actions(store)

    async def test_a_row_tells_what_it_concerns_and_no_content(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A change is recorded with time, action, ids concerned and a keyed hash of its content."""
        acting = store.acting(KEY)
        await acting.append(ADA, TALK, [said("m1", "a secret")], debounce=SOON)
        await acting.apply(ADA, [fact("home", "Hammerfest")])

        applied, appended = (await store.audit(ADA)).rows

        assert (1, clock.now(), "append", ("message talk/m1",)) == (
            *(appended.n, appended.at, appended.action, appended.names),
        )
        assert ("apply", ("memory Fact/home",)) == (applied.action, applied.names)
        assert {"memories"} == applied.subject.keys()
        assert 64 == len(applied.digest)
        told = repr((appended, applied))
        assert "secret" not in told
        assert "Hammerfest" not in told

    async def test_what_changes_nothing_leaves_no_row(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """Calls that change nothing leave no row, nor do leases and vectors."""
        acting = store.acting(KEY)
        await tell(acting, "m1")
        await tell(acting, "m1")
        with pytest.raises(VersionConflictError):
            await acting.apply(ADA, [fact("home", expected=7)])
        await acting.release(await acting.extend(await claimed(acting, clock)))
        await acting.clean()

        assert [(KEY, "append")] == await actions(store)

    async def test_without_an_actor_nothing_is_noted(self, store: Store) -> None:
        """Without an actor there is no audit and no overhead."""
        store.acting(KEY)
        await tell(store, "m1")

        assert ((), True) == ((await store.audit(ADA)).rows, (await store.verify_audit(ADA)).ok)

    async def test_changes_are_listed_newest_first(self, store: Store) -> None:
        """Return the audited changes of exactly this scope, newest first."""
        acting = await four_changes(store)
        await acting.apply(_BELOW, [fact("home")])
        pages = each_row(lambda cursor: store.audit(ADA, cursor=cursor, limit=3))

        assert [4, 3, 2, 1] == [each.n async for each in pages]
        with pytest.raises(UsageError, match="cursor"):
            await store.audit(ADA, cursor="-1")

    async def test_the_erased_has_no_name_and_no_content(self, store: Store) -> None:
        """Audit rows outlive erased data, but keep neither its names nor its content."""
        acting = await four_changes(store)
        await acting.erase(ADA, EraseThread(thread=TALK))

        rows = (await store.audit(ADA)).rows

        assert 5 == len(rows)
        assert {"memory Fact/home"} == {name for each in rows for name in each.names}
        assert {KEY} == {each.actor for each in rows}
        assert TALK not in repr([json.dumps(dict(each.subject)) for each in rows])

    async def test_of_an_erased_scope_the_actors_names_go(self, store: Store) -> None:
        """Erasing a whole scope also removes the actors' names from its audit chain."""
        acting = await four_changes(store)
        await acting.apply(_BELOW, [fact("home")])
        before = (await store.audit(ADA)).rows[0]

        await acting.erase(("acme",), EraseScope(below=True))

        rows = (await store.audit(ADA)).rows
        assert [5, 4, 3, 2, 1] == [each.n for each in rows]
        assert {None} == {each.actor for each in rows}
        assert {before.actor_key} == {each.actor_key for each in rows}
        assert [(None, "apply"), (None, "erase")] == await actions(store, _BELOW)
        assert [(KEY, "erase")] == await actions(store, ("acme",))
        assert (await store.verify_audit(ADA)).ok

    async def test_a_scope_that_begins_anew_goes_on_with_its_chain(self, store: Store) -> None:
        """Erasing a scope keeps the audit rows of its changes, with or without an actor's name."""
        acting = await four_changes(store)
        await store.erase(ADA, EraseScope())
        await tell(acting, "m1")

        assert [(None, "remove"), (KEY, "append")] == (await actions(store))[-2:]
        assert (5, True) == (*((verdict := await store.verify_audit(ADA)).rows, verdict.ok),)

    async def test_a_chain_that_is_whole_is_said_to_be(self, store: Store) -> None:
        """Verify a scope's hash chain from its first row to its last."""
        await four_changes(store)

        verdict = await store.verify_audit(ADA)

        newest = (await store.audit(ADA)).rows[0]
        assert (True, 4, newest.hash, None) == (
            *(verdict.ok, verdict.rows, verdict.head, verdict.reason),
        )

    async def test_changes_at_once_make_one_chain(self, store: Store) -> None:
        """Concurrent changes of a scope each get a row in its chain."""
        actors = [f"key-{number}" for number in range(12)]
        async with create_task_group() as group:
            for actor in actors:
                group.start_soon(keep_facts, store.acting(actor), actor)

        verdict = await store.verify_audit(ADA)

        assert (True, 12) == (verdict.ok, verdict.rows), verdict.reason
        assert set(actors) == {each.actor for each in (await store.audit(ADA)).rows}
