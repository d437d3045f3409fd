"""Decisions on side records: JSON objects beside messages and memories."""

from __future__ import annotations

import pytest

from recollect.errors import ConflictError, LimitError, UsageError, VersionConflictError
from recollect.records import Write
from recollect.side_records import (
    DeleteSideRecord,
    PutSideRecord,
    SideWrite,
)
from recollect.stores.contract.base import Store
from recollect.testing.contract_base import (
    ADA,
    Contract,
    existing,
    fact,
    seconds,
)
from recollect.testing.contract_side_records import KIND, keys_of, put
from recollect.testing.frozen_clock import NOON, FrozenClock

WRONG: list[SideWrite] = [
    PutSideRecord(kind="", key="k", value={}),
    PutSideRecord(kind=KIND, key="a\n", value={}),
    PutSideRecord(kind=KIND, key="k", value={}, thread=""),
    PutSideRecord(kind=KIND, key="k", value=["a"]),  # type: ignore[arg-type]
    PutSideRecord(kind=KIND, key="k", value={"a": float("nan")}),
    PutSideRecord(kind=KIND, key="k", value={}, expected=-1),
    PutSideRecord(kind=KIND, key="k", value={}, expires_at=NOON.replace(tzinfo=None)),
    DeleteSideRecord(kind=KIND, key=""),
    DeleteSideRecord(kind=KIND, key="k", expected=-1),
]


class SideRecordPlanContract(Contract):
    """JSON objects beside messages and memories."""

    async def test_what_expired_is_put_anew(self, store: Store, clock: FrozenClock) -> None:
        """A side record that has expired counts as none."""
        await store.apply(ADA, [put("k", expires_at=clock.now() + seconds(1)), put("k2", 1)])
        clock.advance(1)

        await store.apply(ADA, [put("k", 2, expected=0)])

        found = existing(await store.side_record(ADA, KIND, "k"))
        assert (1, clock.now()) == (found.version, found.created_at)
        assert ["k", "k2"] == await keys_of(store)

    @pytest.mark.parametrize(
        "write",
        [put("k", expected=0), put("k", expected=2), put("x", expected=1),
         DeleteSideRecord(kind=KIND, key="k", expected=2)],
        ids=["none", "later", "absent", "delete"],
    )  # fmt: skip
    async def test_a_version_of_one_can_be_expected(self, store: Store, write: SideWrite) -> None:
        """VersionConflictError: A write expected another version."""
        await store.apply(ADA, [put("k", 1)])
        before = await store.archive(ADA)

        with pytest.raises(VersionConflictError, match=r"Setting/"):
            await store.apply(ADA, [fact("home"), put("other"), write])

        assert before == await store.archive(ADA)

    @pytest.mark.parametrize("write", WRONG, ids=lambda write: ascii(write)[-70:])
    async def test_one_may_be_refused(self, store: Store, write: SideWrite) -> None:
        """A side record that is not allowed is refused, and nothing of the batch is stored."""
        with pytest.raises(UsageError):
            await store.apply(ADA, [fact("home"), put("k"), write])

        assert await store.scope_id(ADA) is None

    async def test_one_has_a_limit(self, store: Store) -> None:
        """A side record's value is of a limited size."""
        with pytest.raises(LimitError, match="JSON_BYTES_MAX"):
            await store.apply(ADA, [PutSideRecord(kind=KIND, key="k", value={"a": "x" * 999_999})])

    @pytest.mark.parametrize(("depth", "found"), [(0, 1), (1, 1), (2, 2), (3, None)])
    async def test_a_search_above_has_a_depth(
        self, store: Store, depth: int, found: int | None
    ) -> None:
        """Ancestors of fewer than *depth* segments are left out. An expired record is skipped."""
        for length in (1, 2):
            await store.apply(ADA[:length], [put(f"{length}", length), put("k", length)])

        key = "k" if depth > 1 else "1"
        kept = await store.nearest_side_record(ADA, KIND, key, depth=depth)

        assert found == (kept and kept.value["at"])

    async def test_a_key_repeats_them(self, store: Store) -> None:
        """A request that writes side records under an idempotency key is carried out once."""
        writes: list[Write | SideWrite] = [put("k", 1), fact("home")]
        first = await store.apply(ADA, writes, idempotency_key="once")
        await store.apply(ADA, [put("k", 2)])

        again = await store.apply(ADA, writes, idempotency_key="once")

        assert first == again
        found = existing(await store.side_record(ADA, KIND, "k"))
        assert {"at": 2} == dict(found.value)
        with pytest.raises(ConflictError):
            await store.apply(ADA, [put("k", 5), fact("home")], idempotency_key="once")
