"""Which messages the words of a value came from, whoever wrote it, and what is enough for it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation.attribution import (
    Exhibits,
    document_evidence,
    entry_evidence,
    schema_words,
)
from recollect.formation.window import Window, WindowLine
from recollect.records import Evidence, EvidenceMap, JsonObject, Memory
from recollect.stores.kept_evidence import Founded, kept_evidence, merged_evidence
from recollect.stores.provenance import all_of, cited_at_once, either_of, quoted, words_of
from recollect.stores.remainder import remainder_of
from tests.harness.sample_contents import sample_memory, sample_message

AT = datetime(2026, 5, 1, tzinfo=UTC)
NURSE, MOVED, CAT = "I am a nurse in Tromsø", "I moved to Bergen", "my cat Miso"


def said(quote: str, message: str = "", group: int = 0) -> Evidence:
    """Return evidence in a message that is called like its last word, or *message*."""
    name = message or quote.rsplit(maxsplit=1)[-1]
    return Evidence(thread="talk", message=name, quote=quote, group=group)


def messages(evidence: Sequence[Evidence]) -> list[str]:
    """Return the messages of evidence, those of a group with its number."""
    return [f"{e.message}#{e.group}" if e.group else e.message for e in evidence]


def named(evidence: EvidenceMap) -> dict[str, list[str]]:
    """Return the messages by pointer."""
    return {at: messages(found) for at, found in evidence.items()}


def kept(
    before: JsonObject,
    rests: EvidenceMap,
    after: JsonObject,
    given: EvidenceMap = MappingProxyType({}),
) -> dict[str, list[str]]:
    """Return what *after* rests on in the place of *before*."""
    return named(kept_evidence(Founded(before, rests), Founded(after, given)))


# A put over what stands


def test_what_stays_rests_on_what_it_did() -> None:
    """Places in lists are alike; what is new rests on nothing."""
    rests = {"/likes/0": [said("tea")], "/home": [said("Oslo")]}
    before: JsonObject = {"likes": ["tea"], "home": "Oslo"}

    assert {"/likes/1": ["tea"], "/home": ["Oslo"]} == kept(
        before, rests, {"likes": ["milk", "tea"], "home": "Oslo", "age": 30}
    )


@pytest.mark.parametrize(
    ("value", "rests"),
    [
        ("a nurse in Bergen", ["Bergen#1", "Tromsø#1"]),
        ("nursing, Bergen", ["Bergen#1", "Tromsø#1"]),
        ("Bergen", ["Bergen"]),
        ("moved to Bergen", ["Bergen"]),
        ("the user is in Bergen", ["Bergen"]),
    ],
)
def test_a_text_rests_on_whatever_its_words_came_from(value: str, rests: list[str]) -> None:
    """Endings, function words and how the speaker is called do not count."""
    before: JsonObject = {"about": "the user is a nurse in Tromsø"}
    given = {"/about": [said(MOVED)]}

    assert {"/about": rests} == kept(before, {"/about": [said(NURSE)]}, {"about": value}, given)


@pytest.mark.parametrize(
    ("restores", "value", "rests"),
    [(True, "Zoe", {}), (False, "Zoe", {"/name": ["Ada"]}), (True, "Ada Zoe", {"/name": ["Ada"]})],
)
def test_a_restored_part_rests_on_what_it_did(
    *, restores: bool, value: str, rests: dict[str, list[str]]
) -> None:
    """The message that names the field is none of its evidence; what no version had takes words."""
    before = Founded({"name": "Ada"}, {"/name": [said("My name is Ada")]})
    past = [Founded({"name": "Zoe"}, {})]

    found = kept_evidence(
        before, Founded({"name": value}, {}), past=lambda: past, restores=restores
    )

    assert rests == named(found)


def test_what_the_new_message_says_itself_is_not_carried_over() -> None:
    given = {"/about": [said("I am a nurse in Bergen now")]}

    assert {"/about": ["now"]} == kept(
        {"about": "a nurse"}, {"/about": [said(NURSE)]}, {"about": "a nurse in Bergen"}, given
    )


@pytest.mark.parametrize(
    ("old", "new", "is_carried"),
    [
        ("在奥斯陆当护士", "在卑尔根当护士", True),
        ("奥斯陆", "卑尔根", False),
        ("3 cats", "3 dogs", True),
        (30, "30 years old", True),
        (30, 31, False),
        (True, False, False),
        ("Zoë", "zoe and Max", True),
        ("tea", None, False),
    ],
)
def test_numbers_names_and_characters_are_carried_over(
    old: str | float, new: str | float | None, *, is_carried: bool
) -> None:
    """Whatever is a word of content in its script."""
    found = kept({"a": old}, {"/a": [said("x", "old")]}, {"a": new})

    assert ({"/a": ["old"]} if is_carried else {}) == found


def test_another_field_takes_words_over() -> None:
    """Usual words apart: that two fields say "lives" shows nothing."""
    before: JsonObject = {"about": "lives as a nurse", "cat": "lives outside"}
    rests = {"/about": [said(NURSE)], "/cat": [said(CAT)]}

    after: JsonObject = {"summary": "lives happily, a nurse"}

    assert {"/summary": ["Tromsø"]} == kept(before, rests, after)


def test_a_name_on_the_way_is_carried_over_where_it_was_said() -> None:
    """It is a cat's name; the name of a field is nobody's words."""
    before: JsonObject = {"pets": {"Miso": "a cat"}, "city": "Oslo"}
    rests = {"/pets": [said(CAT)], "/city": [said("in Oslo")]}

    after: JsonObject = {"pets": {"Miso": "a tabby"}, "city": "Rome"}

    assert {"/pets": ["Miso"]} == kept(before, rests, after)


def test_a_put_that_brings_its_evidence_loses_nothing_of_it() -> None:
    """What it says again is enough by itself if it says as much."""
    before: JsonObject = {"job": "nurse", "home": "Tromsø"}
    rests = {"": [said(NURSE)]}

    again = {"": [said("a nurse, still in Tromsø", "m2")]}
    less = {"": [said("still in Tromsø", "m2")]}

    assert {"": ["m2"]} == kept(before, rests, before, again)
    assert {"": ["m2"], "/job": ["m2#1", "Tromsø#1"]} == kept(before, rests, before, less)


# Said again


@pytest.mark.parametrize(
    ("quote", "rests"),
    [
        ("a nurse in Bergen, yes", ["a#1", "b#1", "yes"]),
        ("Bergen is nice", ["a#1", "b#1"]),
        ("nurse", ["a#1", "b#1"]),
    ],
)
def test_who_says_a_part_again_is_not_enough_for_the_whole(quote: str, rests: list[str]) -> None:
    """Erasing one of the group must take the value, unless somebody said all of it."""
    before = {"": [said("a nurse", "a", 1), said("in Bergen", "b", 1)]}

    found = merged_evidence({"about": "a nurse in Bergen"}, before, {"": [said(quote)]})

    assert {"": rests} == named(found)


def test_what_is_in_its_makers_own_words_is_believed() -> None:
    """Neither message says "vegetarian"; each is a reason to call somebody one."""
    before = {"": [said("I eat no meat")]}

    found = merged_evidence({"diet": "vegetarian"}, before, {"": [said("steaks are not for me")]})

    assert {"": ["meat", "me"]} == named(found)


def test_what_a_person_wrote_does_not_begin_to_rest_on_messages() -> None:
    assert {} == merged_evidence({"diet": "vegetarian"}, {}, {"": [said("a vegetarian")]})


# Cited


def test_messages_that_say_all_are_each_enough() -> None:
    cited = [said("tea"), said("green tea", "m2")]

    assert ["tea", "m2"] == messages(cited_at_once(words_of("tea"), cited, quoted))
    assert ["tea#1", "m2#1"] == messages(cited_at_once(words_of("green tea"), cited, quoted))


def test_each_field_of_a_document_rests_on_the_messages_that_say_it() -> None:
    """And on those that say no word of any: an answer "yes" says no more."""
    cited = {"": [said(NURSE), said(CAT), said("yes")]}
    value: JsonObject = {"job": "nurse", "pet": "Miso"}

    found = document_evidence(value, cited, quoted)

    assert {"/job": ["Tromsø#1", "yes#1"], "/pet": ["Miso#1", "yes#1"]} == named(found)


def test_an_entry_rests_on_all_that_is_cited_for_it() -> None:
    """It is one statement: without one of its words it is another."""
    value: JsonObject = {"subject": "Miso", "predicate": "lives with", "object": "a nurse"}

    found = entry_evidence(value, {"": [said(NURSE), said(CAT)]}, Exhibits(window()))

    assert {"": ["Tromsø#1", "Miso#1"]} == named(found)


def test_words_that_only_another_message_or_memory_says_rest_on_it() -> None:
    known = remembered({"job": "a nurse"}, {"": [said(NURSE)]})
    exhibits = Exhibits(window("Miso is hungry", MOVED), [known])
    cited = {"": [Evidence(thread="talk", message="id2", quote="moved to Bergen")]}

    found = entry_evidence({"content": "the nurse moved to Bergen with Miso"}, cited, exhibits)

    assert {"": ["id2#1", "id1#1", "Tromsø#1"]} == named(found)


def test_words_of_the_schema_rest_on_nobody() -> None:
    """The names of its fields and its constants, whoever else says them."""
    schema = schema_words({
        "properties": {"mood": {"enum": ["sunny", "grim"]}, "nurse": {"type": "string"}}
    })  # fmt: skip
    exhibits = Exhibits(window("a sunny mood", "a nurse", "fine"))
    cited = {"": [Evidence(thread="talk", message="id3", quote="fine")]}

    found = entry_evidence({"mood": "sunny", "nurse": "fine"}, cited, exhibits, schema)

    assert {"": ["id3"]} == named(found)


def window(*texts: str) -> Window:
    lines = tuple(
        WindowLine(
            number=number,
            message=sample_message(id=f"id{number}", position=number, text=text, time=AT),
            text=text,
            new=True,
        )
        for number, text in enumerate(texts, start=1)
    )  # fmt: skip
    return Window(scope=("u",), lines=lines, watermarks={})


def remembered(value: JsonObject, evidence: EvidenceMap) -> Memory:
    return sample_memory(key="k", value=value, at=AT, evidence=evidence)


# Laws

names = st.sampled_from("abcd")
parts = st.lists(st.lists(names, min_size=1, max_size=3, unique=True), min_size=1, max_size=3)


def evidence_of(some: Sequence[Sequence[str]]) -> list[tuple[Evidence, ...]]:
    """Return evidence of which each part needs all of its messages."""
    return [all_of([[Evidence(thread="t", message=name)] for name in part]) for part in some]


def is_left(evidence: Sequence[Evidence], gone: set[str]) -> bool:
    """Return True if an erase leaves what rests on *evidence*."""
    cited = tuple((e.thread, e.message, e.quote, e.group) for e in evidence)
    erased = {("t", name) for name in gone}
    return remainder_of({"a": 1}, {"/a": cited}, erased) is not None


@given(some=parts, gone=st.sets(names))
def test_what_needs_all_goes_with_any(some: list[list[str]], gone: set[str]) -> None:
    expected = all(gone.isdisjoint(part) for part in some)

    assert expected == is_left(all_of(evidence_of(some)), gone)


@given(some=parts, gone=st.sets(names))
def test_what_needs_either_stays_with_one(some: list[list[str]], gone: set[str]) -> None:
    expected = any(gone.isdisjoint(part) for part in some)

    assert expected == is_left(either_of(*evidence_of(some)), gone)
