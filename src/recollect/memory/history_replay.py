"""
Replay of a memory's history without the messages that were taken back; pure.

Each version is read as its changes against the one before: parts of the value that it set or
removed, and its validity, trust and state. A change that messages brought counts as long as one of
them stands. What all other changes leave, in their order, is what stands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

from recollect.formation.evidence import within
from recollect.memory.version_remainder import Messages, messages_of, without_messages
from recollect.records import Evidence, EvidenceMap, Json, MessageAddress, Revision
from recollect.stores.json_pointers import is_list, is_same, join_pointer
from recollect.stores.plans.undo import UNDONE
from recollect.stores.remainder import lost_statement, split_pointer

NOBODY: Final[Messages] = frozenset()
_ATTRIBUTES: Final = ("valid_from", "valid_until", "trust", "state")


class ListElement(NamedTuple):
    """The step to an element of a list: by what it is, as its index moves with the others."""

    text: str
    nth: int


Path: TypeAlias = tuple[str | ListElement, ...]


@dataclass(frozen=True, slots=True)
class _ValuePart:
    """A part of a value that one change sets: a field that holds no others, or a list element."""

    value: Json
    pointer: str
    said: Messages


class Handover(NamedTuple):
    """The end of a memory that passes on to a later message: *until*, and whose it is now."""

    until: datetime
    because: Messages


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayInputs:
    """
    The inputs of a replay besides the history.

    *gone_at* returns the messages that do not count for a version, *reasons* those because of which
    a version was written although it does not cite them. *heir* returns how an end goes on whose
    messages are gone.
    """

    gone_at: Callable[[Revision], AbstractSet[MessageAddress]]
    reasons: Callable[[Revision], Messages]
    heir: Callable[[], Handover | None]


@dataclass(slots=True, kw_only=True)
class Replayed:
    """The rest of a memory that stands; without *parts* nothing does."""

    parts: dict[Path, tuple[_ValuePart, Revision]] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    owners: dict[str, Messages] = field(default_factory=dict)
    """The messages that brought each of the *attributes*."""
    handover: Handover | None = None

    @property
    def value(self) -> dict[str, Json]:
        """The value that stands."""
        made: dict[str, Any] = {}
        for path, (part, _) in self.parts.items():
            _put(made, path, part.value)
        return made


def replayed(revisions: Sequence[Revision], inputs: ReplayInputs) -> Replayed:
    """Return what stands of a memory with these versions, oldest first."""
    replay = _Replay(inputs)
    before: Revision | None = None
    for each in _not_reverted(revisions, inputs):
        replay.take(each, before)
        before = each
    if before is not None and lost_statement(before.value, replay.found.value):
        replay.found.parts.clear()
    return replay.found


def _not_reverted(revisions: Sequence[Revision], inputs: ReplayInputs) -> Sequence[Revision]:
    """
    Return the versions without those that were undone since, and without their undos.

    An undo writes again what an earlier version had: what led to that counts, and nothing since.
    One that passes an end on to a later message makes something new.
    """
    led_to: list[list[Revision]] = []
    for place, each in enumerate(revisions):
        is_undo = each.cause == UNDONE and not inputs.reasons(each)
        same = range(place - 1, -1, -1) if is_undo else ()
        found = next((at for at in same if _has_content_of(each, revisions[at])), None)
        before = led_to[place - 1] if place else []
        led_to.append([*before, each] if found is None else led_to[found])
    return led_to[-1] if led_to else ()


def _has_content_of(one: Revision, other: Revision) -> bool:
    if any(getattr(one, name) != getattr(other, name) for name in _ATTRIBUTES):
        return False
    return is_same(one.value, other.value) and one.evidence == other.evidence


def new_messages(version: Revision, before: Revision | None) -> Messages:
    """Return the messages that a version cites and the one *before* did not."""
    return messages_of(version.evidence) - (messages_of(before.evidence) if before else NOBODY)


def changes_beside_evidence(version: Revision, before: Revision | None) -> bool:
    """Return True if a version removes a part, or changes an attribute: no evidence tells why."""
    if before is None:
        return False
    if any(getattr(version, name) != getattr(before, name) for name in _ATTRIBUTES):
        return True
    return bool(_parts_of(before).keys() - _parts_of(version).keys())


def standing_version(
    found: Replayed, revisions: Sequence[Revision], gone: AbstractSet[MessageAddress]
) -> tuple[Revision | None, EvidenceMap]:
    """
    Return the newest version that has the value that stands, and the evidence of that value.

    Where no version has it, the evidence is gathered from the versions that brought its parts.
    """
    value = found.value
    for each in reversed(revisions):
        if is_same(each.value, value):
            left, evidence = without_messages(each, gone)
            if is_same(left, value):
                return each, evidence
    return None, _gathered(found, value, gone)


def _gathered(
    found: Replayed, value: Mapping[str, Json], gone: AbstractSet[MessageAddress]
) -> EvidenceMap:
    """Return the evidence of each part that stands, from the version that brought it."""
    evidence: dict[str, tuple[Evidence, ...]] = {}
    left: dict[int, tuple[dict[Path, _ValuePart], EvidenceMap]] = {}
    for path, pointer in _places(value):
        if path not in found.parts:
            continue
        _, version = found.parts[path]
        if version.version not in left:
            known = without_messages(version, gone)
            left[version.version] = _flat(*known), known[1]
        parts, cited = left[version.version]
        if path in parts:
            for inner, each in within(parts[path].pointer, cited).items():
                evidence[pointer + inner] = each
    return evidence


class _Replay:
    """The changes of one history, taken one after another."""

    def __init__(self, inputs: ReplayInputs) -> None:
        self._inputs = inputs
        self.found = Replayed()
        # An undo writes again what an earlier version had: whose that was is known from there.
        self._claims: dict[tuple[object, ...], Messages] = {}

    def take(self, version: Revision, before: Revision | None) -> None:
        """Apply the changes of a version that count."""
        gone = self._inputs.gone_at(version)
        owners = self._inputs.reasons(version) | new_messages(version, before)
        self._take_parts(version, before, gone, owners)
        for name in _ATTRIBUTES:
            value = getattr(version, name)
            if before is None or getattr(before, name) != value:
                self._take_attribute(version, name, owners, is_first=before is None)

    def _take_parts(
        self,
        version: Revision,
        before: Revision | None,
        gone: AbstractSet[MessageAddress],
        owners: Messages,
    ) -> None:
        parts, past = _parts_of(version), _parts_of(before) if before else {}
        left = _flat(*without_messages(version, gone))
        # Read before the removals: what had no parts here was not emptied by them either.
        bare = {path for path, each in parts.items() if self._is_bare(path, each, past)}
        for path in [each for each in past if each not in parts]:
            brought = _in_place_of(past[path], path, parts, past) or owners
            self._remove(version, path, brought, gone)
        for path, written in parts.items():
            was = past.get(path)
            is_unsaid = was is not None and was.said == written.said
            if path in bare or (is_unsaid and was and is_same(was.value, written.value)):
                continue
            part = _by_hand(written) if is_unsaid else written
            new = part.said - (was.said if was else NOBODY)
            if part.said and path not in left:
                continue  # it cannot be had without a message that is gone
            if new and not new & left[path].said:
                continue  # others support what stood before, not what this one made of it
            self._set(path, part, version)

    def _is_bare(self, path: Path, part: _ValuePart, past: Mapping[Path, _ValuePart]) -> bool:
        """Return True for an object or list that lost its parts, none of which stands here."""
        return (
            _is_empty(part.value)
            and path not in past
            and any(_is_inside(path, each) for each in past)
            and not any(_is_inside(path, each) for each in self.found.parts)
        )

    def _set(self, path: Path, part: _ValuePart, version: Revision) -> None:
        parts = self.found.parts
        if path not in parts:
            others = [each for each in parts if _is_inside(path, each)]
            if others and _is_empty(part.value):
                return  # what would be empty still has parts: their removal does not count
            # An object or list that was empty, or a single value, makes room for its parts.
            for other in others:
                del parts[other]
        parts[path] = part, version

    def _remove(
        self, version: Revision, path: Path, owners: Messages, gone: AbstractSet[MessageAddress]
    ) -> None:
        claim = ("removed", path)
        if version.cause == UNDONE:
            owners = self._claims.get(claim, NOBODY)
        self._claims[claim] = owners
        if not owners or owners - gone:
            self.found.parts.pop(path, None)

    def _take_attribute(
        self, version: Revision, name: str, owners: Messages, *, is_first: bool
    ) -> None:
        value = getattr(version, name)
        reasons = self._inputs.reasons(version)
        if version.cause == UNDONE and not reasons:
            known = self._claims.get((name, value))
            if known is None:
                return  # an end that an undo had passed on, which was itself undone
            owners = known
        elif version.cause == UNDONE:
            owners = reasons
        self._claims[name, value] = owners
        if is_first or not owners or owners - self._inputs.gone_at(version):
            self._keep(name, value, owners, None)
            return
        is_end = name == "valid_until" and version.valid_until is not None
        heir = self._inputs.heir() if is_end else None
        if heir is not None:
            self._keep(name, heir.until, heir.because, heir)

    def _keep(self, name: str, value: Any, owners: Messages, heir: Handover | None) -> None:
        self.found.attributes[name] = value
        self.found.owners[name] = owners
        if name == "valid_until":
            self.found.handover = heir


def _parts_of(version: Revision) -> dict[Path, _ValuePart]:
    return _flat(version.value, version.evidence)


def _flat(value: Mapping[str, Json], evidence: EvidenceMap) -> dict[Path, _ValuePart]:
    """Return the parts of a value by their paths, each with the messages that it rests on."""
    said = _SaidAt(evidence)
    return {
        path: _ValuePart(_at(value, path, pointer), pointer, said.of(pointer))
        for path, pointer in _places(value)
    }


def _at(value: Json, path: Path, pointer: str) -> Json:
    found: Any = value
    for step, name in zip(path, split_pointer(pointer), strict=True):
        found = found[int(name)] if isinstance(step, ListElement) else found[name]
    part: Json = found
    return part


def _places(value: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    """Yield the path and the pointer of each part of a value, in order."""
    waiting: list[tuple[Path, str, Json]] = [((), "", value)]
    while waiting:
        path, pointer, each = waiting.pop()
        if isinstance(each, Mapping) and each:
            inner = [
                ((*path, name), pointer + join_pointer([name]), part) for name, part in each.items()
            ]
            waiting += reversed(inner)
        elif is_list(each) and each and path:
            counts: dict[str, int] = {}
            for index, part in enumerate(each):
                text = json.dumps(part, sort_keys=True, default=list)
                counts[text] = counts.get(text, 0) + 1
                yield (*path, ListElement(text, counts[text])), f"{pointer}/{index}"
        else:
            yield path, pointer


class _SaidAt:
    """The messages that each part of a value rests on."""

    def __init__(self, evidence: EvidenceMap) -> None:
        self._at = {at: messages_of({at: found}) for at, found in evidence.items()}
        self._inside: dict[str, set[MessageAddress]] = {}
        for at, found in self._at.items():
            steps = split_pointer(at)
            for depth in range(len(steps)):
                self._inside.setdefault(join_pointer(steps[:depth]), set()).update(found)

    def of(self, pointer: str) -> Messages:
        """Return the messages for the value at a pointer: its own, those inside, those above."""
        steps = split_pointer(pointer)
        above = (self._at.get(join_pointer(steps[:depth])) for depth in range(len(steps) + 1))
        return frozenset(self._inside.get(pointer, ())).union(*(each for each in above if each))


def _by_hand(part: _ValuePart) -> _ValuePart:
    """Return a part that changed without new words: a person's, whatever evidence it keeps."""
    return replace(part, said=NOBODY)


def _in_place_of(
    was: _ValuePart, path: Path, parts: Mapping[Path, _ValuePart], past: Mapping[Path, _ValuePart]
) -> Messages:
    """Return the messages of a new list element at the index of one that is removed."""
    if not path or not isinstance(path[-1], ListElement):
        return NOBODY
    for other, part in parts.items():
        if part.pointer == was.pointer and other not in past:
            return part.said - was.said
    return NOBODY


def _is_empty(value: Json) -> bool:
    return (isinstance(value, Mapping) or is_list(value)) and not value


def _is_inside(path: Path, other: Path) -> bool:
    """Return True if one of two different places is inside the other."""
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]


def _put(made: dict[str, Any], path: Path, value: Json) -> None:
    """Put a part into a value that is being made."""
    if not path:
        return
    place: Any = made
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, ListElement) else {}
        place = place.setdefault(step, empty)
    if isinstance(path[-1], ListElement):
        place.append(value)
    else:
        place[path[-1]] = value
