"""Schemas in the form of providers' strict modes, and answers without the nulls it adds."""

from typing import Any

import pytest

from recollect.formation.types.builtin import BUILTIN_TYPES
from recollect.models.strict_schema import strict_schema, without_added_nulls

TEXT = {"type": "string"}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_optional_properties_may_be_null_and_limits_go() -> None:
    schema = of(name={"type": "string", "maxLength": 3, "default": "x"}, tags={
        "type": "array", "items": {"oneOf": [TEXT, {"const": 1}]}, "maxItems": 2, "minItems": 1,
    }) | {"required": ["tags"], "title": "T", "description": "D"}  # fmt: skip

    found = strict_schema(schema)

    assert found == {
        "type": "object",
        "description": "D",
        "properties": {
            "name": {"anyOf": [TEXT, {"type": "null"}]},
            "tags": {"type": "array", "items": {"anyOf": [TEXT, {"const": 1}]}, "minItems": 1},
        },
        "required": ["name", "tags"],
        "additionalProperties": False,
    }


def test_definitions_are_strict_too() -> None:
    schema = of(home={"$ref": "#/$defs/place"}) | {"$defs": {"place": of(city=TEXT)}}

    found = strict_schema(schema)

    assert found is not None
    assert found["$defs"] == {
        "place": {
            "type": "object",
            "properties": {"city": {"anyOf": [TEXT, {"type": "null"}]}},
            "required": ["city"],
            "additionalProperties": False,
        }
    }


@pytest.mark.parametrize(
    "part",
    [
        {"type": "object"},
        {"type": "object", "additionalProperties": TEXT},
        of(a=TEXT) | {"additionalProperties": True},
        {"allOf": [TEXT]},
        {"type": "array"},
        {"$ref": "#/properties/a"},
        {"$ref": "#/$defs/a/items"},
        {},
        True,
    ],
)
def test_what_strict_modes_cannot_say_has_no_strict_form(part: Any) -> None:
    """Then the schema goes as it is, and answers are read as strictly as ever."""
    assert strict_schema(of(part=part)) is None


def test_each_type_that_is_built_in_is_answered_for() -> None:
    """The strict form is one or none, and never an error."""
    for type_ in BUILTIN_TYPES:
        strict_schema(type_.parameters)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"a": null, "b": null, "c": 1}', '{"b": null, "c": 1}'),
        ('{"list": [{"a": null}, {"a": "null"}]}', '{"list": [{}, {"a": "null"}]}'),
        ('{"home": {"a": null}}', '{"home": {}}'),
        ('{"a":  "x"}', '{"a":  "x"}'),
        ('{"d": null, "unknown": null}', '{"d": null, "unknown": null}'),
        ('{"a": null', '{"a": null'),
    ],
)
def test_only_nulls_that_stand_for_nothing_go(written: str, expected: str) -> None:
    schema = of(
        a=TEXT,
        b={"type": ["string", "null"]},
        c={"type": "integer"},
        d={"anyOf": [TEXT, {"type": "null"}]},
        list={"type": "array", "items": of(a=TEXT)},
        home={"$ref": "#/$defs/home"},
    ) | {"$defs": {"home": of(a=TEXT)}}

    assert expected == without_added_nulls(written, schema)
