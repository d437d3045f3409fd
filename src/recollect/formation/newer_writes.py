"""Newer writes: what a person corrected or approved while the model read older words stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.formation.offer import Offer
from recollect.formation.operation_outcomes import (
    CHANGES_NEWER,
    ENDS_NEWER,
    Grounded,
    OperationOutcome,
    Present,
)
from recollect.formation.operations import End, Insert, Operation, Patch, PatchChange
from recollect.formation.reconciliation import reconcile
from recollect.formation.rivals import rivals_of
from recollect.records import JsonObject, Memory
from recollect.stores.json_pointers import covers, leaves, value_at


def reconcile_beside_others(
    grounded: Sequence[Grounded], shown: Offer, present: Present
) -> list[OperationOutcome]:
    """
    Return the outcome of each operation, beside what was written since the model saw *shown*.

    One that would overwrite a newer write waits for a person. An end of what has been written anew
    is refused: it was meant for the value before.
    """
    left, refused = _NewerWrites(shown=shown, present=present).settle(grounded)
    return [*refused, *reconcile(left, present)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _NewerWrites:
    """
    The writes of others since the model was shown the memories in *shown*.

    The words that are formed were said before: they do not replace what was written since. What
    an agent found is no such write.
    """

    shown: Offer
    present: Present

    def settle(self, grounded: Sequence[Grounded]) -> tuple[list[Grounded], list[OperationOutcome]]:
        """Return the operations to carry out, and the outcomes of those that are not."""
        left: list[Grounded] = []
        refused: list[OperationOutcome] = []
        for each in (part for whole in grounded for part in self._parts(whole)):
            doubt = self._doubt(each.operation)
            if doubt and isinstance(each.operation, End):
                memory = self.shown.known[each.operation.target]
                refused.append(
                    OperationOutcome(
                        action="refused", type=memory.type, key=memory.key, reason=doubt
                    )
                )
            elif doubt:
                doubts = tuple(dict.fromkeys((*each.grounds.doubts, doubt)))
                left.append(replace(each, grounds=replace(each.grounds, doubts=doubts)))
            else:
                left.append(each)
        return left, refused

    def _doubt(self, operation: Operation) -> str | None:
        """Return why an operation has to wait, ``None`` if it overwrites no newer write."""
        if isinstance(operation, Insert):
            return self._doubt_of_insert(operation)
        before = self.shown.known[operation.target]
        after = self.present.offer.known[operation.target]
        if after.version == before.version or after.trust == "agent":
            return None
        if isinstance(operation, End):
            is_same = before.value == after.value and before.valid_until == after.valid_until
            return None if is_same else ENDS_NEWER
        changed = list(_changed(before.value, after.value))
        return (
            CHANGES_NEWER if any(_overwrites(each, changed) for each in operation.changes) else None
        )

    def _parts(self, whole: Grounded) -> Iterator[Grounded]:
        """Yield a patch in two if only some of its changes would overwrite a newer write."""
        patch = whole.operation
        if not isinstance(patch, Patch):
            yield whole
            return
        before, after = self.shown.known[patch.target], self.present.offer.known[patch.target]
        changed = list(_changed(before.value, after.value))
        for is_part in (False, True):
            changes = [each for each in patch.changes if _overwrites(each, changed) == is_part]
            if changes:
                yield replace(whole, operation=replace(patch, changes=tuple(changes)))

    def _doubt_of_insert(self, operation: Insert) -> str | None:
        type_ = self.present.offer.types[operation.type]
        if type_.update_mode == "insert":
            beside = self.present.rivals.get(operation.call, ())
            rivals = rivals_of(type_, operation.value, self.present.now, beside)
            return ENDS_NEWER if any(self._is_newer(each) for each in rivals) else None
        standing = self.present.at.get((operation.type, operation.document_key))
        if standing is None or standing.state != "active" or not self._is_newer(standing):
            return None
        return CHANGES_NEWER if _differs(operation.value, standing.value) else None

    def _is_newer(self, memory: Memory) -> bool:
        seen_at = self.shown.seen_at
        if memory.trust == "agent" or seen_at is None or memory.updated_at <= seen_at:
            return False
        at = memory.type, memory.key, memory.version
        return all((each.type, each.key, each.version) != at for each in self.shown.known.values())


def _overwrites(change: PatchChange, changed: Sequence[str]) -> bool:
    """Return True if a change of a patch replaces or removes something at *changed* pointers."""
    path = str(change.operation.get("path"))
    places = [] if path.endswith("/-") else [path]  # at the end of a list it replaces nothing
    if change.operation.get("op") == "move":
        places.append(str(change.operation.get("from")))
    return any(covers(one, other) or covers(other, one) for one in places for other in changed)


def _changed(before: JsonObject, after: JsonObject) -> Iterator[str]:
    """Yield the pointers of the values that differ, or are in one of both."""
    was, now = dict(leaves(before)), dict(leaves(after))
    for pointer in {**was, **now}:
        if pointer not in was or pointer not in now or was[pointer] != now[pointer]:
            yield pointer


def _differs(value: JsonObject, standing: JsonObject) -> bool:
    """Return True if *value* has another value where *standing* has one."""
    for pointer, leaf in leaves(value):
        try:
            found = value_at(standing, pointer)
        except (LookupError, ValueError):
            continue
        if found != leaf and not pointer.rpartition("/")[2].isdecimal():
            return True
    return False
