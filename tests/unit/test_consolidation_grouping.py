"""Which memories belong together: by words, by subject, by meaning; and never too many."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation.similarity_groups import (
    GROUP_MAX,
    Group,
    address_of,
    dice,
    groups_of,
    subject_of,
)
from recollect.formation.types import ENTITY, FACT, NOTE
from recollect.records import Json, Memory
from tests.harness.sample_contents import sample_memory

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def memory(key: str, type_: str = "Note", **value: Json) -> Memory:
    """Return a memory in force."""
    return sample_memory(at=NOON, scope=("ada",), type=type_, key=key, value=value)


def note(key: str, content: str, context: str = "") -> Memory:
    """Return a note."""
    return memory(key, context=context, content=content)


def fact(key: str, subject: str, predicate: str, object_: str) -> Memory:
    """Return a fact."""
    return memory(key, "Fact", subject=subject, predicate=predicate, object=object_)


def keys(*memories: Memory) -> list[list[str]]:
    """Return the keys of the groups of some memories."""
    type_ = FACT if memories[0].type == "Fact" else NOTE
    return [[each.key for each in group.memories] for group in groups_of(type_, memories, {})]


@pytest.mark.parametrize(
    ("one", "other", "is_group"),
    [
        ("drinks green tea in the morning", "drinks green tea every morning", True),
        ("prefers window seats on planes", "always books a window seat on a plane", True),
        ("早上喝绿茶", "每天早上喝绿茶", True),
        ("drinks green tea in the morning", "the dog is afraid of thunder", False),
        ("早上喝绿茶", "狗怕打雷", False),
        ("likes tea", "likes chess and long walks by the sea", False),
        ("", "", False),
    ],
)
def test_notes_group_by_their_words(one: str, other: str, *, is_group: bool) -> None:
    assert ([["a", "b"]] if is_group else []) == keys(note("a", one), note("b", other))


def test_a_common_subject_is_no_reason_by_itself() -> None:
    """It lowers the bar, and its own words count for nothing."""
    likes = (
        fact("a", "Ada Lovelace", "likes", "green tea"),
        fact("b", "Ada Lovelace", "likes", "tea"),
    )
    apart = fact("c", "Ada Lovelace", "lives in", "London")
    other = fact("d", "Ben", "likes", "coffee")

    assert [["a", "b"]] == keys(*likes, apart, other)


def test_entities_of_one_name_group() -> None:
    """Whether they are the same is for the model to say."""
    one = memory("a", "Entity", name="Bob", summary="plays the cello")
    other = memory("b", "Entity", name="bob", summary="drives a bus")
    third = memory("c", "Entity", name="Eve", summary="drives a tram")

    (group,) = groups_of(ENTITY, [one, other, third], {})

    assert ["a", "b"] == [each.key for each in group.memories]


def test_a_subject_is_the_first_text_that_stays() -> None:
    assert "ada" == subject_of(FACT, {"subject": "Ada", "predicate": "is in", "object": "Oslo"})
    assert "food" == subject_of(NOTE, {"context": "Food", "content": "no nuts"})
    assert "" == subject_of(NOTE, {"content": "no nuts"})


def test_meaning_groups_what_words_do_not() -> None:
    """Vectors that are near enough join; a text that has none is grouped by its words."""
    one, other, third = (
        note("a", "is vegetarian"),
        note("b", "eats no meat"),
        note("c", "has a dog"),
    )
    near = np.array([0.6, 0.8], dtype=np.float32)
    vectors = {
        address_of(one): near,
        address_of(other): np.array([0.8, 0.6], dtype=np.float32),
        address_of(third): None,
    }

    (group,) = groups_of(NOTE, [one, other, third], vectors)

    assert ["a", "b"] == [each.key for each in group.memories]
    assert [] == groups_of(NOTE, [one, other, third], {})


def test_no_group_is_too_large() -> None:
    """What is less alike begins another group; nobody is in two."""
    notes = [note(f"n{n:02}", "drinks green tea in the morning") for n in range(2 * GROUP_MAX + 3)]

    found = keys(*notes)

    members = [key for group in found for key in group]
    assert max(len(group) for group in found) <= GROUP_MAX
    assert len(set(members)) == len(members)


@given(st.permutations([f"drinks {drink} at {time}" for drink in "ab" for time in "xyz"]))
def test_order_does_not_matter(contents: list[str]) -> None:
    """The same memories make the same groups, whatever the order they come in."""
    notes = [note(each[-1] + each[7], f"drinks a lot of {each}") for each in contents]

    found = groups_of(NOTE, notes, {})

    assert [g.digest for g in groups_of(NOTE, sorted(notes, key=address_of), {})] == [
        g.digest for g in found
    ]


def test_only_words_make_a_digest() -> None:
    """Another version, evidence or letter case is the same group; another word is not."""
    one, other = note("a", "drinks tea"), note("b", "drinks tea too")
    group = Group(type="Note", memories=(one, other))

    def digest(**changed: object) -> str:
        fields: Mapping[str, object] = changed
        again = replace(one, **fields)  # type: ignore[arg-type]
        return Group(type="Note", memories=(other, again)).digest

    assert group.digest == digest(version=7, updated_at=NOON.replace(hour=13))
    assert group.digest == digest(value={"context": "", "content": "Drinks Tea!"})
    assert group.digest != digest(value={"context": "", "content": "drinks water"})
    assert group.digest != digest(key="c")


def test_overlap_is_between_none_and_all() -> None:
    assert (0.0, 1.0, 0.5) == (
        dice(frozenset(), frozenset()),
        dice(frozenset("ab"), frozenset("ab")),
        dice(frozenset("ab"), frozenset("bc")),
    )
