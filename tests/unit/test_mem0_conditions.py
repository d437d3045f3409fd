"""mem0's filters, its owners and its ids: pure."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import LimitError, NotFoundError, UsageError
from recollect.importers.mem0 import OWNERS
from recollect.server.mem0.filters import holds, owner_named, read_conditions
from recollect.server.mem0.owners import (
    SEGMENT_OF,
    address_of,
    owners_of,
    parts_of,
    segments_of,
    written_id,
)
from recollect.server.mem0.request_schemas import end_of_day

ROW: dict[str, Any] = {
    "id": "1",
    "memory": "Ada likes Green Tea",
    "user_id": "ada",
    "agent_id": None,
    "app_id": None,
    "run_id": "r1",
    "metadata": {"topic": "drinks", "n": 3, "tags": ["hot", "daily"]},
    "categories": ["food", "habits"],
    "created_at": "2026-05-01T12:00:00+00:00",
    "updated_at": "2026-05-03T12:00:00+00:00",
}
HOLD: list[dict[str, Any]] = [
    {},
    {"user_id": "ada"},
    {"AND": [{"user_id": "ada"}, {"run_id": "*"}]},
    {"OR": [{"user_id": "bob"}, {"run_id": "r1"}]},
    {"NOT": [{"user_id": "bob"}, {"agent_id": "*"}]},
    {"NOT": {"user_id": "bob"}},
    {"user_id": {"in": ["ada", "bob"]}},
    {"user_id": {"ne": "bob"}, "run_id": {"nin": ["r2"]}},
    {"metadata": {"topic": "drinks"}},
    {"metadata": {"n": {"gt": 2, "lte": 3}}},
    {"metadata": {"tags": {"contains": "hot"}}},
    {"metadata": {"topic": {"icontains": "DRINK"}}},
    {"categories": {"in": ["food", "work"]}},
    {"categories": {"contains": "habits"}},
    {"created_at": {"gte": "2026-05-01", "lt": "2026-05-02"}},
    {"created_at": {"gt": 0}},
    {"created_at": "2026-05-01T14:00:00+02:00"},
    {"keywords": "green tea"},
    {"keywords": {"icontains": "GREEN"}},
]
HOLD_NOT: list[dict[str, Any]] = [
    {"user_id": "bob"},
    {"agent_id": "*"},
    {"AND": [{"user_id": "ada"}, {"run_id": "r2"}]},
    {"OR": []},
    {"OR": [{"user_id": "bob"}]},
    {"NOT": [{"user_id": "ada"}]},
    {"user_id": {"in": []}},
    {"metadata": {"topic": "food"}},
    {"metadata": {"missing": {"gt": 0}}},
    {"metadata": {"n": {"gt": "2"}}},
    {"metadata": {"topic": {"contains": "DRINK"}}},
    {"categories": {"in": ["work"]}},
    {"created_at": {"gte": "2026-05-02"}},
    {"keywords": {"contains": "green tea"}},
]
WRONG: list[Any] = [
    {"user": "ada"},
    {"user_id": {"like": "a"}},
    {"user_id": {"in": "ada"}},
    {"AND": {"user_id": "ada"}},
    {"AND": "x"},
    {"OR": ["x"]},
    {"metadata": "x"},
    {"metadata": {"n": {"$gt": 2}}},
    {"created_at": {"gte": "yesterday"}},
    {"created_at": None},
    {"keywords": {"icontains": 3}},
]


@pytest.mark.parametrize("given_", HOLD, ids=str)
def test_conditions_that_hold(given_: dict[str, Any]) -> None:
    assert holds(read_conditions(given_), ROW)


@pytest.mark.parametrize("given_", HOLD_NOT, ids=str)
def test_conditions_that_do_not_hold(given_: dict[str, Any]) -> None:
    assert not holds(read_conditions(given_), ROW)


@pytest.mark.parametrize("given_", WRONG, ids=str)
def test_conditions_that_mean_nothing_are_refused(given_: Any) -> None:
    with pytest.raises(UsageError):
        read_conditions(given_)


def test_too_many_conditions_are_refused() -> None:
    with pytest.raises(LimitError, match="CONDITIONS_MAX"):
        read_conditions({"OR": [{"user_id": str(n)} for n in range(51)]})


@pytest.mark.parametrize(
    ("given_", "owner"),
    [
        ({"user_id": "ada"}, "ada"),
        ({"AND": [{"run_id": "r"}, {"AND": [{"user_id": "ada"}]}]}, "ada"),
        ({"OR": [{"user_id": "ada"}, {"user_id": "ada", "run_id": "r"}]}, "ada"),
        ({"OR": [{"user_id": "ada"}, {"user_id": "bob"}]}, None),
        ({"OR": [{"user_id": "ada"}, {"run_id": "r"}]}, None),
        ({"NOT": [{"user_id": "ada"}]}, None),
        ({"user_id": "*"}, None),
        ({"user_id": {"in": ["ada"]}}, None),
        ({}, None),
    ],
)
def test_one_owner_of_all_matches_is_seen(given_: dict[str, Any], owner: str | None) -> None:
    """Only where nobody else's memory could match: so far a search need not look."""
    assert owner == owner_named(read_conditions(given_), "user_id")


