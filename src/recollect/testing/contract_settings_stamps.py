"""Contract tests for settings stamps: a write fails if settings that it relies on changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

import pytest

from recollect.errors import StaleReadError
from recollect.side_records import SCOPE_SETTINGS, DeleteSideRecord, PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseScope
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import ADA, BOB, TALK, ids_in, said, tell

KEY: Final = "key-1"
_Change: TypeAlias = Callable[[Store], Awaitable[object]]


def setting(city: str) -> PutSideRecord:
    """Return the write of a setting."""
    return PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value={"city": city})


CHANGES: Final[Mapping[str, _Change]] = {
    "put": lambda store: store.apply(ADA, [setting("Rome")]),
    "put elsewhere": lambda store: store.apply(BOB, [setting("Rome")]),
    "append with it": lambda store: store.append(ADA, TALK, [], writes=[setting("Rome")]),
    "delete": lambda store: store.apply(
        ADA, [DeleteSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS)]
    ),
    "erase of all": lambda store: store.erase(ADA, EraseScope()),
}


class StampContract(Contract):
    """Refusing changes based on outdated settings."""

    @pytest.mark.parametrize("change", sorted(CHANGES))
    async def test_a_change_has_another_stamp(self, store: Store, change: str) -> None:
        """Return a number that differs after any change of a setting (`SETTING_KINDS`)."""
        await store.apply(ADA, [setting("Oslo")])
        await tell(store, "m1")
        before = store.settings_stamp()

        await CHANGES[change](store)

        after = store.settings_stamp()
        assert before is None or before != after

    async def test_what_was_read_holds_under_its_stamp(self, store: Store) -> None:
        """Settings read after taking the stamp hold for a change under it (see `acting`)."""
        await store.apply(ADA, [setting("Oslo")])
        stamp = store.settings_stamp()
        if stamp is None:
            return
        await tell(store.acting(KEY, stamp=stamp), "m1")

        await store.apply(ADA, [setting("Rome")])

        with pytest.raises(StaleReadError):
            await tell(store.acting(KEY, stamp=stamp), "m2")
        assert ["m1"] == await ids_in(store)

    async def test_a_change_under_another_stamp_is_refused(self, store: Store) -> None:
        """stamp: Raise `StaleReadError` unless `settings_stamp` still has this value."""
        await store.apply(ADA, [setting("Oslo")])
        kept = await store.side_record(ADA, SCOPE_SETTINGS, SCOPE_SETTINGS)
        acting = store.acting(KEY, stamp=-7)

        with pytest.raises(StaleReadError, match="read them again"):
            await acting.append(ADA, TALK, [said("m1")])
        with pytest.raises(StaleReadError):
            await acting.apply(ADA, [setting("Rome")])

        assert kept == await store.side_record(ADA, SCOPE_SETTINGS, SCOPE_SETTINGS)
        assert await store.thread(ADA, TALK) is None

    async def test_who_acts_has_the_stamp_of_the_store(self, store: Store) -> None:
        """``None`` if the store has no stamp, or nothing was written recently."""
        await store.apply(ADA, [setting("Oslo")])

        assert store.settings_stamp() in {None, store.acting(KEY).settings_stamp()}
