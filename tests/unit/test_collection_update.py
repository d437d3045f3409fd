"""A collection that was brought up to date is the one that would be collected anew."""

from random import Random
from typing import Any

import numpy as np
import pytest

from recollect.recall import collection_update
from recollect.recall.candidates import COLUMNS, SCATTERED_FROM, Collection
from recollect.recall.collection_update import updated
from recollect.recall.eligibility import Eligibility, EligibilityPeriod, eligibility_period
from recollect.recall.scope_index import ScopeIndex
from tests.unit.test_collection import (
    EVERYTHING,
    TEXTS,
    assert_alike,
    index_of,
    noted,
    said,
    scores_of,
)

SCOPES = 20
LATER = Eligibility(now=EVERYTHING.now + 50, valid_at=EVERYTHING.now + 50)


def scope_index(number: int, choose: Random, **note: Any) -> ScopeIndex:
    """Return an index of some messages and a memory, one of them without a vector."""
    texts = choose.sample(TEXTS, 4)
    entries = [said(number * 100 + at, text) for at, text in enumerate(texts)]
    entries[1] = entries[1]._replace(vector=None, session="later")
    return index_of([*entries, noted(number * 100 + 50, texts[0], **note)], (f"{number:03}",))


def sorted_by_scope(indexes: list[ScopeIndex]) -> list[ScopeIndex]:
    return sorted(indexes, key=lambda each: each.scope)


def collected(indexes: list[ScopeIndex], wanted: Eligibility = EVERYTHING) -> Collection:
    """Collect anew."""
    made = Collection(indexes, [wanted] * len(indexes))
    made.period = eligibility_period(indexes, wanted)
    return made


def assert_same(known: Collection, indexes: list[ScopeIndex]) -> Collection:
    """Compare the columns and the scores of the updated collection with those of a new one."""
    made, new = updated(known, indexes, EVERYTHING), collected(indexes)
    assert made is not None
    for name in COLUMNS:
        assert np.array_equal(getattr(new, name), getattr(made, name)), name
    assert new.participants == made.participants
    assert new.eligible == made.eligible
    assert_alike(scores_of(new), scores_of(made))
    return made


def changed(indexes: list[ScopeIndex], choose: Random, newest: int) -> list[ScopeIndex]:
    """Change one scope, drop another, and add a new one in the middle."""
    kept = indexes.copy()
    at = choose.randrange(len(kept))
    number = int(kept[at].scope[0])
    kept[at] = scope_index(number, choose)
    kept.pop(choose.randrange(len(kept)))
    return sorted_by_scope([*kept, scope_index(newest, choose)])


