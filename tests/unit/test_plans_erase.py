"""What goes with what: the truth table of erasing, and laws that hold for every document."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records import Json, JsonObject
from recollect.stores.remainder import (
    Cited,
    Remainder,
    Sources,
    group_of,
    remainder_of,
    split_pointer,
)
from tests.harness.plan_contracts.erasure_table import ERASURES, ErasureCase, named

MESSAGES = ("m1", "m2", "m3")
CITED = (*MESSAGES, "m1#1", "m2#1", "m3#1", "m2#2", "m3#2")


def sources(evidence: Mapping[str, tuple[str, ...]]) -> Sources:
    """Return evidence in messages of one thread."""
    return {at: tuple(map(_cited, ids)) for at, ids in evidence.items()}


def _cited(message: str) -> Cited:
    id_, group = named(message)
    return ("t", id_, None, group) if group else ("t", id_, None)


def erased(*ids: str) -> set[tuple[str, str]]:
    """Return messages of one thread."""
    return {("t", id_) for id_ in ids}


@pytest.mark.parametrize("case", ERASURES, ids=lambda case: case.name)
def test_what_is_left(case: ErasureCase) -> None:
    """A field goes when every message that it rests on is erased."""
    left = remainder_of(case.value, sources(case.evidence), erased(*case.erased))

    if case.left is None:
        assert left is None
    else:
        assert Remainder(case.left, sources(case.left_evidence)) == left


scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a", "b"])
values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "0", "~/"]), inner, max_size=3)
    ),
    max_leaves=8,
)
documents = st.dictionaries(st.sampled_from(["x", "y", "0", "~/"]), values, min_size=1, max_size=3)


def pointers_in(value: Json, at: str = "") -> list[str]:
    """Return the pointers to everything in *value*."""
    if isinstance(value, Mapping):
        steps = [(name.replace("~", "~0").replace("/", "~1"), each) for name, each in value.items()]
    elif isinstance(value, list):
        steps = [(str(place), each) for place, each in enumerate(value)]
    else:
        steps = []
    return [at, *(found for step, each in steps for found in pointers_in(each, f"{at}/{step}"))]


@st.composite
def founded(draw: st.DrawFn) -> tuple[JsonObject, Sources]:
    """Draw a document, with evidence for some of its parts."""
    document = draw(documents)
    parts = st.sampled_from(pointers_in(document))
    ids = st.lists(st.sampled_from(CITED), min_size=1, max_size=4, unique=True)
    return document, sources({at: tuple(draw(ids)) for at in draw(st.sets(parts, max_size=5))})


def enough_of(found: tuple[Cited, ...]) -> list[set[tuple[str, str]]]:
    """Return the sets of messages of which each is enough for a part."""
    groups = {group_of(each) for each in found} - {0}
    alone = [{(each[0], each[1])} for each in found if not group_of(each)]
    return [*alone, *({(e[0], e[1]) for e in found if group_of(e) == group} for group in groups)]


some = st.sets(st.sampled_from(MESSAGES), max_size=3).map(lambda ids: erased(*ids))


@given(memory=founded())
def test_nothing_erased_takes_nothing(memory: tuple[JsonObject, Sources]) -> None:
    """Without an erased message all is left as it was."""
    assert Remainder(*memory) == remainder_of(*memory, set())


@given(memory=founded(), gone=some)
def test_no_trace_of_the_erased_is_left(
    memory: tuple[JsonObject, Sources], gone: set[tuple[str, str]]
) -> None:
    """What is left names none of the erased messages."""
    left = remainder_of(*memory, gone)

    named = {(t, m) for found in (left.evidence if left else {}).values() for t, m, *_ in found}
    assert set() == named & gone


@given(memory=founded(), gone=some)
def test_what_is_left_rests_on_something(
    memory: tuple[JsonObject, Sources], gone: set[tuple[str, str]]
) -> None:
    """Every evidence that is left is for a part that is there, and has a message."""
    left = remainder_of(*memory, gone)

    if left:
        assert left.evidence.keys() <= set(pointers_in(left.value))
        assert all(left.evidence.values())


@given(memory=founded(), one=some, other=some)
def test_erasing_in_two_steps_is_erasing(
    memory: tuple[JsonObject, Sources], one: set[tuple[str, str]], other: set[tuple[str, str]]
) -> None:
    """It makes no difference whether messages are erased one after the other, or together."""
    first = remainder_of(*memory, one)
    stepwise = remainder_of(first.value, first.evidence, other) if first else None

    assert remainder_of(*memory, one | other) == stepwise


@given(memory=founded(), gone=some)
def test_only_the_unfounded_goes(
    memory: tuple[JsonObject, Sources], gone: set[tuple[str, str]]
) -> None:
    """A document of which no part lost all its messages keeps its whole value."""
    document, evidence = memory
    lost = [
        at
        for at, found in evidence.items()
        if not any(enough.isdisjoint(gone) for enough in enough_of(found))
    ]
    left = remainder_of(document, evidence, gone)

    if not lost:
        assert left is not None
        assert document == left.value
    if "" in lost:
        assert left is None


@pytest.mark.parametrize(
    ("pointer", "steps"),
    [("", ()), ("/", ("",)), ("/a", ("a",)), ("/a~1b/~0", ("a/b", "~")), ("/~01", ("~1",))],
)
def test_pointers_are_read_as_written(pointer: str, steps: tuple[str, ...]) -> None:
    """A pointer is read as RFC 6901 says."""
    assert steps == split_pointer(pointer)
