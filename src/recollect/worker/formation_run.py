"""Run one formation: from a lease to a commit, a retry, or a message that is given up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

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
    UsageError,
    VersionConflictError,
)
from recollect.formation.config import Assistants, FormationLimits, FormationSettings
from recollect.formation.formation_receipt import ModelExchanges, receipt_of
from recollect.formation.formation_sources import receipt_sources
from recollect.formation.lanes import formed_with_talk, laned
from recollect.formation.newer_writes import reconcile_beside_others
from recollect.formation.offer import Offer
from recollect.formation.operation_outcomes import OperationOutcome, Present
from recollect.formation.rule_model import RuleModel
from recollect.formation.scope_types import TYPES, with_scope_types
from recollect.formation.window import Window
from recollect.observability.logs import Repeats, package_logger, times
from recollect.observability.spans import observed
from recollect.ports import Model, TokenCounter
from recollect.stores.contract.base import Store
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import DueThread, Lease
from recollect.stores.validation import to_datetime
from recollect.text.time_zones import read_zone
from recollect.worker.formation_input import read_offer, read_present, read_window, reread_offer
from recollect.worker.formation_result import FormationResult
from recollect.worker.former import ModelByName, Search
from recollect.worker.lease_renewal import extending, release_if_possible
from recollect.worker.model_calls import FormationDialogue
from recollect.worker.retry_delays import backoff_s, model_wait_s
from recollect.worker.type_migration_run import check_modes

LOG: Final = package_logger("recollect.worker")
END: Final = "recollect.formation.end"
"""Span attribute with the `FormationEnding`."""
_FAULTS: Final = Repeats()
CONFLICTS_MAX: Final = 5
WAIT_FOR_OPERATOR_S: Final = 300.0
"""Wait after a rejected key or invalid settings: an operator must act first."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A formation in progress: the state needed to record how it failed."""

    lease: Lease
    threads: Sequence[DueThread]
    window: Window
    model: str
    settings: FormationSettings
    dialogue: FormationDialogue

    def usage(self, reason: str) -> Formed:
        offer, asked = self.dialogue.offer, self.dialogue.asked
        return _failed_usage(self.window, offer, asked, self.model, reason)


def _failed_usage(
    window: Window, offer: Offer | None, asked: ModelExchanges, model: str | None, reason: str
) -> Formed:
    """Return the record of a failed formation: no progress, but its model usage."""
    return Formed(
        watermarks={},
        receipt=receipt_of(
            window,
            asked,
            (),
            model=model,
            reason=reason,
            sources=receipt_sources(window, offer),
        ),
        status="failed",
        calls=asked.calls,
        tokens=asked.tokens,
        types=window.types,
    )


