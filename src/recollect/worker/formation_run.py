"""One formation: from a lease to a commit, a retry, or a message that is given up."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal, Self, TypeAlias

import anyio
from anyio import to_thread

from recollect.errors import (
    LeaseLostError,
    ModelDeniedError,
    ModelError,
    ModelNotFoundError,
    ModelUnavailableError,
    NotFoundError,
    RecollectError,
    StoreError,
    StoreUnavailableError,
    VersionConflictError,
)
from recollect.formation.config import Assistants, FormationLimits, FormationSettings
from recollect.formation.formation_receipt import ModelExchanges, receipt_of
from recollect.formation.lanes import formed_with_talk, laned
from recollect.formation.offer import Offer
from recollect.formation.reconciliation import OperationOutcome, reconcile
from recollect.formation.scope_types import TYPES, with_scope_types
from recollect.formation.window import Window
from recollect.observability.logs import Repeats, kind_of, package_logger, summary_of, times
from recollect.observability.spans import observed
from recollect.ports import Model, TokenCounter
from recollect.stores.contract.base import Store
from recollect.stores.plans.formation import DueThread, Formed, Lease
from recollect.stores.unit_of_work import Proviso
from recollect.stores.validation import to_datetime
from recollect.worker.formation_input import (
    Search,
    read_offer,
    read_present,
    read_window,
    refreshed,
)
from recollect.worker.leases import release_if_possible
from recollect.worker.model_calls import FormationDialogue
from recollect.worker.type_migration_run import check_modes

LOG: Final = package_logger("recollect.worker")
END: Final = "recollect.formation.end"
"""The attribute of a span that says how the formation ended."""
_FAULTS: Final = Repeats()
LEASE_S: Final = 60.0
CONFLICTS_MAX: Final = 5
RETRY_S_MIN: Final = 5.0
RETRY_S_MAX: Final = 3_600.0
WAIT_FOR_OPERATOR_S: Final = 300.0
"""After a refused key, or settings that are not right, somebody has to do something first."""

POSTPONED_S_MAX: Final = 86_400.0
"""A model that asks to be left alone for longer is tried again all the same."""

FormationEnding: TypeAlias = Literal["formed", "failed", "postponed", "dead", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormationResult:
    """
    The result of a formation: its status and the reason.

    *outage* is the model's error if it is unavailable. *error* is an unexpected exception; an
    unusable answer of the model is not one. Pending messages are retried in *retry_s* seconds.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none", model="rules", worker=False) as memory:
    ...     kept = memory.append("ada", "chat", "I live in Oslo.")
    ...     (result,) = memory.form("ada")
    >>> result.end, [(each.action, each.type) for each in result.outcomes]
    ('formed', [('stored', 'User')])
    """

    end: FormationEnding
    reason: str = ""
    outcomes: tuple[OperationOutcome, ...] = ()
    outage: ModelError | None = None
    error: Exception | None = field(default=None, compare=False)
    retry_s: float | None = field(default=None, compare=False)


Models: TypeAlias = Callable[[str | None], Model]
"""The model of a name; that of the worker for ``None``."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A formation under way, as is needed to tell how it failed."""

    lease: Lease
    threads: Sequence[DueThread]
    window: Window
    model: str
    settings: FormationSettings
    asking: FormationDialogue

    def spent(self, reason: str) -> Formed:
        """Return the usage record of a failed attempt."""
        asked = self.asking.asked
        return Formed(
            watermarks={},
            receipt=receipt_of(self.window, asked, (), model=self.model, reason=reason),
            status="failed",
            calls=asked.calls,
            tokens=asked.tokens,
            types=self.window.types,
        )


