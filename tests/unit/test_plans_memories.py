"""Memories and their history, decision by decision."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError, VersionConflictError
from recollect.records import Evidence, PutMemory
from recollect.stores.in_process.store import Tables
from recollect.stores.plans.changes import read_past
from recollect.stores.plans.evidence import decode_evidence, encode_evidence, evidence_messages
from recollect.stores.plans.memories import check_version, is_expired, is_valid
from recollect.stores.plans.memory_writes import plan_apply
from recollect.stores.plans.prepared_writes import (
    PreparedWrite,
    check_validity,
    prepare_put,
    prepare_write,
)
from recollect.stores.rows import MemoryRow
from recollect.stores.validation import check_time
from recollect.testing import NOON, CountingIds
from recollect.testing.truth_tables import hour
from tests.harness.truth_tables import BELIEFS, VALIDITIES, BeliefCase

SCOPE = ("ada",)
NOW = check_time(NOON, "noon")
PUT = PutMemory(type="Fact", key="home", value={"city": "Oslo"})


def written(*writes: tuple[float, PreparedWrite]) -> Tables:
    """Return the rows after some writes, each at its hour."""
    tables, ids = Tables(), CountingIds()
    for at, write in writes:
        now = check_time(hour(at), "an hour")
        tables.write(plan_apply(tables, SCOPE, [write], None, ids=ids, now=now).effect)
    return tables


def present(tables: Tables) -> MemoryRow:
    """Return the memory that is there."""
    scope = tables.scope(SCOPE)
    found = tables.memory(scope.id, "Fact", "home") if scope else None
    assert found is not None
    return found


ROW = present(written((0, prepare_write(PUT))))


@pytest.mark.parametrize(("begins", "ends", "at", "holds"), VALIDITIES)
def test_what_is_true_then(
    begins: float | None, ends: float | None, at: float, *, holds: bool
) -> None:
    """A memory is true from its beginning, inclusive, until its end, exclusive."""
    row = replace(
        ROW,
        valid_from=None if begins is None else check_time(hour(begins), "its beginning"),
        valid_until=None if ends is None else check_time(hour(ends), "its end"),
    )

    assert holds == is_valid(row, check_time(hour(at), "the moment"))


@pytest.mark.parametrize("case", BELIEFS, ids=lambda case: case.name)
def test_what_was_believed(case: BeliefCase) -> None:
    """A version was believed from when it was written until the next one was."""
    tables = written(*((at, prepare_write(write)) for at, write in case.writes))
    at, now = (check_time(hour(each), "a moment") for each in (case.at, case.asked))

    feed, entries = read_past(tables, SCOPE, at, None, now)

    found = [getattr(entry.content, "version", None) for entry in entries]
    assert ([] if case.version is None else [case.version]) == found
    assert len(found) == len(feed.entries)


@pytest.mark.parametrize(("expires", "expired"), [(None, False), (1, False), (0, True), (-1, True)])
def test_what_has_expired(expires: int | None, *, expired: bool) -> None:
    """A memory has expired from its expiry on."""
    row = replace(ROW, expires_at=None if expires is None else NOW + expires)

    assert expired == is_expired(row, NOW)


@pytest.mark.parametrize(
    ("expected", "actual", "fits"),
    [(None, None, True), (None, 3, True), (0, None, True), (3, 3, True),
     (0, 3, False), (1, None, False), (2, 3, False), (4, 3, False)],
)  # fmt: skip
def test_an_expected_version(expected: int | None, actual: int | None, *, fits: bool) -> None:
    """A write fits if it expects nothing, or the version that is there: 0 is none."""
    write = prepare_put(replace(PUT, expected=expected))
    row = None if actual is None else replace(ROW, version=actual)

    if fits:
        check_version(SCOPE, write, row)
    else:
        with pytest.raises(VersionConflictError, match=f"at version {actual or 0}, not {expected}"):
            check_version(SCOPE, write, row)


@pytest.mark.parametrize(("begins", "ends"), [(None, None), (1, None), (None, 1), (1, 1), (1, 2)])
def test_a_validity_in_order(begins: int | None, ends: int | None) -> None:
    """A validity may be open, or empty."""
    check_validity(begins, ends, "Fact/home")


def test_a_validity_in_disorder() -> None:
    """A validity that ends before it begins is refused."""
    with pytest.raises(UsageError, match="before it begins"):
        check_validity(2, 1, "Fact/home")


letters = st.characters(min_codepoint=33, exclude_categories=["Cs", "Cc"])
names = st.text(letters, min_size=1, max_size=9)
evidence = st.dictionaries(
    st.just("") | names.map(lambda name: f"/{name}"),
    st.lists(
        st.builds(Evidence, thread=names, message=names, quote=st.none() | names), max_size=3
    ).map(tuple),
)


@given(given_evidence=evidence)
def test_evidence_comes_back(given_evidence: dict[str, tuple[Evidence, ...]]) -> None:
    """Evidence that is kept comes back as it was, and its messages are found in it."""
    text = encode_evidence(given_evidence)

    assert given_evidence == decode_evidence(text)
    assert evidence_messages(text) == {
        (each.thread, each.message) for found in given_evidence.values() for each in found
    }
