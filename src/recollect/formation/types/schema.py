"""
JSON Schema (2020-12): check the documents of a memory type against its schema.

Every keyword and format of the standard is enforced. Patterns are matched by an engine that takes
linear time, so that no pattern and no text can stall the process: lookaround and back references
do not exist in it. Nothing is ever fetched: a reference outside the schema is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError, meta

from recollect.errors import LimitError, UsageError
from recollect.formation.instruction_rules import wrong_rules
from recollect.formation.types.memory_type import SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, MemoryType
from recollect.formation.types.references import Steps, path_of, subschemas, written_out
from recollect.formation.types.violations import explain, readable_pointer
from recollect.records import INSTRUCTIONS, Json, JsonObject
from recollect.stores.json_pointers import is_list, join_pointer, kind_of, shown
from recollect.stores.validation import (
    JSON_BYTES_MAX,
    JSON_DEPTH_MAX,
    check_text,
    encode_json,
    plain_container,
)

VIOLATIONS_MAX: Final = 20
"""Violations of a document that are listed, at most; the rest are counted."""
CHECKS_MAX: Final = 5_000_000
"""A document is refused unchecked if its values times the schema's parts are more than this."""
LISTED_CHECKS_MAX: Final = 50_000
"""Above this many checks only the first violation is named: collecting a million takes half a
minute, and a document of this size is hardly mended field by field."""
PATTERN_CHARACTERS_MAX: Final = 1_000
PATTERN_BYTES_MAX: Final = 1_000_000
"""A pattern must take no more than this once it is compiled, with its repeats written out."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFUSED: Final = ("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor")
_PATTERNS: Final = RegexOptions(size_limit=PATTERN_BYTES_MAX)


def violations(type_: MemoryType, value: object) -> tuple[str, ...]:
    """
    Return the violations of *value* as a document of *type_*; empty if it is valid.

    Each line names the place (a JSON pointer), what was found and what is allowed, so that a model
    can repair it. They are ordered by pointer; beyond ``VIOLATIONS_MAX`` only their number is
    given. Never raises because of *value*.

    Raises:
        UsageError: The schema of *type_* is invalid; types from `load_types` have been validated.

    >>> from recollect.formation.types.builtin import USER
    >>> violations(USER, {"age": -3})
    ('/age: -3 is less than the minimum of 0',)
    """
    checker = _checker(json.dumps(type_.parameters, default=plain_container))
    wrong = next(_unstorable(value, JSON_DEPTH_MAX), None)
    if wrong is not None:
        return (f"{readable_pointer(wrong[0])}: {wrong[1]}",)
    try:
        plain = json.loads(encode_json(value, "the document"))
    except UsageError as error:
        return (f"the document: {error}",)
    except RecursionError:
        return ("the document: it is nested too deeply to be checked: make it flatter",)
    said = checker.violations(plain)
    if not said and type_.name == INSTRUCTIONS:
        said = _wrong_instructions(plain)
    rest = len(said) - VIOLATIONS_MAX
    more = [f"and {rest} more of the kind"] if rest > 0 else []
    return (*said[:VIOLATIONS_MAX], *more)


class _Checker:
    """A compiled schema, and how many parts it has."""

    def __init__(self, schema: dict[str, Json]) -> None:
        self._schema = schema
        self._validator = _compiled(schema)
        self._parts = sum(1 for _ in _parts_of(schema))

    def violations(self, document: Json) -> list[str]:
        """Return a line for each violation in *document*, in the order of their pointers."""
        checks = self._parts * _size_of(document)
        if checks > CHECKS_MAX:
            over = f"{checks} steps, more than {CHECKS_MAX} (CHECKS_MAX)"
            return [f"the document: checking it takes {over}: make it smaller"]
        if self._validator.is_valid(document):
            return []
        if checks > LISTED_CHECKS_MAX:
            return self._first_violation(document)
        found = sorted(self._validator.iter_errors(document), key=_place)
        return list(dict.fromkeys(line for error in found for line in explain(error, self._schema)))

    def _first_violation(self, document: Json) -> list[str]:
        try:
            self._validator.validate(document)
        except ValidationError as error:
            return [*explain(error, self._schema)]
        return []


@lru_cache(maxsize=256)
def _checker(text: str) -> _Checker:
    return _Checker(check_schema(json.loads(text), "parameters"))


def _compiled(schema: dict[str, Json]) -> Draft202012Validator:
    return Draft202012Validator(schema, validate_formats=True, pattern_options=_PATTERNS)


def _wrong_instructions(value: JsonObject) -> list[str]:
    """Return the violations of a rules document that a schema cannot express."""
    rules = value.get("rules")
    wrong = wrong_rules(rules) if is_list(rules) else ""
    return [f"/rules: {wrong}"] if wrong else []


def check_schema(parameters: object, path: str) -> dict[str, Json]:
    """
    Return *parameters* as the schema of a memory type: in plain JSON, its references written out.

    Raises:
        UsageError: It is no JSON Schema (2020-12) of an object, or asks for what cannot be
            checked; the error names the place, beginning with *path*.
        LimitError: It is larger than `SCHEMA_BYTES_MAX` or deeper than `SCHEMA_DEPTH_MAX`.
    """
    if not isinstance(parameters, Mapping):
        msg = f"{path}: must be a JSON Schema, an object, not {kind_of(parameters)}"
        raise UsageError(msg)
    for steps, reason in _unstorable(parameters, SCHEMA_DEPTH_MAX):
        raise UsageError(f"{path_of(path, steps)}: {reason}")
    size = len(encode_json(parameters, path).encode())
    if size > SCHEMA_BYTES_MAX:
        raise LimitError(f"bytes of {path}", size, SCHEMA_BYTES_MAX, "SCHEMA_BYTES_MAX")
    plain: dict[str, Json] = json.loads(encode_json(parameters, path))
    _check_form(plain, path)
    _check_parts(plain, path)
    whole = written_out(plain, path)
    if whole.get("type") != "object":
        found = f"not {shown(whole['type'])}" if "type" in whole else "which is missing"
        msg = f'{path}.type: must be "object", {found}: a memory is a JSON object'
        raise UsageError(msg)
    return whole


def _check_form(schema: dict[str, Json], path: str) -> None:
    """Reject a schema that violates the standard's meta-schema."""
    try:
        meta.validate(schema)
    except ValidationError as error:
        reason = next(explain(error, {})).partition(": ")[2]
        msg = f"{path_of(path, tuple(error.instance_path))}: {reason}; this is no JSON Schema"
        raise UsageError(f"{msg} (2020-12)") from None