NAMES = st.text(min_size=1, max_size=5)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(("user_id", "agent_id", "run_id"), NAMES)))
def test_owners_and_their_scopes_say_the_same(owners: dict[str, str]) -> None:
    """Whatever the names are."""
    assert (owners or None) == owners_of(segments_of(owners))


@given(st.lists(NAMES, max_size=7))
def test_a_scope_names_owners_in_one_way_only(segments: list[str]) -> None:
    found = owners_of(tuple(segments))

    assert found is None or tuple(segments) == segments_of(found)


@given(NAMES, NAMES)
def test_an_id_names_its_address(user: str, key: str) -> None:
    id_ = written_id("users", user, "Note", key)

    assert (("users", user), "Note", key) == address_of(id_)
    assert id_.replace("-", "").replace("_", "").isalnum()


@given(st.text() | st.lists(st.integers() | st.text()).map(lambda parts: written_id(*parts)))
def test_what_is_no_id_has_no_memory(id_: str) -> None:
    """Nothing but `NotFoundError` comes of it; no id leads out of the scopes of owners."""
    try:
        segments, _, _ = address_of(id_)
    except NotFoundError:
        return
    assert owners_of(segments)


def test_a_deep_id_is_none() -> None:
    assert [] == parts_of("W1tb" * 100_000)


@pytest.mark.parametrize(
    ("written", "ends"),
    [
        (None, None),
        ("", None),
        ("2026-12-31", "2027-01-01T00:00:00+00:00"),
        ("20261231", "2027-01-01T00:00:00+00:00"),
        ("2026-W53", "2027-01-04T00:00:00+00:00"),
        ("2026-W53-4", "2027-01-01T00:00:00+00:00"),
        ("2026-12-31T10:00:00", "2026-12-31T10:00:00+00:00"),
        ("2026-12-31T10:00:00+02:00", "2026-12-31T10:00:00+02:00"),
    ],
)
def test_a_day_ends_when_it_is_over(written: str | None, ends: str | None) -> None:
    found = end_of_day(written)

    assert ends == (found and found.isoformat())


@pytest.mark.parametrize("written", ["soon", "2026-13-01", "9999-12-31", "2026-10", "2026"])
def test_what_is_no_day_is_refused(written: str) -> None:
    with pytest.raises(UsageError):
        end_of_day(written)


def test_the_service_and_the_importer_agree_on_the_scopes_of_owners() -> None:
    """An imported memory is found by mem0's client."""
    assert SEGMENT_OF.items() <= dict(OWNERS).items()
