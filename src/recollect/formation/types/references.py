"""
References within a schema, written out, so that the schema can stand inside another one.

A memory type's schema becomes part of a tool's; ``#/$defs/Pet`` would point into the wrong
document there. Nothing outside a schema is ever looked up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

from recollect.errors import LimitError, NotFoundError, UsageError
from recollect.formation.types.memory_type import SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import SHOWN_CHARACTERS, is_list, parse_pointer, shown, value_at

Steps = tuple[str | int, ...]

_ONE: Final = frozenset(
    "additionalProperties contains contentSchema else if items not propertyNames then "
    "unevaluatedItems unevaluatedProperties".split()
)
_ROWS: Final = frozenset("allOf anyOf oneOf prefixItems".split())
_TABLES: Final = frozenset(
    "$defs definitions dependentSchemas patternProperties properties".split()
)
_ABOUT: Final = frozenset(
    "$comment default deprecated description examples readOnly title writeOnly".split()
)
_DROPPED: Final = frozenset("$anchor $defs $id $schema definitions".split())


def subschemas(schema: JsonObject) -> Iterator[tuple[Steps, Json]]:
    """Yield the path and schema of each subschema directly below *schema*."""
    for keyword, value in schema.items():
        if keyword in _ONE:
            yield (keyword,), value
        elif keyword in _ROWS and is_list(value):
            yield from (((keyword, at), each) for at, each in enumerate(value))
        elif keyword in _TABLES and isinstance(value, Mapping):
            yield from (((keyword, name), each) for name, each in value.items())


def path_of(start: str, steps: Steps) -> str:
    """
    Return the path that an error names.

    >>> path_of("types[2].parameters", ("properties", "age", "minimum"))
    'types[2].parameters.properties.age.minimum'
    """
    for step in steps:
        if isinstance(step, int):
            start += f"[{step}]"
        elif step.isidentifier() and len(step) <= SHOWN_CHARACTERS:
            start += f".{step}"
        else:
            start += f".{step}" if step in ("$ref", "$defs", "$id") else f"[{shown(step)}]"
    return start


def written_out(schema: JsonObject, path: str) -> dict[str, Json]:
    """
    Return *schema* with its references replaced by their targets, without definitions.

    Raises:
        UsageError: A reference leads outside the schema, to nothing, or back to itself.
        LimitError: The result is larger than `SCHEMA_BYTES_MAX`, or too deep.
    """
    writer = _Writer(schema, path)
    found = writer.write(schema, (), ())
    if not isinstance(found, dict):  # a schema that is an object stays one
        raise UsageError(f"{path}: a schema must be an object, not {shown(found)}")
    return found


class _Writer:
    """Writes one schema out, and counts while it does: references to references multiply."""

    def __init__(self, schema: JsonObject, path: str) -> None:
        self.schema = schema
        self.path = path
        self.written_bytes = 0

    def write(self, part: Json, at: Steps, within: tuple[str, ...]) -> Json:
        """Expand *part* at the path *at*; *within* are the references being followed."""
        if len(at) > SCHEMA_DEPTH_MAX:
            what = f"levels of {self.path} with its references written out"
            raise LimitError(what, len(at), SCHEMA_DEPTH_MAX, "SCHEMA_DEPTH_MAX")
        if not isinstance(part, Mapping):
            self._count(part)
            return part
        below: dict[str, dict[Steps, Json]] = {}
        for steps, each in subschemas(part):
            below.setdefault(str(steps[0]), {})[steps] = each
        whole: dict[str, Json] = {}
        for keyword, value in part.items():
            if keyword in _DROPPED or keyword == "$ref":
                continue
            self._count(keyword if keyword in below else {keyword: value})
            whole[keyword] = self._parts(below[keyword], at, within) if keyword in below else value
        return self._referred(part["$ref"], whole, at, within) if "$ref" in part else whole

    def _parts(self, below: Mapping[Steps, Json], at: Steps, within: tuple[str, ...]) -> Json:
        parts = {steps: self.write(each, (*at, *steps), within) for steps, each in below.items()}
        first = next(iter(parts))
        if len(first) == 1:
            return parts[first]
        if isinstance(first[1], int):
            return list(parts.values())
        return {str(name): each for (_, name), each in parts.items()}

    def _referred(
        self, reference: Json, beside: dict[str, Json], at: Steps, within: tuple[str, ...]
    ) -> Json:
        where = path_of(self.path, (*at, "$ref"))
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise UsageError(
                f"{where}: {shown(reference)} leads outside this schema, and nothing is fetched: "
                "copy what it refers to into '$defs', and refer to '#/$defs/…'"
            )
        pointer = unquote(reference[1:])
        if pointer and not pointer.startswith("/"):
            raise UsageError(f"{where}: {shown(reference)} names an anchor: use '#/$defs/…'")
        try:
            referred = value_at(self.schema, pointer)
        except (NotFoundError, UsageError) as error:
            raise UsageError(f"{where}: {shown(reference)} leads nowhere: {error}") from None
        if pointer in within or self._is_above(pointer, at):
            raise UsageError(
                f"{where}: {shown(reference)} comes back to itself, so that it has no end: "
                "spell out as many levels as are needed"
            )
        target = self.write(referred, at, (*within, pointer))
        if beside and not (isinstance(target, dict) and set(beside) <= _ABOUT):
            return {"allOf": [target], **beside}
        return {**target, **beside} if isinstance(target, dict) else target

    def _is_above(self, pointer: str, at: Steps) -> bool:
        steps = parse_pointer(pointer)
        return steps == tuple(str(step) for step in at[: len(steps)]) and len(steps) <= len(at)

    def _count(self, part: Json) -> None:
        self.written_bytes += len(json.dumps(part, ensure_ascii=False, default=list).encode())
        if self.written_bytes > SCHEMA_BYTES_MAX:
            what = f"bytes of {self.path} with its references written out"
            raise LimitError(what, self.written_bytes, SCHEMA_BYTES_MAX, "SCHEMA_BYTES_MAX")
