"""mem0's filters: parse conditions and evaluate them on memories in mem0's form; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from recollect.errors import LimitError, UsageError
from recollect.records import Json, JsonObject
from recollect.server.mem0.owners import OWNER_FIELDS, owner_text
from recollect.stores.filters import CONDITIONS_MAX, equal
from recollect.stores.json_pointers import is_list, is_number

Join: TypeAlias = Literal["AND", "OR", "NOT"]
_JOINS: Final[Mapping[str, Join]] = {"AND": "AND", "OR": "OR", "NOT": "NOT"}
DEPTH_MAX: Final = 8
ANY: Final = "*"
NO_FILTERS: Final = (
    f"no filters are given: give at least one of {', '.join(OWNER_FIELDS)}, such as "
    "filters={'user_id': 'ada'}; {'user_id': '*'} means every user"
)
_TIMES: Final = ("created_at", "updated_at")
_FIELDS: Final = (*OWNER_FIELDS, *_TIMES, "categories", "metadata", "keywords", "id")
_OPERATORS: Final = ("eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "icontains")


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedConditions:
    """A combination of conditions: all must hold, one of them, or none."""

    join: Join
    parts: Sequence[FilterPart]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldCondition:
    """One operator applied to one field, or to one field of the metadata."""

    path: tuple[str, ...]
    operator: str
    operand: Json


FilterPart: TypeAlias = JoinedConditions | FieldCondition


def read_conditions(given: JsonObject) -> JoinedConditions:
    """
    Return the conditions of *given*, which must all hold.

    Raises:
        UsageError: A field or an operator is unknown, or an operand is of the wrong kind.
        LimitError: There are too many conditions, or they are nested too deeply.
    """
    found = _all_of(given, 1)
    if (count := _count(found)) > CONDITIONS_MAX:
        raise LimitError("conditions of a filter", count, CONDITIONS_MAX, "CONDITIONS_MAX")
    return found


def check_filtered(conditions: JoinedConditions) -> None:
    """
    Check that there is a condition; without one, a search would mix the memories of all users.

    Raises:
        UsageError: There is none.
    """
    if not _count(conditions):
        raise UsageError(NO_FILTERS)


def _count(part: FilterPart) -> int:
    return 1 if isinstance(part, FieldCondition) else sum(map(_count, part.parts))


def _all_of(given: JsonObject, depth: int) -> JoinedConditions:
    if depth > DEPTH_MAX:
        raise LimitError("levels of a filter", depth, DEPTH_MAX, "DEPTH_MAX")
    parts: list[FilterPart] = []
    for name, wanted in given.items():
        if name in _JOINS:
            parts.append(_joined(_JOINS[name], wanted, depth))
        elif name == "metadata":
            parts += _metadata(wanted)
        else:
            parts += _conditions((name,), wanted)
    return JoinedConditions(join="AND", parts=tuple(parts))


def _joined(join: Join, given: Json, depth: int) -> JoinedConditions:
    several = [given] if isinstance(given, Mapping) and join == "NOT" else given
    if isinstance(several, str) or not isinstance(several, Sequence):
        raise UsageError(f"{join} takes a list of conditions, not {given!r}")
    parts: list[FilterPart] = []
    for each in several:
        if not isinstance(each, Mapping):
            raise UsageError(f"{join} takes conditions such as {{'user_id': 'ada'}}, not {each!r}")
        parts.append(_all_of(each, depth + 1))
    return JoinedConditions(join=join, parts=tuple(parts))


def _metadata(wanted: Json) -> list[FieldCondition]:
    if not isinstance(wanted, Mapping):
        msg = f"metadata takes fields and their values, such as {{'topic': 'food'}}, not {wanted!r}"
        raise UsageError(msg)
    return [each for name, part in wanted.items() for each in _conditions(("metadata", name), part)]


def _conditions(path: tuple[str, ...], wanted: Json) -> list[FieldCondition]:
    if path[0] not in _FIELDS:
        raise UsageError(
            f"unknown field {path[0]!r} in a filter: use {', '.join(_FIELDS)}, AND, OR or NOT; "
            "write a field of the metadata as {'metadata': {'topic': 'food'}}"
        )
    is_operators = isinstance(wanted, Mapping) and bool(wanted)
    if not is_operators or not isinstance(wanted, Mapping):
        return [FieldCondition(path=path, operator="eq", operand=_checked(path, "eq", wanted))]
    if path[0] == "metadata" and not any(map(_looks_like_operator, wanted)):
        return [FieldCondition(path=path, operator="eq", operand=wanted)]
    return [
        FieldCondition(path=path, operator=name, operand=_checked(path, name, operand))
        for name, operand in wanted.items()
    ]


def _looks_like_operator(name: str) -> bool:
    """Return True for an operator, also in MongoDB's form, which would find nothing in silence."""
    return name in _OPERATORS or name.startswith("$")


