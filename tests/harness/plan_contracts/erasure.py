"""Decisions on erasing: its preview, the quotations it leaves, and its effects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import VersionConflictError
from recollect.records import Evidence, JsonObject, PutMemory
from recollect.side_records import PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.outside_removals import LEFT, MIRROR, OUTSIDE_SCOPE
from recollect.stores.reader_quotes import DENIED
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    counts,
    fact,
    feed_from_start,
    keys_in,
    resting,
    said,
    tell,
)


def _uids(left: JsonObject) -> set[str]:
    found = left["uids"]
    assert isinstance(found, list | tuple)
    return {str(each) for each in found}


class ErasePlanContract(Contract):
    """Erasing."""

    async def test_a_memory_is_erased_with_what_was_rejected_of_it(self, store: Store) -> None:
        """A rejection that repeats its words under another key goes too; those of others stay."""
        entry: JsonObject = {"entry": "home", "pointer": "/city", "value": "Oslo"}
        rejected: dict[str, JsonObject] = {
            "twin": {"city": "Rome"},
            "field": entry,
            "another": {**entry, "entry": "pet"},
            "other field": {**entry, "value": "Lima"},
            "other": {"city": "Lima"},
        }
        await store.apply(ADA, [replace(fact("home"), value={"city": "Oslo"})])
        refusals = [PutMemory(type="Fact", key=key, value=rejected[key]) for key in rejected]
        current = replace(fact("home"), value={"city": "Rome"})
        await store.apply(ADA, [*(replace(each, state="rejected") for each in refusals), current])

        receipt = await store.erase(ADA, EraseMemory(type="Fact", key="home"))

        assert 3 == receipt.memories
        assert {"another", "other field", "other"} == set(await keys_in(store))

    async def test_the_changes_of_a_memory_go_with_it(self, store: Store) -> None:
        """They repeat what it says: those that wait for a verdict, and those that were rejected."""
        waiting = replace(fact("home~1~a", "Rome"), state="quarantined")
        rejected = replace(fact("home~2~b", "Bonn"), state="rejected")
        others = [fact("home~1~c"), replace(fact("work~1~a"), state="quarantined")]
        await store.apply(ADA, [fact("home"), fact("work"), waiting, rejected, *others])

        receipt = await store.erase(ADA, EraseMemory(type="Fact", key="home"))

        assert (0, 3, 0) == counts(receipt)
        assert ["home~1~c", "work", "work~1~a"] == await keys_in(store)

    async def test_a_preview_counts_what_the_erase_then_takes(self, store: Store) -> None:
        """
        Return the receipt that `erase` would give now, without erasing or storing anything.

        The counts are those of one point in time; later writes change them.
        """
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1"), resting("work", "m1", "m2"), fact("pet")])
        targets: list[EraseTarget] = [
            EraseMessages(thread=TALK, messages=["m1"]),
            EraseMemory(type="Fact", key="pet"),
            EraseThread(thread=TALK),
            EraseScope(below=True),
        ]
        for target in targets:
            shown = await store.preview_erase(ADA, target)
            assert shown == await store.preview_erase(ADA, target)
            assert counts(shown) == counts(await store.erase(ADA, target)), target

        assert len(targets) == len(await store.receipts())
        await store.apply(ADA, [fact("car")])
        assert (0, 1, 0) == counts(await store.preview_erase(ADA, EraseScope()))

    async def test_quotations_of_what_goes_are_found(self, store: Store) -> None:
        """
        Return the messages that `erase` of *target* would leave and that quote what it removes.

        They are found by their words, at least four in a row or eight Chinese characters, among all
        messages of the scope; the messages that an erased memory rests on are among them. A
        paraphrase is not found, nor a user's message that the assistant repeated only later.
        """
        said_first = "The code of my garage is 4711, please keep it safe"
        await store.append(ADA, TALK, [replace(said("m1"), text=said_first)])
        noted = replace(said("m2"), role="assistant", text="Noted: code of my GARAGE is 4711!")
        await store.append(ADA, TALK, [noted, replace(said("m3"), text="I keep it safe, too")])
        await store.append(ADA, "mail", [replace(said("m4"), text="我家車庫的密碼是四七一一")])
        repeated = replace(said("m5"), role="assistant", text="好的，你家车库的密码是四七一一。")
        await store.append(ADA, "mail", [repeated])
        asked = [said("m6"), replace(said("m7"), role="assistant", text=repeated.text)]
        await store.append(ADA, "later", asked)
        await store.append(BOB, TALK, [replace(said("m1"), text=said_first)])
        await store.apply(ADA, [resting("code", "m1")])

        async def quoting(target: EraseTarget) -> list[tuple[str, str, str]]:
            found = await store.quotations(ADA, target)
            return [(each.thread, each.message, each.quote) for each in found]

        assert [(TALK, "m2", "code of my GARAGE is 4711")] == await quoting(
            EraseMessages(thread=TALK, messages=["m1"])
        )
        quotes = "家车库的密码是四七一一"
        assert [("mail", "m5", quotes), ("later", "m7", quotes)] == await quoting(
            EraseMessages(thread="mail", messages=["m4"])
        )
        assert [("mail", "m5", repeated.text.rstrip("。"))] == await quoting(
            EraseThread(thread="later")
        )
        memory = EraseMemory(type="Fact", key="code")
        assert "m1" in {message for _, message, _ in await quoting(memory)}
        assert [] == await quoting(EraseMessages(thread=TALK, messages=["m3"]))
        assert [] == await quoting(EraseMessages(thread=TALK, messages=["no such message"]))
        assert [] == await quoting(EraseScope()) == await quoting(EraseThread(thread=TALK))

    async def test_set_phrases_quote_nobody(self, store: Store) -> None:
        """The set phrases of the rule model quote nothing."""
        noted = "Noted: what you like. After a pause in our talk I remember it, or ask you to"
        noted += " review it first."
        nothing = "I remember nothing about that. Tell me, and I will."
        known = "I remember: “Ada keeps bees in Porto” (since 3 May 2025)."
        for thread, texts in {"a": [noted, nothing, known], "b": [nothing, noted, known]}.items():
            each = [replace(said(f"{thread}{n}"), text=text) for n, text in enumerate(texts)]
            await store.append(ADA, thread, [replace(e, role="assistant") for e in each])

        found = await store.quotations(ADA, EraseThread(thread="a"))

        assert ["b2"] == [each.message for each in found]
        assert found[0].quote.startswith("Ada keeps bees in Porto")

    async def test_what_resembles_is_no_likely_quotation(self, store: Store) -> None:
        """
        A sentence that begins in the same way is distinguished from one that repeats.

        Words of the user that merely resemble, without a whole clause, a long stretch or a code in
        common, are not *likely* a quotation.
        """
        texts = {
            "linz": "My brother Tomas lives in Linz now. The key 4711-B is under the stone",
            "graz": "My brother Tomas lives in Graz with his wife",
            "mill": "My brother Tomas lives in the house beside the old mill",
            "told": "As I said, my brother Tomas lives in Linz now!",
            "part": "My brother Tomas lives in Linz",
            "code": "So what is the key 4711-B for?",
        }
        for thread, text in texts.items():
            await store.append(ADA, thread, [replace(said("m1"), text=text)])
        answer = replace(said("m2"), role="assistant", text="My brother Tomas lives in Oslo")
        await store.append(ADA, "mill", [answer])

        found = await store.quotations(ADA, EraseThread(thread="linz"))

        assert {
            ("graz", "m1"): False, ("mill", "m1"): False, ("mill", "m2"): True,
            ("told", "m1"): True, ("part", "m1"): True, ("code", "m1"): True,
        } == {(each.thread, each.message): each.likely for each in found}  # fmt: skip

    async def test_a_preview_of_a_wrong_version_is_refused(self, store: Store) -> None:
        """VersionConflictError: The memory is not at the expected version."""
        await store.apply(ADA, [fact("pet")])

        with pytest.raises(VersionConflictError):
            await store.preview_erase(ADA, EraseMemory(type="Fact", key="pet", expected=7))
        assert ["pet"] == await keys_in(store)

    async def test_what_is_left_outside_is_noted(self, store: Store) -> None:
        """Entries to remove from external vector stores are recorded in the same transaction."""
        await tell(store, "m1", "m2", "m3")
        await store.apply(ADA, [resting("work", "m1", "m2"), fact("pet")])
        uids = {each.uid for each in (await feed_from_start(store)).entries}
        await store.apply(OUTSIDE_SCOPE, [PutSideRecord(kind=MIRROR, key="chroma", value={})])

        first = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        after = {each.uid for each in (await feed_from_start(store)).entries}
        second = await store.erase(ADA, EraseScope())
        await store.erase(BOB, EraseScope())

        rows = (await store.side_records(OUTSIDE_SCOPE, LEFT)).rows
        left = {str(each.value["receipt"]): each.value for each in rows}
        assert {first.id, second.id} == left.keys()
        assert {"chroma"} == {each["store"] for each in left.values()}
        rewritten = 1
        assert len(uids - after) + rewritten == len(_uids(left[first.id]))
        assert {str(each) for each in uids - after} < _uids(left[first.id])
        assert {str(each) for each in uids} == _uids(left[second.id])

    async def test_an_erase_takes_what_a_second_reader_quoted(self, store: Store) -> None:
        """From all that waits: its reasons may repeat messages that no evidence names."""
        await tell(store, "m1", "m2")
        cause = f"{DENIED}: the words of m1"
        waiting = replace(resting("home", "m2"), state="quarantined", cause=cause)
        (before,) = await store.apply(ADA, [waiting])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        assert before == await store.get(ADA, "Fact", "home")
        assert [DENIED] == [each.cause for each in await store.history(ADA, "Fact", "home")]
        assert "the words of m1" not in repr(await store.archive(ADA))

    @pytest.mark.parametrize(("key", "left"), [("home", []), ("Fact", [{"since": "May"}])])
    async def test_a_correction_of_a_statement_goes_as_one(
        self, store: Store, key: str, left: list[JsonObject]
    ) -> None:
        """It leaves no field that says nothing alone; the fields of a document stand alone."""
        await tell(store, "m1")
        said_so = {"": [Evidence(thread=TALK, message="m1", quote="words of m1")]}
        before = PutMemory(
            type="Fact", key=key, value={"city": "Oslo", "since": "June"}, evidence=said_so
        )
        corrected = replace(before, value={"city": "Oslo", "since": "May"}, evidence={})
        await store.apply(ADA, [before, corrected])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        assert left == [each.value for each in (await store.memories(ADA)).rows]
