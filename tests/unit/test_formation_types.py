"""Memory types load from what people write, and are refused with the place that is wrong."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, cast

import pydantic
import pytest

from recollect.errors import LimitError, NotFoundError, UsageError
from recollect.formation.types import (
    BUILTIN_TYPES,
    DEFAULT_TYPES,
    FACT,
    NOTE,
    USER,
    MemoryType,
    check_types_change,
    load_types,
)
from recollect.formation.types.loader import FILE_BYTES_MAX
from recollect.formation.types.memory_type import (
    DESCRIPTION_CHARACTERS_MAX,
    SCHEMA_BYTES_MAX,
    SCHEMA_DEPTH_MAX,
    TYPES_MAX,
)
from recollect.formation.types.schema import violations
from recollect.records import Json

Entry = dict[str, Json]

PERSON: Entry = {
    "name": "Person",
    "description": "Somebody whom the user speaks of.",
    "update_mode": "insert",
    "parameters": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "What they are called"},
            "relationship": {"type": "string", "description": "What they are to the user"},
            "notes": {"type": "string", "description": "What else was told of them"},
        },
        "required": ["name"],
    },
}
PLACES: Entry = {
    "name": "User",
    "description": "The profile of the user.",
    "update_mode": "patch",
    "parameters": {
        "type": "object",
        "properties": {
            "user_name": {"type": "string"},
            "age": {"type": "integer", "minimum": 0},
            "favorite_locations": {"type": "array", "items": {"type": "string"}},
        },
    },
}


def with_keys(**keys: Json) -> Entry:
    """Return the configuration of `PERSON`, changed."""
    return {**PERSON, **keys}


def with_parameters(**keywords: Json) -> Entry:
    """Return the configuration of a type whose schema also has these keywords."""
    return with_keys(parameters={"type": "object", **keywords})


def with_field(schema: Json, **keywords: Json) -> Entry:
    """Return the configuration of a type whose field ``a`` has this schema."""
    return with_parameters(properties={"a": schema}, **keywords)


def test_a_configuration_loads_as_it_stands() -> None:
    """The four keys are kept word for word, and what is not said has its default."""
    person, user = load_types([PERSON, PLACES])

    assert PERSON == person.as_config()
    assert PLACES == user.as_config()
    assert ("user",) == person.roles
    assert ((), None, None, "", None) == (
        person.single_valued,
        person.several,
        person.expires_after_s,
        person.instructions,
        person.section_bytes_max,
    )


def test_all_keys_come_back() -> None:
    """What a type says of itself loads as the same type."""
    entry = with_keys(
        single_valued=["relationship"],
        expires_after_s=86_400,
        instructions="Only people, no pets.",
        roles=["user", "assistant"],
    )

    (found,) = load_types([entry])

    assert entry == found.as_config()
    assert (found,) == load_types([found.as_config()])
    assert (found,) == load_types([found])


def test_a_field_that_was_added_holds_for_what_is_formed_next() -> None:
    """A profile may get ``favorite_locations``; without it the profile refuses them."""
    value = {"favorite_locations": ["the old harbour"]}

    assert () == violations(load_types([PLACES])[0], value)
    assert 1 == len(violations(USER, value))


@pytest.mark.parametrize("type_", BUILTIN_TYPES, ids=lambda type_: type_.name)
def test_what_is_built_in_passes_the_checks_for_all(type_: MemoryType) -> None:
    assert (type_,) == load_types([type_])
    assert () == violations(type_, {}) or "required" in type_.parameters


def test_the_built_in_types_are_known_by_name() -> None:
    names = [type_.name for type_ in BUILTIN_TYPES]

    expected = ["User", "Note", "Fact", "Entity", "Summary", "Instructions", "Example", "Item"]
    assert expected == names
    assert (USER, NOTE) == DEFAULT_TYPES
    assert (("object",), "several") == (FACT.single_valued, FACT.several)


def test_types_load_from_json_text_and_files(tmp_path: Path) -> None:
    """A list, or an object with the list, as text or in a file."""
    listed = json.dumps([PERSON])
    tmp_path.joinpath("a.json").write_text(listed, "utf-8")
    tmp_path.joinpath("b.json").write_text("\ufeff" + json.dumps({"types": [PERSON]}), "utf-8")
    tmp_path.joinpath("c.json").write_text(
        json.dumps({"memory_types": [PERSON], "model": "x"}), "utf-8"
    )

    found = [load_types(listed), *(load_types(tmp_path / f"{name}.json") for name in "abc")]

    assert [load_types([PERSON])] * 4 == found


@pytest.mark.parametrize("heading", ["[[types]]\nname = 'Pet'", "[memory_types.Pet]"])
def test_types_load_from_toml(tmp_path: Path, heading: str) -> None:
    """An array of tables, or a table of types by name."""
    path = tmp_path / "types.toml"
    sub = heading.partition("\n")[0].strip("[]")
    path.write_text(
        f"{heading}\ndescription = 'An animal.'\nupdate_mode = 'insert'\n"
        f"[{sub}.parameters]\ntype = 'object'\n[{sub}.parameters.properties.name]\ntype='string'\n",
        "utf-8",
    )

    (found,) = load_types(path)

    assert "Pet" == found.name
    assert {"type": "object", "properties": {"name": {"type": "string"}}} == found.parameters


class Pet(pydantic.BaseModel):
    """An animal that lives with the user."""

    name: str
    age: Annotated[int, pydantic.Field(ge=0)] | None = None


class Household(pydantic.BaseModel):
    """Who lives with the user."""

    update_mode: ClassVar = "patch"
    roles: ClassVar = ("user", "assistant")

    pets: list[Pet] = []
    cat: Pet | None = None


class Node(pydantic.BaseModel):
    """A thing within things."""

    inner: list["Node"] = []


class Bare(pydantic.BaseModel):  # has no docstring, as some have not
    name: str


def test_a_pydantic_model_is_a_type() -> None:
    """Its name, docstring and constraints are the type's; it is a collection unless it says."""
    pet, household = load_types([Pet, Household])

    assert ("Pet", "An animal that lives with the user.") == (pet.name, pet.description)
    assert ("insert", "patch") == (pet.update_mode, household.update_mode)
    assert ("user", "assistant") == household.roles
    assert ("/name: 5 is a number; text is needed",) == violations(pet, {"name": 5})


