"""Parts of an operation on a document, so that a doubt about one field holds up no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.formation.grounding.grounds import decide
from recollect.formation.operation_outcomes import Grounded
from recollect.formation.operations import Citation, Insert, Operation, Patch, PatchChange
from recollect.formation.support import HeardWindow
from recollect.formation.support.leaves import type_of
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import covers, is_list, join_pointer


def parts_of(operation: Operation) -> list[Operation]:
    """
    Return an operation on a document as one for each field, or element of a list.

    A patch is parted by its changes, unless one of them moves the places of others.

    >>> from recollect.formation.operations import Citation
    >>> said = (Citation(message=1, path="/home", quote="in Oslo"),)
    >>> whole = Insert(call="1", type="User", value={"home": "Oslo", "age": 3}, because=said)
    >>> [(each.value, len(each.because)) for each in parts_of(whole)]
    [({'home': 'Oslo'}, 1), ({'age': 3}, 0)]
    """
    if isinstance(operation, Insert):
        return [_part(operation, *each) for each in _fields(operation.value)]
    if isinstance(operation, Patch) and not any(map(_moves_places, operation.changes)):
        return [replace(operation, changes=(each,)) for each in operation.changes]
    return [operation]


def parted(whole: Grounded, heard: HeardWindow) -> list[Grounded]:
    """
    Return the parts of a document's operation that is in doubt, each with its own doubts.

    It stays whole if it is not in doubt, or if a part cannot stand alone.
    """
    return separated(whole, heard) if whole.grounds.doubts else [whole]


def separated(whole: Grounded, heard: HeardWindow) -> list[Grounded]:
    """Return the parts of a document's operation, each decided alone, or all of it in one."""
    operation = whole.operation
    is_document = type_of(operation, heard).update_mode == "patch"
    parts = parts_of(operation) if is_document else []
    decided = [Grounded(operation=of, grounds=to) for of, to in (decide(e, heard) for e in parts)]
    is_parted = len(decided) > 1 and not any(each.grounds.faults for each in decided)
    return decided if is_parted else [whole]


def _fields(value: JsonObject) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield where each part stands in *value*, where it stands alone, and the part alone."""
    for name, inner in value.items():
        pointer = join_pointer([name])
        elements: Sequence[Json] = inner if is_list(inner) else ()
        if len(elements) > 1:
            for number, element in enumerate(elements):
                yield f"{pointer}/{number}", f"{pointer}/0", {name: [element]}
        else:
            yield pointer, pointer, {name: inner}


def _part(operation: Insert, pointer: str, alone: str, value: JsonObject) -> Insert:
    because = tuple(_cited_for(operation.because, pointer, alone))
    return replace(operation, value=value, because=because)


def _cited_for(because: Sequence[Citation], pointer: str, alone: str) -> Iterator[Citation]:
    for each in because:
        if covers(pointer, each.path):
            yield replace(each, path=alone + each.path.removeprefix(pointer))
        elif covers(each.path, pointer):
            yield each


def _moves_places(change: PatchChange) -> bool:
    path = str(change.operation.get("path"))
    is_insertion = change.operation.get("op") == "add" and path.rpartition("/")[2].isdigit()
    return is_insertion or change.operation.get("op") in {"remove", "move", "copy"}