@dataclass(frozen=True, slots=True)
class FormationRun:
    """The formation of one lease's threads, with what a `Former` has."""

    _store: Store
    _search: Search
    _models: ModelByName
    _assistants: Assistants
    _count: TokenCounter

    async def form(self, lease: Lease) -> FormationResult:
        """
        Form the threads of *lease* with the same configuration, and end the lease in any case.

        Everything is stored in one transaction; after an error nothing is stored, and the messages
        stay pending.
        """
        # Never logged as slow: most of the time is the model's, and its calls have their own spans.
        with observed("form", "form_memory", LOG, lease.scope, slow_s=math.inf) as seen:
            result = await self._form_or_lose(lease)
            seen.set(END, result.end)
            seen.count(sum(each.write is not None for each in result.outcomes))
        return result

    async def _form_or_lose(self, lease: Lease) -> FormationResult:
        """Form; give the lease back if cancelled, and report a lost lease as the result."""
        try:
            return await self._form_or_fail(lease)
        except anyio.get_cancelled_exc_class():
            await release_if_possible(self._store, lease)
            raise
        except (LeaseLostError, NotFoundError) as error:  # a thread was erased meanwhile
            return FormationResult(end="lost", reason=str(error))

    async def _form_or_fail(self, lease: Lease) -> FormationResult:
        """Form, or return the failure, so that a broken model never ends the worker or loops."""
        threads = _same_configuration(lease.threads)
        attempts: list[_Attempt] = []
        try:
            settings = self._assistants.of(threads[0].settings, lease.scope)
            if TYPES not in threads[0].settings:
                settings = await with_scope_types(self._store, lease.scope, settings)
            models = self._models(settings.model), self._reader(settings)
            async with extending(self._store, lease):
                return await self._form(lease, threads, settings, models, attempts)
        except (LeaseLostError, NotFoundError, StoreError):
            raise
        except Exception as error:  # noqa: BLE001 (a user's model may raise anything)
            if attempts:
                return await self._handle_failure(attempts[0], error)
            # The model was not asked yet, so the settings or the model's configuration are wrong.
            wait_s = WAIT_FOR_OPERATOR_S
            return await self._postpone(lease, threads, _reason(error), wait_s, error=error)

    async def _form(
        self,
        lease: Lease,
        threads: Sequence[DueThread],
        settings: FormationSettings,
        models: tuple[Model, Model | None],
        attempts: list[_Attempt],
    ) -> FormationResult:
        """Form; *attempts* receives the attempt before the first of the models is asked."""
        model, reader = models
        window = await read_window(self._store, lease.scope, threads, settings.limits, self._count)
        window, settings = _with_due_types(window, settings, threads[0])
        window = window.told_in(read_zone(settings.time_zone))
        if not _has_cause(window, settings):  # advance the watermark without asking the model
            return await self._commit(lease, window, None, ModelExchanges(), None)
        now = to_datetime(self._store.now())
        limits = await self._left_today(lease, settings, now)
        if limits is None:
            wait_s = (_midnight(now) + timedelta(days=1) - now).total_seconds()
            return await self._postpone(lease, threads, "the daily limit is reached", wait_s)
        await check_modes(self._store, lease.scope, settings.types)
        offer = await read_offer(self._store, self._search, window, settings, self._count)
        settings = replace(settings, limits=limits)
        dialogue = FormationDialogue(model, window, offer, settings, reader=reader)
        attempt = _Attempt(lease, threads, window, model.identity, settings, dialogue)
        attempts.append(attempt)
        asked = await dialogue.ask()
        _log_faults(model, asked)
        if not asked.is_whole:
            return await self._fail(attempt, asked.failure)
        return await self._commit(lease, window, offer, asked, model)

    async def _handle_failure(self, attempt: _Attempt, error: Exception) -> FormationResult:
        """Postpone if the model is unusable now; otherwise count a failed attempt."""
        if not isinstance(error, ModelUnavailableError | ModelDeniedError | ModelNotFoundError):
            return await self._fail(attempt, _reason(error), error)
        wait_s = WAIT_FOR_OPERATOR_S
        if isinstance(error, ModelUnavailableError):
            wait_s = model_wait_s(error, max(each.attempts for each in attempt.threads))
        usage = attempt.usage(str(error)) if attempt.dialogue.asked.calls else None
        # The breaker guards the default model; an outage of another model must not open it.
        is_default = attempt.settings.model == self._assistants.default.model
        return await self._postpone(
            attempt.lease,
            attempt.threads,
            str(error),
            wait_s,
            outage=error if is_default else None,
            error=error,
            usage=usage,
        )

    def _reader(self, settings: FormationSettings) -> Model | None:
        """Return the model of the second reading, ``None`` without one."""
        named = settings.second_reading
        if not named:
            return None
        reader = self._models(settings.model if named is True else named)
        if isinstance(reader, RuleModel):
            raise UsageError(
                "second_reading needs a language model: the rules cannot judge what they keep; "
                "name another model, or set it to false"
            )
        return reader

    async def _left_today(
        self, lease: Lease, settings: FormationSettings, now: datetime
    ) -> FormationLimits | None:
        """Return the limits reduced to the rest of today's allowance, ``None`` if it is used up."""
        limits, needed = settings.limits, settings.calls_needed
        if limits.calls_a_day is None and limits.tokens_a_day is None:
            return limits
        calls, tokens = await self._store.spent(lease.scope, _midnight(now))
        calls_left = needed + limits.repairs
        tokens_left = limits.tokens_a_formation
        if limits.calls_a_day is not None:
            calls_left = min(calls_left, limits.calls_a_day - calls)
        if limits.tokens_a_day is not None:
            tokens_left = min(tokens_left, limits.tokens_a_day - tokens)
        if calls_left < needed or tokens_left < 1:
            return None
        return replace(limits, repairs=calls_left - needed, tokens_a_formation=tokens_left)

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
        shown = offer  # what the model was asked about, whatever is read anew below
        for conflicts in range(CONFLICTS_MAX):
            outcomes: list[OperationOutcome] = []
            present: Present | None = None
            if offer is not None and shown is not None:
                present = await read_present(self._store, window, offer, operations)
                beside = reconcile_beside_others
                outcomes = await to_thread.run_sync(beside, asked.grounded, shown, present)
                if conflicts and any(each.stale for each in outcomes):
                    break  # the model saw an older version of its target: ask it again
            formed = Formed(
                watermarks=window.watermarks,
                again=window.again,
                calls=asked.calls,
                tokens=asked.tokens,
                receipt=receipt_of(
                    window,
                    asked,
                    outcomes,
                    model=_identity(model),
                    sources=receipt_sources(window, shown, present, outcomes),
                ),
                types=window.types,
                left_out=window.left_out,
            )
            writes = [each.write for each in outcomes if each.write is not None]
            try:
                await self._store.commit(lease, writes, formed)
            except VersionConflictError as error:
                conflict = error
                offer = await reread_offer(self._store, lease.scope, offer) if offer else None
                if offer is None:
                    break
                continue
            return FormationResult(
                end="formed", outcomes=tuple(outcomes), refused=asked.refused_calls()
            )
        reason = "a memory that it builds on was changed meanwhile"
        usage = _failed_usage(window, shown, asked, _identity(model), reason)
        await self._store.release(lease, attempt=usage)
        return FormationResult(end="failed", reason=reason, error=conflict)

    async def _fail(
        self, attempt: _Attempt, reason: str, error: Exception | None = None
    ) -> FormationResult:
        """Retry later with fewer messages; give up a single message that failed too often."""
        lease, window = attempt.lease, attempt.window
        attempts = max(each.attempts for each in attempt.threads) + 1
        usage = attempt.usage(reason)
        if attempts < attempt.settings.limits.attempts or len(window.new) > 1:
            failed = [each.thread for each in attempt.threads]
            retry_s = backoff_s(attempts)
            await self._store.release(
                lease, failed=failed, retry_s=retry_s, attempt=usage, types=window.types
            )
            return FormationResult(end="failed", reason=reason, error=error, retry_s=retry_s)
        dead = replace(
            usage,
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
        usage: Formed | None = None,
    ) -> FormationResult:
        """Postpone the messages without counting a failed attempt."""
        names = [each.thread for each in threads]
        try:
            await self._store.release(
                lease, postponed=names, retry_s=wait_s, attempt=usage, types=threads[0].types
            )
        except LeaseLostError as lost:  # the outage is still reported, for the circuit breaker
            return FormationResult(end="lost", reason=str(lost), outage=outage, error=error)
        return FormationResult(
            end="postponed", reason=reason, outage=outage, error=error, retry_s=wait_s
        )


