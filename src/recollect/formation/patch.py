"""
JSON Patch (RFC 6902): change a document only where it changed.

All six operations, ``-`` for the end of a list, and escaped pointers are understood; members
that an operation does not define are ignored, as the RFC has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from recollect.errors import ModelError, NotFoundError, UsageError
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import (
    child_of,
    covers,
    element_index,
    is_list,
    join_pointer,
    kind_of,
    listed,
    parse_pointer,
    shown,
    value_at,
    whose,
)
from recollect.stores.validation import JSON_BYTES_MAX, JSON_DEPTH_MAX, encode_json

OPERATIONS_MAX: Final = 1_000

_Whole: TypeAlias = dict[str, Json]


class PatchError(ModelError):
    """
    An operation of a patch failed; the document is unchanged.

    *index* counts the operations from 0, *operation* is the one that failed, *reason* says why
    and what to do.
    """

    def __init__(self, index: int, operation: object, reason: str) -> None:
        super().__init__(index, operation, reason)
        self.index = index
        self.operation = operation
        self.reason = reason

    def __str__(self) -> str:
        return f"operation {self.index}{_named(self.operation)}: {self.reason}"


def _named(operation: object) -> str:
    if not isinstance(operation, Mapping) or not isinstance(operation.get("op"), str):
        return ""
    place = f" {shown(operation['path'])}" if isinstance(operation.get("path"), str) else ""
    return f" ({shown(operation['op'])[1:-1]}{place})"


def apply_patch(document: JsonObject, operations: Sequence[JsonObject]) -> JsonObject:
    """
    Apply *operations*, in order, to a copy of *document* and return it.

    All of them or none: *document* is never changed, and the result shares nothing with it
    nor with the operations.

    Raises:
        PatchError: An operation is malformed, names a place that is not there, fails its test,
            or makes the document something that cannot be stored.
        UsageError: *document* itself is no JSON object, or the operations are no list.

    >>> apply_patch({"pets": ["Mia"]}, [{"op": "add", "path": "/pets/-", "value": "Leo"}])
    {'pets': ['Mia', 'Leo']}
    """
    if not is_list(operations):
        msg = f"a patch is a list of operations, not {shown(operations)}"
        raise UsageError(msg)
    whole = _plain_copy(document, "the document")
    if not isinstance(whole, dict):
        msg = f"a patch changes a JSON object, not {kind_of(document)}"
        raise UsageError(msg)
    if len(operations) > OPERATIONS_MAX:
        reason = f"the patch has {len(operations)} operations; OPERATIONS_MAX is {OPERATIONS_MAX}"
        raise PatchError(OPERATIONS_MAX, operations[OPERATIONS_MAX], reason)
    copied_bytes = 0
    for index, operation in enumerate(operations):
        try:
            verb = _verb_of(operation)
            if verb == "copy":  # copies of copies double a document each time
                copied_bytes += _copied_bytes(whole, operation)
                _check_copied(copied_bytes)
            whole = _VERBS[verb](whole, operation)
        except (UsageError, NotFoundError) as error:
            raise PatchError(index, operation, str(error)) from None
    try:
        encode_json(whole, "the patched document")
    except UsageError as error:
        raise PatchError(len(operations) - 1, operations[-1], str(error)) from None
    return whole


def changed_pointers(before: Json, after: Json) -> tuple[str, ...]:
    """
    Return the smallest set of pointers at which *before* and *after* differ.

    Lists are compared by position, values as JSON (1 equals 1.0, but not true). A part that only
    one of them has gets one pointer; each surplus list element gets its own. Pointers are in the
    order of *before*, followed by those only in *after*.

    >>> changed_pointers({"age": 29, "pets": ["Mia"]}, {"age": 30, "pets": ["Mia", "Leo"]})
    ('/age', '/pets/1')
    """
    found: list[str] = []
    waiting: list[tuple[str, Json, Json]] = [("", before, after)]
    while waiting:
        pointer, old, new = waiting.pop()
        inner: list[tuple[str, Json, Json]] | None = None
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            names = [*old, *(name for name in new if name not in old)]
            inner = [(name, old.get(name, _ABSENT), new.get(name, _ABSENT)) for name in names]
        elif is_list(old) and is_list(new):
            length = max(len(old), len(new))
            inner = [(str(at), _element(old, at), _element(new, at)) for at in range(length)]
        if inner is None:
            found += [pointer] if not _is_same_scalar(old, new) else []
            continue
        waiting += [(pointer + join_pointer([name]), was, now) for name, was, now in inner[::-1]]
    return tuple(found)


class _Absent(str):
    """Marks a missing value: equal to itself alone."""

    __slots__ = ()


_ABSENT: Final = _Absent()


def _element(elements: Sequence[Json], at: int) -> Json:
    return elements[at] if at < len(elements) else _ABSENT


def _is_same_scalar(old: Json, new: Json) -> bool:
    if old is _ABSENT or new is _ABSENT or isinstance(old, bool) or isinstance(new, bool):
        return old is new
    are_numbers = isinstance(old, int | float) and isinstance(new, int | float)
    return (are_numbers or type(old) is type(new)) and old == new


def _plain_copy(value: object, what: str) -> Json:
    """Return a copy of *value* in plain dicts and lists; reject values that cannot be stored."""
    copied: Json = json.loads(encode_json(value, what))
    return copied


def _verb_of(operation: object) -> str:
    if not isinstance(operation, Mapping):
        msg = f"an operation is a JSON object with 'op' and 'path', not {kind_of(operation)}"
        raise UsageError(msg)
    verb = operation.get("op")
    if not isinstance(verb, str) or verb not in _VERBS:
        what = f"{shown(verb)} is no operation" if "op" in operation else "'op' is missing"
        msg = f"{what}: use one of {listed(_VERBS)}"
        raise UsageError(msg)
    return verb


def _pointer(operation: JsonObject, member: str) -> str:
    if member not in operation:
        msg = f"{member!r} is missing: give a JSON pointer such as '/home'"
        raise UsageError(msg)
    given = operation[member]
    if not isinstance(given, str):
        msg = f"{member!r} must be a JSON pointer such as '/home', not {shown(given)}"
        raise UsageError(msg)
    steps = parse_pointer(given)
    if len(steps) >= JSON_DEPTH_MAX:
        msg = (
            f"{member!r} leads {len(steps)} levels down; "
            f"a document has at most {JSON_DEPTH_MAX} (JSON_DEPTH_MAX)"
        )
        raise UsageError(msg)
    return given


def _path(operation: JsonObject) -> tuple[str, ...]:
    return parse_pointer(_pointer(operation, "path"))


def _value(operation: JsonObject) -> Json:
    if "value" not in operation:
        msg = f"'value' is missing: {operation['op']} needs one, be it null"
        raise UsageError(msg)
    return _plain_copy(operation["value"], "'value'")


def _put(whole: _Whole, steps: tuple[str, ...], value: Json) -> _Whole:
    """Carry out an add: a field is set, an element is inserted."""
    if not steps:
        return _as_whole(value)
    parent, place = _parent_of(whole, steps)
    _check_depth(steps, value)
    if isinstance(parent, dict):
        parent[steps[-1]] = value
        return whole
    at = len(parent) if steps[-1] == "-" else _insertion(steps[-1], parent, place)
    parent.insert(at, value)
    return whole


def _insertion(step: str, elements: list[Json], place: str) -> int:
    """Return the index at which *step* inserts: before an element, or after the last."""
    if step == str(len(elements)):
        return len(elements)
    try:
        return element_index(step, len(elements), place)
    except NotFoundError as error:
        msg = f"{error}: '-' adds behind the last element"
        raise NotFoundError(msg) from None


def _parent_of(whole: _Whole, steps: tuple[str, ...]) -> tuple[_Whole | list[Json], str]:
    """Return the object or list that holds, or will hold, the last step, and its pointer."""
    place = join_pointer(steps[:-1])
    try:
        parent = value_at(whole, place)
    except NotFoundError as error:
        msg = f"{error}: add what is missing above first"
        raise NotFoundError(msg) from None
    if not isinstance(parent, dict | list):
        msg = f"{whose(place)} is {kind_of(parent)}: nothing can stand inside it"
        raise NotFoundError(msg)
    return parent, place


def _added(whole: _Whole, operation: JsonObject) -> _Whole:
    return _put(whole, _path(operation), _value(operation))


def _copied(whole: _Whole, operation: JsonObject) -> _Whole:
    part = value_at(whole, _pointer(operation, "from"))
    return _put(whole, _path(operation), _plain_copy(part, "the copied part"))


def _cut(whole: _Whole, operation: JsonObject) -> _Whole:
    return _removed(whole, _path(operation))


def _removed(whole: _Whole, steps: tuple[str, ...]) -> _Whole:
    if not steps:
        msg = "the whole document cannot be removed: name the fields that are to go"
        raise UsageError(msg)
    parent, place = _parent_of(whole, steps)
    child_of(parent, steps[-1], place)
    if isinstance(parent, dict):
        del parent[steps[-1]]
    else:
        del parent[int(steps[-1])]
    return whole


def _replaced(whole: _Whole, operation: JsonObject) -> _Whole:
    steps, value = _path(operation), _value(operation)
    if not steps:
        return _as_whole(value)
    parent, place = _parent_of(whole, steps)
    try:
        child_of(parent, steps[-1], place)
    except NotFoundError as error:
        msg = f"{error}: replace changes only what is there, use add for what is new"
        raise NotFoundError(msg) from None
    _check_depth(steps, value)
    if isinstance(parent, dict):
        parent[steps[-1]] = value
    else:
        parent[int(steps[-1])] = value
    return whole


def _moved(whole: _Whole, operation: JsonObject) -> _Whole:
    source, target = _pointer(operation, "from"), _pointer(operation, "path")
    value = value_at(whole, source)
    if source == target:
        return whole
    if covers(source, target):
        msg = f"{shown(source)} cannot be moved into itself: copy it, or name another place"
        raise UsageError(msg)
    if not target:
        return _as_whole(value)
    return _put(_removed(whole, parse_pointer(source)), parse_pointer(target), value)


def _tested(whole: _Whole, operation: JsonObject) -> _Whole:
    pointer, wanted = _pointer(operation, "path"), _value(operation)
    found = value_at(whole, pointer)
    if changed_pointers(wanted, found):
        inside = changed_pointers(wanted, found)[0]
        differs = f" (they differ at {shown(pointer + inside)})" if inside else ""
        msg = f"there stands {shown(found)}, not {shown(wanted)}{differs}: read it again"
        raise UsageError(msg)
    return whole


def _as_whole(value: Json) -> _Whole:
    if not isinstance(value, dict):
        msg = f"the document must stay a JSON object; {kind_of(value)} cannot take its place"
        raise UsageError(msg)
    return value


def _check_depth(steps: tuple[str, ...], value: Json) -> None:
    depth = len(steps) + _levels(value)
    if depth > JSON_DEPTH_MAX:
        msg = f"the document would be {depth} levels deep; JSON_DEPTH_MAX is {JSON_DEPTH_MAX}"
        raise UsageError(msg)


def _levels(value: Json) -> int:
    if isinstance(value, Mapping):
        return 1 + max((_levels(each) for each in value.values()), default=0)
    if is_list(value):
        return 1 + max((_levels(each) for each in value), default=0)
    return 1


def _copied_bytes(whole: _Whole, operation: JsonObject) -> int:
    return len(encode_json(value_at(whole, _pointer(operation, "from")), "the copied part"))


def _check_copied(copied_bytes: int) -> None:
    if copied_bytes > JSON_BYTES_MAX:
        msg = f"the patch copies {copied_bytes} bytes; JSON_BYTES_MAX is {JSON_BYTES_MAX}"
        raise UsageError(msg)


_VERBS: Final[dict[str, Callable[[_Whole, JsonObject], _Whole]]] = {
    "add": _added,
    "remove": _cut,
    "replace": _replaced,
    "move": _moved,
    "copy": _copied,
    "test": _tested,
}
