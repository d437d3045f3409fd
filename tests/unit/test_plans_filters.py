"""Filters: the truth table, and laws that hold for every document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import LimitError, UsageError
from recollect.records import Json, JsonObject
from recollect.stores.filters import CONDITIONS_MAX, equal, matches, read_filter
from recollect.testing.truth_tables import FILTERS
from tests.harness.truth_tables import ILLEGAL_FILTERS

scalars: st.SearchStrategy[Json] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.0, -0.0, 1.0, 0.5]),
    st.sampled_from(["", "a", "ab", "1", "true"]),
)
values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2)
    ),
    max_leaves=5,
)
documents = st.dictionaries(st.sampled_from(["a", "b", "a.x"]), values, max_size=3)


def holds(filter_: JsonObject, document: JsonObject) -> bool:
    """Return True if *document* satisfies *filter_*."""
    return matches(read_filter(filter_), document)


@pytest.mark.parametrize(
    ("filter_", "document", "wanted"), FILTERS, ids=lambda each: ascii(each)[:40]
)
def test_what_satisfies_a_filter(
    filter_: JsonObject, document: JsonObject, *, wanted: bool
) -> None:
    """The truth table holds."""
    assert wanted == holds(filter_, document)


@pytest.mark.parametrize("filter_", ILLEGAL_FILTERS, ids=lambda each: ascii(each)[:40])
def test_what_is_no_filter(filter_: JsonObject) -> None:
    """What asks for nothing that can be answered is refused."""
    with pytest.raises(UsageError):
        read_filter(filter_)


def test_an_operator_below_a_field_is_told_its_place() -> None:
    """As equality with such an object it would find nothing, and say nothing."""
    with pytest.raises(UsageError, match=r"name its field whole, as 'a\.b\.c'"):
        read_filter({"a": {"b": {"c": {"$gt": 1}}}})

    assert holds({"a": {"$eq": {"b": {"$gt": 1}}}}, {"a": {"b": {"$gt": 1}}})
    assert holds({"a.b.c": {"$gt": 1}}, {"a": {"b": {"c": 2}}})


def test_conditions_have_a_limit() -> None:
    """A filter has ``CONDITIONS_MAX`` conditions at most, operators of one field included."""
    operators = {"$gt": 1, "$lt": 2}
    fields = {f"f{number}": operators for number in range(CONDITIONS_MAX // 2)}

    assert CONDITIONS_MAX == len(read_filter(fields))
    with pytest.raises(LimitError, match="CONDITIONS_MAX"):
        read_filter({**fields, "one": 1})


@pytest.mark.parametrize("filter_", ["a", ["a"], None, 5])
def test_a_filter_is_an_object(filter_: object) -> None:
    """What is no object is no filter."""
    with pytest.raises(UsageError, match="object"):
        read_filter(filter_)  # type: ignore[arg-type]


@given(document=documents, operand=values)
def test_unequal_is_the_opposite_of_equal(document: JsonObject, operand: Json) -> None:
    """``$ne`` holds exactly where ``$eq`` does not."""
    assert holds({"a": {"$ne": operand}}, document) != holds({"a": {"$eq": operand}}, document)


@given(document=documents, operands=st.lists(values, max_size=3))
def test_one_of_several_is_equal_to_one(document: JsonObject, operands: list[Json]) -> None:
    """``$in`` holds exactly where the field equals one of the values."""
    wanted = any(holds({"a": {"$eq": each}}, document) for each in operands)

    assert wanted == holds({"a": {"$in": operands}}, document)


@given(document=documents, operand=values)
def test_order_is_of_one_kind(document: JsonObject, operand: Json) -> None:
    """Of less, equal and greater one holds between numbers or texts, and else no order does."""
    less, greater = (holds({"a": {each: operand}}, document) for each in ("$lt", "$gt"))
    same = holds({"a": {"$eq": operand}}, document)
    less_or_same = holds({"a": {"$lte": operand}}, document)

    assert less + greater + same <= 1
    assert not less_or_same or less or same
    assert not (less and isinstance(operand, bool | list | dict | None))


@given(one=values, other=values)
def test_equality_is_mutual(one: Json, other: Json) -> None:
    """Equality holds in both directions, and of each value with itself."""
    assert equal(one, other) == equal(other, one)
    assert equal(one, one)


@given(document=documents, one=documents, other=documents)
def test_all_conditions_must_hold(document: JsonObject, one: JsonObject, other: JsonObject) -> None:
    """Two filters on different fields, put together, hold where both do."""
    fields = {name: value for name, value in other.items() if name not in one}

    together = holds({**one, **fields}, document)

    assert together == (holds(one, document) and holds(fields, document))
