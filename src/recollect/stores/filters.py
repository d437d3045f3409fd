"""
Filters: conditions on fields of JSON documents, with the same meaning on every backend.

A filter maps field paths to conditions: ``{"city": "Oslo", "age": {"$gte": 18}}``; all must hold. A
path names nested fields with dots; a field with the whole dotted name takes precedence. A condition
is a value (meaning ``$eq``) or an object of operators. The rules:

- Numbers compare with numbers, texts with texts by code point; nothing else is ordered: ``$gt`` and
  the like are false between different types, and for booleans.
- Equality is of JSON values: 1 equals 1.0 but neither ``true`` nor ``"1"``; objects and
  lists are equal if all their parts are.
- An absent field equals nothing, not even ``null``: ``{"a": null}`` matches an explicit null.
  ``$ne`` is the exact opposite of ``$eq``, so it holds for an absent field.
- Infinity is above, and minus infinity below, every number. Both occur as operands only, since no
  document can contain them.
- ``$in`` holds if the field equals one of the values.
- ``$contains`` holds if a list has an element equal to the value, or a text contains
  the text; otherwise it is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Final, TypeGuard

from recollect.errors import LimitError, UsageError
from recollect.records import Json, JsonObject
from recollect.stores.validation import encode_json

CONDITIONS_MAX: Final = 50
OPERAND_DEPTH: Final = 3
"""Levels at which an operand can be: a field, its condition, and an element of a list."""
OPERATORS: Final = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$contains")


class _Absent:
    """The value of a field that a document does not have."""


_ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Condition:
    """One operator applied to one field."""

    path: str
    operator: str
    operand: Json


def read_filter(filter_: JsonObject) -> tuple[Condition, ...]:
    """
    Return the conditions of *filter_*, in order.

    Raises:
        UsageError: An operator is unknown or nested too deeply, or its operand is invalid.
        LimitError: There are more than ``CONDITIONS_MAX`` conditions.
    """
    if not isinstance(filter_, Mapping):
        raise UsageError(f"a filter is an object of fields and conditions, not {filter_!r}")
    encode_json(_bounded(filter_, OPERAND_DEPTH), "a filter")
    conditions = [
        condition for path, wanted in filter_.items() for condition in _conditions(path, wanted)
    ]
    if len(conditions) > CONDITIONS_MAX:
        raise LimitError(
            "conditions of a filter", len(conditions), CONDITIONS_MAX, "CONDITIONS_MAX"
        )
    return tuple(conditions)


def _bounded(given: object, levels: int) -> object:
    """Return *given* with infinite operands replaced by numbers, as JSON has no infinity."""
    if isinstance(given, float):
        return 0.0 if isinf(given) else given
    if not levels or isinstance(given, str | bytes | bytearray):
        return given
    if isinstance(given, Mapping):
        return {name: _bounded(each, levels - 1) for name, each in given.items()}
    if isinstance(given, Sequence):
        return [_bounded(each, levels - 1) for each in given]
    return given


def _conditions(path: str, wanted: Json) -> list[Condition]:
    if not path:
        raise UsageError("a filter names a field with the empty string")
    is_operators = isinstance(wanted, Mapping) and any(str(key).startswith("$") for key in wanted)
    if not is_operators or not isinstance(wanted, Mapping):
        if below := next(_operators_below(wanted, path), None):
            msg = f"an operator is nested below {path!r}: name its field whole, as {below!r}"
            raise UsageError(msg)
        return [Condition(path, "$eq", wanted)]
    for operator, operand in wanted.items():
        if operator not in OPERATORS:
            msg = f"unknown operator {operator!r} for {path!r}: use one of {', '.join(OPERATORS)}"
            raise UsageError(msg)
        if operator == "$in" and (isinstance(operand, str) or not isinstance(operand, Sequence)):
            raise UsageError(f"$in for {path!r} needs a list of values, not {operand!r}")
    return [Condition(path, operator, operand) for operator, operand in wanted.items()]


def _operators_below(wanted: Json, path: str) -> Iterator[str]:
    """Yield the dotted names of the fields below *path* that have operators."""
    for name, each in wanted.items() if isinstance(wanted, Mapping) else ():
        if isinstance(each, Mapping) and not each.keys().isdisjoint(OPERATORS):
            yield f"{path}.{name}"
        yield from _operators_below(each, f"{path}.{name}")


def matches(conditions: Sequence[Condition], document: JsonObject) -> bool:
    """
    Return True if *document* satisfies every condition.

    >>> wanted = read_filter({"pet.name": "Tom", "age": {"$gt": 3}})
    >>> matches(wanted, {"pet": {"name": "Tom"}, "age": 4})
    True
    >>> matches(read_filter({"n": 1}), {"n": True})
    False
    """
    return all(_holds(condition, _field(document, condition.path)) for condition in conditions)


def _field(document: Json, path: str) -> Json | _Absent:
    """Return the field at *path*: by its whole dotted name first, then step by step."""
    # The type first: `isinstance` with an abstract class is slow, and most documents are dicts.
    if type(document) is not dict and not isinstance(document, Mapping):
        return _ABSENT
    if path in document:
        return document[path]
    head, dot, rest = path.partition(".")
    return _field(document[head], rest) if dot and head in document else _ABSENT


def _holds(condition: Condition, field: Json | _Absent) -> bool:
    operand = condition.operand
    if ordering := _ORDERINGS.get(condition.operator):
        return _ordered(field, operand, ordering)
    match condition.operator:
        case "$eq":
            return equal(field, operand)
        case "$ne":
            return not equal(field, operand)
        case "$in":
            return isinstance(operand, Sequence) and any(equal(field, each) for each in operand)
        case _:
            return _contains(field, operand)


def equal(one: Json | _Absent, other: Json | _Absent) -> bool:
    """Return True if two JSON values are equal: 1 and 1.0 are, 1 and ``true`` are not."""
    if type(one) is str and type(other) is str:  # the most frequent case
        return one == other
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other  # to Python 1 equals True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, _Absent) or isinstance(other, _Absent):
        return False
    return one == other


def _is_list(value: object) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _contains(field: Json | _Absent, operand: Json) -> bool:
    if isinstance(field, str):
        return isinstance(operand, str) and operand in field
    return isinstance(field, Sequence) and any(equal(each, operand) for each in field)


_ORDERINGS: Final[dict[str, Callable[[int], bool]]] = {
    "$gt": lambda order: order > 0,
    "$gte": lambda order: order >= 0,
    "$lt": lambda order: order < 0,
    "$lte": lambda order: order <= 0,
}


def _ordered(field: Json | _Absent, operand: Json, holds: Callable[[int], bool]) -> bool:
    if isinstance(field, str) and isinstance(operand, str):
        return holds((field > operand) - (field < operand))
    if _is_number(field) and _is_number(operand):
        return holds((field > operand) - (field < operand))
    return False


_NUMBERS: Final = frozenset({int, float})
"""The types of nearly all numbers: comparing a type is faster than `isinstance`."""


def _is_number(value: object) -> TypeGuard[float]:
    return type(value) in _NUMBERS or (
        isinstance(value, int | float) and not isinstance(value, bool)
    )