def test_definitions_are_written_out() -> None:
    """A schema that stands inside a tool's has no reference into its own root."""
    (household,) = load_types([Household])

    assert "$ref" not in json.dumps(household.parameters)
    assert "$defs" not in household.parameters
    assert () == violations(household, {"pets": [{"name": "Mia"}], "cat": None})
    (found,) = violations(household, {"pets": [{"name": "Mia", "age": -1}]})
    assert found.startswith("/pets/0/age: ")


def test_a_pydantic_model_may_be_the_parameters() -> None:
    entry = {"name": "Animal", "update_mode": "patch", "parameters": Pet}

    (found,) = load_types([entry])

    assert ("Animal", "patch") == (found.name, found.update_mode)
    assert "An animal that lives with the user." == found.description


def test_words_beside_a_reference_stay() -> None:
    """Notes are merged into what is referred to; conditions are added to it."""
    definitions: Entry = {"Age": {"type": "integer", "description": "years"}}
    note: Entry = {"$ref": "#/$defs/Age", "description": "his years"}
    both: Entry = {"$ref": "#/$defs/Age", "minimum": 0}
    entry = with_parameters(properties={"a": note, "b": both}, **{"$defs": definitions})

    (found,) = load_types([entry])

    properties = cast("Mapping[str, Json]", found.parameters["properties"])
    assert {"type": "integer", "description": "his years"} == properties["a"]
    assert {"allOf": [definitions["Age"]], "minimum": 0} == properties["b"]


def test_fields_may_be_called_like_keywords() -> None:
    """A property named ``$ref`` is a property."""
    entry = with_parameters(properties={"$ref": {"type": "string"}, "$defs": {"enum": ["$ref"]}})

    (found,) = load_types([entry])

    assert entry["parameters"] == found.parameters


