"""Plain sentences kept as notes: what `Recollect.remember` writes."""

from __future__ import annotations

from abc import ABC
from dataclasses import replace
from typing import Final

from recollect.errors import StoreClosedError, UsageError, VersionConflictError
from recollect.formation.types.builtin import NOTE
from recollect.formation.value_identity import normalised
from recollect.memory.runtime import MemoryRuntime
from recollect.memory.scope_types import types_in_force
from recollect.memory.value_checks import check_document
from recollect.records import Memory, PutMemory, Scope, ScopeLike, Trust
from recollect.stores.contract.base import Store
from recollect.stores.validation import check_scope, check_text

REMEMBERED: Final = "remembered"
"""The cause of a version that a program wrote as a plain sentence."""
TRIES_MAX: Final = 5


class NoteMethods(ABC):
    """The part of `Recollect` that keeps plain sentences."""

    store: Store
    _runtime: MemoryRuntime

    async def remember(
        self, scope: ScopeLike, text: str, *, context: str = "", trust: Trust = "user"
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

        Raises:
            UsageError: The text is empty, or is no text; or the scope describes a type ``Note``
                of another form.
        """
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

    async def _remember(self, scope: Scope, note: PutMemory) -> Memory:
        """Return the memory that says *note* already, else write its first or next version."""
        standing = await self.store.get(scope, note.type, note.key)
        if standing is not None and _says(standing, note):
            return standing
        expected = standing.version if standing else 0
        (memory,) = await self.store.apply(scope, [replace(note, expected=expected)])
        self._runtime.wrote(scope)
        if memory is None:
            raise StoreClosedError(f"{note.type}/{note.key} was remembered and is not there")
        return memory


def _says(standing: Memory, note: PutMemory) -> bool:
    """Return True if a memory is in force, and rests on what vouches for *note* too."""
    return (
        standing.state == "active"
        and standing.valid_until is None
        and standing.value.get("context") == note.value["context"]
        and standing.trust == note.trust
    )
