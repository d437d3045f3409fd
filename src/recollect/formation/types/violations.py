"""Explain why a document does not fit its schema: where, what was found, and what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from jsonschema_rs import ValidationError

from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import is_list, join_pointer, kind_of, listed, shown

FORMATS: Final = {
    "date": "a date such as 2024-05-07",
    "date-time": "a date and time with a zone such as 2024-05-07T18:30:00Z",
    "time": "a time with a zone such as 18:30:00Z",
    "duration": "a duration such as P3D or PT1H30M",
    "email": "an e-mail address such as ada@example.org",
    "hostname": "a host name such as www.example.org",
    "ipv4": "an IPv4 address such as 192.0.2.1",
    "ipv6": "an IPv6 address such as 2001:db8::1",
    "uri": "an address such as https://example.org/a",
    "uri-reference": "an address, whole or relative, such as /a?b=c",
    "uuid": "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
    "json-pointer": "a JSON pointer such as /home",
    "regex": "a regular expression",
}
"""An example for each common format; the validator enforces every format of the standard."""

_OPTIONS_SHOWN: Final = 4
_TYPES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}


def explain(error: ValidationError, schema: Json) -> Iterator[str]:
    """
    Yield lines such as ``"/age: -3 is less than the minimum of 0"`` for *error*.

    One error about several fields yields a line for each of them. *schema* is the whole schema
    that the document was checked against: it names the fields that exist.
    """
    at = tuple(error.instance_path)
    about = error.kind.as_dict()
    if error.kind.name == "additionalProperties":
        part = _part_at(schema, list(error.schema_path)[:-1])
        reason = f"there is no such field; the fields are {_fields_of(part)}"
        yield from (f"{readable_pointer((*at, name))}: {reason}" for name in about["unexpected"])
    elif error.kind.name == "propertyNames":
        inner = about["error"]
        reason = f"the field's name is wrong: {_reason(inner)}"
        yield f"{readable_pointer((*at, inner.instance))}: {reason}"
    else:
        yield f"{readable_pointer(at)}: {_reason(error)}"


def readable_pointer(steps: Iterable[str | int]) -> str:
    """Return the JSON pointer with these *steps* on one line; ``"the document"`` for none."""
    pointer = join_pointer(steps)
    if not pointer:
        return "the document"
    return pointer if pointer.isprintable() and len(pointer) <= 200 else shown(pointer)


def _part_at(schema: Json, steps: Iterable[str | int]) -> Json:
    for step in steps:
        if isinstance(schema, Mapping):
            schema = schema.get(str(step))
        elif is_list(schema):
            schema = schema[int(step)]
    return schema


def _fields_of(part: Json) -> str:
    properties = part.get("properties") if isinstance(part, Mapping) else None
    patterns = part.get("patternProperties") if isinstance(part, Mapping) else None
    known = listed(properties if isinstance(properties, Mapping) else ())
    return f"{known}, or names like {listed(patterns)}" if isinstance(patterns, Mapping) else known


def _reason(error: ValidationError) -> str:
    """Describe the value at the place of *error*, and the values allowed there."""
    if error.kind.name in {"anyOf", "oneOf"}:
        return _alternatives(error)
    explained = _REASONS.get(error.kind.name)
    if explained is None:
        return error.message if len(error.message) <= 300 else f"{error.message[:300]}…"
    return explained(error.instance, error.kind.as_dict())


def _type(value: Any, about: JsonObject) -> str:
    types = about["types"]
    names = types if is_list(types) else [types]
    wanted = [words for name, words in _TYPES.items() if name in names]
    names_itself = isinstance(value, bool) or not isinstance(value, str | int | float)
    what = "was found" if names_itself else f"is {kind_of(value)}"
    return f"{shown(value)} {what}; {' or '.join(wanted)} is needed"


def _enum(value: Any, about: JsonObject) -> str:
    options = about["options"]
    names = options if is_list(options) else []
    allowed = ", ".join(map(shown, names[:50]))
    more = f" and {len(names) - 50} more" if len(names) > 50 else ""
    return f"{shown(value)} is not one of {allowed}{more}"


def _format(value: Any, about: JsonObject) -> str:
    name = str(about["format"])
    return f"{shown(value)} is not {FORMATS.get(name, 'one')} (format {name})"


def _alternatives(error: ValidationError) -> str:
    options: list[list[ValidationError]] = error.kind.as_dict()["context"]
    if not all(options):
        value = shown(error.instance)
        return f"{value} fits more than one of the alternatives; it must fit exactly one"
    depth = len(error.instance_path)
    reasons = [_reason_below(option[0], depth) for option in options[:_OPTIONS_SHOWN]]
    more = f"; and {len(options) - _OPTIONS_SHOWN} more" if len(options) > _OPTIONS_SHOWN else ""
    return f"fits none of the alternatives: {'; or '.join(reasons)}{more}"


def _reason_below(error: ValidationError, depth: int) -> str:
    inside = join_pointer(list(error.instance_path)[depth:])
    return f"{inside}: {_reason(error)}" if inside else _reason(error)


def _limit(words: str) -> Callable[[Any, JsonObject], str]:
    return lambda value, about: f"{shown(value)} is {words} {shown(about['limit'])}"


def _count(unit: str, words: str) -> Callable[[Any, JsonObject], str]:
    return lambda value, about: f"it has {len(value)} {unit}, {words} {about['limit']}"


_REASONS: Final[dict[str, Callable[[Any, Any], str]]] = {
    "const": lambda value, about: (
        f"{shown(value)} is not {shown(about['expected_value'])}, all that is allowed"
    ),
    "contains": lambda value, _: f"{shown(value)} has too few, or too many, of what it must have",
    "enum": _enum,
    "exclusiveMaximum": _limit("not less than"),
    "exclusiveMinimum": _limit("not more than"),
    "falseSchema": lambda value, _: f"nothing is allowed here; {shown(value)} was found",
    "format": _format,
    "maxItems": _count("elements", "more than the maximum of"),
    "maxLength": _count("characters", "more than the maximum of"),
    "maxProperties": _count("fields", "more than the maximum of"),
    "maximum": _limit("more than the maximum of"),
    "minItems": _count("elements", "fewer than the minimum of"),
    "minLength": _count("characters", "fewer than the minimum of"),
    "minProperties": _count("fields", "fewer than the minimum of"),
    "minimum": _limit("less than the minimum of"),
    "multipleOf": lambda value, about: (
        f"{shown(value)} is not a multiple of {shown(about['multiple_of'])}"
    ),
    "not": lambda value, _: f"{shown(value)} is what is not allowed here",
    "pattern": lambda value, about: f"{shown(value)} does not match the pattern {about['pattern']}",
    "required": lambda _, about: f"the field {shown(about['property'])} is missing; it is required",
    "type": _type,
    "unevaluatedItems": lambda value, _: f"it has {len(value)} elements, more than are allowed",
    "unevaluatedProperties": lambda value, _: (
        f"it has fields that are not allowed; its fields are {listed(value)}"
    ),
    "uniqueItems": lambda value, _: f"{shown(value)} has equal elements: leave all but one out",
}
