"""JSON pointers (RFC 6901): addresses of values in a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, TypeGuard

from recollect.errors import NotFoundError, UsageError
from recollect.records import Json, JsonObject
from recollect.stores.remainder import split_pointer

Scalar: TypeAlias = bool | int | float | str | None
SHOWN_CHARACTERS: Final = 60
"""Characters of a value, and of each name, that an error shows, at most."""

_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)*", re.DOTALL)
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_NAMES_SHOWN: Final = 12
_BITS_SHOWN: Final = 128


def parse_pointer(pointer: str) -> tuple[str, ...]:
    """
    Return the unescaped steps of *pointer*; none for ``""``, the whole document.

    Raises:
        UsageError: *pointer* is not a text, or not a JSON pointer.

    >>> parse_pointer("/pets/0/na~1me")
    ('pets', '0', 'na/me')
    """
    if not isinstance(pointer, str):
        raise UsageError(f"a JSON pointer is text such as '/home', not {shown(pointer)}")
    if pointer and not pointer.startswith("/"):
        msg = f"{shown(pointer)} is not a JSON pointer: begin it with '/', as in '/home'"
        raise UsageError(msg)
    if not _POINTER.fullmatch(pointer):
        msg = f"{shown(pointer)} has a '~' that escapes nothing: write '~0' for '~', '~1' for '/'"
        raise UsageError(msg)
    return split_pointer(pointer)


def join_pointer(steps: Iterable[str | int]) -> str:
    """
    Return the JSON pointer with these *steps*.

    >>> join_pointer(["pets", 0, "na/me"])
    '/pets/0/na~1me'
    """
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def value_at(document: Json, pointer: str) -> Json:
    """
    Return the value at *pointer*.

    Raises:
        UsageError: *pointer* is not a JSON pointer.
        NotFoundError: There is no value at *pointer*; the message names its siblings.

    >>> value_at({"pets": [{"name": "Mia"}]}, "/pets/0/name")
    'Mia'
    """
    value = document
    walked: list[str] = []
    for step in parse_pointer(pointer):
        value = child_of(value, step, join_pointer(walked))
        walked.append(step)
    return value


def part_at(document: Json, pointer: str) -> Json:
    """
    Return the value at *pointer*; ``None`` if there is none.

    >>> part_at({"pets": ["Rex"]}, "/pets/0"), part_at({"pets": []}, "/pets/0")
    ('Rex', None)
    """
    try:
        return value_at(document, pointer)
    except (LookupError, ValueError):
        return None


def child_of(value: Json, step: str, place: str) -> Json:
    """
    Return the field or element *step* of *value*, which is at *place*.

    Raises:
        NotFoundError: *value* has no such field or element.
    """
    if isinstance(value, Mapping):
        if step in value:
            return value[step]
        raise NotFoundError(f"{whose(place)} has no field {shown(step)}; it has {listed(value)}")
    if is_list(value):
        return value[element_index(step, len(value), place)]
    raise NotFoundError(f"{whose(place)} is {kind_of(value)}: nothing is inside it")


def element_index(step: str, length: int, place: str) -> int:
    """
    Return the index that *step* names in the list of *length* elements at *place*.

    Raises:
        UsageError: *step* is not an index.
        NotFoundError: The index is out of range.
    """
    if step == "-":
        msg = f"'-' names the place after the last element of {whose(place)}: only add can use it"
        raise NotFoundError(msg)
    if not _INDEX.fullmatch(step):
        raise UsageError(
            f"{shown(step)} is not an index of the list at {place!r}: "
            "count from 0, in digits without leading zeros"
        )
    if int(step) >= length:
        has = f"has the elements 0 to {length - 1}" if length else "is an empty list"
        raise NotFoundError(f"{whose(place)} {has}, not {step}")
    return int(step)


def leaves(value: Json) -> Iterator[tuple[str, Scalar]]:
    """
    Yield pointer and value of everything in *value* that is neither object nor list, in order.

    >>> list(leaves({"name": "Mia", "toys": ["ball", "mouse"], "tags": []}))
    [('/name', 'Mia'), ('/toys/0', 'ball'), ('/toys/1', 'mouse')]
    """
    # A stack instead of recursion, which would pass each leaf up through all levels.
    waiting: list[tuple[str, Json]] = [("", value)]
    while waiting:
        pointer, each = waiting.pop()
        if each is None or isinstance(each, str | int | float):
            yield pointer, each
            continue
        parts = each.items() if isinstance(each, Mapping) else enumerate(each)
        inner: list[tuple[str | int, Json]] = list(parts)
        waiting += [(f"{pointer}{join_pointer([step])}", part) for step, part in reversed(inner)]


def covers(pointer: str, other: str) -> bool:
    """
    Return True if *other* equals *pointer* or lies inside it.

    >>> covers("/pets", "/pets/0"), covers("/pets", "/petstore"), covers("", "/pets")
    (True, False, True)
    """
    return other == pointer or other.startswith(f"{pointer}/")


def is_list(value: object) -> TypeGuard[Sequence[Json]]:
    """Return True if *value* is a JSON list: a sequence, but not text."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def texts_in(value: object) -> list[str]:
    """Return the texts in a JSON list, and none of anything else."""
    return [each for each in value if isinstance(each, str)] if is_list(value) else []


def is_object_list(value: object) -> TypeGuard[Sequence[JsonObject]]:
    """Return True for a JSON array of objects."""
    return is_list(value) and all(isinstance(each, Mapping) for each in value)


def is_number(value: object) -> TypeGuard[float]:
    """Return True if *value* is a JSON number; booleans are not, although Python's are ints."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_same(one: Json, other: Json) -> bool:
    """Return True if two values are equal and of one kind: to Python ``True`` equals 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def kind_of(value: object) -> str:
    """Return the name of the JSON type of *value* for a message; of another object its class."""
    if value is None or isinstance(value, bool):
        return shown(value)
    if isinstance(value, Mapping):
        return "an object"
    if is_list(value):
        return "a list"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "a number"
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def whose(place: str) -> str:
    """Return a description of the value at *place* for an error message."""
    return f"the value at {shown(place)}" if place else "the document"


def listed(names: Iterable[str]) -> str:
    """
    Return the first few of *names* for an error message.

    >>> listed(["age", "home"])
    "'age', 'home'"
    """
    every = list(names)
    first = ", ".join(shown(name) for name in every[:_NAMES_SHOWN])
    more = f" and {len(every) - _NAMES_SHOWN} more" if len(every) > _NAMES_SHOWN else ""
    return f"{first}{more}" or "none"


def shown(value: object) -> str:
    """Return *value* for an error message: short, on one line, safe for a terminal."""
    if isinstance(value, Mapping):
        return f"an object with {len(value)} fields" if value else "an empty object"
    if is_list(value):
        return f"a list of {len(value)} elements" if value else "an empty list"
    if isinstance(value, str):
        cut = value[:SHOWN_CHARACTERS]
        written = repr(cut) if cut.isprintable() else ascii(cut)
        cut_off = f"… ({len(value)} characters)" if len(value) > SHOWN_CHARACTERS else ""
        return f"{written}{cut_off}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > _BITS_SHOWN:
        return f"a number of {value.bit_length()} bits"  # more digits than Python would write
    return repr(value) if isinstance(value, int | float) else type(value).__name__