def _checked(path: tuple[str, ...], operator: str, operand: Json) -> Json:
    field = ".".join(path)
    if operator not in _OPERATORS:
        msg = f"unknown operator {operator!r} for {field!r}: use one of {', '.join(_OPERATORS)}"
        raise UsageError(msg)
    is_list = isinstance(operand, Sequence) and not isinstance(operand, str)
    if operator in {"in", "nin"} and not is_list:
        raise UsageError(f"{operator} for {field!r} takes a list of values, not {operand!r}")
    if operator == "icontains" and not isinstance(operand, str):
        raise UsageError(f"icontains for {field!r} takes a text, not {operand!r}")
    if path[0] in _TIMES and operand != ANY:
        for each in operand if isinstance(operand, list | tuple) else [operand]:
            _ = _moment(each, field)
    return _as_owners(operand) if path[0] in OWNER_FIELDS else operand


def _as_owners(operand: Json) -> Json:
    """Convert the whole numbers among owners to text, as an add stores them."""
    return [owner_text(each) for each in operand] if is_list(operand) else owner_text(operand)


def owner_named(part: FilterPart, field: str) -> str | None:
    """Return the owner of a kind that every match must have, ``None`` if several are possible."""
    if isinstance(part, FieldCondition):
        is_one = part.path == (field,) and part.operator == "eq" and part.operand != ANY
        return part.operand if is_one and isinstance(part.operand, str) else None
    named = [owner_named(each, field) for each in part.parts]
    if part.join == "AND":
        return next((each for each in named if each), None)
    is_alone = part.join == "OR" and len(set(named)) == 1
    return named[0] if is_alone else None


def holds(part: FilterPart, row: JsonObject) -> bool:
    """
    Return True if a memory in mem0's form meets the conditions.

    >>> row = {"user_id": "ada", "metadata": {"topic": "food", "n": 3}, "categories": ["diet"]}
    >>> wanted = {"AND": [{"user_id": "ada"}, {"NOT": [{"metadata": {"n": {"gt": 3}}}]}]}
    >>> holds(read_conditions(wanted), row)
    True
    >>> holds(read_conditions({"OR": [{"run_id": "*"}, {"categories": {"in": ["work"]}}]}), row)
    False
    """
    if isinstance(part, FieldCondition):
        return _holds(part, row)
    found = (holds(each, row) for each in part.parts)
    if part.join == "AND":
        return all(found)
    return any(found) if part.join == "OR" else not any(found)


def _holds(condition: FieldCondition, row: JsonObject) -> bool:
    operator, operand = condition.operator, condition.operand
    field: Json = row
    for name in condition.path:
        field = field.get(name) if isinstance(field, Mapping) else None
    if condition.path == ("keywords",):
        field = row.get("memory")
        operator = {"eq": "icontains"}.get(operator, operator)
    if operand == ANY and operator == "eq":
        return field not in (None, "", [], ())
    if operator in _ORDERS:
        return _ordered(condition, field)
    values = field if is_list(field) else [field]
    if operator in {"eq", "ne"}:
        return (operator == "eq") == _equals(condition, field, operand)
    if operator in {"in", "nin"}:
        options = operand if is_list(operand) else ()  # `_checked` requires a list
        is_in = any(_equals(condition, each, option) for each in values for option in options)
        return is_in == (operator == "in")
    if isinstance(field, str) and isinstance(operand, str):
        folds = operator == "icontains"
        return operand.casefold() in field.casefold() if folds else operand in field
    return is_list(field) and any(equal(each, operand) for each in values)


def _equals(condition: FieldCondition, field: Json, operand: Json) -> bool:
    if condition.path[0] in _TIMES:
        return _moment(field, "it") == _moment(operand, "it")
    return equal(field, operand)


_ORDERS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
}


def _ordered(condition: FieldCondition, field: Json) -> bool:
    """Return True if the order holds between two times, numbers or texts."""
    in_order, operand = _ORDERS[condition.operator], condition.operand
    if condition.path[0] in _TIMES:
        return in_order(_moment(field, "it"), _moment(operand, "it"))
    if is_number(field) and is_number(operand):
        return in_order(field, operand)
    if isinstance(field, str) and isinstance(operand, str):
        return in_order(float(field > operand), float(operand > field))
    return False


def _moment(given: Json, field: str) -> float:
    """
    Return a time in seconds since 1970; a date is its start, without a zone it is UTC.

    Raises:
        UsageError: It is not a time.
    """
    if is_number(given):
        return float(given)
    try:
        if isinstance(given, str):
            found = datetime.fromisoformat(given)
            whole = found if found.tzinfo else datetime.fromisoformat(f"{found.isoformat()}+00:00")
            return whole.timestamp()
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"{field!r} is compared with a time such as '2026-05-01', not {given!r}")
