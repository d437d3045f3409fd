"""Writes of memories: values, remembered sentences, ends, deletions."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from recollect.deferred_imports import load_modules
from recollect.errors import NotFoundError, StoreClosedError, UsageError, VersionConflictError
from recollect.memory.agent_findings import finding_of
from recollect.memory.health import LOG, operation_of
from recollect.memory.runtime import MemoryRuntime
from recollect.observability.spans import observed
from recollect.records import (
    DeleteMemory,
    EndMemory,
    EvidenceMap,
    JsonObject,
    Memory,
    PutMemory,
    Scope,
    ScopeLike,
    Trust,
    Write,
)
from recollect.stores.contract.base import Store
from recollect.stores.validation import check_list, check_scope, check_text

REMEMBERED: Final = "remembered"
"""The cause of a version that a program wrote as a plain sentence."""
TRIES_MAX: Final = 5
# Types and schemas take tenths of a second to load: the first value that is checked does.
_CHECKS: Final = ("recollect.formation.scope_types", "recollect.memory.value_checks")
_NOTES: Final = ("recollect.formation.types.builtin", "recollect.formation.value_identity")


class MemoryEdits(ABC):
    """The part of `Recollect` that writes, remembers, ends and deletes memories."""

    store: Store
    _runtime: MemoryRuntime

    async def put(
        self,
        scope: ScopeLike,
        type_: str,
        key: str,
        value: JsonObject,
        *,
        expected: int | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        expires_at: datetime | None = None,
        evidence: EvidenceMap | None = None,
    ) -> Memory:
        """
        Create a memory, or write its next version; see `PutMemory` for the fields.

        *value* is checked against the schema of its type if the type is built in or in force in the
        scope; `apply` does not check.

        Raises:
            UsageError: The value does not fit its type's schema, or the type's name looks like a
                misspelt known one.
        """
        write = PutMemory(
            type=type_,
            key=key,
            value=value,
            expected=expected,
            valid_from=valid_from,
            valid_until=valid_until,
            expires_at=expires_at,
            evidence=evidence or {},
        )
        scope = check_scope(scope)
        await load_modules(*_CHECKS)
        from recollect.formation.scope_types import types_in_force
        from recollect.memory.value_checks import check_document

        types = await types_in_force(self.store, scope, self._runtime.assistants, depth=1)
        check_document(types, type_, value)
        (memory,) = await self.apply(scope, [write])
        if memory is None:
            msg = f"{type_}/{key} was put and is not there"
            raise StoreClosedError(msg)
        return memory

    async def apply(
        self, scope: ScopeLike, writes: Sequence[Write], *, idempotency_key: str | None = None
    ) -> tuple[Memory | None, ...]:
        """Apply *writes* in order, all or none; see `Store.apply`."""
        scope, writes = check_scope(scope), check_list(writes, "write")
        with observed("apply", operation_of(writes), LOG, scope) as seen:
            applied = await self.store.apply(scope, writes, idempotency_key=idempotency_key)
            seen.count(len(applied))
        self._runtime.wrote(scope)
        return applied

    async def apply_each(self, writes: Mapping[Scope, Sequence[Write]]) -> None:
        """Apply the writes of several scopes, all or none; see `Store.apply_each`."""
        with observed("apply_each", "upsert_memory", LOG, *writes) as seen:
            await self.store.apply_each(writes)
            seen.count(sum(map(len, writes.values())))
        self._runtime.wrote(*writes)

    async def remember(
        self,
        scope: ScopeLike,
        text: str,
        *,
        context: str = "",
        trust: Trust = "user",
        source: str | None = None,
    ) -> Memory:
        """
        Keep a sentence as a memory of the type ``Note``, and return it.

        No model is called. The same sentence, but for case, spaces and punctuation, is one
        memory: said again it is returned as it stands, or put in force again if it had ended or
        was not active.

        It rests on no message, as any memory that a program writes: *trust* says who vouches
        for it. To have what a user said formed, and cited, `append` it instead.

        Args:
            text: What to remember, readable on its own.
            context: When it matters, and its limits.
            trust: The least trusted source of the sentence: ``"external"`` for one that a page
                or a tool said.
            source: Name of the program whose agent found it out, with the trust ``"agent"``: the
                note is a finding, made in the thread of that name, and goes with either
                (`EraseSource`, `EraseThread`). An agent's sentence leaves one that rests on
                anything else as it stands, and one that a person has rejected.

        Raises:
            UsageError: The text is empty, or is no text; *source* is given with another trust; or
                the scope describes a type ``Note`` of another form.
        """
        await load_modules(*_CHECKS, *_NOTES)
        from recollect.formation.scope_types import types_in_force
        from recollect.formation.types.builtin import NOTE
        from recollect.formation.value_identity import normalised
        from recollect.memory.value_checks import check_document

        if source is not None and trust != "agent":
            msg = f"source={source!r} is of what an agent found; trust is {trust!r}, not 'agent'"
            raise UsageError(msg)
        said = check_text(text, "what to remember").strip()
        if not said:
            raise UsageError("there is nothing to remember: give a sentence")
        scope = check_scope(scope)
        # A digest under the store's own key: a plain one would let a guessed sentence be
        # confirmed by the key alone, wherever keys are logged.
        key = await self.store.keyed(NOTE.name, normalised(said) or said)
        note = PutMemory(
            type=NOTE.name,
            key=key,
            value={"context": context, "content": said},
            evidence={} if source is None else finding_of(self.store, source),
            trust=trust,
            cause=REMEMBERED,
        )
        types = await types_in_force(self.store, scope, self._runtime.assistants, depth=1)
        check_document(types, note.type, note.value)
        left = TRIES_MAX
        while True:
            try:
                return await self._remember(scope, note)
            except VersionConflictError:  # somebody else remembered it at the same time
                left -= 1
                if not left:
                    raise

    async def end(
        self,
        scope: ScopeLike,
        type_: str,
        key: str,
        at: datetime,
        *,
        expected: int | None = None,
    ) -> Memory:
        """
        End a memory's validity at a time; it stays readable and searchable as history.

        Raises:
            NotFoundError: There is no such memory.
            VersionConflictError: It is not at the version *expected*.
        """
        scope, end = check_scope(scope), EndMemory(type=type_, key=key, at=at, expected=expected)
        (memory,) = await self.store.apply(scope, [end])
        self._runtime.wrote(scope)
        if memory is None:
            raise NotFoundError(f"{type_}/{key} has expired: there is nothing to end")
        return memory

    async def delete(
        self, scope: ScopeLike, type_: str, key: str, *, expected: int | None = None
    ) -> bool:
        """
        Remove a memory with its history; return True if there was one.

        Its bytes go with the next `erase`. `erase` it at once where it must not be known any
        more: that takes what rests on it too, and gives a receipt.

        Raises:
            VersionConflictError: It is not at the version *expected*.
        """
        scope = check_scope(scope)
        standing = await self.store.get(scope, type_, key)
        removal = DeleteMemory(type=type_, key=key, expected=expected)
        await self.store.apply(scope, [removal])
        self._runtime.wrote(scope)
        return standing is not None

    async def _remember(self, scope: Scope, note: PutMemory) -> Memory:
        """Return the memory that says *note* already, else write its first or next version."""
        standing = await self.store.get(scope, note.type, note.key)
        if standing is not None and _stays(standing, note):
            return standing
        expected = standing.version if standing else 0
        writes: list[Write] = [replace(note, expected=expected)]
        if standing is not None and standing.trust == "agent" != note.trust:
            # A next version would take over the finding's words, and rest on it still.
            gone = DeleteMemory(type=note.type, key=note.key, expected=expected)
            writes = [gone, replace(note, expected=0)]
        *_, memory = await self.store.apply(scope, writes)
        self._runtime.wrote(scope)
        if memory is None:
            raise StoreClosedError(f"{note.type}/{note.key} was remembered and is not there")
        return memory


def _stays(standing: Memory, note: PutMemory) -> bool:
    """Return True if a memory says *note* already, or is not an agent's to write anew."""
    if note.trust == "agent" and (standing.trust != "agent" or standing.state != "active"):
        return True
    return (
        standing.state == "active"
        and standing.valid_until is None
        and standing.value.get("context") == note.value["context"]
        and standing.trust == note.trust
    )