@pytest.mark.parametrize("is_joined", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_an_updated_collection_is_a_new_one(seed: int, *, is_joined: bool) -> None:
    choose = Random(seed)  # noqa: S311 (repeatable)
    indexes = [scope_index(number * 2, choose) for number in range(SCOPES)]
    known = collected(indexes)
    if is_joined:
        known = known.joined()

    for step in range(6):
        indexes = changed(indexes, choose, newest=2 * choose.randrange(SCOPES) + 1 + 100 * step)
        known = assert_same(known, indexes)
        assert len(known.slices) < SCATTERED_FROM + 2


def test_what_stays_is_the_very_same() -> None:
    """Without a change nothing is left out or added."""
    indexes = [scope_index(number, Random(number)) for number in range(SCOPES)]  # noqa: S311

    assert_same(collected(indexes).joined(), indexes)


@pytest.mark.parametrize("is_joined", [False, True])
def test_a_scope_without_eligible_entries_may_change(*, is_joined: bool) -> None:
    """A new scope of messages, where memories are searched; and scopes that hold none before."""
    choose = Random(5)  # noqa: S311 (repeatable)
    notes = Eligibility(now=EVERYTHING.now, messages=False)
    talks = [index_of([said(n, TEXTS[0])], (f"{n:03}",)) for n in range(1, SCOPES)]

    for before, after in (
        ([scope_index(n, choose) for n in range(SCOPES)], [*talks[:1]]),
        (talks, [scope_index(500, choose)]),
        (talks, [index_of([said(900, TEXTS[1])], ("900",))]),
    ):
        known = collected(before, notes)
        known = known.joined() if is_joined else known
        indexes = sorted_by_scope([*before[2:], *after])
        made, new = updated(known, indexes, notes), collected(indexes, notes)

        assert made is not None
        assert new.uid.tolist() == made.uid.tolist()
        assert_alike(scores_of(new), scores_of(made))


@pytest.mark.parametrize(
    ("scopes", "changes"), [(collection_update.SCOPES_MIN - 1, 0), (SCOPES, SCOPES // 4)]
)
def test_few_scopes_and_many_changes_are_collected_anew(scopes: int, changes: int) -> None:
    choose = Random(7)  # noqa: S311 (repeatable)
    indexes = [scope_index(number, choose) for number in range(scopes)]
    known = collected(indexes)
    indexes[:changes] = [scope_index(number, choose) for number in range(changes)]

    assert updated(known, indexes, EVERYTHING) is None


def test_what_time_changes_is_collected_anew() -> None:
    """A memory that ends at 1,020 was true at 1,000 and is not at 1,050."""
    choose = Random(3)  # noqa: S311 (repeatable)
    at = Eligibility(now=EVERYTHING.now, valid_at=EVERYTHING.now)
    indexes = [scope_index(number, choose) for number in range(SCOPES)]
    known = collected(indexes, at)
    indexes[4] = scope_index(4, choose, valid_until=EVERYTHING.now + 20)

    made = updated(known, indexes, at)

    assert made is not None
    assert made.period.includes(at)
    assert not made.period.includes(LATER)
    assert updated(made, indexes, LATER) is None
    assert len(collected(indexes, LATER)) == len(made) - 1


@pytest.mark.parametrize(
    ("note", "since", "until"),
    [
        ({"expires_at": 1_010}, None, 1_010),
        ({"valid_until": 1_010}, None, 1_010),
        ({"valid_from": 1_010}, None, 1_010),
        ({"valid_from": 990, "valid_until": 1_010, "expires_at": 1_005}, 990, 1_005),
        ({"state": "quarantined"}, None, None),
    ],
)
def test_a_period_ends_when_an_entry_begins_or_ends(
    note: dict[str, Any], since: int | None, until: int | None
) -> None:
    """Its first and last moment select what the moment in it did; those beside it others."""
    indexes = [index_of([said(1, TEXTS[0]), noted(2, TEXTS[1], **note)])]

    def at(time: int) -> Eligibility:
        return Eligibility(now=time, valid_at=time)

    def eligible(time: int) -> list[int]:
        uids: list[int] = Collection(indexes, [at(time)]).uid.tolist()
        return uids

    period = eligibility_period(indexes, at(1_000))

    for time in (*range(985, 1_015), 0, 10**15):
        inside = (since is None or since <= time) and (until is None or time < until)
        assert period.includes(at(time)) == inside, time
        assert not inside or eligible(time) == eligible(1_000)


def test_memories_of_any_time_are_those_of_no_moment() -> None:
    """Unless none begins or ends: then they are the same."""
    ever, now = Eligibility(now=1_000), Eligibility(now=1_000, valid_at=1_000)
    dated = [index_of([noted(2, TEXTS[1], valid_until=1_010)])]
    undated = [index_of([noted(2, TEXTS[1], expires_at=2_000)])]

    assert not eligibility_period(dated, now).includes(ever)
    assert not eligibility_period(dated, ever).includes(now)
    assert eligibility_period(dated, ever).includes(ever)
    assert eligibility_period(undated, now).includes(ever)
    assert eligibility_period(undated, ever).includes(now)


def test_a_period_that_never_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above fails for who holds a memory for true that has ended."""
    monkeypatch.setattr(EligibilityPeriod, "includes", lambda _self, _wanted: True)

    with pytest.raises(AssertionError):
        test_what_time_changes_is_collected_anew()
