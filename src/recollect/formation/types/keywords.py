"""How single keywords of a schema are checked where the usual way is unsafe, or says too little."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from recollect.formation.pointers import listed, shown
from recollect.formation.types.complaints import reason_of
from recollect.formation.types.formats import unlike
from recollect.formation.types.patterns import Pattern
from recollect.records import Json, JsonObject

CHECKS_MAX: Final = 1_000_000
"""Checking a document stops after so much work; a keyword counts ten, a pattern's step one."""
PATTERN_TEXT_CHARACTERS_MAX: Final = 10_000
"""A longer text is refused where a pattern asks for its form."""

_KEYWORD_COST: Final = 10

_Keyword: TypeAlias = Callable[[Any, Any, Any, JsonObject], Iterator[ValidationError] | None]


class CheckingStoppedError(Exception):
    """Checking a document would take too long."""


@dataclass(slots=True)
class _Budget:
    left: int = CHECKS_MAX

    def spend(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            msg = f"checking it takes more than {CHECKS_MAX} steps (CHECKS_MAX): make it smaller"
            raise CheckingStoppedError(msg)


_budget: ContextVar[_Budget] = ContextVar("budget of checks")


def checked(validator: Draft202012Validator, value: Json) -> list[ValidationError]:
    """
    Return all that is wrong with *value*.

    Raises:
        CheckingStoppedError: It would take more than ``CHECKS_MAX`` steps.
    """
    token = _budget.set(_Budget())
    try:
        return list(validator.iter_errors(value))
    finally:
        _budget.reset(token)


def _counted(keyword: _Keyword) -> _Keyword:
    def check(
        validator: Any, wanted: Any, value: Any, schema: JsonObject
    ) -> Iterator[ValidationError]:
        _budget.get().spend(_KEYWORD_COST)
        found = keyword(validator, wanted, value, schema)
        if found is not None:  # a keyword of the library's may return nothing
            yield from found

    return check


@lru_cache(maxsize=1_024)
def _pattern(pattern: str) -> Pattern:
    return Pattern(pattern)


def _is_in(pattern: str, text: str) -> bool:
    return _pattern(pattern).is_in(text, _budget.get().spend)


def _check_pattern(_v: Any, wanted: str, value: Any, _s: JsonObject) -> Iterator[ValidationError]:
    if not isinstance(value, str):
        return
    if len(value) > PATTERN_TEXT_CHARACTERS_MAX:
        yield ValidationError(
            f"its form cannot be checked: {len(value)} characters are more than "
            f"{PATTERN_TEXT_CHARACTERS_MAX} (PATTERN_TEXT_CHARACTERS_MAX)"
        )
    elif not _is_in(wanted, value):
        yield ValidationError(f"{shown(value)} does not match the pattern {wanted}")


def _check_format(_v: Any, wanted: str, value: Any, _s: JsonObject) -> Iterator[ValidationError]:
    if isinstance(value, str) and (example := unlike(value, wanted)) is not None:
        yield ValidationError(f"{shown(value)} is not {example} (format {wanted})")


def _check_pattern_properties(
    validator: Any, wanted: Mapping[str, Json], value: Any, _s: JsonObject
) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    for pattern, schema in wanted.items():
        for name, each in value.items():
            if _is_in(pattern, name[:PATTERN_TEXT_CHARACTERS_MAX]):
                yield from validator.descend(each, schema, path=name, schema_path=pattern)


def _check_additional(
    validator: Any, wanted: Any, value: Any, schema: JsonObject
) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    properties, patterns = (schema.get(key) for key in ("properties", "patternProperties"))
    known: list[str] = list(properties) if isinstance(properties, Mapping) else []
    forms: list[str] = list(patterns) if isinstance(patterns, Mapping) else []
    for name, each in value.items():
        cut = name[:PATTERN_TEXT_CHARACTERS_MAX]
        if name in known or any(_is_in(form, cut) for form in forms):
            continue
        if wanted is False:
            like = f", or names like {listed(forms)}" if forms else ""
            reason = f"there is no such field; the fields are {listed(known)}{like}"
            yield ValidationError(reason, path=[name])
        else:
            yield from validator.descend(each, wanted, path=name)


def _check_multiple(
    _v: Any, wanted: float, value: Any, _s: JsonObject
) -> Iterator[ValidationError]:
    """Check in decimals as they are written: 19.99 is a multiple of 0.01."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if (Fraction(str(value)) / Fraction(str(wanted))).denominator != 1:
        yield ValidationError(f"{value!r} is not a multiple of {wanted!r}")


def _check_unique(_v: Any, wanted: bool, value: Any, _s: JsonObject) -> Iterator[ValidationError]:  # noqa: FBT001
    if not wanted or not isinstance(value, list):
        return
    seen: dict[str, int] = {}
    for at, each in enumerate(value):
        before = seen.setdefault(json.dumps(_canonical(each), sort_keys=True), at)
        if before != at:
            reason = f"the elements {before} and {at} are equal ({shown(each)}): leave one out"
            yield ValidationError(reason)
            return


def _canonical(value: Json) -> Json:
    """Return *value* so that equal values of JSON, such as 1 and 1.0, are written alike."""
    if isinstance(value, dict):
        return {name: _canonical(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_canonical(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_names(
    validator: Any, wanted: Any, value: Any, _s: JsonObject
) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    for name in value:
        for error in validator.descend(name, wanted):
            yield ValidationError(f"the field's name is wrong: {reason_of(error)}", path=[name])


def _check_required(
    _v: Any, wanted: list[str], value: Any, _s: JsonObject
) -> Iterator[ValidationError]:
    if isinstance(value, dict):
        for name in dict.fromkeys(wanted):
            if name not in value:
                yield ValidationError(f"the field {shown(name)} is missing; it is required")


_OWN: Final[dict[str, _Keyword]] = {
    "additionalProperties": _check_additional,
    "format": _check_format,
    "multipleOf": _check_multiple,
    "pattern": _check_pattern,
    "patternProperties": _check_pattern_properties,
    "propertyNames": _check_names,
    "required": _check_required,
    "uniqueItems": _check_unique,
}
_KEYWORDS: Final[dict[str, Any]] = {
    name: _counted(keyword) for name, keyword in {**Draft202012Validator.VALIDATORS, **_OWN}.items()
}
Validator: type[Draft202012Validator] = extend(Draft202012Validator, _KEYWORDS)  # type: ignore[no-untyped-call]
"""The standard's validator with the keywords above in place of its own, each of them counted."""
