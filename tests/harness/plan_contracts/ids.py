"""Decisions on ids: every valid id works, and no two are confused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from recollect.errors import LimitError, UsageError
from recollect.records import (
    DeleteMemory,
    EndMemory,
    Evidence,
    MemoryState,
    NewMessage,
    PutMemory,
    Scope,
    Trust,
    Write,
)
from recollect.side_records import PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_ledger import named_in
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.validation import SEGMENTS_MAX
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    claimed,
    fact,
    ids_in,
    said,
    tell,
)
from recollect.testing.frozen_clock import NOON, FrozenClock
from tests.harness.truth_tables import ILLEGAL_IDS


class _Shown(str):
    """A text that is not formatted as it is, as the members of enumerations are not."""

    __slots__ = ()

    def __str__(self) -> str:
        return "shown"

    __repr__ = __str__

    def __format__(self, _: str) -> str:
        return "shown"


async def _fill(store: Store, scope: Scope, text: Callable[[str], str]) -> None:
    """Write messages, memories and side records; *text* makes each text of them."""
    named = tuple(map(text, scope))
    role: Any = text("user")
    message = NewMessage(
        role=role,
        text=text("I live in Oslo."),
        id=text("m1"),
        name=text("Ada"),
        session=text("s"),
        source=text("crm"),
        metadata={text("k"): text("v")},
    )
    await store.append(named, text(TALK), [message], idempotency_key=text("once"))
    cited = Evidence(thread=text(TALK), message=text("m1"), quote=text("Oslo"))
    home = PutMemory(
        type=text("Fact"), key=text("home"), value={text("city"): text("Oslo")},
        evidence={text("/city"): [cited]}, trust=cast("Trust", text("user")),
        state=cast("MemoryState", text("active")), cause=text("said"),
    )  # fmt: skip
    side = PutSideRecord(kind=text("State"), key=text("k"), value={}, thread=text(TALK))
    await store.apply(named, [home, fact("pet"), fact("work"), side])
    end = EndMemory(type=text("Fact"), key=text("pet"), at=NOON, cause=text("said"))
    await store.apply(named, [end, DeleteMemory(type=text("Fact"), key=text("work"))])


class IdentityPlanContract(Contract):
    """Valid ids, and that each identifies one object."""

    async def test_a_number_is_its_digits(self, store: Store) -> None:
        """An integer segment is its decimal text, so that a numeric user id can be used as is."""
        numeric: Any = ("users", 42)

        await store.append(numeric, TALK, [said("m1")])

        assert ["m1"] == await ids_in(store, scope=("users", "42"))
        assert ["m1"] == await ids_in(store, scope=numeric)

    async def test_a_subclass_of_text_is_its_text(self, store: Store) -> None:
        """The member of an enumeration of texts is stored, found and erased as its text."""
        await _fill(store, ADA, str)
        await _fill(store, BOB, _Shown)

        kept = [{**each, "scope": []} for each in await store.archive(BOB)]
        assert [{**each, "scope": []} for each in await store.archive(ADA)] == kept
        (thread,) = (await store.threads(BOB)).rows
        (message,) = (await store.messages(BOB, TALK)).rows
        named = [*(await store.scopes()).rows[-1], thread.id, message.id, message.role]
        assert {str} == {type(each) for each in named}
        for target in (
            EraseThread(thread=_Shown(TALK)),
            EraseMessages(thread=TALK, messages=[_Shown("m1")]),
            EraseSource(source=_Shown("crm")),
            EraseMemory(type=_Shown("Fact"), key=_Shown("home")),
        ):
            before = await store.archive(ADA)
            await store.erase(ADA, target)
            assert named_in((await store.ledger())[-1:], before), target
            await store.vacate(ADA)
            await _fill(store, ADA, str)

    @pytest.mark.parametrize("id_", ILLEGAL_IDS, ids=ascii)
    async def test_what_cannot_name_is_refused(self, store: Store, id_: str) -> None:
        """A text that cannot name anything is refused wherever something is to be named."""
        put = PutMemory(
            type="Fact", key="home", value={}, evidence={"": [Evidence(thread=TALK, message=id_)]}
        )
        end = EndMemory(type="Fact", key=id_, at=NOON)
        writes: list[Write] = [fact(id_), DeleteMemory(type=id_, key="k"), put, end]
        with pytest.raises(UsageError):
            await store.append(("users", id_), TALK, [said("m1")])
        with pytest.raises(UsageError):
            await store.append(ADA, id_, [said("m1")])
        with pytest.raises(UsageError):
            await store.append(ADA, TALK, [said(id_)])
        for write in writes:
            with pytest.raises(UsageError):
                await store.apply(ADA, [write])
        with pytest.raises(UsageError):
            await store.claim(id_)

        assert () == (await store.scopes()).rows

    @pytest.mark.parametrize("id_", ILLEGAL_IDS, ids=ascii)
    async def test_what_cannot_name_is_not_erased(self, store: Store, id_: str) -> None:
        """Erasing an invalid name is refused, so that no caller believes it was done."""
        await tell(store, "m1")
        targets: list[EraseTarget] = [
            EraseThread(thread=id_),
            EraseMessages(thread=id_, messages=["m1"]),
            EraseMemory(type=id_, key="home"),
            EraseMemory(type="Fact", key=id_),
            EraseSource(source=id_),
        ]

        for target in targets:
            with pytest.raises(UsageError):
                await store.erase(ADA, target)
        with pytest.raises(UsageError):
            await store.erase((id_,), EraseScope())

        assert [] == await store.receipts()

    @pytest.mark.parametrize("id_", ILLEGAL_IDS, ids=ascii)
    async def test_what_cannot_name_is_not_asked_for(self, store: Store, id_: str) -> None:
        """A read or an edit by a name that cannot be is refused, whether there is anything."""
        await tell(store, "m1")
        asked: list[Callable[[Scope], Awaitable[object]]] = [
            lambda scope: store.thread(scope, id_),
            lambda scope: store.thread_numbers(scope, [id_]),
            lambda scope: store.threads(scope, cursor=id_),
            lambda scope: store.messages(scope, id_),
            lambda scope: store.last_messages(scope, id_, limit=1),
            lambda scope: store.remove(scope, TALK, [id_]),
            lambda scope: store.keep(scope, id_, 1),
            lambda scope: store.replace(scope, id_, said("m1")),
            lambda scope: store.signal(scope, id_),
            lambda scope: store.get(scope, "Fact", id_),
            lambda scope: store.get_many(scope, [(id_, "home")]),
            lambda scope: store.history(scope, id_, "home"),
            lambda scope: store.memories(scope, type_=id_),
        ]

        for call in asked:
            for scope in (ADA, BOB):
                with pytest.raises(UsageError):
                    await call(scope)

    @pytest.mark.parametrize("at", [1 << 53, -(1 << 70), 1.0, "1", True], ids=repr)
    async def test_a_position_is_a_whole_number(self, store: Store, at: Any) -> None:
        """A position must be an integer that every store can hold."""
        await tell(store, "m1")

        with pytest.raises(UsageError):
            await store.messages(ADA, TALK, after=at)
        with pytest.raises(UsageError):
            await store.last_messages(ADA, TALK, limit=1, before=at)
        with pytest.raises(UsageError):
            await store.keep(ADA, TALK, at)
        with pytest.raises(UsageError):
            await store.keep(ADA, TALK, 1, at)

    @pytest.mark.parametrize("texts", ["m1", b"m1", 5, None, [5], {"m1": 1}], ids=repr)
    async def test_a_text_is_no_list_of_texts(
        self, store: Store, clock: FrozenClock, texts: Any
    ) -> None:
        """A single text is refused where a list of texts is expected."""
        await tell(store, "m", "1", "m1")
        lease = await claimed(store, clock)

        with pytest.raises(UsageError):
            await store.remove(ADA, TALK, texts)
        with pytest.raises(UsageError):
            await store.erase(ADA, EraseMessages(thread=TALK, messages=texts))
        with pytest.raises(UsageError):
            await store.thread_numbers(ADA, texts)
        with pytest.raises(UsageError):
            await store.release(lease, failed=texts)

        assert ["m", "1", "m1"] == await ids_in(store)

    @pytest.mark.parametrize("pattern", ["users", b"users", 5, None, (None,), (True,)], ids=repr)
    async def test_a_pattern_is_a_tuple_of_segments(self, store: Store, pattern: Any) -> None:
        """A text is no pattern of scopes: its letters are no segments."""
        with pytest.raises(UsageError):
            await store.scopes(prefix=pattern)
        with pytest.raises(UsageError):
            await store.scopes(suffix=pattern)

    @pytest.mark.parametrize(
        "scope", [(), "", b"ada", None, ("ada", None), ("ada", True), ("ada", 1.0), (("a",),)]
    )
    async def test_a_scope_is_a_tuple_of_texts(self, store: Store, scope: Any) -> None:
        """Every call refuses a scope that is neither a text nor a tuple of texts."""
        with pytest.raises(UsageError):
            await store.append(scope, TALK, [said("m1")])
        with pytest.raises(UsageError):
            await store.memories(scope)
        with pytest.raises(UsageError):
            await store.erase(scope, EraseScope(below=True))

    async def test_a_scope_has_a_limit(self, store: Store) -> None:
        """A scope has ``SEGMENTS_MAX`` segments at most."""
        longest = ("s",) * SEGMENTS_MAX

        await store.append(longest, TALK, [said("m1")])
        with pytest.raises(LimitError, match="SEGMENTS_MAX"):
            await store.append((*longest, "s"), TALK, [said("m1")])

        assert ["m1"] == await ids_in(store, scope=longest)
