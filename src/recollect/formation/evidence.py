"""Evidence of formed values: read from citations, and kept through patches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from recollect.formation.attribution import ANY_SCHEMA, SchemaWords
from recollect.formation.operations import Citation
from recollect.formation.patch import apply_patch
from recollect.formation.window import Window
from recollect.records import Evidence, EvidenceMap, Json, JsonObject
from recollect.stores.json_pointers import (
    Scalar,
    covers,
    is_list,
    is_same,
    join_pointer,
    leaves,
    parse_pointer,
    value_at,
)
from recollect.stores.kept_evidence import Founded
from recollect.stores.provenance import (
    Found,
    Origins,
    Said,
    Source,
    carried_over,
    evidence_at,
    gathered,
    quoted,
    reaffirmed_evidence,
    source_at,
    unusual,
    words_in,
)

QUOTE_CHARACTERS_MAX: Final = 500
"""Characters of a quote that are stored; the message has the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedOperation:
    """A JSON Patch operation with the *evidence* of its value, by pointer into the value."""

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
        found[each.path] = tuple(dict.fromkeys((*found.get(each.path, ()), evidence)))
    return found


def within(pointer: str, evidence: EvidenceMap) -> dict[str, tuple[Evidence, ...]]:
    """
    Return the evidence of the value at *pointer*, with pointers relative to it.

    >>> said = (Evidence(thread="t", message="m"),)
    >>> list(within("/pets", {"": said, "/pets/0": said, "/home": said}))
    ['', '/0']
    """
    whole = evidence_at(pointer, evidence)
    found = {"": whole} if whole else {}
    for place, each in evidence.items():
        if place != pointer and covers(pointer, place):
            found[place[len(pointer) :]] = tuple(each)
    return found


def traced(
    value: JsonObject,
    evidence: EvidenceMap,
    steps: Sequence[TracedOperation],
    *,
    said: Said = quoted,
    schema: SchemaWords = ANY_SCHEMA,
    others: Sequence[Origins] = (),
) -> tuple[JsonObject, dict[str, Found]]:
    """
    Apply *steps* to *value*; return the result and the evidence of each part.

    Moved or copied parts keep their evidence. A part that a step sets gets the step's own, plus
    that of any words it takes over: from the former value, from elsewhere in the document, or from
    *others*. Evidence is recorded at the widest part, below the document itself, that shares it, so
    that erasing a message removes exactly what rested on it.

    Args:
        said: The content words of a message; those of its quote by default.
        schema: Words that come from the document's type.
        others: Other content that the writer saw.

    Raises:
        PatchError: A step cannot be applied.
    """
    after = apply_patch(value, [step.operation for step in steps])
    trail = _Trail(said, schema, others)
    marked: JsonObject = trail.document(value, evidence)
    for step in steps:
        if step.operation["op"] == "test":
            continue
        operation = dict(step.operation)
        if "value" in operation:
            operation["value"] = trail.mark_new(step, marked)
        marked = apply_patch(marked, [operation])
    return after, gathered(after, trail.evidence_in(marked))


class _Trail:
    """Documents whose leaves are replaced by marks, to follow each leaf through a patch."""

    def __init__(self, said: Said, schema: SchemaWords, others: Sequence[Origins]) -> None:
        self._said = said
        self._schema = schema
        self._others = others
        self._marks: list[Found] = []
        self._leaves: list[tuple[str, Scalar]] = []
        self._own = 0, Origins()

    def document(self, value: JsonObject, evidence: EvidenceMap) -> JsonObject:
        """Return *value* with the number of its mark in the place of each leaf."""
        by_leaf = {at: (leaf, found) for at, leaf, found in Founded(value, evidence).leaves()}
        return {
            name: self._marked(each, join_pointer([name]), by_leaf) for name, each in value.items()
        }

    def mark_new(self, step: TracedOperation, marked: JsonObject) -> Json:
        """Return the value that a step sets in *marked*, with new marks."""
        path, value = str(step.operation["path"]), step.operation["value"]
        there = self._replaced(step.operation, marked)
        by_leaf: dict[str, tuple[Scalar, Found]] = {}
        for at, leaf in leaves(value):
            given = evidence_at(at, step.evidence)
            by_leaf[at] = leaf, self._found(path + at, leaf, given, there.get(at))
        return self._marked(value, "", by_leaf, base=path)

    def evidence_in(self, marked: JsonObject) -> dict[str, Found]:
        """Return the evidence of each leaf at its new place."""
        return {at: self._marks[mark] for at, mark in leaves(marked) if isinstance(mark, int)}

    def _marked(
        self, value: Json, at: str, by_leaf: Mapping[str, tuple[Scalar, Found]], base: str = ""
    ) -> Json:
        if isinstance(value, Mapping):
            return {
                name: self._marked(each, at + join_pointer([name]), by_leaf, base)
                for name, each in value.items()
            }
        if is_list(value):
            return [self._marked(each, f"{at}/{n}", by_leaf, base) for n, each in enumerate(value)]
        leaf, found = by_leaf[at]
        self._leaves.append((base + at, leaf))
        self._marks.append(found)
        return len(self._marks) - 1

    def _replaced(self, operation: JsonObject, marked: JsonObject) -> dict[str, int]:
        """Return the marks of the leaves that an operation replaces."""
        path = str(operation["path"])
        try:
            old = value_at(marked, path)
            *parents, _ = parse_pointer(path) or ("",)
            if operation["op"] == "add" and is_list(value_at(marked, join_pointer(parents))):
                return {}
        except LookupError:
            return {}
        return {at: mark for at, mark in leaves(old) if isinstance(mark, int)}

    def _found(self, pointer: str, leaf: Scalar, given: Found, before: int | None) -> Found:
        """Return the evidence of a leaf set by a step that cites *given*."""
        if before is not None and is_same(self._leaves[before][1], leaf):
            return reaffirmed_evidence(words_in(leaf), self._marks[before], given, self._said)
        words = self._schema.of(pointer, leaf)
        if words <= frozenset().union(*map(self._said, given)):
            return given
        nearest = [] if before is None else [self._source(before)]
        others = [self._origins(), *self._others]
        return carried_over(words, given, self._said, nearest=nearest, others=others)

    def _origins(self) -> Origins:
        """Return every value the document ever held, as sources of words."""
        count = len(self._marks)
        if self._own[0] != count:
            self._own = count, Origins(unusual(self._source(mark)) for mark in range(count))
        return self._own[1]

    def _source(self, mark: int) -> Source:
        return source_at(*self._leaves[mark], self._marks[mark])
