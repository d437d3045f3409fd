"""
Arrays as parameters of statements, in the server's binary format.

The driver derives the type of a list from its values: ``smallint``, ``bigint``, or unknown if all
are ``None``. A statement would be prepared once per combination of types, and planned anew nearly
every time. Here the type is that of the statement's cast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from struct import Struct
from typing import Any, ClassVar, Final, TypeAlias

import psycopg
from psycopg import adapt, postgres, pq

Bound: TypeAlias = Sequence[object]
"""The values of a statement's parameters, in order."""


class BigintArray(list[int | None]):
    """The values of a parameter ``%s::bigint[]``."""


class TextArray(list[str | None]):
    """The values of a parameter ``%s::text[]``."""


class ByteaArray(list[bytes | None]):
    """The values of a parameter ``%s::bytea[]``."""


_PARAMETER: Final = re.compile(r"%s(?:::(bigint|text|bytea)\[\])?")
_CLASSES: Final[dict[str, Callable[[Any], object]]] = {
    "bigint": BigintArray,
    "text": TextArray,
    "bytea": ByteaArray,
}
# PostgreSQL's binary array header: dimensions, has-nulls flag, element type; length, first index.
_HEAD: Final = Struct("!iiIii").pack
_EMPTY: Final = Struct("!iiI").pack
_LENGTH: Final = Struct("!i").pack
_BIGINT: Final = Struct("!iq").pack
_NULL: Final = _LENGTH(-1)


def typed(statement: str, values: Bound) -> Bound:
    """Return the *values* of *statement*, with lists typed by its casts."""
    classes = _classes_of(statement)
    if not any(classes):
        return values
    return [made(each) if made else each for made, each in zip(classes, values, strict=True)]


@cache
def _classes_of(statement: str) -> tuple[Callable[[Any], object] | None, ...]:
    """Return the array class of each parameter of a constant statement, ``None`` for others."""
    return tuple(_CLASSES.get(found[1] or "") for found in _PARAMETER.finditer(statement))


def _packed(element_oid: int, elements: Sequence[bytes], values: Sequence[object]) -> bytes:
    if not values:
        return _EMPTY(0, 0, element_oid)
    return _HEAD(1, None in values, element_oid, len(values), 1) + b"".join(elements)


class _ArrayDumper(adapt.Dumper):
    format = pq.Format.BINARY
    element_oid: ClassVar[int]

    def __init_subclass__(cls, element: str) -> None:
        type_ = postgres.types[element]
        cls.element_oid, cls.oid = type_.oid, type_.array_oid


class _BigintArrayDumper(_ArrayDumper, element="int8"):
    def dump(self, obj: BigintArray) -> bytes:
        elements = [_NULL if each is None else _BIGINT(8, each) for each in obj]
        return _packed(self.element_oid, elements, obj)


class _TextArrayDumper(_ArrayDumper, element="text"):
    def dump(self, obj: TextArray) -> bytes:
        elements = [_NULL if each is None else _bytes_of(each.encode()) for each in obj]
        return _packed(self.element_oid, elements, obj)


class _ByteaArrayDumper(_ArrayDumper, element="bytea"):
    def dump(self, obj: ByteaArray) -> bytes:
        elements = [_NULL if each is None else _bytes_of(each) for each in obj]
        return _packed(self.element_oid, elements, obj)


def _bytes_of(value: bytes) -> bytes:
    return _LENGTH(len(value)) + value


def register_arrays(connection: psycopg.Connection[Any]) -> None:
    """Register the array types of this module on *connection*."""
    connection.adapters.register_dumper(BigintArray, _BigintArrayDumper)
    connection.adapters.register_dumper(TextArray, _TextArrayDumper)
    connection.adapters.register_dumper(ByteaArray, _ByteaArrayDumper)