def nested(levels: int) -> Json:
    """Return a schema of that many levels of JSON."""
    schema: Json = {}
    for _ in range(levels // 2):
        schema = {"not": {"not": schema}}
    return schema


DOUBLING: Entry = {
    **{f"D{at}": {"allOf": [{"$ref": f"#/$defs/D{at + 1}"}] * 2} for at in range(30)},
    "D30": {"type": "string"},
}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (None, "types[0]: must be an object with 'name'"),
        ("User", "types[0]: must be an object"),
        ([], "types[0]: must be an object"),
        ({}, "types[0].name: is missing; a type needs"),
        ({k: v for k, v in PERSON.items() if k != "description"}, "types[0].description: is miss"),
        ({k: v for k, v in PERSON.items() if k != "update_mode"}, "types[0].update_mode: is miss"),
        ({k: v for k, v in PERSON.items() if k != "parameters"}, "types[0].parameters: is missing"),
        (with_keys(mode="patch"), "types[0]: unknown key 'mode'; the keys are name, description, "),
        (with_keys(Name="x"), "unknown key 'Name'"),
        ({**cast("dict[object, Json]", PERSON), 5: 1}, "unknown key 5"),
        (with_keys(name="a/b"), "types[0].name: 'a/b' cannot name a memory type"),
        (with_keys(name="two words"), "types[0].name: "),
        (with_keys(name=""), "types[0].name: '' cannot"),
        (with_keys(name="1st"), "types[0].name: "),
        (with_keys(name="a\n"), "types[0].name: "),
        (with_keys(name="\u540d"), "types[0].name: "),
        (with_keys(name="x" * 65), "types[0].name: "),
        (with_keys(name=None), "types[0].name: null cannot"),
        (with_keys(name=["x"]), "types[0].name: "),
        (with_keys(name="patch_memory"), "types[0].name: 'patch_memory' is the name of a tool"),
        (with_keys(description=""), "types[0].description: must be text"),
        (with_keys(description="  "), "types[0].description: must be text"),
        (with_keys(description=5), "types[0].description: must be text for the model, not 5"),
        (with_keys(description="a\0"), "types[0].description contains a NUL"),
        (with_keys(instructions=["x"]), "types[0].instructions: must be text"),
        (with_keys(update_mode="replace"), "types[0].update_mode: 'replace' is unknown: use 'patc"),
        (with_keys(update_mode="Patch"), "types[0].update_mode: "),
        (with_keys(update_mode=None), "types[0].update_mode: null is unknown"),
        (with_keys(update_mode=["patch"]), "types[0].update_mode: "),
        (with_keys(parameters=None), "types[0].parameters: must be a JSON Schema"),
        (with_keys(parameters=True), "types[0].parameters: must be a JSON Schema"),
        (with_keys(parameters="{}"), "types[0].parameters: must be a JSON Schema"),
        (with_keys(parameters={}), 'types[0].parameters.type: must be "object", which is missing'),
        (with_keys(parameters={"type": "array"}), "types[0].parameters.type: must be"),
        (with_keys(parameters={"type": ["object", "null"]}), "types[0].parameters.type: must be"),
        (
            with_field({"type": "integer", "minimum": "0"}),
            "parameters.properties.a.minimum: '0' is",
        ),
        (with_field({"type": "text"}), "types[0].parameters.properties.a.type: "),
        (with_field({"type": 5}), "types[0].parameters.properties.a.type: "),
        (with_field({"enum": "x"}), "types[0].parameters.properties.a.enum: "),
        (with_field({"maxLength": -1}), "types[0].parameters.properties.a.maxLength: "),
        (with_field({"multipleOf": 0}), "types[0].parameters.properties.a.multipleOf: "),
        (with_field({"items": [{}]}), "types[0].parameters.properties.a.items: "),
        (with_field({"anyOf": []}), "types[0].parameters.properties.a.anyOf: "),
        (with_field({"anyOf": [{}, {"type": 1}]}), "parameters.properties.a.anyOf[1].type: "),
        (with_field(5), "types[0].parameters.properties.a: "),
        (with_parameters(properties=[]), "types[0].parameters.properties: "),
        (with_parameters(required="name"), "types[0].parameters.required: "),
        (with_parameters(required=["a", "a"]), "types[0].parameters.required: "),
        (
            with_parameters(properties={"odd name": {"type": 1}}),
            "parameters.properties['odd name']",
        ),
        (with_field({"pattern": "(a"}), "types[0].parameters.properties.a.pattern: the pattern"),
        (with_field({"pattern": "(?=a)"}), "types[0].parameters.properties.a.pattern: "),
        (with_parameters(patternProperties={"[": {}}), "parameters.patternProperties['[']: "),
        (with_field({"default": float("nan")}), "types[0].parameters.properties.a.default: "),
        (with_field({"minimum": 10**5_000}), "types[0].parameters.properties.a.minimum: bits of"),
        (with_field({"description": "\0"}), "types[0].parameters.properties.a.description: "),
        (with_field(cast("Json", {"const": {1, 2}})), "types[0].parameters.properties.a.const: "),
        (
            with_parameters(properties=cast("Json", {1: {}})),
            "types[0].parameters.properties: a field's name",
        ),
        (with_field(nested(100_000)), f"nested more than {SCHEMA_DEPTH_MAX} levels deep"),
        (with_field({"$ref": "https://example.org/a.json"}), "properties.a.$ref: 'https://example"),
        (with_field({"$ref": "https://example.org/a.json"}), "nothing is fetched"),
        (with_field({"$ref": "other.json#/a"}), "leads outside this schema"),
        (with_field({"$ref": "file:///etc/passwd"}), "leads outside this schema"),
        (with_field({"$ref": 5}), "types[0].parameters.properties.a.$ref: "),
        (with_field({"$ref": "#/$defs/Gone"}), "'#/$defs/Gone' leads nowhere"),
        (with_field({"$ref": "#/$defs/~x"}), "leads nowhere"),
        (with_field({"$ref": "#anchor"}), "names an anchor"),
        (with_field({"$ref": "#"}), "comes back to itself"),
        (with_field({"$ref": "#/properties/a"}), "comes back to itself"),
        (
            with_field({"$ref": "#/$defs/N"}, **{"$defs": {"N": {"items": {"$ref": "#/$defs/N"}}}}),
            "comes back to itself, so that it has no end: spell out",
        ),
        (with_field({"$ref": "#/$defs/D0"}, **{"$defs": DOUBLING}), "SCHEMA_DEPTH_MAX is"),
        (with_field({"$dynamicRef": "#x"}), "'$dynamicRef' is not supported"),
        (with_field({"$id": "https://example.org/b"}), "an '$id' of its own is not supported"),
        (
            with_parameters(**{"$schema": "http://json-schema.org/draft-07/schema#"}),
            "memory types are JSON Schema 2020-12: leave '$schema' out",
        ),
        (with_keys(single_valued=["age"]), "single_valued: names 'age'; the properties are 'name'"),
        (with_keys(single_valued="name"), "types[0].single_valued: must be a list of names"),
        (with_keys(single_valued=["name", "name"]), "types[0].single_valued: names one twice"),
        (with_keys(single_valued=[5]), "types[0].single_valued: must be a list of names"),
        (with_keys(update_mode="patch", single_valued=["name"]), "single_valued: is for coll"),
        (with_keys(several="many"), "types[0].several: must name a property of type boolean"),
        (with_keys(several="name"), "types[0].several: must name a property of type boolean"),
        (with_keys(several=["name"]), "types[0].several: must name a property of type boolean"),
        ({**with_field({"type": "boolean"}), "several": "a"}, "has no effect without 'single_valu"),
        (with_keys(expires_after_s=0), "types[0].expires_after_s: must be seconds, more than 0"),
        (with_keys(expires_after_s=-1), "types[0].expires_after_s: "),
        (with_keys(expires_after_s="1d"), "types[0].expires_after_s: "),
        (with_keys(expires_after_s=True), "types[0].expires_after_s: "),
        (with_keys(expires_after_s=float("nan")), "types[0].expires_after_s: "),
        (with_keys(expires_after_s=10**400), "EXPIRES_S_MAX"),
        (with_keys(roles=[]), "types[0].roles: must be a list of names"),
        (with_keys(roles="user"), "types[0].roles: must be a list of names"),
        (with_keys(roles=["human"]), "types[0].roles: 'human' is unknown: use 'user'"),
        (with_keys(roles=["user", "user"]), "types[0].roles: names one twice"),
        (with_keys(section_bytes_max=100), "types[0].section_bytes_max: is for documents"),
        (with_keys(update_mode="patch", section_bytes_max=0), "section_bytes_max: must be a num"),
        (with_keys(update_mode="patch", section_bytes_max=True), "section_bytes_max: must be a n"),
        (Bare, "types[0].description: is missing: give Bare a docstring"),
        (Node, "types[0].parameters"),
    ],
)
def test_a_wrong_type_is_refused_with_its_place(entry: object, words: str) -> None:
    """One error, which names the path and what to do."""
    with pytest.raises(UsageError) as raised:
        load_types([cast("Entry", entry)])

    assert words in str(raised.value)
    assert len(str(raised.value)) < 1_000


