"""The contract notices when derived memories do not follow their sources as they must."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.memory_writes import _Staged
from recollect.stores.remainder import MEMORY_THREAD, Cited
from recollect.testing import FrozenClock, SeededIds
from tests.harness.plan_contracts.derivations import DerivedContract
from tests.harness.plan_contracts.erasure_table import DERIVATIONS, DerivationCase

Found = tuple[Cited, ...]


def all_must_go(found: Found, erased: set[tuple[str, str]]) -> Found | None:
    """Take sources for alternatives, as messages are."""
    left = tuple(each for each in found if (each[0], each[1]) not in erased)
    return None if found and not left else left


def none_counts(found: Found, erased: set[tuple[str, str]]) -> Found | None:
    """Look at messages alone."""
    left = tuple(each for each in found if (each[0], each[1]) not in erased)
    said = [each for each in found if each[0] != MEMORY_THREAD]
    return None if said and all((each[0], each[1]) in erased for each in said) else left


MUTANTS: dict[str, tuple[str, object, int]] = {
    "sources are alternatives": ("recollect.stores.remainder._left_of", all_must_go, 0),
    "sources are not followed": ("recollect.stores.remainder._left_of", none_counts, 3),
    "an erase brings nothing back": (
        "recollect.stores.plans.erasure.replaced_by", lambda *_: [], 0,
    ),
    "a deletion brings nothing back": (
        "recollect.stores.plans.memory_writes.replaced_by", lambda *_: [], 4,
    ),
    "deletions are not followed": (
        "recollect.stores.plans.memory_writes._Staged._remove_derived", lambda *_: None, 4,
    ),
    "rejections are not followed": (
        "recollect.stores.plans.memory_writes._Staged._remove_derived", lambda *_: None, 5,
    ),
}  # fmt: skip
RACES: dict[str, tuple[str, Callable[..., Awaitable[None]]]] = {
    "a source need not be there": ("_check_sources", DerivedContract.test_a_source_must_be_there),
}


def hold(promise: Callable[..., Awaitable[None]], **given: object) -> None:
    """Run one test of the contract with a new store in memory."""

    async def held() -> None:
        clock = FrozenClock()
        async with InProcessStore(clock=clock, ids=SeededIds(1)) as store:
            known: dict[str, object] = {"clock": clock} if given else {}
            await promise(None, store=store, **known, **given)

    asyncio.run(held())


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_rule_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A case of the table holds for the store as it is, and not with the wrong rule."""
    place, wrong, at = MUTANTS[name]
    case: DerivationCase = DERIVATIONS[at]
    promise = DerivedContract.test_derived_memories_follow_their_sources
    hold(promise, case=case)
    monkeypatch.setattr(place, wrong)

    with pytest.raises(AssertionError):
        hold(promise, case=case)


@pytest.mark.parametrize("name", RACES)
def test_a_missing_check_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What is checked when a derived memory is written is missed by its test."""
    method, promise = RACES[name]
    hold(promise)
    monkeypatch.setattr(_Staged, method, lambda *_: None)

    with pytest.raises(pytest.fail.Exception):
        hold(promise)