def _check_parts(schema: JsonObject, path: str) -> None:
    """Reject in *schema*, and in every schema within it, what we could not check faithfully."""
    waiting: list[tuple[Steps, Json]] = [((), schema)]
    while waiting:
        at, part = waiting.pop()
        if not isinstance(part, Mapping):
            continue
        _check_part(part, at, path)
        waiting += [((*at, *steps), each) for steps, each in subschemas(part)]


def _check_part(part: JsonObject, at: Steps, path: str) -> None:
    for keyword in _REFUSED:
        if keyword in part:
            msg = f"{path_of(path, at)}: {keyword!r} is not supported: use '$ref' to '#/$defs/…'"
            raise UsageError(msg)
    if at and "$id" in part:
        msg = f"{path_of(path, at)}: a part with an '$id' of its own is not supported: leave it out"
        raise UsageError(msg)
    dialect = part.get("$schema", _DIALECT)
    if str(dialect).removesuffix("#") != _DIALECT:
        msg = (
            f"{path_of(path, at)}: written for {shown(dialect)}; memory types are JSON Schema "
            "2020-12: leave '$schema' out if it holds there too"
        )
        raise UsageError(msg)
    named = part.get("patternProperties")
    patterns: list[tuple[Steps, str]] = (
        [(("patternProperties", each), each) for each in named]
        if isinstance(named, Mapping)
        else []
    )
    if isinstance(given := part.get("pattern"), str):
        patterns.append((("pattern",), given))
    for steps, pattern in patterns:
        _check_pattern(pattern, path_of(path, (*at, *steps)))


def _check_pattern(pattern: str, place: str) -> None:
    if len(pattern) > PATTERN_CHARACTERS_MAX:
        what = f"characters of the pattern at {place}"
        raise LimitError(what, len(pattern), PATTERN_CHARACTERS_MAX, "PATTERN_CHARACTERS_MAX")
    try:
        _compiled({"pattern": pattern})
    except ValidationError:
        msg = (
            f"{place}: the pattern {shown(pattern)} cannot be used: it must be a regular "
            "expression without lookaround, back references and flags, and take at most "
            f"{PATTERN_BYTES_MAX} bytes (PATTERN_BYTES_MAX) with its repeats written out"
        )
        raise UsageError(msg) from None


def _parts_of(schema: JsonObject) -> Iterator[Json]:
    """Yield *schema* and every schema within it."""
    waiting: list[Json] = [schema]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Mapping):
            waiting += [each for _, each in subschemas(part)]


def _size_of(document: Json) -> int:
    """Return the number of values in a document, at every depth."""
    waiting, count = [document], 0
    while waiting:
        each = waiting.pop()
        count += 1
        if isinstance(each, Mapping):
            waiting += each.values()
        elif is_list(each):
            waiting += each
    return count


def _place(error: ValidationError) -> tuple[str, str]:
    return join_pointer(error.instance_path), error.message


def _unstorable(value: object, depth_max: int) -> Iterator[tuple[Steps, str]]:
    """Yield each place in *value* that cannot be stored, and why; without recursion."""
    waiting: list[tuple[Steps, object]] = [((), value)]
    seen = 0
    while waiting:
        at, each = waiting.pop()
        seen += 1
        if seen > JSON_BYTES_MAX:
            yield (), f"it has more than {JSON_BYTES_MAX} values"
            return
        if len(at) >= depth_max:
            yield at[:2], f"it is nested more than {depth_max} levels deep: make it flatter"
            return
        if isinstance(each, Mapping):
            inner: list[tuple[str | int, object]] = list(each.items())
        elif is_list(each):
            inner = list(enumerate(each))
        else:
            inner = []
        try:
            for step, _ in inner:
                if not is_list(each):
                    check_text(step, "a field's name")
            if not inner:
                encode_json(each, "it")
        except UsageError as error:
            yield at, str(error)
            continue
        waiting += [((*at, step), part) for step, part in reversed(inner)]