def test_the_place_counts_the_types() -> None:
    with pytest.raises(UsageError, match=r"types\[2\]\.parameters\.properties\.age\.minimum: "):
        load_types(
            [PERSON, PLACES, {**with_parameters(properties={"age": {"minimum": "x"}}), "name": "X"}]
        )


def test_a_name_is_used_once() -> None:
    with pytest.raises(UsageError, match=r"types\[1\]\.name: there is a memory type 'Person'"):
        load_types([PERSON, PERSON])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no JSON"),
        ("types.json", "give a file as a Path"),
        ("[" * 100_000, "levels deep"),
        ('{"a":' * 100_000, "levels deep"),
        ('[{"name": "A", "name": "B"}]', "'name' twice"),
        ('[{"expires_after_s": NaN}]', "NaN"),
        ('[{"expires_after_s": -Infinity}]', "Infinity"),
        ('[{"expires_after_s": 1e999}]', "too large"),
        (f'[{{"expires_after_s": {"9" * 5_000}}}]', "5000 characters"),
        ('[{"name": "\\u0000"}]', "NUL"),
        ('[{"name": "\\ud800"}]', "surrogate"),
        ("null", "must be a list of memory types, not null"),
        ("5", "must be a list of memory types, not a number"),
        ("{}", "this has neither"),
        ('{"types": [], "memory_types": []}', "this has types and memory_types"),
        ('{"types": 5}', "types: must be a list"),
        ('{"types": {"A": 5}}', "types.A: must be an object"),
        ('{"types": {"A": {"name": "B"}}}', "types.A.name: is 'B', but the table is called 'A'"),
        ("[]", "describe at least one memory type"),
    ],
    ids=lambda text: text[:30],
)
def test_text_that_holds_no_types_is_refused(text: str, words: str) -> None:
    """Whatever the text is, there is one error that says what is wrong."""
    with pytest.raises(UsageError) as raised:
        load_types(text)

    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.yaml", b"", "from a .json or a .toml file"),
        ("a.json", b"\xff\xfe", "cannot be read"),
        ("a.json", b"[", "is no JSON"),
        ("a.toml", b"a = ", "is no TOML"),
        ("a.toml", b"a = 1\na = 2", "is no TOML"),
        ("a.toml", b"a = " + b"9" * 5_000, "is no TOML"),
        ("a.toml", b"a = " + b"[" * 100_000, "too deeply"),
        ("a.toml", b"[[types]]\nname = 1979-05-27", "types[0].description: is missing"),
        ("a.json", b" " * (FILE_BYTES_MAX + 1), "FILE_BYTES_MAX"),
    ],
)
def test_a_file_that_holds_no_types_is_refused(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    tmp_path.joinpath(name).write_bytes(content)

    with pytest.raises(UsageError) as raised:
        load_types(tmp_path / name)

    assert words in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"there is no file .*gone\.toml"):
        load_types(tmp_path / "gone.toml")


