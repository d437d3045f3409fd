"""Of a speaker's document, keep what that speaker said, and leave out what another said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect.formation.operations import Citation, Insert, Operation
from recollect.formation.speakers import Speaker, SpeakerDocuments, speaker_of
from recollect.formation.support.identity_fields import is_name_field
from recollect.formation.value_identity import normalised
from recollect.formation.window import Window
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import covers, is_list


def with_owned_parts(
    operation: Operation, window: Window, whose: SpeakerDocuments | None
) -> tuple[Operation, tuple[str, ...]]:
    """
    Return an insert of one speaker's document without what others said, and notes on that.

    Its owner is the speaker whose name it gives as the user's. An operation that names no speaker,
    has fields within fields, or would keep no more than the name, is left as it is: the model is
    asked.
    """
    if whose is None or not isinstance(operation, Insert) or not _is_flat(operation.value):
        return operation, ()
    cited = _speakers_of(operation.because, window)
    owner = _owner_of(operation.value, cited)
    if owner is None or len({whose.keys[each] for each in cited}) < 2:
        return operation, ()
    parts = _Parts(operation, window, owner)
    kept = parts.kept()
    if all(map(is_name_field, kept.value)):
        return operation, ()
    notes = (f"left out: {each}: {_others(cited, owner)} said it" for each in parts.left)
    return kept, tuple(notes)


class _Parts:
    """The fields of an insert, and the elements of its lists, by who said them."""

    def __init__(self, operation: Insert, window: Window, owner: str) -> None:
        self._operation = operation
        self._window = window
        self._owner = owner
        self._because: list[Citation] = []
        self.left: list[str] = []

    def kept(self) -> Insert:
        """Return the insert with the owner's parts, and note those that are left out."""
        value: dict[str, Json] = {}
        for field, content in self._operation.value.items():
            if is_list(content):
                if elements := self._own_elements(field, content):
                    value[field] = elements
            elif self._takes(f"/{field}", f"/{field}", content):
                value[field] = content
        whole = [each for each in self._own(self._operation.because) if not each.path]
        return replace(self._operation, value=value, because=(*whole, *self._because))

    def _own_elements(self, field: str, content: Sequence[Json]) -> list[Json]:
        elements: list[Json] = []
        for place, element in enumerate(content):
            if self._takes(f"/{field}/{place}", f"/{field}/{len(elements)}", element):
                elements.append(element)
        return elements

    def _takes(self, pointer: str, becomes: str, content: Json) -> bool:
        """Return True for a part that the owner said, and cite it where it *becomes*."""
        about = [each for each in self._operation.because if covers(each.path, pointer)]
        own = self._own(about)
        # The owner's name needs no words: it stands at the head of their own lines.
        if not (own or (is_name_field(pointer) and normalised(str(content)) == self._owner)):
            self.left.append(pointer)
            return False
        self._because += [replace(each, path=becomes) for each in own if each.path]
        return True

    def _own(self, cited: Sequence[Citation]) -> list[Citation]:
        return [each for each in cited if _speakers_of([each], self._window) == {self._owner}]


def _owner_of(value: JsonObject, cited: frozenset[Speaker]) -> str | None:
    """Return the speaker among those cited whose name the document gives as the user's."""
    names = {normalised(str(each)) for field, each in value.items() if is_name_field(field)}
    found = [each for each in cited if each is not None and each in names]
    return found[0] if len(found) == 1 else None


def _is_flat(value: JsonObject) -> bool:
    """Return True if no field, and no element of a list, has parts of its own."""
    parts = [part for each in value.values() for part in ([*each] if is_list(each) else [each])]
    return not any(isinstance(each, Mapping) or is_list(each) for each in parts)


def _speakers_of(cited: Sequence[Citation], window: Window) -> frozenset[Speaker]:
    lines = [window.line(each.message) for each in cited]
    return frozenset(
        speaker_of(line.message) for line in lines if line and line.message.role == "user"
    )


def _others(cited: frozenset[Speaker], owner: str) -> str:
    return " or ".join(sorted(each or "somebody without a name" for each in cited - {owner}))
