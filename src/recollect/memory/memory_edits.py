"""Writes of memories: values, remembered sentences, ends, deletions."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from recollect.deferred_imports import load_modules
from recollect.errors import NotFoundError, StoreClosedError, UsageError
from recollect.memory.cited_messages import apply_cited
from recollect.memory.conflict_retries import retried
from recollect.memory.health import LOG, operation_of
from recollect.memory.runtime import MemoryRuntime
from recollect.observability.spans import observed
from recollect.records import (
    DeleteMemory,
    EndMemory,
    Evidence,
    EvidenceMap,
    JsonObject,
    Memory,
    PutMemory,
    Scope,
    ScopeLike,
    Trust,
    Write,
)
from recollect.side_records import SideWrite
from recollect.stores.contract.base import Store
from recollect.stores.validation import check_list, check_scope, check_text
from recollect.text.coded_text import with_code

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect

REMEMBERED: Final = "remembered"
"""Cause of a memory version written by `Recollect.remember`."""
# Loaded by the first value that is checked: types and schemas take tenths of a second to import.
_CHECKS: Final = ("recollect.formation.scope_types", "recollect.memory.value_checks")
_NOTES: Final = ("recollect.formation.types.builtin", "recollect.memory.sentence_keys")


class WriteMethods(ABC):
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

        *value* is checked against the schema of its type if the type is built in or applies in the
        scope, and messages in *evidence* must exist; `apply` does not check.

        Raises:
            UsageError: The value does not fit its type's schema; the type's name looks like a
                misspelt known one; the key is not one of its type (a document of a type that is
                patched has the type's name as its key, an entry of a collection has not); or the
                evidence names a message that does not exist.
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
        from recollect.memory.value_checks import check_document, check_key

        types = await types_in_force(self.store, scope, self._runtime.assistants, depth=1)
        check_document(types, type_, value)
        check_key(types, type_, key, expected)
        (memory,) = await apply_cited(cast("Recollect", self), scope, [write])
        if memory is None:
            raise StoreClosedError(f"{type_}/{key} was written, but the store returned no memory")
        return memory

    async def apply(
        self,
        scope: ScopeLike,
        writes: Sequence[Write | SideWrite],
        *,
        idempotency_key: str | None = None,
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

        No model is called. Sentences that differ only in case, spaces and punctuation are one
        memory: repeating it returns the memory unchanged, or makes it active again if it had ended
        or was not active. One that was changed since, to say something else, is left as it is.

        It cites no message, like any memory that a program writes: *trust* names its
        source. To form memories that cite a user's words, `append` the message instead.

        Args:
            text: What to remember, readable on its own.
            context: When it matters, and its limits.
            trust: The least trusted source of the sentence: ``"external"`` if it comes from a page
                or a tool.
            source: Name of the program whose agent found it out; requires the trust ``"agent"``.
                The note is then a finding, made in the thread of that name, and is erased with
                either (`EraseSource`, `EraseThread`). It never changes a memory with other
                evidence, nor one that a person has rejected.

        Raises:
            UsageError: The text is empty or not a string; *source* is given with another trust; or
                the scope defines a type ``Note`` with another schema.
        """
        await load_modules(*_CHECKS, *_NOTES)
        from recollect.formation.scope_types import types_in_force
        from recollect.memory.value_checks import check_document

        note = await self._note(text, context, trust, source)
        scope = check_scope(scope)
        types = await types_in_force(self.store, scope, self._runtime.assistants, depth=1)
        check_document(types, note.type, note.value)
        return await retried(partial(self._remember, scope, note))

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
            raise NotFoundError(f"{type_}/{key} has expired: it cannot be ended")
        return memory

    async def delete(
        self, scope: ScopeLike, type_: str, key: str, *, expected: int | None = None
    ) -> bool:
        """
        Remove a memory with its history; return True if there was one.

        Its bytes stay on disk until the next `erase`. To forget it for privacy, call `erase`
        instead: that also erases what was derived from it, and returns a receipt.

        Raises:
            VersionConflictError: It is not at the version *expected*.
        """
        scope = check_scope(scope)
        # Read before, since the removal itself does not tell whether there was a memory.
        current = await self.store.get(scope, type_, key)
        removal = DeleteMemory(type=type_, key=key, expected=expected)
        await self.store.apply(scope, [removal])
        self._runtime.wrote(scope)
        return current is not None

    async def _note(self, text: str, context: str, trust: Trust, source: str | None) -> PutMemory:
        """Return the write of a sentence; raise `UsageError` if it cannot be remembered."""
        from recollect.formation.types.builtin import NOTE
        from recollect.memory.sentence_keys import sentence_key

        if source is not None and trust != "agent":
            raise UsageError(f"source={source!r} needs trust='agent', but trust is {trust!r}")
        sentence = check_text(text, "what to remember").strip()
        if not sentence:
            raise UsageError(
                with_code("nothing_to_remember", "there is nothing to remember: give a sentence")
            )
        return PutMemory(
            type=NOTE.name,
            key=await sentence_key(self.store, NOTE.name, sentence),
            value={"context": context, "content": sentence},
            evidence={} if source is None else finding_of(self.store, source),
            trust=trust,
            cause=REMEMBERED,
        )

    async def _remember(self, scope: Scope, note: PutMemory) -> Memory:
        """Return the current memory if it equals *note*, else write its first or next version."""
        from recollect.memory.sentence_keys import find_sentence

        current = await self.store.get(scope, note.type, note.key)
        if current is not None and not _may_rewrite(current, note):
            return current
        sentence = str(note.value["content"])
        key, current = await find_sentence(self.store, scope, note.type, sentence)
        note = replace(note, key=key)
        if current is not None and _is_unchanged_by(current, note):
            return current
        expected = current.version if current else 0
        writes: list[Write] = [replace(note, expected=expected)]
        if current is not None and current.trust == "agent" != note.trust:
            # A new version would keep the agent's finding in its history, and so be erased with
            # it. A user's own sentence must not be: write it as a memory without that past.
            removal = DeleteMemory(type=note.type, key=note.key, expected=expected)
            writes = [removal, replace(note, expected=0)]
        released = await self._released(scope, current) if current else []
        *_, memory = await self.store.apply(scope, [*released, *writes])
        self._runtime.wrote(scope)
        if memory is None:
            raise StoreClosedError(f"{note.type}/{note.key} was written, but none was returned")
        return memory

    async def _released(self, scope: Scope, current: Memory) -> list[Write]:
        """Return the writes that delete the refusals of a rejected note, which is written anew."""
        if current.state != "rejected":
            return []
        await load_modules("recollect.memory.review")
        from recollect.memory.review import releasing_writes

        then = replace(current, state="active")
        return await releasing_writes(self.store, scope, then, self._runtime.assistants)


def _may_rewrite(current: Memory, note: PutMemory) -> bool:
    """Return True if *note* may be written over *current*: an agent's only over a finding."""
    return note.trust != "agent" or (current.trust == "agent" and current.state == "active")


def _is_unchanged_by(current: Memory, note: PutMemory) -> bool:
    """Return True if *current*, which says the same, equals *note*, or may not be rewritten."""
    return not _may_rewrite(current, note) or (
        current.state == "active"
        and current.valid_until is None
        and current.value.get("context") == note.value["context"]
        and current.trust == note.trust
    )


def finding_of(store: Store, source: str) -> dict[str, tuple[Evidence, ...]]:
    """
    Return evidence that marks a whole memory as a finding of the agent of program *source*.

    The finding belongs to no conversation, so *source* is also the name of its thread.
    """
    finding = Evidence(thread=source, message=store.new_name(), kind="agent", source=source)
    return {"": (finding,)}