@pytest.mark.parametrize("source", [None, 5, {"types": []}, b"[]"])
def test_what_is_no_source_is_refused(source: object) -> None:
    with pytest.raises(UsageError, match="must be a list of memory types"):
        load_types(cast("str", source))


@pytest.mark.parametrize(
    ("entries", "name"),
    [
        ([with_keys(name=f"T{at}") for at in range(TYPES_MAX + 1)], "TYPES_MAX"),
        ([with_field({"description": "x" * SCHEMA_BYTES_MAX})], "SCHEMA_BYTES_MAX"),
        ([with_keys(description="x" * (DESCRIPTION_CHARACTERS_MAX + 1))], "DESCRIPTION_CHARACTERS"),
        (
            [
                with_parameters(
                    properties={f"f{at}": {"$ref": "#/$defs/Long"} for at in range(100)},
                    **{"$defs": {"Long": {"description": "x" * 2_000}}},
                )
            ],
            "written out",
        ),
    ],
    ids=["types", "schema", "description", "references"],
)
def test_limits_are_named(entries: list[Entry], name: str) -> None:
    with pytest.raises(LimitError, match=name):
        load_types(entries)


def test_as_many_types_as_allowed_load() -> None:
    assert TYPES_MAX == len(load_types([with_keys(name=f"T{at}") for at in range(TYPES_MAX)]))


def test_a_loaded_type_keeps_its_own_schema() -> None:
    """Changing the configuration afterwards changes no type."""
    entry = json.loads(json.dumps(PERSON))
    (found,) = load_types([entry])

    entry["parameters"]["properties"].clear()

    assert PERSON["parameters"] == found.parameters


def test_a_changed_schema_is_no_change_of_type() -> None:
    old, new = load_types([PERSON]), load_types([with_parameters()])

    check_types_change(old, new)

    assert old[0].parameters != new[0].parameters


def test_a_changed_update_mode_is_refused() -> None:
    old, new = load_types([PERSON]), load_types([with_keys(update_mode="patch")])

    with pytest.raises(UsageError, match="'Person' has the update_mode 'insert', not 'patch'"):
        check_types_change(old, new)
