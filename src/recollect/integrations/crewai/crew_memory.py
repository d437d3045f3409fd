"""CrewAI's memory over a Recollect memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

from recollect.errors import UsageError
from recollect.integrations.crewai.storage_backend import RecollectStorage, is_saving
from recollect.records import ScopeLike
from recollect.sync.facade import SyncRecollect


class RecollectCrewMemory(Memory):  # type: ignore[misc] # not installed
    """
    ``memory=`` of a crew, an agent or a flow: CrewAI's ``Memory`` over a `RecollectStorage`.

    It embeds with the memory's own embedder. Leaving the memory's ``with`` waits until what
    ``remember_many`` or a crew saves in the background is stored.
    """

    def __init__(
        self, memory: SyncRecollect, scope: ScopeLike, *, others: bool = True, **options: Any
    ) -> None:
        """
        Create a memory over an open one of `open_sync` that has an embedder.

        Args:
            memory: The memory.
            scope: The scope of the records.
            others: Whether ``recall`` also finds messages and memories of other programs.
            options: Fields of CrewAI's ``Memory``, such as *llm* and *root_scope*.

        Raises:
            UsageError: The memory is not of `open_sync`, or has no embedder; or an option is none.
        """
        known = type(self).model_fields.keys() - {"memory_kind", "storage", "embedder"}
        if unknown := options.keys() - known:
            raise UsageError(
                f"no option is called {', '.join(sorted(unknown))}: there are others, "
                f"{', '.join(sorted(known))}"
            )
        if not isinstance(others, bool):
            raise UsageError(f"others is {others!r}: give True or False")
        storage = RecollectStorage(memory, scope, others=others)
        super().__init__(storage=storage, embedder=storage.embed, **options)
        memory.before_close(self.drain_writes)

    def remember(self, *args: Any, **fields: Any) -> MemoryRecord | None:
        """Store one text; see CrewAI's ``Memory``."""
        with _saving():
            return super().remember(*args, **fields)

    def remember_many(self, *args: Any, **fields: Any) -> list[MemoryRecord]:
        """Store texts in the background; see CrewAI's ``Memory``."""
        with _saving():
            found: list[MemoryRecord] = super().remember_many(*args, **fields)
        return found


@contextmanager
def _saving() -> Iterator[None]:
    # CrewAI saves in a thread, with a copy of the context of the call.
    token = is_saving.set(True)
    try:
        yield
    finally:
        is_saving.reset(token)
