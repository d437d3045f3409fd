"""When two values are the same, and the keys that are made of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation.types import FACT, NOTE, USER
from recollect.formation.value_identity import (
    changing_keys,
    content_key,
    field_key,
    field_keys,
    normalised,
    owner_of,
    proposal_key,
    required_fields,
    same_in,
    same_text,
)
from recollect.records import Json, JsonObject
from recollect.stores.proposal_names import (
    PROPOSED_CHARACTERS_MAX,
    is_named,
    is_shortened,
    proposed_for,
)
from recollect.stores.validation import ID_CHARACTERS_MAX, check_id

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea", "i LIKE  tea!"),
        ("\uff34\uff25\uff21", "tea"),
        ("Straße", "STRASSE"),
        ("don't", "don t"),
        ("我喜欢茶。", "我喜欢茶"),
        ("\ufb01ne", "fine"),
        (" a\tb\n", "a b"),
        ("snake_case", "snake case"),
        ("2020-2021", "2020 - 2021"),
        ("#1, `code`", "1 code"),
        ("\u22125", "-5"),
        ("I \u2764\ufe0f NY", "I \u2764 NY"),
        ("मेरा घर।", "मेरा, घर"),
    ],
)
def test_equal_words_are_equal(one: str, other: str) -> None:
    """Case, width, punctuation and white space do not count."""
    assert normalised(one) == normalised(other)
    assert content_key({"a": one}) == content_key({"a": other})
    assert field_key("/a", one) == field_key("/a", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tea", "teas"),
        ("café", "cafe"),
        ("3", "4"),
        ("茶", "茶叶"),
        ("", "a"),
        ("programs in C", "programs in C++"),
        ("C#", "C"),
        ("at -5 degrees", "at 5 degrees"),
        ("(-5)", "(5)"),
        ("5%", "5"),
        ("$5", "€5"),
        ("felt 😀", "felt 😢"),
        ("दिन", "दान"),
        ("กิน", "กัน"),
        ("मेरा", "मारा"),
    ],
)
def test_other_words_are_others(one: str, other: str) -> None:
    assert not same_text({"a": one}, {"a": other})
    assert content_key({"a": one}) != content_key({"a": other})


def test_only_what_would_change_is_known_of_a_proposal() -> None:
    """The places of a list are alike; one for an entry is known as a whole as well."""
    known: JsonObject = {"home": "Bergen", "pets": ["Mia"]}
    value: JsonObject = {"home": "Lima", "pets": ["Tom", "mia"]}

    of_document = {field_key("/home", "Lima"), field_key("/pets/0", "Tom")}
    assert of_document == changing_keys("User", "User", value, known)
    of_entry = {field_key("/home", "Lima", "n1"), field_key("/pets/0", "Tom", "n1")}
    assert {content_key(value), *of_entry} == changing_keys("Note", "n1", value, known)
    assert set() == changing_keys("Note", "n1", known, known)


@given(TEXTS)
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalised(text) == normalised(normalised(text))


@given(st.dictionaries(TEXTS, TEXTS, max_size=4), TEXTS)
def test_every_key_can_name_a_memory(value: JsonObject, text: str) -> None:
    """Whatever a value holds."""
    for key in (content_key(value), field_key(f"/{text}", text), proposal_key("User", 3, value)):
        check_id(key, "a key")


def test_a_field_is_known_by_its_place_and_value() -> None:
    """But not by its place in a list."""
    assert field_key("/interests/0", "tea") == field_key("/interests/12", "tea")
    assert field_key("/interests/-", "tea") == field_key("/interests/0", "tea")
    assert field_key("/a/0/name", "tea") == field_key("/a/1/name", "tea")
    assert field_key("/home", "tea") != field_key("/work", "tea")
    assert field_key("/a0", "tea") != field_key("/a1", "tea")


def test_every_leaf_has_a_key() -> None:
    """At its pointer, under where the value is to stand."""
    value: Json = {"b": ["x", {"c": 1}]}

    assert [("/a/b/0", field_key("/a/b/0", "x")), ("/a/b/1/c", field_key("/a/b/1/c", 1))] == list(
        field_keys(value, "/a")
    )


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("User~3~abc", ("User", 3)), ("a~b~12~abc", ("a~b", 12)), ("User~0~abc", ("User", 0)),
        ("User", None), ("User~3", None), ("User~x~abc", None), ("~3~abc", None), ("User~3~", None),
    ],
)  # fmt: skip
def test_a_proposal_names_what_it_is_for(key: str, found: tuple[str, int] | None) -> None:
    """And nothing else is taken for one."""
    assert found == proposed_for(key)


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_~-]{0,20}", fullmatch=True), st.integers(0, 10**9))
def test_a_proposal_leads_back_to_its_memory(name: str, version: int) -> None:
    assert (name, version) == proposed_for(proposal_key(name, version, {"a": "b"}))


@given(st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=256))
def test_a_proposal_for_a_long_key_is_a_key_itself(key: str) -> None:
    """It names the one memory that it is for, whose key it may hold in short."""
    proposal = proposal_key(key, 10**15, {"a": "b"})

    found = proposed_for(proposal)

    assert ID_CHARACTERS_MAX >= len(proposal)
    assert found is not None
    assert (True, False) == (is_named(found[0], key), is_named(found[0], f"{key}x"))
    assert (len(key) > PROPOSED_CHARACTERS_MAX) <= is_shortened(found[0])
    assert found[0] == key or is_shortened(found[0])


def test_two_long_keys_do_not_meet_in_a_proposal() -> None:
    """Though they begin alike."""
    keys = ["k" * 255 + end for end in "ab"]

    assert 2 == len({proposal_key(key, 1, {"a": "b"}) for key in keys})


def test_a_refused_field_has_a_key_for_each_entry() -> None:
    """And one for the only document of a type."""
    keys = {field_key("/content", "tea", owner) for owner in ("", "n1", "n2")}

    assert 3 == len(keys)
    assert ("", "n1") == (owner_of("User", "User"), owner_of("Note", "n1"))


def test_what_identifies_is_compared_alone() -> None:
    """In the same words; what both lack is alike."""
    one: JsonObject = {"subject": "Ada", "object": "Oslo"}
    other: JsonObject = {"subject": "ADA!", "object": "Bergen"}

    assert same_in(one, other, ["subject", "predicate"])
    assert not same_in(one, other, ["object"])
    assert not same_in(one, {}, ["subject"])


def test_required_fields_come_in_the_order_of_their_schema() -> None:
    assert ("subject", "predicate", "object") == required_fields(FACT.parameters)
    assert ("content",) == required_fields(NOTE.parameters)
    assert () == required_fields(USER.parameters) == required_fields({"required": "x"})
