"""
JSON Schema (2020-12): what a type's documents must be, and what is wrong with one that is not.

Enforced are all keywords of the standard, and of the formats those that `FORMATS` names. Nothing
is ever fetched: a reference outside the schema is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from recollect.errors import LimitError, UsageError
from recollect.formation.pointers import is_list, join_pointer, kind_of, shown
from recollect.formation.rules import wrong_rules
from recollect.formation.types.complaints import complaint, shown_pointer
from recollect.formation.types.keywords import CheckingStoppedError, Validator, checked
from recollect.formation.types.memory_type import SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, MemoryType
from recollect.formation.types.patterns import Pattern
from recollect.formation.types.references import Steps, path_of, subschemas, written_out
from recollect.records import INSTRUCTIONS, Json, JsonObject
from recollect.stores.validate import JSON_BYTES_MAX, JSON_DEPTH_MAX, check_text, encode_json

VIOLATIONS_MAX: Final = 20
"""At most so many violations of a document are named; the rest are counted."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFUSED: Final = ("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor")


def violations(type_: MemoryType, value: object) -> tuple[str, ...]:
    """
    Say what is wrong with *value* as a document of *type_*; nothing if it is one.

    Each says where (a JSON pointer), what was found and what is allowed, so that a model can mend
    it; in the order of the pointers, at most ``VIOLATIONS_MAX`` and how many more there are.
    Whatever *value* is, this returns.

    Raises:
        UsageError: The schema of *type_* is none; types of `load_types` have been checked.

    >>> from recollect.formation.types.builtin import USER
    >>> violations(USER, {"age": -3})
    ('/age: -3 is less than the minimum of 0',)
    """
    validator = _validator(json.dumps(type_.parameters, default=_plain))
    wrong = next(_unstorable(value, JSON_DEPTH_MAX), None)
    if wrong is not None:
        return (f"{shown_pointer(wrong[0])}: {wrong[1]}",)
    try:
        plain = json.loads(encode_json(value, "the document"))  # type: ignore[arg-type]
        found = sorted(checked(validator, plain), key=_place)
    except (UsageError, CheckingStoppedError) as error:
        return (f"the document: {error}",)
    except RecursionError:
        return ("the document: it is nested too deeply to be checked: make it flatter",)
    said = list(dict.fromkeys(complaint(error) for error in found))
    if not said and type_.name == INSTRUCTIONS:
        said = _wrong_instructions(plain)
    rest = len(said) - VIOLATIONS_MAX
    more = [f"and {rest} more of the kind"] if rest > 0 else []
    return (*said[:VIOLATIONS_MAX], *more)


def _wrong_instructions(value: JsonObject) -> list[str]:
    """Return what of a document of rules no schema says: each goes into prompts as a line."""
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


def _check_form(schema: JsonObject, path: str) -> None:
    """Refuse what the standard's own schema refuses."""
    meta = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    found = sorted(meta.iter_errors(schema), key=lambda error: (-len(error.path), _place(error)))
    for error in found:
        steps: Steps = tuple(error.absolute_path)
        reason = complaint(error).partition(": ")[2]
        msg = f"{path_of(path, steps)}: {reason}; this is no JSON Schema (2020-12)"
        raise UsageError(msg)


def _check_parts(schema: JsonObject, path: str) -> None:
    """Refuse in *schema*, and in every schema within it, what we could not check faithfully."""
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
    if "patternProperties" in part and "unevaluatedProperties" in part:
        msg = (
            f"{path_of(path, at)}: 'unevaluatedProperties' beside 'patternProperties' is not "
            "supported: use 'additionalProperties'"
        )
        raise UsageError(msg)
    named = part.get("patternProperties")
    patterns = (
        [(("patternProperties", each), each) for each in named]
        if isinstance(named, Mapping)
        else []
    )
    if isinstance(given := part.get("pattern"), str):
        patterns.append((("pattern",), given))  # type: ignore[arg-type]
    for steps, pattern in patterns:
        try:
            Pattern(pattern)
        except UsageError as error:
            raise UsageError(f"{path_of(path, (*at, *steps))}: {error}") from None


@lru_cache(maxsize=256)
def _validator(text: str) -> Draft202012Validator:
    return Validator(check_schema(json.loads(text), "parameters"))


def _place(error: ValidationError) -> tuple[str, str]:
    return join_pointer(error.absolute_path), error.message


def _unstorable(value: object, depth_max: int) -> Iterator[tuple[Steps, str]]:
    """Yield each place in *value* that no document of ours can have, and why; never recursing."""
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
                encode_json(each, "it")  # type: ignore[arg-type]
        except UsageError as error:
            yield at, str(error)
            continue
        waiting += [((*at, step), part) for step, part in reversed(inner)]


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else list(value)  # type: ignore[call-overload]
