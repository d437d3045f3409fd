"""The formations of leased threads; what they need is imported for the first of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Self, TypeAlias

from recollect.deferred_imports import load_modules
from recollect.ports import Model, TokenCounter
from recollect.records import Memory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.leases import Lease
from recollect.stores.unit_of_work import Proviso
from recollect.worker.lease_renewal import release_if_possible

if TYPE_CHECKING:
    from recollect.formation.config import Assistants
    from recollect.worker.formation_result import FormationResult

ModelByName: TypeAlias = Callable[[str | None], Model]
"""Returns the model with a name, the default one for ``None``."""
Search: TypeAlias = Callable[[Scope, str, Sequence[str], int], Awaitable[Sequence[Memory]]]
"""Async search for memories by scope, query, types and limit; best first."""


class Former:
    """Runs the formations of leased threads on one store."""

    def __init__(
        self,
        store: Store,
        search: Search,
        models: ModelByName,
        assistants: Assistants,
        *,
        count_tokens: TokenCounter,
    ) -> None:
        self._store = store
        self._search = search
        self._models = models
        self._assistants = assistants
        self._count = count_tokens

    def acting(self, actor: str, proviso: Proviso | None = None) -> Self:
        """Return a view of this former that is audited as *actor*; see `Store.acting`."""
        view = copy(self)  # a shallow copy: a former has no mutable state
        view._store = self._store.acting(actor, proviso=proviso)  # noqa: SLF001 (a copy)
        return view

    async def form(self, lease: Lease) -> FormationResult:
        """
        Form the threads of *lease* with the same configuration, and end the lease in any case.

        Everything is stored in one transaction; after an error nothing is stored, and the messages
        stay pending.
        """
        try:
            await load_modules("recollect.worker.formation_run")
        except BaseException:  # a run that is cancelled before it begins releases nothing itself
            await self.give_back(lease)
            raise
        from recollect.worker.formation_run import FormationRun

        run = FormationRun(self._store, self._search, self._models, self._assistants, self._count)
        return await run.form(lease)

    async def give_back(self, lease: Lease) -> None:
        """Release *lease* early; ignore one that is lost."""
        await release_if_possible(self._store, lease)