class Former:
    """Forms what a lease gives it, over one store."""

    def __init__(
        self,
        store: Store,
        search: Search,
        models: Models,
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
        """Return this former as it works in the name of *actor*; see `Store.acting`."""
        view = copy(self)  # which keeps nothing that changes
        view._store = self._store.acting(actor, proviso=proviso)  # noqa: SLF001 (a copy)
        return view

    async def form(self, lease: Lease, *, lease_s: float = LEASE_S) -> FormationResult:
        """
        Form the threads of *lease* that are configured alike, and end the lease in any case.

        Everything is stored in one transaction; after an error nothing is, and the messages
        wait on.
        """
        # Its time is mostly the model's, which is observed by itself.
        with observed("form", "form_memory", LOG, lease.scope, slow_s=math.inf) as seen:
            result = await self._ended(lease, lease_s)
            seen.set(END, result.end)
            seen.count(sum(each.write is not None for each in result.outcomes))
        return result

    async def _ended(self, lease: Lease, lease_s: float) -> FormationResult:
        try:
            return await self._settled(lease, lease_s)
        except anyio.get_cancelled_exc_class():
            await self.give_back(lease)
            raise
        except (LeaseLostError, NotFoundError) as error:  # a thread was erased meanwhile
            return FormationResult(end="lost", reason=str(error))

    async def _settled(self, lease: Lease, lease_s: float) -> FormationResult:
        """Form, or say why not: whatever breaks, no worker ends and nothing is asked for ever."""
        threads = _alike(lease.threads)
        attempts: list[_Attempt] = []
        try:
            settings = self._assistants.of(threads[0].settings, lease.scope)
            if TYPES not in threads[0].settings:
                settings = await with_scope_types(self._store, lease.scope, settings)
            model = self._models(settings.model)
            async with self._held(lease, lease_s):
                return await self._form(lease, threads, settings, model, attempts)
        except (LeaseLostError, NotFoundError, StoreError):
            raise
        except Exception as error:  # noqa: BLE001 (a stranger's model, or a fault of ours)
            if attempts:
                return await self._failed(attempts[0], error)
            wait_s = WAIT_FOR_OPERATOR_S
            return await self._postpone(lease, threads, _reason(error), wait_s, error=error)

    async def give_back(self, lease: Lease) -> None:
        """Release *lease* early; ignore one that is lost."""
        await release_if_possible(self._store, lease)

    async def _form(
        self,
        lease: Lease,
        threads: Sequence[DueThread],
        settings: FormationSettings,
        model: Model,
        attempts: list[_Attempt],
    ) -> FormationResult:
        """Form; once the model is asked, *attempts* holds what was tried."""
        window = await read_window(self._store, lease.scope, threads, settings.limits, self._count)
        window, settings = _divided(window, settings, threads[0])
        if not _has_cause(window, settings):
            return await self._commit(lease, window, None, ModelExchanges(), None)
        now = to_datetime(self._store.now())
        limits = await self._left_today(lease, settings.limits, now)
        if limits is None:
            wait_s = (_midnight(now) + timedelta(days=1) - now).total_seconds()
            return await self._postpone(lease, threads, "the daily limit is reached", wait_s)
        await check_modes(self._store, lease.scope, settings.types)
        offer = await read_offer(self._store, self._search, window, settings, self._count)
        asking = FormationDialogue(model, window, offer, replace(settings, limits=limits))
        attempt = _Attempt(lease, threads, window, model.identity, settings, asking)
        attempts.append(attempt)
        asked = await asking.ask()
        _note_faults(model, asked)
        if not asked.is_whole:
            return await self._fail(attempt, asked.failure)
        return await self._commit(lease, window, offer, asked, model)

    async def _failed(self, attempt: _Attempt, error: Exception) -> FormationResult:
        """Wait for a model that cannot be used now; otherwise it was the attempt that failed."""
        if not isinstance(error, ModelUnavailableError | ModelDeniedError | ModelNotFoundError):
            return await self._fail(attempt, _reason(error), error)
        wait_s = WAIT_FOR_OPERATOR_S
        if isinstance(error, ModelUnavailableError):
            wait_s = _wait_s(error, max(each.attempts for each in attempt.threads))
        spent = attempt.spent(str(error)) if attempt.asking.asked.calls else None
        # The breaker is for the model of all: what one names for itself stops no other.
        is_shared = attempt.settings.model == self._assistants.default.model
        return await self._postpone(
            attempt.lease,
            attempt.threads,
            str(error),
            wait_s,
            outage=error if is_shared else None,
            error=error,
            spent=spent,
        )

    async def _left_today(
        self, lease: Lease, limits: FormationLimits, now: datetime
    ) -> FormationLimits | None:
        """Return *limits* with what the scope may still spend today, ``None`` if nothing."""
        if limits.calls_a_day is None and limits.tokens_a_day is None:
            return limits
        calls, tokens = await self._store.spent(lease.scope, _midnight(now))
        calls_left = 1 + limits.repairs
        tokens_left = limits.tokens_a_formation
        if limits.calls_a_day is not None:
            calls_left = min(calls_left, limits.calls_a_day - calls)
        if limits.tokens_a_day is not None:
            tokens_left = min(tokens_left, limits.tokens_a_day - tokens)
        if calls_left < 1 or tokens_left < 1:
            return None
        return replace(limits, repairs=calls_left - 1, tokens_a_formation=tokens_left)

    async def _commit(
        self,
        lease: Lease,
        window: Window,
        offer: Offer | None,
        asked: ModelExchanges,
        model: Model | None,
    ) -> FormationResult:
        """Store the formation; reconcile again if a memory changed meanwhile."""
        operations = [each.operation for each in asked.grounded]
        conflict: VersionConflictError | None = None
        for conflicts in range(CONFLICTS_MAX):
            outcomes: list[OperationOutcome] = []
            if offer is not None:
                present = await read_present(self._store, window, offer, operations)
                outcomes = await to_thread.run_sync(reconcile, asked.grounded, present)
                if conflicts and any(each.stale for each in outcomes):
                    break
            formed = Formed(
                watermarks=window.watermarks,
                again=window.again,
                calls=asked.calls,
                tokens=asked.tokens,
                receipt=receipt_of(window, asked, outcomes, model=_identity(model)),
                types=window.types,
                left_out=window.left_out,
            )
            writes = [each.write for each in outcomes if each.write is not None]
            try:
                await self._store.commit(lease, writes, formed)
            except VersionConflictError as error:
                conflict = error
                offer = await refreshed(self._store, lease.scope, offer) if offer else None
                if offer is None:
                    break
                continue
            return FormationResult(end="formed", outcomes=tuple(outcomes))
        reason = "what it builds on was changed meanwhile"
        spent = Formed(
            watermarks={},
            receipt=receipt_of(window, asked, (), model=_identity(model), reason=reason),
            status="failed",
            calls=asked.calls,
            tokens=asked.tokens,
            types=window.types,
        )
        await self._store.release(lease, attempt=spent)
        return FormationResult(end="failed", reason=reason, error=conflict)

    async def _fail(
        self, attempt: _Attempt, reason: str, error: Exception | None = None
    ) -> FormationResult:
        """Try again later with less; give up a single message that failed too often."""
        lease, window = attempt.lease, attempt.window
        attempts = max(each.attempts for each in attempt.threads) + 1
        spent = attempt.spent(reason)
        if attempts < attempt.settings.limits.attempts or len(window.new) > 1:
            failed = [each.thread for each in attempt.threads]
            retry_s = _backoff_s(attempts)
            await self._store.release(
                lease, failed=failed, retry_s=retry_s, attempt=spent, types=window.types
            )
            return FormationResult(end="failed", reason=reason, error=error, retry_s=retry_s)
        dead = replace(
            spent,
            watermarks=window.watermarks,
            again=window.again,
            left_out=window.left_out,
            status="dead",
            failed={line.message.thread: [line.message.position] for line in window.new},
        )
        await self._store.commit(lease, [], dead)
        return FormationResult(end="dead", reason=reason, error=error)

    async def _postpone(
        self,
        lease: Lease,
        threads: Sequence[DueThread],
        reason: str,
        wait_s: float,
        *,
        outage: ModelError | None = None,
        error: Exception | None = None,
        spent: Formed | None = None,
    ) -> FormationResult:
        """Postpone the messages without counting a failed attempt."""
        names = [each.thread for each in threads]
        try:
            await self._store.release(
                lease, postponed=names, retry_s=wait_s, attempt=spent, types=threads[0].types
            )
        except LeaseLostError as lost:
            return FormationResult(end="lost", reason=str(lost), outage=outage, error=error)
        return FormationResult(
            end="postponed", reason=reason, outage=outage, error=error, retry_s=wait_s
        )

    @asynccontextmanager
    async def _held(self, lease: Lease, lease_s: float) -> AsyncIterator[None]:
        """Keep extending *lease* while something is done under it."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._extend, lease, lease_s)
                try:
                    yield
                finally:
                    group.cancel_scope.cancel()
        except BaseExceptionGroup as raised:
            if len(raised.exceptions) > 1:
                raise
            raise raised.exceptions[0] from None  # what was done raised it, as it is

    async def _extend(self, lease: Lease, lease_s: float) -> None:
        while True:
            await anyio.sleep(lease_s / 3)
            try:
                await self._store.extend(lease, lease_s=lease_s)
            except StoreUnavailableError as error:
                # It may be back before the lease has ended.
                LOG.warning("a lease was not extended: %s", summary_of(error))
            except (LeaseLostError, StoreError) as error:
                LOG.debug("a lease is not extended any more: %s", kind_of(error))
                return  # the commit will say so


def _reason(error: Exception) -> str:
    """Return why something broke; of an error that is not ours also what it is."""
    return str(error) if isinstance(error, RecollectError) else f"{type(error).__name__}: {error}"


def _note_faults(model: Model, asked: ModelExchanges) -> None:
    """Log by their kinds, not by their words, that an answer had faults."""
    kinds = sorted({fault.kind for _, fault in asked.refused})
    repairs = max(0, asked.calls - 1)
    if (repairs or kinds) and (count := _FAULTS.due((model.identity, repairs > 0, *kinds))):
        LOG.warning(
            "%s answered with faults: %d repairs, %d calls refused (%s)%s",
            *(model.identity, repairs, len(asked.refused), ", ".join(kinds) or "none"),
            times(count),
        )


def _alike(threads: Sequence[DueThread]) -> list[DueThread]:
    """Return the threads to be formed as the first one is; the others stay due."""
    return [each for each in threads if _manner(each) == _manner(threads[0])]


def _manner(thread: DueThread) -> tuple[object, ...]:
    return thread.settings, thread.types, sorted(thread.lanes)


def _divided(
    window: Window, settings: FormationSettings, thread: DueThread
) -> tuple[Window, FormationSettings]:
    """Return *window* and *settings* with the types that are formed now, and those that wait."""
    if thread.types:
        types = tuple(each for each in settings.types if each.name in thread.types)
        return replace(window, types=thread.types), replace(settings, types=types)
    left_out = tuple(each.name for each in laned(settings.types, thread.lanes))
    if not left_out:
        return window, settings
    types = formed_with_talk(settings.types, thread.lanes)
    return replace(window, left_out=left_out), replace(settings, types=types)


def _has_cause(window: Window, settings: FormationSettings) -> bool:
    """Return True if any new message may cause a memory."""
    roles = {role for type_ in settings.types for role in type_.roles}
    return any(line.message.role in roles and line.text.strip() for line in window.new)


def _identity(model: Model | None) -> str | None:
    return model.identity if model else None


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _wait_s(error: ModelUnavailableError, attempts: int) -> float:
    """Return the pause that the model's error asks for, if it is a valid one."""
    asked_s = error.retry_after_s
    if asked_s is None or not 0 < asked_s < math.inf:
        return _backoff_s(attempts)
    return min(asked_s, POSTPONED_S_MAX)


def _backoff_s(attempts: int) -> float:
    """
    Return the pause before a retry, doubled each time, within limits.

    >>> [_backoff_s(attempts) for attempts in (0, 1, 2, 20)]
    [5.0, 10.0, 20.0, 3600.0]
    """
    return min(RETRY_S_MAX, RETRY_S_MIN * 2.0 ** min(attempts, 16))