def _reason(error: Exception) -> str:
    """Return the text of an error, with its class unless it is a `RecollectError`."""
    return str(error) if isinstance(error, RecollectError) else f"{type(error).__name__}: {error}"


def _log_faults(model: Model, asked: ModelExchanges) -> None:
    """Log the kinds of faults of an answer, without their texts, which may quote a user."""
    kinds = sorted({fault.kind for _, fault in asked.refused})
    repairs = max(0, asked.calls - 1)
    if (repairs or kinds) and (count := _FAULTS.due((model.identity, repairs > 0, *kinds))):
        LOG.warning(
            "%s answered with faults: %d repairs, %d calls refused (%s)%s",
            *(model.identity, repairs, len(asked.refused), ", ".join(kinds) or "none"),
            times(count),
        )


def _same_configuration(threads: Sequence[DueThread]) -> list[DueThread]:
    """Return the threads that are configured as the first one is; the others stay due."""
    return [each for each in threads if _configuration(each) == _configuration(threads[0])]


def _configuration(thread: DueThread) -> tuple[object, ...]:
    return thread.settings, thread.types, sorted(thread.lanes)


def _with_due_types(
    window: Window, settings: FormationSettings, thread: DueThread
) -> tuple[Window, FormationSettings]:
    """Return *window* and *settings* restricted to the types that are formed now."""
    if thread.types:
        types = tuple(each for each in settings.types if each.name in thread.types)
        return replace(window, types=thread.types), replace(settings, types=types)
    left_out = tuple(each.name for each in laned(settings.types, thread.lanes))
    if not left_out:
        return window, settings
    types = formed_with_talk(settings.types, thread.lanes)
    return replace(window, left_out=left_out), replace(settings, types=types)


def _has_cause(window: Window, settings: FormationSettings) -> bool:
    """Return True if any new message has text, and a role from which a type is formed."""
    roles = {role for type_ in settings.types for role in type_.roles}
    return any(line.message.role in roles and line.text.strip() for line in window.new)


def _identity(model: Model | None) -> str | None:
    return model.identity if model else None


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
