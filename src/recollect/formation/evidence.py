"""Evidence of formed values: from citations, and along with a document that changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from recollect.formation.identity import field_keys
from recollect.formation.operations import Citation
from recollect.formation.patch import apply_patch
from recollect.formation.pointers import (
    Scalar,
    covers,
    is_list,
    join_pointer,
    leaves,
    parse_pointer,
    value_at,
)
from recollect.formation.window import Window
from recollect.records import Evidence, EvidenceMap, Json, JsonObject

QUOTE_CHARACTERS_MAX: Final = 500
"""So much of the cited words is kept; the message has the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An operation of a JSON Patch; *evidence* is that of its value, by pointer into the value."""

    operation: JsonObject
    evidence: EvidenceMap = field(default_factory=dict)


def evidence_of(cited: Sequence[Citation], window: Window) -> dict[str, tuple[Evidence, ...]]:
    """Return the messages that *cited* names, by pointer, with their own words as quotes."""
    found: dict[str, tuple[Evidence, ...]] = {}
    for each in cited:
        line = window.line(each.message)
        span = line.find(each.quote) if line else None
        if line is None or span is None:
            continue
        evidence = Evidence(
            thread=line.message.thread,
            message=line.message.id,
            quote=line.text[span[0] : span[1]][:QUOTE_CHARACTERS_MAX],
        )
        found[each.path] = _joined(found.get(each.path, ()), (evidence,))
    return found


def joined_evidence(one: EvidenceMap, other: EvidenceMap) -> dict[str, tuple[Evidence, ...]]:
    """Return the evidence of both, each message and quote once."""
    joined = {pointer: tuple(each) for pointer, each in one.items()}
    for pointer, evidence in other.items():
        joined[pointer] = _joined(joined.get(pointer, ()), evidence)
    return joined


def within(pointer: str, evidence: EvidenceMap) -> dict[str, tuple[Evidence, ...]]:
    """
    Return the part of *evidence* that holds for what stands at *pointer*, as seen from there.

    >>> within("/pets", {"": (), "/pets/0": (), "/home": ()})
    {'': (), '/0': ()}
    """
    found: dict[str, tuple[Evidence, ...]] = {}
    for place, each in evidence.items():
        if covers(place, pointer):
            found[""] = _joined(found.get("", ()), each)
        elif covers(pointer, place):
            found[place[len(pointer) :]] = tuple(each)
    return found


def traced(
    value: JsonObject, evidence: EvidenceMap, steps: Sequence[Step]
) -> tuple[JsonObject, dict[str, tuple[Evidence, ...]]]:
    """
    Return *value* as the *steps* leave it, and what each part of that rests on.

    Whatever a step only moves or copies takes its evidence along; what it sets rests on the
    step's own, and on the old as well where the same stood there before. Evidence is named
    for the widest part, below the document itself, for all of which it is the same: so the
    erasing of a message takes what rested on it, and nothing else.

    Raises:
        PatchError: A step cannot be carried out.
    """
    after = apply_patch(value, [step.operation for step in steps])
    trail = _Trail()
    marked: JsonObject = {
        name: trail.mark(each, evidence, join_pointer([name])) for name, each in value.items()
    }
    for step in steps:
        if step.operation["op"] == "test":
            continue
        operation = dict(step.operation)
        if "value" in operation:
            operation["value"] = trail.mark(operation["value"], step.evidence)
            trail.join_what_stays(operation, marked)
        marked = apply_patch(marked, [operation])
    return after, _gathered(marked, trail.rests)


def evidence_kept(
    before: JsonObject, evidence: EvidenceMap, after: JsonObject
) -> dict[str, tuple[Evidence, ...]]:
    """
    Return what those parts of *after* rest on that stood in *before*, places in lists alike.

    >>> said = (Evidence(thread="t", message="m"),)
    >>> list(evidence_kept({"likes": ["tea"]}, {"/likes": said}, {"likes": ["milk", "tea"]}))
    ['/likes/1']
    """
    rests: dict[str, EvidenceMap] = {}
    for pointer, key in field_keys(before):
        rests[key] = joined_evidence(rests.get(key, {}), within(pointer, evidence))
    kept = {pointer: rests.get(key, {}).get("", ()) for pointer, key in field_keys(after)}
    whole: JsonObject = {"op": "replace", "path": "", "value": after}
    return traced({}, {}, [Step(operation=whole, evidence=kept)])[1]


class _Trail:
    """Documents with a mark in the place of every leaf, by which it is known wherever it goes."""

    def __init__(self) -> None:
        self.rests: list[tuple[Evidence, ...]] = []
        self._leaves: list[Scalar] = []

    def mark(self, value: Json, evidence: EvidenceMap, at: str = "") -> Json:
        """Return *value*, which stands at the pointer *at*, with the number of each leaf's mark."""
        if isinstance(value, Mapping):
            return {
                name: self.mark(each, evidence, at + join_pointer([name]))
                for name, each in value.items()
            }
        if is_list(value):
            return [self.mark(each, evidence, f"{at}/{n}") for n, each in enumerate(value)]
        steps = parse_pointer(at)
        widths = (join_pointer(steps[:length]) for length in range(len(steps) + 1))
        self.rests.append(_joined(*(evidence.get(pointer, ()) for pointer in widths)))
        self._leaves.append(cast("Scalar", value))
        return len(self.rests) - 1

    def join_what_stays(self, operation: JsonObject, marked: JsonObject) -> None:
        """Let leaves that are set to what they were keep what they rested on."""
        try:
            old = value_at(marked, str(operation["path"]))
        except LookupError:
            return
        *parents, _ = parse_pointer(str(operation["path"])) or ("",)
        if operation["op"] == "add" and is_list(value_at(marked, join_pointer(parents))):
            return
        before = dict(leaves(old))
        for pointer, new in leaves(operation["value"]):
            was = before.get(pointer, "")
            if isinstance(was, int) and isinstance(new, int) and self._is_same(was, new):
                self.rests[new] = _joined(self.rests[was], self.rests[new])

    def _is_same(self, one: int, other: int) -> bool:
        was, now = self._leaves[one], self._leaves[other]
        return was == now and isinstance(was, bool) == isinstance(now, bool)


def _gathered(
    marked: JsonObject, rests: Sequence[tuple[Evidence, ...]]
) -> dict[str, tuple[Evidence, ...]]:
    """Return the evidence of leaves as that of whole parts, where all of a part rest on it."""
    found: dict[str, tuple[Evidence, ...]] = {}

    def gather(part: Json, at: str) -> set[tuple[Evidence, ...]]:
        if isinstance(part, int):
            found[at] = rests[part]
            return {rests[part]}
        kinds = set[tuple[Evidence, ...]]()
        inner = [(at + join_pointer([step]), each) for step, each in _parts_of(part)]
        for pointer, each in inner:
            kinds |= gather(each, pointer)
        if at and len(kinds) == 1:
            for pointer, _ in inner:
                found.pop(pointer, None)
            (found[at],) = kinds
        return kinds

    gather(marked, "")
    return {pointer: each for pointer, each in found.items() if each}


def _parts_of(value: Json) -> Iterable[tuple[str | int, Json]]:
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value) if is_list(value) else ()


def _joined(*found: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(each for some in found for each in some))
