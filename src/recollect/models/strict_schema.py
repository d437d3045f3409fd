"""Convert JSON Schemas to the form that providers' strict modes accept; pure functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from recollect.records import Json, JsonObject

_KEPT: Final = ("type", "description", "enum", "const", "$ref")
# Keywords that strict modes do not support: a schema with one of them has no strict form.
_INEXPRESSIBLE: Final = frozenset(
    """
    allOf not if then else patternProperties propertyNames dependentSchemas dependentRequired
    unevaluatedProperties unevaluatedItems prefixItems contains minContains
    """.split()
)
_DEFINED: Final = "#/$defs/"
_DEPTH_MAX: Final = 5  # the providers' limit of nesting


class _NoStrictFormError(Exception):
    """The schema has no strict form."""


def strict_schema(schema: JsonObject) -> JsonObject | None:
    """
    Return *schema* in the form of strict modes; ``None`` if it has no such form.

    Strict modes require every property, allow no others, and support few keywords. So an optional
    property becomes nullable (`without_added_nulls` undoes it), and limits of length and size are
    dropped, as the answer is validated against the original schema anyway. An object with free keys
    has no strict form.
    """
    try:
        return _strict(schema, 0)
    except _NoStrictFormError:
        return None


def _strict(schema: Json, depth: int) -> dict[str, Json]:
    if not isinstance(schema, Mapping) or not _INEXPRESSIBLE.isdisjoint(schema):
        raise _NoStrictFormError
    reference = schema.get("$ref")
    if reference is not None and not _is_definition(reference):
        raise _NoStrictFormError
    found: dict[str, Json] = {name: schema[name] for name in _KEPT if name in schema}
    for name in ("anyOf", "oneOf"):
        if isinstance(kinds := schema.get(name), list | tuple):
            found["anyOf"] = [_strict(each, depth) for each in kinds]
    if _is_kind(schema, "object"):
        found |= _strict_object(schema, depth + 1)
    if _is_kind(schema, "array"):
        found["items"] = _strict(schema.get("items"), depth)
        if schema.get("minItems") == 1:
            found["minItems"] = 1
    if not {"type", "anyOf", "enum", "const", "$ref"} & found.keys():
        raise _NoStrictFormError  # the schema allows any value
    if isinstance(definitions := schema.get("$defs"), Mapping):
        found["$defs"] = {name: _strict(each, 1) for name, each in definitions.items()}
    return found


def _strict_object(schema: Mapping[str, Json], depth: int) -> dict[str, Json]:
    properties = schema.get("properties", {})
    is_open = schema.get("additionalProperties", not properties) is not False
    has_free_keys = is_open and ("additionalProperties" in schema or not properties)
    if depth > _DEPTH_MAX or has_free_keys or not isinstance(properties, Mapping):
        raise _NoStrictFormError
    required = _required(schema)
    return {
        "properties": {
            name: part if name in required else _or_null(part)
            for name, part in ((name, _strict(each, depth)) for name, each in properties.items())
        },
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(schema: dict[str, Json]) -> dict[str, Json]:
    return schema if _takes_null(schema) else {"anyOf": [schema, {"type": "null"}]}


def _takes_null(schema: Mapping[str, Any]) -> bool:
    if _is_kind(schema, "null") or None in schema.get("enum", ()):
        return True
    kinds = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
    return any(_takes_null(each) for each in kinds if isinstance(each, Mapping))


def _is_kind(schema: Mapping[str, object], kind: str) -> bool:
    named = schema.get("type")
    return kind == named or (isinstance(named, list | tuple) and kind in named)


def _required(schema: Mapping[str, object]) -> frozenset[str]:
    required = schema.get("required", ())
    return frozenset(required) if isinstance(required, list | tuple) else frozenset()


def _is_definition(reference: object) -> bool:
    return (
        isinstance(reference, str)
        and reference.startswith(_DEFINED)
        and "/" not in reference.removeprefix(_DEFINED)
    )


def without_added_nulls(written: str, schema: JsonObject) -> str:
    """
    Return the JSON text *written* without nulls of omitted properties of *schema*.

    Text that is not JSON, or has no such nulls, is returned unchanged.

    >>> schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    >>> without_added_nulls('{"a": null}', schema)
    '{}'
    """
    if "null" not in written:
        return written
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return written
    cleaned = _without_nulls(value, schema, schema)
    return written if cleaned == value else json.dumps(cleaned, ensure_ascii=False)


def _without_nulls(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    reference = schema.get("$ref")
    if _is_definition(reference):
        schema = root.get("$defs", {}).get(str(reference).removeprefix(_DEFINED), {})
    for kind in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        value = _without_nulls(value, kind, root)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [_without_nulls(each, schema["items"], root) for each in value]
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, Mapping):
        return value
    required = _required(schema)
    return {
        name: _without_nulls(part, properties.get(name, {}), root)
        for name, part in value.items()
        if part is not None
        or name in required
        or name not in properties
        or _takes_null(properties[name])
    }
