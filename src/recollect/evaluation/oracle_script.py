"""Turn the expectations of a case into the operations of an oracle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date

from recollect.evaluation.cases import EvaluationCase, Expectation
from recollect.evaluation.expectations import answer_of, is_whole, is_written
from recollect.formation.types import MemoryType
from recollect.records import Json
from recollect.stores.json_pointers import is_list, parse_pointer
from recollect.testing.memory_pattern import MemoryPattern
from recollect.testing.oracle import Action, Cited, OracleOperation


def deeds_of(case: EvaluationCase) -> tuple[OracleOperation, ...]:
    """Return the operations of a perfect model on the messages of *case*, in order."""
    said = sorted(
        (each for each in case.expectations if each.because), key=lambda e: e.because[0].message
    )
    return tuple(deed for each in said for deed in _deed(each, case))


def pattern_of(expectation: Expectation) -> MemoryPattern:
    """Return the pattern of the memories that *expectation* is about."""
    return MemoryPattern(
        path=expectation.path,
        where=expectation.where,
        equals=expectation.equals,
        contains=expectation.contains,
    )


def _deed(expectation: Expectation, case: EvaluationCase) -> Iterator[OracleOperation]:
    type_ = case.type_named(expectation.type)
    value = answer_of(expectation) if is_written(expectation) else None
    yield OracleOperation(
        action=_action(expectation, type_),
        type=type_.name,
        pattern=pattern_of(expectation),
        because=tuple(
            Cited(text=case.messages[each.message - 1].text, quote=each.quote, path=each.path)
            for each in expectation.because
        ),
        value=value,
        is_list=_is_list(type_, expectation.path) and not is_list(value),
        since=_day(expectation.since),
        until=_day(expectation.until),
        at=_day(expectation.at),
    )


def _action(expectation: Expectation, type_: MemoryType) -> Action:
    if is_written(expectation):
        return "keep" if is_whole(expectation, type_) else "write"
    return "remove" if type_.update_mode == "patch" else "end"


def _is_list(type_: MemoryType, path: str) -> bool:
    schema: Json = type_.parameters
    for step in parse_pointer(path):
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        schema = properties.get(step) if isinstance(properties, Mapping) else None
    return isinstance(schema, Mapping) and schema.get("type") == "array" and bool(path)


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
