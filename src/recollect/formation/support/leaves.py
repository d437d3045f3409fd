"""The texts of an operation, each with what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.operations import Citation, Insert, Operation, Patch, PatchChange, cited_by
from recollect.formation.support.content_words import WordIndex
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.judgement import JudgedLeaf
from recollect.formation.support.origins import Sources
from recollect.formation.types import MemoryType
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import covers, is_number, leaves, part_at
from recollect.text.searchable import memory_text

LABELS: Final = frozenset(
    "context topic topics title category categories kind tag tags label labels subject_area".split()
)
"""Labels: fields of free words, which need no support."""


def type_of(operation: Operation, heard: HeardWindow) -> MemoryType:
    """Return the type of the memory that an operation is about."""
    if isinstance(operation, Insert):
        return heard.offer.types[operation.type]
    return heard.offer.types[heard.offer.known[operation.target].type]


def known_words(operation: Operation, heard: HeardWindow) -> list[WordIndex]:
    """Return the words that need no support: those of the schema and of the former document."""
    frame = heard.frame_of(type_of(operation, heard))
    if isinstance(operation, Insert):
        return [frame]
    return [frame, heard.words_of_known(operation.target)]


def texts_of(operation: Operation, heard: HeardWindow) -> list[JudgedLeaf]:
    """Return the texts of the values that an operation brings."""
    if isinstance(operation, Insert):
        return list(_texts_of_insert(operation, heard))
    if isinstance(operation, Patch):
        return [leaf for each in operation.changes for leaf in _texts_of(each, operation, heard)]
    return []


def _texts_of_insert(operation: Insert, heard: HeardWindow) -> Iterator[JudgedLeaf]:
    known = known_words(operation, heard)
    for pointer, leaf in leaves(operation.value):
        if isinstance(leaf, str):
            cited = [each for each in operation.because if covers(each.path, pointer)]
            sources = Sources(heard, heard.passages(cited), known)
            yield JudgedLeaf(
                pointer=pointer, text=leaf, sources=sources, is_label=is_label(pointer)
            )


def _texts_of(change: PatchChange, operation: Patch, heard: HeardWindow) -> Iterator[JudgedLeaf]:
    known = known_words(operation, heard)
    before = heard.offer.known[operation.target].value
    place = str(change.operation.get("path"))
    sources = Sources(heard, heard.passages(cited_by(change)), known)
    for below, leaf in leaves(change.operation.get("value")):
        if isinstance(leaf, str):
            pointer = place + below
            yield JudgedLeaf(
                pointer=pointer,
                text=leaf,
                sources=sources,
                before=text_at(before, pointer),
                is_label=is_label(pointer),
            )


def numbers_of(operation: Operation) -> Iterator[tuple[str, Json, Sequence[Citation]]]:
    """Yield each number that an operation brings: where it stands, itself, what it cites."""
    if isinstance(operation, Insert):
        for pointer, leaf in leaves(operation.value):
            if is_number(leaf):
                yield pointer, leaf, [e for e in operation.because if covers(e.path, pointer)]
    elif isinstance(operation, Patch):
        for change in operation.changes:
            for below, leaf in leaves(change.operation.get("value")):
                if is_number(leaf):
                    yield f"{change.operation.get('path')}{below}", leaf, cited_by(change)


def text_at(value: Json, pointer: str) -> str:
    """Return the text of the value at *pointer*, ``""`` if there is nothing."""
    found = part_at(value, pointer)
    if found is None:
        return ""
    return found if isinstance(found, str) else memory_text({"value": found})


def is_label(pointer: str) -> bool:
    """Return True for a field that only classifies the rest."""
    return not LABELS.isdisjoint(pointer.split("/")[1:2])


def contents_of(value: JsonObject) -> str:
    """Return the texts of a memory, a line each; without its labels if there are others."""
    texts = [(pointer, str(leaf)) for pointer, leaf in leaves(value) if leaf is not None]
    contents = [text for pointer, text in texts if not is_label(pointer)]
    return "\n".join(contents or [text for _, text in texts])
