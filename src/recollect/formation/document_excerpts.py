"""Excerpts of large documents: only fields related to the conversation go to the model."""

from __future__ import annotations

import json
from typing import Final

from recollect.records import Json, JsonObject
from recollect.text.analysis import terms_of
from recollect.text.searchable import memory_text

NOT_SHOWN: Final = "not shown"


def hidden_fields(value: JsonObject, words: str, bytes_max: int | None) -> frozenset[str]:
    """
    Return the top-level fields of a large document that a model is not shown.

    Fields are shown by how many terms they share with *words*, then the small ones, while
    they fit into *bytes_max*. Without a limit all are shown.
    """
    if bytes_max is None or _size(value) <= bytes_max:
        return frozenset()
    spoken = set(terms_of(words))
    ranked = sorted(
        value.items(), key=lambda item: (-_shared(spoken, *item), _size(item[1]), item[0])
    )
    room, shown = bytes_max, set[str]()
    for name, field in ranked:
        size = _size({name: field})
        if size <= room:
            shown.add(name)
            room -= size
    return frozenset(value) - shown


def shown_value(value: JsonObject, hidden: frozenset[str]) -> JsonObject:
    """Return *value* with each *hidden* field replaced by its name and size."""
    return {
        name: f"({NOT_SHOWN}: {_size(field)} bytes)" if name in hidden else field
        for name, field in value.items()
    }


def _shared(spoken: set[str], name: str, field: Json) -> int:
    return len(spoken & set(terms_of(memory_text({name: field}))))


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=list).encode())
