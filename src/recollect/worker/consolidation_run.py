"""Consolidate a scope: a model examines each group of similar memories once, and merges them."""

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from copy import copy
from datetime import datetime
from typing import Final, Self

import anyio
from anyio import to_thread

from recollect.errors import (
    LeaseLostError,
    RecollectError,
    StoreClosedError,
    StoreError,
    VersionConflictError,
)
from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.consolidation import Combination
from recollect.formation.cron import has_struck
from recollect.formation.derived_memories import (
    ActiveMemories,
    DerivedChange,
    before_end,
    planned,
    sources_of,
)
from recollect.formation.scope_types import with_scope_types
from recollect.formation.similarity_groups import address_of
from recollect.formation.value_identity import content_key
from recollect.lifecycle.forgotten_memories import forgotten_at
from recollect.models import ModelChoice
from recollect.observability.logs import package_logger, scope_tag
from recollect.observability.spans import observed
from recollect.ports import Model, TokenCounter
from recollect.records import DeleteMemory, JsonObject, Memory, Scope, Write
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.remainder import merged_into
from recollect.stores.unit_of_work import Proviso
from recollect.stores.validation import check_scope, to_datetime
from recollect.text.scope_paths import written_scope
from recollect.worker.assembly import Models
from recollect.worker.consolidation_calls import ConsolidationState, Questioner
from recollect.worker.consolidation_input import (
    PAGE_ROWS,
    ConsolidationInput,
    ConsolidationReader,
    Embed,
)
from recollect.worker.consolidation_result import ConsolidationResult, receipt_of_consolidation
from recollect.worker.lease_renewal import claim_or_release, release_if_possible
from recollect.worker.type_migration_run import check_modes
from recollect.worker.worker_options import SCHEDULE_EVERY_S

CONFLICTS_MAX: Final = 3
LOG: Final = package_logger("recollect.worker")
CONSOLIDATION: Final = "consolidation"
"""Name of the background task that consolidates on a schedule."""


