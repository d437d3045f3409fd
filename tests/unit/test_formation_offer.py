"""What a model is offered: which tools, and which memories under which short ids."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest

from recollect.formation.offer import offer_of
from recollect.formation.type_texts import schema_in
from recollect.formation.types import FACT, NOTE, USER, MemoryType
from recollect.records import JsonObject, Memory
from tests.harness.sample_contents import sample_memory

AT = datetime(2026, 5, 1, tzinfo=UTC)


def memory(type_: str = "User", key: str = "", **value: str) -> Memory:
    """Return an active memory."""
    return sample_memory(type=type_, key=key or type_, value=value, at=AT)


PROFILE, ENTRY = memory(home="Bergen"), memory("Note", "n1", content="a boat")


@pytest.mark.parametrize(
    ("types", "existing", "tools", "described"),
    [
        ((USER,), (), ["User", "remember_nothing"], []),
        ((USER,), (PROFILE,), ["patch_memory", "remember_nothing"], ["User"]),
        ((NOTE,), (), ["Note", "remember_nothing"], []),
        ((NOTE,), (ENTRY,), ["Note", "patch_memory", "end_memory", "remember_nothing"], []),
        ((USER, NOTE), (), ["User", "Note", "remember_nothing"], []),
        ((USER, NOTE), (PROFILE,), ["Note", "patch_memory", "remember_nothing"], ["User"]),
        (
            (USER, NOTE),
            (ENTRY,),
            ["User", "Note", "patch_memory", "end_memory", "remember_nothing"],
            [],
        ),
        (
            (USER, NOTE),
            (PROFILE, ENTRY),
            ["Note", "patch_memory", "end_memory", "remember_nothing"],
            ["User"],
        ),
    ],
)
def test_what_exists_decides_on_the_tools(
    types: Sequence[MemoryType],
    existing: Sequence[Memory],
    tools: list[str],
    described: list[str],
) -> None:
    """A document that exists is only patched; an entry may be added, patched and ended."""
    offer = offer_of(types, existing, "")

    assert tools == [tool.name for tool in offer.tools]
    assert described == [type_.name for type_ in offer.described]
    assert set(tools) - {"patch_memory", "end_memory", "remember_nothing"} == {
        type_.name for type_ in offer.inserts
    }


def test_the_schema_of_a_tool_is_that_of_its_type() -> None:
    """
    Beside what the value rests on; a document has no dates of validity, an entry has.

    That nothing else is allowed is not told: a model writes the fields that it is shown.
    """
    user, note = offer_of((USER, NOTE), (), "").tools[:2]

    fields = [dict(tool.parameters["properties"]) for tool in (user, note)]  # type: ignore[arg-type]
    told = [dict(type_.parameters) for type_ in (USER, NOTE)]
    assert [False, False] == [each.pop("additionalProperties") for each in told]
    assert [schema_in("en", each) for each in told] == [each["value"] for each in fields]
    assert {"value", "because"} == fields[0].keys()
    assert {"value", "because", "since", "until"} == fields[1].keys()


def test_every_tool_that_cites_takes_a_list_of_citations() -> None:
    """Of a value, of each change and of an end."""
    tools = {each.name: each for each in offer_of((NOTE,), (ENTRY,), "").tools}
    note, patched, ended = (
        json.loads(json.dumps(tools[name].parameters, default=dict))["properties"]
        for name in ("Note", "patch_memory", "end_memory")
    )

    cited = {"type": "array", "items": {"type": "string"}}
    change = patched["changes"]["items"]["properties"]
    assert [cited] * 3 == [each["because"] for each in (note, change, ended)]


def test_memories_get_short_ids_in_their_order() -> None:
    """No key, and nothing of another scope, is ever shown."""
    offer = offer_of((USER, NOTE), (PROFILE, ENTRY), "")

    assert {"m1": PROFILE, "m2": ENTRY} == offer.known


def test_tools_are_equal_for_equal_types() -> None:
    """Whatever the memories say, so that a provider can keep them."""
    others = (memory(home="Oslo", age="30"), memory("Note", "n2", content="a bike"))

    first, second = (
        offer_of((USER, NOTE, FACT), each, words).tools
        for each, words in (((PROFILE, ENTRY), "boats"), (others, "bikes"))
    )

    assert first == second


def test_of_a_large_document_fields_are_hidden() -> None:
    """Only of the type that says so."""
    small = replace(USER, section_bytes_max=40)
    large: JsonObject = {"home": "Bergen " * 20, "occupation": "baker"}
    profile = replace(PROFILE, value=large)

    hidden = [offer_of((type_,), (profile,), "").hidden["m1"] for type_ in (USER, small)]

    assert [frozenset(), frozenset({"home"})] == hidden


def test_no_tool_is_there_twice() -> None:
    """With any types and any memories."""
    kinds = ((), (PROFILE,), (ENTRY,), (PROFILE, ENTRY))

    for types, existing in product(((USER,), (NOTE,), (USER, NOTE), (NOTE, USER, FACT)), kinds):
        known = [each for each in existing if each.type in {type_.name for type_ in types}]
        names = [tool.name for tool in offer_of(types, known, "").tools]
        assert sorted(set(names)) == sorted(names)
        assert "remember_nothing" == names[-1]
