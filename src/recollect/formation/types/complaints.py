"""What is wrong with a document, said so that a model can mend it: where, found, allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from jsonschema.exceptions import ValidationError

from recollect.formation.pointers import is_list, join_pointer, kind_of, listed, shown

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


def complaint(error: ValidationError) -> str:
    """Return ``"/age: -3 is less than the minimum of 0"`` and its like for *error*."""
    return f"{shown_pointer(error.absolute_path)}: {reason_of(error)}"


def shown_pointer(steps: Iterable[str | int]) -> str:
    """Return the pointer with these *steps*, readable and on one line."""
    pointer = join_pointer(steps)
    if not pointer:
        return "the document"
    return pointer if pointer.isprintable() and len(pointer) <= 200 else shown(pointer)


def reason_of(error: ValidationError) -> str:
    """Return what was found, and what is allowed."""
    said = _SAID.get(str(error.validator))
    if said is None:
        # The keywords of ours speak for themselves; a rare one of the library's is cut short.
        return error.message if len(error.message) <= 300 else f"{error.message[:300]}…"
    return said(error.instance, error.validator_value, error)


def _type(value: Any, wanted: Any, _: object) -> str:
    types = wanted if is_list(wanted) else [wanted]
    needed = " or ".join(_TYPES.get(str(each), str(each)) for each in types)
    names_itself = isinstance(value, bool) or not isinstance(value, str | int | float)
    what = "was found" if names_itself else f"is {kind_of(value)}"
    return f"{shown(value)} {what}; {needed} is needed"


def _enum(value: Any, wanted: Any, _: object) -> str:
    allowed = ", ".join(shown(each) for each in wanted[:50])
    more = f" and {len(wanted) - 50} more" if len(wanted) > 50 else ""
    return f"{shown(value)} is not one of {allowed}{more}"


def _options(value: Any, _: object, error: ValidationError) -> str:
    if not error.context:
        return f"{shown(value)} fits more than one of the alternatives; it must fit exactly one"
    by_option: dict[object, str] = {}
    for each in error.context:
        option = each.schema_path[0]
        inside = join_pointer(each.path)
        reason = f"{inside}: {reason_of(each)}" if inside else reason_of(each)
        by_option.setdefault(option, reason)
    reasons = list(by_option.values())
    more = f"; and {len(reasons) - _OPTIONS_SHOWN} more" if len(reasons) > _OPTIONS_SHOWN else ""
    return f"fits none of the alternatives: {'; or '.join(reasons[:_OPTIONS_SHOWN])}{more}"


def _than(words: str) -> Callable[[Any, Any, object], str]:
    return lambda value, wanted, _: f"{shown(value)} is {words} {shown(wanted)}"


def _count(unit: str, words: str) -> Callable[[Any, Any, object], str]:
    return lambda value, wanted, _: f"it has {len(value)} {unit}, {words} {wanted}"


def _items(value: Any, _: object, error: ValidationError) -> str:
    allowed = len(error.schema.get("prefixItems", ())) if isinstance(error.schema, dict) else 0
    return f"it has {len(value)} elements; only the first {allowed} are allowed"


def _dependent(value: Any, wanted: Any, _: object) -> str:
    missing = [
        f"{shown(other)} (because of {shown(name)})"
        for name, others in wanted.items()
        if name in value
        for other in others
        if other not in value
    ]
    return f"these fields are missing: {', '.join(missing)}"


_SAID: Final[dict[str, Callable[[Any, Any, ValidationError], str]]] = {
    "None": lambda value, _, __: f"nothing is allowed here; {shown(value)} was found",
    "anyOf": _options,
    "const": lambda value, wanted, _: f"{shown(value)} is not {shown(wanted)}, all that is allowed",
    "contains": lambda value, _, __: (
        f"{shown(value)} has too few, or too many, of what it must have"
    ),
    "dependentRequired": _dependent,
    "enum": _enum,
    "exclusiveMaximum": _than("not less than"),
    "exclusiveMinimum": _than("not more than"),
    "items": _items,
    "maxItems": _count("elements", "more than the maximum of"),
    "maxLength": _count("characters", "more than the maximum of"),
    "maxProperties": _count("fields", "more than the maximum of"),
    "maximum": _than("more than the maximum of"),
    "minItems": _count("elements", "fewer than the minimum of"),
    "minLength": _count("characters", "fewer than the minimum of"),
    "minProperties": _count("fields", "fewer than the minimum of"),
    "minimum": _than("less than the minimum of"),
    "not": lambda value, _, __: f"{shown(value)} is what is not allowed here",
    "oneOf": _options,
    "type": _type,
    "unevaluatedItems": lambda value, _, __: f"it has {len(value)} elements, more than are allowed",
    "unevaluatedProperties": lambda value, _, __: (
        f"it has fields that are not allowed; its fields are {listed(value)}"
    ),
}