class Consolidator:
    """Consolidates the memories of a store, scope by scope, each under its lease."""

    def __init__(
        self,
        store: Store,
        models: Models,
        assistants: Assistants,
        *,
        count_tokens: TokenCounter,
        embed: Embed | None = None,
    ) -> None:
        self._store = store
        self._models = models
        self._assistants = assistants
        self._count = count_tokens
        self._embed = embed
        self._checked = self._now()
        self._busy: list[tuple[Scope, FormationSettings]] = []
        self._monitor = store.tasks.monitor(CONSOLIDATION, LOG)
        self._scheduled = _scheduled([assistants.default, *assistants.named.values()])

    def acting(self, actor: str, *, proviso: Proviso | None = None) -> Self:
        """Return a view of this consolidator that is audited as *actor*; see `Store.acting`."""
        view = copy(self)
        view._store = self._store.acting(actor, proviso=proviso)  # noqa: SLF001 (a copy)
        return view

    async def consolidate(self, scope: Scope, assistant: str | None = None) -> ConsolidationResult:
        """
        Ask a model to merge duplicate memories of a scope, and to derive new ones from several.

        The model is asked about each group of similar memories once, within the limits of
        *assistant*, or the default ones. The changes are written in one transaction, under the
        scope's lease, so that nothing is formed meanwhile. Merged memories end and stay as history;
        the new ones cite them as evidence and are erased with any of them.

        Raises:
            UsageError: No model is configured, or the assistant is unknown.
            UpdateModeError: A type's memories were written under its other `update_mode`.
        """
        named: JsonObject = {} if assistant is None else {"assistant": assistant}
        scope = check_scope(scope)
        return await self._observed(scope, self._assistants.of(named, scope))

    async def _observed(self, scope: Scope, settings: FormationSettings) -> ConsolidationResult:
        """Consolidate, with a span, a log line and the task's health."""
        # Never logged as slow: most of the time is the model's, and its calls have their own spans.
        with observed("consolidate", "consolidate_memory", LOG, scope, slow_s=math.inf) as seen:
            settings = await with_scope_types(self._store, scope, settings)
            result = await self._consolidate(scope, settings)
            seen.count(len(result.changes))
        self._note(scope, result)
        return result

    def _note(self, scope: Scope, result: ConsolidationResult) -> None:
        LOG.debug(
            "consolidation of %r: %s, %d groups, %d changes: %s",
            *(scope, result.end, result.groups, len(result.changes), result.reason),
        )
        if result.error is not None:
            self._monitor.failed(result.error, about=scope_tag(scope))
        elif result.end in {"consolidated", "unchanged"}:
            self._monitor.succeeded()

    async def _consolidate(self, scope: Scope, settings: FormationSettings) -> ConsolidationResult:
        model = self._models(settings.model)
        await check_modes(self._store, scope, settings.types)
        reader = ConsolidationReader(self._store, settings.types, self._embed)
        # A look without the lease, so that a scope without news does not hold up its formation.
        view = await reader.read(scope)
        if not view.unseen and not await reader.outdated(view):
            return ConsolidationResult(end="unchanged", groups=len(view.groups))
        owner = f"consolidation {os.getpid()}"
        lease = await claim_or_release(self._store, owner, scope=scope, idle=True)
        if lease is None:
            return ConsolidationResult(end="busy", reason="the scope is being formed: try again")
        try:
            return await self._consolidate_leased(lease, settings, model, reader)
        except LeaseLostError as error:
            return ConsolidationResult(end="lost", reason=str(error))
        except BaseException:
            # Release the lease of a failed run, so that no worker waits for its expiry.
            await release_if_possible(self._store, lease)
            raise

    async def keep_schedules(self) -> list[ConsolidationResult]:
        """
        Consolidate the scopes whose cron line has struck since the last call.

        Scopes that were being formed then are tried again by the next call.
        """
        since, now = self._checked, self._now()
        lines = {(each.consolidate, each.time_zone) for each in self._scheduled}
        struck = {
            (line, zone) for line, zone in lines if line and has_struck(line, since, now, zone=zone)
        }
        results: list[ConsolidationResult] = []
        busy: list[tuple[Scope, FormationSettings]] = []
        async for scope, settings in self._due(struck):
            result = await self._try_consolidate(scope, settings)
            results.append(result)
            if result.end in {"busy", "lost"}:
                busy.append((scope, settings))
        # Not before: the next call must find the strikes that an error kept from this one.
        self._checked, self._busy = now, busy
        return results

    async def _due(
        self, struck: Collection[tuple[str, str]]
    ) -> AsyncIterator[tuple[Scope, FormationSettings]]:
        """Yield the scopes to consolidate after cron lines *struck* (line, zone), with settings."""
        for scope, settings in self._busy:
            if (settings.consolidate, settings.time_zone) not in struck:
                yield scope, settings
        if not struck:
            return
        async for scope in each_row(
            lambda cursor: self._store.scopes(cursor=cursor, limit=PAGE_ROWS)
        ):
            for settings in _scheduled(self._assistants.all_in(scope)):
                if (settings.consolidate, settings.time_zone) in struck:
                    yield scope, settings

    async def _try_consolidate(
        self, scope: Scope, settings: FormationSettings
    ) -> ConsolidationResult:
        """Consolidate one of many scopes; return an error as its result, so that the others run."""
        try:
            return await self._observed(scope, settings)
        except StoreError:
            raise
        except RecollectError as error:
            result = ConsolidationResult(end="stopped", reason=str(error), error=error)
            self._note(scope, result)
            return result

    async def run(self) -> None:
        """Consolidate on schedule until cancelled; retry while the store is unavailable."""
        if not self._scheduled:
            return
        with self._monitor.running():
            while True:
                await anyio.sleep(SCHEDULE_EVERY_S)
                try:
                    await self.keep_schedules()
                except StoreClosedError:
                    return
                except StoreError as error:
                    self._monitor.failed(error, retry_s=SCHEDULE_EVERY_S)

    def _now(self) -> datetime:
        return to_datetime(self._store.now())

    async def _consolidate_leased(
        self, lease: Lease, settings: FormationSettings, model: Model, reader: ConsolidationReader
    ) -> ConsolidationResult:
        """Consolidate under *lease*, and release it."""
        scope = lease.scope
        view = await reader.read(scope)
        dropped = await self._drop(scope, await reader.outdated(view))
        if dropped:
            view = await reader.read(scope)  # their sources are active again, and are grouped
        run = await Questioner(self._store, settings, model, self._count).ask(lease, view)
        if not run.exchanges and not dropped:
            await self._store.release(lease)
            return ConsolidationResult(
                end="stopped" if run.reason else "unchanged",
                groups=len(view.groups),
                postponed=len(view.unseen),
                reason=run.reason,
                error=run.error,
            )
        changes = await self._commit(lease, view, run, dropped, model=model, reader=reader)
        newest = await self._store.formations(scope, status="consolidated", limit=1)
        return ConsolidationResult(
            end="stopped" if run.reason else "consolidated",
            id=newest.rows[0].id if newest.rows else None,
            changes=tuple(changes),
            groups=len(view.groups),
            postponed=len(view.unseen) - len(run.looked_at),
            dropped=len(dropped),
            calls=run.asked.calls,
            tokens=run.asked.tokens,
            reason=run.reason,
            error=run.error,
        )

    async def _drop(self, scope: Scope, outdated: Sequence[Memory]) -> list[Memory]:
        """
        Delete *outdated* derived memories, and reactivate the memories merged into them.

        Return those that were deleted.
        """
        dropped = []
        for memory in outdated:
            writes: list[Write] = [
                DeleteMemory(type=memory.type, key=memory.key, expected=memory.version)
            ]
            for type_, key, _ in sources_of(memory):
                source = await self._store.get(scope, type_, key)
                history = await self._store.history(scope, type_, key)
                ended_by = merged_into(memory.type, memory.key)
                if source is not None and history[-1].cause == ended_by:
                    writes += before_end(source, history, cause="what it was merged into is gone")
            try:
                await self._store.apply(scope, writes)
            except VersionConflictError:
                continue  # another writer changed it: the next run examines it again
            dropped.append(memory)
        return dropped

    async def _commit(
        self,
        lease: Lease,
        view: ConsolidationInput,
        run: ConsolidationState,
        dropped: Sequence[Memory],
        *,
        model: Model,
        reader: ConsolidationReader,
    ) -> list[DerivedChange]:
        """Write the requested changes, except those whose memories changed meanwhile."""
        combinations = run.combinations
        for _ in range(CONFLICTS_MAX):
            active = await self._active(lease.scope, view, combinations)
            changes = await to_thread.run_sync(planned, combinations, active)
            looked_at = await reader.looked_at_after(view, run.looked_at, changes)
            receipt = receipt_of_consolidation(
                lease.scope, run, changes, dropped, model=model, looked_at=looked_at
            )
            formed = Formed(
                watermarks={},
                status="consolidated",
                receipt=receipt,
                calls=run.asked.calls,
                tokens=run.asked.tokens,
            )
            writes = [write for each in changes for write in each.writes]
            try:
                await self._store.commit(lease, writes, formed)
            except VersionConflictError:
                # Leave out the combinations with changed sources, and keep their groups unexamined.
                left = await self._unchanged(lease.scope, combinations)
                lost = {each.group.digest for each in combinations if each not in left}
                run.looked_at = [each for each in run.looked_at if each.digest not in lost]
                combinations = left
                continue
            return changes
        raise LeaseLostError(
            f"the memories of {written_scope(lease.scope)} change too fast: run again later"
        )

    async def _unchanged(
        self, scope: Scope, combinations: Sequence[Combination]
    ) -> list[Combination]:
        """Return the combinations whose sources have not changed since they were read."""
        found = []
        for each in combinations:
            seen = [*each.sources, *each.besides]
            if seen == await self._store.get_many(scope, [address_of(m) for m in seen]):
                found.append(each)
        return found

    async def _active(
        self, scope: Scope, view: ConsolidationInput, combinations: Sequence[Combination]
    ) -> ActiveMemories:
        """Return the memories that decide which of *combinations* may be written."""
        wanted = [(each.group.type, content_key(each.value)) for each in combinations]
        found = await self._store.get_many(scope, wanted)
        there = [each for each in found if each is not None]
        forgotten = await forgotten_at(self._store, scope, wanted)
        return ActiveMemories(
            now=self._now(),
            new_key=self._store.new_name,
            in_force={address_of(each): each for each in (*view.memories, *view.derived)},
            refused={address_of(each) for each in there if each.state == "rejected"},
            erased={
                address
                for address, each in zip(wanted, combinations, strict=True)
                # As for messages: content with a source from after the erase may be formed again.
                if address in forgotten
                and all(source.updated_at <= forgotten[address] for source in each.sources)
            },
            taken={address_of(each) for each in there},
            derived=view.derived,
        )


def open_consolidator(
    store: Store,
    model: ModelChoice | None,
    assistants: Assistants,
    *,
    count_tokens: TokenCounter,
    embed: Embed | None = None,
) -> Consolidator:
    """
    Return a consolidator over *store* that asks *model*.

    Raises:
        UsageError: The model, or a cron line, is invalid.
    """
    return Consolidator(store, Models(model), assistants, count_tokens=count_tokens, embed=embed)


def _scheduled(settings: Iterable[FormationSettings]) -> list[FormationSettings]:
    """Return the *settings* with a cron line, without duplicates of types and line."""
    found: dict[tuple[object, ...], FormationSettings] = {}
    for each in settings:
        if each.consolidate is not None:
            found.setdefault((each.consolidate, each.types), each)
    return list(found.values())
