"""Names, aliases and typed values: what is the same, and what is not."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import LimitError, UsageError
from recollect.graph.aliases import aliases_of
from recollect.graph.name_equality import NAME_CHARACTERS_MAX, clean_name, name_key
from recollect.graph.values import NewFact, Value, value_text, written


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sam", "sam"),
        ("Sam Smith", " sam\n SMITH"),
        ("Sam", "\uff33\uff41\uff4d"),
        ("Sam Smith", "Sam\u3000Smith"),
        ("张伟", "张 伟"),
        ("STRASSE", "straße"),
        ("Zoe\u0308", "Zoë"),
        ("Sam", "S\u200bam"),
    ],
)
def test_a_name_is_known_in_every_writing(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C++"), ("C++", "C#"), ("Jose", "José"), ("Sam", "Sam."), ("a b", "ab"), ("张", "章")],
)
def test_what_differs_in_more_than_writing_is_another_name(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    """Names made of keys, as an export has them, are matched as the names were."""
    assert name_key(name) == name_key(name_key(name))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_a_cleaned_name_is_on_one_line_and_the_same_name(name: str) -> None:
    try:
        cleaned = clean_name(name, "a name")
    except UsageError:
        return

    assert [cleaned] == cleaned.splitlines()
    assert cleaned == clean_name(cleaned, "a name")


@pytest.mark.parametrize("name", ["", "   ", "\n\t", "\u200b\u200d", "\x01"])
def test_a_name_that_nobody_could_read_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="give a name"):
        clean_name(name, "a subject")


def test_a_name_of_endless_length_is_refused() -> None:
    with pytest.raises(LimitError, match="NAME_CHARACTERS_MAX is 1000"):
        clean_name("a" * (NAME_CHARACTERS_MAX + 1), "a subject")


def test_aliases_that_claim_each_other_are_one_entity_under_the_oldest_name() -> None:
    found = aliases_of([("bob", ["robert"]), ("robert", ["bob"])])

    assert ("bob", "bob") == (found.key_of("robert"), found.key_of("bob"))


def test_an_alias_of_two_entities_is_nobodys() -> None:
    found = aliases_of([("samuel", ["sam"]), ("samantha", ["sam"])])

    assert "sam" == found.key_of("sam")
    assert frozenset({"samuel"}) == found.names_of("samuel")


def test_an_alias_on_which_the_memories_of_one_entity_agree_is_its() -> None:
    found = aliases_of([("samuel", ["sam", "sammy"]), ("sammy", ["sam"])])

    assert "samuel" == found.key_of("sam")


KEYS = st.sampled_from("abcde")


@given(st.lists(st.tuples(KEYS, st.lists(KEYS, max_size=3)), max_size=6))
def test_aliases_part_the_names_into_entities(claims: list[tuple[str, list[str]]]) -> None:
    """Whatever is claimed: each name has one entity, whose own name that is."""
    found = aliases_of(claims)

    for name in "abcde":
        root = found.key_of(name)
        assert root == found.key_of(root)
        assert name in found.names_of(root)
        assert {found.key_of(each) for each in found.names_of(root)} == {root}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (42, (42, "number")),
        (4.5, (4.5, "number")),
        (True, (True, "boolean")),
        (date(2026, 3, 31), ("2026-03-31", "date")),
        (datetime(2026, 3, 31, tzinfo=UTC), ("2026-03-31T00:00:00+00:00", "time")),
        ("Oslo", ("Oslo", "entity")),
    ],
)
def test_a_value_says_of_which_type_it_is(value: Value, expected: tuple[object, str]) -> None:
    assert expected == written(NewFact(subject="Sam", predicate="is", object=value))


def test_a_time_without_a_zone_is_refused() -> None:
    naive = datetime(2026, 3, 31, tzinfo=UTC).replace(tzinfo=None)

    with pytest.raises(UsageError, match="has no zone"):
        written(NewFact(subject="Sam", predicate="born at", object=naive))


def test_a_truth_is_shown_in_words() -> None:
    truth: Value = True

    assert ("true", "1") == (value_text(truth), value_text(1))
